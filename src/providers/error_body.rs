//! The error objects of providers, in all their shapes.

use serde_json::{Value, value::RawValue};

use super::rpc_details::{Limit, RpcDetails, http_status};

/// What an error body says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorBody {
    /// The provider's words.
    pub message: Option<String>,
    /// `error.type`, or Google's name of the status.
    pub kind: Option<String>,
    /// `error.code`, also when it is a number.
    pub code: Option<String>,
    /// A finer code of some providers: `error.details.error_code`, `error.innererror.code`, or the reason in a list of
    /// details.
    pub detail_code: Option<String>,
    /// The code or the name when it is an HTTP status of an error, or a number that is called the status.
    pub status: Option<u16>,
    /// When a used-up plan begins anew, in seconds since the epoch.
    pub resets_at: Option<i64>,
    /// The same in seconds from now.
    pub resets_in: Option<u64>,
    /// Which limit was met, when the body says so.
    pub limit: Option<Limit>,
    /// When to try again, in milliseconds, when the body says so.
    pub retry_after_ms: Option<u64>,
    /// What a router's own upstream said.
    pub upstream: Option<String>,
    /// What the provider calls the request, when the body says so: inside a stream there is no other place for it.
    pub request_id: Option<String>,
}

/// Whether a field of an event holds an error: some gateways put an empty one into every event.
pub(crate) fn is_error(field: Option<&RawValue>) -> bool {
    field.is_some_and(|error| !matches!(error.get(), "null" | "\"\"" | "false" | "{}" | "[]"))
}

impl ErrorBody {
    /// Looks for the error in a body: `error.message`, `error` as text, `message`, `Message`, `detail`; the body may be
    /// a list of one.
    pub(crate) fn read(body: &Value) -> Self {
        let body = entry(body);
        let error = &body["error"];
        let place = if error.is_object() { error } else { body };
        let text = |value: &Value| match value {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let said = |value: &Value| match value {
            Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
            // Some validate with a list of faults under `message`.
            Value::Object(_) | Value::Array(_) => Some(value.to_string()),
            _ => None,
        };
        let message = [&error["message"], if error.is_string() { error } else { &Value::Null }]
            .into_iter()
            .chain(["message", "Message", "detail"].map(|key| &body[key]))
            .find_map(said);
        let code = text(&place["code"]);
        let numeric = code.as_deref().and_then(|code| code.parse().ok());
        let named = [place, body].iter().find_map(|place| u16::try_from(place["status"].as_u64()?).ok());
        let status_name = place["status"].as_str().filter(|name| http_status(name).is_some());
        let details = RpcDetails::read(&place["details"]);
        Self {
            message,
            kind: text(&place["type"])
                .filter(|kind| kind != "error")
                .or_else(|| place["__type"].as_str().map(|name| short_name(name).to_owned()))
                .or_else(|| status_name.map(str::to_owned)),
            detail_code: text(&place["details"]["error_code"])
                .or_else(|| text(&place["innererror"]["code"]))
                .or(details.reason),
            status: [numeric, named, status_name.and_then(http_status)]
                .into_iter()
                .flatten()
                .find(|status| (400..600).contains(status)),
            resets_at: [place, body].iter().find_map(|place| place["resets_at"].as_i64()),
            resets_in: [place, body].iter().find_map(|place| place["resets_in_seconds"].as_u64()),
            limit: details.limit,
            retry_after_ms: details.retry_after_ms,
            upstream: text(&place["metadata"]["raw"]),
            request_id: body["request_id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned),
            code,
        }
    }

    /// True when the body holds an error: an `error` that is not null, or Mistral's word for what the whole body is.
    pub(crate) fn is_in(body: &Value) -> bool {
        let body = entry(body);
        body.get("error").is_some_and(|error| !error.is_null())
            || body.get("object").is_some_and(|kind| kind == "error")
    }

    /// True when the type or one of the codes is in the list.
    pub(crate) fn is_any(&self, names: &[&str]) -> bool {
        // Amazon begins a name with a small letter in streams and with a capital in headers.
        self.names().any(|name| names.iter().any(|known| known.eq_ignore_ascii_case(name)))
    }

    /// True when the type or one of the codes has one of the parts in it.
    pub(crate) fn has_any(&self, parts: &[&str]) -> bool {
        self.names().any(|name| parts.iter().any(|part| name.contains(part)))
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        [&self.kind, &self.code, &self.detail_code].into_iter().flatten().map(String::as_str)
    }

    /// All that can be matched against texts.
    pub(crate) fn words(&self) -> String {
        let parts = [&self.message, &self.kind, &self.code, &self.detail_code, &self.upstream];
        parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// When a used-up plan begins anew, for people: `resets at 2026-10-26 07:33 UTC`.
    pub(crate) fn reset_text(&self) -> Option<String> {
        let time = self.resets_at.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
        match time {
            Some(time) => Some(format!("resets at {}", time.strftime("%Y-%m-%d %H:%M UTC"))),
            None => self.resets_in.map(|seconds| format!("resets in {} min", seconds.div_ceil(60))),
        }
    }

    /// The error in one line: the words, the upstream's words, and in brackets the type, the code and the name of the
    /// request.
    pub(crate) fn line(&self) -> String {
        let mut line = self.message.clone().unwrap_or_else(|| "The provider reported an error without a text".into());
        if let Some(upstream) = self.upstream.as_ref().filter(|upstream| !line.contains(upstream.as_str())) {
            line = format!("{line}: {upstream}");
        }
        let names = [&self.kind, &self.code].into_iter().flatten().map(String::as_str);
        let request_id = self.request_id.as_ref().map(|id| format!("request id: {id}"));
        let names: Vec<&str> = names.chain(request_id.as_deref()).filter(|name| !line.contains(name)).collect();
        if names.is_empty() { line } else { format!("{line} ({})", names.join(", ")) }
    }
}

/// The name of an exception as Amazon writes it in headers and bodies, without namespace and address.
pub(crate) fn short_name(name: &str) -> &str {
    let name = name.rsplit('#').next().unwrap_or(name);
    name.split(':').next().unwrap_or(name).trim()
}

/// The entry of a list that tells of an error, or its first one; what is no list is the entry itself.
fn entry(body: &Value) -> &Value {
    let Value::Array(list) = body else { return body };
    list.iter().find(|entry| !entry["error"].is_null()).or(list.first()).unwrap_or(&Value::Null)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_error_is_found_in_every_shape() {
        let table = [
            (json!({"error": {"message": "m", "type": "t", "code": null}}), "m (t)", None),
            (
                json!({"error": "plain", "code": "Client specified an invalid argument"}),
                "plain (Client specified an invalid argument)",
                None,
            ),
            (
                json!([{"error": {"code": 503, "message": "m", "status": "UNAVAILABLE"}}]),
                "m (UNAVAILABLE, 503)",
                Some(503),
            ),
            (
                json!([{"candidates": []}, {"error": {"message": "m", "status": "NOT_FOUND"}}]),
                "m (NOT_FOUND)",
                Some(404),
            ),
            (json!({"error": {"message": "m", "status": "NEW_NAME"}}), "m", None),
            (json!({"message": "m", "status": 404}), "m", Some(404)),
            (json!([]), "The provider reported an error without a text", None),
            (json!({"message": {"detail": [1]}}), "{\"detail\":[1]}", None),
            (json!({"Message": "aws"}), "aws", None),
            (json!({"__type": "com.amazon.coral.service#SomeException", "message": "m"}), "m (SomeException)", None),
            (json!({"detail": "d"}), "d", None),
            (json!({"error": {"type": "t", "message": "m"}, "request_id": "req_1"}), "m (t, request id: req_1)", None),
            (
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
                "Overloaded (overloaded_error)",
                None,
            ),
            (
                json!({"error": {"code": 502, "message": "gone", "metadata": {"raw": "socket hang up"}}}),
                "gone: socket hang up (502)",
                Some(502),
            ),
            (json!({"error": {"code": "1261", "message": "long"}}), "long (1261)", None),
            (json!({"type": "error", "status": 429, "error": {"type": "t", "message": "m"}}), "m (t)", Some(429)),
            (json!({"error": {"message": "m", "status": "INTERNAL"}}), "m (INTERNAL)", Some(500)),
            (json!({"error": {"message": "m", "status": 200}}), "m", None),
            (json!({"error": {"message": " \n"}}), "The provider reported an error without a text", None),
            (json!({"error": {}}), "The provider reported an error without a text", None),
            (json!(7), "The provider reported an error without a text", None),
        ];
        for (body, line, status) in table {
            let error = ErrorBody::read(&body);
            assert_eq!((error.line().as_str(), error.status), (line, status), "{body}");
        }
    }
}
