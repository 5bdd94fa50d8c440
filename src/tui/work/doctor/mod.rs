//! What `/doctor` looks at: whether everything is there that the agent needs, and what to do about what is not.
//!
//! | file | what |
//! |---|---|
//! | [`terminal`] | what the terminal can do |
//! | [`files`] | configuration, folders, the session |
//! | [`programs`] | programs and walls |
//! | [`models`] | the model, its key, its server |

mod files;
mod models;
mod programs;
mod terminal;

use super::WorkDone;
use crate::tui::{terminal::Report, working::WorkContext};

/// How good it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// As it should be.
    Good,
    /// Something is missing that not everybody needs.
    Warning,
    /// Something does not work.
    Problem,
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How good it is.
    pub health: Health,
    /// What, and how it is.
    pub text: String,
    /// What to do about it.
    pub advice: Option<String>,
}

impl Finding {
    fn good(text: impl Into<String>) -> Self {
        Self { health: Health::Good, text: text.into(), advice: None }
    }

    fn warning(text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { health: Health::Warning, text: text.into(), advice: Some(advice.into()) }
    }

    fn problem(text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { health: Health::Problem, text: text.into(), advice: Some(advice.into()) }
    }
}

/// What the screen knows and a worker cannot find out.
#[derive(Clone, Debug, PartialEq)]
pub struct Patient {
    /// What the terminal said of itself.
    pub reports: Vec<Report>,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Why the disk refuses the session.
    pub unsaved: Option<String>,
}

/// Looks at everything, and tells of each thing as soon as it was looked at. What takes longest comes last.
pub(super) fn examine(context: &WorkContext, patient: &Patient) {
    let looks: [&dyn Fn() -> Vec<Finding>; 4] = [
        &|| terminal::look(patient, &|name| std::env::var(name).ok()),
        &|| files::look(context, patient),
        &|| programs::look(context),
        &|| models::look(context),
    ];
    for look in looks {
        if context.cancelled.is_cancelled() {
            return;
        }
        look().into_iter().for_each(|finding| context.send(WorkDone::Found(Some(finding))));
    }
    context.send(WorkDone::Found(None));
}
