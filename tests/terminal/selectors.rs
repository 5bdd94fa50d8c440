//! What stands in the editor's place: tree, sessions, models, settings.

use serde_json::Value;

use crate::{
    ANSWER, answering, numbering,
    support::Sandbox,
    terminal::{Ended, Stage},
};

/// A stage with finished sessions that began with these prompts.
fn with_sessions(prompts: &[&str]) -> Stage {
    let stage = answering();
    for prompt in prompts {
        let terminal = stage.open();
        terminal.ask(prompt);
        terminal.key("ctrl+d");
        assert_eq!(terminal.wait_end(), Ended::Code(0));
    }
    stage
}

fn settings(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read(sandbox.user_dir.join("settings.json"))).unwrap()
}

#[test]
fn the_tree_leads_back_to_a_prompt_and_a_branch_begins_there() {
    let stage = numbering();
    let terminal = stage.open();
    for (n, prompt) in ["alpha question", "beta question"].iter().enumerate() {
        terminal.submit(prompt);
        terminal.wait_text(&format!("Reply {n}."));
    }
    terminal.submit("/tree");
    terminal.wait_for("the tree", |screen| {
        screen.count("alpha question") > 0 && screen.text().to_lowercase().contains("session tree")
    });
    let listed = terminal.screen().count("beta question");
    terminal.type_text("alpha");
    terminal.wait_for("fewer entries", |screen| screen.count("beta question") < listed);
    terminal.key("enter");
    // What becomes of the other branch may be asked first: nothing.
    let screen = terminal.wait_for("the prompt in the editor, or a question", |screen| {
        screen.text().to_lowercase().contains("summar") || !screen.has("Reply 0.")
    });
    if screen.text().to_lowercase().contains("summar") {
        terminal.key("enter");
    }
    terminal.wait_for("the prompt in the editor", |screen| {
        !screen.has("Reply 0.") && screen.bottom(6).contains("alpha question")
    });
    terminal.submit(" again");
    assert_eq!(stage.request(2).texts("user"), ["alpha question again"]);
    assert_eq!(stage.sandbox.session_files().len(), 1);
}

#[test]
fn a_label_is_shown_in_the_tree_and_stored() {
    let stage = answering();
    let terminal = stage.open();
    terminal.ask("alpha question");
    terminal.submit("/tree");
    terminal.wait_for("the tree", |screen| screen.text().to_lowercase().contains("session tree"));
    terminal.send("L");
    terminal.wait_for("a question for the label", |screen| screen.text().to_lowercase().contains("label"));
    terminal.type_text("mylabel");
    terminal.key("enter");
    terminal.wait_for("the label in the tree", |screen| screen.has("mylabel") && screen.has("alpha question"));
    terminal.key("escape");
    terminal.wait_gone("mylabel");
    let is_label = |entry: &Value| entry["type"] == "label" && entry["label"] == "mylabel";
    terminal.wait_for("the label in the file", |_| stage.entries().iter().filter(|entry| is_label(entry)).count() == 1);
}

#[test]
fn two_escapes_open_the_tree_and_one_leaves_it() {
    let stage = answering();
    let terminal = stage.open();
    terminal.ask("hello there");
    terminal.keys(&["escape", "escape"]);
    terminal.wait_for("the tree", |screen| screen.text().to_lowercase().contains("session tree"));
    terminal.key("escape");
    terminal.wait_for("no tree", |screen| !screen.text().to_lowercase().contains("session tree"));
    terminal.type_text("back");
}

#[test]
fn resume_lists_sessions_by_their_first_words_and_loads_the_chosen_one() {
    let stage = with_sessions(&["first topic apple", "second topic banana"]);
    let terminal = stage.open();
    terminal.submit("/resume");
    terminal.wait_for("both", |screen| screen.has("first topic apple") && screen.has("second topic banana"));
    terminal.type_text("apple");
    terminal.wait_gone("banana");
    terminal.key("enter");
    terminal.wait_for("the conversation", |screen| screen.has("first topic apple") && screen.has(ANSWER));
    terminal.submit("and more");
    assert_eq!(stage.request(2).texts("user"), ["first topic apple", "and more"]);
}

#[test]
fn a_session_can_be_chosen_at_the_start_and_prompts_of_it_come_back_with_up() {
    let stage = with_sessions(&["only topic pear"]);
    let terminal = stage.terminal().args(&["-r"]).start();
    terminal.wait_text("only topic pear");
    terminal.key("enter");
    terminal.wait_text(ANSWER);
    terminal.wait_ready();
    terminal.key("up");
    terminal.wait_for("the prompt twice", |screen| screen.count("only topic pear") == 2);
}

#[test]
fn the_newest_session_goes_on_with_continue() {
    let stage = with_sessions(&["older topic", "newer topic"]);
    let terminal = stage.terminal().args(&["--continue"]).start();
    let screen = terminal.wait_text(ANSWER);
    assert!(screen.has("newer topic") && !screen.has("older topic"), "{}", screen.picture());
}

#[test]
fn a_session_is_deleted_after_a_question() {
    let stage = with_sessions(&["topic pear"]);
    let terminal = stage.terminal().args(&["-r"]).start();
    terminal.wait_text("topic pear");
    terminal.key("ctrl+d");
    terminal.wait_for("a question", |screen| screen.text().to_lowercase().contains("delete"));
    assert_eq!(stage.sandbox.session_files().len(), 1);
    terminal.key("enter");
    terminal.wait_gone("topic pear");
    assert!(stage.sandbox.session_files().is_empty());
}

#[test]
fn a_model_is_searched_and_chosen() {
    let stage = answering();
    let terminal = stage.open();
    terminal.submit("/model");
    terminal.wait_for("models", |screen| screen.has("m2") && screen.has("tiny"));
    terminal.type_text("tiny");
    terminal.wait_gone("m2");
    terminal.key("enter");
    terminal.wait_for("the model in the last line", |screen| screen.bottom(3).contains("tiny"));
    terminal.ask("hi");
    assert_eq!(stage.request(0).body["model"], "tiny");
}

#[test]
fn leaving_the_models_changes_neither_model_nor_draft() {
    let stage = answering();
    let terminal = stage.open();
    terminal.type_text("my draft");
    terminal.key("ctrl+l");
    terminal.wait_text("m2");
    terminal.key("down");
    terminal.key("escape");
    terminal.wait_for("the draft", |screen| !screen.has("m2") && screen.has("my draft"));
    terminal.key("enter");
    assert_eq!((stage.sent(0).as_str(), &stage.request(0).body["model"]), ("my draft", &Value::from("m1")));
}

#[test]
fn a_default_model_is_saved_from_the_list() {
    let stage = answering();
    stage.sandbox.settings(serde_json::json!({}));
    let terminal = stage.open();
    terminal.submit("/model");
    terminal.wait_text("tiny");
    terminal.type_text("tiny");
    terminal.wait_gone("m2");
    terminal.key("ctrl+s");
    terminal.wait_for("what was done", |_| settings(&stage.sandbox)["defaultModel"] == "tiny");
}

#[test]
fn a_setting_is_searched_and_changed() {
    let stage = answering();
    stage.sandbox.settings(serde_json::json!({}));
    let terminal = stage.open();
    terminal.submit("/settings");
    terminal.wait_for("settings", |screen| screen.text().to_lowercase().contains("theme"));
    terminal.type_text("hide think");
    terminal.key("enter");
    terminal.wait_for("what was done", |_| settings(&stage.sandbox)["hideThinkingBlock"] == true);
}

#[test]
fn a_name_is_shown_and_kept() {
    let stage = answering();
    let terminal = stage.open();
    terminal.ask("hello");
    terminal.submit("/name Blue Whale");
    terminal
        .wait_for("the name", |screen| screen.title.contains("Blue Whale") && screen.bottom(4).contains("Blue Whale"));
    assert!(stage.entries().iter().any(|entry| entry["type"] == "session_info" && entry["name"] == "Blue Whale"));
}

#[test]
fn a_fork_begins_a_session_before_a_prompt_and_offers_its_text() {
    let stage = numbering();
    let terminal = stage.open();
    for (n, prompt) in ["alpha question", "beta question"].iter().enumerate() {
        terminal.submit(prompt);
        terminal.wait_text(&format!("Reply {n}."));
    }
    terminal.submit("/fork");
    terminal.wait_for("the prompts", |screen| {
        screen.has("beta question") && !screen.has("Reply 1.") || screen.count("beta question") > 1
    });
    terminal.key("enter");
    terminal.wait_for("the prompt in the editor", |screen| {
        !screen.has("Reply 1.") && screen.bottom(6).contains("beta question")
    });
    terminal.key("enter");
    assert_eq!(stage.request(2).texts("user"), ["alpha question", "beta question"]);
    assert_eq!(stage.sandbox.session_files().len(), 2);
}
