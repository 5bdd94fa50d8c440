//! An entry of the session as lines, and what runs.

use std::sync::Arc;

use ratatui::style::{Modifier, Style};

use super::{Transcript, item::Item, layout::LayoutContext};
use crate::{
    protocol::{
        AgentMessage, EntryBody,
        message::{AssistantMessage, BashExecution, Block, StopReason, ToolCall, ToolResultMessage, UserMessage},
        tool::ToolOutput,
    },
    resources::markup::markdown::Document,
    store::jsonl::{EntryKind, Role},
    tui::{
        text::{StyledLine, markdown, plain},
        theme::ThemeColor,
        tool_view::{Output, ToolCallView, ToolState},
        view::numbers::grouped,
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

/// Lines of a prompt that are shown while it is folded.
const FOLDED_PROMPT: usize = 60;
/// Lines of a command's output that are shown while it is folded.
const FOLDED_LINES: usize = 10;

/// The lines of the entry at `position`, which is item `at`.
pub(super) fn lines(
    transcript: &Transcript,
    at: usize,
    position: usize,
    context: &LayoutContext<'_>,
) -> Vec<StyledLine> {
    let Some(entry) = transcript.tree().and_then(|tree| tree.entry_at(position)) else { return Vec::new() };
    // What shows nothing is not read.
    match entry.kind() {
        EntryKind::Message(Role::User | Role::Assistant | Role::BashExecution)
        | EntryKind::Compaction
        | EntryKind::BranchSummary
        | EntryKind::CustomMessage => {}
        _ => return Vec::new(),
    }
    match &entry.entry_once().body {
        EntryBody::Message { message } => match message {
            AgentMessage::User(user) => user_lines(user, transcript.expanded, context),
            AgentMessage::Assistant(answer) => answer_lines(transcript, at, answer, context),
            AgentMessage::BashExecution(bash) => bash_lines(&BashView::of(bash), transcript.expanded, context),
            _ => Vec::new(),
        },
        EntryBody::Compaction { summary, tokens_before, .. } => {
            let title = format!("Compacted from {} tokens", grouped(*tokens_before));
            summary_lines("compaction", &title, summary, transcript.expanded, context)
        }
        EntryBody::BranchSummary { summary, .. } => {
            summary_lines("branch", "Summary of the branch that was left", summary, transcript.expanded, context)
        }
        EntryBody::CustomMessage { custom_type, content, display: true, .. } => {
            boxed(custom_type, &content.text("\n"), context)
        }
        _ => Vec::new(),
    }
}

fn user_lines(user: &UserMessage, expanded: bool, context: &LayoutContext<'_>) -> Vec<StyledLine> {
    let ground = context.theme.on(ThemeColor::UserMessageText, ThemeColor::UserMessageBg);
    let mut body = user_text(&user.content.text("\n"), ground, expanded, context);
    for block in user.content.blocks().iter() {
        if let Block::Image(image) = block {
            body.push(StyledLine::of(format!("[image: {}]", image.mime_type), ground));
        }
    }
    let filled = [vec![StyledLine::default()], context.with_margin(body), vec![StyledLine::default()]];
    let filled = filled.into_iter().flatten().map(|line| line.filled(ground));
    std::iter::once(StyledLine::default()).chain(filled).collect()
}

/// A user's text; of a long one the beginning, unless all is wanted.
fn user_text(text: &str, style: Style, expanded: bool, context: &LayoutContext<'_>) -> Vec<StyledLine> {
    let shown = match text.match_indices('\n').nth(FOLDED_PROMPT) {
        Some((end, _)) if !expanded => &text[..end],
        _ => text,
    };
    let mut lines = plain(shown, context.inner(), style);
    if shown.len() < text.len() {
        let more = text[shown.len()..].lines().count() - 1;
        let hint = format!("... {more} more lines ({} to expand)", context.expand_key);
        lines.push(StyledLine::of(hint, style.patch(context.theme.fg(ThemeColor::Dim))));
    }
    lines
}

fn answer_lines(
    transcript: &Transcript,
    at: usize,
    answer: &AssistantMessage,
    context: &LayoutContext<'_>,
) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    let calls: Vec<&ToolCall> = answer.tool_calls().collect();
    let states = call_states(transcript, at, &calls);
    let mut states = states.into_iter();
    for block in &answer.content {
        match block {
            Block::Text(text) if !text.text.trim().is_empty() => {
                lines.push(StyledLine::default());
                lines.extend(text_lines(&text.text, context));
            }
            Block::Thinking(thinking) if !thinking.thinking.trim().is_empty() => {
                lines.push(StyledLine::default());
                lines.extend(thinking_lines(&thinking.thinking, transcript.shows_thinking(context), context));
            }
            Block::ToolCall(call) => {
                let state = states.next().unwrap_or(CallState::Lost);
                lines.push(StyledLine::default());
                lines.extend(call_lines(&call.name, &call.arguments, state, transcript.expanded, context));
            }
            _ => {}
        }
    }
    let failure = match answer.stop_reason {
        StopReason::Error => Some(answer.error_message.as_deref().unwrap_or("The answer broke off.")),
        StopReason::Aborted => Some("Operation aborted"),
        StopReason::Length => Some("The answer was cut: the model's output limit was reached."),
        _ => None,
    };
    if let Some(failure) = failure {
        lines.push(StyledLine::default());
        let lead = if answer.stop_reason == StopReason::Error { "Error: " } else { "" };
        let text = plain(&format!("{lead}{failure}"), context.inner(), context.theme.fg(ThemeColor::Error));
        lines.extend(context.with_margin(text));
    }
    lines
}

/// How far the calls of an answer are, in order.
fn call_states(transcript: &Transcript, at: usize, calls: &[&ToolCall]) -> Vec<CallState> {
    let mut results = results_behind(transcript, at);
    let is_last = !transcript.items()[at + 1..].iter().any(|item| is_turn(transcript, item));
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

fn is_turn(transcript: &Transcript, item: &Item) -> bool {
    let kind = item.position().and_then(|at| transcript.tree()?.entry_at(at)).map(|entry| entry.kind());
    matches!(kind, Some(EntryKind::Message(Role::User | Role::Assistant)))
}

/// The results that follow an answer.
fn results_behind(transcript: &Transcript, at: usize) -> Vec<Arc<ToolResultMessage>> {
    let Some(tree) = transcript.tree() else { return Vec::new() };
    let behind = transcript.items()[at + 1..].iter().take_while(|item| !is_turn(transcript, item));
    let results = behind.filter_map(Item::position).filter_map(|at| tree.entry_at(at));
    let results = results.filter(|entry| entry.kind() == EntryKind::Message(Role::ToolResult));
    let message = |entry: crate::store::tree::EntryRef<'_>| match &entry.entry_once().body {
        EntryBody::Message { message: AgentMessage::ToolResult(result) } => Some(result.clone()),
        _ => None,
    };
    results.filter_map(message).collect()
}

fn text_lines(text: &str, context: &LayoutContext<'_>) -> Vec<StyledLine> {
    context.with_margin(context.markdown(text))
}

fn thinking_lines(text: &str, shown: bool, context: &LayoutContext<'_>) -> Vec<StyledLine> {
    if !shown {
        return hidden_thinking(context);
    }
    let options = context.thinking_options();
    context.with_margin(markdown(&Document::parse(text.trim()), context.inner(), context.theme, &options))
}

/// What stands for thinking that is hidden.
pub(super) fn hidden_thinking(context: &LayoutContext<'_>) -> Vec<StyledLine> {
    let style = context.theme.fg(ThemeColor::ThinkingText).add_modifier(Modifier::ITALIC);
    context.with_margin(vec![StyledLine::of("Thinking...", style)])
}

pub(super) fn call_lines(
    name: &str,
    arguments: &serde_json::Map<String, serde_json::Value>,
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
    };
    view.lines()
}

/// A shell command of the user, as it runs or as it is stored.
pub(super) struct BashView<'b> {
    pub command: &'b str,
    pub output: &'b str,
    pub excluded: bool,
    /// What became of it; none while it runs.
    pub end: Option<String>,
    pub failed: bool,
    pub full_output: Option<&'b str>,
}

impl<'b> BashView<'b> {
    fn of(bash: &'b BashExecution) -> Self {
        let (end, failed) = end_of(bash.cancelled, bash.exit_code);
        Self {
            command: &bash.command,
            output: &bash.output,
            excluded: bash.exclude_from_context == Some(true),
            end: Some(end),
            failed,
            full_output: bash.full_output_path.as_deref(),
        }
    }
}

/// What is said of the end of a command, and whether it failed.
pub(super) fn end_of(cancelled: bool, exit_code: Option<i32>) -> (String, bool) {
    match (cancelled, exit_code) {
        (true, _) => ("(cancelled)".to_owned(), true),
        (false, Some(0)) => (String::new(), false),
        (false, Some(code)) => (format!("(exit {code})"), true),
        (false, None) => ("(no exit code)".to_owned(), true),
    }
}

pub(super) fn bash_lines(bash: &BashView<'_>, expanded: bool, context: &LayoutContext<'_>) -> Vec<StyledLine> {
    let theme = context.theme;
    let color = if bash.excluded { ThemeColor::Dim } else { ThemeColor::BashMode };
    let title = format!("$ {}", bash.command);
    let mut lines = vec![StyledLine::default()];
    lines.extend(plain(&title, context.inner(), theme.fg(color).add_modifier(Modifier::BOLD)));
    let style = theme.fg(ThemeColor::Muted);
    let output = plain(bash.output.trim_end(), context.inner(), style);
    let hidden = if expanded { 0 } else { output.len().saturating_sub(FOLDED_LINES) };
    if hidden > 0 {
        let hint = format!("... {hidden} more lines ({} to expand)", context.expand_key);
        lines.push(StyledLine::of(hint, theme.fg(ThemeColor::Dim)));
    }
    if !bash.output.trim_end().is_empty() {
        lines.extend(output.into_iter().skip(hidden));
    }
    if let Some(end) = bash.end.as_ref().filter(|end| !end.is_empty()) {
        let color = if bash.failed { ThemeColor::Error } else { ThemeColor::Muted };
        lines.push(StyledLine::of(end.clone(), theme.fg(color)));
    }
    if let Some(path) = bash.full_output {
        lines.extend(plain(&format!("Full output: {path}"), context.inner(), theme.fg(ThemeColor::Dim)));
    }
    let blank = lines.remove(0);
    std::iter::once(blank).chain(context.with_margin(lines)).collect()
}

fn summary_lines(
    label: &str,
    title: &str,
    summary: &str,
    expanded: bool,
    context: &LayoutContext<'_>,
) -> Vec<StyledLine> {
    let theme = context.theme;
    let mut head = StyledLine::of(format!("[{label}] "), theme.fg(ThemeColor::CustomMessageLabel));
    head.push(title.to_owned(), theme.fg(ThemeColor::CustomMessageText));
    if !expanded {
        head.push(format!(" ({} to expand)", context.expand_key), theme.fg(ThemeColor::Dim));
    }
    let mut body = vec![head];
    if expanded {
        body.extend(context.markdown(summary));
    }
    on_ground(body, context)
}

fn boxed(label: &str, text: &str, context: &LayoutContext<'_>) -> Vec<StyledLine> {
    let theme = context.theme;
    let mut body = plain(&format!("[{label}]"), context.inner(), theme.fg(ThemeColor::CustomMessageLabel));
    body.extend(context.markdown(text));
    on_ground(body, context)
}

fn on_ground(body: Vec<StyledLine>, context: &LayoutContext<'_>) -> Vec<StyledLine> {
    let ground = context.theme.bg(ThemeColor::CustomMessageBg);
    let filled = context.with_margin(body).into_iter().map(|line| line.filled(ground));
    std::iter::once(StyledLine::default()).chain(filled).collect()
}
