//! An entry of the session as lines.

use ratatui::style::Style;

use super::{
    Transcript,
    answer::answer_lines,
    bash::BashView,
    layout::LayoutContext,
    lines::{Lines, Settled, parted},
};
use crate::{
    protocol::{
        AgentMessage, EntryBody,
        message::{Block, UserMessage},
    },
    resources::skills::{self, SkillCall},
    store::jsonl::{EntryKind, Role},
    tui::{
        text::{Hang, StyledLine, one_line, plain, wrap},
        theme::ThemeColor,
        view::numbers::grouped,
    },
};

/// Lines of a prompt that are shown while it is folded.
const FOLDED_PROMPT: usize = 60;

/// The lines of the entry at `position`, which is item `at`. What is in `settled` of an answer is not laid out again.
pub(super) fn lines(
    transcript: &Transcript,
    at: usize,
    position: usize,
    settled: &mut Settled,
    context: &LayoutContext<'_>,
) -> Lines {
    let Some(entry) = transcript.tree().and_then(|tree| tree.entry_at(position)) else { return Lines::default() };
    // What shows nothing is not read.
    match entry.kind() {
        EntryKind::Message(Role::User | Role::Assistant | Role::BashExecution)
        | EntryKind::Compaction
        | EntryKind::BranchSummary
        | EntryKind::CustomMessage => {}
        _ => return Lines::default(),
    }
    let expanded = transcript.expanded;
    let lines = match &entry.entry_once().body {
        EntryBody::Message { message } => match message {
            AgentMessage::User(user) => user_lines(user, expanded, context),
            AgentMessage::Assistant(answer) => return answer_lines(transcript, at, answer, settled, context),
            AgentMessage::BashExecution(bash) => BashView::of(bash).lines(expanded, context),
            _ => Vec::new(),
        },
        EntryBody::Compaction { summary, tokens_before, .. } => {
            let title = format!("Compacted from {} tokens", grouped(*tokens_before));
            folded_lines("compaction", &title, summary, expanded, context)
        }
        EntryBody::BranchSummary { summary, .. } => {
            folded_lines("branch", "Summary of the branch that was left", summary, expanded, context)
        }
        EntryBody::CustomMessage { custom_type, content, display: true, .. } => {
            boxed(custom_type, &content.text("\n"), context)
        }
        _ => Vec::new(),
    };
    lines.into()
}

fn user_lines(user: &UserMessage, expanded: bool, context: &LayoutContext<'_>) -> Vec<StyledLine> {
    let text = user.content.text("\n");
    let (mut lines, text) = match skills::called(&text) {
        Some(SkillCall { name, body, words }) => (folded_lines("skill", &name, body, expanded, context), words),
        None => (Vec::new(), &*text),
    };
    let ground = context.theme.on(ThemeColor::UserMessageText, ThemeColor::UserMessageBg);
    let mut body = if text.is_empty() { Vec::new() } else { user_text(text, ground, expanded, context) };
    for block in user.content.blocks().iter() {
        if let Block::Image(image) = block {
            body.extend(plain(&format!("[image: {}]", image.mime_type), context.inner(), ground));
            if let Some(pictures) = context.pictures {
                body.extend(pictures.rows(image, context.inner(), ground));
            }
        }
    }
    let fill = Style::new().bg(context.theme.color(ThemeColor::UserMessageBg));
    // A prompt is there, whatever is in it; behind a skill it need not be.
    if !body.is_empty() || lines.is_empty() {
        let filled = [vec![StyledLine::default()], context.with_margin(body), vec![StyledLine::default()]];
        lines.extend(parted(filled.into_iter().flatten().map(|line| line.filled(fill)).collect()));
    }
    lines
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
        let hint = format!("… {more} more lines ({} to expand)", context.expand_key);
        lines.extend(plain(&hint, context.inner(), style.patch(context.theme.fg(ThemeColor::Dim))));
    }
    lines
}

/// A title, and behind it a text in markdown that is shown when all is wanted.
fn folded_lines(label: &str, title: &str, text: &str, expanded: bool, context: &LayoutContext<'_>) -> Vec<StyledLine> {
    let theme = context.theme;
    let mut head = StyledLine::of(format!("[{label}] "), theme.fg(ThemeColor::CustomMessageLabel));
    head.push(one_line(title), theme.fg(ThemeColor::CustomMessageText));
    if !expanded {
        head.push(format!(" ({} to expand)", context.expand_key), theme.fg(ThemeColor::Dim));
    }
    let mut body = wrap(&head, context.inner(), &Hang::indent(2));
    if expanded {
        body.extend(context.markdown(text));
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
    parted(context.with_margin(body).into_iter().map(|line| line.filled(ground)).collect())
}
