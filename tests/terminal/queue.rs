//! What is said while something runs.

use serde_json::json;

use crate::{
    saying,
    support::{Gate, call, calls, text, wait_for_file},
    terminal::{Stage, Terminal},
};

/// A stage whose model calls a command that runs until the file `go` is there, and a terminal in which it runs.
fn busy() -> (Stage, Terminal) {
    let command = format!("touch running; echo be-$((0+7)); {}; echo slept", wait_for_file("go"));
    let stage = saying([calls([call("bash", json!({ "command": command }))]), text("final reply"), text("and more")]);
    let terminal = stage.open();
    terminal.submit("begin");
    terminal.wait_text("be-7");
    (stage, terminal)
}

/// The editor has nothing of a text: it was taken.
fn taken(terminal: &Terminal, text: &str) {
    terminal.wait_for(&format!("{text:?} in the queue"), |screen| {
        screen.has(&format!("Steering: {text}")) || screen.has(&format!("Follow-up: {text}"))
    });
}

/// The row of the cursor holds a text.
fn editor_has(screen: &crate::terminal::Screen, text: &str) -> bool {
    let row = screen.cursor.and_then(|(row, _)| screen.rows.get(usize::from(row)));
    row.is_some_and(|row| row.contains(text))
}

#[test]
fn enter_steers_it_is_shown_as_waiting_and_comes_after_the_call() {
    let (stage, terminal) = busy();
    terminal.submit("change course");
    taken(&terminal, "change course");
    assert_eq!(stage.requests(), 1);
    stage.sandbox.write("go", "");
    let second = stage.request(1);
    assert_eq!(second.last_user(), "change course");
    assert_eq!(second.roles()[second.roles().len() - 2..], ["tool", "user"]);
    terminal.wait_text("final reply");
}

#[test]
fn alt_enter_says_it_when_the_run_would_end() {
    let (stage, terminal) = busy();
    terminal.type_text("then this");
    terminal.key("alt+enter");
    taken(&terminal, "then this");
    stage.sandbox.write("go", "");
    assert!(!stage.request(1).all_text().contains("then this"));
    assert_eq!(stage.sent(2), "then this");
}

#[test]
fn alt_up_takes_back_what_waits() {
    let (stage, terminal) = busy();
    terminal.submit("one steer");
    taken(&terminal, "one steer");
    terminal.type_text("two follow");
    terminal.key("alt+enter");
    taken(&terminal, "two follow");
    terminal.key("alt+up");
    terminal.wait_for("the texts in the editor", |screen| editor_has(screen, "two follow"));
    stage.sandbox.write("go", "");
    terminal.wait_text("final reply");
    terminal.key("enter");
    assert_eq!(stage.sent(2), "one steer\n\ntwo follow");
    assert!(!stage.request(1).all_text().contains("one steer"));
}

#[test]
fn escape_stops_the_answer_and_brings_back_what_waits() {
    let gate = Gate::closed();
    let stage = saying([text("A long story ").hold(&gate), text("fresh")]);
    let terminal = stage.open();
    terminal.submit("begin");
    terminal.wait_text("A long story");
    terminal.submit("queued words");
    taken(&terminal, "queued words");
    terminal.key("escape");
    terminal.wait_for("the text in the editor", |screen| editor_has(screen, "queued words"));
    terminal.wait_for("that it was stopped", |screen| screen.text().to_lowercase().contains("aborted"));
    assert_eq!(stage.requests(), 1);
    terminal.key("enter");
    assert_eq!(stage.sent(1), "queued words");
    terminal.wait_text("fresh");
}

#[test]
fn a_slash_command_works_while_the_model_speaks() {
    let gate = Gate::closed();
    let stage = saying([text("A long story ").hold(&gate)]);
    let terminal = stage.open();
    terminal.submit("begin");
    terminal.wait_text("A long story");
    terminal.submit("/name Busy Title");
    terminal.wait_text("name: Busy Title");
    assert_eq!(stage.requests(), 1);
    gate.open();
    terminal.wait_for("the name in the title", |screen| screen.title.contains("Busy Title"));
}
