//! What one model call costs, counted while it streams: an estimate at first, what the provider reports at the end.

use std::sync::Arc;

use super::account::{Exhausted, Meter, Reserved};
use crate::{
    protocol::{AssistantMessage, Failure, FailureClass, Model, StopReason, StreamEvent, Usage, tokens},
    providers::cost::price,
};

/// What a call costs, counted while it streams.
pub(super) struct Spending {
    meter: Meter,
    model: Arc<Model>,
    /// Tokens of the request.
    input: u64,
    /// Tokens that have streamed.
    output: u64,
    over: Option<Exhausted>,
}

impl Spending {
    /// A call with a request of about `input` tokens begins.
    pub fn begin(call: Reserved, model: &Arc<Model>, input: u64) -> Self {
        let mut spending = Self { meter: call.begin(), model: model.clone(), input, output: 0, over: None };
        spending.estimate();
        spending
    }

    /// Counts what one read of the socket brought. True when it passes a limit, once.
    pub fn passes_a_limit(&mut self, events: &[StreamEvent]) -> bool {
        let tokens = |event: &StreamEvent| match event {
            StreamEvent::TextDelta { delta, .. }
            | StreamEvent::ThinkingDelta { delta, .. }
            | StreamEvent::ToolCallDelta { delta, .. } => tokens::of_text(delta),
            _ => 0,
        };
        self.output += events.iter().map(tokens).sum::<u64>();
        self.estimate();
        if self.over.is_none() {
            self.over = self.meter.overspent();
            return self.over.is_some();
        }
        false
    }

    fn estimate(&mut self) {
        let usage = Usage { input: self.input, output: self.output, ..Usage::default() };
        self.meter.estimate(self.input + self.output, price(&self.model.cost, &usage).total);
    }

    /// What a call used that a limit has ended: it is stored, so that the next process finds the limit passed as well.
    fn reported_or_estimated(&self, reported: Usage) -> Usage {
        let mut usage = Usage { output: reported.output.max(self.output), ..reported };
        if usage.input + usage.cache_read + usage.cache_write == 0 {
            usage.input = self.input;
        }
        usage = usage.summed();
        usage.cost = price(&self.model.cost, &usage);
        usage
    }

    /// The call is over. One that was ended by a limit says so.
    pub fn end(
        mut self,
        message: Arc<AssistantMessage>,
        failure: Option<Failure>,
    ) -> (Arc<AssistantMessage>, Option<Failure>) {
        if failure.is_none() {
            self.meter.settle(&message.usage);
            return (message, None);
        }
        // The provider may not have had the time to report all of it.
        self.meter.estimate(message.usage.context_tokens(), message.usage.cost.total);
        let Some(exhausted) = self.over.take() else { return (message, failure) };
        let text = exhausted.text();
        let message = AssistantMessage {
            usage: self.reported_or_estimated(message.usage),
            stop_reason: StopReason::Error,
            error_message: Some(text.clone()),
            ..Arc::unwrap_or_clone(message)
        };
        (Arc::new(message), Some(Failure::new(FailureClass::Budget, text)))
    }
}
