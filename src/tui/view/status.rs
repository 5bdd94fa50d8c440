//! The status line, queues, and the start page.

use ratatui::style::Modifier;

use crate::{
    tools::truncate::floor_char_boundary,
    tui::{
        keys::Action,
        model::Model,
        text::{StyledLine, plain, width_of},
        theme::ThemeColor,
        transcript::scroll::Scroll,
        view::key_name,
    },
};

/// The pictures of the sign that something runs, and how long each is shown.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Milliseconds that a picture of the spinner is shown.
pub const SPINNER_MS: u64 = 100;
/// Bytes that one column can take at most, as far as a row is concerned.
const BYTES_A_COLUMN: usize = 16;
/// Rows that queued messages take at most.
const QUEUE_ROWS: usize = 6;

/// The picture of the spinner at a time.
#[must_use]
pub fn spinner(now: u64) -> &'static str {
    SPINNER[usize::try_from(now / SPINNER_MS).unwrap_or(0) % SPINNER.len()]
}

/// The status line: what goes on, or what was said last.
#[must_use]
pub fn line(model: &Model, width: usize) -> StyledLine {
    let theme = &model.theme;
    let escape = key_name(model, Action::Interrupt);
    let text = if let Some((retry, attempt)) = model.retry.zip(model.view.retrying) {
        let seconds = retry.at.saturating_sub(model.now).div_ceil(1_000);
        Some(format!("Retrying in {seconds} s, {attempt} of {}... ({escape} to stop)", retry.of))
    } else if model.replacing {
        Some("Opening the session...".to_owned())
    } else if model.view.compacting {
        Some(format!("Compacting... ({escape} to stop)"))
    } else if model.view.running {
        let seconds = model.now.saturating_sub(model.running_since.unwrap_or(model.now)) / 1_000;
        Some(format!("Working... {seconds} s ({escape} to interrupt)"))
    } else {
        None
    };
    let mut line = StyledLine::default();
    if let Some(text) = text {
        line.push(format!(" {} ", spinner(model.now)), theme.fg(ThemeColor::Accent));
        line.push(text, theme.fg(ThemeColor::Muted));
    }
    if let Some(flash) = &model.flash {
        let room = width.saturating_sub(line.width() + 1).max(1);
        let said = plain(&flash.text, room, theme.fg(ThemeColor::Muted));
        line.push(" ", theme.fg(ThemeColor::Muted));
        line.spans.extend(said.into_iter().next().unwrap_or_default().spans);
    } else if model.transcript.scroll != Scroll::Bottom {
        let hint = format!(" ↓ {} shows the end", key_name(model, Action::ScrollBottom));
        if line.width() + width_of(&hint) <= width {
            line.push(hint, theme.fg(ThemeColor::Dim));
        }
    }
    line
}

/// Messages that wait.
#[must_use]
pub fn queue(model: &Model, width: usize) -> Vec<StyledLine> {
    let steering = model.view.steering.iter().map(|text| ("Steering: ", text.as_str()));
    let follow_up = model.view.follow_up.iter().map(|text| ("Follow-up: ", text.as_str()));
    // The agent may know of them already, and not have answered.
    let is_queued = |text: &String| model.view.steering.contains(text) || model.view.follow_up.contains(text);
    let sent = model.sent.iter().filter(|text| model.view.running && !is_queued(text));
    let sent = sent.map(|text| ("Sending: ", text.as_str()));
    let local = model.queue.texts().map(|text| ("Waiting: ", text));
    let all: Vec<_> = steering.chain(follow_up).chain(sent).chain(local).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let style = model.theme.fg(ThemeColor::Dim);
    let line = |(label, text): &(&str, &str)| {
        // No more of a long text is looked at than the row may show.
        let head = &text[..floor_char_boundary(text, width * BYTES_A_COLUMN)];
        let first = head.lines().next().unwrap_or_default();
        plain(&format!(" {label}{first}"), width, style).into_iter().next().unwrap_or_default()
    };
    let mut lines: Vec<_> = all.iter().take(QUEUE_ROWS - 1).map(line).collect();
    let more = all.len().saturating_sub(QUEUE_ROWS - 1);
    let more = if more > 0 { format!("{more} more; ") } else { String::new() };
    let hint = format!(" {more}{} takes them back into the editor", key_name(model, Action::Dequeue));
    lines.push(StyledLine::of(hint, style.add_modifier(Modifier::ITALIC)));
    lines
}
