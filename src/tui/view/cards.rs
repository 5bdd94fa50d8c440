//! Cards of the agents below the one in front: a few rows above the editor.

use super::numbers::{dollars, tokens};
use crate::{
    protocol::sibling::{Outcome, SiblingState, SiblingStatus},
    tui::{
        cards::Card,
        model::Model,
        text::{StyledLine, cut, one_line, width_of},
        theme::{Theme, ThemeColor},
    },
};

/// One row in so many may be a card's.
const SHARE: usize = 6;
/// Rows of cards at most.
const MOST: usize = 8;

/// What an agent does, as a sign and its colour.
#[must_use]
pub fn sign(status: &SiblingStatus) -> (&'static str, ThemeColor) {
    match (&status.state, &status.outcome) {
        (SiblingState::Starting, _) => ("◌", ThemeColor::Muted),
        (SiblingState::Running, _) => ("●", ThemeColor::Accent),
        (SiblingState::Paused, _) => ("‖", ThemeColor::Warning),
        (SiblingState::Stopping, _) | (_, Some(Outcome::Stopped { .. })) => ("■", ThemeColor::Warning),
        (_, Some(Outcome::Done)) => ("✓", ThemeColor::Success),
        (_, Some(_)) => ("✗", ThemeColor::Error),
        (_, None) => ("○", ThemeColor::Muted),
    }
}

/// What an agent does, in a word: its state, or how its task ended.
#[must_use]
pub fn word(status: &SiblingStatus) -> &'static str {
    match &status.outcome {
        Some(outcome) if !status.state.is_active() => outcome.word(),
        _ => status.state.word(),
    }
}

/// The id and name of an agent, safe to be drawn.
#[must_use]
pub fn name(status: &SiblingStatus) -> String {
    match &status.name {
        Some(name) => format!("{} {}", status.id, one_line(name)),
        None => status.id.to_string(),
    }
}

/// What an agent has used, in few characters.
#[must_use]
pub fn spent(status: &SiblingStatus) -> String {
    let cost = if status.spent.cost > 0.0 { format!(" {}", dollars(status.spent.cost)) } else { String::new() };
    format!("{}{cost}", tokens(status.spent.tokens))
}

/// The rows of cards on a screen of so many rows: two each where there is room, one each for some, and how many more
/// there are.
#[must_use]
pub fn lines(model: &Model, width: usize, rows: u16) -> Vec<StyledLine> {
    let cards = model.cards.shown(&model.view, model.now);
    let most = (usize::from(rows) / SHARE).clamp(1, MOST);
    if cards.len() * 2 <= most {
        return cards
            .iter()
            .flat_map(|card| [head(card, width, &model.theme), last(card, width, &model.theme)])
            .collect();
    }
    let shown = if cards.len() <= most { cards.len() } else { most - 1 };
    let mut lines: Vec<_> = cards.iter().take(shown).map(|card| folded(card, width, &model.theme)).collect();
    if cards.len() > shown {
        let text = format!(" … {} more agents: /agents shows them", cards.len() - shown);
        let text = if shown == 0 { format!(" {} agents: /agents shows them", cards.len()) } else { text };
        lines.push(cut(&StyledLine::of(text, model.theme.fg(ThemeColor::Dim)), width));
    }
    lines
}

/// What stands in front: sign, id and name.
fn front(status: &SiblingStatus, theme: &Theme) -> StyledLine {
    let (sign, color) = sign(status);
    let mut line = StyledLine::of(format!(" {sign} "), theme.fg(color));
    line.push(name(status), theme.fg(ThemeColor::Text));
    line
}

/// The parts of a card that follow its name, the ones that matter most first; those without room are left out.
fn head(card: &Card<'_>, width: usize, theme: &Theme) -> StyledLine {
    let status = card.status;
    let mut line = front(status, theme);
    let tool = status.tool.as_deref().map(one_line);
    let mut parts = vec![(tool.unwrap_or_else(|| word(status).to_owned()), sign(status).1)];
    parts.push((time(card.ms), ThemeColor::Muted));
    parts.push((spent(status), ThemeColor::Muted));
    parts.extend(status.model.as_ref().map(|model| (one_line(&model.model_id), ThemeColor::Dim)));
    if Some(&status.role) != status.name.as_ref() && status.role != "sibling" {
        parts.push((one_line(&status.role), ThemeColor::Dim));
    }
    for (text, color) in parts {
        if line.width() + width_of(&text) + 3 <= width {
            line.push(" · ", theme.fg(ThemeColor::Dim));
            line.push(text, theme.fg(color));
        }
    }
    cut(&line, width)
}

/// What it said last, or what it is to do.
fn last(card: &Card<'_>, width: usize, theme: &Theme) -> StyledLine {
    cut(&StyledLine::of(format!("   {}", words(card.status)), theme.fg(ThemeColor::Muted)), width)
}

/// A card in one row.
fn folded(card: &Card<'_>, width: usize, theme: &Theme) -> StyledLine {
    let status = card.status;
    let mut line = front(status, theme);
    let tool = status.tool.as_deref().map(one_line);
    let mut add = |text: String, color| {
        line.push(" · ", theme.fg(ThemeColor::Dim));
        line.push(text, theme.fg(color));
    };
    add(tool.unwrap_or_else(|| word(status).to_owned()), sign(status).1);
    add(time(card.ms), ThemeColor::Muted);
    add(spent(status), ThemeColor::Muted);
    let words = words(status);
    if !words.is_empty() {
        add(words, ThemeColor::Muted);
    }
    cut(&line, width)
}

/// What an agent said last; what went wrong, when something did; before it said anything, what it is to do.
fn words(status: &SiblingStatus) -> String {
    let failed = status.outcome.as_ref().map(Outcome::message).filter(|message| !message.is_empty());
    let said = Some(status.last_line.as_str()).filter(|line| !line.is_empty());
    one_line(failed.or(said).unwrap_or(&status.title))
}

/// A time: `7s`, `1m 05s`, `1h 02m`.
fn time(ms: u64) -> String {
    match ms / 1_000 {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        seconds => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        for (ms, expected) in [(999, "0s"), (59_999, "59s"), (65_000, "1m 05s"), (3_725_000, "1h 02m")] {
            assert_eq!(time(ms), expected);
        }
    }
}
