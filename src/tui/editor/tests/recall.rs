//! The history.

use super::{Editor, ROOM, check, play};
use crate::tui::editor::{History, MAX_HISTORY};

#[test]
fn up_recalls_the_latest_prompts_and_down_comes_back_to_the_draft() {
    check("first p<send>second p<send>draft<home><up>", "second p|");
    check("first p<send>second p<send>draft<home><up><up>", "first p|");
    check("first p<send>second p<send>draft<home><up><up><up><up>", "first p|");
    check("first p<send>second p<send>draft<home><up><up><down>", "second p|");
    check("first p<send>second p<send>draft<home><up><up><down><down>", "draft|");
    check("p<send><up><down><down>", "|");
    check("p<send>draft<up>", "|draft");
    check("p<send>draft<up><up>", "p|");
    check("p<send>draft<older><newer><newer>", "draft|");
}

#[test]
fn a_recalled_prompt_of_many_lines_is_whole_and_can_be_walked_through() {
    check("old<send>l1<nl>l2<send><up>", "l1\nl2|");
    check("old<send>l1<nl>l2<send><up><up>", "old|");
    check("old<send>l1<nl>l2<send><up><left><up>", "l|1\nl2");
    check("old<send>l1<nl>l2<send><up><left><up><up>", "old|");
    check("old<send>l1<nl>l2<send><up><up><down><down>", "|");
}

#[test]
fn an_edited_prompt_is_the_draft() {
    check("one<send>two<send><up>!<up><up>", "two|");
    check("one<send>two<send><up>!<home><up><down>", "two!|");
    check("one<send><up><undo>", "|");
}

#[test]
fn prompts_are_trimmed_and_repeated_ones_are_kept_once() {
    let mut editor = Editor::new();
    play(&mut editor, "  a  <send>a<send>   <send><nl>b<send>a<send>", ROOM);
    assert_eq!(editor.history().prompts().collect::<Vec<_>>(), ["a", "b", "a"]);
    assert_eq!(editor.take(), "");
}

#[test]
fn the_latest_hundred_prompts_are_kept() {
    let mut history = History::default();
    for number in 0..250 {
        history.push(&format!("p{number}"));
    }
    let prompts: Vec<&str> = history.prompts().collect();
    assert_eq!((prompts.len(), prompts[0], prompts[MAX_HISTORY - 1]), (MAX_HISTORY, "p249", "p150"));
}

#[test]
fn a_search_finds_the_latest_first_and_each_once() {
    let mut history = History::default();
    for prompt in ["Fix the bug", "run tests", "fix it", "run tests"] {
        history.push(prompt);
    }
    assert_eq!(history.search("fix"), ["fix it", "Fix the bug"]);
    assert_eq!(history.search("Fix"), ["Fix the bug"]);
    assert_eq!(history.search("run"), ["run tests"]);
    assert_eq!(history.search(""), [""; 0]);
}
