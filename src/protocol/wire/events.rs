//! Lifecycle events as JSON lines.

use serde::Serialize;

use super::{
    json::{Record, write_value},
    ui::write_ui_request,
};
use crate::protocol::{
    AgentMessage, Event, Published, StreamEvent, ToolCall, Usage,
    entry::SessionHeader,
    event::{CallLabel, SummarySource},
    question::QuestionId,
};

/// Which of the two record streams is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireMode {
    /// JSON mode: a header, then events.
    Json,
    /// RPC: no header; events between responses, two kinds of them only here.
    Rpc,
}

/// What a writer of events remembers between them. One per stream.
#[derive(Clone, Debug)]
pub struct WireState {
    mode: WireMode,
    usage: Usage,
    /// A `message_update` line up to the name of its step. It changes with the usage alone, and most lines of a
    /// stream begin with it: one copy instead of a serialisation.
    update_head: Vec<u8>,
}

impl WireState {
    /// The state before the first event.
    #[must_use]
    pub fn new(mode: WireMode) -> Self {
        let mut state = Self { mode, usage: Usage::default(), update_head: Vec::new() };
        state.render_head();
        state
    }

    fn set_usage(&mut self, usage: &Usage) {
        if self.usage != *usage {
            self.usage = *usage;
            self.render_head();
        }
    }

    fn render_head(&mut self) {
        let head = &mut self.update_head;
        head.clear();
        head.extend_from_slice(br#"{"type":"message_update","usage":"#);
        write_value(head, &self.usage);
        head.extend_from_slice(br#","assistantMessageEvent":{"type":""#);
    }
}

/// Appends the first line of JSON mode.
pub fn write_header(header: &SessionHeader, out: &mut Vec<u8>) {
    write_value(out, header);
    out.push(b'\n');
}

/// Appends the lines of an event: usually one, one a step for updates of a message, none for what is not on the wire.
///
/// Lines are whole and end in LF. The buffer is only appended to.
pub fn write_event(published: &Published, state: &mut WireState, out: &mut Vec<u8>) {
    match &published.event {
        Event::MessageUpdate { events } => {
            for event in events {
                write_step(event, state, out);
            }
        }
        Event::AgentStart => Record::of_type("agent_start", out).end(),
        Event::TurnStart => Record::of_type("turn_start", out).end(),
        Event::MessageStart { message } => {
            if let AgentMessage::Assistant(message) = message {
                state.set_usage(&message.usage);
            }
            Record::of_type("message_start", out).field("message", message).end();
        }
        Event::MessageEnd { message, .. } => Record::of_type("message_end", out).field("message", message).end(),
        Event::ToolExecutionStart { call } => {
            label("tool_execution_start", call, out).field("args", &call.args).end();
        }
        Event::ToolExecutionUpdate { call, partial } => {
            label("tool_execution_update", call, out).field("args", &call.args).field("partialResult", partial).end()
        }
        Event::ToolExecutionEnd { call, result, duration_ms } => label("tool_execution_end", call, out)
            .field("result", result)
            .field("isError", &result.is_error)
            .optional("durationMs", duration_ms.as_ref())
            .end(),
        Event::TurnEnd { message, tool_results } => {
            // The role is written by the enclosing type; counting references is all that this copies.
            let results: Vec<_> = tool_results.iter().cloned().map(AgentMessage::ToolResult).collect();
            Record::of_type("turn_end", out)
                .field("message", &AgentMessage::Assistant(message.clone()))
                .field("toolResults", &results)
                .end();
        }
        Event::AgentEnd { messages, will_retry } => {
            Record::of_type("agent_end", out).field("messages", messages).field("willRetry", will_retry).end();
        }
        Event::AgentSettled { aborted } => Record::of_type("agent_settled", out).field("aborted", aborted).end(),
        Event::QuestionAsked { question } if state.mode == WireMode::Rpc => {
            write_ui_request(&question.id.to_string(), &(&**question).into(), out);
        }
        Event::Display { display, .. } if state.mode == WireMode::Rpc => {
            write_ui_request(&QuestionId::fresh().to_string(), &display.into(), out);
        }
        Event::BashExecutionUpdate { .. } | Event::ExtensionError { .. } if state.mode == WireMode::Json => {}
        other => write_session_event(other, out),
    }
}

/// Events of the session around the loop, and our own.
fn write_session_event(event: &Event, out: &mut Vec<u8>) {
    match event {
        Event::QueueUpdate { steering, follow_up } => {
            Record::of_type("queue_update", out).field("steering", steering).field("followUp", follow_up).end();
        }
        Event::EntryAppended { entry } => Record::of_type("entry_appended", out).field("entry", entry).end(),
        Event::SessionInfoChanged { name } => {
            Record::of_type("session_info_changed", out).optional("name", name.as_ref()).end();
        }
        Event::ThinkingLevelChanged { level } => {
            Record::of_type("thinking_level_changed", out).field("level", level).end();
        }
        Event::CompactionStart { reason } => Record::of_type("compaction_start", out).field("reason", reason).end(),
        Event::CompactionEnd { reason, result, aborted, will_retry, error_message } => {
            Record::of_type("compaction_end", out)
                .field("reason", reason)
                .optional("result", result.as_ref())
                .field("aborted", aborted)
                .field("willRetry", will_retry)
                .optional("errorMessage", error_message.as_ref())
                .end();
        }
        Event::AutoRetryStart { attempt, max_attempts, delay_ms, error_message } => {
            wait("auto_retry_start", *attempt, *max_attempts, *delay_ms, error_message, out);
        }
        Event::AutoRetryEnd { success, attempt, final_error } => Record::of_type("auto_retry_end", out)
            .field("success", success)
            .field("attempt", attempt)
            .optional("finalError", final_error.as_ref())
            .end(),
        Event::SummarizationRetryScheduled { attempt, max_attempts, delay_ms, error_message } => {
            wait("summarization_retry_scheduled", *attempt, *max_attempts, *delay_ms, error_message, out);
        }
        Event::SummarizationRetryAttemptStart { source } => {
            let record = Record::of_type("summarization_retry_attempt_start", out);
            match source {
                SummarySource::Compaction(reason) => record.field("source", "compaction").field("reason", reason),
                SummarySource::BranchSummary => record.field("source", "branchSummary"),
            }
            .end();
        }
        Event::SummarizationRetryFinished => Record::of_type("summarization_retry_finished", out).end(),
        Event::BashExecutionUpdate { id, delta } => {
            Record::of_type("bash_execution_update", out).optional("id", id.as_ref()).field("delta", delta).end();
        }
        Event::ExtensionError { extension, event, error } => Record::of_type("extension_error", out)
            .field("extensionPath", extension)
            .field("event", event)
            .field("error", error)
            .end(),
        Event::PlanModeChanged { enabled } => {
            Record::of_type("plan_mode_changed", out).field("enabled", enabled).end();
        }
        Event::SavingChanged { unsaved, reason } => Record::of_type("saving_changed", out)
            .field("unsavedEntries", unsaved)
            .optional("reason", reason.as_ref())
            .end(),
        Event::SiblingStart { sibling } => Record::of_type("sibling_start", out).field("sibling", sibling).end(),
        Event::SiblingUpdate { sibling } => Record::of_type("sibling_update", out).field("sibling", sibling).end(),
        Event::SiblingEnd { end, sibling } => {
            Record::of_type("sibling_end", out).field("end", end).field("sibling", sibling).end();
        }
        Event::Restarted { actor, cause } => {
            Record::of_type("restart", out).field("actor", actor).field("cause", cause).end();
        }
        Event::Parked { cause } => Record::of_type("parked", out).field("cause", cause).end(),
        Event::Gap { from, to } => Record::of_type("gap", out).field("from", from).field("to", to).end(),
        // Not on the wire (see the module's page), or written by `write_event`.
        Event::SessionStart { .. }
        | Event::Notice { .. }
        | Event::SessionCompact { .. }
        | Event::SessionCompactFailed { .. }
        | Event::SessionTree { .. }
        | Event::QuestionAsked { .. }
        | Event::QuestionClosed { .. }
        | Event::Display { .. }
        | Event::ModelChanged { .. }
        | Event::ProviderResponse { .. }
        | Event::ProviderStreamEvent { .. }
        | Event::AgentStart
        | Event::TurnStart
        | Event::MessageStart { .. }
        | Event::MessageUpdate { .. }
        | Event::MessageEnd { .. }
        | Event::ToolExecutionStart { .. }
        | Event::ToolExecutionUpdate { .. }
        | Event::ToolExecutionEnd { .. }
        | Event::TurnEnd { .. }
        | Event::AgentEnd { .. }
        | Event::AgentSettled { .. } => {}
    }
}

fn label<'a>(kind: &str, call: &CallLabel, out: &'a mut Vec<u8>) -> Record<'a> {
    Record::of_type(kind, out).field("toolCallId", &call.tool_call_id).field("toolName", &call.tool_name)
}

fn wait(kind: &str, attempt: u32, max_attempts: u32, delay_ms: u64, error: &str, out: &mut Vec<u8>) {
    Record::of_type(kind, out)
        .field("attempt", &attempt)
        .field("maxAttempts", &max_attempts)
        .field("delayMs", &delay_ms)
        .field("errorMessage", error)
        .end();
}

/// A tool call with the tag that content blocks have.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum CallBlock<'a> {
    ToolCall(&'a ToolCall),
}

/// Appends the line of one step of a streaming message. This is the hot path: one call a token.
fn write_step(event: &StreamEvent, state: &mut WireState, out: &mut Vec<u8>) {
    const END: &[u8] = b"}}\n";
    match event {
        StreamEvent::TextDelta { index, delta } => {
            step("text_delta", *index, state, out).field("delta", delta).end_with(END);
        }
        StreamEvent::ThinkingDelta { index, delta } => {
            step("thinking_delta", *index, state, out).field("delta", delta).end_with(END);
        }
        StreamEvent::ToolCallDelta { index, delta } => {
            step("toolcall_delta", *index, state, out).field("delta", delta).end_with(END);
        }
        StreamEvent::TextStart { index } => step("text_start", *index, state, out).end_with(END),
        StreamEvent::ThinkingStart { index } => step("thinking_start", *index, state, out).end_with(END),
        StreamEvent::ToolCallStart { index, id, name } => {
            step("toolcall_start", *index, state, out).field("id", id).field("toolName", name).end_with(END);
        }
        StreamEvent::TextEnd { index, block } => {
            step("text_end", *index, state, out).field("content", &block.text).end_with(END);
        }
        StreamEvent::ThinkingEnd { index, block } => {
            step("thinking_end", *index, state, out).field("content", &block.thinking).end_with(END);
        }
        StreamEvent::ToolCallEnd { index, call } => {
            step("toolcall_end", *index, state, out).field("toolCall", &CallBlock::ToolCall(call)).end_with(END);
        }
        StreamEvent::Usage(usage) => state.set_usage(usage),
        StreamEvent::Start(_) | StreamEvent::Done(_) | StreamEvent::Failed { .. } => {}
    }
}

fn step<'a>(kind: &str, index: usize, state: &WireState, out: &'a mut Vec<u8>) -> Record<'a> {
    out.extend_from_slice(&state.update_head);
    out.extend_from_slice(kind.as_bytes());
    out.push(b'"');
    Record::resume(out).field("contentIndex", &index)
}

#[cfg(test)]
mod tests;
