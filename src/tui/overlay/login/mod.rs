//! Logging in and out, and the first model.
//!
//! | file | what |
//! |---|---|
//! | [`first_run`] | where there is no model yet |
//! | [`providers`] | which provider |
//! | [`key`] | a key is typed unseen |
//! | [`flow`] | a login with a browser or a code |

pub mod first_run;
pub mod flow;
pub mod key;
pub mod providers;

use super::{Outcome, Overlay};
use crate::tui::{effect::Effect, work::Work};

/// Where a dialog was opened from: where Escape leads back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A command: back to the conversation.
    Command,
    /// The first-run page.
    FirstRun,
}

impl Origin {
    /// Leaves the dialog that was opened from here.
    fn back(self) -> Outcome {
        match self {
            Self::Command => Outcome::close(),
            Self::FirstRun => {
                let (page, effects) = first_run::open();
                Outcome::Become(page, effects)
            }
        }
    }
}

/// An overlay, and what is to be done when it opens.
pub type Opened = (Box<dyn Overlay>, Vec<Effect>);

/// The list of providers; goes on with `wanted` when that is named.
#[must_use]
pub fn choose(purpose: providers::For, wanted: Option<String>, origin: Origin) -> Opened {
    let list = providers::Providers::new(purpose, wanted, origin);
    (Box::new(list), vec![Effect::Work(Work::Providers)])
}
