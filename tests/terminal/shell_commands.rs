//! Commands of the user: `!` and `!!`.

use rustix::process::{Pid, test_kill_process};

use crate::{answering, support::wait_for_file};

#[test]
fn a_command_shows_its_output_and_goes_into_the_next_request() {
    let stage = answering();
    let terminal = stage.open();
    terminal.submit("!echo out-$((40+2))");
    terminal.wait_for("the end of the command", |screen| screen.has("out-42") && !screen.has("Running..."));
    terminal.submit("!!echo hidden-$((40+3))");
    terminal.wait_for("the end of the other", |screen| screen.has("hidden-43") && !screen.has("Running..."));
    assert_eq!(stage.requests(), 0);
    terminal.ask("go on");
    let users = stage.request(0).texts("user").join("\n");
    assert!(users.contains("out-42") && users.contains("go on") && !users.contains("hidden-43"), "{users}");
}

#[test]
fn output_comes_while_the_command_runs_and_so_does_typing() {
    let stage = answering();
    let terminal = stage.open();
    terminal.submit(&format!("!echo tick-$((0+1)); {}; echo tick-$((0+2))", wait_for_file("go")));
    terminal.wait_text("tick-1");
    terminal.type_text("typing");
    assert!(!terminal.screen().has("tick-2"));
    stage.sandbox.write("go", "");
    terminal.wait_text("tick-2");
}

#[test]
fn escape_ends_a_command_with_its_children() {
    let stage = answering();
    let terminal = stage.open();
    terminal.submit("!sleep 300 & echo $! > child.new; mv child.new child; echo begun-$((0+1)); wait");
    terminal.wait_text("begun-1");
    terminal.key("escape");
    terminal.wait_for("that it was cancelled", |screen| screen.text().to_lowercase().contains("cancelled"));
    let child = Pid::from_raw(stage.sandbox.read("child").trim().parse().unwrap()).unwrap();
    let end = std::time::Instant::now() + crate::terminal::PATIENCE;
    while test_kill_process(child).is_ok() {
        assert!(std::time::Instant::now() < end, "the command's child lives on");
        std::thread::yield_now();
    }
    terminal.ask("go on");
}

#[test]
fn a_command_that_fails_says_its_code() {
    let stage = answering();
    let terminal = stage.open();
    terminal.submit("!echo oops; exit 7");
    terminal.wait_for("the code", |screen| {
        screen.rows.iter().any(|row| row.contains('7') && !row.contains("oops") && row.to_lowercase().contains("exit"))
    });
}

#[test]
fn a_command_looks_different_while_it_is_written() {
    let stage = answering();
    let terminal = stage.open();
    let look = |text: &str| {
        terminal.type_text(text);
        let styles = terminal.colors();
        terminal.key("ctrl+u");
        terminal.wait_gone(text);
        styles
    };
    assert_ne!(look("echo"), look("!ech"));
}
