//! What an error text says: the class, and whether another try may help.
//!
//! For texts without a usable status: errors inside a stream, transport faults, and the `errorMessage` of stored
//! messages. Quota texts are looked at first, because they often speak of rate limits too.

use super::overflow::is_overflow_text;
use crate::protocol::{FailureClass, failure::OUT_OF_BUDGET};

/// What [`classify_text`] makes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextVerdict {
    /// The kind of failure.
    pub class: FailureClass,
    /// Whether the same request may be tried again.
    pub retryable: bool,
}

/// Money or a plan is used up. Lower case.
const QUOTA: &[&str] = &[
    "gousagelimiterror",
    "freeusagelimiterror",
    "monthly usage limit reached",
    // Anthropic, of a cap that the user has set.
    "specified api usage limits",
    "available balance",
    "insufficient_quota",
    "out of budget",
    "quota exceeded",
    "billing",
    "usage_limit_reached",
    "usage_not_included",
    "usage limit has been reached",
    "subscription_sharing_usage_limit_exceeded",
    "subscription_sharing_workplace_individual_usage_limit_exceeded",
];

/// What passes by itself. Lower case; `_` and `-` of the text read as spaces.
const TRANSIENT: &[(FailureClass, &[&str])] = &[
    (
        FailureClass::Overloaded,
        &[
            "overloaded",
            "server busy",
            "servers are currently busy",
            "currently experiencing high demand",
            "model is at capacity",
            "subscription sharing usage unavailable",
            "subscription sharing user unavailable",
        ],
    ),
    (
        FailureClass::RateLimited,
        &["rate limit", "ratelimit", "too many requests", "resourceexhausted", "resource exhausted", "retry delay"],
    ),
    (
        FailureClass::StreamTruncated,
        &[
            "ended without",
            "stream ended before message stop",
            "stream ended before a terminal response event",
            "stream disconnected before completion",
            "cut short after the reply had begun",
            "stream was interrupted",
            "pending stream has been canceled",
        ],
    ),
    (
        FailureClass::Network,
        &[
            "network error",
            "networkerror",
            "network connection",
            "connection error",
            "connectionerror",
            "connection refused",
            "connection lost",
            "connection closed",
            "connection reset",
            "network refused",
            "network lost",
            "network closed",
            "other side closed",
            "fetch failed",
            "getaddrinfo",
            "upstream connect",
            "reset before headers",
            "socket hang up",
            "socket connection was closed",
            "timed out",
            "time out",
            "timeout",
            "terminated",
            "websocket closed",
            "websocket error",
            "websocket connection limit reached",
            "http2 request did not get a response",
            "http2 stream failed",
        ],
    ),
    (
        FailureClass::ServerError,
        &[
            "service unavailable",
            "serviceunavailable",
            "service is unavailable",
            "service temporarily unavailable",
            "service is temporarily unavailable",
            "server error",
            "servererror",
            "internal error",
            "internalerror",
            "provider returned error",
            "provider returned an error",
            "exceeded request buffer limit while retrying upstream",
            "unable to forward upstream",
            "upstream request failed",
            "upstream stream read error",
            "you can retry your request",
            "try your request again",
            "please retry your request",
        ],
    ),
];

/// Error names of the operating system; they count as whole words only.
const ERRNO: &[&str] = &["econnreset", "econnaborted", "econnrefused", "etimedout", "epipe", "enotfound", "eai_again"];

const TRANSIENT_STATUS: &[(&str, FailureClass)] = &[
    ("429", FailureClass::RateLimited),
    ("500", FailureClass::ServerError),
    ("502", FailureClass::ServerError),
    ("503", FailureClass::ServerError),
    ("504", FailureClass::ServerError),
    ("520", FailureClass::ServerError),
    ("524", FailureClass::ServerError),
];

/// Words behind a number that make it an amount.
const UNITS: &[&str] = &[
    "b",
    "bytes",
    "byte",
    "kb",
    "mb",
    "gb",
    "kib",
    "mib",
    "ms",
    "s",
    "sec",
    "seconds",
    "minutes",
    "tokens",
    "token",
    "characters",
    "chars",
    "requests",
    "images",
    "items",
    "messages",
    "tools",
    "lines",
    "files",
    "%",
    "usd",
];

/// Reads an error text of `provider`. A text that says nothing known is final.
#[must_use]
pub fn classify_text(text: &str, provider: &str) -> TextVerdict {
    if text.starts_with(OUT_OF_BUDGET) {
        return TextVerdict { class: FailureClass::Budget, retryable: false };
    }
    if is_overflow_text(text, provider) {
        return TextVerdict { class: FailureClass::ContextOverflow, retryable: false };
    }
    if is_quota_text(text) {
        return TextVerdict { class: FailureClass::QuotaExhausted, retryable: false };
    }
    match transient(text) {
        Some(class) => TextVerdict { class, retryable: true },
        None => TextVerdict { class: FailureClass::InvalidRequest, retryable: false },
    }
}

/// Whether the text speaks of money or a plan that is used up.
#[must_use]
pub fn is_quota_text(text: &str) -> bool {
    let lower = text.to_lowercase();
    QUOTA.iter().any(|pattern| lower.contains(pattern)) || has_code_1308(&lower)
}

/// z.ai's code of a used-up plan, as a number or as a string.
fn has_code_1308(lower: &str) -> bool {
    let bare: String = lower.chars().filter(|c| !c.is_whitespace() && *c != '"').collect();
    bare.match_indices("code:1308")
        .any(|(at, found)| !bare[at + found.len()..].starts_with(|c: char| c.is_alphanumeric()))
}

/// The class of a text that speaks of something that passes by itself.
pub(crate) fn transient(text: &str) -> Option<FailureClass> {
    let lower = text.to_lowercase();
    let spaced = lower.replace(['_', '-'], " ");
    let family = |(class, patterns): &(FailureClass, &[&str])| {
        patterns.iter().any(|pattern| spaced.contains(pattern)).then_some(*class)
    };
    let by_status = || TRANSIENT_STATUS.iter().find(|(status, _)| has_status(&lower, status)).map(|(_, class)| *class);
    let by_errno = || ERRNO.iter().any(|name| has_word(&lower, name)).then_some(FailureClass::Network);
    let by_request = || {
        let reason = lower.split_once("request to ").is_some_and(|(_, rest)| rest.contains("failed, reason:"));
        reason.then_some(FailureClass::Network)
    };
    TRANSIENT.iter().find_map(family).or_else(by_errno).or_else(by_request).or_else(by_status)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word)
        .any(|(at, found)| !text[..at].ends_with(is_word) && !text[at + found.len()..].starts_with(is_word))
}

/// Whether a number stands in the text as a status: not inside an id, a larger number or an amount.
fn has_status(text: &str, status: &str) -> bool {
    text.match_indices(status).any(|(at, found)| {
        let (before, after) = (&text[..at], &text[at + found.len()..]);
        let inside_id = |c: char| is_word(c) || matches!(c, '-' | '#' | '/');
        let mut next = after.chars();
        let goes_on = match next.next() {
            Some('.' | ',') => next.next().is_some_and(|c| c.is_ascii_digit()),
            Some(c) => inside_id(c),
            None => false,
        };
        let amount = after.trim_start().split(|c: char| !c.is_alphabetic() && c != '%').next().unwrap_or_default();
        let separated =
            before.strip_suffix(['.', ',']).is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_digit()));
        !before.ends_with(inside_id) && !separated && !goes_on && !UNITS.contains(&amount)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str) -> (FailureClass, bool) {
        let verdict = classify_text(text, "custom");
        (verdict.class, verdict.retryable)
    }

    #[test]
    fn transient_texts_may_be_tried_again() {
        use FailureClass as C;
        let table = [
            (C::Overloaded, "503: {\"error\":{\"message\":\"overloaded\"}}"),
            (C::Overloaded, "Overloaded (overloaded_error)"),
            (C::Overloaded, "server_busy"),
            (C::Overloaded, "We're currently experiencing high demand"),
            (C::RateLimited, "429: {\"error\":{\"message\":\"Rate limit reached\"}}"),
            (C::RateLimited, "rate_limit_exceeded"),
            (C::RateLimited, "HTTP 429"),
            (C::RateLimited, "the server asks for a retry delay of 120 s"),
            (C::ServerError, "500: {\"error\":{\"message\":\"boom\"}}"),
            (C::ServerError, "upstream said (502)."),
            (C::ServerError, "{\"code\":524,\"x\":1}"),
            (C::ServerError, "The service is temporarily unavailable"),
            (C::ServerError, "InternalServerError"),
            (C::ServerError, "Provider returned error"),
            (C::StreamTruncated, "Stream ended without finish_reason"),
            (C::StreamTruncated, "Stream ended before message_stop"),
            (C::Network, "Connection error: cannot reach http://h/v1: Connection refused (os error 111)"),
            (C::Network, "read ECONNRESET"),
            (C::Network, "request to https://h/v1 failed, reason: x"),
            (C::Network, "Stream timed out: nothing arrived for 300 s"),
            (C::Network, "terminated"),
            (C::Network, "Provider finish_reason: network_error"),
        ];
        for (class, text) in table {
            assert_eq!(verdict(text), (class, true), "{text}");
        }
    }

    #[test]
    fn quota_texts_are_final_also_when_they_speak_of_rate_limits() {
        let texts = [
            "429: {\"error\":{\"message\":\"You exceeded your current quota, please check your plan and billing details.\"}}",
            "429: insufficient_quota (rate limit)",
            "400: You have reached your specified API usage limits. You will regain access on 2026-12-01.",
            "GoUsageLimitError: come back tomorrow",
            "429: {\"error\":{\"type\":\"usage_limit_reached\",\"message\":\"x\"}}",
            "The usage limit has been reached (resets at 2026-10-26 07:33 UTC)",
            "Monthly usage limit reached",
            "429: {\"error\":{\"code\": \"1308\",\"message\":\"x\"}}",
            "429: {\"code\":1308}",
            "available balance is too low",
        ];
        for text in texts {
            assert_eq!(verdict(text), (FailureClass::QuotaExhausted, false), "{text}");
        }
        assert!(!is_quota_text("{\"code\":13080}"));
    }

    #[test]
    fn numbers_in_ids_and_amounts_are_no_status() {
        let texts = [
            "401: {\"request_id\":\"req_503abc\"}",
            "400: bad request (request id 500-12-aa)",
            "400: id a-502",
            "the file has 500 bytes",
            "limit is 1,500 of 2,500",
            "at most 500 tokens",
            "took 500ms",
            "5000 things, 15030",
            "version 1.500",
            "500,000 of them",
            "myepipes",
            "no such model",
            "",
        ];
        for text in texts {
            assert_eq!(verdict(text), (FailureClass::InvalidRequest, false), "{text}");
        }
    }

    #[test]
    fn an_overflow_is_no_transient_fault() {
        assert_eq!(verdict("500: prompt is too long"), (FailureClass::ContextOverflow, false));
    }
}
