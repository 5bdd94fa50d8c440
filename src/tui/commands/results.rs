//! What commands make of what workers found for them.

use super::{diff, login};
use crate::{
    protocol::session_change::SessionChange,
    tui::{
        effect::Effect,
        model::Model,
        work::{WorkDone, agents::AgentsDone},
    },
};

/// Takes what a worker found for a command; what is for overlays alone is left to them.
pub fn worked(model: &mut Model, done: &WorkDone) -> Vec<Effect> {
    match done {
        WorkDone::Told(level, text) => {
            model.transcript.notice(*level, text.clone());
            Vec::new()
        }
        WorkDone::Imported(path) => vec![Effect::Replace(SessionChange::Open(path.display().to_string()))],
        WorkDone::Diff(of, text) => {
            diff::show(model, *of, text);
            Vec::new()
        }
        WorkDone::Agents(AgentsDone::Did(Ok(text) | Err(text))) => {
            model.flash(text.clone());
            Vec::new()
        }
        WorkDone::Login(step) => login::stepped(model, step),
        _ => Vec::new(),
    }
}
