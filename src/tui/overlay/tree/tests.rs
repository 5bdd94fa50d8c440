use super::*;
use crate::{
    protocol::navigation::leaf_entry,
    store::testing::{answer, line, user, view},
    tui::overlay::testing::{World, told},
};

/// Two prompts, and another second one that is in use.
fn lines() -> Vec<String> {
    let call = serde_json::json!({"type": "toolCall", "id": "1", "name": "read", "arguments": {}});
    let calls = serde_json::json!({"message": {"role": "assistant", "content": [call], "stopReason": "toolUse", "timestamp": 1}});
    let result = serde_json::json!({"message": {"role": "toolResult", "toolCallId": "1", "toolName": "read", "content": [{"type": "text", "text": "contents"}], "isError": false, "timestamp": 1}});
    vec![
        user("u1", "", "alpha question"),
        line("message", "c1", "u1", calls),
        line("message", "r1", "c1", result),
        answer("a1", "r1", "first answer"),
        user("u2", "a1", "beta question"),
        answer("a2", "u2", "second answer"),
        user("u3", "a1", "gamma question"),
        answer("a3", "u3", "third answer"),
        line("label", "l1", "a3", serde_json::json!({"targetId": "u2", "label": "mark"})),
    ]
}

fn selector() -> TreeSelector {
    TreeSelector::new(view(&lines()), Filter::Default, false).0
}

fn marked(pressed: &str) -> Option<String> {
    let mut selector = selector();
    World::default().press(&mut selector, pressed);
    selector.tree.marked().map(|entry| entry.id().to_string())
}

fn outcome(pressed: &str) -> String {
    told(&World::default().press(&mut selector(), pressed))
}

fn goes(target: &str, summarize: bool, instructions: Option<&str>) -> String {
    told(&go(Navigate {
        target: Some(target.into()),
        summarize,
        custom_instructions: instructions.map(str::to_owned),
        ..Navigate::default()
    }))
}

#[test]
fn keys_move_the_mark_filter_and_search() {
    for (pressed, expected) in [
        ("", "a3"),
        ("up", "u3"),
        ("down", "u2"),
        ("up up up", "r1"),
        ("up up up up", "u1"),
        ("ctrl+u", "u3"),
        ("ctrl+u up", "u1"),
        ("ctrl+l", "u2"),
        ("ctrl+a up up up up", "c1"),
        ("ctrl+t up up up", "u1"),
        ("ctrl+o up up up", "u1"),
        ("b e t a", "u2"),
        ("q u e s t i o n", "u3"),
        ("m a r k", "u2"),
        ("b e t a ctrl+w", "u2"),
        ("ctrl+left", "u3"),
        ("ctrl+left ctrl+left up", "a1"),
        ("ctrl+left ctrl+left ctrl+right ctrl+right", "u2"),
    ] {
        assert_eq!(marked(pressed).as_deref(), Some(expected), "{pressed}");
    }
    assert_eq!(marked("z z z"), None);
}

#[test]
fn going_on_elsewhere_asks_about_a_summary_where_something_is_left() {
    for (pressed, expected) in [
        ("enter", "close".to_owned()),
        ("escape", "close".to_owned()),
        ("b e t a enter", "stay".to_owned()),
        ("b e t a enter enter", goes("u2", false, None)),
        ("b e t a enter down enter", goes("u2", true, None)),
        ("b e t a enter up enter s h o r t enter", goes("u2", true, Some("short"))),
        ("b e t a enter up enter enter", goes("u2", true, None)),
        ("b e t a enter up enter escape escape", "stay".to_owned()),
        ("b e t a enter escape escape", "close".to_owned()),
    ] {
        assert_eq!(outcome(pressed), expected, "{pressed}");
    }
    let mut skips = TreeSelector::new(view(&lines()), Filter::Default, true).0;
    assert_eq!(told(&World::default().press(&mut skips, "b e t a enter")), goes("u2", false, None));
}

#[test]
fn where_nothing_is_left_behind_nothing_is_asked() {
    let mut back = lines();
    back.truncate(6);
    back.push(line("custom", "x", "u1", serde_json::to_value(leaf_entry()).unwrap()));
    let (mut selector, _) = TreeSelector::new(view(&back), Filter::Default, false);
    assert_eq!(told(&World::default().press(&mut selector, "s e c o n d enter")), goes("a2", false, None));
}

#[test]
fn labels_are_written_and_messages_copied() {
    let label = |target: &str, label: Option<&str>| {
        let command = Command::SetLabel { target: target.into(), label: label.map(str::to_owned) };
        told(&Outcome::Stay(vec![Effect::Send(command, Purpose::Plain)]))
    };
    for (pressed, expected) in [
        ("L n e w enter", label("a3", Some("new"))),
        ("L enter", label("a3", None)),
        ("down L ! enter", label("u2", Some("mark!"))),
        ("down L ctrl+u enter", label("u2", None)),
        ("L n escape escape", "close".to_owned()),
        ("ctrl+x", "stay Copy(\"third answer\")".to_owned()),
    ] {
        assert_eq!(outcome(pressed), expected, "{pressed}");
    }
}

#[test]
fn the_tree_follows_the_session() {
    let mut selector = selector();
    let mut world = World::default();
    let mut more = lines();
    more.push(line("label", "l2", "l1", serde_json::json!({"targetId": "a3", "label": "fresh"})));
    world.facts.tree = Some(view(&more));
    selector.on_change(&world.context());
    assert!(world.draw(&selector, 60, 20).contains("[fresh] assistant: third answer"));
}

#[test]
fn the_tree_is_drawn_at_every_size() {
    let world = World::default();
    let mut selector = selector();
    insta::assert_snapshot!(world.draw(&selector, 40, 12), @r"
    ────────────────────────────────────────
    Session tree  default  (5/7)
    > search
      • user: alpha question
      • read: contents
      • assistant: first answer
      ├─ • user: gamma question
    → │  • assistant: third answer ← here
      └─ [mark] user: beta question
         assistant: second answer
    enter go on here · escape leave
    ────────────────────────────────────────
    ");
    insta::assert_snapshot!(world.draw(&selector, 80, 24), @r"
    ────────────────────────────────────────────────────────────────────────────────
    Session tree  default  (5/7)
    > search
      • user: alpha question
      • read: contents
      • assistant: first answer
      ├─ • user: gamma question
    → │  • assistant: third answer ← here
      └─ [mark] user: beta question
         assistant: second answer
    enter go on here · ctrl+o filter · shift+l label · ctrl+left fold · escape leave
    ────────────────────────────────────────────────────────────────────────────────
    ");
    world.press(&mut selector, "down T");
    assert!(world.draw(&selector, 200, 60).contains("[mark] 2026-01-02 03:04 user: beta question"));
    world.press(&mut selector, "enter");
    insta::assert_snapshot!(world.draw(&selector, 40, 12), @r"
    ────────────────────────────────────────
    Summarise the branch that is left?
    → No summary
      Summarise
      Summarise with own instructions
    enter go on · escape back
    ────────────────────────────────────────
    ");
}

#[test]
fn a_long_session_is_read_in_part_and_the_rest_is_left_to_a_worker() {
    let mut lines = vec![user("n0", "", "the first")];
    lines.extend((1..2_000).map(|n| user(&format!("n{n}"), &format!("n{}", n - 1), &format!("text {n}"))));
    let tree = view(&lines);
    let (mut selector, effects) = TreeSelector::new(tree.clone(), Filter::Default, false);
    assert_eq!(effects, [Effect::Work(Work::TreeTexts(TextsWork { count: 1_744 }))]);
    let world = World::default();
    world.press(&mut selector, "f i r s t");
    assert!(selector.tree.marked().is_none());
    let said = (0..1_744).map(|at| texts::Said::by(&tree.entry_at(at).unwrap())).collect();
    selector.on_worked(&WorkDone::TreeTexts(TextsFound { from: 0, said }), &world.context());
    assert_eq!(selector.tree.marked().map(|entry| entry.id().to_string()).as_deref(), Some("n0"));
}
