//! An answer of the model as lines, and the calls in it.

use std::sync::Arc;

use ratatui::style::Modifier;
use serde_json::{Map, Value};

use super::{
    Transcript, advice,
    item::Item,
    layout::LayoutContext,
    lines::{Lines, Settled, parted},
};
use crate::{
    protocol::{
        AgentMessage, EntryBody,
        message::{AssistantMessage, Block, StopReason, ToolCall, ToolResultMessage},
        tool::ToolOutput,
    },
    resources::markup::markdown::Document,
    store::{
        jsonl::{EntryKind, Role},
        tree::EntryRef,
    },
    tui::{
        text::{StyledLine, markdown, plain},
        theme::ThemeColor,
        tool_view::{Output, ToolCallView, ToolState},
    },
};

/// How far a call is.
#[derive(Clone, Debug)]
pub enum CallState {
    /// The model is still writing its arguments.
    Writing,
    /// It waits for others, a guard or a person.
    Waiting,
    /// It runs.
    Running {
        /// Since when, in milliseconds since the screen began.
        since: u64,
        /// What it printed so far.
        output: Arc<ToolOutput>,
    },
    /// It is over.
    Done {
        /// The result.
        output: Arc<ToolOutput>,
        /// Milliseconds that it ran; none when it did not run, or nobody knows.
        duration_ms: Option<u64>,
    },
    /// It has no result, and nothing runs that would give one.
    Lost,
}

/// The lines of an answer, which is item `at`. What is in `settled` is not laid out again; texts are added to it.
pub(super) fn answer_lines(
    transcript: &Transcript,
    at: usize,
    answer: &AssistantMessage,
    settled: &mut Settled,
    context: &LayoutContext<'_>,
) -> Lines {
    let mut lines = Lines::default();
    let calls: Vec<&ToolCall> = answer.tool_calls().collect();
    let mut states = call_states(transcript, at, &calls).into_iter();
    let thinking = transcript.shows_thinking(context);
    let mut says_hidden = false;
    for (place, block) in answer.content.iter().enumerate() {
        match block {
            Block::Text(text) => {
                let part = settled.entry(place).or_insert_with(|| Arc::new(parted(text_lines(&text.text, context))));
                lines.push(part.clone());
            }
            Block::Thinking(block) if thinking => {
                let part =
                    settled.entry(place).or_insert_with(|| Arc::new(parted(thinking_lines(&block.thinking, context))));
                lines.push(part.clone());
            }
            Block::Thinking(block) if !says_hidden && !block.thinking.trim().is_empty() => {
                says_hidden = true;
                lines.push(parted(hidden_thinking(context)));
            }
            Block::ToolCall(call) => {
                let state = states.next().unwrap_or(CallState::Lost);
                lines.push(parted(call_lines(&call.name, &call.arguments, state, transcript.expanded, context)));
            }
            _ => {}
        }
    }
    lines.push(parted(failure_lines(transcript, at, answer, context)));
    lines
}

/// Why an answer is not whole, and what helps.
fn failure_lines(
    transcript: &Transcript,
    at: usize,
    answer: &AssistantMessage,
    context: &LayoutContext<'_>,
) -> Vec<StyledLine> {
    let error = answer.error_message.as_deref();
    let (text, help) = match answer.stop_reason {
        StopReason::Error => {
            let text = error.unwrap_or("The answer broke off.");
            let help = advice::next_step(text, &answer.provider).filter(|_| !is_tried_again(transcript, at));
            (format!("Error: {text}"), help)
        }
        StopReason::Aborted => ("Operation aborted".to_owned(), None),
        StopReason::Length => ("The answer was cut: the model's output limit was reached.".to_owned(), None),
        _ => return Vec::new(),
    };
    let theme = context.theme;
    let mut lines = plain(&text, context.inner(), theme.fg(ThemeColor::Error));
    lines.extend(help.into_iter().flat_map(|help| plain(help, context.inner(), theme.fg(ThemeColor::Muted))));
    context.with_margin(lines)
}

/// Whether another answer takes the place of this one, or may.
fn is_tried_again(transcript: &Transcript, at: usize) -> bool {
    match transcript.items()[at + 1..].iter().filter_map(|item| turn(transcript, item)).next() {
        Some(role) => role == Role::Assistant,
        None => transcript.live.runs,
    }
}

/// How far the calls of an answer are, in order.
fn call_states(transcript: &Transcript, at: usize, calls: &[&ToolCall]) -> Vec<CallState> {
    if calls.is_empty() {
        return Vec::new();
    }
    let mut results = results_behind(transcript, at);
    let is_last = !transcript.items()[at + 1..].iter().any(|item| turn(transcript, item).is_some());
    let state = |(place, call): (usize, &&ToolCall)| {
        if let Some(found) = results.iter().position(|result| result.tool_call_id == call.id) {
            let result = results.remove(found);
            let output = ToolOutput {
                content: result.content.clone(),
                details: result.details.clone(),
                is_error: result.is_error,
                ..ToolOutput::default()
            };
            return CallState::Done { output: Arc::new(output), duration_ms: result.duration_ms };
        }
        let live = transcript.live.calls.iter().find(|live| is_last && live.call.place == place);
        match live {
            Some(live) => match live.ended {
                Some(duration_ms) => CallState::Done { output: live.output.clone(), duration_ms },
                None => CallState::Running { since: live.since, output: live.output.clone() },
            },
            None if is_last && transcript.live.runs => CallState::Waiting,
            None => CallState::Lost,
        }
    };
    calls.iter().enumerate().map(state).collect()
}

/// Whose turn an item is.
fn turn(transcript: &Transcript, item: &Item) -> Option<Role> {
    match item.position().and_then(|at| transcript.tree()?.entry_at(at))?.kind() {
        EntryKind::Message(role @ (Role::User | Role::Assistant)) => Some(role),
        _ => None,
    }
}

/// The results that follow an answer.
fn results_behind(transcript: &Transcript, at: usize) -> Vec<Arc<ToolResultMessage>> {
    let Some(tree) = transcript.tree() else { return Vec::new() };
    let behind = transcript.items()[at + 1..].iter().take_while(|item| turn(transcript, item).is_none());
    let results = behind.filter_map(Item::position).filter_map(|at| tree.entry_at(at));
    let results = results.filter(|entry| entry.kind() == EntryKind::Message(Role::ToolResult));
    let message = |entry: EntryRef<'_>| match &entry.entry_once().body {
        EntryBody::Message { message: AgentMessage::ToolResult(result) } => Some(result.clone()),
        _ => None,
    };
    results.filter_map(message).collect()
}

fn text_lines(text: &str, context: &LayoutContext<'_>) -> Vec<StyledLine> {
    context.with_margin(context.markdown(text))
}

fn thinking_lines(text: &str, context: &LayoutContext<'_>) -> Vec<StyledLine> {
    let options = context.thinking_options();
    context.with_margin(markdown(&Document::parse(text), context.inner(), context.theme, &options))
}

/// What stands for thinking that is hidden, once for each answer.
pub(super) fn hidden_thinking(context: &LayoutContext<'_>) -> Vec<StyledLine> {
    let style = context.theme.fg(ThemeColor::ThinkingText).add_modifier(Modifier::ITALIC);
    context.with_margin(vec![context.row("Thinking...", style)])
}

pub(super) fn call_lines(
    name: &str,
    arguments: &Map<String, Value>,
    state: CallState,
    expanded: bool,
    context: &LayoutContext<'_>,
) -> Vec<StyledLine> {
    let held = match &state {
        CallState::Running { output, .. } | CallState::Done { output, .. } => output.clone(),
        CallState::Lost => Arc::new(ToolOutput::error("There is no result: the run ended before.")),
        _ => Arc::default(),
    };
    let output = Output { content: &held.content, details: held.details.as_ref() };
    let state = match state {
        CallState::Writing => ToolState::Preparing,
        CallState::Waiting => ToolState::Waiting,
        CallState::Running { since, .. } => ToolState::Running { since, output: Some(output) },
        CallState::Done { duration_ms, .. } => ToolState::Done { output, is_error: held.is_error, duration_ms },
        CallState::Lost => ToolState::Done { output, is_error: true, duration_ms: None },
    };
    let view = ToolCallView {
        name,
        args: arguments,
        state,
        expanded,
        width: context.width,
        expand_key: context.expand_key,
        cwd: context.cwd,
        home: context.home,
        now: context.now,
        theme: context.theme,
        pictures: context.pictures,
    };
    view.lines()
}
