//! The screen that leaves the terminal's history alone; and output that is no terminal.

use std::fs::File;

use crate::{
    ANSWER, answering, saying,
    support::{http, text},
    terminal::{ALTERNATE_SCREEN, Ended},
};

#[test]
fn the_regular_screen_is_written_below_what_was_there_and_stays() {
    let stage = answering();
    let terminal = stage.terminal().args(&["--tui-mode", "regular"]).open();
    terminal.ask("hello regular");
    assert!(!terminal.modes().was_touched(ALTERNATE_SCREEN));
    terminal.key("ctrl+d");
    assert_eq!(terminal.wait_end(), Ended::Code(0));
    assert!(terminal.history().iter().any(|row| row.contains(ANSWER)), "{:?}", terminal.history());
    assert!(terminal.left_changed().is_empty(), "{:?}", terminal.left_changed());
}

#[test]
fn fc_061_what_the_shell_had_printed_is_still_there_afterwards() {
    for mode in ["fullscreen", "regular"] {
        let long: Vec<_> = (0..120).map(|n| format!("para-{n:03}")).collect();
        let stage = saying([text(&format!("{}\n\nTHE-LAST", long.join("\n\n")))]);
        let terminal = stage.terminal().in_a_shell();
        terminal.run("seq -f 'shell-line-%g' 200");
        terminal.wait_text("shell-line-200");
        terminal.run(&format!("$PROGRAM --model mock/m1 --tui-mode {mode}"));
        terminal.wait_for("the screen", |screen| screen.has("(auto)"));
        terminal.submit("go");
        terminal.wait_text("THE-LAST");
        terminal.key("ctrl+o");
        terminal.resize(60, 20);
        terminal.type_text("a draft");
        terminal.resize(80, 24);
        terminal.key("ctrl+u");
        // What a resize pushed into the history may come back above the screen: only the editor counts.
        terminal.wait_for("an empty editor", |screen| {
            let row = screen.cursor.and_then(|(row, _)| screen.rows.get(usize::from(row)));
            row.is_some_and(|row| !row.contains("a draft"))
        });
        terminal.key("ctrl+d");
        terminal.wait_prompt();
        assert_eq!(terminal.audit().csi_count("3J"), 0, "{mode}");
        let history = terminal.history();
        for line in ["shell-line-7", "shell-line-150", "shell-line-200"] {
            assert_eq!(history.iter().filter(|row| *row == line).count(), 1, "{mode}: {line}");
        }
    }
}

#[test]
fn frames_are_shown_as_one_and_clear_nothing_while_text_comes() {
    let words: String = (0..400).map(|n| format!("word{n} ")).collect();
    let stage = saying([text(&format!("{words}THE-END")).split(6).pace(std::time::Duration::from_millis(1))]);
    let terminal = stage.open();
    let before = terminal.audit();
    terminal.submit("go");
    terminal.wait_text("THE-END");
    let after = terminal.audit();
    let more = |sequence: &str| after.csi_count(sequence) - before.csi_count(sequence);
    assert_eq!(more("2J"), 0);
    assert!(more("?2026h") > 3 && more("?2026h") - more("?2026l") <= 1);
}

#[test]
fn fc_068_output_that_is_no_terminal_gets_the_answer_and_no_escapes() {
    let stage = answering();
    let path = stage.sandbox.project.join("out.txt");
    let terminal = stage.terminal().args(&["hello"]).stdout(File::create(&path).unwrap()).start();
    assert_eq!(terminal.wait_end(), Ended::Code(0));
    assert_eq!(std::fs::read_to_string(path).unwrap().trim(), ANSWER);
    assert!(!terminal.bytes().contains(&0x1b), "{:?}", String::from_utf8_lossy(&terminal.bytes()));
}

#[test]
fn fc_068_a_reader_that_goes_away_is_no_panic() {
    let words: String = (0..20_000).map(|n| format!("word{n} ")).collect();
    let stage = saying([text(&words)]);
    let terminal = stage.terminal().in_a_shell();
    for reader in ["head -c 1", "true"] {
        terminal.run(&format!("$PROGRAM --model mock/m1 -p hi | {reader}; echo; echo ended-${{PIPESTATUS[0]}}"));
        terminal.wait_for("the end", |screen| screen.has("ended-0") || screen.has("ended-1"));
        terminal.run("clear");
        terminal.wait_gone("ended-");
    }
    let written = String::from_utf8_lossy(&terminal.bytes()).to_lowercase();
    assert!(!written.contains("panicked"), "{written}");
}

#[test]
fn fc_069_a_failed_answer_is_an_exit_code_and_records_stay_whole() {
    let stage = saying([http(401, "no key")]);
    let path = stage.sandbox.project.join("out.jsonl");
    let terminal = stage.terminal().args(&["--mode", "json", "hi"]).stdout(File::create(&path).unwrap()).start();
    assert_eq!(terminal.wait_end(), Ended::Code(1));
    let records = crate::support::lines(&path);
    let told = records.iter().filter(|record| record["message"]["stopReason"] == "error").count();
    assert!(told > 0, "{records:?}");
}
