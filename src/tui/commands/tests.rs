//! Commands as they are typed, and what comes of them.

use std::collections::HashSet;

use super::{all, find};
use crate::{
    store::testing::{answer, user},
    tui::{
        effect::Effect,
        model::Model,
        testing::{model_of, press, screen},
        transcript::item::Item,
        work::{Work, WorkDone, diff::DiffOf, login::LoginStep},
    },
};

fn model() -> Model {
    model_of(&[user("u1", "", "first words"), answer("a1", "u1", "first answer")])
}

/// What is wanted of workers and others, in short.
fn wanted(effects: &[Effect]) -> String {
    let short = |effect: &Effect| match effect {
        Effect::Work(work) => format!("{work:?}"),
        Effect::Copy(text) => format!("copy {text}"),
        effect => format!("{effect:?}"),
    };
    effects.iter().map(short).collect::<Vec<_>>().join(" ")
}

/// The last notice.
fn notice(model: &Model) -> String {
    let mut texts = model.transcript.items().iter().filter_map(|item| match item {
        Item::Notice(notice) => Some(notice.text.clone()),
        _ => None,
    });
    texts.next_back().unwrap_or_default()
}

#[test]
fn commands_ask_workers_or_say_why_not() {
    // what is typed, what is wanted, what is said
    for (typed, effects, said) in [
        ("/copy", "copy first answer", ""),
        ("/cost", "Cost", ""),
        ("/export", "Export(None)", ""),
        ("/export 'a b.html'", "Export(Some(\"a b.html\"))", ""),
        ("/export x.JSONL", "Export(Some(\"x.JSONL\"))", ""),
        ("/export x.txt", "", "/export x.txt: expected a name that ends in .html or .jsonl"),
        ("/import", "", "/import needs a path: that of a session file (.jsonl)"),
        ("/import s.jsonl", "Import(\"s.jsonl\")", ""),
        ("/diff", "Diff(WorkingTree)", ""),
        ("/diff session", "Diff(Session)", ""),
        ("/diff x", "", "/diff x: expected nothing (what git sees) or session (what this session changed)"),
        ("/mcp", "McpServers", ""),
        ("/login", "Providers", ""),
        ("/logout", "Providers", ""),
        ("/share", "", ""),
    ] {
        let mut model = model();
        let done = press(&mut model, &format!("\"{typed}\" escape enter"));
        assert_eq!((wanted(&done).as_str(), notice(&model).as_str()), (effects, said), "{typed}");
    }
}

#[test]
fn the_session_is_told_with_its_id_and_counts() {
    let mut model = model();
    model.size = (80, 40);
    press(&mut model, "\"/session\" escape enter");
    let text = notice(&model);
    for wanted in ["11111111-2222-7333-8444-555555555555", "Messages:", "Tokens:", "~/app"] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    assert!(screen(&mut model).contains("Messages:"));
}

#[test]
fn sharing_asks_first() {
    let mut model = model();
    assert_eq!(press(&mut model, "\"/share\" escape enter"), []);
    assert_eq!(press(&mut model, "enter"), [Effect::Work(Work::Share)]);
    let mut empty = model_of(&[]);
    press(&mut empty, "\"/share\" escape enter");
    assert_eq!(notice(&empty), "There is nothing to share yet.");
}

#[test]
fn lists_of_keys_commands_and_news_are_shown() {
    for (typed, shown) in
        [("/hotkeys", "Stop what is running"), ("/help", "/export [path.html|.jsonl]"), ("/changelog", "0.1.0")]
    {
        let mut model = model();
        model.size = (100, 200);
        press(&mut model, &format!("\"{typed}\" escape enter"));
        let picture = screen(&mut model);
        assert!(picture.contains(shown), "{typed}\n{picture}");
        press(&mut model, "escape");
        assert!(model.overlays.is_empty(), "{typed}");
    }
}

#[test]
fn what_workers_found_is_told_or_shown() {
    let mut model = model();
    super::worked(&mut model, &WorkDone::Diff(DiffOf::WorkingTree, "".into()));
    assert_eq!(notice(&model), "Nothing has changed since the last commit.");
    super::worked(&mut model, &WorkDone::Diff(DiffOf::Session, "+new line\n".into()));
    assert!(screen(&mut model).contains("+new line"));
    let effects = super::worked(&mut model, &WorkDone::Imported("/s/x.jsonl".into()));
    assert_eq!(wanted(&effects), "Replace(Open(\"/s/x.jsonl\"))");
    let name = crate::protocol::ModelRef { provider: "p".into(), model_id: "m".into() };
    let done = LoginStep::Done { text: "Stored the key of p.".into(), model: Some(name) };
    let effects = super::worked(&mut model, &WorkDone::Login(done));
    assert!(wanted(&effects).contains("SetModel") && notice(&model) == "Stored the key of p.");
}

#[test]
fn a_text_that_is_sent_without_a_model_stays_and_says_what_to_do() {
    let mut model = model();
    model.facts.model = None;
    assert!(wanted(&press(&mut model, "\"hello\" enter")).starts_with("Servers"), "the first-run page looks for them");
    assert_eq!(model.editor.draft(), "hello");
    let picture = screen(&mut model);
    assert!(picture.contains("There is no model yet") && picture.contains("Paste an API key"), "{picture}");
    // Commands work all the same.
    press(&mut model, "escape ctrl+u");
    assert_eq!(wanted(&press(&mut model, "\"/cost\" escape enter")), "Cost");
}

/// The built-in commands that pi lists.
const OF_PI: &str = "settings model tree thinking scoped-models export import share bug copy name session changelog \
                     hotkeys fork clone trust login logout new compact resume reload quit";

#[test]
fn every_command_of_pi_is_there() {
    let missing: Vec<_> = OF_PI.split_whitespace().filter(|name| !all().any(|command| command.name == *name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn names_are_called_exactly_and_are_there_once() {
    let names: Vec<&str> = all().map(|command| command.name).collect();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
    assert!(find("/debug").is_some() && !names.contains(&"debug"));
    assert!(find("/cos").is_none() && find("cost").is_none());
    assert_eq!(find("/export  a b ").map(|(command, argument)| (command.name, argument)), Some(("export", "a b")));
}
