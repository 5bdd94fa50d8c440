//! One model call over HTTP: send, retry, read, decode. The same for every wire API.
//!
//! The stream is lazy: nothing is sent before it is polled, nothing is read before the batch before was taken, and
//! dropping it closes the connection. One batch holds what the socket had ready.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::{FutureExt, stream};
use reqwest::{
    StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap, LOCATION, SET_COOKIE},
};
use tokio::{task::yield_now, time::timeout};
use uuid::Uuid;

use super::{
    EventStream, Request, amendments,
    assembler::Assembler,
    errors::{aborted, http_failure, wrong_body_failure},
    headers::{redact, secrets},
    http::{seconds, shown},
    transport::{Answer, Transport},
    watch::worded,
    wire_api::{BodyDecoder, WireApi},
};
use crate::protocol::{Failure, FailureClass, StreamEvent, time::now_ms};

/// Bytes that one batch takes at most, so that a consumer is never handed a whole long answer at once.
const BATCH_BYTES: usize = 256 * 1024;
/// Bytes of an error body that are read.
const ERROR_BYTES: usize = 256 * 1024;
/// How long an error body may take.
const ERROR_PATIENCE: Duration = Duration::from_secs(10);
/// How long extras may take that come after the end of the answer, such as usage.
const EXTRAS_PATIENCE: Duration = Duration::from_secs(15);

/// Streams the answer to `request`.
pub(crate) fn stream(api: &'static dyn WireApi, mut request: Request, transport: Transport) -> EventStream {
    transport.prepare(&mut request);
    let call = Call { out: Assembler::new(&request), api, request, transport, stage: Stage::Unsent };
    Box::pin(stream::unfold(call, Call::next))
}

struct Call {
    api: &'static dyn WireApi,
    request: Request,
    transport: Transport,
    out: Assembler,
    stage: Stage,
}

enum Stage {
    Unsent,
    Reading(Box<Reading>),
    Over,
}

struct Reading {
    answer: Answer,
    /// What was read already to see what kind of body it is.
    peeked: Option<Bytes>,
    body: Box<dyn BodyDecoder>,
    extras_until: Option<Instant>,
}

impl Call {
    /// The next batch; `None` after the one with the terminal event.
    async fn next(mut self) -> Option<(Vec<StreamEvent>, Self)> {
        loop {
            let cancel = self.request.cancel.clone();
            let mut cancelled = pin!(cancel.cancelled());
            let ended = match &mut self.stage {
                Stage::Over => return None,
                Stage::Unsent => {
                    let open = open(self.api, &self.request, &self.transport);
                    let opened = tokio::select! {
                        biased;
                        () = &mut cancelled => Err(aborted()),
                        opened = open => opened,
                    };
                    match opened {
                        Ok(Opened { answer, peeked }) => {
                            let body = self.api.decoder(&self.request);
                            self.stage = Stage::Reading(Box::new(Reading { answer, peeked, body, extras_until: None }));
                            None
                        }
                        Err(failure) => Some(failure),
                    }
                }
                Stage::Reading(reading) => {
                    let read = reading.batch(&self.request, &mut self.out);
                    tokio::select! {
                        biased;
                        // Dropping the answer says the same to a recorder.
                        () = &mut cancelled => Some(aborted()),
                        () = read => None,
                    }
                }
            };
            if let Some(failure) = ended {
                self.out.fail(failure);
            }
            if self.out.is_finished() {
                self.stage = Stage::Over;
            }
            let mut events = self.out.take_events();
            if !events.is_empty() {
                events.iter_mut().for_each(|event| clean_terminal(event, &self.request));
                return Some((events, self));
            }
        }
    }
}

impl Reading {
    /// Reads until something happened: waits for the first bytes, then takes what else is ready.
    async fn batch(&mut self, request: &Request, out: &mut Assembler) {
        let mut taken = 0;
        let mut chunk = match self.peeked.take() {
            Some(peeked) => Ok(Some(peeked)),
            None => self.first(request).await,
        };
        loop {
            match chunk {
                Ok(Some(bytes)) => {
                    taken += bytes.len();
                    self.body.push(&bytes, out);
                }
                Ok(None) => self.body.finish(None, out),
                // Only a replayed answer ends so. The abort was not for the decoder to judge, and is not now.
                Err(fault) if fault.class == FailureClass::Aborted => out.fail(fault),
                Err(fault) => self.body.finish(Some(fault), out),
            }
            if out.is_finished() {
                self.answer.close(None);
                return;
            }
            if taken >= BATCH_BYTES {
                return;
            }
            chunk = match self.ready().await {
                Some(read) => read,
                None => return,
            };
        }
    }

    /// The next bytes when they are there already. The connection is a task of its own that hands over one piece at a
    /// time: it gets one chance to bring the next.
    async fn ready(&mut self) -> Option<Result<Option<Bytes>, Failure>> {
        let mut read = self.answer.chunk().now_or_never();
        if read.is_none() {
            yield_now().await;
            read = self.answer.chunk().now_or_never();
        }
        read
    }

    /// Waits for the next bytes. Behind the end mark only extras can come: they get a short time in all.
    async fn first(&mut self, request: &Request) -> Result<Option<Bytes>, Failure> {
        let mut limit = request.timeouts.idle;
        if self.body.is_complete() {
            let until = *self.extras_until.get_or_insert_with(|| Instant::now() + EXTRAS_PATIENCE);
            let left = until.saturating_duration_since(Instant::now());
            limit = Some(limit.map_or(left, |idle| idle.min(left)));
        }
        self.answer.chunk_within(limit, "Stream timed out: nothing arrived for").await
    }
}

/// A response that is an event stream, as far as one can see.
struct Opened {
    answer: Answer,
    peeked: Option<Bytes>,
}

/// Sends the request until an answer comes that is an event stream.
async fn open(api: &dyn WireApi, request: &Request, transport: &Transport) -> Result<Opened, Failure> {
    let amended_before = amendments::apply(api, request);
    let request = amended_before.as_ref().unwrap_or(request);
    let mut outgoing = worded(api, request).await?;
    let url = Url::parse(&outgoing.url).ok().filter(|url| url.has_host()).ok_or_else(|| {
        let text = format!("Provider \"{}\": its baseUrl \"{}\" is no valid URL", request.model.provider, outgoing.url);
        Failure::new(FailureClass::InvalidRequest, text)
    })?;
    let line = transport.line(&url, request.timeouts.connect)?;
    let mut tries = 0;
    let mut amended: Option<(Request, Failure)> = None;
    loop {
        let failure = match line.send(api.name(), &url, &outgoing, request).await {
            Ok(answer) => match judge(answer, request).await {
                Ok(opened) => {
                    if let Some((_, refusal)) = &amended {
                        amendments::remember(request, refusal);
                    }
                    return Ok(opened);
                }
                Err(failure) => failure,
            },
            Err(failure) => failure,
        };
        if amended.is_none()
            && let Some(other) = api.amend(request, &failure)
        {
            outgoing = worded(api, &other).await?;
            amended = Some((other, failure));
            continue;
        }
        if !failure.retryable {
            return Err(failure);
        }
        let wait = delay(&failure, tries, request.retry.max_delay)?;
        if tries >= request.retry.max_retries {
            return Err(failure);
        }
        line.pause(wait).await;
        tries += 1;
        if request.aws.is_some() {
            // A signature is good for some minutes only.
            outgoing = worded(api, amended.as_ref().map_or(request, |(other, _)| other)).await?;
        }
    }
}

/// How long to wait before another try: what the server asks for, or a growing time with some jitter.
fn delay(failure: &Failure, tries: u32, max_delay: Duration) -> Result<Duration, Failure> {
    if let Some(asked) = failure.retry_after_ms.map(Duration::from_millis) {
        if !max_delay.is_zero() && asked > max_delay {
            let text = format!(
                "{} (the server asks for a retry delay of {}, above the limit of {})",
                failure.message,
                seconds(asked),
                seconds(max_delay)
            );
            return Err(Failure { message: text, ..failure.clone() });
        }
        return Ok(asked);
    }
    let base = 0.5 * 2f64.powi(tries.min(8).cast_signed());
    let chance = (Uuid::new_v4().as_u128() % 1000) as f64 / 1000.0;
    Ok(Duration::from_secs_f64(base.min(8.0) * (1.0 - 0.25 * chance)))
}

/// Whether the answer is the stream that was asked for.
async fn judge(mut answer: Answer, request: &Request) -> Result<Opened, Failure> {
    let provider = &request.model.provider;
    let status = answer.status;
    if let Some(watch) = &request.watch {
        watch.answered(status.as_u16(), shown_headers(&answer.headers));
    }
    if !status.is_success() {
        let mut failure = refusal(answer, provider, status).await;
        if request.api_key.is_none() && request.aws.is_none() && failure.class == FailureClass::Auth {
            failure.message.push_str(" (no API key was sent)");
        }
        return Err(failure);
    }
    let content_type = answer.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if !kind.contains("json") && !kind.contains("html") {
        // Gateways forget or change the type; what is no event stream shows itself in the decoder.
        return Ok(Opened { answer, peeked: None });
    }
    // A wrong type over a right stream: an event stream does not begin like JSON or a page.
    let first = answer.chunk_within(request.timeouts.idle, "Request timed out: no body within").await?;
    let first = first.unwrap_or_default();
    match first.trim_ascii_start().first() {
        Some(b'{' | b'[' | b'<') | None => {
            Err(wrong_body_failure(provider, &kind, &bounded_body(answer, first.to_vec()).await))
        }
        Some(_) => Ok(Opened { answer, peeked: Some(first) }),
    }
}

/// Headers that may be shown. Cookies are a kind of key.
fn shown_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let shown = headers.iter().filter(|(name, _)| **name != SET_COOKIE);
    shown.map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())).collect()
}

async fn refusal(answer: Answer, provider: &str, status: StatusCode) -> Failure {
    let headers = answer.headers.clone();
    let url = answer.url.clone();
    let body = bounded_body(answer, Vec::new()).await;
    let mut failure = http_failure(provider, status.as_u16(), &headers, &body, now_ms());
    if status.is_redirection() {
        // A location may be relative to what was asked for.
        let target = headers.get(LOCATION).and_then(|value| url.join(value.to_str().ok()?).ok());
        failure.message = match target {
            Some(target) => {
                format!("{status}: redirected to {}; set the provider's baseUrl to where it is now", shown(&target))
            }
            None => format!("{status}: {} redirects to no place that it names; check the baseUrl", shown(&url)),
        };
    }
    failure
}

/// The beginning of a body, as much of it as comes in time.
async fn bounded_body(mut answer: Answer, mut body: Vec<u8>) -> Vec<u8> {
    let read = async {
        while let Ok(Some(chunk)) = answer.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > ERROR_BYTES {
                break;
            }
        }
    };
    // What came until then is what there is to show.
    let _ = timeout(ERROR_PATIENCE, read).await;
    answer.close(None);
    body
}

/// FC-106: whatever a server echoes, no key gets into a text that is shown and stored.
fn clean_terminal(event: &mut StreamEvent, request: &Request) {
    let StreamEvent::Failed { message, failure } = event else { return };
    let text = redact(&failure.message, &secrets(request));
    if text != failure.message {
        Arc::make_mut(message).error_message = Some(text.clone());
        failure.message = text;
    }
}
