//! Models that had enough for now: after a rate limit, an overload, or when money is used up.
//!
//! What is kept is what happened. How long a model rests follows from that and from the settings of who asks.

use std::collections::HashMap;

use crate::protocol::{Failure, FailureClass, ModelRef, time::Millis};

/// How long a model rests whose quota is used up, in milliseconds: longer than any rate limit, shorter than a working
/// day, as money may come at any time.
const QUOTA: u64 = 3_600_000;

/// Why and since when a model rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoolDown {
    /// Why.
    pub class: FailureClass,
    /// When it failed.
    pub since: Millis,
    /// The server's own word on when to come back, in milliseconds after that.
    pub told_ms: Option<u64>,
}

impl CoolDown {
    /// When the model is free again. `usual_ms` counts where the server did not say.
    #[must_use]
    pub fn until(&self, usual_ms: u64) -> Millis {
        let usual = if self.class == FailureClass::QuotaExhausted { usual_ms.max(QUOTA) } else { usual_ms };
        self.since.saturating_add_unsigned(self.told_ms.unwrap_or(usual))
    }

    /// Whether a failure of this class makes a model rest. Any other is a matter of the request or of the network, and
    /// another model would not help.
    #[must_use]
    pub fn follows(class: FailureClass) -> bool {
        matches!(class, FailureClass::RateLimited | FailureClass::Overloaded | FailureClass::QuotaExhausted)
    }
}

/// The models that rest, by their physical names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoolDowns(HashMap<ModelRef, CoolDown>);

impl CoolDowns {
    /// Notes a failure; most kinds make nobody rest.
    pub fn failed(&mut self, model: &ModelRef, failure: &Failure, now: Millis) {
        if CoolDown::follows(failure.class) {
            let told_ms = failure.retry_after_ms.filter(|wait| *wait > 0);
            self.0.insert(model.clone(), CoolDown { class: failure.class, since: now, told_ms });
        }
    }

    /// Notes a good answer: the model is free, whatever was said before.
    pub fn succeeded(&mut self, model: &ModelRef) {
        self.0.remove(model);
    }

    /// Why the model rests and until when; none when it is free.
    #[must_use]
    pub fn of(&self, model: &ModelRef, usual_ms: u64, now: Millis) -> Option<(FailureClass, Millis)> {
        let found = self.0.get(model)?;
        let until = found.until(usual_ms);
        (until > now).then_some((found.class, until))
    }
}
