//! Asking a model for a summary: retries with events of their own, and conversations that do not fit in pieces.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::sleep;
use tokio_stream::StreamExt;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{prompts, room};
use crate::{
    actors::{
        chain::Asking,
        dispatch::{self, dispatch},
        prepare::equip,
        retry::RetrySettings,
        route_facts::RouteFacts,
        shared::AgentShared,
        spending::Spending,
    },
    protocol::{
        AgentMessage, AssistantMessage, Event, Failure, FailureClass, Model, StopReason, StreamEvent, SystemMessage,
        ThinkingLevel, Usage, context::convert_to_llm, event::SummarySource, message::text_of, time::now_ms, tokens,
    },
    providers::{CacheRetention, Request},
};

/// A conversation that is shorter than this is not divided further: something else is wrong. Bytes.
const SMALLEST_PIECE: usize = 2_000;

/// A boxed step of the recursion over pieces.
type Step<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// Asks for summaries, for one compaction or one branch.
pub struct Summariser {
    shared: Arc<AgentShared>,
    asking: Asking,
    /// What is selected; a virtual model is resolved for each request.
    model: Arc<Model>,
    thinking: ThinkingLevel,
    retry: RetrySettings,
    source: SummarySource,
    /// Tokens of the window that stay free for the answer.
    reserve: u64,
    cancel: CancellationToken,
    /// What all requests took, also those that run at the same time.
    usage: Mutex<Usage>,
}

impl Summariser {
    /// For the selected model; none without one.
    #[must_use]
    pub fn new(
        shared: Arc<AgentShared>,
        source: SummarySource,
        reserve: u64,
        cancel: CancellationToken,
    ) -> Option<Self> {
        let (model, thinking, retry) = {
            let selection = shared.selection();
            (selection.model.clone()?, selection.thinking, selection.retry)
        };
        let asking = shared.asking();
        Some(Self { shared, asking, model, thinking, retry, source, reserve, cancel, usage: Mutex::default() })
    }

    /// What all of it cost so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A summary of `conversation`. What does not fit into the model's window is summarised in pieces, each on top of
    /// the summary so far: `prompt` makes the request from a piece and that summary.
    ///
    /// # Errors
    /// Why there is no summary: the call failed, was cancelled, or its answer is no summary.
    pub fn summary<'a>(
        &'a self,
        conversation: &'a str,
        so_far: Option<String>,
        prompt: &'a (dyn Fn(&str, Option<&str>) -> String + Sync),
    ) -> Step<'a, String> {
        Box::pin(async move {
            let whole = prompt(conversation, so_far.as_deref());
            let halves = halves(conversation);
            if halves.is_none() || self.fits(&whole) {
                match self.ask(whole).await {
                    Err(failure) if failure.class == FailureClass::ContextOverflow && halves.is_some() => {}
                    answer => return answer,
                }
            }
            let Some((first, second)) = halves else { return Err(too_large()) };
            let first = self.summary(first, so_far, prompt).await?;
            self.summary(second, Some(first), prompt).await
        })
    }

    fn fits(&self, prompt: &str) -> bool {
        room(self.model.context_window, self.reserve).is_none_or(|room| tokens::of_text(prompt) <= room)
    }

    /// One request, tried again where that may help.
    async fn ask(&self, prompt: String) -> Result<String, Failure> {
        let mut attempt = 0;
        let result = loop {
            let failure = match self.once(&prompt).await {
                Ok(text) => break Ok(text),
                Err(failure) => failure,
            };
            attempt += 1;
            let Some(delay_ms) = self.retry.delay(attempt, &failure, false).filter(|_| !self.cancel.is_cancelled())
            else {
                attempt -= 1;
                break Err(failure);
            };
            self.shared.publish(vec![Event::SummarizationRetryScheduled {
                attempt,
                max_attempts: self.retry.max_retries,
                delay_ms,
                error_message: failure.message.clone(),
            }]);
            tokio::select! {
                () = sleep(Duration::from_millis(delay_ms)) => {}
                () = self.cancel.cancelled() => break Err(failure),
            }
            self.shared.publish(vec![Event::SummarizationRetryAttemptStart { source: self.source }]);
        };
        if attempt > 0 {
            self.shared.publish(vec![Event::SummarizationRetryFinished]);
        }
        result
    }

    async fn once(&self, prompt: &str) -> Result<String, Failure> {
        let (message, failure) = self.answer(prompt).await?;
        if let Some(failure) = failure {
            return Err(failure);
        }
        self.usage.lock().unwrap_or_else(PoisonError::into_inner).add(&message.usage);
        if message.stop_reason == StopReason::Length {
            return Err(no_summary("The summary was cut off at the output limit"));
        }
        if message.tool_calls().next().is_some() {
            return Err(no_summary("The model called a tool instead of writing a summary"));
        }
        match text_of(&message.content, "\n").trim() {
            "" => Err(no_summary("The model wrote no summary")),
            text => Ok(text.to_owned()),
        }
    }

    async fn answer(&self, prompt: &str) -> Result<(Arc<AssistantMessage>, Option<Failure>), Failure> {
        let now = now_ms();
        let system = SystemMessage { content: prompts::SYSTEM.into(), timestamp: now, ..SystemMessage::default() };
        let messages = Arc::new(vec![AgentMessage::System(Arc::new(system)), AgentMessage::user(prompt, now)]);
        let llm = convert_to_llm(&messages);
        let config = &self.shared.config;
        let (mut model, mut thinking) = (self.model.clone(), self.thinking);
        if let Some(virtual_model) = config.catalogue.now().virtual_model(&model.reference()) {
            let request = dispatch::Request { thinking, facts: RouteFacts::direct(), messages: &messages, llm: &llm };
            let dispatched = dispatch(&self.shared, &self.asking, virtual_model, request, now).await?;
            (model, thinking) = (dispatched.model, dispatched.thinking);
        }
        let equipped = equip(config, model).await?;
        let thinking = equipped.model.clamp_thinking(thinking);
        let request = Request {
            thinking,
            // It is no part of the conversation: it must not share what servers keep of that.
            session_id: Some(Uuid::new_v4().to_string()),
            cache: CacheRetention::None,
            cancel: self.cancel.clone(),
            ..equipped.request(config, llm)
        };
        let call = self.shared.kin.account.reserve();
        let call = call.map_err(|exhausted| Failure::new(FailureClass::Budget, exhausted.text()))?;
        let mut spending = Spending::begin(call, &request.model, tokens::of_text(prompt));
        let mut stream = equipped.provider.stream(request);
        while let Some(batch) = stream.next().await {
            if spending.passes_a_limit(&batch) {
                self.cancel.cancel();
            }
            for event in batch {
                match event {
                    StreamEvent::Done(message) => return Ok(spending.end(message, None)),
                    StreamEvent::Failed { message, failure } => return Ok(spending.end(message, Some(failure))),
                    _ => {}
                }
            }
        }
        Err(Failure::new(FailureClass::ProtocolError, "The provider ended its stream without an end"))
    }
}

fn no_summary(text: &str) -> Failure {
    Failure::new(FailureClass::Internal, text)
}

fn too_large() -> Failure {
    Failure::new(FailureClass::ContextOverflow, "The conversation does not fit into the model's window even in pieces")
}

/// Two pieces of a text, divided between messages near its middle, or else anywhere; none when it is short.
fn halves(text: &str) -> Option<(&str, &str)> {
    if text.len() < SMALLEST_PIECE {
        return None;
    }
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at))?;
    // Not far from the middle: two pieces of very different sizes would need one more round.
    let near = text[middle..].find("\n\n[").map(|at| middle + at).filter(|at| *at < text.len() / 4 * 3);
    let at = near.unwrap_or(middle);
    Some((&text[..at], text[at..].trim_start_matches('\n')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_divided_between_messages_where_it_can_be() {
        let long = |n| "x".repeat(n);
        assert_eq!(halves(&long(1_999)), None);
        let two = format!("[User]: {}\n\n[Assistant]: {}", long(1_500), long(1_400));
        let (first, second) = halves(&two).unwrap();
        assert!(first.starts_with("[User]") && second.starts_with("[Assistant]"), "{first}|{second}");
        let one = "é".repeat(1_501);
        let (first, second) = halves(&one).unwrap();
        assert_eq!(format!("{first}{second}"), one);
    }
}
