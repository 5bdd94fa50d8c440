use proptest::prelude::*;

use super::*;

fn texts(rows: &[StyledLine]) -> Vec<String> {
    rows.iter().map(StyledLine::text).collect()
}

fn whole(text: &str, width: usize) -> Vec<StyledLine> {
    markdown(&Document::parse(text), width, &Theme::dark(), &MarkdownOptions::default())
}

/// The rows of a message that came in pieces, drawn after each of them.
fn streamed(pieces: &[&str], width: usize) -> Vec<StyledLine> {
    let mut message = StreamingMarkdown::new();
    let (theme, options) = (Theme::dark(), MarkdownOptions::default());
    for piece in pieces {
        message.append(piece);
        message.lines(width, &theme, &options);
    }
    message.finish();
    message.lines(width, &theme, &options).to_vec()
}

/// One message with everything in it.
const SAMPLE: &str = "# Head\n\ntext *a*\nb\n\n1. one\n2. two\n   - in\n\n   more\n10. three\n\n- x\n- [ ] y\n* z\n\n```rust\n\
                      fn a() {}\n\n/* b\n*/\n```\n> q\n> r\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n    code\n\n***\n<b>\nh\n</b>\n\nend\n===\n~~~\nopen";

#[test]
fn every_prefix_of_a_message_looks_as_if_it_had_come_at_once() {
    let mut message = StreamingMarkdown::new();
    let (theme, options) = (Theme::dark(), MarkdownOptions::default());
    for (at, character) in SAMPLE.char_indices() {
        message.append(character.encode_utf8(&mut [0; 4]));
        let so_far = &SAMPLE[..at + character.len_utf8()];
        assert_eq!(texts(message.lines(40, &theme, &options)), texts(&whole(so_far, 40)), "after {so_far:?}");
    }
    message.finish();
    assert_eq!(message.lines(40, &theme, &options), whole(SAMPLE, 40));
    assert_eq!(message.lines(20, &theme, &options), whole(SAMPLE, 20));
}

#[test]
fn late_definitions_and_marks_far_apart_are_right_in_the_end() {
    let long = format!("**bold {}**\n", "words and\n".repeat(1_500));
    for text in ["see [a]\n\nmore\n\n[a]: https://b.c\n\nend", &long, "a\r\nb\rc\n\nd\0"] {
        let middle = (text.len() / 2..).find(|at| text.is_char_boundary(*at)).unwrap();
        assert_eq!(streamed(&[&text[..middle], &text[middle..]], 30), whole(text, 30));
    }
}

#[test]
fn what_is_settled_is_not_made_again() {
    let mut message = StreamingMarkdown::new();
    let (theme, options) = (Theme::dark(), MarkdownOptions::default());
    let mut settled = 0;
    message.append("```rust\n");
    for line in 0..200 {
        message.append(&format!("let value_{line} = {line}; // note\n"));
        message.lines(80, &theme, &options);
        assert_eq!(message.settled_rows(), line + 2, "the fence and every complete line");
    }
    message.append("```\n");
    for item in 0..50 {
        message.append(&format!("- item {item}\n"));
        message.lines(80, &theme, &options);
        assert!(message.settled_rows() >= settled);
        settled = message.settled_rows();
    }
    assert_eq!(settled, 203 + 49);
    // A paragraph without an end is settled, too, in large pieces.
    message.append("\n\n");
    for _ in 0..40 {
        message.append(&"words in a line\n".repeat(50));
        message.lines(80, &theme, &options);
    }
    assert!(message.settled_rows() > settled + 1_000, "{}", message.settled_rows());
}

#[test]
fn a_line_without_an_end_is_settled_in_pieces() {
    for (opening, closing) in [("", ""), ("```\n", "\n```")] {
        let (theme, options) = (Theme::plain(), MarkdownOptions::default());
        let mut message = StreamingMarkdown::new();
        message.append(opening);
        for _ in 0..40 {
            message.append(&"words in a line ".repeat(512));
            message.lines(80, &theme, &options);
        }
        let open = message.lines(80, &theme, &options).len() - message.settled_rows();
        assert!(open < (64 << 10) / 60 + 16, "{open} rows of {opening:?} are laid out again and again");
        message.append(closing);
        message.finish();
        let rows = texts(message.lines(80, &theme, &options));
        assert_eq!(rows, texts(&whole(message.text(), 80)), "in the end it is the same");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_cutting_gives_the_same_message_in_the_end(
        lines in proptest::collection::vec(
            "( {0,4}|> |- |1\\. |\t)(\\*\\*a\\*\\*|b `c|#|# h|---|===|```|~~~ rust|- |\\* |2\\. x|\\| a \\| b \\||\\|--\\|--\\||<div>|</div>|\\[a\\]: /u|\\[a\\]|text|日本|\\[ \\] t|)",
            0..14,
        ),
        cuts in proptest::collection::vec(0.0_f64..1.0, 0..8),
        width in 1_usize..40,
    ) {
        let text = lines.join("\n");
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let mut places: Vec<usize> = cuts.iter().map(|cut| (cut * text.len() as f64) as usize).collect();
        places.retain(|place| text.is_char_boundary(*place));
        places.extend([0, text.len()]);
        places.sort_unstable();
        let pieces: Vec<&str> = places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        let rows = streamed(&pieces, width);
        prop_assert_eq!(texts(&rows), texts(&whole(&text, width)), "{:?}", pieces);
        for row in rows {
            prop_assert!(row.width() <= width, "{:?} in {}", row.text(), width);
        }
    }
}
