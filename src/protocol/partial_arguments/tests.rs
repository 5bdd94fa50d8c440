use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(text: &str) -> Value {
    PartialArguments::default().read(text).clone()
}

#[test]
fn what_has_come_is_read_as_far_as_it_goes() {
    let table = [
        ("", json!({})),
        (" \n{", json!({})),
        (r#"{"pa"#, json!({})),
        (r#"{"path""#, json!({})),
        (r#"{"path": "#, json!({})),
        (r#"{"path": ""#, json!({"path": ""})),
        (r#"{"path": "a.r"#, json!({"path": "a.r"})),
        (r#"{"path": "a\"#, json!({"path": "a"})),
        (r#"{"path": "a\n\"b\" \u00e9\/"#, json!({"path": "a\n\"b\" é/"})),
        (r#"{"a": "\u00e"#, json!({"a": ""})),
        (r#"{"a": "\ud83d"#, json!({"a": ""})),
        (r#"{"a": "\ud83d\u"#, json!({"a": ""})),
        (r#"{"a": "\ud83d\ude80"#, json!({"a": "🚀"})),
        (r#"{"a": "\ud83dx\ude80"#, json!({"a": "\u{FFFD}x\u{FFFD}"})),
        (r#"{"a": "\ud83d\n"#, json!({"a": "\u{FFFD}\n"})),
        (r#"{"re": "\d+\u12"#, json!({"re": "\\d+"})),
        (r#"{"re": "\d+\u12z"#, json!({"re": "\\d+\\u12z"})),
        ("{\"a\": \"x\ty\nz", json!({"a": "x\ty\nz"})),
        (r#"{"n": 12"#, json!({})),
        (r#"{"n": 12,"#, json!({"n": 12})),
        (
            r#"{"n": -1.5e3 , "t": true, "f": false, "z": null}"#,
            json!({"n": -1500.0, "t": true, "f": false, "z": null}),
        ),
        (r#"{"t": tru"#, json!({})),
        (r#"{"l": [1, [2, {"x": "y"#, json!({"l": [1, [2, {"x": "y"}]]})),
        (r#"{"l": [], "o": {}, "k": "v"}"#, json!({"l": [], "o": {}, "k": "v"})),
        (r#"{"a": 1, "a": "2"#, json!({"a": "2"})),
        (
            r#"{"a": {"b": "c"}, "d": ["e", "f"], "g": "h"} and more"#,
            json!({"a": {"b": "c"}, "d": ["e", "f"], "g": "h"}),
        ),
    ];
    for (text, expected) in table {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn nothing_behind_a_fault_is_read() {
    for fault in [
        "[1]",
        "3",
        "\"x\"",
        "{'a': 1}",
        "{\"a\" 1}",
        "{\"a\": 1 2}",
        "{\"a\": 1,}",
        "{\"a\": 1]",
        "{\"a\": nul}",
        "{,}",
        "{\"a\": }",
    ] {
        let found = read(&format!("{fault}, \"b\": 2}}"));
        assert!(found.get("b").is_none(), "{fault}: {found}");
    }
    assert_eq!(read(r#"{"a": [1, }, "b": 2}"#), json!({"a": [1]}));
    let deep = format!("{{\"a\": {}", "[".repeat(5000));
    assert!(read(&deep)["a"].is_array());
}

/// Any value with strings that need escapes.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1.0e9..1.0e9).prop_map(Value::from),
        "[a\"\\\\/\u{1}\n\té🚀]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-c\"\n🚀]{0,3}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Whether `whole` is `part` and possibly more.
fn continues(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| continues(part, whole)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            part.len() <= whole.len() && part.iter().zip(whole).all(|(part, whole)| continues(part, whole))
        }
        (Value::String(part), Value::String(whole)) => whole.starts_with(part.as_str()),
        (part, whole) => part == whole,
    }
}

proptest! {
    #[test]
    fn reading_in_any_pieces_ends_with_the_arguments_and_never_shows_anything_else(
        value in value(),
        pretty in any::<bool>(),
        step in 1..9_usize,
    ) {
        let whole = json!({ "k": value, "l": "end" });
        let text = if pretty { serde_json::to_string_pretty(&whole) } else { serde_json::to_string(&whole) }.unwrap();
        // Numbers are read as `serde_json` reads them.
        let whole: Value = serde_json::from_str(&text).unwrap();
        let mut reader = PartialArguments::default();
        let ends = (0..text.len()).step_by(step).filter(|end| text.is_char_boundary(*end));
        for end in ends {
            let part = reader.read(&text[..end]).clone();
            prop_assert!(continues(&part, &whole), "{part} of {whole}");
            prop_assert_eq!(&part, &read(&text[..end]));
        }
        prop_assert_eq!(reader.read(&text), &whole);
    }

    #[test]
    fn any_text_is_read_alike_at_once_and_in_pieces(text in "[{}\\[\\],:\"\\\\u0-9a-e\n é]{0,60}") {
        let text = format!("{{\"a\":{text}");
        let mut reader = PartialArguments::default();
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            reader.read(&text[..end]);
        }
        prop_assert_eq!(reader.read(&text).clone(), read(&text));
    }
}
