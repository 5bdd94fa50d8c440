use proptest::prelude::*;
use ratatui::style::{Modifier, Style};

use super::*;

fn texts(rows: &[StyledLine]) -> Vec<String> {
    rows.iter().map(StyledLine::text).collect()
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    texts(&wrap(&StyledLine::of(text.to_owned(), Style::new()), width, &Hang::default()))
}

fn folded(text: &str, width: usize) -> Vec<String> {
    texts(&fold(&StyledLine::of(text.to_owned(), Style::new()), width, &Hang::default()))
}

#[test]
fn lines_are_broken_between_words() {
    let table: [(&str, usize, &[&str]); 14] = [
        ("", 5, &[""]),
        ("one two", 7, &["one two"]),
        ("one two", 6, &["one", "two"]),
        ("one  two", 5, &["one", "two"]),
        ("  in", 10, &["  in"]),
        ("one   ", 3, &["one"]),
        ("abcdefgh", 3, &["abc", "def", "gh"]),
        ("a abcdefgh b", 4, &["a", "abcd", "efgh", "b"]),
        ("日本語です", 4, &["日本", "語で", "す"]),
        ("日本。", 4, &["日", "本。"]),
        ("「日本", 4, &["「日", "本"]),
        ("ab日本", 4, &["ab日", "本"]),
        ("한국어 말", 6, &["한국어", "말"]),
        ("👩\u{200d}👧👩\u{200d}👧", 3, &["👩\u{200d}👧", "👩\u{200d}👧"]),
    ];
    for (text, width, rows) in table {
        assert_eq!(wrapped(text, width), rows, "{text:?} in {width}");
    }
}

#[test]
fn folding_drops_nothing() {
    let table: [(&str, usize, &[&str]); 5] = [
        ("", 3, &[""]),
        ("a b c", 2, &["a ", "b ", "c"]),
        ("日本語", 3, &["日", "本", "語"]),
        ("a日", 2, &["a", "日"]),
        ("abcdef", 3, &["abc", "def"]),
    ];
    for (text, width, rows) in table {
        assert_eq!(folded(text, width), rows, "{text:?} in {width}");
    }
}

#[test]
fn fc_059_one_column_is_enough_for_everything() {
    assert_eq!(wrapped("日a", 1), ["?", "a"]);
    assert_eq!(folded("日a", 1), ["?", "a"]);
    assert_eq!(wrapped("a b", 0), ["a", "b"]);
}

#[test]
fn what_hangs_stands_before_every_row_where_there_is_room() {
    let hang = Hang { first: vec![StyledSpan::new("- ", Style::new())], rest: vec![blanks(2)] };
    let line = StyledLine::of("one two", Style::new());
    assert_eq!(texts(&wrap(&line, 6, &hang)), ["- one", "  two"]);
    assert_eq!(texts(&wrap(&line, 3, &hang)), ["one", "two"]);
    assert_eq!(texts(&fold(&line, 6, &hang)), ["- one ", "  two"]);
}

#[test]
fn styles_links_and_grounds_are_kept() {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let link = StyledSpan { text: "link here".into(), style: bold, link: Some("https://a.b".into()), picture: None };
    let line = StyledLine::from_spans(vec![StyledSpan::new("see the ", Style::new()), link]).filled(bold);
    let rows = wrap(&line, 12, &Hang::default());
    assert_eq!(texts(&rows), ["see the link", "here"]);
    assert_eq!(rows[0].spans[1].style, bold);
    assert_eq!(rows[1].spans[0].link.as_deref(), Some("https://a.b"));
    assert_eq!(rows[1].fill, Some(bold));
}

#[test]
fn what_is_cut_ends_with_a_mark() {
    for (text, width, wanted) in
        [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本", 3, "日…"), ("日本語", 4, "日…"), ("ab", 1, "…"), ("ab", 0, "")]
    {
        assert_eq!(cut(&StyledLine::of(text.to_owned(), Style::new()), width).text(), wanted, "{text} in {width}");
    }
}

proptest! {
    #[test]
    fn fc_058_no_row_is_wider_than_it_may_be_and_no_text_is_lost(
        texts in proptest::collection::vec("[ a-z日、한👧\u{200d}\u{fe0f}❤1\u{20e3}e\u{301}「]{0,20}", 1..4),
        width in 1_usize..30,
        indent in 0_usize..10,
    ) {
        let line = StyledLine::from_spans(texts.iter().map(|text| StyledSpan::new(text.clone(), Style::new())).collect());
        let hang = Hang { first: vec![blanks(indent / 2)], rest: vec![blanks(indent)] };
        let without_blanks = |text: &str| text.replace(' ', "");
        for rows in [wrap(&line, width, &hang), fold(&line, width, &hang)] {
            for row in &rows {
                prop_assert!(row.width() <= width, "{:?} in {width}", row.text());
            }
            if width > 1 && indent == 0 {
                let all: String = rows.iter().map(StyledLine::text).collect();
                prop_assert_eq!(without_blanks(&all), without_blanks(&line.text()));
            }
        }
        prop_assert!(cut(&line, width).width() <= width);
    }
}
