use super::*;
use crate::tui::overlay::testing::{World, told};

fn states() -> WorkDone {
    let state = |id: &str, has: Option<&str>, stored, takes_key, takes_login| ProviderState {
        id: id.into(),
        name: id.to_uppercase(),
        has: has.map(str::to_owned),
        stored,
        takes_key,
        takes_login,
    };
    WorkDone::Providers(
        vec![
            state("groq", Some("key stored"), true, true, false),
            state("openai", None, false, true, false),
            state("router", None, false, true, true),
            state("codex", None, false, false, true),
        ]
        .into(),
    )
}

/// Opens the list for a purpose with a provider that was named, presses keys, and says what came of it.
fn check(purpose: For, wanted: Option<&str>, pressed: &str, expected: &str) {
    let world = World::default();
    let mut list = Providers::new(purpose.clone(), wanted.map(str::to_owned), Origin::Command);
    let mut outcome = list.on_worked(&states(), &world.context());
    if matches!(outcome, Outcome::Stay(_)) && !pressed.is_empty() {
        outcome = world.press(&mut list, pressed);
    }
    assert_eq!(told(&outcome), expected, "{purpose:?} {wanted:?} {pressed}");
}

#[test]
fn a_provider_is_chosen_for_what_it_can_do() {
    let key = || For::Key(Secret::new("sk-1"));
    check(For::LogIn, None, "enter", "become");
    check(For::LogIn, None, "c o d e x enter", "become Work(LogIn(\"codex\", LoginLine))");
    check(For::LogIn, Some("openai"), "", "become");
    check(For::LogIn, Some("Codex"), "", "become Work(LogIn(\"codex\", LoginLine))");
    check(For::LogIn, None, "escape", "close");
    check(key(), None, "o p e n enter", "become Work(StoreKey(\"openai\", [secret]))");
    check(key(), None, "c o d e x enter", "stay");
    check(For::LogOut, None, "enter", "close Work(LogOut(\"groq\"))");
    check(For::LogOut, Some("groq"), "", "close Work(LogOut(\"groq\"))");
    check(For::LogOut, Some("openai"), "", "stay");
}

#[test]
fn two_ways_are_asked_about() {
    let world = World::default();
    let mut list = Providers::new(For::LogIn, Some("router".into()), Origin::FirstRun);
    let Outcome::Become(mut method, _) = list.on_worked(&states(), &world.context()) else { panic!("no dialog") };
    assert!(world.draw(&*method, 40, 10).contains("Enter an API key"));
    assert_eq!(told(&world.press(&mut *method, "enter")), "become Work(LogIn(\"router\", LoginLine))");
}

#[test]
fn the_list_says_what_there_is_and_what_was_not_found() {
    let world = World::default();
    let mut list = Providers::new(For::LogIn, Some("nobody".into()), Origin::Command);
    assert!(world.draw(&list, 60, 20).contains("Looking..."));
    list.on_worked(&states(), &world.context());
    let picture = world.draw(&list, 60, 20);
    assert!(picture.contains("GROQ  key stored  groq"), "{picture}");
    assert!(picture.contains("There is no provider nobody that takes a key or a login."), "{picture}");
}
