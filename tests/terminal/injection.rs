//! FC-064: texts that want to act on the terminal are shown harmlessly, wherever they come from.

use serde_json::{Value, json};

use crate::{
    answering, saying,
    support::{Reply, call, calls, http, text, thinking},
    terminal::{Ended, Terminal},
};

/// Clipboard, title, erasing, an unknown mode, device control, application command, the same as single bytes, a link, a
/// notification, a reset, the bell, and something unknown.
const EVIL: &str = "\x1b]52;c;UFdORUQ=\x07\x1b]0;PWNED\x07\x1b]2;PWNED\x1b\\\x1b[2J\x1b[3J\x1b[?9999h\x1bPPWNED\x1b\\\x1b_PWNED\x1b\\\u{9b}9999z\u{90}PWNED\u{9c}\x1b]8;;http://PWNED/\x07\x1b]777;notify;PWNED;x\x07\x1bc\x07\x1b[9999z\u{202e}\u{2066}";

/// What of it must not be in the output, as it stands.
const BYTES: [&str; 11] = [
    "\x1b]52",
    "\x1b]0;PWNED",
    "\x1b]2;PWNED",
    "\x1b[3J",
    "\x1b[?9999h",
    "\x1bP",
    "\x1b_",
    "\x1b]777",
    "\x1bc",
    "\u{202e}",
    "\u{2066}",
];

/// Nothing came through, and the screen is whole.
fn assert_harmless(terminal: &Terminal, case: &str) {
    let written = terminal.bytes();
    let written = String::from_utf8_lossy(&written);
    for bytes in BYTES {
        // Questions about what the terminal can do are the program's own.
        let from_us = bytes == "\x1bP" && !written.contains("\x1bPPWNED");
        assert!(from_us || !written.contains(bytes), "{case}: {bytes:?} was written");
    }
    terminal.audit().assert_clean();
    let screen = terminal.screen();
    assert!(!screen.title.contains("PWNED") || screen.title.contains("π"), "{case}: {}", screen.title);
    assert!(screen.bottom(3).contains("m1"), "{case}\n{}", screen.picture());
}

/// What a model says comes through harmlessly: `mark` stands behind the evil text.
fn check(case: &str, replies: Vec<Reply>, mark: &str) {
    let stage = saying(replies);
    stage.sandbox.write("evil.txt", format!("a{EVIL}\nfile-mark\n"));
    stage.sandbox.write("edit.txt", "alpha\n");
    let terminal = stage.terminal().size(80, 60).open();
    terminal.submit("go");
    terminal.wait_text(mark);
    assert_harmless(&terminal, case);
    terminal.key("ctrl+o");
    terminal.type_text("unfolded");
    assert_harmless(&terminal, case);
}

fn one(name: &str, arguments: Value) -> Vec<Reply> {
    vec![calls([call(name, arguments)]), text("tail-mark")]
}

#[test]
fn fc_064_in_what_the_model_says_and_thinks_whole_and_in_pieces() {
    let answer = format!("head {EVIL} tail-mark");
    check("answer", vec![text(&answer)], "tail-mark");
    check("answer in pieces", vec![text(&answer).split(1)], "tail-mark");
    check("thinking", vec![thinking(&[&format!("hm {EVIL}")], &["tail-mark"])], "tail-mark");
    let link = "[click](<http://x/\x1b\\\x1b]0;PWNED\x07>) [b](http://y/\x07\x1b]0;PWNED\x07) tail-mark";
    check("links", vec![text(link)], "tail-mark");
}

#[test]
fn fc_064_in_what_commands_and_files_say() {
    let print = r"printf 'o\033]52;c;UFdORUQ=\007\033]0;PWNED\007\033[2J\033[3J\033[?9999h\033PPWNED\033\\\302\233\x39999z\007 x\rover\b\b\033[9999z\033c z\n'";
    check("output of bash", one("bash", json!({ "command": print })), "tail-mark");
    check("a file", one("read", json!({"path": "evil.txt"})), "tail-mark");
    let stage = answering();
    let terminal = stage.open();
    terminal.submit(&format!("!{print}; echo out-$((0+1))"));
    terminal.wait_text("out-1");
    assert_harmless(&terminal, "output of a command of the user");
}

#[test]
fn fc_064_in_the_arguments_of_calls() {
    let arguments = [
        call("bash", json!({"command": format!("echo ok '{EVIL}' >/dev/null")})),
        call("read", json!({"path": format!("no{EVIL}")})),
        call("write", json!({"path": "w.txt", "content": format!("c{EVIL}\n")})),
        call("edit", json!({"path": "edit.txt", "edits": [{"oldText": "alpha", "newText": format!("new{EVIL}")}]})),
        call("no\x1b]0;PWNED\x07tool", json!({ format!("k{EVIL}"): EVIL })),
    ];
    check("arguments", vec![calls(arguments), text("tail-mark")], "tail-mark");
}

#[test]
fn fc_064_in_errors_of_the_provider() {
    check("error", vec![http(400, &format!("bad {EVIL} err-mark"))], "err-mark");
}

#[test]
fn fc_064_in_names_of_files_and_of_the_branch() {
    let stage = answering();
    for name in ["zz\x1b]0;PWNED\x07a.txt", "zz\x1b[2Jb.txt", "zz\x1b[?9999hc.txt", "zz\u{202e}gnp.txt", "zz\nnl.txt"] {
        stage.sandbox.write(name, "x");
    }
    stage.sandbox.write(".git/HEAD", "ref: refs/heads/x\x1b]0;PWNED\x07\x1b[?9999h\n");
    let terminal = stage.open();
    terminal.send("@zz");
    // Names with control characters are not offered at all.
    terminal.wait_for("a file", |screen| screen.count("zz") > 1);
    assert_harmless(&terminal, "list of files");
    terminal.key("tab");
    terminal.type_text("behind");
    assert_harmless(&terminal, "completed name");
}

#[test]
fn fc_064_in_a_session_that_is_opened_again() {
    let stage = saying([text(&format!("answer {EVIL} tail-mark"))]);
    let terminal = stage.open();
    terminal.paste(&format!("first-mark {}", EVIL.replace("\x1b[2J", "")));
    terminal.key("enter");
    terminal.wait_text("tail-mark");
    assert_harmless(&terminal, "pasted prompt");
    terminal.key("ctrl+d");
    assert_eq!(terminal.wait_end(), Ended::Code(0));
    terminal.audit().assert_clean();
    let terminal = stage.terminal().args(&["-r"]).start();
    terminal.wait_text("first-mark");
    terminal.key("enter");
    terminal.wait_text("tail-mark");
    terminal.wait_ready();
    terminal.submit("/tree");
    terminal.wait_for("the tree", |screen| screen.text().to_lowercase().contains("session tree"));
    assert_harmless(&terminal, "tree");
}

#[test]
fn fc_064_in_templates_and_skills() {
    let stage = answering();
    let template = "---\ndescription: \"Desc \\e]0;PWNED\\a \\x1b[?9999h d-mark\"\n---\nbody";
    stage.sandbox.write(stage.user_file("prompts/zevil.md"), template);
    stage.sandbox.write(stage.user_file("prompts/zevil2.md"), format!("Line{EVIL}\nbody"));
    stage.sandbox.write("AGENTS.md", format!("x{EVIL}"));
    let terminal = stage.open();
    terminal.send("/zev");
    terminal.wait_text("d-mark");
    assert_harmless(&terminal, "list of commands");
}
