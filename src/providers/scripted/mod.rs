//! `troupe/script`: a model that plays a file.
//!
//! It answers, calls tools, streams at a given pace, fails, stalls, disconnects and panics exactly as its script says,
//! without a network: the model of this program's own tests, and of everybody's who tests an agent's surroundings.
//! `docs/scripted-provider.md` describes the file for users; [`script`] reads it, [`expectation`] compares requests
//! with it, [`performance`] makes steps of a stream of a turn.
//!
//! The turn of a request follows from the request alone: it is the number of answers in its history that did not fail.
//! So a retried, restarted or resumed run gets the right turn. Time is tokio's: tests with paused time wait for nothing.

pub mod expectation;
pub mod performance;
pub mod script;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use super::{
    EventStream, Provider, Request,
    playback::{self, Step},
};
use crate::{
    protocol::{Failure, FailureClass, Message},
    store::document::DocumentError,
};
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

    /// What the script changes about its model; for [`super::catalogue::Catalogue::override_script_model`].
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
        let steps = self.steps(&request);
        playback::play(self.api(), request, steps)
    }
}

#[cfg(test)]
pub(in crate::providers) mod tests;
