//! The search in the conversation.

use ratatui::{layout::Rect, style::Style};

use super::{
    overlay::input::LineInput,
    terminal::Frame,
    text::{StyledLine, width_of},
};
use crate::{
    protocol::{AgentMessage, EntryBody, message::Block},
    store::tree::TreeView,
};

/// A search that is open.
#[derive(Default)]
pub struct Search {
    /// What is looked for.
    pub input: LineInput,
    /// Entries that hold it, by their places in the file, in the order of the conversation; none while they are looked
    /// for.
    pub found: Option<Vec<usize>>,
    /// Which of them is shown.
    pub at: usize,
}

impl Search {
    /// What is looked for, in small letters; none when nothing is.
    #[must_use]
    pub fn query(&self) -> Option<String> {
        let query = self.input.text().to_lowercase();
        (!query.is_empty()).then_some(query)
    }

    /// Takes what was found for `query`, and says which entry to show: the last one.
    pub fn found(&mut self, query: &str, found: Vec<usize>) -> Option<usize> {
        if self.query().as_deref() != Some(query) {
            return None;
        }
        self.at = found.len().saturating_sub(1);
        let last = found.last().copied();
        self.found = Some(found);
        last
    }

    /// The next entry, or the one before; from the end it goes on at the beginning.
    pub fn step(&mut self, forward: bool) -> Option<usize> {
        let found = self.found.as_ref().filter(|found| !found.is_empty())?;
        self.at = match forward {
            true => (self.at + 1) % found.len(),
            false => self.at.checked_sub(1).unwrap_or(found.len() - 1),
        };
        found.get(self.at).copied()
    }

    /// How far it is, for people.
    #[must_use]
    pub fn state(&self) -> String {
        match &self.found {
            _ if self.input.is_empty() => String::new(),
            None => "searching...".to_owned(),
            Some(found) if found.is_empty() => "nothing found".to_owned(),
            Some(found) => format!("{} of {}", self.at + 1, found.len()),
        }
    }
}

/// The entries of the leaf's branch whose text holds `query` (in small letters), in order. Reads the session.
#[must_use]
pub fn entries_with(tree: &TreeView, query: &str) -> Vec<usize> {
    let holds = |text: &str| text.to_lowercase().contains(query);
    let path = tree.path().into_iter();
    path.filter(|entry| texts_of(&entry.entry_once().body).iter().any(|text| holds(text)))
        .map(|entry| entry.position())
        .collect()
}

/// The texts of an entry that the conversation shows.
fn texts_of(body: &EntryBody) -> Vec<String> {
    match body {
        EntryBody::Message { message } => match message {
            AgentMessage::User(user) => vec![user.content.text("\n")],
            AgentMessage::BashExecution(bash) => vec![bash.command.clone(), bash.output.clone()],
            AgentMessage::Assistant(answer) => answer
                .content
                .iter()
                .filter_map(|block| match block {
                    Block::Text(text) => Some(text.text.clone()),
                    Block::Thinking(thinking) => Some(thinking.thinking.clone()),
                    Block::ToolCall(call) => Some(serde_json::Value::Object(call.arguments.clone()).to_string()),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        },
        EntryBody::Compaction { summary, .. } | EntryBody::BranchSummary { summary, .. } => vec![summary.clone()],
        EntryBody::CustomMessage { content, display: true, .. } => vec![content.text("\n")],
        _ => Vec::new(),
    }
}

/// Marks each place of `query` (in small letters) in a line that was drawn at the left of `area`'s row `row`.
pub fn mark(frame: &mut Frame, area: Rect, row: u16, line: &StyledLine, query: &str, style: Style) {
    let text = line.text();
    for (start, end) in places(&text, query) {
        let column = |at: usize| u16::try_from(width_of(&text[..at])).unwrap_or(u16::MAX).min(area.width);
        let (from, to) = (column(start), column(end));
        frame.buffer.set_style(Rect::new(area.x + from, area.y + row, to.saturating_sub(from), 1), style);
    }
}

/// Where `query` (in small letters) is in a text, in bytes. Letters whose small form is longer than they are may be
/// missed.
fn places(text: &str, query: &str) -> Vec<(usize, usize)> {
    let small = text.to_lowercase();
    if small.len() != text.len() || query.is_empty() {
        return Vec::new();
    }
    let found = small.match_indices(query).map(|(at, found)| (at, at + found.len()));
    found.filter(|(start, end)| text.is_char_boundary(*start) && text.is_char_boundary(*end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::{answer, user, view};

    #[test]
    fn entries_are_found_whatever_the_case_and_stepped_through_in_a_circle() {
        let tree =
            view(&[user("u1", "", "Find the Needle"), answer("a1", "u1", "hay"), answer("a2", "a1", "a needle")]);
        let found = entries_with(&tree, "needle");
        assert_eq!(found, [0, 2]);
        let mut search = Search { input: LineInput::with_text("NEEDLE"), ..Search::default() };
        assert_eq!(search.found("needle", found.clone()), Some(2));
        assert_eq!(search.state(), "2 of 2");
        assert_eq!((search.step(true), search.step(true), search.step(false)), (Some(0), Some(2), Some(0)));
        assert_eq!(search.found("older", vec![1]), None, "what was looked for before does not count");
    }

    #[test]
    fn places_are_those_of_whole_characters() {
        assert_eq!(places("Ärger und ärger", "ärger"), [(0, 6), (11, 17)]);
        assert_eq!(places("abcabc", "bc"), [(1, 3), (4, 6)]);
        assert!(places("abc", "").is_empty());
    }
}
