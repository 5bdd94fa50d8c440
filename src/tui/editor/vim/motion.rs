//! Where motions lead.

use std::ops::Range;

use super::parse::{Find, Motion, Way};
use crate::tui::editor::{
    Text,
    words::{Kind, kind_of},
};

/// What a motion passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The characters between both ends.
    Between,
    /// And the one at the end as well.
    Including,
    /// Whole lines.
    Lines,
}

impl Way {
    /// What is passed on this way.
    pub fn extent(self) -> Extent {
        match self {
            Self::Up | Self::Down | Self::Line | Self::LastLine => Extent::Lines,
            Self::WordEnd | Self::Find(Find { backward: false, .. }) => Extent::Including,
            _ => Extent::Between,
        }
    }
}

/// Where a motion leads from an offset; none where it cannot be gone. Up and down go by lines.
pub fn target(text: &Text, from: usize, motion: Motion) -> Option<usize> {
    let number = text.line_of(from);
    let line = text.line(number);
    let repeated = |step: &dyn Fn(usize) -> usize| {
        (0..motion.count)
            .try_fold(from, |at, _| {
                let next = step(at);
                if next == at { Err(at) } else { Ok(next) }
            })
            .unwrap_or_else(|at| at)
    };
    Some(match motion.way {
        Way::Left => repeated(&|at| if at == line.start { at } else { text.previous(at) }),
        Way::Right => repeated(&|at| if at == line.end { at } else { text.next(at) }),
        Way::Up => text.line(number.checked_sub(motion.count)?).start,
        Way::Down => text.line(Some(number + motion.count).filter(|line| *line < text.lines())?).start,
        Way::WordForward => repeated(&|at| word_forward(text, at)),
        Way::WordBackward => repeated(&|at| word_backward(text, at)),
        Way::WordEnd => repeated(&|at| word_end(text, at)),
        Way::LineStart => line.start,
        Way::FirstNonBlank => first_non_blank(text, number),
        Way::LineEnd => text.line((number + motion.count - 1).min(text.lines() - 1)).end,
        Way::Line => first_non_blank(text, (motion.count - 1).min(text.lines() - 1)),
        Way::LastLine => first_non_blank(text, text.lines() - 1),
        Way::Find(find) => found(text, from, line, find, motion.count)?,
    })
}

/// The first character of a line that is no blank, or its last blank.
pub fn first_non_blank(text: &Text, line: usize) -> usize {
    let line = text.line(line);
    let blanks = text.as_str()[line.clone()].find(|character: char| !character.is_whitespace());
    blanks.map_or(line.end, |blanks| line.start + blanks)
}

/// The kind of the character behind an offset; none at the end.
fn kind_at(text: &Text, at: usize) -> Option<Kind> {
    (at < text.len()).then(|| kind_of(text, at, text.next(at)))
}

fn word_forward(text: &Text, from: usize) -> usize {
    let mut at = from;
    let of = kind_at(text, at);
    while of != Some(Kind::Blank) && at < text.len() && kind_at(text, at) == of {
        at = text.next(at);
    }
    while kind_at(text, at) == Some(Kind::Blank) {
        at = text.next(at);
    }
    at
}

fn word_backward(text: &Text, from: usize) -> usize {
    let before = |at: usize| (at > 0).then(|| kind_of(text, text.previous(at), at));
    let mut at = from;
    while before(at) == Some(Kind::Blank) {
        at = text.previous(at);
    }
    let of = before(at);
    while at > 0 && before(at) == of {
        at = text.previous(at);
    }
    at
}

fn word_end(text: &Text, from: usize) -> usize {
    let mut at = text.next(from);
    while kind_at(text, at) == Some(Kind::Blank) {
        at = text.next(at);
    }
    if at >= text.len() {
        return from;
    }
    let of = kind_at(text, at);
    while kind_at(text, text.next(at)) == of {
        at = text.next(at);
    }
    at
}

fn found(text: &Text, from: usize, line: Range<usize>, find: Find, count: usize) -> Option<usize> {
    let whole = text.as_str();
    let is_edge = |at: &usize| text.edge(*at) == *at;
    if find.backward {
        let places = whole[line.start..from].rmatch_indices(find.character).map(|(at, _)| line.start + at);
        let at = places.filter(is_edge).nth(count - 1)?;
        Some(if find.till { text.next(at) } else { at })
    } else {
        let start = text.next(from).min(line.end);
        let places = whole[start..line.end].match_indices(find.character).map(|(at, _)| start + at);
        let at = places.filter(is_edge).nth(count - 1)?;
        Some(if find.till { text.previous(at) } else { at })
    }
}
