//! What one wire API adds to the common machinery: how a request is written and how an answer is read. Both are pure.
//!
//! Bytes, frames, JSON and events are separate layers. A [`BodyDecoder`] takes bytes; for the APIs that speak
//! server-sent events [`SseBody`] does the framing, and an [`EventDecoder`] never sees where a chunk ended.

use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use super::{
    Request,
    assembler::Assembler,
    error_body::ErrorBody,
    errors::{malformed_event, stream_failure, wrong_body_failure},
    headers::Headers,
    json_repair::read_lax,
    lax::Obj,
    sse::{EventTooLarge, SseDecoder, SseEvent},
    watch::CallWatch,
};
use crate::protocol::{Failure, FailureClass};

/// One wire API.
pub trait WireApi: Send + Sync + 'static {
    /// The API's name, such as `openai-completions`.
    fn name(&self) -> &'static str;

    /// Writes the request.
    ///
    /// # Errors
    /// When it cannot be written: a key or header that cannot be sent, a tool that the model cannot take.
    fn request(&self, request: &Request) -> Result<Outgoing, Failure>;

    /// Another wording of a request that the server refused, without what it refused. Asked once in a call.
    fn amend(&self, _request: &Request, _failure: &Failure) -> Option<Request> {
        None
    }

    /// A decoder for the answer to `request`.
    fn decoder(&self, request: &Request) -> Box<dyn BodyDecoder>;
}

/// A request as it goes out. Always a POST of JSON.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// Where it goes.
    pub url: String,
    /// Its headers; the length is added when it is sent.
    pub headers: Headers,
    /// Its body.
    pub body: Bytes,
}

/// Reads the body of one answer, in chunks of any size.
pub trait BodyDecoder: Send {
    /// Takes the next bytes.
    fn push(&mut self, bytes: &[u8], out: &mut Assembler);

    /// The body is over: `None` when it ended cleanly, otherwise why no more comes. Always ends the stream.
    fn finish(&mut self, fault: Option<Failure>, out: &mut Assembler);

    /// True when the API's end mark was seen: what may still come is an extra, and worth no long wait.
    fn is_complete(&self) -> bool;
}

/// Reads the events of one answer.
pub trait EventDecoder: Send {
    /// Takes one event.
    fn event(&mut self, event: SseEvent<'_>, out: &mut Assembler);

    /// No more events come. Without a fault, or after the API's end mark, the answer is judged by what arrived.
    fn finish(&mut self, fault: Option<Failure>, out: &mut Assembler);

    /// True when the API's end mark was seen.
    fn is_complete(&self) -> bool;
}

/// Frames a body of server-sent events.
pub struct SseBody<E> {
    sse: SseDecoder,
    events: E,
    provider: String,
    watch: Option<Arc<dyn CallWatch>>,
}

impl<E: EventDecoder> SseBody<E> {
    /// For the answer to `request`.
    pub fn new(events: E, request: &Request) -> Self {
        Self::with_decoder(SseDecoder::default(), events, request)
    }

    /// The same with a decoder of another limit.
    fn with_decoder(sse: SseDecoder, events: E, request: &Request) -> Self {
        let watch = request.watch.clone().filter(|watch| watch.wants_raw());
        Self { sse, events, provider: request.model.provider.clone(), watch }
    }
}

impl<E: EventDecoder> BodyDecoder for SseBody<E> {
    fn push(&mut self, bytes: &[u8], out: &mut Assembler) {
        let Self { sse, events, watch, .. } = self;
        let pushed = sse.push(bytes, &mut |event| {
            show(watch.as_ref(), &event);
            take(events, event, out);
        });
        if let Err(error) = pushed
            && !out.is_finished()
        {
            out.fail(endless_event(&self.provider, error));
        }
        // The sentinel ends the stream also for APIs that do not define it (rule S7).
        if self.sse.has_ended() {
            self.end(None, out);
        }
    }

    fn finish(&mut self, fault: Option<Failure>, out: &mut Assembler) {
        let Self { sse, events, watch, .. } = self;
        sse.finish(&mut |event| {
            show(watch.as_ref(), &event);
            take(events, event, out);
        });
        self.end(fault, out);
    }

    fn is_complete(&self) -> bool {
        self.events.is_complete()
    }
}

impl<E: EventDecoder> SseBody<E> {
    /// Nothing more comes: judges what came, unless that is done.
    fn end(&mut self, fault: Option<Failure>, out: &mut Assembler) {
        if out.is_finished() {
            return;
        }
        match self.stray_error().filter(|_| !self.events.is_complete()) {
            Some(failure) => out.fail(failure),
            None => self.events.finish(fault, out),
        }
    }

    /// The error that lines outside of events spell together (rule S10), or the page that came instead of a stream.
    fn stray_error(&self) -> Option<Failure> {
        let stray = self.sse.stray().trim_ascii();
        if stray.starts_with(b"<") {
            return Some(wrong_body_failure(&self.provider, "a web page", stray));
        }
        let error: Value = serde_json::from_slice(stray).ok()?;
        ErrorBody::is_in(&error).then(|| stream_failure(&self.provider, &error))
    }
}

/// The failure of a body whose event does not end. Another try would bring the same.
fn endless_event(provider: &str, error: EventTooLarge) -> Failure {
    Failure::new(
        FailureClass::ProtocolError,
        format!("The answer of provider \"{provider}\" is no usable event stream: {error}; check its baseUrl"),
    )
}

/// Hands an event on, as long as the answer is not over.
fn show(watch: Option<&Arc<dyn CallWatch>>, event: &SseEvent<'_>) {
    if let Some(watch) = watch {
        watch.raw(event.data);
    }
}

fn take<E: EventDecoder>(events: &mut E, event: SseEvent<'_>, out: &mut Assembler) {
    if !out.is_finished() {
        events.event(event, out);
    }
}

/// The object that an event holds, with its JSON; `mended` holds that where it had to be mended. `None` for other values,
/// which say nothing (rule X2), and after an event that is no JSON at all, which fails the answer (rule S13).
pub(crate) fn read_event<'a, T: Deserialize<'a> + Default>(
    event: SseEvent<'a>,
    mended: &'a mut String,
    out: &mut Assembler,
) -> Option<(T, &'a [u8])> {
    match read_lax::<Obj<T>>(event.data, mended) {
        Ok((Obj(object), json)) => Some((object?, json)),
        Err(error) => {
            out.fail(malformed_event(&error));
            None
        }
    }
}

/// The failure that an event tells of.
pub(crate) fn told_failure(provider: &str, json: &[u8]) -> Failure {
    stream_failure(provider, &serde_json::from_slice(json).unwrap_or_default())
}

/// `base` with `path` behind it, whether or not the base ends with a slash.
#[must_use]
pub(crate) fn join_url(base: &str, path: &str) -> String {
    format!("{}{path}", base.trim().trim_end_matches('/'))
}

/// `base` with `path` of the first version of an API behind it; a base that ends with the version is understood too.
#[must_use]
pub(crate) fn join_v1_url(base: &str, path: &str) -> String {
    let is_versioned = base.trim().trim_end_matches('/').ends_with("/v1");
    join_url(base, &format!("{}{path}", if is_versioned { "" } else { "/v1" }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        protocol::{Message, StreamEvent},
        providers::testing::{plain_model, request},
    };

    /// Takes every event and says nothing.
    struct Silent;

    impl EventDecoder for Silent {
        fn event(&mut self, _: SseEvent<'_>, _: &mut Assembler) {}

        fn finish(&mut self, _: Option<Failure>, _: &mut Assembler) {}

        fn is_complete(&self) -> bool {
            false
        }
    }

    #[test]
    fn an_event_beyond_the_limit_ends_the_call_with_a_failure_that_is_not_retried() {
        let request = request(plain_model("openai-completions"), Vec::<Message>::new());
        let mut out = Assembler::new(&request);
        let mut body = SseBody::with_decoder(SseDecoder::with_limit(2048), Silent, &request);
        for _ in 0..3 {
            body.push(&[b'x'; 1000], &mut out);
        }
        assert!(out.is_finished());
        let Some(StreamEvent::Failed { failure, .. }) = out.take_events().pop() else { panic!("no failure") };
        assert!(failure.message.contains("an event is larger than 2 KiB"), "{failure}");
        assert!(failure.message.contains("\"custom\"") && !failure.retryable, "{failure}");
    }
}
