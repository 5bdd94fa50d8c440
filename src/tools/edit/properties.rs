//! Properties of edits, on files with all that files have: mixed line ends, a byte order mark, bytes that are no text.

use proptest::prelude::*;

use super::{
    matching::{Edit, plan},
    source::{Source, with_lf},
};

/// A line: what is before its name, what is behind, and how it ends.
type Line = (Vec<u8>, Vec<u8>, &'static [u8]);

fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => "[a-c ]{0,6}".prop_map(String::into_bytes),
        2 => "[\u{201c}\u{2019}\u{2014}\u{a0}\u{e9}\u{1f642}\u{fb01}]{1,3}[ \t]{0,2}".prop_map(String::into_bytes),
        1 => Just(b"\xff\xc3".to_vec()),
    ]
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let ending = prop_oneof![4 => Just(b"\n".as_slice()), 3 => Just(b"\r\n".as_slice()), 1 => Just(b"\r".as_slice())];
    prop::collection::vec((piece(), piece(), ending), 1..12)
}

/// The name of a line, which is nowhere else.
fn name(line: usize) -> String {
    format!("<{line}>")
}

fn file(lines: &[Line], marked: bool, ends: bool) -> Vec<u8> {
    let mut bytes = if marked { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
    for (at, (before, behind, ending)) in lines.iter().enumerate() {
        bytes.extend_from_slice(before);
        bytes.extend_from_slice(name(at).as_bytes());
        bytes.extend_from_slice(behind);
        bytes.extend_from_slice(if ends || at + 1 < lines.len() { ending } else { b"" });
    }
    bytes
}

fn apply(original: &[u8], edits: &[Edit<'_>]) -> Vec<u8> {
    let source = Source::new(original);
    source.replace(&plan(source.text(), edits).unwrap())
}

/// The text of a file with LF for all line ends.
fn text(bytes: &[u8]) -> String {
    with_lf(&String::from_utf8_lossy(bytes)).into_owned()
}

proptest! {
    #[test]
    fn exact_edits_change_the_text_as_replacing_does_and_no_other_byte(
        lines in lines(),
        marked in any::<bool>(),
        ends in any::<bool>(),
        chosen in prop::collection::btree_set(0usize..12, 1..4),
        new in "[x-z\n]{0,5}",
    ) {
        let original = file(&lines, marked, ends);
        let chosen: Vec<usize> = chosen.into_iter().filter(|line| *line < lines.len()).collect();
        let names: Vec<String> = chosen.iter().map(|line| name(*line)).collect();
        let edits: Vec<Edit<'_>> =
            names.iter().map(|name| Edit { old: name.as_str().into(), new: new.as_str().into() }).collect();
        let got = apply(&original, &edits);
        let wanted = names.iter().fold(text(&original), |text, name| text.replace(name, &new));
        prop_assert_eq!(text(&got), wanted);
        // With nothing put in, all other bytes are as they were, but for a line end that keeps two from becoming one.
        if new.is_empty() {
            let mut left = original;
            for name in &names {
                let at = memchr::memmem::find(&left, name.as_bytes()).unwrap();
                left.drain(at..at + name.len());
            }
            let without = |bytes: &[u8]| bytes.iter().copied().filter(|byte| *byte != b'\n').collect::<Vec<_>>();
            prop_assert_eq!(without(&got), without(&left));
        }
    }

    #[test]
    fn fuzzy_edits_leave_the_bytes_of_other_lines_alone(
        lines in lines(),
        marked in any::<bool>(),
        chosen in 0usize..12,
        new in "[x-z]{1,3}",
    ) {
        let chosen = chosen % lines.len();
        let mut lines = lines;
        // What looks like it is there: typographic quotes.
        let odd = format!("\u{201c}q{chosen}\u{201d}");
        lines[chosen].0.extend_from_slice(odd.as_bytes());
        let original = file(&lines, marked, true);
        let looked_for = format!("\"q{chosen}\"");
        let got = apply(&original, &[Edit { old: looked_for.as_str().into(), new: new.as_str().into() }]);
        let start = file(&lines[..chosen], marked, true);
        prop_assert!(got.starts_with(&start));
        let mut end = Vec::new();
        for (at, (before, behind, ending)) in lines.iter().enumerate().skip(chosen + 1) {
            end.extend([before.as_slice(), name(at).as_bytes(), behind, ending].concat());
        }
        prop_assert!(got.ends_with(&end));
        let line = &got[start.len()..got.len() - end.len()];
        prop_assert!(line.ends_with(lines[chosen].2));
        let line = String::from_utf8_lossy(line);
        prop_assert!(line.contains(&new) && line.contains(&name(chosen)) && !line.contains(&looked_for), "{line:?}");
    }
}
