use super::{inserts, labels};
use crate::tui::complete::{ArgumentItem, SlashItem, argument_menu, command_menu, trigger};

fn commands() -> Vec<SlashItem> {
    let names = ["settings", "model", "scoped-models", "compact", "clone", "new", "resume", "skill:zskill", "zreview"];
    names.map(|name| SlashItem { name: name.into(), ..SlashItem::default() }).to_vec()
}

#[track_caller]
fn check(typed: &str, expected: &[&str]) {
    let menu = command_menu(&trigger(typed, typed.len(), true).unwrap(), &commands());
    assert_eq!(labels(menu.as_ref()), expected, "{typed}");
}

#[test]
fn commands_are_found_by_their_names() {
    check("/mod", &["model", "scoped-models"]);
    check("/model", &["model", "scoped-models"]);
    check("/cmpct", &["compact"]);
    check("/NEW", &["new"]);
    check("/zs", &["skill:zskill"]);
    check("/skill:z", &["skill:zskill"]);
    check("/nothing", &[]);
    check("/", &commands().iter().map(|command| &*command.name).collect::<Vec<_>>());
}

#[test]
fn a_command_is_written_with_its_slash_and_a_blank() {
    let menu = command_menu(&trigger("/zsk", 4, true).unwrap(), &commands());
    assert_eq!(inserts(menu.as_ref()), ["/skill:zskill "]);
}

#[test]
fn a_command_says_what_its_arguments_are_and_where_it_is_from() {
    let template = SlashItem {
        name: "fix".into(),
        description: "Fix it".into(),
        argument_hint: "<file>".into(),
        source: "project".into(),
    };
    let menu = command_menu(&trigger("/fix", 4, true).unwrap(), &[template]).unwrap();
    assert_eq!(menu.items()[0].description, "<file> Fix it [project]");
    assert!(menu.items()[0].goes_on);
}

#[test]
fn arguments_take_the_place_of_what_was_typed_of_them() {
    let value = |value: &str| ArgumentItem { value: value.into(), label: value.into(), description: String::new() };
    let values = ["anthropic/opus", "openai/gpt-5", "openai/codex-52"].map(value);
    for (typed, expected) in [
        ("/model gpt", vec!["openai/gpt-5"]),
        ("/model oai gpt5", vec!["openai/gpt-5"]),
        ("/model 52codex", vec!["openai/codex-52"]),
        ("/model ", vec!["anthropic/opus", "openai/gpt-5", "openai/codex-52"]),
    ] {
        let trigger = trigger(typed, typed.len(), true).unwrap();
        let menu = argument_menu(&trigger, &values);
        assert_eq!(inserts(menu.as_ref()), expected, "{typed}");
        assert_eq!(trigger.range, 7..typed.len());
    }
}
