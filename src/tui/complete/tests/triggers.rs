use super::with_caret;
use crate::tui::complete::{Trigger, TriggerKind, path_at, trigger};

fn described(found: Option<Trigger>, line: &str) -> String {
    let Some(Trigger { kind, query, range }) = found else { return "nothing".into() };
    let kind = match kind {
        TriggerKind::Command => "command".to_owned(),
        TriggerKind::Argument { command } => format!("argument of {command}"),
        TriggerKind::File { quoted } => if quoted { "quoted file" } else { "file" }.into(),
        TriggerKind::Path { quoted } => if quoted { "quoted path" } else { "path" }.into(),
    };
    format!("{kind} {query:?} for {:?}", &line[range])
}

#[test]
fn typed_text_asks_for_commands_arguments_and_files() {
    for (text, expected) in [
        ("|", "nothing"),
        ("/|", "command \"\" for \"/\""),
        ("/mo|del", "command \"mo\" for \"/mo\""),
        (" /mo|", "nothing"),
        ("a /mo|", "nothing"),
        ("/model |", "argument of model \"\" for \"\""),
        ("/model  gpt 5|", "argument of model \"gpt 5\" for \"gpt 5\""),
        ("@|", "file \"\" for \"@\""),
        ("see @src/ma| now", "file \"src/ma\" for \"@src/ma\""),
        ("see @src |", "nothing"),
        ("me@host|", "nothing"),
        ("x=@a|", "file \"a\" for \"@a\""),
        ("(@a|", "file \"a\" for \"@a\""),
        ("`@a|", "file \"a\" for \"@a\""),
        ("\"@a|", "file \"a\" for \"@a\""),
        ("見て、@あ|", "file \"あ\" for \"@あ\""),
        ("見て@あ|", "nothing"),
        ("@あ、|", "nothing"),
        ("@\"a b|", "quoted file \"a b\" for \"@\\\"a b\""),
        ("@\"a b|\" c", "quoted file \"a b\" for \"@\\\"a b\\\"\""),
        ("@\"a b\"|", "nothing"),
        ("@\"a b\" @c|", "file \"c\" for \"@c\""),
        ("@pkg@2|", "file \"pkg@2\" for \"@pkg@2\""),
        ("/name @a|", "file \"a\" for \"@a\""),
    ] {
        let (line, caret) = with_caret(text);
        assert_eq!(described(trigger(&line, caret, true), &line), expected, "{text}");
    }
    assert_eq!(trigger("/mo", 3, false), None);
    assert_eq!(trigger("é", 1, true), None);
}

#[test]
fn a_path_is_the_token_before_the_caret() {
    for (text, expected) in [
        ("|", "path \"\" for \"\""),
        ("ls src/ma|", "path \"src/ma\" for \"src/ma\""),
        ("ls |", "path \"\" for \"\""),
        ("/usr/lo|", "path \"/usr/lo\" for \"/usr/lo\""),
        ("a=~/x|", "path \"~/x\" for \"~/x\""),
        ("cat \"my fi|", "quoted path \"my fi\" for \"\\\"my fi\""),
        ("cat \"my fi|\"", "quoted path \"my fi\" for \"\\\"my fi\\\"\""),
        ("cat \"my file\" x|", "path \"x\" for \"x\""),
        ("'x|", "path \"x\" for \"x\""),
    ] {
        let (line, caret) = with_caret(text);
        assert_eq!(described(Some(path_at(&line, caret)), &line), expected, "{text}");
    }
}
