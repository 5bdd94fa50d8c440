//! The worker that looks at the end of a sibling's task: its answer, its cost, its changes.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::task::spawn_blocking;

use super::{FleetMsg, family_msg::FamilyMsg, worktree};
use crate::{
    actors::{account::Exhausted, address::Addr, shared::AgentShared},
    protocol::{
        AgentMessage, AssistantMessage, FailureClass, ModelRef, StopReason,
        sibling::{Isolation, Outcome, Patch, SiblingEnd},
    },
    providers::error_text::classify_text,
    store::tree::TreeView,
};

/// What the worker needs.
pub struct EndWork {
    /// The sibling.
    pub agent: Arc<AgentShared>,
    /// The task.
    pub task: u32,
    /// Where it works.
    pub isolation: Isolation,
    /// Why it was stopped, when it was.
    pub stopping: Option<String>,
    /// Who waits.
    pub to: Addr<FleetMsg>,
}

/// The worker.
pub struct Ending;

impl Actor for Ending {
    type Msg = EndWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<EndWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, myself: ActorRef<EndWork>, work: EndWork, (): &mut ()) -> Result<(), ActorProcessingErr> {
        let EndWork { agent, task, isolation, stopping, to } = work;
        let root = agent.kin.root.clone();
        let end = match isolation {
            // One line of its session at most.
            Isolation::Shared => look(&agent, task, isolation, stopping.as_deref()),
            Isolation::Worktree => {
                let (of, stopping) = (agent.clone(), stopping.clone());
                let looked = spawn_blocking(move || look(&of, task, isolation, stopping.as_deref()));
                // A look that fails must not hide the end.
                looked.await.unwrap_or_else(|error| unread(&agent, task, &error.to_string()))
            }
        };
        to.tell(FleetMsg::Family(Box::new(FamilyMsg::Looked { root, end: Box::new(end) })));
        myself.stop(None);
        Ok(())
    }
}

/// An end of which nobody knows more.
pub fn unread(agent: &AgentShared, task: u32, cause: &str) -> SiblingEnd {
    let message = format!("its end could not be read: {cause}");
    SiblingEnd { outcome: Outcome::Failed { message, may_pass: false }, ..empty(agent, task) }
}

/// An end without words.
fn empty(agent: &AgentShared, task: u32) -> SiblingEnd {
    SiblingEnd {
        id: agent.kin.id.clone(),
        task,
        outcome: Outcome::Done,
        text: String::new(),
        truncated: false,
        usage: Default::default(),
        model: None,
        session_file: agent.place.file(),
        patch: None,
    }
}

fn look(agent: &AgentShared, task: u32, isolation: Isolation, stopping: Option<&str>) -> SiblingEnd {
    let tree = agent.place.store.view();
    let answer = last_answer(&tree);
    let total = tree.totals().usage;
    let usage = agent.kin.board.look(&agent.kin.id, |member| member.uncounted(&total)).unwrap_or(total);
    let model = answer.as_ref().map(|answer| answer.reference());
    let text = answer.as_ref().map(|answer| answer.text()).unwrap_or_default();
    let mut outcome = outcome(answer.as_ref().map(|answer| &*answer.0), stopping);
    let patch = match isolation {
        Isolation::Shared => Ok(None),
        Isolation::Worktree => worktree::save_patch(agent),
    };
    let patch = patch.unwrap_or_else(|error| {
        outcome = Outcome::Failed { message: format!("its changes could not be saved: {error}"), may_pass: false };
        None::<Patch>
    });
    // It has nothing to do now: one of a thousand that wait for a message holds no more than it must.
    tree.forget();
    SiblingEnd { outcome, text, usage, model, patch, ..empty(agent, task) }
}

/// The last answer of a branch.
struct Answer(Arc<AssistantMessage>);

impl Answer {
    fn reference(&self) -> ModelRef {
        let (provider, model_id) = (self.0.provider.clone(), self.0.model.clone());
        ModelRef { provider, model_id }
    }

    fn text(&self) -> String {
        crate::protocol::message::text_of(&self.0.content, "")
    }
}

fn last_answer(tree: &TreeView) -> Option<Answer> {
    tree.ancestors().find_map(|entry| match entry.entry().body.as_message() {
        Some(AgentMessage::Assistant(message)) => Some(Answer(message.clone())),
        _ => None,
    })
}

/// How a task ended, by its last answer.
fn outcome(answer: Option<&AssistantMessage>, stopping: Option<&str>) -> Outcome {
    let stopped = |message: &str| Outcome::Stopped { message: message.to_owned() };
    let Some(answer) = answer else { return stopped(stopping.unwrap_or("it was stopped before its first answer")) };
    let error = answer.error_message.as_deref().unwrap_or_default();
    if let Some(Exhausted { what, message }) = Exhausted::parse(error).filter(|_| answer.is_failed()) {
        return Outcome::Budget { what, message };
    }
    match (answer.stop_reason, stopping) {
        (_, Some(reason)) => match Exhausted::parse(reason) {
            Some(Exhausted { what, message }) => Outcome::Budget { what, message },
            None => stopped(reason),
        },
        (StopReason::Aborted, None) => stopped("it was aborted"),
        (StopReason::Error, None) => {
            let verdict = classify_text(error, &answer.provider);
            match verdict.class {
                FailureClass::Refusal | FailureClass::ContentFilter => Outcome::Refused { message: error.to_owned() },
                _ => Outcome::Failed { message: error.to_owned(), may_pass: verdict.retryable },
            }
        }
        _ => Outcome::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(stop_reason: StopReason, error: &str) -> AssistantMessage {
        AssistantMessage { stop_reason, error_message: Some(error.to_owned()), ..AssistantMessage::default() }
    }

    #[test]
    fn the_last_answer_tells_how_a_task_ended() {
        use StopReason::{Aborted, Error, Stop};
        let table = [
            (Some(answer(Stop, "")), None, "done"),
            (Some(answer(Error, "429 too many requests")), None, "failed 429 too many requests, may pass true"),
            (Some(answer(Error, "401 unauthorized")), None, "failed 401 unauthorized, may pass false"),
            (
                Some(answer(Error, "Out of budget (cost): main has used it")),
                Some("by its parent"),
                "budget main has used it",
            ),
            (Some(answer(Aborted, "aborted")), Some("by its parent"), "stopped by its parent"),
            (Some(answer(Aborted, "aborted")), None, "stopped it was aborted"),
            (
                Some(answer(Aborted, "aborted")),
                Some("Out of budget (time): it has had its 1 s"),
                "budget it has had its 1 s",
            ),
            (None, None, "stopped it was stopped before its first answer"),
        ];
        for (last, stopping, wanted) in table {
            let outcome = outcome(last.as_ref(), stopping);
            let text = format!("{} {}", outcome.word(), outcome.message());
            let passes = match outcome {
                Outcome::Failed { may_pass, .. } => format!(", may pass {may_pass}"),
                _ => String::new(),
            };
            assert_eq!(format!("{}{passes}", text.trim_end()), wanted);
        }
    }
}
