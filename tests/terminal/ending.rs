//! Ends: what is left of the terminal, of the session and of the processes.

use rustix::process::{Pid, Signal, test_kill_process};
use serde_json::json;

use crate::{
    ANSWER, answering, saying,
    support::{Gate, call, calls, text},
    terminal::{Answers, Ended, PATIENCE, Stage, Terminal},
};

/// Nothing of the terminal is changed, and the session is on the disk.
fn assert_restored(terminal: &Terminal) {
    let left = terminal.left_changed();
    assert!(left.is_empty(), "left changed: {left:?}\n{}", terminal.screen().picture());
}

/// A stage whose model calls a command that never ends, and the command's process in the file `child`.
fn busy() -> Stage {
    let command = "sleep 600 & echo $! > child.new; mv child.new child; echo begun-$((0+1)); wait";
    saying([calls([call("bash", json!({ "command": command }))]), text("never")])
}

/// Waits until the command's process is gone.
fn assert_child_gone(stage: &Stage) {
    let child = Pid::from_raw(stage.sandbox.read("child").trim().parse().unwrap()).unwrap();
    let end = std::time::Instant::now() + PATIENCE;
    while test_kill_process(child).is_ok() {
        assert!(std::time::Instant::now() < end, "the command lives on");
        std::thread::yield_now();
    }
}

#[test]
fn quitting_restores_the_terminal_and_says_how_to_go_on() {
    let stage = answering();
    let terminal = stage.open();
    terminal.ask("hi");
    terminal.submit("/quit");
    assert_eq!(terminal.wait_end(), Ended::Code(0));
    assert_restored(&terminal);
    let screen = terminal.screen();
    assert!(!screen.alternate && screen.has(&stage.session_id()) && screen.has("--session"), "{}", screen.picture());
    assert_eq!(screen.cursor.map(|(_, column)| column), Some(0), "{}", screen.picture());
}

#[test]
fn what_stays_behind_is_the_conversation_or_only_the_hint() {
    for (setting, expected) in [("transcript", true), ("resume-hint", false)] {
        let stage = answering();
        stage.sandbox.settings(json!({"fullscreenExitOutput": setting}));
        let terminal = stage.open();
        terminal.ask("hi");
        terminal.key("ctrl+d");
        terminal.wait_end();
        assert_eq!(terminal.history().iter().any(|row| row.contains(ANSWER)), expected, "{setting}");
    }
}

#[test]
fn the_keyboard_of_a_kitty_terminal_is_put_back() {
    let stage = answering();
    let terminal = stage.terminal().answers(Answers::Kitty).open();
    terminal.wait_for("the kitty protocol in use", |_| true);
    terminal.type_text("x");
    assert_ne!(terminal.modes().kitty_flags() & 1, 0, "not used");
    terminal.play("<backspace><ctrl+d>");
    assert_eq!(terminal.wait_end(), Ended::Code(0));
    assert_restored(&terminal);
}

#[test]
fn fc_065_signals_end_it_in_order_with_their_codes() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        let stage = answering();
        let terminal = stage.open();
        terminal.ask("hi");
        terminal.signal(signal);
        assert_eq!(terminal.wait_end(), Ended::Code(128 + signal.as_raw()), "{signal:?}");
        assert_restored(&terminal);
        assert!(stage.entries().len() >= 3);
    }
}

#[test]
fn fc_065_a_signal_while_a_command_runs_takes_it_along() {
    let stage = busy();
    let terminal = stage.open();
    terminal.submit("go");
    terminal.wait_text("begun-1");
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.wait_end(), Ended::Code(128 + Signal::TERM.as_raw()));
    assert_restored(&terminal);
    assert_child_gone(&stage);
}

#[test]
fn fc_065_ctrl_c_twice_ends_it_while_the_model_speaks() {
    let gate = Gate::closed();
    let stage = saying([text("A long story ").hold(&gate)]);
    let terminal = stage.open();
    terminal.submit("go");
    terminal.wait_text("A long story");
    terminal.keys(&["ctrl+c", "ctrl+c"]);
    assert_eq!(terminal.wait_end(), Ended::Code(0));
    assert_restored(&terminal);
}

#[test]
fn fc_067_a_terminal_that_goes_away_ends_it_with_its_commands_and_keeps_the_session() {
    for ignored in [false, true] {
        let stage = busy();
        let terminal = stage.terminal();
        let mut terminal = if ignored { terminal.ignoring_hang_ups() } else { terminal }.open();
        terminal.submit("go");
        terminal.wait_text("begun-1");
        terminal.hang_up();
        terminal.wait_end();
        assert_child_gone(&stage);
        assert!(stage.entries().len() >= 3);
    }
}

#[test]
fn fc_067_a_terminal_that_goes_away_ends_it_in_a_selector_and_while_text_comes() {
    let gate = Gate::closed();
    let stage = saying([text("A long story ").hold(&gate)]);
    let mut terminal = stage.open();
    terminal.submit("go");
    terminal.wait_text("A long story");
    terminal.hang_up();
    terminal.wait_end();
    let mut terminal = stage.open();
    terminal.submit("/settings");
    terminal.wait_for("settings", |screen| screen.text().to_lowercase().contains("theme"));
    terminal.hang_up();
    terminal.wait_end();
}

#[test]
fn answers_of_the_terminal_that_come_at_the_end_are_not_left_for_the_shell() {
    let stage = answering();
    let terminal = stage.terminal().slow_answers().in_a_shell();
    terminal.run("$PROGRAM --model mock/m1");
    terminal.wait_for("the screen", |screen| screen.alternate && screen.bottom(3).contains("m1"));
    terminal.key("ctrl+d");
    terminal.release_answers();
    terminal.wait_prompt();
    terminal.run("echo line-$((0+1))");
    let screen = terminal.wait_text("line-1");
    assert!(screen.rows.iter().any(|row| row.ends_with("shell>echo line-$((0+1))")), "{}", screen.picture());
}
