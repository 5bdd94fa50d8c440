use proptest::prelude::*;

use super::*;

fn limits(lines: usize, bytes: usize) -> Limits {
    Limits { lines, bytes }
}

#[test]
fn the_head_keeps_whole_lines_within_both_limits() {
    use TruncatedBy::{Bytes, Lines};
    // text, lines, bytes -> content, by, output lines, total lines, first line too long
    let table = [
        ("", 2, 10, "", None, 0, 0, false),
        ("a\nb", 2, 10, "a\nb", None, 2, 2, false),
        ("a\nb\n", 2, 10, "a\nb\n", None, 2, 2, false),
        ("a\nb\nc\n", 2, 10, "a\nb", Some(Lines), 2, 3, false),
        ("aaaa\nbbbb\n", 9, 9, "aaaa\nbbbb", Some(Bytes), 2, 2, false),
        ("aaaa\nbbbb\n", 9, 8, "aaaa", Some(Bytes), 1, 2, false),
        ("aaaaa\nb", 9, 4, "", Some(Bytes), 0, 2, true),
        ("\n\n\n", 2, 10, "\n", Some(Lines), 2, 3, false),
    ];
    for (text, lines, bytes, content, by, output, total, too_long) in table {
        let got = head(text, limits(lines, bytes));
        assert_eq!(
            (got.content.as_str(), got.truncated_by, got.output_lines, got.total_lines, got.first_line_exceeds_limit),
            (content, by, output, total, too_long),
            "{text:?} {lines} {bytes}"
        );
        assert_eq!(got.truncated, by.is_some());
        assert_eq!((got.output_bytes, got.total_bytes), (content.len(), text.len()));
    }
}

#[test]
fn the_tail_keeps_whole_lines_or_the_end_of_the_last_one() {
    use TruncatedBy::{Bytes, Lines};
    let table = [
        ("", 2, 10, "", None, 0, 0, false),
        ("a\nb\n", 2, 10, "a\nb\n", None, 2, 2, false),
        ("a\nb\nc\n", 2, 10, "b\nc", Some(Lines), 2, 3, false),
        ("aaaa\nbbbb\n", 9, 8, "bbbb", Some(Bytes), 1, 2, false),
        ("aaaa\nbbbb\n", 9, 9, "aaaa\nbbbb", Some(Bytes), 2, 2, false),
        ("x\naaaaaa\n", 9, 4, "aaaa", Some(Bytes), 1, 2, true),
        ("abcdef", 9, 4, "cdef", Some(Bytes), 1, 1, true),
    ];
    for (text, lines, bytes, content, by, output, total, partial) in table {
        let got = tail(text, limits(lines, bytes));
        assert_eq!(
            (got.content.as_str(), got.truncated_by, got.output_lines, got.total_lines, got.last_line_partial),
            (content, by, output, total, partial),
            "{text:?} {lines} {bytes}"
        );
    }
}

#[test]
fn no_cut_splits_a_character_fc_025() {
    for limit in 1..12 {
        let text = format!("{}🙂é more", "a".repeat(limit));
        for bytes in 1..text.len() {
            let _ = tail(&text, limits(10, bytes));
            let _ = head(&text, limits(10, bytes));
            let _ = cut_to_units(&text, bytes);
            assert!(text.is_char_boundary(floor_char_boundary(&text, bytes)));
            assert!(text.is_char_boundary(ceil_char_boundary(&text, bytes)));
        }
    }
    assert_eq!(tail("a🙂", limits(10, 3)).content, "");
}

#[test]
fn units_count_as_utf_16_does() {
    assert_eq!(cut_to_units("abc", 3), None);
    assert_eq!(cut_to_units("abcd", 3), Some("abc"));
    assert_eq!(cut_to_units("ab🙂", 3), Some("ab"));
    assert_eq!(cut_to_units("ab🙂", 4), None);
    assert_eq!(cut_to_units("äöü", 3), None);
}

#[test]
fn sizes_read_as_people_write_them() {
    let table = [
        (0, "0B"),
        (1023, "1023B"),
        (1024, "1.0KB"),
        (51200, "50.0KB"),
        (60000, "58.6KB"),
        (120_000, "117.2KB"),
        (3 << 20, "3.0MB"),
    ];
    for (bytes, text) in table {
        assert_eq!(size(bytes), text);
    }
}

/// The lines of a text as people count them.
fn lines_of(text: &str) -> Vec<&str> {
    match text.strip_suffix('\n').unwrap_or(text) {
        "" if text.is_empty() => Vec::new(),
        body => body.split('\n').collect(),
    }
}

proptest! {
    #[test]
    fn heads_and_tails_are_the_most_whole_lines_that_fit(
        text in "[a\u{e9}\u{1f642}\n]{0,40}",
        lines in 1usize..8,
        bytes in 1usize..40,
    ) {
        let all = lines_of(&text);
        let fits = |part: &[&str]| part.len() <= lines && part.join("\n").len() <= bytes;
        let first = (0..=all.len()).rev().find(|count| fits(&all[..*count])).unwrap_or(0);
        let last = (0..=all.len()).rev().find(|count| fits(&all[all.len() - count..])).unwrap_or(0);
        let (head, tail) = (head(&text, limits(lines, bytes)), tail(&text, limits(lines, bytes)));
        for cut in [&head, &tail] {
            prop_assert_eq!((cut.total_lines, cut.total_bytes), (all.len(), text.len()));
            prop_assert_eq!(cut.output_bytes, cut.content.len());
            prop_assert_eq!(cut.truncated, cut.content != text);
            prop_assert!(cut.content.len() <= bytes);
        }
        if head.truncated {
            prop_assert_eq!(&head.content, &all[..first].join("\n"));
            prop_assert_eq!(head.first_line_exceeds_limit, first == 0);
        }
        if tail.truncated && last > 0 {
            prop_assert_eq!(&tail.content, &all[all.len() - last..].join("\n"));
        }
        if tail.truncated && last == 0 {
            prop_assert!(tail.last_line_partial && all[all.len() - 1].ends_with(&tail.content));
            prop_assert!(tail.content.len() + 3 >= bytes, "no more than a part of a character is missing");
        }
    }
}
