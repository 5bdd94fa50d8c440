//! Texts of models, files and servers cannot make a terminal do things, nor hide from the person who reads them.

#![allow(clippy::unwrap_used)]

mod support;

use std::{ffi::OsStr, path::Path};

use serde_json::json;
use support::*;
use tokio::process::Command;

/// What goes wrong in a terminal: the clipboard, the screen, the title, a C1 introducer, a line written over.
const EVIL: &str = "a\u{1b}]52;c;QUJD\u{7}b\u{1b}[2Jc\u{1b}]0;x\u{7}d\u{9b}31me\rf\u{202e}g";

/// What the binary prints on a terminal with `args`: standard output and standard error together, as the terminal gets
/// them.
async fn on_a_terminal(sandbox: &Sandbox, args: &[&str]) -> Option<String> {
    let script = Path::new("/usr/bin/script");
    if !script.exists() {
        eprintln!("SKIPPED: script (bsdutils) is not installed here");
        return None;
    }
    let inner = sandbox.command(args);
    let inner = inner.as_std();
    let quoted = |word: &OsStr| format!("'{}'", word.to_str().unwrap().replace('\'', "'\\''"));
    let line: Vec<_> = [inner.get_program()].into_iter().chain(inner.get_args()).map(quoted).collect();
    let mut command = Command::new(script);
    command.args(["-qefc", &line.join(" "), "/dev/null"]).current_dir(&sandbox.project).env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?)))).kill_on_drop(true);
    Some(finish(command, "").await.stdout)
}

fn assert_harmless(output: &str) {
    let odd: Vec<_> = output.chars().filter(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')).collect();
    assert_eq!(odd, [], "{output:?}");
    assert_eq!(output.matches('\r').count(), output.matches("\r\n").count(), "{output:?}");
}

#[tokio::test]
async fn a_terminal_gets_no_commands_and_a_program_gets_the_text_as_it_is_fc_064() {
    let sandbox = Sandbox::new(replies([text(EVIL), text(EVIL), text(EVIL)])).await;
    let piped = sandbox.run(&["-p", "hi"]).await;
    assert_eq!(piped.stdout, format!("{EVIL}\n"));
    let Some(shown) = on_a_terminal(&sandbox, &["-p", "hi"]).await else { return };
    assert_harmless(&shown);
    assert!(shown.contains("a<U+001B>]52;c;QUJD<U+0007>b<U+001B>[2Jc"), "{shown:?}");
    assert!(shown.contains("d<U+009B>31me<U+000D>f<U+202E>g"), "{shown:?}");
    let json = on_a_terminal(&sandbox, &["--mode", "json", "hi"]).await.unwrap();
    assert_harmless(&json);
    let last = json.lines().rev().find(|line| line.contains("\"agent_end\"")).unwrap();
    let last: serde_json::Value = serde_json::from_str(last).unwrap();
    assert!(last.to_string().contains("\\u001b]52"), "the same values: {last}");
}

#[tokio::test]
async fn messages_about_failures_show_no_commands_either_fc_064() {
    let sandbox = Sandbox::new(replies([http(400, EVIL)])).await;
    let failed = sandbox.run(&["-p", "hi"]).await;
    assert_eq!(failed.code, Some(1));
    assert_harmless(&failed.stderr);
    assert!(failed.stderr.contains("d<U+009B>31me"), "{}", failed.stderr);
    let refused = sandbox.run(&["--session", EVIL, "-p", "hi"]).await;
    assert_harmless(&refused.stderr);
    assert!(refused.stderr.contains("<U+009B>"), "{}", refused.stderr);
}

#[tokio::test]
async fn hidden_characters_in_a_result_are_told_once_and_the_model_gets_the_text_as_it_is_fc_107() {
    let read = || calls([call("read", json!({"path": "odd.txt"}))]);
    for mode in ["text", "json"] {
        let sandbox = Sandbox::new(replies([read(), text("done")])).await;
        sandbox.write("odd.txt", "fine\nzero\u{200b}width \u{e0041}\u{e0042}\n");
        let finished = sandbox.run(&["--mode", mode, "-p", "hi"]).await;
        let warnings: Vec<_> = finished.stderr.lines().filter(|line| line.contains("U+200B")).collect();
        assert_eq!(warnings.len(), 1, "{}", finished.stderr);
        assert!(warnings[0].starts_with("Warning: The result of read holds characters"), "{}", finished.stderr);
        assert!(warnings[0].contains("U+E0041 (1x, first on line 2)"), "{}", finished.stderr);
        let results = sandbox.server.last().messages().iter().map(ToString::to_string).collect::<String>();
        assert!(results.contains("zero\u{200b}width \u{e0041}\u{e0042}"), "an edit must be able to name it: {results}");
    }
}

#[tokio::test]
async fn names_and_ids_lead_out_of_no_folder_fc_104() {
    let sandbox = Sandbox::new(|_: &Request| text("ok")).await;
    for args in [
        &["--session-id", "../../x", "-p", "hi"][..],
        &["--session-id", "..", "-p", "hi"],
        &["--session-id", "a/b", "-p", "hi"],
        &["--fork", "nothing", "--session-id", "../x", "-p", "hi"],
    ] {
        let finished = sandbox.run(args).await;
        assert_eq!(finished.code, Some(1), "{args:?}: {}", finished.stderr);
    }
    // No skill and no template has such a name: the words stay what they are, and no file is read.
    sandbox.write("secret.md", "SECRET");
    for words in ["/skill:../../secret", "/../secret", "/skill:../project/secret.md"] {
        assert_eq!(sandbox.run(&["-p", words]).await.code, Some(0));
        let sent = sandbox.server.last().last_user();
        assert!(!sent.contains("SECRET"), "{sent}");
    }
    assert!(!sandbox.user_dir.join("x.jsonl").exists() && !sandbox.home.join("x.jsonl").exists());
}
