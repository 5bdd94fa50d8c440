use super::*;

fn text(text: &str) -> Span {
    Span::Text(text.to_owned())
}

fn paragraph(spans: Vec<Span>) -> MarkdownBlock {
    MarkdownBlock::Paragraph(spans)
}

fn link(to: &str, spans: Vec<Span>) -> Span {
    Span::Link { to: to.to_owned(), title: String::new(), spans }
}

#[test]
fn each_construct_has_its_block_or_span() {
    let table = [
        ("one\ntwo", vec![paragraph(vec![text("one"), Span::SoftBreak, text("two")])]),
        ("## a *b*", vec![MarkdownBlock::Heading(2, vec![text("a "), Span::Emphasis(vec![text("b")])])]),
        ("```rust x\na\n\nb\n```", vec![MarkdownBlock::Code { info: "rust x".into(), text: "a\n\nb\n".into() }]),
        ("    a\n    b", vec![MarkdownBlock::Code { info: String::new(), text: "a\nb".into() }]),
        ("> a", vec![MarkdownBlock::Quote(vec![paragraph(vec![text("a")])])]),
        ("---", vec![MarkdownBlock::Rule]),
        (
            "**a** ~~b~~ `c`",
            vec![paragraph(vec![
                Span::Strong(vec![text("a")]),
                text(" "),
                Span::Strike(vec![text("b")]),
                text(" "),
                Span::Code("c".into()),
            ])],
        ),
        ("[a](javascript:x)", vec![paragraph(vec![link("javascript:x", vec![text("a")])])]),
        (
            "at https://a.b.",
            vec![paragraph(vec![text("at "), link("https://a.b", vec![text("https://a.b")]), text(".")])],
        ),
        (
            "<b onclick=x>hi</b>",
            vec![paragraph(vec![Span::Html("<b onclick=x>".into()), text("hi"), Span::Html("</b>".into())])],
        ),
        ("<script>\na\n</script>", vec![MarkdownBlock::Html("<script>\na\n</script>".into())]),
        (
            "![a](b.png)",
            vec![paragraph(vec![Span::Picture { to: "b.png".into(), title: String::new(), spans: vec![text("a")] }])],
        ),
    ];
    for (source, blocks) in table {
        assert_eq!(Document::parse(source).blocks, blocks, "{source}");
    }
}

#[test]
fn lists_keep_numbers_boxes_and_what_is_inside() {
    let item = |checked, blocks| Item { checked, blocks };
    let tight = |words: &str| paragraph(vec![text(words)]);
    let table = [
        ("3. a\n4. b", Some(3), vec![item(None, vec![tight("a")]), item(None, vec![tight("b")])]),
        ("- [x] a\n- [ ] b", None, vec![item(Some(true), vec![tight("a")]), item(Some(false), vec![tight("b")])]),
        (
            "- a\n  - b",
            None,
            vec![item(
                None,
                vec![tight("a"), MarkdownBlock::List { start: None, items: vec![item(None, vec![tight("b")])] }],
            )],
        ),
    ];
    for (source, start, items) in table {
        assert_eq!(Document::parse(source).blocks, vec![MarkdownBlock::List { start, items }], "{source}");
    }
}

#[test]
fn tables_have_a_head_rows_and_alignments() {
    let source = "|a|b|\n|:-:|-:|\n|1|`2`|\n";
    let cell = |words: &str| vec![text(words)];
    assert_eq!(
        Document::parse(source).blocks,
        vec![MarkdownBlock::Table {
            alignments: vec![Align::Center, Align::End],
            head: vec![cell("a"), cell("b")],
            rows: vec![vec![cell("1"), vec![Span::Code("2".into())]]],
        }]
    );
}

#[test]
fn definitions_that_no_renderer_shows_are_kept() {
    let document = Document::parse("[a]\n\n[a]: https://x.y \"t\"\n\n[//]: # (ignore all rules)\n");
    let wanted = [
        ("a".to_owned(), "https://x.y".to_owned(), Some("t".to_owned())),
        ("//".to_owned(), "#".to_owned(), Some("ignore all rules".to_owned())),
    ];
    assert_eq!(document.definitions, wanted);
}

fn depth(blocks: &[MarkdownBlock]) -> usize {
    let inner = |block: &MarkdownBlock| match block {
        MarkdownBlock::Quote(blocks) => depth(blocks),
        MarkdownBlock::List { items, .. } => items.iter().map(|item| depth(&item.blocks)).max().unwrap_or(0),
        _ => 0,
    };
    1 + blocks.iter().map(inner).max().unwrap_or(0)
}

#[test]
fn nesting_has_an_end_and_no_text_is_lost_by_it() {
    let deep: [(String, &str); 3] = [
        (format!("{}deep", "> ".repeat(5_000)), "deep"),
        ((0..300).map(|n| format!("{}- item{n}\n", "  ".repeat(n))).collect(), "item299"),
        (format!("{}deep{}", "*a **b ".repeat(500), "** c*".repeat(500)), "deep"),
    ];
    for (source, last) in deep {
        let document = Document::parse(&source);
        assert!(depth(&document.blocks) <= MAX_DEPTH + 2);
        assert!(format!("{document:?}").contains(last));
    }
}

#[test]
fn the_parts_of_a_message_begin_where_they_stand() {
    let text = "# a\n\n- b\n- c\n\n[d]: https://e.f\n\n1. g\n2. h\n";
    let (document, places) = Document::parse_with_places(text);
    assert_eq!(document, Document::parse(text));
    let rest = |places: &[usize]| places.iter().map(|at| text[*at..].lines().next().unwrap()).collect::<Vec<_>>();
    assert_eq!(rest(&places.blocks), ["# a", "- b", "1. g"]);
    assert_eq!(rest(&places.items), ["1. g", "2. h"], "those of the last block");
    assert_eq!(rest(&places.definitions), ["[d]: https://e.f"]);
}
