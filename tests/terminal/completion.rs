//! Completion while typing.

use std::process::Command;

use crate::{answering, terminal::Stage};

/// A stage whose project is a repository with some files.
fn project() -> Stage {
    let stage = answering();
    for (path, contents) in [
        ("src/main.rs", "fn main() {}\n"),
        ("src/edit_me.txt", "alpha\n"),
        ("docs/guide notes.md", "guide\n"),
        (".gitignore", "ignored/\n"),
        ("ignored/secret_file.txt", "x\n"),
        ("日本/ファイル.txt", "x\n"),
    ] {
        stage.sandbox.write(path, contents);
    }
    let made = Command::new("git").args(["init", "-q", "-b", "trunk"]).current_dir(&stage.sandbox.project).status();
    assert!(made.unwrap().success());
    stage
}

#[test]
fn a_slash_offers_commands_and_escape_closes_the_list() {
    let stage = answering();
    let terminal = stage.open();
    terminal.send("/");
    terminal.wait_for("commands", |screen| ["settings", "model", "tree"].iter().all(|name| screen.has(name)));
    terminal.key("escape");
    terminal.wait_for("no list", |screen| !screen.has("settings"));
}

#[test]
fn letters_of_a_command_find_it_and_tab_completes_it() {
    let stage = answering();
    let terminal = stage.open();
    terminal.send("/cmpct");
    terminal.wait_text("compact");
    terminal.key("ctrl+u");
    terminal.wait_gone("compact");
    terminal.send("/hotk");
    terminal.wait_text("hotkeys");
    terminal.key("tab");
    terminal.wait_text("/hotkeys");
}

#[test]
fn templates_and_skills_are_offered_and_a_template_is_filled_in() {
    let stage = answering();
    let template = "---\ndescription: Review a thing\n---\nReview $1 well, $@";
    stage.sandbox.write(stage.user_file("prompts/zreview.md"), template);
    let skill = "---\nname: zskill\ndescription: A skill of mine\n---\nDo it.";
    stage.sandbox.write(stage.user_file("skills/zskill/SKILL.md"), skill);
    let terminal = stage.open();
    terminal.send("/zre");
    terminal.wait_text("Review a thing");
    terminal.key("ctrl+u");
    terminal.send("/skill:zs");
    terminal.wait_text("A skill of mine");
    terminal.key("ctrl+u");
    terminal.submit("/zreview a.rs b");
    assert_eq!(stage.sent(0), "Review a.rs well, a.rs b");
}

#[test]
fn an_at_sign_offers_files_and_the_path_is_sent_as_text() {
    let stage = project();
    let terminal = stage.open();
    for (n, (typed, offered, sent)) in [
        ("see @edit_m", "edit_me.txt", "see @src/edit_me.txt now"),
        ("@guide", "guide notes.md", "@\"docs/guide notes.md\" now"),
        ("@ファイ", "ファイル.txt", "@日本/ファイル.txt now"),
    ]
    .iter()
    .enumerate()
    {
        terminal.send(typed);
        terminal.wait_text(offered);
        terminal.key("tab");
        terminal.send("now");
        terminal.wait_text("now");
        terminal.key("enter");
        assert_eq!(stage.sent(n), *sent);
        terminal
            .wait_for("the answer", |screen| screen.count(crate::ANSWER) == n + 1 && !screen.bottom(6).contains("now"));
    }
}

#[test]
fn a_folder_is_completed_without_a_blank_so_that_its_files_can_follow() {
    let stage = project();
    let terminal = stage.open();
    terminal.send("@src");
    terminal.wait_for("the folder", |screen| screen.row_of("src/").is_some());
    terminal.key("tab");
    terminal.send("ma");
    terminal.wait_text("main.rs");
    terminal.key("tab");
    terminal.wait_text("@src/main.rs");
    terminal.key("enter");
    assert_eq!(stage.sent(0), "@src/main.rs");
}

#[test]
fn ignored_files_and_the_repository_itself_are_not_offered() {
    let stage = project();
    let terminal = stage.open();
    // What is offered for the last one shows that the others were looked for.
    for (typed, hidden) in [("@secret", "secret_file"), ("@HEAD", ".git/HEAD")] {
        terminal.type_text(typed);
        terminal.key("ctrl+u");
        terminal.send("@edit_m");
        let screen = terminal.wait_text("edit_me.txt");
        assert!(!screen.has(hidden), "{}", screen.picture());
        terminal.key("ctrl+u");
        terminal.wait_gone("@edit_m");
    }
    let written = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    assert!(
        !written.contains("secret_file") && !written.contains(".git/HEAD"),
        "an ignored file was shown for a moment"
    );
}
