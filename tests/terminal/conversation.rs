//! Prompts and answers.

use serde_json::json;

use crate::{
    ANSWER, answering, saying,
    support::{Gate, entry_roles, http, text, thinking},
    terminal::{Answers, Stage, long_session},
};

const PAGE: &str = "# Heading One

Some **bold words** and *slanted* and `inline_code` and [a link](https://example.com/path).

1. First item
   - nested bullet

```rust
fn main() {
    let xs = \"text\"; // comment
}
```

| col | value |
|-----|------:|
| aa  | 1 |
| 日本 | 22222 |

Last paragraph.";

#[test]
fn prompt_and_answer_are_shown_and_stored_and_the_editor_is_empty() {
    let stage = answering();
    let terminal = stage.open();
    terminal.submit("what is it");
    let screen = terminal.wait_for("the answer below the prompt", |screen| {
        screen.row_of("what is it").is_some_and(|prompt| screen.row_of(ANSWER).is_some_and(|answer| prompt < answer))
    });
    assert!(!screen.bottom(4).contains("what is it"), "{}", screen.picture());
    let roles = entry_roles(&stage.entries()).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let said: Vec<_> = roles.iter().filter(|role| *role == "user" || *role == "assistant").collect();
    assert_eq!(said, ["user", "assistant"]);
}

#[test]
fn an_answer_is_shown_while_it_comes() {
    let (gate, never) = (Gate::closed(), Gate::closed());
    let stage = saying([text("Half of it is here. ").hold(&gate), text("not yet").begin_at(&never)]);
    let terminal = stage.open();
    terminal.submit("go");
    terminal.wait_text("Half of it");
    let roles = |stage: &Stage| entry_roles(&stage.entries()).iter().filter(|role| **role == "assistant").count();
    assert_eq!(roles(&stage), 0);
    // Typing goes on meanwhile.
    terminal.type_text("a thought");
    gate.open();
    terminal.key("ctrl+c");
    terminal.wait_gone("a thought");
    terminal.submit("next");
    stage.request(1);
    assert_eq!(roles(&stage), 1);
}

#[test]
fn the_screen_moves_until_the_first_word_comes() {
    let gate = Gate::closed();
    let stage = saying([text("late").begin_at(&gate)]);
    let terminal = stage.open();
    terminal.submit("go");
    stage.request(0);
    let mut seen = Vec::new();
    terminal.wait_for("three different pictures", |screen| {
        if !seen.contains(screen) {
            seen.push(screen.clone());
        }
        seen.len() > 3
    });
    gate.open();
    terminal.wait_text("late");
}

#[test]
fn nothing_is_sent_when_nothing_is_written() {
    let stage = answering();
    let terminal = stage.open();
    terminal.key("enter");
    terminal.send("   ");
    terminal.key("enter");
    terminal.ask("something");
    assert_eq!((stage.requests(), stage.sent(0).as_str()), (1, "something"));
}

#[test]
fn an_error_of_the_provider_is_told_and_the_next_prompt_works() {
    let stage = saying([http(400, "no such thing"), text("fine now")]);
    let terminal = stage.open();
    terminal.submit("go");
    terminal.wait_text("no such thing");
    terminal.submit("again");
    terminal.wait_text("fine now");
}

#[test]
fn a_wait_before_a_retry_is_told_and_escape_ends_it() {
    let stage = saying([http(429, "slow down")]);
    stage.sandbox.settings(json!({"retry": {"baseDelayMs": 60_000}}));
    let terminal = stage.open();
    terminal.submit("go");
    terminal.wait_for("a word about the retry", |screen| screen.text().to_lowercase().contains("retry"));
    let before = stage.requests();
    terminal.key("escape");
    terminal.wait_for("no countdown", |screen| !screen.text().contains("etrying"));
    terminal.type_text("typed");
    assert_eq!(stage.requests(), before);
}

#[test]
fn markdown_has_looks_instead_of_marks() {
    let stage = saying([text(PAGE)]);
    let terminal = stage.terminal().size(80, 50).open();
    terminal.submit("show");
    let screen = terminal.wait_text("Last paragraph.");
    let plain = terminal.cell_of("Last paragraph.");
    assert!(terminal.cell_of("bold words").bold());
    assert!(terminal.cell_of("slanted").italic());
    for special in ["Heading One", "inline_code"] {
        let cell = terminal.cell_of(special);
        assert!(cell.fgcolor() != plain.fgcolor() || cell.bold(), "{special} looks like plain text");
    }
    for mark in ["**bold", "*slanted*", "|-----", "`inline_code`"] {
        assert!(!screen.has(mark), "{mark:?}\n{}", screen.picture());
    }
    let column = |text: &str| {
        let row = &screen.rows[screen.row_of(text).unwrap()];
        row[..row.find(text).unwrap()].chars().count()
    };
    assert_eq!(column("let xs"), column("fn main") + 4, "{}", screen.picture());
    assert!(column("nested bullet") > column("First item"), "{}", screen.picture());
    assert_eq!((column("col"), column("aa")), (column("日本"), column("日本")), "{}", screen.picture());
}

#[test]
fn fc_058_odd_graphemes_end_nothing_at_any_width() {
    let odd = "👩\u{200d}👩\u{200d}👧❤\u{fe0f}1\u{fe0f}\u{20e3}한글\t".repeat(200);
    let stage = saying([text(&format!("{odd} THE-END"))]);
    let terminal = stage.terminal().size(24, 30).open();
    terminal.submit("go");
    terminal.wait_text("THE-END");
    for columns in [20, 21, 22, 23, 24, 80] {
        terminal.resize(columns, 30);
        terminal.wait_for("the end of the answer and the last line", |screen| {
            screen.row_of("THE-END").is_some() && screen.bottom(3).contains("project")
        });
    }
    terminal.type_text("fine");
}

#[test]
fn thinking_is_shown_unless_it_is_hidden() {
    for hidden in [false, true] {
        let stage = saying([thinking(&["secret musing"], &["visible reply"])]);
        stage.sandbox.settings(json!({"hideThinkingBlock": hidden}));
        let terminal = stage.terminal().args(&["--model", "mock/r1"]).start();
        terminal.wait_for("the first screen", |screen| screen.bottom(3).contains("r1"));
        terminal.submit("go");
        let screen = terminal.wait_text("visible reply");
        assert_eq!(screen.has("secret musing"), !hidden, "{}", screen.picture());
    }
}

#[test]
fn a_long_answer_is_paged_with_editor_and_last_line_in_their_places() {
    let long: Vec<_> = (0..120).map(|n| format!("para-{n:03} text")).collect();
    let stage = saying([text(&format!("{}\n\nTHE-LAST", long.join("\n\n")))]);
    let terminal = stage.terminal().answers(Answers::Kitty).open();
    terminal.submit("find this prompt");
    terminal.wait_text("THE-LAST");
    terminal.key("pageup");
    terminal.wait_for("older text", |screen| !screen.has("THE-LAST") && screen.bottom(3).contains("m1"));
    terminal.key("ctrl+end");
    terminal.wait_text("THE-LAST");
    terminal.key("ctrl+up");
    terminal.wait_text("find this prompt");
    terminal.key("ctrl+end");
    terminal.wait_text("THE-LAST");
    for _ in 0..6 {
        terminal.send("\x1b[<64;10;10M");
    }
    terminal.wait_gone("THE-LAST");
    terminal.send("\x1b[102;6u");
    terminal.type_text("para-007");
    terminal.key("enter");
    terminal.wait_text("para-007 text");
    terminal.key("escape");
    terminal.type_text("normal again");
}

#[test]
fn fc_063_what_a_key_writes_does_not_depend_on_how_long_the_session_is() {
    let written_for_a_key = |entries: usize| {
        let stage = answering();
        let file = stage.sandbox.write("long.jsonl", long_session(&stage.sandbox.project, entries));
        let terminal = stage.terminal().args(&["--model", "mock/m1", "--session", file.to_str().unwrap()]).open();
        terminal.wait_text(&format!("message {}", entries - 1));
        terminal.type_text("x");
        let before = terminal.written();
        for n in 0..20 {
            terminal.type_text(&format!("{}", n % 10));
        }
        (terminal.written() - before) / 20
    };
    let (short, long) = (written_for_a_key(10), written_for_a_key(5_000));
    // A screenful has thousands of bytes. What the status lines learn meanwhile is in these.
    assert!(short < 400 && long < 400, "{short} and {long} bytes for a key");
}
