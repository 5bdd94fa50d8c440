use serde_json::json;

use super::*;
use crate::tui::overlay::testing::{World, told};

fn selector(values: Value) -> SettingsSelector {
    let (mut selector, effects) = SettingsSelector::new(&values, Vec::new());
    assert_eq!(effects, [Effect::Work(Work::ReadSettings)]);
    let files = Settings::from_value(values.as_object().unwrap().clone());
    let read = WorkDone::SettingsRead(Box::new(files), values);
    selector.on_worked(&read, &World::default().context());
    selector
}

fn check(values: Value, pressed: &str, saved: &[(&[&str], Value)]) {
    let world = World::default();
    let outcome = world.press(&mut selector(values), pressed);
    let Outcome::Stay(effects) = &outcome else { panic!("{pressed}: {}", told(&outcome)) };
    let Some(Effect::Work(Work::Save(save))) = effects.first() else { panic!("{pressed}: {}", told(&outcome)) };
    let saved: Vec<_> =
        saved.iter().map(|(path, value)| (path.iter().map(|key| (*key).to_owned()).collect(), value.clone())).collect();
    assert_eq!(save.values, saved, "{pressed}");
}

#[test]
fn enter_changes_a_value_and_saves_it() {
    let none = || json!({});
    check(none(), "h i d e t h i n k enter", &[(&["hideThinkingBlock"], json!(true))]);
    check(json!({"hideThinkingBlock": true}), "h i d e t h i n k enter", &[(&["hideThinkingBlock"], json!(false))]);
    check(none(), "h i d e t h i n k enter enter", &[(&["hideThinkingBlock"], json!(false))]);
    check(none(), "v i m enter", &[(&["editorMode"], json!("vim"))]);
    check(none(), "d o u b l e E s c enter", &[(&["doubleEscapeAction"], json!("fork"))]);
    check(none(), "m a x R e t r i e s enter 7 enter", &[(&["retry", "maxRetries"], json!(7))]);
    check(
        json!({"retry": {"maxRetries": 7}}),
        "m a x R e t r i e s enter backspace 8 enter",
        &[(&["retry", "maxRetries"], json!(8))],
    );
    check(
        json!({"retry": {"maxRetries": 7}}),
        "m a x R e t r i e s enter ctrl+u enter",
        &[(&["retry", "maxRetries"], Value::Null)],
    );
}

#[test]
fn what_the_agent_must_know_at_once_it_is_told() {
    let world = World::default();
    for (pressed, expected) in [
        ("s t e e r i n g enter", "SetQueueMode { kind: Steer, mode: All }"),
        ("compaction.enabled enter", "SetAutoCompaction(false)"),
        ("p e r m i s s i o n s . m o d e enter", "SetPermissionMode(Allow)"),
    ] {
        let outcome = told(&world.press(&mut selector(json!({})), pressed));
        assert!(outcome.contains(expected), "{pressed}: {outcome}");
    }
}

#[test]
fn themes_have_a_list_of_their_own() {
    assert_eq!(told(&World::default().press(&mut selector(json!({})), "enter")), "open");
}

#[test]
fn a_value_that_makes_no_sense_is_told_and_not_saved() {
    let world = World::default();
    let mut selector = selector(json!({}));
    assert_eq!(told(&world.press(&mut selector, "m a x R e t r i e s enter x enter")), "stay");
    assert!(world.draw(&selector, 80, 24).contains("expected a number"));
    assert_eq!(told(&world.press(&mut selector, "escape escape")), "close");
}

#[test]
fn where_a_value_comes_from_is_said() {
    let world = World::default();
    let dir = tempfile::tempdir().unwrap();
    let (user, project) = (dir.path().join("settings.json"), dir.path().join("project.json"));
    std::fs::write(&user, r#"{"hideThinkingBlock": true, "tuiMode": "regular"}"#).unwrap();
    std::fs::write(&project, r#"{"hideThinkingBlock": false}"#).unwrap();
    let files = Settings::load(&user, Some(&project));
    let mut in_force = files.effective();
    in_force["tuiMode"] = json!("fullscreen");
    let (mut selector, _) = SettingsSelector::new(&in_force, Vec::new());
    selector.on_worked(&WorkDone::SettingsRead(Box::new(files), in_force), &world.context());
    let picture = world.draw(&selector, 80, 24);
    assert!(picture.contains("project  false"), "{picture}");
    let outcome = told(&world.press(&mut selector, "h i d e t h i n k enter"));
    assert!(outcome.contains("Bool(false)"), "the user's own value is changed: {outcome}");
    assert!(world.draw(&selector, 80, 24).contains("The project's settings say so"));
    world.press(&mut selector, "ctrl+u t u i M o d e");
    assert!(world.draw(&selector, 80, 24).contains("This run wants it so"));
}

#[test]
fn a_file_that_cannot_be_saved_to_is_told() {
    let world = World::default();
    let dir = tempfile::tempdir().unwrap();
    let user = dir.path().join("settings.json");
    std::fs::write(&user, "{ broken").unwrap();
    let (mut selector, _) = SettingsSelector::new(&json!({}), Vec::new());
    let files = Box::new(Settings::load(&user, None));
    selector.on_worked(&WorkDone::SettingsRead(files, json!({})), &world.context());
    assert!(world.draw(&selector, 80, 24).contains("cannot be saved: mend the file"));
}

#[test]
fn the_list_is_drawn_at_every_size() {
    let world = World::default();
    let selector = selector(json!({"doubleEscapeAction": "fork"}));
    insta::assert_snapshot!(world.draw(&selector, 40, 12), @r"
    ────────────────────────────────────────
    Settings  (1/47)
    > search
    → Theme                           system
      Hide thinking                    false
      Thinking level                  medium
      Compact by itself                 true
      Tokens kept free                 16384
    Colours; system follows the terminal (t…
    Default: system
    enter change and save · escape leave
    ────────────────────────────────────────
    ");
    insta::assert_snapshot!(world.draw(&selector, 80, 14), @r"
    ────────────────────────────────────────────────────────────────────────────────
    Settings  (1/47)
    > search
    → Theme                                                                   system
      Hide thinking                                                            false
      Thinking level                                                          medium
      Compact by itself                                                         true
      Tokens kept free                                                         16384
      Recent tokens kept                                                       20000
      Steering messages                                                one-at-a-time
    Colours; system follows the terminal (theme)
    Default: system
    enter change and save · escape leave
    ────────────────────────────────────────────────────────────────────────────────
    ");
}
