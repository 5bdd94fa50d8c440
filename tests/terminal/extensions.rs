//! A program with an extension: its commands, its dialogs and what it shows.

use serde_json::json;

use crate::{
    saying,
    support::{call, calls, text},
};

#[test]
fn an_extension_asks_brings_a_tool_shows_a_field_and_changes_the_session() {
    let stage = saying([calls([call("calendar", json!({}))]), text("The report is done.")]);
    let terminal = stage.terminal().example("commands").args(&["--team", "red"]).open();
    terminal.submit("/standup");
    terminal.wait_text("What was done?");
    terminal.type_text("fixed the build");
    terminal.key("enter");
    let screen = terminal.wait_text("The report is done.");
    assert!(screen.bottom(3).contains("the report is being written"), "{}", screen.picture());
    assert!(stage.request(1).results()[0].contains("planning of the team red"));
    // It objects until it is told to leave.
    terminal.submit("/fresh");
    terminal.wait_text("Leave the report?");
    terminal.key("n");
    terminal.wait_gone("Leave the report?");
    terminal.submit("/fresh");
    terminal.wait_text("Leave the report?");
    terminal.key("y");
    let screen = terminal.wait_text("A new session.");
    assert!(!screen.has("The report is done.") && !screen.has("the report is being written"), "{}", screen.picture());
}
