//! Tool calls.

use serde_json::json;

use crate::{
    saying,
    support::{call, calls, text, wait_for_file},
};

fn bash(command: &str) -> crate::support::Call {
    call("bash", json!({ "command": command }))
}

#[test]
fn a_command_and_its_output_are_shown_while_it_runs() {
    let command = format!("echo tick-$((20+3)); {}; echo tock-$((20+4))", wait_for_file("go"));
    let stage = saying([calls([bash(&command)]), text("all done")]);
    let terminal = stage.open();
    terminal.submit("go");
    let screen = terminal.wait_text("tick-23");
    assert!(screen.has("echo tick-") && !screen.has("tock-24"), "{}", screen.picture());
    stage.sandbox.write("go", "");
    terminal.wait_text("tock-24");
    terminal.wait_text("all done");
}

#[test]
fn long_output_is_folded_and_a_key_unfolds_it() {
    let stage = saying([calls([bash("seq -f 'out-%g-row' 1 30")]), text("all done")]);
    let terminal = stage.terminal().size(80, 50).open();
    terminal.submit("go");
    let screen = terminal.wait_text("all done");
    assert!(!screen.has("out-15-row") || !screen.has("out-1-row"), "{}", screen.picture());
    terminal.key("ctrl+o");
    terminal.wait_for("all rows", |screen| screen.has("out-15-row") && screen.has("out-29-row"));
    terminal.key("ctrl+o");
    terminal.wait_gone("out-15-row");
}

#[test]
fn an_edit_is_shown_as_a_difference_and_a_written_file_with_its_text() {
    let edit = call("edit", json!({"path": "old.txt", "edits": [{"oldText": "alpha", "newText": "omega-line"}]}));
    let write = call("write", json!({"path": "fresh.txt", "content": "fresh content\nline 2\n"}));
    let stage = saying([calls([edit]), calls([write]), text("all done")]);
    stage.sandbox.write("old.txt", "alpha\nsecond\n");
    let terminal = stage.terminal().size(80, 50).open();
    terminal.submit("go");
    let screen = terminal.wait_text("all done");
    assert_eq!(stage.sandbox.read("old.txt"), "omega-line\nsecond\n");
    for expected in ["alpha", "omega-line", "fresh.txt", "fresh content"] {
        assert!(screen.has(expected), "no {expected:?}\n{}", screen.picture());
    }
    let [old, new] = ["alpha", "omega-line"].map(|text| terminal.cell_of(text));
    assert!(old.fgcolor() != new.fgcolor() || old.bgcolor() != new.bgcolor(), "old and new look the same");
}

#[test]
fn a_call_that_failed_looks_different_and_says_why() {
    let both = calls([bash("echo good-one"), bash("echo bad-one; exit 9"), call("read", json!({"path": "nope.txt"}))]);
    let stage = saying([both, text("all done")]);
    let terminal = stage.terminal().size(80, 50).open();
    terminal.submit("go");
    let screen = terminal.wait_text("all done");
    assert!(screen.has("9") && screen.has("nope.txt"), "{}", screen.picture());
    let grounds = ["good-one", "bad-one"].map(|text| terminal.cell_of(text).bgcolor());
    assert_ne!(grounds[0], grounds[1], "{}", screen.picture());
}

#[test]
fn calls_of_one_answer_are_all_shown() {
    let eight = (0..8).map(|n| bash(&format!("echo call-no-{n}")));
    let stage = saying([calls(eight), text("all done")]);
    let terminal = stage.terminal().size(80, 70).open();
    terminal.submit("go");
    let screen = terminal.wait_text("all done");
    for n in 0..8 {
        assert!(screen.has(&format!("call-no-{n}")), "{n}\n{}", screen.picture());
    }
}

#[test]
fn a_line_of_a_megabyte_does_not_hold_up_the_keys() {
    let huge = "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo END-OF";
    let stage = saying([calls([bash(huge)]), text("all done")]);
    let terminal = stage.open();
    terminal.submit("go");
    terminal.wait_text("all done");
    terminal.type_text("still typing");
}
