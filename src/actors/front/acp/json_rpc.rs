//! JSON-RPC 2.0, one message a line: what a line of the client is, and how our own are written.

use agent_client_protocol_schema::v1::{Error, ErrorCode, RequestId};
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

/// A line of the client.
#[derive(Debug)]
pub(super) enum Incoming {
    /// It wants an answer.
    Request {
        /// What it calls its request.
        id: RequestId,
        /// What it wants.
        method: String,
        /// With what.
        params: Params,
    },
    /// It says something.
    Notification {
        /// What it is about.
        method: String,
        /// What it says.
        params: Params,
    },
    /// It answers a request of ours.
    Response {
        /// Which.
        id: RequestId,
        /// The answer, or why there is none.
        result: Result<Params, String>,
    },
    /// It is none of these.
    Refused {
        /// What it calls its request, where that can be told.
        id: RequestId,
        /// What is wrong.
        error: Error,
    },
}

/// Parameters or a result that nobody looked at yet.
#[derive(Debug, Default)]
pub(super) struct Params(Option<Box<RawValue>>);

impl Params {
    /// What they say; absent ones say nothing at all, which some methods accept.
    pub(super) fn read<T: DeserializeOwned>(&self, what: &str) -> Result<T, Error> {
        let text = self.0.as_ref().map_or("{}", |raw| raw.get());
        serde_json::from_str(text).map_err(|fault| error(ErrorCode::InvalidParams, format!("{what}: {fault}")))
    }
}

#[derive(Deserialize)]
struct Envelope {
    jsonrpc: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<Value>,
    params: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    error: Option<Value>,
}

/// A member that is there, be it null.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(input: D) -> Result<Option<T>, D::Error> {
    T::deserialize(input).map(Some)
}

/// Takes a line apart.
pub(super) fn parse(line: &[u8]) -> Incoming {
    let refused = |id, code, text: String| Incoming::Refused { id, error: error(code, text) };
    let is_object = line.trim_ascii_start().starts_with(b"{");
    let envelope: Envelope = match serde_json::from_slice(line) {
        Ok(envelope) if is_object => envelope,
        Ok(_) => {
            let text = "a message is one JSON object a line".to_owned();
            return refused(RequestId::Null, ErrorCode::InvalidRequest, text);
        }
        Err(fault) if fault.is_data() => {
            return refused(
                RequestId::Null,
                ErrorCode::InvalidRequest,
                format!("a message is one JSON object a line, and no batch: {fault}"),
            );
        }
        Err(fault) => return refused(RequestId::Null, ErrorCode::ParseError, format!("not JSON: {fault}")),
    };
    let Envelope { jsonrpc, id, method, params, result, error: failure } = envelope;
    let id = match id.map(RequestId::deserialize).transpose() {
        Ok(id) => id,
        Err(_) => {
            let text = "`id` must be a string, a whole number or null".to_owned();
            return refused(RequestId::Null, ErrorCode::InvalidRequest, text);
        }
    };
    if jsonrpc.as_ref().and_then(Value::as_str) != Some("2.0") {
        let text = "`jsonrpc` must be \"2.0\"".to_owned();
        return refused(id.unwrap_or(RequestId::Null), ErrorCode::InvalidRequest, text);
    }
    match (id, method, result, failure) {
        (Some(id), Some(Value::String(method)), None, None) => Incoming::Request { id, method, params: Params(params) },
        (None, Some(Value::String(method)), None, None) => Incoming::Notification { method, params: Params(params) },
        (Some(id), None, Some(result), None) => Incoming::Response { id, result: Ok(Params(Some(result))) },
        (Some(id), None, None, Some(failure)) => {
            let text = failure.get("message").and_then(Value::as_str).unwrap_or("the client failed");
            Incoming::Response { id, result: Err(text.to_owned()) }
        }
        (id, method, ..) => {
            let text = "a message has a `method`, or an `id` with a `result` or an `error`".to_owned();
            // The id of what may be meant as an answer is one of ours.
            let id = id.filter(|_| method.is_some()).unwrap_or(RequestId::Null);
            refused(id, ErrorCode::InvalidRequest, text)
        }
    }
}

/// An error in words.
pub(super) fn error(code: ErrorCode, text: impl Into<String>) -> Error {
    Error::new(code.into(), text)
}

/// Writes the answer to a request.
pub(super) fn write_response(id: &RequestId, result: Result<Box<RawValue>, Error>, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Response<'a> {
        jsonrpc: &'static str,
        id: &'a RequestId,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Box<RawValue>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Error>,
    }
    let (result, error) = match result {
        Ok(result) => (Some(result), None),
        Err(error) => (None, Some(error)),
    };
    write(&Response { jsonrpc: "2.0", id, result, error }, out);
}

/// Writes a request of ours, or with no number something that we say.
pub(super) fn write_call(id: Option<i64>, method: &str, params: &impl Serialize, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Call<'a, P> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<i64>,
        method: &'a str,
        params: &'a P,
    }
    write(&Call { jsonrpc: "2.0", id, method, params }, out);
}

/// The result of a request.
pub(super) fn result(value: &impl Serialize) -> Result<Box<RawValue>, Error> {
    to_raw_value(value).map_err(|fault| error(ErrorCode::InternalError, fault.to_string()))
}

/// A result that says nothing more.
pub(super) fn done() -> Result<Box<RawValue>, Error> {
    result(&json!({}))
}

fn write(message: &impl Serialize, out: &mut Vec<u8>) {
    let start = out.len();
    match serde_json::to_writer(&mut *out, message) {
        Ok(()) => out.push(b'\n'),
        Err(error) => {
            // Nothing that is sent can fail to be written: it has no maps with keys that are no strings.
            tracing::error!(%error, "a message to the client was left out");
            out.truncate(start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        match parse(line.as_bytes()) {
            Incoming::Request { id, method, params } => {
                format!("request {id} {method} {}", params.0.map_or(String::new(), |raw| raw.get().to_owned()))
            }
            Incoming::Notification { method, .. } => format!("notification {method}"),
            Incoming::Response { id, result: Ok(_) } => format!("answer {id}"),
            Incoming::Response { id, result: Err(text) } => format!("failure {id} {text}"),
            Incoming::Refused { id, error } => format!("refused {id} {}", i32::from(error.code)),
        }
    }

    #[test]
    fn a_line_is_a_request_a_notification_an_answer_or_refused() {
        let table = [
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#, r#"request 1 m {"a":1}"#),
            (r#"{"jsonrpc":"2.0","id":"x","method":"m"}"#, "request x m "),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "request null m "),
            (r#"{"jsonrpc":"2.0","method":"m","params":{}}"#, "notification m"),
            (r#"{"jsonrpc":"2.0","id":7,"result":null}"#, "answer 7"),
            (r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}"#, "failure 7 no"),
            (r#"{"jsonrpc":"2.0","id":7,"error":"odd"}"#, "failure 7 the client failed"),
            ("{", "refused null -32700"),
            ("[]", "refused null -32600"),
            ("7", "refused null -32600"),
            (r#"["2.0",1,"m",null,null,null]"#, "refused null -32600"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, "refused null -32600"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, "refused null -32600"),
            (r#"{"id":3,"method":"m"}"#, "refused 3 -32600"),
            (r#"{"jsonrpc":"1.0","id":3,"method":"m"}"#, "refused 3 -32600"),
            (r#"{"jsonrpc":"2.0","id":3,"method":7}"#, "refused 3 -32600"),
            (r#"{"jsonrpc":"2.0","id":3}"#, "refused null -32600"),
            (r#"{"jsonrpc":"2.0","id":3,"result":1,"error":{}}"#, "refused null -32600"),
        ];
        for (line, wanted) in table {
            assert_eq!(shown(line), wanted, "{line}");
        }
    }

    #[test]
    fn messages_are_lines_of_json() {
        let mut out = Vec::new();
        write_response(&RequestId::Number(1), done(), &mut out);
        write_response(&RequestId::Null, Err(error(ErrorCode::MethodNotFound, "no\nsuch")), &mut out);
        write_call(Some(2), "ask", &json!({"q": 1}), &mut out);
        write_call(None, "say", &json!({}), &mut out);
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no\nsuch"}}"#,
                r#"{"jsonrpc":"2.0","id":2,"method":"ask","params":{"q":1}}"#,
                r#"{"jsonrpc":"2.0","method":"say","params":{}}"#,
            ]
        );
    }
}
