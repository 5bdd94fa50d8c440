//! Where edits apply in a text.
//!
//! All edits are looked for in the text as it was. If each is found exactly, the found places are replaced. If one is
//! not, all are looked for where texts are alike that look alike (see [`super::fuzzy`]), and the lines that they touch
//! are replaced as a whole. Either way each text must occur only once, counted among what looks alike: an exact match
//! beside one that looks the same is a match too many.

use std::borrow::Cow;

use super::{
    fuzzy::normalize,
    source::{Replacement, with_lf},
};
use crate::tools::truncate::count_newlines;

/// A text and what shall stand in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit<'a> {
    /// The text to find.
    pub old: Cow<'a, str>,
    /// Its replacement.
    pub new: Cow<'a, str>,
}

/// Why edits do not apply. Edits are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditError {
    /// An edit looks for nothing.
    Empty(usize),
    /// An edit's text is not there.
    NotFound(usize),
    /// An edit's text is there more than once.
    Ambiguous {
        /// Which edit.
        edit: usize,
        /// How often.
        count: usize,
        /// The lines where it begins, counted from 1: the first few.
        lines: Vec<usize>,
    },
    /// Two edits change the same place.
    Overlap(usize, usize),
}

/// Lines that an error names at most.
const LINES_NAMED: usize = 5;

/// The places of `text` that the edits replace, in order.
///
/// # Errors
/// When an edit does not apply to exactly one place, or two apply to the same.
pub fn plan(text: &str, edits: &[Edit<'_>]) -> Result<Vec<Replacement>, EditError> {
    if let Some(empty) = edits.iter().position(|edit| edit.old.is_empty()) {
        return Err(EditError::Empty(empty));
    }
    let wanted: Vec<(Cow<'_, str>, Cow<'_, str>)> =
        edits.iter().map(|edit| (with_lf(&edit.old), with_lf(&edit.new))).collect();
    let exact: Option<Vec<usize>> = wanted.iter().map(|(old, _)| text.find(old.as_ref())).collect();
    let fuzzy = normalize(text);
    let places = match &exact {
        Some(starts) => starts.iter().zip(&wanted).map(|(start, (old, _))| (*start, old.len())).collect(),
        None => fuzzy_places(&fuzzy, &wanted)?,
    };
    for (edit, (old, _)) in wanted.iter().enumerate() {
        let base = if exact.is_some() { text } else { &fuzzy };
        check_unique(edit, old, base, &fuzzy)?;
    }
    let mut found: Vec<(usize, Replacement)> = places
        .into_iter()
        .zip(wanted)
        .map(|((start, len), (_, new))| Replacement { start, end: start + len, new: new.into_owned() })
        .enumerate()
        .collect();
    found.sort_by_key(|(_, replacement)| replacement.start);
    for pair in found.windows(2) {
        let [(first, before), (second, after)] = pair else { continue };
        if before.end > after.start {
            return Err(EditError::Overlap(*first.min(second), *first.max(second)));
        }
    }
    let replacements: Vec<Replacement> = found.into_iter().map(|(_, replacement)| replacement).collect();
    Ok(if exact.is_some() { replacements } else { widen(text, &fuzzy, &replacements) })
}

/// Start and length of each edit's text in the fuzzy text: as it is written, or else as it looks.
fn fuzzy_places(fuzzy: &str, wanted: &[(Cow<'_, str>, Cow<'_, str>)]) -> Result<Vec<(usize, usize)>, EditError> {
    wanted
        .iter()
        .enumerate()
        .map(|(edit, (old, _))| {
            let looked_for = normalize(old);
            let as_written = fuzzy.find(old.as_ref()).map(|start| (start, old.len()));
            let as_it_looks = || fuzzy.find(looked_for.as_ref()).map(|start| (start, looked_for.len()));
            as_written
                .or_else(|| if looked_for.is_empty() { None } else { as_it_looks() })
                .ok_or(EditError::NotFound(edit))
        })
        .collect()
}

fn check_unique(edit: usize, old: &str, base: &str, fuzzy: &str) -> Result<(), EditError> {
    let looked_for = normalize(old);
    let mut found = if looked_for.is_empty() { Occurrences::default() } else { occurrences(fuzzy, &looked_for) };
    if found.count == 0 {
        // Blanks alone are nothing among what looks alike, and what is exact may look like a part of something else.
        found = occurrences(base, old);
    }
    match found {
        Occurrences { count: 0 | 1, .. } => Ok(()),
        Occurrences { count, lines } => Err(EditError::Ambiguous { edit, count, lines }),
    }
}

#[derive(Default)]
struct Occurrences {
    count: usize,
    /// The lines of the first few, counted from 1.
    lines: Vec<usize>,
}

fn occurrences(text: &str, pattern: &str) -> Occurrences {
    let mut places = text.match_indices(pattern).map(|(place, _)| place);
    let first: Vec<usize> = places.by_ref().take(LINES_NAMED).collect();
    let count = first.len() + places.count();
    // The usual single one needs no line.
    let named = if count > 1 { first } else { Vec::new() };
    let lines = named.into_iter().map(|place| count_newlines(&text.as_bytes()[..place]) + 1).collect();
    Occurrences { count, lines }
}

/// Replacements in the fuzzy text as replacements of whole lines of the text. Lines that no edit touches are not
/// part of them.
fn widen(text: &str, fuzzy: &str, replacements: &[Replacement]) -> Vec<Replacement> {
    let text_lines = line_starts(text);
    let fuzzy_lines = line_starts(fuzzy);
    let mut wide: Vec<Replacement> = Vec::new();
    let mut group: Option<Group> = None;
    for replacement in replacements {
        let lines = touched_lines(&fuzzy_lines, fuzzy.len(), replacement);
        match &mut group {
            Some(open) if lines.0 < open.end_line => open.end_line = open.end_line.max(lines.1),
            _ => {
                wide.extend(group.take().map(|group| group.replacement(text, fuzzy, &text_lines, &fuzzy_lines)));
                group = Some(Group { first_line: lines.0, end_line: lines.1, inner: Vec::new() });
            }
        }
        if let Some(open) = &mut group {
            open.inner.push(replacement);
        }
    }
    wide.extend(group.map(|group| group.replacement(text, fuzzy, &text_lines, &fuzzy_lines)));
    wide
}

/// Replacements that share lines.
struct Group<'a> {
    first_line: usize,
    /// The first line after them.
    end_line: usize,
    inner: Vec<&'a Replacement>,
}

impl Group<'_> {
    /// The lines of the group in the text, and what becomes of them: their fuzzy form with the replacements in it.
    fn replacement(&self, text: &str, fuzzy: &str, text_lines: &[usize], fuzzy_lines: &[usize]) -> Replacement {
        let end = |lines: &[usize], whole: &str| lines.get(self.end_line).copied().unwrap_or(whole.len());
        let fuzzy_end = end(fuzzy_lines, fuzzy);
        let mut new = String::new();
        let mut done = fuzzy_lines[self.first_line];
        for inner in &self.inner {
            new.push_str(&fuzzy[done..inner.start]);
            new.push_str(&inner.new);
            done = inner.end;
        }
        let rest = &fuzzy[done..fuzzy_end];
        // The ending of the last line stays as it is, unless it is part of what was found.
        let kept_ending = usize::from(rest.ends_with('\n'));
        new.push_str(&rest[..rest.len() - kept_ending]);
        Replacement { start: text_lines[self.first_line], end: end(text_lines, text) - kept_ending, new }
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(place, _)| place + 1)).collect()
}

/// The first line that a replacement touches, and the first after those.
fn touched_lines(lines: &[usize], len: usize, replacement: &Replacement) -> (usize, usize) {
    let line_of = |place: usize| lines.partition_point(|start| *start <= place) - 1;
    let last_touched = replacement.end.saturating_sub(1).max(replacement.start).min(len);
    (line_of(replacement.start), line_of(last_touched) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Old and new texts.
    type Pairs<'a> = &'a [(&'a str, &'a str)];

    fn edits<'a>(pairs: Pairs<'a>) -> Vec<Edit<'a>> {
        pairs.iter().map(|(old, new)| Edit { old: (*old).into(), new: (*new).into() }).collect()
    }

    fn applied(text: &str, pairs: Pairs<'_>) -> Result<String, EditError> {
        let mut out = String::new();
        let mut done = 0;
        for replacement in plan(text, &edits(pairs))? {
            out.push_str(&text[done..replacement.start]);
            out.push_str(&replacement.new);
            done = replacement.end;
        }
        Ok(out + &text[done..])
    }

    #[test]
    fn exact_matches_are_replaced_and_nothing_else() {
        let table: &[(&str, Pairs<'_>, &str)] = &[
            ("a\nb\nc\n", &[("b", "B")], "a\nB\nc\n"),
            ("a\nb\nc\n", &[("c", "C"), ("a", "A")], "A\nb\nC\n"),
            ("a\nb\nc\n", &[("a\n", ""), ("b\n", "B\n")], "B\nc\n"),
            ("a\nb\n", &[("a\r\nb", "x\r\ny")], "x\ny\n"),
            ("a  \n\u{2014}b", &[("b", "B")], "a  \n\u{2014}B"),
            ("x   y", &[("   ", " ")], "x y"),
            ("cafe\u{301}", &[("cafe", "tea")], "tea\u{301}"),
        ];
        for (text, pairs, wanted) in table {
            assert_eq!(applied(text, pairs).as_deref(), Ok(*wanted), "{text:?} {pairs:?}");
        }
    }

    #[test]
    fn what_looks_alike_is_found_and_only_its_lines_are_rewritten_fc_048() {
        let table: &[(&str, Pairs<'_>, &str)] = &[
            (
                "say \u{201c}hi\u{201d}  \nb\nc\nit\u{2019}s x\n",
                &[("it's x", "it is y")],
                "say \u{201c}hi\u{201d}  \nb\nc\nit is y\n",
            ),
            (
                "keep  \nfn a() {   \n  x\u{2014}y\n}\nlast\t\n",
                &[("fn a() {\n  x-y\n}", "fn b() {}")],
                "keep  \nfn b() {}\nlast\t\n",
            ),
            // The rest of a touched line is rewritten, too.
            ("\u{201c}q\u{201d} it\u{2019}s  \nz\u{2014}", &[("it's", "IT")], "\"q\" IT\nz\u{2014}"),
            // Two edits in one line; one exact edit among fuzzy ones.
            ("a\u{2014}b c\u{2014}d  \ne  \n", &[("a-b", "1"), ("c-d", "2")], "1 2\ne  \n"),
            ("a\u{2014}b\nplain  \n", &[("a-b", "1"), ("plain", "2")], "1\n2\n"),
            // The match ends a line: the next one is joined, with its own bytes.
            ("a\u{2014}b\nnext\u{2014}  \n", &[("a-b\n", "1 ")], "1 next\u{2014}  \n"),
            ("a\u{2014}b\nc\u{2014}d\ne", &[("a-b\n", "1\n"), ("c-d", "2")], "1\n2\ne"),
            ("x\u{a0}y", &[("x y", "z")], "z"),
        ];
        for (text, pairs, wanted) in table {
            assert_eq!(applied(text, pairs).as_deref(), Ok(*wanted), "{text:?} {pairs:?}");
        }
    }

    #[test]
    fn what_does_not_apply_to_one_place_is_refused_fc_049() {
        let ambiguous = |edit, count, lines: &[usize]| EditError::Ambiguous { edit, count, lines: lines.into() };
        let table: &[(&str, Pairs<'_>, EditError)] = &[
            ("a", &[("a", "b"), ("", "x")], EditError::Empty(1)),
            ("a", &[("b", "x")], EditError::NotFound(0)),
            ("a", &[("a", "x"), ("q", "x")], EditError::NotFound(1)),
            ("x\ny\nx\n", &[("x", "z")], ambiguous(0, 2, &[1, 3])),
            ("[a]\n  retries = 3\n[b]\n  retries = 3\n", &[("  retries = 3", "")], ambiguous(0, 2, &[2, 4])),
            // One exact, one that looks the same.
            ("it's\nit\u{2019}s\n", &[("it's", "x")], ambiguous(0, 2, &[1, 2])),
            ("  \n  ", &[("  ", "x")], ambiguous(0, 2, &[1, 2])),
            ("aaaaaaa", &[("a", "x")], ambiguous(0, 7, &[1, 1, 1, 1, 1])),
            ("x\ny\nz\n", &[("y\nz", "1"), ("x\ny", "2")], EditError::Overlap(0, 1)),
            ("abc", &[("b", "1"), ("abc", "2")], EditError::Overlap(0, 1)),
            ("a\u{2014}b", &[("a-", "1"), ("-b", "2")], EditError::Overlap(0, 1)),
            ("a", &[("   ", "x")], EditError::NotFound(0)),
        ];
        for (text, pairs, wanted) in table {
            assert_eq!(applied(text, pairs), Err(wanted.clone()), "{text:?} {pairs:?}");
        }
    }
}
