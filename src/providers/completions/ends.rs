//! What a finish reason means (rules P4, P6, P9 and M5).

use crate::protocol::{Failure, FailureClass, StopReason};

/// How an answer with this finish reason ends.
///
/// # Errors
/// The failure that the reason stands for; unknown reasons are failures too.
pub(in crate::providers) fn stop_reason(reason: &str) -> Result<StopReason, Failure> {
    let (class, retryable) = match reason {
        "stop" | "end" => return Ok(StopReason::Stop),
        // Mistral: the limit of the model, not of the request.
        "length" | "model_length" => return Ok(StopReason::Length),
        "tool_calls" | "function_call" => return Ok(StopReason::ToolUse),
        "content_filter" => (FailureClass::ContentFilter, false),
        "model_context_window_exceeded" => (FailureClass::ContextOverflow, false),
        "network_error" | "error" => (FailureClass::ServerError, true),
        "insufficient_system_resource" => (FailureClass::ProviderStop, true),
        _ => (FailureClass::ProviderStop, false),
    };
    Err(Failure { retryable, ..Failure::new(class, format!("Provider finish_reason: {reason}")) })
}
