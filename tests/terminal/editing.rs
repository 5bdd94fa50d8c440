//! A few keys of the editor from end to end; what each key does is tested beside it.

use serde_json::json;

use crate::{
    ANSWER, answering, numbering,
    terminal::{Answers, Ended, Stage},
};

/// Plays keys, then `shown` must be on the screen and `sent` is sent.
fn check(stage: &Stage, answers: Answers, cases: &[(&str, &str)]) {
    let terminal = stage.terminal().answers(answers).open();
    let before = stage.requests();
    for (n, (keys, sent)) in cases.iter().enumerate() {
        terminal.play(keys);
        terminal.wait_text(sent.lines().last().unwrap());
        terminal.key("enter");
        assert_eq!(stage.sent(before + n), *sent, "{keys}");
        terminal.wait_text(&format!("Reply {}.", before + n));
    }
}

#[test]
fn keys_move_in_the_text_and_change_it() {
    check(
        &numbering(),
        Answers::Xterm,
        &[
            ("bc<ctrl+a>a<ctrl+e>d<home>0<end>e", "0abcde"),
            ("one two three<alt+b>3<ctrl+left><ctrl+left>2<end>.", "one 2two 3three."),
            ("one two three four<ctrl+w><alt+backspace>X", "one two X"),
            ("abc def<left><left><left><ctrl+u>x<home><right><ctrl+k>y", "xy"),
            ("aa<ctrl+u>bb<ctrl+u><ctrl+y><alt+y>.", "aa."),
            ("hello world<ctrl+w><ctrl+->!", "hello world!"),
            ("one<ctrl+j>two<ctrl+j>three<up><up>1<down>2<end>.", "one1\ntwo2.\nthree"),
            ("abcxdef<home><ctrl+]>x-<end>.", "abc-xdef."),
        ],
    );
}

#[test]
fn fc_070_enter_with_shift_or_alt_and_keys_that_come_up_are_told_apart() {
    let stage = numbering();
    check(
        &stage,
        Answers::Xterm,
        &[
            ("one\x1b[13;2utwo", "one\ntwo"),
            ("one\x1b[27;2;13~three", "one\nthree"),
            ("a\x1b[98;1:1u\x1b[98;1:3uc\x1b[1;1:3Dd", "abcd"),
        ],
    );
    check(&stage, Answers::Kitty, &[("one<shift+enter>four<ctrl+a>x", "one\nxfour"), ("Abc dEf<ctrl+w>Y", "Abc Y")]);
}

#[test]
fn fc_071_cursor_and_text_agree_for_characters_of_many_bytes() {
    check(
        &numbering(),
        Answers::Xterm,
        &[
            ("naïve 日本<left><left><left>x<end>.", "naïvex 日本."),
            ("naïve 日本<ctrl+w>é<ctrl+-><ctrl+-><home>«<end>»", "«naïve 日本»"),
            ("日本 語<alt+backspace><left>ï<end>.", "日本ï ."),
        ],
    );
}

#[test]
fn fc_072_sequences_that_come_byte_by_byte_are_keys_and_never_text() {
    let stage = answering();
    let terminal = stage.open();
    terminal.type_text("ac");
    for byte in b"\x1b[D" {
        terminal.send([*byte]);
        terminal.pause(20);
    }
    terminal.send("b");
    // One that never ends, and goes on as text: what follows still arrives.
    terminal.send("\x1b[1;");
    terminal.pause(300);
    terminal.key("end");
    terminal.send("!");
    terminal.wait_for("the text with the last key", |screen| screen.has("!"));
    terminal.key("enter");
    let sent = stage.sent(0);
    assert!(sent == "abc!" || sent == "acb!" || sent == "ab!c", "{sent:?}");
}

#[test]
fn what_is_no_key_leaves_the_text_alone() {
    let stage = answering();
    let terminal = stage.open();
    terminal.send("a");
    for odd in ["\x1b[I", "\x1b[O", "\x1bOP", "\x1b[24;5~", "\x1b[<35;10;10M", "\x1b[57358u", "\x1b[?997;1n"] {
        terminal.send(odd);
    }
    terminal.submit("b");
    assert_eq!(stage.sent(0), "ab");
}

#[test]
fn keybindings_of_the_user_replace_the_given_ones() {
    let stage = answering();
    let keys = json!({"tui.input.submit": "ctrl+x", "tui.input.newLine": ["enter"], "app.message.copy": []});
    stage.sandbox.write(stage.user_file("keybindings.json"), keys.to_string());
    let terminal = stage.open();
    terminal.play("one<enter>two");
    terminal.wait_text("two");
    terminal.key("ctrl+x");
    assert_eq!(stage.sent(0), "one\ntwo");
}

#[test]
fn reload_reads_the_keys_again_and_says_what_is_wrong_with_them() {
    let stage = answering();
    let terminal = stage.open();
    let keys = json!({"tui.input.newLine": "ctrl+x", "app.nosuch": "x"});
    stage.sandbox.write(stage.user_file("keybindings.json"), keys.to_string());
    terminal.submit("/reload");
    terminal.wait_text("app.nosuch");
    terminal.play("one<ctrl+x>two");
    terminal.wait_text("two");
    terminal.key("enter");
    assert_eq!(stage.sent(0), "one\ntwo");
}

#[test]
fn ctrl_c_clears_the_text_and_twice_it_ends_the_program() {
    let stage = answering();
    let terminal = stage.open();
    terminal.type_text("draft");
    terminal.key("ctrl+c");
    terminal.wait_gone("draft");
    terminal.keys(&["ctrl+c", "ctrl+c"]);
    assert_eq!(terminal.wait_end(), Ended::Code(0));
}

#[test]
fn ctrl_d_ends_the_program_when_nothing_is_written() {
    let stage = answering();
    let terminal = stage.open();
    terminal.play("xy<ctrl+a><ctrl+d>");
    terminal.wait_for("y alone", |screen| !screen.has("xy"));
    terminal.play("z");
    terminal.wait_text("zy");
    terminal.play("<ctrl+u><ctrl+k>");
    terminal.wait_gone("zy");
    terminal.key("ctrl+d");
    assert_eq!(terminal.wait_end(), Ended::Code(0));
}

#[test]
fn prompts_come_back_newest_first_and_the_draft_stays() {
    let stage = numbering();
    let terminal = stage.open();
    for (n, prompt) in ["first prompt", "second prompt"].iter().enumerate() {
        terminal.submit(prompt);
        terminal.wait_text(&format!("Reply {n}."));
    }
    let shown_twice = |text: &str| terminal.wait_for(text, |screen| screen.count(text) == 2);
    terminal.type_text("my draft");
    terminal.keys(&["home", "up"]);
    shown_twice("second prompt");
    terminal.key("up");
    shown_twice("first prompt");
    terminal.keys(&["down", "down"]);
    terminal.wait_text("my draft");
    terminal.key("enter");
    assert_eq!(stage.sent(2), "my draft");
}

#[test]
fn the_users_editor_gets_the_text_on_a_terminal_that_is_as_a_shell_has_it() {
    let stage = answering();
    let script =
        "#!/bin/sh\nstty -a > \"$HOME/line\"; cat \"$1\" > \"$HOME/seen\"; printf 'edited\\nby tool' > \"$1\"\n";
    let editor = stage.sandbox.write(stage.sandbox.home.join("editor"), script);
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let terminal = stage.terminal().variable("EDITOR", editor.to_str()).open();
    terminal.type_text("draft one");
    terminal.key("ctrl+g");
    terminal.wait_for("what the editor wrote", |screen| screen.alternate && screen.has("by tool"));
    assert_eq!(stage.sandbox.read(stage.sandbox.home.join("seen")).trim(), "draft one");
    let line = stage.sandbox.read(stage.sandbox.home.join("line"));
    assert!(line.contains(" icanon") && line.contains(" echo "), "{line}");
    assert!(!terminal.is_cooked());
    terminal.submit("!");
    terminal.wait_text(ANSWER);
    assert_eq!(stage.sent(0), "edited\nby tool!");
}
