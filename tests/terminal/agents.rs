//! Agents below the one in front: their cards, the list of them, and what a person does to one.

use serde_json::json;

use crate::{
    support::{Gate, Reply, Request, call, calls, hang, text},
    terminal::{Stage, Terminal},
};

/// What the agent below is to do.
const TASK: &str = "dig for gold";

/// The parent spawns a digger in the background; the digger says something and waits at the gate, then it hangs.
fn script(gate: &Gate) -> impl FnMut(&Request) -> Reply + Send + 'static {
    let gate = gate.clone();
    move |request| match request.last_user().as_str() {
        TASK => text("I dig and dig").hold(&gate),
        "dig faster" => hang("still nothing"),
        _ if request.results().is_empty() => {
            calls([call("agent_spawn", json!({"task": TASK, "name": "digger", "background": true}))])
        }
        _ => text("A digger works."),
    }
}

fn digging(stage: &Stage) -> Terminal {
    let terminal = stage.terminal().size(100, 40).args(&["--siblings"]).open();
    terminal.submit("begin");
    terminal.wait_for("the card of the digger", |screen| {
        screen.has("● agent-1 digger") && screen.has("I dig and dig") && screen.has("A digger works.")
    });
    terminal
}

#[test]
fn a_sibling_has_a_card_and_is_looked_at_steered_and_stopped_from_the_list() {
    let gate = Gate::closed();
    let stage = Stage::new(script(&gate));
    let terminal = digging(&stage);
    let screen = terminal.screen();
    assert!(screen.bottom(4).contains("1 agent"), "{}", screen.picture());
    assert!(screen.has("agent_spawn digger (in the background)"), "{}", screen.picture());
    // Its conversation.
    terminal.submit("/agents");
    terminal.wait_for("the list", |screen| screen.has("1 of 1 run") && screen.has("agent-1 digger running"));
    terminal.keys(&["down", "enter"]);
    terminal.wait_for("its conversation", |screen| screen.has(TASK) && screen.has("ctrl+s steer"));
    terminal.key("escape");
    // A message.
    terminal.wait_for("the list", |screen| screen.has("1 of 1 run"));
    terminal.key("ctrl+s");
    terminal.wait_text("Message to agent-1 digger");
    terminal.type_text("dig faster");
    terminal.key("enter");
    terminal.wait_for("the list", |screen| screen.has("1 of 1 run"));
    gate.open();
    terminal.wait_for("the message in a request", |_| (0..stage.requests()).any(|n| stage.sent(n) == "dig faster"));
    // Its end.
    terminal.key("ctrl+d");
    terminal.wait_text("Stop agent-1, with all below it? Enter stops it.");
    terminal.key("enter");
    terminal.wait_for("that it is stopped", |screen| screen.has("0 of 1 run") && screen.has("■ agent-1 digger"));
    terminal.key("escape");
    terminal.wait_for("no list", |screen| !screen.has("0 of 1 run") && !screen.bottom(4).contains("1 agent"));
}

#[test]
fn a_sibling_is_held_and_goes_on() {
    let gate = Gate::closed();
    let stage = Stage::new(script(&gate));
    let terminal = digging(&stage);
    terminal.key("alt+a");
    terminal.wait_for("the list", |screen| screen.has("agent-1 digger running"));
    terminal.keys(&["down", "ctrl+p"]);
    terminal.wait_text("‖ agent-1 digger paused");
    terminal.key("ctrl+p");
    terminal.wait_text("● agent-1 digger running");
    gate.open();
    terminal.wait_text("✓ agent-1 digger done");
}

#[test]
fn what_a_sibling_asks_comes_with_its_name() {
    let stage = Stage::new(|request| match (request.last_user().as_str(), request.results().is_empty()) {
        (TASK, true) => calls([call("bash", json!({"command": "touch dug"}))]),
        (TASK, false) => text("There was gold."),
        (_, true) => calls([call("agent_spawn", json!({"task": TASK, "name": "digger"}))]),
        (_, false) => text("They dug."),
    });
    stage.sandbox.settings(json!({"permissions": {"mode": "ask", "allow": ["agent_spawn"]}}));
    let terminal = stage.terminal().size(100, 40).args(&["--siblings"]).open();
    terminal.submit("begin");
    let screen = terminal.wait_text("agent-1 (digger):");
    assert!(screen.has("touch dug") && !stage.sandbox.exists("dug"), "{}", screen.picture());
    terminal.key("enter");
    terminal.wait_text("They dug.");
    assert!(stage.sandbox.exists("dug"));
}
