//! The worker of one model call: reads the provider's stream and passes it on, batch by batch.
//!
//! It takes a permit of its agent for each batch: when a lossless subscriber stops reading, permits run out, the
//! worker stops polling, and the provider's socket fills up. Aborting is the request's token; a kill closes the
//! connection.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio_stream::StreamExt;
use tracing::{Instrument, Span, field::Empty};

use super::{
    account::Reserved,
    address::Recipient,
    dispatch::Routed,
    shared::AgentShared,
    spending::Spending,
    turn_io::{Input, Work},
};
use crate::{
    protocol::{
        AgentMessage, AssistantMessage, Event, Failure, FailureClass, ModelRef, StopReason, StreamEvent, time::now_ms,
    },
    providers::{
        Provider, Request,
        overflow::{is_recoverable_length, is_silent_overflow},
        routing::CoolDown,
    },
};

/// What the worker needs.
pub struct StreamWork {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// The wire.
    pub provider: Arc<dyn Provider>,
    /// The request.
    pub request: Request,
    /// How rules chose its model, when a virtual one is selected.
    pub routed: Option<Routed>,
    /// The right to send it.
    pub call: Reserved,
    /// The loop that waits.
    pub to: Recipient<Input>,
    /// The work that it waits for.
    pub work: Work,
    /// The span of the turn.
    pub span: Span,
}

/// The worker.
pub struct ProviderStream;

impl Actor for ProviderStream {
    type Msg = StreamWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<StreamWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<StreamWork>,
        work: StreamWork,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let (parent, model) = (&work.span, &work.request.model);
        let span = tracing::info_span!(
            parent: parent, "call", provider = model.provider, model = model.id, api = model.api,
            input_tokens = Empty, output_tokens = Empty, finish = Empty, error = Empty,
        );
        relay(work).instrument(span).await;
        myself.stop(None);
        Ok(())
    }
}

async fn relay(work: StreamWork) {
    let StreamWork { shared, provider, request, routed, call, to, work, .. } = work;
    let cancel = request.cancel.clone();
    let model = request.model.clone();
    let mut stream = provider.stream(request);
    let mut started = false;
    let mut end = None;
    let mut spending = Spending::begin(call, &model, shared.tree().map_or(0, |tree| tree.context_tokens()));
    while let Some(batch) = stream.next().await {
        let mut events = Vec::with_capacity(batch.len());
        for event in batch {
            match event {
                StreamEvent::Start(message) => {
                    started = true;
                    let pending =
                        AssistantMessage { stop_reason: StopReason::Pending, ..Arc::unwrap_or_clone(message) };
                    let message = AgentMessage::Assistant(Arc::new(pending));
                    shared.publish(vec![Event::MessageStart { message }]);
                }
                StreamEvent::Done(message) => end = Some((message, None)),
                StreamEvent::Failed { message, failure } => end = Some((message, Some(failure))),
                event => events.push(event),
            }
        }
        if spending.passes_a_limit(&events) {
            cancel.cancel();
        }
        if !events.is_empty() {
            // When permits have run out, an abort must still get through: then the rest is passed on without one.
            let permit = tokio::select! {
                permit = shared.stream_permits.clone().acquire_owned() => permit.ok(),
                () = cancel.cancelled() => None,
            };
            shared.stream(events, permit);
        }
        if end.is_some() {
            break;
        }
    }
    let (message, failure) = end.unwrap_or_else(|| {
        let text = format!("The provider for {} ended its stream without an end", model.api);
        let message = AssistantMessage {
            api: model.api.clone(),
            provider: model.provider.clone(),
            model: model.id.clone(),
            stop_reason: StopReason::Error,
            error_message: Some(text.clone()),
            timestamp: now_ms(),
            ..AssistantMessage::default()
        };
        (Arc::new(message), Some(Failure::new(FailureClass::ProtocolError, text)))
    });
    let (message, failure) = spending.end(message, failure);
    note(&Span::current(), &message, failure.as_ref());
    let fallback = account(&shared, &model.reference(), failure.as_ref(), routed.as_ref());
    // When the loop is gone, so is this worker: its death is under way.
    let hidden = failure.is_none() && is_silent_overflow(&message, model.context_window);
    // An answer without a word is none: it is asked for again behind the compaction.
    let failure = failure.or_else(|| {
        let text = "The provider cut the conversation to its window and left no room for an answer";
        (hidden && message.stop_reason == StopReason::Length).then(|| Failure::new(FailureClass::ContextOverflow, text))
    });
    let overflow = hidden && failure.is_none();
    let short =
        failure.is_none() && message.tool_calls().next().is_none() && is_recoverable_length(&message, model.max_tokens);
    let _ = to.deliver(Input::Answered { work, message, failure, started, fallback, overflow, short });
}

/// Notes in the call's span what it came to: numbers and words of ours, nothing that was said.
fn note(span: &Span, message: &AssistantMessage, failure: Option<&Failure>) {
    let usage = &message.usage;
    span.record("input_tokens", usage.input + usage.cache_read + usage.cache_write);
    span.record("output_tokens", usage.output);
    match failure {
        Some(failure) => span.record("error", failure.class.name()),
        None => {
            let finish = serde_json::to_value(message.stop_reason).unwrap_or_default();
            span.record("finish", finish.as_str().unwrap_or_default())
        }
    };
}

/// Notes what an answer says about its model for all agents of the process. True when the request failed because its
/// model had enough, and another one would answer it at once.
fn account(shared: &AgentShared, model: &ModelRef, failure: Option<&Failure>, routed: Option<&Routed>) -> bool {
    let catalogue = &shared.config.catalogue;
    let Some(failure) = failure else {
        catalogue.cool_downs().succeeded(model);
        return false;
    };
    let now = now_ms();
    catalogue.cool_downs().failed(model, failure, now);
    CoolDown::follows(failure.class) && routed.is_some_and(|routed| routed.falls_back(catalogue, model, now))
}
