//! The two sides of a unified diff of one file. Pure.

/// A piece of a file before and after a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// The line of the new file that it begins with, from 1.
    pub line: Option<u32>,
    /// What was there.
    pub old: String,
    /// What is there now.
    pub new: String,
}

/// The pieces of a patch. Lines that belong to none are passed over.
pub(super) fn hunks(patch: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    // Sides that the line before was on: what follows may say that it has no end.
    let mut sides = (false, false);
    for line in patch.split_inclusive('\n') {
        if let Some(rest) = line.strip_prefix("@@ ") {
            hunks.push(Hunk { line: first_line(rest), ..Hunk::default() });
            continue;
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        if line.starts_with('\\') {
            for (on, text) in [(sides.0, &mut hunk.old), (sides.1, &mut hunk.new)] {
                if on && text.ends_with('\n') {
                    text.pop();
                }
            }
            continue;
        }
        sides = match line.as_bytes().first() {
            Some(b'-') => (true, false),
            Some(b'+') => (false, true),
            Some(b' ') => (true, true),
            _ => (false, false),
        };
        if sides.0 {
            hunk.old.push_str(&line[1..]);
        }
        if sides.1 {
            hunk.new.push_str(&line[1..]);
        }
    }
    hunks
}

/// `3` of `-1,2 +3,4 @@`. A piece that leaves nothing begins behind a line that may be none.
fn first_line(header: &str) -> Option<u32> {
    let new = header.split_whitespace().find_map(|word| word.strip_prefix('+'))?;
    let line: u32 = new.split(',').next()?.parse().ok()?;
    Some(line.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::diff::diff;

    #[test]
    fn a_patch_gives_back_what_was_changed() {
        let table = [
            ("a\nb\nc\n", "a\nB\nc\n"),
            ("a\nb", "a\nb\n"),
            ("a", "b"),
            ("", "new\n"),
            ("--- x\n+++ y\n", "--- x\n"),
            ("gone\n", ""),
        ];
        for (old, new) in table {
            let patch = diff("f", old, new).unwrap().patch;
            let hunks = hunks(&patch);
            assert_eq!(hunks.len(), 1, "{patch}");
            assert_eq!((hunks[0].old.as_str(), hunks[0].new.as_str()), (old, new), "{patch}");
            assert_eq!(hunks[0].line, Some(1));
        }
    }

    #[test]
    fn changes_far_apart_are_pieces_with_their_lines() {
        let old: String = (1..=40).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n5\n", "\nfive\n").replace("\n30\n", "\nthirty\n");
        let hunks = hunks(&diff("f", &old, &new).unwrap().patch);
        assert_eq!(hunks.iter().map(|hunk| hunk.line).collect::<Vec<_>>(), [Some(1), Some(26)]);
        assert!(hunks[1].old.contains("30\n") && hunks[1].new.contains("thirty\n"));
        assert!(super::hunks("no patch at all").is_empty());
    }
}
