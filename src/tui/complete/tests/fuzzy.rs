use crate::tui::complete::fuzzy::{Query, rank};

#[track_caller]
fn check(query: &str, items: &[&str], expected: &[&str]) {
    let ranked: Vec<&str> = rank(query, items, |item| item).iter().map(|ranked| items[ranked.index]).collect();
    assert_eq!(ranked, expected, "{query}");
}

#[test]
fn every_word_must_fit_in_any_case_and_order() {
    check("", &["b", "a"], &["b", "a"]);
    check("ab", &["ba", "xaxb", "AB"], &["AB", "xaxb"]);
    check("gpt open", &["openai/gpt-5", "gpt-local"], &["openai/gpt-5"]);
    check("src/main", &["src/x/main.rs", "lib/main.rs"], &["src/x/main.rs"]);
    check("日語", &["日本語", "日本"], &["日本語"]);
    check("uber", &["über"], &["über"]);
    check(" / ", &["a"], &["a"]);
}

#[test]
fn whole_words_and_their_starts_come_first_and_equals_stay_in_order() {
    check("new", &["renew", "new-session", "new"], &["new", "new-session", "renew"]);
    check("fb", &["fxxb", "foo_bar"], &["foo_bar", "fxxb"]);
    check("a", &["a1", "a2", "a3"], &["a1", "a2", "a3"]);
}

#[test]
fn letters_and_digits_may_be_the_other_way_round() {
    check("codex52", &["52-codex", "codex-5"], &["52-codex"]);
    check("5gpt", &["gpt-5"], &["gpt-5"]);
    check("a1b", &["1ab"], &[]);
}

#[test]
fn positions_are_byte_offsets_of_what_fits() {
    for (query, text, expected) in [
        ("eb", "über", vec![3]),
        ("br", "über", vec![2, 4]),
        ("語", "日本語", vec![6]),
        ("mn sr", "src/main", vec![0, 1, 4, 7]),
        ("e\u{301}", "cafe\u{301}", vec![3]),
        ("", "a", vec![]),
    ] {
        let mut query = Query::new(query);
        let expected = if query.score(text).is_some() { expected } else { Vec::new() };
        assert_eq!(query.positions(text), expected, "{text}");
    }
}
