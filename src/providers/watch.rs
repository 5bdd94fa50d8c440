//! Somebody who looks at model calls on their way, and may change what is sent.

use std::{future::Future, pin::Pin};

use bytes::Bytes;
use serde_json::Value;

use super::{
    Request,
    wire_api::{Outgoing, WireApi},
};
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::json;

    use super::*;
    use crate::providers::{Secret, aws::AwsCredentials, headers::Headers, testing::model, wire_api::BodyDecoder};

    /// Words every request alike.
    struct Plain;

    impl WireApi for Plain {
        fn name(&self) -> &'static str {
            "plain"
        }

        fn request(&self, _: &Request) -> Result<Outgoing, Failure> {
            let body = Bytes::from_static(br#"{"a":1}"#);
            Ok(Outgoing { url: "http://x".into(), headers: Headers::default(), body })
        }

        fn decoder(&self, _: &Request) -> Box<dyn BodyDecoder> {
            panic!("nothing is answered here")
        }
    }

    struct Watch {
        seen: Mutex<Vec<Value>>,
        wants: bool,
        answer: Option<Value>,
    }

    impl CallWatch for Watch {
        fn wants_payload(&self) -> bool {
            self.wants
        }

        fn payload(&self, payload: Value) -> Replacement<'_> {
            self.seen.lock().unwrap().push(payload);
            Box::pin(std::future::ready(self.answer.clone()))
        }

        fn answered(&self, _: u16, _: Vec<(String, String)>) {}

        fn wants_raw(&self) -> bool {
            false
        }

        fn raw(&self, _: &[u8]) {}
    }

    #[tokio::test]
    async fn a_body_is_shown_to_whoever_wants_it_and_replaced_unless_it_is_signed() {
        let signed = AwsCredentials {
            access_key_id: "id".into(),
            secret_access_key: Secret::new("secret"),
            session_token: None,
        };
        let table = [
            (false, Some(json!({"b": 2})), None, Some(r#"{"a":1}"#)),
            (true, None, None, Some(r#"{"a":1}"#)),
            (true, None, Some(signed.clone()), Some(r#"{"a":1}"#)),
            (true, Some(json!({"b": 2})), None, Some(r#"{"b":2}"#)),
            (true, Some(json!({"b": 2})), Some(signed), None),
        ];
        for (wants, answer, aws, wanted) in table {
            let watch = Arc::new(Watch { seen: Mutex::default(), wants, answer });
            let request = Request { aws, watch: Some(watch.clone()), ..Request::new(model("plain"), Vec::new()) };
            let body = worded(&Plain, &request).await.map(|outgoing| outgoing.body).ok();
            assert_eq!(body.as_deref(), wanted.map(str::as_bytes));
            assert_eq!(watch.seen.lock().unwrap().len(), usize::from(wants));
        }
    }
}
