//! Differences between two texts, for people and for programs.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

/// Lines around a change that are shown.
const CONTEXT: usize = 4;
/// A difference that takes longer to find is shown in coarser pieces.
const PATIENCE: Duration = Duration::from_millis(200);

/// What changed between two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// For people: lines with their numbers, `+`, `-` or a blank before them, and `...` for what is left out.
    pub display: String,
    /// For programs: a unified diff with file headers.
    pub patch: String,
    /// The first line that changed, counted from 1 in the new text.
    pub first_changed_line: usize,
}

/// The difference between two texts of the file `path`; none when there is none.
pub fn diff(path: &str, old: &str, new: &str) -> Option<Diff> {
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let ops = operations(&old_lines, &new_lines);
    let first_changed_line = ops.iter().find(|op| !matches!(op, DiffOp::Equal { .. }))?.new_range().start + 1;
    let hunks = group_diff_ops(ops, CONTEXT);
    let texts = Texts { old: &old_lines, new: &new_lines };
    Some(Diff { display: texts.display(&hunks), patch: texts.patch(path, &hunks), first_changed_line })
}

/// What makes the new lines of the old ones. What is the same at the beginning and at the end is no matter for a search.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = rest.take_while(|(old, new)| old == new).count();
    let (old_end, new_end) = (old.len() - end, new.len() - end);
    let same = |old_index, new_index, len| (len > 0).then_some(DiffOp::Equal { old_index, new_index, len });
    let deadline = Instant::now().checked_add(PATIENCE);
    let between = capture_diff_slices_deadline(Algorithm::Myers, &old[start..old_end], &new[start..new_end], deadline);
    let shifted = between.into_iter().map(|op| shift(op, start));
    same(0, 0, start).into_iter().chain(shifted).chain(same(old_end, new_end, end)).collect()
}

/// An operation that stands this many lines later in both texts.
fn shift(mut op: DiffOp, lines: usize) -> DiffOp {
    match &mut op {
        DiffOp::Equal { old_index, new_index, .. }
        | DiffOp::Delete { old_index, new_index, .. }
        | DiffOp::Insert { old_index, new_index, .. }
        | DiffOp::Replace { old_index, new_index, .. } => {
            *old_index += lines;
            *new_index += lines;
        }
    }
    op
}

struct Texts<'a> {
    old: &'a [&'a str],
    new: &'a [&'a str],
}

impl Texts<'_> {
    fn display(&self, hunks: &[Vec<DiffOp>]) -> String {
        // A newline at the end counts as the beginning of another line, as in editors.
        let lines_shown_by_editors =
            |lines: &[&str]| lines.len() + usize::from(lines.last().is_none_or(|last| last.ends_with('\n')));
        let width = lines_shown_by_editors(self.old).max(lines_shown_by_editors(self.new)).to_string().len();
        let mut out = Vec::new();
        let gap = || format!(" {:width$} ...", "");
        let mut shown = 0;
        for hunk in hunks {
            if hunk.first().is_some_and(|op| op.old_range().start > shown) {
                out.push(gap());
            }
            self.each_line(hunk, |sign, number, line| {
                out.push(format!("{sign}{number:>width$} {}", line.strip_suffix('\n').unwrap_or(line)));
            });
            shown = hunk.last().map_or(shown, |op| op.old_range().end);
        }
        if shown < self.old.len() {
            out.push(gap());
        }
        out.join("\n")
    }

    fn patch(&self, path: &str, hunks: &[Vec<DiffOp>]) -> String {
        let mut out = format!("--- {path}\n+++ {path}\n");
        for hunk in hunks {
            let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
            let old = first.old_range().start..last.old_range().end;
            let new = first.new_range().start..last.new_range().end;
            // An empty range names the line before it.
            let start = |range: &std::ops::Range<usize>| range.start + usize::from(!range.is_empty());
            let _ = writeln!(out, "@@ -{},{} +{},{} @@", start(&old), old.len(), start(&new), new.len());
            self.each_line(hunk, |sign, _, line| {
                let _ = write!(out, "{sign}{line}");
                if !line.ends_with('\n') {
                    out.push_str("\n\\ No newline at end of file\n");
                }
            });
        }
        out
    }

    /// Calls `line` with sign, number and text of each line of a hunk. Lines that stay have their old number.
    fn each_line(&self, hunk: &[DiffOp], mut line: impl FnMut(char, usize, &str)) {
        for op in hunk {
            if let DiffOp::Equal { .. } = op {
                op.old_range().for_each(|at| line(' ', at + 1, self.old[at]));
            } else {
                op.old_range().for_each(|at| line('-', at + 1, self.old[at]));
                op.new_range().for_each(|at| line('+', at + 1, self.new[at]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(range: std::ops::RangeInclusive<usize>) -> String {
        range.map(|n| format!("l{n}\n")).collect()
    }

    #[test]
    fn changes_are_shown_with_context_numbers_and_gaps() {
        let old = numbered(1..=30);
        let new = old.replace("l10\n", "X\n").replace("l25\n", "Y\nZ\n");
        let got = diff("f", &old, &new).unwrap();
        assert_eq!(got.first_changed_line, 10);
        assert_eq!(
            got.display,
            "    ...\n  6 l6\n  7 l7\n  8 l8\n  9 l9\n-10 l10\n+10 X\n 11 l11\n 12 l12\n 13 l13\n 14 l14\n    ...\n \
             21 l21\n 22 l22\n 23 l23\n 24 l24\n-25 l25\n+25 Y\n+26 Z\n 26 l26\n 27 l27\n 28 l28\n 29 l29\n    ..."
        );
        assert_eq!(
            got.patch,
            "--- f\n+++ f\n@@ -6,9 +6,9 @@\n l6\n l7\n l8\n l9\n-l10\n+X\n l11\n l12\n l13\n l14\n@@ -21,9 +21,10 @@\n \
             l21\n l22\n l23\n l24\n-l25\n+Y\n+Z\n l26\n l27\n l28\n l29\n"
        );
    }

    #[test]
    fn beginnings_ends_and_missing_newlines_are_shown() {
        let table = [
            ("", "a\n", "+1 a", "@@ -0,0 +1,1 @@\n+a\n", 1),
            ("a\n", "", "-1 a", "@@ -1,1 +0,0 @@\n-a\n", 1),
            ("a", "a\n", "-1 a\n+1 a", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n", 1),
            ("a\nb\n", "a\nb\nc", " 1 a\n 2 b\n+3 c", "@@ -1,2 +1,3 @@\n a\n b\n+c\n\\ No newline at end of file\n", 3),
            ("a\nb\n", "b\n", "-1 a\n 2 b", "@@ -1,2 +1,1 @@\n-a\n b\n", 1),
        ];
        for (old, new, display, hunks, first) in table {
            let got = diff("dir/f", old, new).unwrap();
            assert_eq!(got.display, display, "{old:?} {new:?}");
            assert_eq!(got.patch, format!("--- dir/f\n+++ dir/f\n{hunks}"), "{old:?} {new:?}");
            assert_eq!(got.first_changed_line, first);
        }
        assert_eq!(diff("f", "same\n", "same\n"), None);
    }
}
