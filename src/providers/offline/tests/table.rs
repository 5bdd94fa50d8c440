use std::{fs, path::Path};

use tokio_stream::StreamExt as _;

use super::workshop::{first_plan, run, tools, user};
use crate::{
    protocol::{Message, StopReason, StreamEvent},
    providers::{
        Provider as _,
        catalogue::builtin,
        offline::{Offline, Plan},
        scripted::tests::request,
    },
};

const PI: [&str; 4] = ["read", "bash", "edit", "write"];
const ALL: [&str; 5] = ["read", "bash", "grep", "find", "ls"];

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let files = [
        ("README.md", "# Demo\n\nA small demo of files.\n\n## Use\n\nRun it.\n"),
        ("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\n"),
        ("src/main.rs", "//! Starts.\n\nfn main() {\n    // TODO: more\n}\n"),
        ("src/it's odd.rs", "// TODO\n// TODO again\n"),
        ("docs/guide.md", "# Guide\n\nHow to.\n"),
        ("target/junk.rs", "// TODO not ours\n"),
    ];
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn check(folder: &Path, names: &[&str], task: &str, rounds: &[&[&str]], parts: &[&str]) {
    let done = run(folder, names, task);
    assert_eq!(done.rounds, rounds, "{task}");
    for part in parts {
        assert!(done.answer.contains(part), "{task}: no {part:?} in\n{}", done.answer);
    }
    assert!(done.answer.contains("no AI"), "{}", done.answer);
}

#[test]
fn the_default_tools_are_enough_for_every_task() {
    let dir = project();
    let folder = dir.path();
    let find = "find . -type d \\( -name .git -o -name node_modules -o -name target \\) -prune -o -type f";
    let rust = format!("bash {find} \\( -name '*.rs' \\) -exec wc -l {{}} +");
    check(
        folder,
        &PI,
        "read README.md and summarise it",
        &[&["read README.md"]],
        &["**`README.md`**: 7 lines, 11 words.", "Its first heading is “Demo”.", "“A small demo of files.”", "“Use”"],
    );
    check(
        folder,
        &PI,
        "list the Rust files and count their lines",
        &[&[rust.as_str()]],
        &["Rust files: 2 files, 7 lines in all.", "- `src/main.rs`: 5 lines", "- `src/it's odd.rs`: 2 lines"],
    );
    check(
        folder,
        &PI,
        "find TODO",
        &[&[
            "bash grep -rnHIF --exclude-dir=.git --exclude-dir=node_modules --exclude-dir=target -e TODO -- . || test $? -eq 1",
        ]],
        &["`TODO` occurs in 3 lines of 2 files.", "- `src/main.rs:4`: // TODO: more"],
    );
    check(
        folder,
        &PI,
        "what files are here?",
        &[&["bash ls -Ap -- ."]],
        &[
            "This folder has 3 folders and 2 files.",
            "Folders: `docs/`, `src/`, `target/`",
            "Files: `Cargo.toml`, `README.md`",
        ],
    );
    check(
        folder,
        &PI,
        "show src/main.rs",
        &[&["read src/main.rs"]],
        &["**`src/main.rs`**, 5 lines:\n```\n//! Starts."],
    );
    check(
        folder,
        &PI,
        "count the words in README.md and docs/guide.md",
        &[&["bash wc -lwc -- ./README.md", "bash wc -lwc -- ./docs/guide.md"]],
        &["`README.md` has 7 lines, 11 words and 48 bytes.", "`docs/guide.md` has 3 lines, 4 words and 17 bytes."],
    );
    check(
        folder,
        &PI,
        "find nowhere_to_be",
        &[&[
            "bash grep -rnHIF --exclude-dir=.git --exclude-dir=node_modules --exclude-dir=target -e nowhere_to_be -- . || test $? -eq 1",
        ]],
        &["`nowhere_to_be` occurs nowhere."],
    );
}

#[test]
fn search_tools_are_used_when_they_are_declared_and_several_calls_make_one_batch() {
    let dir = project();
    let folder = dir.path();
    check(folder, &ALL, "find TODO in src", &[&["grep TODO"]], &["`TODO` occurs in 3 lines of 2 files."]);
    check(folder, &ALL, "what files are here", &[&["ls ."]], &["3 folders and 2 files"]);
    check(
        folder,
        &["read", "find"],
        "count the lines of the rust files in src",
        &[&["find *.rs"], &["read src/it's odd.rs", "read src/main.rs"]],
        &["Rust files: 2 files, 7 lines in all.", "- `src/it's odd.rs`: 2 lines"],
    );
    check(
        folder,
        &ALL,
        "summarise all markdown files",
        &[&["find *.md"], &["read README.md", "read docs/guide.md"]],
        &["I found 2 Markdown files and read all of them.", "**`docs/guide.md`**: 3 lines"],
    );
    check(
        folder,
        &ALL,
        "what is this project?",
        &[&["ls .", "find *"], &["read README.md", "read Cargo.toml"]],
        &[
            "“A small demo of files.”",
            "“name = \"demo\"”",
            "The folder has 5 entries",
            "In all there are 6 files: 3 `.rs`, 2 `.md`, 1 `.toml`.",
        ],
    );
    check(folder, &["bash"], "show README.md", &[&["bash cat -- ./README.md"]], &["**`README.md`**, 7 lines:"]);
}

#[test]
fn a_file_that_is_not_there_is_looked_for() {
    let dir = project();
    let folder = dir.path();
    check(
        folder,
        &ALL,
        "summarise guide.md",
        &[&["read guide.md"], &["find guide.md"], &["read docs/guide.md"]],
        &["**`docs/guide.md`**: 3 lines, 4 words."],
    );
    check(
        folder,
        &ALL,
        "summarise nothing.md",
        &[&["read nothing.md"], &["find nothing.md"]],
        &["I could not read `nothing.md`; `read` says: ENOENT"],
    );
    check(
        folder,
        &PI,
        "list the files in nodir",
        &[&["bash ls -Ap -- ./nodir"]],
        &["I could not look into `nodir`; the tool says: "],
    );
}

#[test]
fn what_it_cannot_do_it_says_and_how_to_get_a_real_model() {
    for (task, part) in [
        ("write a haiku", "I cannot write anything"),
        ("fix src/main.rs", "I cannot fix anything"),
        ("hello", "I do not understand that task"),
        ("", "I got no task"),
    ] {
        let Plan::Say(text) = first_plan(&PI, task) else { panic!("{task}") };
        for part in [part, "not an AI", "ANTHROPIC_API_KEY", "models.json", "--list-models", "read README.md"] {
            assert!(text.contains(part), "{task}: {part}\n{text}");
        }
    }
    let Plan::Say(text) = first_plan(&["edit"], "read README.md") else { panic!() };
    assert!(text.contains("--tools read,bash"), "{text}");
}

#[test]
fn what_tools_report_as_errors_is_reported_as_an_error_and_files_as_files() {
    let dir = project();
    let folder = dir.path();
    fs::write(folder.join("bin.dat"), b"MZ\0\0binary").unwrap();
    fs::write(folder.join("passwd"), "root\nuser\n").unwrap();
    for (names, task, part, none) in [
        (
            &PI[..],
            "find the markdown files in nodir",
            "I could not look for Markdown files; the tool says: find:",
            "found",
        ),
        (&PI, "count the lines of the rust files in nodir", "`bash` says: find:", "-type"),
        (&PI, "explain the code in passwd", "**`passwd`**: 2 lines, 2 words.", "entry"),
        (&PI, "list the files in passwd", "`passwd` is a file, not a folder.", "1 file"),
        (&ALL, "explain the code in passwd", "I could not look into `passwd`", "1 file"),
        (&PI, "read bin.dat", "**`bin.dat`** is not text", "MZ"),
        (&PI, "summarise bin.dat", "**`bin.dat`** is not text", "MZ"),
        (&PI, "find TODO in src/main.rs", "`TODO` occurs in 1 line of 1 file.", "nowhere"),
        (&PI, "List the TODOs of this project", "`TODO` occurs in 3 lines of 2 files.", "This folder"),
        (&PI, "ls /", "`/` has ", "This folder"),
    ] {
        let answer = run(folder, names, task).answer;
        assert!(answer.contains(part) && !answer.contains(none), "{task}:\n{answer}");
    }
}

#[test]
fn a_word_that_it_does_not_know_is_named_also_when_a_file_came_with_the_task() {
    let with_file = "<file name=\"/x/notes.md\">\nx\n</file>\nproofread this";
    for (task, word) in [("Sort README.md", "Sort"), ("Don't read README.md", "Don't"), (with_file, "proofread")] {
        let Plan::Say(text) = first_plan(&PI, task) else { panic!("{task}") };
        assert!(text.contains(&format!("I do not know the word `{word}`")) && text.contains("models.json"), "{text}");
    }
}

#[test]
fn the_part_of_a_task_that_it_can_do_is_done_and_the_rest_refused() {
    let dir = project();
    check(
        dir.path(),
        &PI,
        "summarise README.md and fix the typos",
        &[&["read README.md"]],
        &["I only look at files; I cannot fix anything.\n\n**`README.md`**: 7 lines"],
    );
}

#[test]
fn a_file_that_comes_with_the_task_needs_no_tool() {
    let task = "<file name=\"/x/notes.md\">\n# Notes\n\nOne two.\n</file>\nsummarise this";
    let Plan::Say(text) = first_plan(&[], task) else { panic!() };
    assert!(text.contains("**`/x/notes.md`**: 3 lines, 4 words.") && text.contains("“Notes”"), "{text}");
}

#[tokio::test]
async fn the_answer_streams_in_small_pieces_and_can_be_cancelled() {
    let model = builtin::inside().remove(0);
    let history = vec![tools(&PI), user("read README.md")];
    let batches: Vec<Vec<StreamEvent>> = Offline.stream(request(model.clone(), history)).collect().await;
    let Some(StreamEvent::Done(message)) = batches.last().and_then(|batch| batch.last()) else { panic!() };
    assert_eq!(message.stop_reason, StopReason::ToolUse);
    assert_eq!(
        (message.api.as_str(), message.provider.as_str(), message.model.as_str()),
        ("troupe-offline", "troupe", "offline")
    );
    assert!(message.usage.input > 0 && message.usage.output > 0);
    assert_eq!(message.tool_calls().next().unwrap().id, "offline_1_1");
    let help = Offline.stream(request(model.clone(), vec![user("hello")]));
    assert!(help.collect::<Vec<_>>().await.len() > 20);
    let request = request(model, vec![Message::System(Default::default()), user("hello")]);
    request.cancel.cancel();
    let batches: Vec<Vec<StreamEvent>> = Offline.stream(request).collect().await;
    assert!(matches!(&batches[..], [batch] if matches!(&batch[..], [StreamEvent::Failed { .. }])));
}
