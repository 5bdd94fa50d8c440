//! Where a conversation is cut: what is summarised, and what stays as it is.

use std::ops::Range;

/// What an entry of the context is to the cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Begins a turn: words of a user, of an extension, of a summary, or a shell record.
    Start,
    /// A model's answer.
    Answer,
    /// A tool's result: never parted from its call.
    Result,
    /// Prompt and tools.
    System,
    /// Shows no message.
    Silent,
    /// A model's failed answer that was left out of the context.
    Omitted,
    /// Shows no message, and changes what others show.
    Edit,
}

/// An entry of the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub role: Role,
    /// Estimated tokens of what it shows.
    pub tokens: u64,
}

/// A cut, by places of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Whole turns that are summarised.
    pub history: Range<usize>,
    /// The beginning of a turn whose end stays: summarised apart. Empty when the cut falls between turns.
    pub prefix: Range<usize>,
    /// The first part that stays.
    pub kept: usize,
}

/// Cuts so that about `keep` tokens of the newest parts stay. None when there is nothing to summarise.
#[must_use]
pub fn cut(parts: &[Part], keep: u64) -> Option<Cut> {
    let may_begin = |at: &usize| matches!(parts[*at].role, Role::Start | Role::Answer);
    let first = (0..parts.len()).find(may_begin)?;
    let reached = budget_end(parts, keep);
    let begin = match reached {
        // Results that fill the budget by themselves keep the call that they belong to.
        Some(from) => (from..parts.len()).find(may_begin).or_else(|| (first..from).rev().find(may_begin))?,
        None => first,
    };
    let mut kept = begin;
    if reached.is_some() && is_failed_attempt(&parts[begin + 1..]) {
        // What the failed attempt could not read is summarised, too: it would not fit the next time either.
        kept += 1;
    } else {
        while kept > 0 && matches!(parts[kept - 1].role, Role::Silent | Role::Omitted | Role::Edit) {
            kept -= 1;
        }
    }
    let turn = match parts[begin].role {
        Role::Start if kept <= begin => None,
        _ => (0..kept).rev().find(|at| parts[*at].role == Role::Start),
    };
    let split = turn.unwrap_or(kept);
    let cut = Cut { history: 0..split, prefix: split..kept, kept };
    let says = |range: &Range<usize>| {
        parts[range.clone()].iter().any(|part| matches!(part.role, Role::Start | Role::Answer | Role::Result))
    };
    (says(&cut.history) || says(&cut.prefix)).then_some(cut)
}

/// The newest place from which on the parts have `keep` tokens; none when all of them have fewer.
fn budget_end(parts: &[Part], keep: u64) -> Option<usize> {
    let mut sum = 0u64;
    let counted = parts.iter().enumerate().rev().filter(|(_, part)| part.tokens > 0);
    for (at, part) in counted {
        sum = sum.saturating_add(part.tokens);
        if sum >= keep {
            return Some(at);
        }
    }
    None
}

/// Whether a tail shows nothing and holds an attempt that was left out: a recovery is under way.
fn is_failed_attempt(tail: &[Part]) -> bool {
    tail.iter().all(|part| matches!(part.role, Role::Silent | Role::Omitted))
        && tail.iter().any(|part| part.role == Role::Omitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts in words: a letter for the role (`u`ser, `a`nswer, `r`esult, `s`ystem, `-` silent, `o`mitted, `e`dit) and
    /// the tokens.
    fn parts(words: &str) -> Vec<Part> {
        let part = |word: &str| {
            let role = match &word[..1] {
                "u" => Role::Start,
                "a" => Role::Answer,
                "r" => Role::Result,
                "s" => Role::System,
                "-" => Role::Silent,
                "o" => Role::Omitted,
                "e" => Role::Edit,
                other => panic!("{other}"),
            };
            Part { role, tokens: word[1..].parse().unwrap_or(0) }
        };
        words.split_whitespace().map(part).collect()
    }

    /// The parts with `[` before the first that stays and `|` before a prefix.
    fn shown(words: &str, keep: u64) -> String {
        let Some(cut) = cut(&parts(words), keep) else { return "nothing".into() };
        assert_eq!((cut.history.start, cut.history.end, cut.prefix.end), (0, cut.prefix.start, cut.kept));
        let mut out = Vec::new();
        for (at, word) in words.split_whitespace().enumerate() {
            let split = if at == cut.prefix.start && !cut.prefix.is_empty() { "|" } else { "" };
            let kept = if at == cut.kept { "[" } else { "" };
            out.push(format!("{split}{kept}{word}"));
        }
        if cut.kept == out.len() {
            out.push("[".into());
        }
        out.join(" ")
    }

    #[test]
    fn the_cut_falls_before_a_user_or_an_answer_and_never_between_a_call_and_its_result() {
        let table = [
            // Between turns.
            ("s9 u10 a10 u10 a10", 15, "s9 u10 a10 [u10 a10"),
            ("u10 a10 u10 a10", 10, "u10 a10 |u10 [a10"),
            // Entries without messages stay with what they stand before.
            ("u10 a10 - - u10 a10", 20, "u10 a10 [- - u10 a10"),
            // Inside a turn: its beginning is summarised apart.
            ("u1 a1 u5 a5 r50 a5 r50 a5", 60, "u1 a1 |u5 a5 r50 [a5 r50 a5"),
            ("u5 a5 r50 a5 r50 a5", 60, "|u5 a5 r50 [a5 r50 a5"),
            // The budget ends at a result: the next answer begins, or the last call when there is none.
            ("u0 a750 u1 a1 r600 r600 r600 a1", 1000, "u0 a750 |u1 a1 r600 r600 r600 [a1"),
            ("u1 a1 u1 a1 r600 r600", 1000, "u1 a1 |u1 [a1 r600 r600"),
            // All of it fits.
            ("s9 u10 a10 u10 a10", 1000, "nothing"),
            ("- - s9 u10", 5, "nothing"),
            ("- s9", 0, "nothing"),
            ("", 0, "nothing"),
            // Only results: no place to cut.
            ("r10 r10", 5, "nothing"),
        ];
        for (words, keep, expected) in table {
            assert_eq!(shown(words, keep), expected, "{words} keep {keep}");
        }
    }

    #[test]
    fn what_made_the_window_overflow_is_summarised_when_it_is_all_that_would_stay() {
        let table = [
            ("u10 a10 u900 o -", 200, "u10 a10 |u900 [o -"),
            ("u900 o -", 200, "|u900 [o -"),
            // Below the budget it stays.
            ("u10 a10 u90 o -", 95, "|u10 [a10 u90 o -"),
            // An edit of something else is no recovery.
            ("u10 a10 u900 o e", 200, "u10 a10 [u900 o e"),
            ("u10 a10 u900 -", 200, "u10 a10 [u900 -"),
        ];
        for (words, keep, expected) in table {
            assert_eq!(shown(words, keep), expected, "{words} keep {keep}");
        }
    }

    #[test]
    fn whatever_the_parts_the_cut_keeps_calls_with_results_and_tells_all_parts_once() {
        use proptest::prelude::*;
        let roles = prop::sample::select(vec![
            Role::Start,
            Role::Answer,
            Role::Result,
            Role::System,
            Role::Silent,
            Role::Omitted,
            Role::Edit,
        ]);
        let part = (roles, 0u64..40).prop_map(|(role, tokens)| Part { role, tokens });
        proptest!(|(parts in prop::collection::vec(part, 0..24), keep in 0u64..200)| {
            if let Some(cut) = cut(&parts, keep) {
                prop_assert_eq!(cut.history.start, 0);
                prop_assert_eq!(cut.history.end, cut.prefix.start);
                prop_assert_eq!(cut.prefix.end, cut.kept);
                prop_assert!(cut.kept > 0);
                let first = parts[cut.kept..].iter().find(|part| {
                    matches!(part.role, Role::Start | Role::Answer | Role::Result)
                });
                prop_assert!(first.is_none_or(|part| part.role != Role::Result));
            }
        });
    }
}
