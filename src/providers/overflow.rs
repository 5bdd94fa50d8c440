//! Whether a model call failed, or silently suffered, because the conversation is larger than the window.
//!
//! Every vendor has its own words for it, so the texts are matched. Before matching, letter case, white space and
//! numbers are made equal: `#` in a pattern stands for any number.

use crate::protocol::{AssistantMessage, StopReason};

/// What marks a rate limit although it may speak of tokens and limits.
const RATE_LIMITS: &[&str] = &[
    "rate limit",
    "rate_limit",
    "too many requests",
    "please wait before",
    "per minute",
    "throttlingexception",
    "toomanyrequestsexception",
    "servicequotaexceededexception",
    "modelnotreadyexception",
    "too many tokens, please wait",
];

const RATE_LIMIT_STARTS: &[&str] = &["throttling error:", "service unavailable:"];

const PATTERNS: &[&str] = &[
    "prompt is too long",
    "prompt too long",
    "exceed context limit",
    "request_too_large",
    "input is too long for requested model",
    "exceeds the context window",
    "exceeds maximum context length",
    "exceeds the maximum context length",
    "exceeds model's maximum context length",
    "exceeds the model's maximum context length",
    "context window exceeded",
    "contextwindowexceeded",
    "input tokens exceed the configured limit of #",
    "maximum prompt length is #",
    "reduce the length of the messages",
    "maximum context length is # tokens",
    "exceeds maximum allowed input length of # tokens",
    "exceeds the maximum allowed input length of # tokens",
    "input (# tokens) is longer than the model's context length",
    "token count of # exceeds the limit of #",
    "exceeds the available context size",
    "exceed_context_size_error",
    "greater than the context length",
    "context length of only # tokens",
    "context size has been exceeded",
    "context window exceeds limit",
    "exceeded model token limit",
    "prompt has # tokens, but the configured context size is #",
    "too large for model with # maximum context length",
    "prompt exceeds max length",
    "model_context_window_exceeded",
    "range of input length should be",
    "exceeded max context length",
    "exceeded context length",
    "max_tokens must be at least #, got -#",
    "context length exceeded",
    "context_length_exceeded",
    "too many tokens",
    "token limit exceeded",
];

/// Whether an error text of `provider` says that the conversation is too large. FC-030: unusual wordings count too.
#[must_use]
pub fn is_overflow_text(text: &str, provider: &str) -> bool {
    let leading_status = text.trim_start();
    if is_status(leading_status, "413") || text.contains("API error (413)") {
        return true;
    }
    // Cerebras refuses an oversized request without a word.
    if provider == "cerebras" && is_status(leading_status, "400") && text.contains("(no body)") {
        return true;
    }
    let plain = normalise(text);
    let is_limit = is_status(leading_status, "429")
        || RATE_LIMITS.iter().any(|limit| plain.contains(limit))
        || RATE_LIMIT_STARTS.iter().any(|start| plain.starts_with(start));
    !is_limit
        && (PATTERNS.iter().any(|pattern| plain.contains(pattern))
            || plain.split_once("input token count").is_some_and(|(_, rest)| rest.contains("exceeds the maximum")))
}

/// Whether a good answer hides an overflow: the provider took more input than the window holds, or cut the input to
/// fit and had no room left to answer (rule E6).
#[must_use]
pub fn is_silent_overflow(message: &AssistantMessage, window: u64) -> bool {
    let input = message.usage.input.saturating_add(message.usage.cache_read);
    match message.stop_reason {
        StopReason::Stop => window > 0 && input > window,
        StopReason::Length => window > 0 && message.usage.output == 0 && input * 100 >= window * 99,
        _ => false,
    }
}

/// Whether a message says, by its error or silently, that the conversation is too large for `window`.
#[must_use]
pub fn is_context_overflow(message: &AssistantMessage, window: u64) -> bool {
    match (message.stop_reason, &message.error_message) {
        (StopReason::Error, Some(text)) => is_overflow_text(text, &message.provider),
        _ => is_silent_overflow(message, window),
    }
}

/// Whether an answer was cut below the model's own output limit: the server was short of room, and one compaction may
/// help. `max_tokens` is the limit before it was fitted to the window.
#[must_use]
pub fn is_recoverable_length(message: &AssistantMessage, max_tokens: u64) -> bool {
    message.stop_reason == StopReason::Length && message.usage.output < max_tokens
}

/// True when the text begins with that HTTP status and the number ends there.
fn is_status(text: &str, status: &str) -> bool {
    text.strip_prefix(status).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '.'))
}

/// Lower case, single spaces, straight quotes, and `#` for each number (grouped by commas or not).
fn normalise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '0'..='9' => {
                out.push('#');
                while skip_digit(&mut chars) {}
            }
            '\u{2018}' | '\u{2019}' => out.push('\''),
            c if c.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            c => out.extend(c.to_lowercase()),
        }
    }
    out
}

/// Skips the next digit of a number, with the separator before it: `234` and `,234` but not `, but`.
fn skip_digit(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let mut ahead = chars.clone();
    let separators = ahead.next_if(|c| matches!(c, ',' | '.' | '_')).map_or(0, |_| 1);
    if !ahead.peek().is_some_and(char::is_ascii_digit) {
        return false;
    }
    chars.nth(separators).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Usage;

    #[test]
    fn fc_030_the_words_of_every_vendor_are_recognised() {
        let texts = [
            "prompt is too long: 213907 tokens > 200000 maximum",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            "413: {\"error\":{\"type\":\"request_too_large\",\"message\":\"Request exceeds the maximum size\"}}",
            "413 Payload Too Large",
            "Anthropic API error (413): too big",
            "Your input exceeds the context window of this model",
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 151302 tokens.",
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
            "litellm.ContextWindowExceededError: too big",
            "The input (5000 tokens) exceeds the model's maximum context length of 4096 tokens",
            "Requested token count exceeds the model\u{2019}s maximum context length (4096)",
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
            "This model's maximum prompt length is 131072 but the request contains 210044 tokens.",
            "Please reduce the length of the messages or completion.",
            "Prompt exceeds the maximum allowed input length of 131,072 tokens",
            "The input (200000 tokens) is longer than the model's context length (131072 tokens).",
            "the request exceeds the available context size, try increasing it",
            "{\"type\":\"exceed_context_size_error\",\"n_ctx\":8192}",
            "The number of tokens is greater than the context length",
            "the model is loaded with context length of only 4096 tokens, which is not enough",
            "Context size has been exceeded.",
            "prompt token count of 140022 exceeds the limit of 128000",
            "invalid params, context window exceeds limit",
            "Your request exceeded model token limit: 262144 (requested: 280011)",
            "Prompt has 1,234,567 tokens, but the configured context size is 262,144 tokens",
            "Prompt contains 40000 tokens too large for model with 32768 maximum context length",
            "Input is too long for requested model.",
            "{\"error\":{\"code\":\"1261\",\"message\":\"Prompt exceeds max length\"}}",
            "Provider finish_reason: model_context_window_exceeded",
            "Range of input length should be [1, 258048]",
            "prompt too long; exceeded max context length by 812 tokens",
            "max_tokens must be at least 1, got -312",
            "context_length_exceeded",
            "too many tokens in request",
            "token limit exceeded",
        ];
        for text in texts {
            assert!(is_overflow_text(text, "custom"), "{text}");
            assert!(
                is_overflow_text(&format!("400: {{\"error\":{{\"message\":\"{text}\"}}}}"), "custom")
                    || text.starts_with("413")
            );
        }
    }

    #[test]
    fn rate_limits_and_other_errors_are_no_overflow() {
        let texts = [
            "rate limit: input tokens per minute",
            "Rate limit exceeded: too many tokens per minute for this model.",
            "429: too many tokens",
            "Throttling error: Too many tokens, please wait before trying again.",
            "Too many tokens, please wait before trying again.",
            "Service unavailable: prompt is too long",
            "Too many requests",
            "max_tokens must be <= 8192",
            "invalid schema for tool",
            "image exceeds the limit of 5 MB",
            "413abc",
            "4130 things",
            "400: (no body)",
            "",
        ];
        for text in texts {
            assert!(!is_overflow_text(text, "custom"), "{text}");
        }
        assert!(is_overflow_text("400: (no body)", "cerebras") && is_overflow_text("413: (no body)", "cerebras"));
    }

    fn message(stop_reason: StopReason, input: u64, cache_read: u64, output: u64) -> AssistantMessage {
        let usage = Usage { input, cache_read, output, ..Usage::default() };
        AssistantMessage { stop_reason, usage, ..AssistantMessage::default() }
    }

    #[test]
    fn an_overflow_can_hide_in_a_success() {
        let table = [
            (message(StopReason::Stop, 40_500, 100_000, 3), true),
            (message(StopReason::Stop, 1_000, 130_072, 3), false),
            (message(StopReason::ToolUse, 200_000, 0, 3), false),
            (message(StopReason::Length, 130_000, 0, 0), true),
            (message(StopReason::Length, 130_000, 0, 1), false),
            (message(StopReason::Length, 100_000, 0, 0), false),
        ];
        for (message, hidden) in table {
            assert_eq!(is_silent_overflow(&message, 131_072), hidden, "{message:?}");
            assert!(!is_silent_overflow(&message, 0));
        }
        let mut failed = message(StopReason::Error, 0, 0, 0);
        failed.error_message = Some("prompt is too long".into());
        assert!(is_context_overflow(&failed, 1000));
    }

    #[test]
    fn a_cut_answer_below_the_models_limit_may_be_helped() {
        assert!(is_recoverable_length(&message(StopReason::Length, 900, 0, 3), 16_384));
        assert!(!is_recoverable_length(&message(StopReason::Length, 900, 0, 16_384), 16_384));
        assert!(!is_recoverable_length(&message(StopReason::Stop, 900, 0, 3), 16_384));
    }
}
