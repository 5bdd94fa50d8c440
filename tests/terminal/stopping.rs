//! Suspending.

use rustix::process::Signal;

use crate::{
    ANSWER, answering, saying,
    support::{Gate, text},
    terminal::{BRACKETED_PASTE, Terminal},
};

/// Starts the program in the shell and waits until its screen is there.
fn begin(terminal: &Terminal) {
    terminal.run("$PROGRAM --model mock/m1");
    terminal.wait_for("the screen", |screen| screen.alternate && screen.bottom(3).contains("m1"));
}

#[test]
fn fc_066_ctrl_z_gives_the_terminal_back_and_fg_brings_the_screen_and_the_draft() {
    let stage = answering();
    let terminal = stage.terminal().in_a_shell();
    begin(&terminal);
    terminal.type_text("my draft");
    for round in 0..3 {
        terminal.key("ctrl+z");
        terminal.wait_prompt();
        assert!(terminal.modes().left().is_empty(), "{:?}", terminal.modes().left());
        assert!(terminal.is_cooked(), "round {round}");
        terminal.run("clear; jobs");
        terminal.wait_text("Stopped");
        terminal.run("fg");
        terminal.wait_for("the screen", |screen| screen.alternate && screen.has("my draft"));
        assert!(terminal.modes().is_set(BRACKETED_PASTE) && !terminal.is_cooked());
    }
    terminal.submit(" more");
    terminal.wait_text(ANSWER);
    assert_eq!(stage.sent(0), "my draft more");
}

#[test]
fn fc_066_what_comes_while_it_is_stopped_is_there_afterwards() {
    let gate = Gate::closed();
    let rows: Vec<_> = (0..12).map(|n| format!("row-{n:02}")).collect();
    let stage = saying([text("Begun. ").hold(&gate).before_end(&rows.join("\n\n"))]);
    let terminal = stage.terminal().in_a_shell();
    begin(&terminal);
    terminal.submit("go");
    terminal.wait_text("Begun.");
    terminal.key("ctrl+z");
    terminal.wait_prompt();
    gate.open();
    let before = terminal.written();
    terminal.run("echo shell-is-$((0+1))");
    terminal.wait_text("shell-is-1");
    assert!(!terminal.written_since(before).contains("row-"), "it draws while it is stopped");
    terminal.run("fg");
    terminal.wait_for("all rows", |screen| screen.alternate && screen.has("row-11"));
    let said = stage.entries().iter().map(ToString::to_string).collect::<String>();
    assert!(rows.iter().all(|row| said.contains(row)));
}

#[test]
fn a_stop_that_it_does_not_see_leaves_a_whole_screen_in_the_new_size() {
    let stage = answering();
    let terminal = stage.open();
    terminal.type_text("keep me");
    terminal.signal(Signal::STOP);
    terminal.wait_stopped();
    terminal.resize(70, 20);
    terminal.signal(Signal::CONT);
    terminal.wait_for("the screen in its new size", |screen| screen.has("keep me") && screen.bottom(3).contains("m1"));
    terminal.type_text("!");
    terminal.wait_text("keep me!");
}
