//! Sizes, also those that nobody uses.

use crate::{
    ANSWER, answering, saying,
    support::{Gate, text},
    terminal::Terminal,
};

/// Brings the terminal back to a size that people use; screen and keys must be fine.
fn fine_again(terminal: &Terminal, draft: &str) {
    terminal.resize(80, 24);
    terminal.wait_for("a whole screen", |screen| {
        screen.rows.len() == 24 && screen.row_of(draft).is_some() && screen.bottom(3).contains("m1")
    });
    terminal.type_text(" and on");
}

#[test]
fn fc_059_no_size_ends_the_program_down_to_a_single_cell() {
    let stage = saying([text("日本語のテキスト and words, again 日本語.")]);
    let terminal = stage.open();
    terminal.submit("日本 show");
    terminal.wait_text("again");
    terminal.type_text("draft 日本");
    for (columns, rows) in (1..=24).rev().map(|n| (n, 24)).chain([(1, 1), (3, 2), (7, 3), (200, 1), (1, 80), (200, 80)])
    {
        terminal.resize(columns, rows);
        let before = terminal.written();
        terminal.wait_written(before, &format!("a frame of {columns} by {rows}"));
    }
    fine_again(&terminal, "draft 日本");
}

#[test]
fn fc_059_a_start_in_a_tiny_terminal_is_fine_when_it_grows() {
    let stage = answering();
    for (columns, rows) in [(1, 1), (3, 2), (7, 3), (0, 0)] {
        let terminal = stage.terminal().size(columns, rows).start();
        terminal.wait_for("any frame", |screen| screen.alternate);
        terminal.send("typed blindly");
        fine_again(&terminal, "typed blindly");
    }
}

#[test]
fn a_storm_of_sizes_while_text_comes_ends_in_a_whole_screen() {
    let gate = Gate::closed();
    let words: String = (0..400).map(|n| format!("word{n} ")).collect();
    let reply = text(&format!("{words}THE-END")).split(8).pace(std::time::Duration::from_millis(1)).hold(&gate);
    let stage = saying([reply]);
    let terminal = stage.open();
    terminal.submit("go");
    terminal.wait_text("word3");
    // The same sizes in every run.
    let mut dice = 7_u32;
    for _ in 0..300 {
        dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (columns, rows) = (1 + (dice >> 8) % 200, 1 + (dice >> 20) % 80);
        terminal.resize(columns as u16, rows as u16);
    }
    terminal.resize(80, 24);
    terminal.wait_text("THE-END");
    gate.open();
    terminal.type_text("typed");
    fine_again(&terminal, "typed");
}

#[test]
fn the_line_that_is_written_stays_visible_on_four_rows() {
    let stage = answering();
    let terminal = stage.terminal().size(80, 4).start();
    terminal.wait_for("a frame", |screen| screen.alternate);
    terminal.type_text("visible!");
    terminal.key("enter");
    assert_eq!(stage.sent(0), "visible!");
}

#[test]
fn a_text_that_is_taller_than_the_screen_is_shown_around_the_cursor() {
    let stage = answering();
    let terminal = stage.open();
    let lines: Vec<_> = (0..60).map(|n| format!("L{n:02}")).collect();
    for (n, line) in lines.iter().enumerate() {
        terminal.send(if n == 0 { line.clone() } else { format!("\n{line}") });
        terminal.wait_text(line);
    }
    terminal.wait_for("the last line", |screen| screen.has("L59") && screen.bottom(3).contains("m1"));
    for _ in 0..59 {
        terminal.key("up");
    }
    terminal.wait_text("L00");
    terminal.key("enter");
    assert_eq!(stage.sent(0), lines.join("\n"));
    terminal.wait_text(ANSWER);
}
