//! What extensions see of model calls, and what they change of them.

use std::sync::Arc;

use serde_json::Value;

use super::{chain::Asking, shared::AgentShared};
use crate::{
    protocol::{Event, Model, ModelRef, ask::AskPoint},
    providers::watch::{CallWatch, Replacement},
};

/// The watch over one request of an agent.
pub struct AgentWatch {
    shared: Arc<AgentShared>,
    asking: Asking,
    model: ModelRef,
    api: String,
    raw: bool,
}

impl AgentWatch {
    /// A watch when anybody looks; none when nobody does.
    #[must_use]
    pub fn over(shared: &Arc<AgentShared>, asking: &Asking, model: &Model) -> Option<Arc<dyn CallWatch>> {
        let observers = &shared.config.observers;
        let raw = observers.iter().any(|observer| observer.extension.observes_raw());
        let watched = shared.config.chain.has(AskPoint::Payload)
            || observers.iter().any(|observer| observer.extension.observes());
        (raw || watched).then(|| {
            Arc::new(Self {
                shared: shared.clone(),
                asking: asking.clone(),
                model: model.reference(),
                api: model.api.clone(),
                raw,
            }) as Arc<dyn CallWatch>
        })
    }
}

impl CallWatch for AgentWatch {
    fn wants_payload(&self) -> bool {
        self.shared.config.chain.has(AskPoint::Payload)
    }

    fn payload(&self, payload: Value) -> Replacement<'_> {
        Box::pin(async move {
            let walked = self.shared.config.chain.payload(&self.asking, &self.model, payload).await;
            self.shared.report_failures(AskPoint::Payload, walked.failures);
            walked.value
        })
    }

    fn answered(&self, status: u16, headers: Vec<(String, String)>) {
        self.shared.publish(vec![Event::ProviderResponse { status, headers }]);
    }

    fn wants_raw(&self) -> bool {
        self.raw
    }

    fn raw(&self, data: &[u8]) {
        let (model, api) = (self.model.clone(), self.api.clone());
        let data = String::from_utf8_lossy(data).into_owned();
        self.shared.publish(vec![Event::ProviderStreamEvent { model, api, data }]);
    }
}
