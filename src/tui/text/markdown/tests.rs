use super::*;
use crate::tui::theme::Theme;

fn rows(text: &str, width: usize) -> Vec<String> {
    let document = Document::parse(text);
    markdown(&document, width, &Theme::dark(), &MarkdownOptions::default()).iter().map(StyledLine::text).collect()
}

#[test]
fn blocks_are_drawn_as_a_reader_expects_them() {
    let table: [(&str, &str, usize, &[&str]); 14] = [
        ("paragraphs are wrapped", "one two three\n\nfour", 9, &["one two", "three", "", "four"]),
        ("line ends of the source stay", "one\ntwo  \nthree", 20, &["one", "two", "three"]),
        ("headings", "# A\n\n## B\n\n### C", 20, &["A", "", "B", "", "### C"]),
        ("marks go", "a **b** *c* `d` ~~e~~", 20, &["a b c d e"]),
        (
            "lists hang",
            "1. one two three\n2. x\n   - y\n10. z",
            12,
            &["1. one two", "   three", "2. x", "   - y", "3. z"],
        ),
        ("tasks", "- [x] done\n- [ ] open", 20, &["- [x] done", "- [ ] open"]),
        ("paragraphs of items are apart", "- a\n\n  b\n- c", 20, &["- a", "  ", "  b", "- c"]),
        ("quotes", "> a\n>\n> b", 20, &["│ a", "│ ", "│ b"]),
        ("rules", "a\n\n---", 5, &["a", "", "─────"]),
        ("code", "```rust\nfn a() {\n\tb\n}\n```", 20, &["```rust", "  fn a() {", "      b", "  }", "```"]),
        ("code is folded, not cut", "```\nabcdefgh\n```", 6, &["```", "  abcd", "  efgh", "```"]),
        ("raw HTML is text", "<b>x</b>\n\n<div>\ny\n</div>", 20, &["<b>x</b>", "", "<div>", "y", "</div>"]),
        ("links say where they lead", "[a](https://b.c) https://d.e", 60, &["a (https://b.c) https://d.e"]),
        (
            "pictures are named, definitions shown",
            "![p](q.png)\n\n[r]: https://s.t \"u\"",
            60,
            &["[image: p] (q.png)", "", "[r]: https://s.t \"u\""],
        ),
    ];
    for (what, text, width, wanted) in table {
        assert_eq!(rows(text, width), wanted, "{what}");
    }
}

#[test]
fn tables_line_up_also_with_wide_characters_and_are_narrowed() {
    let text = "| col | value |\n|-----|------:|\n| aa | 1 |\n| 日本 | 22222 |";
    assert_eq!(
        rows(text, 40),
        [
            "┌──────┬───────┐",
            "│ col  │ value │",
            "├──────┼───────┤",
            "│ aa   │     1 │",
            "│ 日本 │ 22222 │",
            "└──────┴───────┘",
        ]
    );
    let long = "| a | b |\n|---|---|\n| one two three | x |\n| y | z |";
    assert_eq!(
        rows(long, 15),
        [
            "┌─────────┬───┐",
            "│ a       │ b │",
            "├─────────┼───┤",
            "│ one two │ x │",
            "│ three   │   │",
            "├─────────┼───┤",
            "│ y       │ z │",
            "└─────────┴───┘",
        ]
    );
    assert_eq!(rows(text, 12), ["col: aa", "value: 1", "────────", "col: 日本", "value: 22222"]);
}

#[test]
fn attributes_and_links_are_kept_where_a_line_breaks() {
    let document = Document::parse("**[bold link](https://a.b/c)**");
    let rows = markdown(&document, 6, &Theme::dark(), &MarkdownOptions::default());
    for row in &rows[..2] {
        assert!(row.spans[0].style.add_modifier.contains(Modifier::BOLD | Modifier::UNDERLINED), "{row:?}");
        assert_eq!(row.spans[0].link.as_deref(), Some("https://a.b/c"));
    }
}

#[test]
fn fc_064_nothing_of_a_message_acts_on_a_terminal() {
    let evil = "\u{1b}]0;x\u{7}\u{9b}31m\u{202e}";
    let text =
        format!("a{evil}\n\n# {evil}\n\n- `{evil}`\n\n```{evil}\n{evil}\n```\n\n[x](<http://y/{evil}>)\n\n<b {evil}>");
    for row in rows(&text, 30) {
        assert!(!row.chars().any(|c| c.is_control() || c == '\u{202e}'), "{row:?}");
    }
}
