//! From a provider's error to a [`Failure`]: the class that decides what happens next, and the text that people read.
//!
//! Structured facts come first (status, `error.type`, `error.code`); texts are matched where those say too little.

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::Value;

use super::{
    error_body::{ErrorBody, short_name},
    error_text::{is_quota_text, transient},
    overflow::is_overflow_text,
    retry_after::{retry_after_ms, should_retry},
    rpc_details::Limit,
};
use crate::protocol::{Failure, FailureClass, time::Millis};

/// Characters of a body that are shown.
const TEXT_LIMIT: usize = 4000;

const QUOTA_NAMES: &[&str] = &[
    "insufficient_quota",
    "billing_error",
    "billing_hard_limit_reached",
    "usage_limit_reached",
    "usage_not_included",
    "enforced_spend_limit_reached",
    "1308",
];
/// Parts of codes that say the same: vendors have many.
const QUOTA_PARTS: &[&str] = &["credit", "spend", "usage_limit"];
const RATE_LIMIT_NAMES: &[&str] = &["rate_limit_error", "rate_limit_exceeded", "slow_down", "tokens", "requests"];
/// Names of Amazon's that mean "slower" whatever the status and the text, which may speak of tokens and quotas.
const AWS_RATE_LIMIT_NAMES: &[&str] =
    &["ThrottlingException", "TooManyRequestsException", "ServiceQuotaExceededException", "ModelNotReadyException"];
const OVERLOADED_NAMES: &[&str] =
    &["overloaded_error", "overloaded", "server_is_overloaded", "server_busy", "engine_overloaded_error"];

const CONTENT_FILTER_NAMES: &[&str] = &[
    "content_filter",
    "content_policy_violation",
    "image_content_policy_violation",
    "ResponsibleAIPolicyViolation",
    "bio_policy",
    "cyber_policy",
];
/// What is wrong with a request that a server took before it looked closer: prompts and pictures.
const REFUSED_INPUT_NAMES: &[&str] = &[
    "invalid_request_error",
    "invalid_request",
    "BadRequestError",
    "ValidationException",
    "invalid_prompt",
    "invalid_image",
    "invalid_image_format",
    "invalid_base64_image",
    "invalid_image_url",
    "invalid_image_mode",
    "image_too_large",
    "image_too_small",
    "image_parse_error",
    "image_file_too_large",
    "unsupported_image_media_type",
    "empty_image_file",
    "image_file_not_found",
];

/// The failure of a response whose status is no success. `now` is the time from which an HTTP date counts.
#[must_use]
pub fn http_failure(provider: &str, status: u16, headers: &HeaderMap, body: &[u8], now: Millis) -> Failure {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    let is_page = is_html(headers, text);
    let mut error = match serde_json::from_str::<Value>(text) {
        Ok(json) => ErrorBody::read(&json),
        Err(_) if is_page => ErrorBody::default(),
        Err(_) => ErrorBody { message: Some(text.to_owned()), ..ErrorBody::default() },
    };
    let aws_type = header(headers, &["x-amzn-errortype"]).map(short_name);
    error.kind = error.kind.or_else(|| aws_type.map(str::to_owned));
    let class = if status == 413 || (text.is_empty() && provider == "cerebras" && status == 400) {
        FailureClass::ContextOverflow
    } else {
        class_of(provider, Some(status), &error)
    };
    let text = with_hint(http_text(status, headers, text, is_page, aws_type));
    let mut failure = Failure::new(class, with_reset(class, text, &error)).with_status(status);
    failure.retry_after_ms = retry_after_ms(headers, now).or(error.retry_after_ms);
    let is_open = matches!(
        class,
        FailureClass::RateLimited | FailureClass::Overloaded | FailureClass::ServerError | FailureClass::InvalidRequest
    );
    if is_open && let Some(retry) = should_retry(headers) {
        failure.retryable = retry;
    }
    failure
}

/// The failure that an error object inside a stream means.
#[must_use]
pub fn stream_failure(provider: &str, body: &Value) -> Failure {
    let error = ErrorBody::read(body);
    let class = class_of(provider, error.status, &error);
    let line = cap(&error.line());
    let line = match error.status {
        // The stored text must say as much as the number.
        Some(413) => format!("413: {line}"),
        _ => line,
    };
    let mut failure = Failure::new(class, with_reset(class, with_hint(line), &error));
    failure.status = error.status;
    failure.retry_after_ms = error.retry_after_ms;
    failure
}

/// The failure of a response that is a success and no event stream (rule S11).
#[must_use]
pub fn wrong_body_failure(provider: &str, content_type: &str, body: &[u8]) -> Failure {
    if let Ok(json) = serde_json::from_slice::<Value>(body)
        && ErrorBody::is_in(&json)
    {
        return stream_failure(provider, &json);
    }
    let page = title(&String::from_utf8_lossy(body)).map(|title| format!(" ({title})")).unwrap_or_default();
    Failure::new(
        FailureClass::ProtocolError,
        format!("Expected an event stream, got {content_type}{page}: check the provider's baseUrl"),
    )
}

/// The failure of an event that is no JSON even after repair (rule S13).
#[must_use]
pub fn malformed_event(error: &serde_json::Error) -> Failure {
    Failure::new(FailureClass::ProtocolError, format!("The provider sent an event that is not valid JSON: {error}"))
}

/// The failure of a cancelled call.
#[must_use]
pub fn aborted() -> Failure {
    Failure::new(FailureClass::Aborted, "Request was aborted")
}

/// A plan that is used up for hours is not waited for: people are told when it begins anew.
fn with_reset(class: FailureClass, text: String, error: &ErrorBody) -> String {
    match error.reset_text().filter(|_| class == FailureClass::QuotaExhausted) {
        Some(reset) => format!("{text} ({reset})"),
        None => text,
    }
}

fn class_of(provider: &str, status: Option<u16>, error: &ErrorBody) -> FailureClass {
    let words = error.words();
    if error.is_any(AWS_RATE_LIMIT_NAMES) {
        return FailureClass::RateLimited;
    }
    if status == Some(413) || (status != Some(429) && is_overflow_text(&words, provider)) {
        return FailureClass::ContextOverflow;
    }
    if error.is_any(&["tool_use_failed"]) {
        return FailureClass::ToolUseFailed;
    }
    if error.is_any(CONTENT_FILTER_NAMES) {
        return FailureClass::ContentFilter;
    }
    match status {
        Some(status) => by_status(status, error, &words),
        None => by_name(error, &words),
    }
}

fn by_status(status: u16, error: &ErrorBody, words: &str) -> FailureClass {
    match status {
        402 => FailureClass::QuotaExhausted,
        400 | 403 if is_key_refused(error, words) => FailureClass::Auth,
        400 | 403 | 429 if is_quota(error, words) => FailureClass::QuotaExhausted,
        429 => FailureClass::RateLimited,
        401 => FailureClass::Auth,
        403 => FailureClass::Permission,
        404 => FailureClass::NotFound,
        408 | 409 => FailureClass::ServerError,
        498 | 529 => FailureClass::Overloaded,
        500.. if error.is_any(QUOTA_NAMES) => FailureClass::QuotaExhausted,
        500.. if error.is_any(OVERLOADED_NAMES) || transient(words) == Some(FailureClass::Overloaded) => {
            FailureClass::Overloaded
        }
        500.. => FailureClass::ServerError,
        _ => FailureClass::InvalidRequest,
    }
}

/// Google refuses a wrong key as an invalid argument.
fn is_key_refused(error: &ErrorBody, words: &str) -> bool {
    error.is_any(&["API_KEY_INVALID"]) || words.contains("API key not valid")
}

/// Money or a plan is used up. A code that says "rate limit" outweighs a text with a link to the billing page, and
/// details on the limit outweigh every text: Google sends the same one for the minute and for the day.
fn is_quota(error: &ErrorBody, words: &str) -> bool {
    if let Some(limit) = error.limit {
        return limit == Limit::Quota;
    }
    let lower = words.to_lowercase();
    // Vertex names the metric: "Quota exceeded for …_requests_per_minute_per_project".
    let is_rate = error.is_any(RATE_LIMIT_NAMES) || lower.contains("_per_minute");
    error.is_any(QUOTA_NAMES)
        || error.has_any(QUOTA_PARTS)
        || (!is_rate
            && (is_quota_text(words) || lower.contains("credit balance") || lower.contains("insufficient credits")))
}

/// Inside a stream there may be no status: the type decides, then the text. What is left is a fault of the server: it
/// had accepted the request.
fn by_name(error: &ErrorBody, words: &str) -> FailureClass {
    let named = |names: &[&str]| error.is_any(names);
    if is_quota(error, words) {
        FailureClass::QuotaExhausted
    } else if named(OVERLOADED_NAMES) {
        FailureClass::Overloaded
    } else if named(RATE_LIMIT_NAMES) {
        FailureClass::RateLimited
    } else if named(&["authentication_error", "invalid_api_key", "unauthorized", "UnrecognizedClientException"])
        || named(&["ExpiredTokenException", "InvalidSignatureException", "MissingAuthenticationTokenException"])
    {
        FailureClass::Auth
    } else if named(&["permission_error", "permission_denied", "AccessDeniedException"]) {
        FailureClass::Permission
    } else if named(&["not_found_error", "model_not_found", "ResourceNotFoundException"]) {
        FailureClass::NotFound
    } else if named(&["request_too_large"]) {
        FailureClass::ContextOverflow
    } else if named(REFUSED_INPUT_NAMES) {
        FailureClass::InvalidRequest
    } else {
        match transient(words) {
            Some(class @ (FailureClass::Overloaded | FailureClass::RateLimited)) => class,
            _ => FailureClass::ServerError,
        }
    }
}

/// The text of a refused request: the status and the body as it came. Of a page only the title is shown. A name that
/// stands in a header alone is added: the stored text must say as much as the answer.
fn http_text(status: u16, headers: &HeaderMap, body: &str, is_page: bool, name: Option<&str>) -> String {
    let shown = match body {
        "" => "(no body)".to_owned(),
        page if is_page => title(page).unwrap_or_else(|| "(a web page)".to_owned()),
        text => cap(text),
    };
    let is_new = |text: &&str| !text.is_empty() && !body.contains(*text);
    let id = request_id(headers).filter(is_new).map(|id| format!("request id: {id}"));
    let more: Vec<String> = name.filter(is_new).map(str::to_owned).into_iter().chain(id).collect();
    match more.is_empty() {
        true => format!("{status}: {shown}"),
        false => format!("{status}: {shown} ({})", more.join(", ")),
    }
}

/// What the provider calls the request, for those who ask it about one.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<&str> {
    header(headers, &["request-id", "x-request-id", "x-amzn-requestid", "mistral-correlation-id"])
}

/// The first of these headers that is there.
fn header<'a>(headers: &'a HeaderMap, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| headers.get(*name)?.to_str().ok())
}

/// The text with what to do about it, where that is known and not said.
fn with_hint(text: String) -> String {
    const HINTS: [(&str, &str); 2] = [
        (
            "on-demand throughput isn",
            "use the id of an inference profile, which is the model's id behind \"us.\", \"eu.\" or \"global.\", or the profile's ARN",
        ),
        (
            "data retention mode",
            "choose another mode in the data-retention setting of the AWS account, or another model",
        ),
    ];
    match HINTS.iter().find(|(sign, _)| text.contains(sign)) {
        Some((_, hint)) => format!("{text}: {hint}"),
        None => text,
    }
}

fn is_html(headers: &HeaderMap, text: &str) -> bool {
    let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(|v| v.contains("html"));
    let start = text.get(..14).unwrap_or(text).to_ascii_lowercase();
    declared || start.starts_with("<!doctype html") || start.starts_with("<html")
}

/// The title of a web page, in one line.
fn title(page: &str) -> Option<String> {
    // ASCII lower case keeps every byte's place.
    let lower = page.to_ascii_lowercase();
    let tag = lower.find("<title>").or_else(|| lower.find("<title "))?;
    let start = tag + lower[tag..].find('>')? + 1;
    let end = start + lower[start..].find("</title>")?;
    let words: Vec<&str> = page[start..end].split_whitespace().collect();
    (!words.is_empty()).then(|| cap(&words.join(" ")))
}

/// At most [`TEXT_LIMIT`] characters. FC-025: cut between characters, never inside one.
fn cap(text: &str) -> String {
    match text.char_indices().nth(TEXT_LIMIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
