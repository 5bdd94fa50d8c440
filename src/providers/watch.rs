//! Somebody who looks at model calls on their way, and may change what is sent.

use std::{future::Future, pin::Pin};

use bytes::Bytes;
use serde_json::Value;

use super::{Request, wire_api::{Outgoing, WireApi}};
use crate::protocol::{Failure, FailureClass};

/// What is sent instead; none: what was asked about.
pub type Replacement<'a> = Pin<Box<dyn Future<Output = Option<Value>> + Send + 'a>>;

/// Looks at the calls of one request, repetitions included.
pub trait CallWatch: Send + Sync {
    /// Whether bodies of requests are to be shown.
    fn wants_payload(&self) -> bool;

    /// A body is about to be sent.
    fn payload(&self, payload: Value) -> Replacement<'_>;

    /// A server answered. `headers` in lower case, in order, without cookies.
    fn answered(&self, status: u16, headers: Vec<(String, String)>);

    /// Whether the raw events of answers are to be shown.
    fn wants_raw(&self) -> bool;

    /// An event of an answer, as it came.
    fn raw(&self, data: &[u8]);
}

/// The request as `api` words it, and as whoever watches wants it.
///
/// # Errors
/// It cannot be worded, or its body was replaced although its signature covers the old one.
pub(super) async fn worded(api: &dyn WireApi, request: &Request) -> Result<Outgoing, Failure> {
    let mut outgoing = api.request(request)?;
    let Some(watch) = request.watch.as_ref().filter(|watch| watch.wants_payload()) else { return Ok(outgoing) };
    let Ok(payload) = serde_json::from_slice(&outgoing.body) else { return Ok(outgoing) };
    let Some(replacement) = watch.payload(payload).await else { return Ok(outgoing) };
    if request.aws.is_some() {
        let text = "An extension replaced the body of a request whose signature covers it; such requests go out as they are \
                    or not at all.";
        return Err(Failure::new(FailureClass::InvalidRequest, text));
    }
    outgoing.body = Bytes::from(replacement.to_string());
    Ok(outgoing)
}
