use super::*;

#[test]
fn values_are_read_in_each_form() {
    // head, description
    let table: &[(&str, Option<&str>)] = &[
        ("description: plain text", Some("plain text")),
        ("description:   padded  ", Some("padded")),
        ("description: text # comment", Some("text")),
        ("description: a#b", Some("a#b")),
        ("description: 'it''s' # c", Some("it's")),
        (r#"description: "a \"b\" \\ c\td""#, Some("a \"b\" \\ c\td")),
        ("description: \"over\n  two lines\"", Some("over two lines")),
        ("description: first\n  second\n\n  third", Some("first second third")),
        ("description:\n  below the key", Some("below the key")),
        ("description: >\n  folded text\n  more\n\n  last\nname: n", Some("folded text more\nlast")),
        ("description: |\n  lit text\n    deeper\n\n  more", Some("lit text\n  deeper\n\nmore")),
        ("description: >-\n  stripped\n\n", Some("stripped")),
        ("description: Foo: bar", Some("Foo: bar")),
        ("description: see http://x.y/z", Some("see http://x.y/z")),
        ("description: 456", Some("456")),
        ("\"description\": quoted key", Some("quoted key")),
        ("description: one\ndescription: two", Some("two")),
        ("# comment\n\ndescription: x\nmetadata:\n  a: b\n  c:\n    - d", Some("x")),
        ("allowed-tools:\n- Read\n- Write\ndescription: x", Some("x")),
        ("allowed-tools: [\n  Read,\n  Write\n]\ndescription: x", Some("x")),
        ("metadata: {a: \"}\", b: [1]}\ndescription: x", Some("x")),
        ("description: [a, b]", None),
        ("description:\n  - a", None),
        ("description:\n  a: b", None),
        ("description:", None),
        ("description: ~", None),
        ("description: null", None),
        ("description: ''", None),
        ("name: n", None),
    ];
    for (head, description) in table {
        let text = format!("---\n{head}\n---\nbody");
        let document = split(&text).unwrap_or_else(|error| panic!("{head}: {error}"));
        assert_eq!(document.head.text("description"), *description, "{head}");
        assert_eq!(document.body, "body");
        // Windows line ends change nothing.
        let text = text.replace('\n', "\r\n");
        assert_eq!(split(&text).unwrap().head.text("description"), *description, "{head}");
    }
}

#[test]
fn a_head_that_is_no_yaml_is_refused_with_its_line() {
    for (head, line) in [
        ("description: \"unclosed", 2),
        ("name: x\ndescription: 'un\nother: y", 3),
        ("description: [a, b", 2),
        ("description: \"x\" y", 2),
        ("just text", 2),
        ("name: x\njust text", 3),
        ("  name: x", 2),
        ("\tname: x", 2),
    ] {
        let text = format!("---\n{head}\n---\nbody");
        assert_eq!(split(&text).map_err(|error| error.line), Err(line), "{head}");
    }
}

#[test]
fn the_body_is_trimmed_only_behind_a_head() {
    for (text, body) in [
        ("---\nname: x\n---\n\n\nBODY\n\n", "BODY"),
        ("---\n---\nBODY", "BODY"),
        ("---\nname: x\n---", ""),
        ("line\n\n", "line\n\n"),
        ("---\nname: x\nno fence\n", "---\nname: x\nno fence\n"),
        ("text\n---\nname: x\n---\n", "text\n---\nname: x\n---\n"),
        ("--- x\nname: x\n---\n", "--- x\nname: x\n---\n"),
        ("---\r\nname: x\r\n---\r\nb1\r\nb2\r\n", "b1\nb2"),
        ("", ""),
    ] {
        assert_eq!(split(text).unwrap().body, body, "{text:?}");
    }
}

#[test]
fn true_is_a_plain_word_and_a_hint_may_look_like_a_list() {
    let text = "---\na: true\nb: \"true\"\nc: True\nd: yes\ne: [pr] [n]\nf: [pr] # c\n---\n";
    let head = split(text).unwrap().head;
    assert_eq!(["a", "b", "c", "d", "x"].map(|key| head.is_true(key)), [true, false, true, false, false]);
    assert_eq!(head.text_or_flow("e"), Some("[pr] [n]"));
    assert_eq!(head.text_or_flow("f"), Some("[pr]"));
    assert_eq!(head.text_or_flow("b"), Some("true"));
}
