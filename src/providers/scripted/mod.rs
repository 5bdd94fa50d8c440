//! `troupe/script`: a model that plays a file.
//!
//! It answers, calls tools, streams at a given pace, fails, stalls, disconnects and panics exactly as its script says,
//! without a network: the model of this program's own tests, and of everybody's who tests an agent's surroundings.
//! `docs/scripted-provider.md` describes the file for users; [`script`] reads it, [`expectation`] compares requests
//! with it, [`performance`] turns a turn into steps of a stream, and this file plays those.
//!
//! The turn of a request follows from the request alone: it is the number of answers in its history that did not fail.
//! So a retried, restarted or resumed run gets the right turn. Time is tokio's: tests with paused time wait for nothing.

pub mod expectation;
pub mod performance;
pub mod script;

use std::{
    collections::{HashMap, VecDeque},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{EventStream, Provider, Request, catalogue};
use crate::{
    protocol::{
        AssistantMessage, Block, Failure, FailureClass, Message, StopReason, StreamEvent, stream::PartialMessage,
        time::now_ms,
    },
    store::document::DocumentError,
};
use performance::Step;
use script::{End, Scene, Script, Select};

/// The provider.
#[derive(Clone)]
pub struct Scripted(Arc<Shared>);

struct Shared {
    script: Script,
    counts: Mutex<Counts>,
}

/// What the history does not tell. Sessions are counted apart, so that agents that share a script do not disturb each
/// other.
#[derive(Default)]
struct Counts {
    /// Requests by session and scene.
    calls: HashMap<(Option<String>, usize), usize>,
    /// Faults played by session, scene and turn.
    faults: HashMap<(Option<String>, usize, usize), u32>,
}

impl Scripted {
    /// Reads a script file: JSON, with comments if you like.
    ///
    /// # Errors
    /// The file cannot be read, or something in it is not as it should be.
    pub fn from_file(file: &Path) -> Result<Self, DocumentError> {
        Ok(Self::new(Script::from_file(file)?))
    }

    /// Reads a script from a value.
    ///
    /// # Errors
    /// Something in it is not as it should be: the field and what was expected.
    pub fn from_value(value: &Value) -> Result<Self, String> {
        Ok(Self::new(Script::from_value(value)?))
    }

    fn new(script: Script) -> Self {
        Self(Arc::new(Shared { script, counts: Mutex::default() }))
    }

    /// What the script changes about its model; for [`catalogue::Catalogue::override_script_model`].
    #[must_use]
    pub fn model_fields(&self) -> Option<&Value> {
        self.0.script.model.as_ref()
    }

    /// The steps of the answer to a request.
    fn steps(&self, request: &Request) -> Vec<Step> {
        let script = &self.0.script;
        let matching = |(_, scene): &(usize, &Scene)| scene.when.as_ref().is_none_or(|w| w.check(request).is_ok());
        // The last scene is the file itself and has no condition.
        let Some((at, scene)) = script.scenes.iter().enumerate().find(matching) else {
            return vec![Step::Fail(refusal("the script has no scene for this request".to_owned()))];
        };
        let answers = answers(&request.messages);
        let mut counts = self.0.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let session = request.session_id.clone();
        let number = match scene.select {
            Select::History => answers,
            Select::Calls => {
                let calls = counts.calls.entry((session.clone(), at)).or_default();
                std::mem::replace(calls, *calls + 1)
            }
        };
        let count = scene.turns.len();
        let index = match scene.end {
            _ if number < count => number,
            End::Repeat => count - 1,
            End::Loop => number % count,
            End::Fail => {
                let text = format!("the script has {count} turns, and the request is for turn {}", number + 1);
                return vec![Step::Fail(refusal(text))];
            }
        };
        let turn = &scene.turns[index];
        if let Some(mismatch) = turn.expect.as_ref().and_then(|expected| expected.check(request).err()) {
            return vec![Step::Fail(refusal(format!("turn {} of the script: {mismatch}", number + 1)))];
        }
        let played = counts.faults.entry((session, at, index)).or_default();
        let fault = turn.fault.as_ref().filter(|fault| fault.times.is_none_or(|times| *played < times));
        *played += u32::from(fault.is_some());
        performance::steps(turn, fault, request, number)
    }
}

/// Answers in a history that count as turns.
fn answers(messages: &[Message]) -> usize {
    messages.iter().filter(|message| matches!(message, Message::Assistant(answer) if !answer.is_failed())).count()
}

fn refusal(text: String) -> Failure {
    Failure::new(FailureClass::InvalidRequest, text)
}

impl Provider for Scripted {
    fn api(&self) -> &str {
        "troupe-script"
    }

    fn stream(&self, request: Request) -> EventStream {
        let model = &request.model;
        let message = AssistantMessage {
            api: self.api().to_owned(),
            provider: catalogue::TROUPE.to_owned(),
            model: model.id.clone(),
            thinking_level: model.reasoning.then(|| request.thinking.to_string()),
            stop_reason: StopReason::Pending,
            timestamp: now_ms(),
            ..AssistantMessage::default()
        };
        let player = Player {
            steps: self.steps(&request).into(),
            so_far: PartialMessage { message, arguments: Vec::new() },
            cancel: request.cancel,
            began: Instant::now(),
            over: false,
        };
        Box::pin(futures_util::stream::unfold(player, Player::next))
    }
}

/// Plays steps as a stream.
struct Player {
    steps: VecDeque<Step>,
    so_far: PartialMessage,
    cancel: CancellationToken,
    began: Instant,
    over: bool,
}

impl Player {
    async fn next(mut self) -> Option<(Vec<StreamEvent>, Self)> {
        while !self.over {
            let step = self.steps.pop_front().unwrap_or(Step::Stall);
            let events = match step {
                _ if self.cancel.is_cancelled() => Some(self.aborted()),
                Step::Wait(time) => self.wait(time).await,
                Step::Stall => self.stall().await,
                Step::Start => Some(vec![StreamEvent::Start(Arc::new(self.so_far.message.clone()))]),
                Step::Emit(events) => Some(events),
                Step::Finish { mut events, answer } => {
                    self.over = true;
                    let message = AssistantMessage {
                        content: answer.content,
                        usage: answer.usage,
                        stop_reason: answer.stop_reason,
                        duration_ms: Some(self.elapsed()),
                        ..self.so_far.message.clone()
                    };
                    events.push(StreamEvent::Usage(message.usage));
                    events.push(StreamEvent::Done(Arc::new(message)));
                    Some(events)
                }
                Step::Fail(failure) => Some(self.failed(StopReason::Error, failure)),
                // A worker's panic is a case to be tested: supervision has to turn it into a failed answer.
                Step::Panic(text) => panic!("{text}"),
            };
            if let Some(events) = events {
                events.iter().filter(|event| !event.is_terminal()).for_each(|event| self.so_far.apply(event));
                return Some((events, self));
            }
        }
        None
    }

    async fn wait(&mut self, time: Duration) -> Option<Vec<StreamEvent>> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Some(self.aborted()),
            () = tokio::time::sleep(time) => None,
        }
    }

    async fn stall(&mut self) -> Option<Vec<StreamEvent>> {
        self.cancel.cancelled().await;
        Some(self.aborted())
    }

    fn aborted(&mut self) -> Vec<StreamEvent> {
        self.failed(StopReason::Aborted, Failure::new(FailureClass::Aborted, "Request was aborted"))
    }

    /// The end of an answer that is not whole: it keeps what arrived, and a call that was cut says so.
    fn failed(&mut self, stop_reason: StopReason, failure: Failure) -> Vec<StreamEvent> {
        self.over = true;
        let mut message = self.so_far.message.clone();
        for (index, raw) in &self.so_far.arguments {
            if let Some(Block::ToolCall(call)) = message.content.get_mut(*index) {
                call.arguments_error =
                    Some(format!("the answer ended inside the arguments\n\nReceived arguments:\n{raw}"));
            }
        }
        message.stop_reason = stop_reason;
        message.error_message = Some(failure.message.clone());
        message.duration_ms = Some(self.elapsed());
        vec![StreamEvent::Failed { message: Arc::new(message), failure }]
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests;
