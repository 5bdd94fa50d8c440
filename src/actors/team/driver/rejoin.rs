//! Waiting for a task that an earlier process gave to an agent.

use super::errand::{Errand, end_of, said, task_end, without_agent};
use crate::{
    actors::fleet::family::Family,
    protocol::{
        AgentMessage,
        message::text_of,
        sibling::{Outcome, SiblingEnd, SiblingError, SiblingState, SiblingStatus},
    },
};

/// What an agent hears that the end of an earlier process has stopped.
const GO_ON: &str = "You were interrupted, since the program ended. Go on with your task where you stopped. Look at what \
                     is there before you repeat anything.";

/// The end of the task after the task `after`, begun by `errand` unless it had begun before.
///
/// An agent that was at work when its process was killed goes on by itself, so its end is waited for. One that was stopped
/// in order, since the process was to end, is told to go on.
pub(super) async fn rejoined(
    family: &Family,
    name: &str,
    after: u32,
    errand: Errand,
) -> Result<SiblingEnd, SiblingError> {
    let Some(status) = status_of(family, name).filter(|status| status.task > after) else {
        return task_end(family, name, errand).await;
    };
    if status.state == SiblingState::Gone {
        let gone = Outcome::Stopped { message: "it was stopped before the team was gone on with".to_owned() };
        return Ok(family.last_end(name)?.unwrap_or_else(|| without_agent(gone)));
    }
    let mut end = end_of(family, name, status.task).await?;
    if matches!(end.outcome, Outcome::Stopped { .. }) {
        let before = end.usage;
        end = said(family, name, GO_ON).await?;
        end.usage.add(&before);
    }
    whole(family, name, end).await
}

fn status_of(family: &Family, name: &str) -> Option<SiblingStatus> {
    family.status().into_iter().find(|status| status.name.as_deref() == Some(name))
}

/// The end with all of its text: the parent's session keeps the beginning of a long one.
async fn whole(family: &Family, name: &str, mut end: SiblingEnd) -> Result<SiblingEnd, SiblingError> {
    if end.truncated {
        let count = family.transcript(name, 0, 0).await?.total;
        let last = family.transcript(name, count.saturating_sub(1), 1).await?;
        if let Some(AgentMessage::Assistant(answer)) = last.messages.last() {
            end.text = text_of(&answer.content, "");
            end.truncated = false;
        }
    }
    Ok(end)
}
