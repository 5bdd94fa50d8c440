use super::*;
use crate::tui::overlay::testing::{World, told};

fn servers(names: &[&str]) -> WorkDone {
    let model = |name: &str| ModelRef { provider: "ollama".into(), model_id: name.into() };
    let server = LocalServer {
        name: "Ollama".into(),
        address: "http://127.0.0.1:11434".into(),
        models: names.iter().map(|name| model(name)).collect(),
    };
    WorkDone::Servers(if names.is_empty() { Vec::new().into() } else { vec![server].into() })
}

#[test]
fn each_way_is_one_key_away() {
    for (found, pressed, expected) in [
        (&[][..], "1", "become"),
        (&[], "enter", "become"),
        (&[], "2", "become Work(Providers)"),
        (&[], "down enter", "become Work(Providers)"),
        // Nothing is there to be used.
        (&[], "3", "stay"),
        (&[], "down down enter", "close Send(SetModel(ModelRef { provider: \"troupe\", model_id: \"offline\" })"),
        (&[], "4", "close Send(SetModel(ModelRef { provider: \"troupe\", model_id: \"offline\" })"),
        (&["qwen3:8b", "b"], "3", "stay Work(UseServer(ModelRef { provider: \"ollama\", model_id: \"qwen3:8b\" }))"),
        (&["qwen3:8b"], "escape", "close"),
        (&["qwen3:8b"], "h i 9", "stay"),
    ] {
        let world = World::default();
        let mut page = FirstRun::new();
        page.on_worked(&servers(found), &world.context());
        let outcome = told(&world.press(&mut page, pressed));
        assert!(outcome.starts_with(expected), "{found:?} {pressed}: {outcome}");
    }
}

#[test]
fn a_key_that_is_pasted_is_taken_as_a_key() {
    let world = World::default();
    let outcome = FirstRun::new().on_paste("sk-ant-1\n", &world.context());
    let Outcome::Become(mut entry, _) = outcome else { panic!("{}", told(&outcome)) };
    let picture = world.draw(&*entry, 40, 12);
    assert!(picture.contains("••••••••  (8)") && !picture.contains("sk-ant"), "{picture}");
    assert_eq!(told(&world.press(&mut *entry, "enter")), "stay Work(StoreKey(\"anthropic\", [secret]))");
    let done = WorkDone::Login(LoginStep::Done { text: String::new(), model: None });
    assert_eq!(told(&entry.on_worked(&done, &world.context())), "close");
}

#[test]
fn a_key_that_may_be_anybodys_is_asked_about() {
    let world = World::default();
    let mut entry = KeyEntry::of_any(Origin::FirstRun);
    entry.on_paste("sk-1", &world.context());
    assert_eq!(told(&world.press(&mut entry, "enter")), "become Work(Providers)");
    let mut entry = KeyEntry::of_any(Origin::FirstRun);
    assert_eq!(told(&world.press(&mut entry, "enter")), "stay");
    assert!(world.draw(&entry, 60, 12).contains("no key was given"));
    assert_eq!(told(&world.press(&mut entry, "escape")), "become Work(Servers)", "back to the page");
}

#[test]
fn a_server_that_went_away_is_told() {
    let world = World::default();
    let mut page = FirstRun::new();
    page.on_worked(&servers(&["a"]), &world.context());
    world.press(&mut page, "3");
    let failed = WorkDone::Login(LoginStep::Failed("it is gone".into()));
    assert_eq!(told(&page.on_worked(&failed, &world.context())), "stay");
    assert!(world.draw(&page, 60, 20).contains("it is gone"));
}

#[test]
fn the_page_in_three_sizes() {
    let world = World::default();
    let mut page = FirstRun::new();
    insta::assert_snapshot!(world.draw(&page, 40, 12), @r#"
    ────────────────────────────────────────
    There is no model yet. How do you want …
    → 1 Paste an API key  Anthropic, OpenAI…
      2 Log in at a provider  or choose who…
      3 A model server on this machine  loo…

    The agent runs commands and changes
    files with your rights: nothing asks,
    and no sandbox is on, until you turn
    them on (/permissions,
    escape go on without a model
    ────────────────────────────────────────
    "#);
    page.on_worked(&servers(&["qwen3:8b", "llama3"]), &world.context());
    insta::assert_snapshot!(world.draw(&page, 80, 24), @r#"
    ────────────────────────────────────────────────────────────────────────────────
    There is no model yet. How do you want to get one?
    → 1 Paste an API key  Anthropic, OpenAI, Google, OpenRouter, ...
      2 Log in at a provider  or choose whose key it is
      3 Use Ollama on this machine  qwen3:8b, and 1 more
      4 Try the offline demo  no key, no network; a small program, not an AI

    The agent runs commands and changes files with your rights: nothing asks, and no
    sandbox is on, until you turn them on (/permissions, docs/permissions.md,
    docs/sandbox.md).
    enter choose · escape go on without a model
    ────────────────────────────────────────────────────────────────────────────────
    "#);
    page.on_worked(&servers(&[]), &world.context());
    insta::assert_snapshot!(world.draw(&page, 200, 60), @r#"
    ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    There is no model yet. How do you want to get one?
    → 1 Paste an API key  Anthropic, OpenAI, Google, OpenRouter, ...
      2 Log in at a provider  or choose whose key it is
      3 A model server on this machine  none found: Ollama, LM Studio, llama.cpp, vLLM, SGLang
      4 Try the offline demo  no key, no network; a small program, not an AI

    The agent runs commands and changes files with your rights: nothing asks, and no sandbox is on, until you turn them on (/permissions, docs/permissions.md, docs/sandbox.md).
    enter choose · escape go on without a model
    ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
    "#);
    for (columns, rows) in [(1, 1), (3, 2), (10, 5), (20, 30)] {
        world.draw(&page, columns, rows);
    }
}
