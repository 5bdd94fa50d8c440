use super::*;
use crate::tui::overlay::testing::{World, told};

fn question(title: &str, dialog: Dialog, timeout_ms: Option<u64>) -> Arc<Question> {
    Arc::new(Question {
        id: QuestionId::from("q".to_owned()),
        title: title.to_owned(),
        dialog,
        timeout_ms,
        tool_call_id: None,
    })
}

fn permission(command: &str) -> Arc<Question> {
    let options = ["Allow once", "Allow for this session", "Deny", "Deny and say why"];
    let title = format!("Allow bash?\n\n{command}\n\nbash(rm): no rule allows it.");
    question(&title, Dialog::Select { options: options.map(str::to_owned).to_vec() }, Some(60_000))
}

fn check(question: &Arc<Question>, pressed: &str, answer: Option<Answer>) {
    let world = World::default();
    let mut dialog = dialog(question, 0);
    let outcome = told(&world.press(&mut *dialog, pressed));
    let expected = match answer {
        Some(answer) => {
            let command = Command::Answer { id: question.id.clone(), answer };
            told(&Outcome::Close(vec![Effect::Send(command, Purpose::Plain)]))
        }
        None => "stay".to_owned(),
    };
    assert_eq!(outcome, expected, "{pressed}");
}

fn value(text: &str) -> Option<Answer> {
    Some(Answer::Value(text.to_owned()))
}

#[test]
fn keys_choose_an_option() {
    let question = permission("rm -r build");
    for (pressed, answer) in [
        ("enter", value("Allow once")),
        ("down enter", value("Allow for this session")),
        ("up enter", value("Deny and say why")),
        ("3", value("Deny")),
        ("9", None),
        ("y", None),
        ("a b c space", None),
        ("escape", Some(Answer::Cancelled)),
        ("ctrl+c", Some(Answer::Cancelled)),
    ] {
        check(&question, pressed, answer);
    }
}

#[test]
fn yes_and_no_have_letters() {
    let question = question("Really?", Dialog::Confirm { message: "All of it.".into() }, None);
    for (pressed, answer) in [
        ("y", Some(Answer::Confirmed(true))),
        ("enter", Some(Answer::Confirmed(true))),
        ("n", Some(Answer::Confirmed(false))),
        ("down enter", Some(Answer::Confirmed(false))),
        ("2", Some(Answer::Confirmed(false))),
        ("escape", Some(Answer::Cancelled)),
    ] {
        check(&question, pressed, answer);
    }
}

#[test]
fn text_is_written_and_sent() {
    let line = question("Name?", Dialog::Input { placeholder: Some("a name".into()) }, None);
    let text = question("Text?", Dialog::Editor { prefill: Some("one\ntwo".into()) }, None);
    for (question, pressed, answer) in [
        (&line, "a b enter", value("ab")),
        (&line, "enter", value("")),
        (&line, "a escape", Some(Answer::Cancelled)),
        (&text, "enter", value("one\ntwo")),
        (&text, "X up ctrl+a Y enter", value("Yone\ntwoX")),
        (&text, "shift+enter 3 enter", value("one\ntwo\n3")),
        (&text, "escape", Some(Answer::Cancelled)),
    ] {
        check(question, pressed, answer);
    }
}

#[test]
fn a_call_that_is_asked_about_is_seen_with_the_time_that_is_left() {
    let mut world = World::default();
    let dialog = dialog(&permission("rm -r build\u{1b}[2K"), 0);
    world.now = 1_500;
    insta::assert_snapshot!(world.draw(&*dialog, 40, 14), @r"
    ────────────────────────────────────────
    Allow bash?

    rm -r build<U+001B>[2K

    bash(rm): no rule allows it.
    → 1. Allow once
      2. Allow for this session
      3. Deny
      4. Deny and say why
    59 s left · enter choose · escape cancel
    ────────────────────────────────────────
    ");
    assert!(dialog.is_moving());
}

#[test]
fn a_long_call_scrolls_and_its_options_stay() {
    let world = World::default();
    let command: String = (1..40).map(|n| format!("echo {n}\n")).collect();
    let mut dialog = dialog(&permission(&command), 0);
    let first = world.draw(&*dialog, 40, 12);
    assert!(
        first.contains("Allow bash?") && first.contains("1. Allow once") && first.contains("of 44 lines"),
        "{first}"
    );
    world.press(&mut *dialog, "pagedown");
    let second = world.draw(&*dialog, 40, 12);
    assert!(!second.contains("Allow bash?") && second.contains("echo 3") && second.contains("Deny"), "{second}");
    for _ in 0..40 {
        world.press(&mut *dialog, "pagedown");
    }
    assert!(world.draw(&*dialog, 40, 12).contains("no rule allows it"));
}

#[test]
fn the_other_dialogs_are_drawn() {
    let world = World::default();
    let line = dialog(&question("Name?", Dialog::Input { placeholder: Some("a name".into()) }, None), 0);
    let text = dialog(&question("Text?", Dialog::Editor { prefill: Some("one\ntwo".into()) }, None), 0);
    insta::assert_snapshot!(world.draw(&*line, 40, 12), @r"
    ────────────────────────────────────────
    Name?
    > a name
    enter answer · escape cancel
    ────────────────────────────────────────
    ");
    insta::assert_snapshot!(world.draw(&*text, 40, 9), @r"
    ────────────────────────────────────────
    Text?
    one
    two



    enter answer · escape cancel
    ────────────────────────────────────────
    ");
}
