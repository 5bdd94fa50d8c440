//! Traces of tool outputs (section 14.11), through calls that the scripted model makes.

mod support;

use serde_json::{Value, json};
use support::*;

/// What a call gave back.
#[derive(Debug)]
struct Outcome {
    text: String,
    is_error: bool,
    details: Value,
    /// The `result` of its end event.
    result: Value,
}

/// Runs calls one after another, each in a message of its own.
async fn outcomes(files: &[(&str, &str)], wanted: &[(&str, Value)]) -> (Sandbox, Vec<Outcome>) {
    let script: Vec<_> = wanted.iter().map(|(tool, arguments)| calls([call(tool, arguments.clone())])).collect();
    let sandbox = Sandbox::new(replies([&script[..], &[text("end")]].concat())).await;
    for (path, contents) in files {
        sandbox.write(path, contents);
    }
    let events = sandbox.json(&["--no-session", "--tools", "read,bash,edit,write,grep,find,ls", "go"]).await;
    let ends = of_type(&events, "tool_execution_end");
    let results = ended(&events, "toolResult");
    assert_eq!((ends.len(), results.len()), (wanted.len(), wanted.len()));
    let outcome = |(message, end): (&Value, &Value)| Outcome {
        text: text_of(message),
        is_error: message["isError"] == true,
        details: message["details"].clone(),
        result: end["result"].clone(),
    };
    let outcomes = results.into_iter().zip(ends).map(outcome).collect();
    (sandbox, outcomes)
}

/// A file of `count` lines that all end in LF.
fn numbered(count: usize) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

fn edit(path: &str, pairs: &[(&str, &str)]) -> (&'static str, Value) {
    let edits: Vec<_> = pairs.iter().map(|(old, new)| json!({"oldText": old, "newText": new})).collect();
    ("edit", json!({"path": path, "edits": edits}))
}

#[tokio::test]
async fn read_cuts_long_files_and_says_how_to_go_on_14_11() {
    let files = [("f.txt", numbered(3000)), ("wide.txt", "w".repeat(60_000)), ("e.txt", String::new())];
    let files = files.each_ref().map(|(path, contents)| (*path, contents.as_str()));
    let (_sandbox, got) = outcomes(
        &files,
        &[
            ("read", json!({"path": "f.txt"})),
            ("read", json!({"path": "f.txt", "offset": 5, "limit": 2})),
            ("read", json!({"path": "f.txt", "offset": 4000})),
            ("read", json!({"path": "wide.txt"})),
            ("read", json!({"path": "e.txt"})),
        ],
    )
    .await;
    let notice = "\n\n[Showing lines 1-2000 of 3001. Use offset=2001 to continue.]";
    assert_eq!(got[0].text, format!("{}{notice}", numbered(2000).trim_end()));
    assert_eq!(got[0].details["truncation"]["truncatedBy"], "lines");
    assert_eq!(got[1].text, "line 5\nline 6\n\n[2995 more lines in file. Use offset=7 to continue.]");
    assert_eq!(got[1].details, Value::Null);
    assert_eq!((got[2].is_error, got[2].text.as_str()), (true, "Offset 4000 is beyond end of file (3001 lines total)"));
    let wide = "[Line 1 is 58.6KB, exceeds 50.0KB limit. Use bash: sed -n '1p' wide.txt | head -c 51200]";
    assert_eq!(got[3].text, wide);
    assert_eq!((got[4].is_error, got[4].text.as_str()), (false, ""));
}

#[tokio::test]
async fn read_names_what_it_cannot_read_and_takes_sloppy_arguments_14_11() {
    let (_sandbox, got) = outcomes(
        &[("a.txt", "l1\nl2\n"), ("d/x", "")],
        &[
            ("read", json!({"path": "none.txt"})),
            ("read", json!({"path": "d"})),
            ("read", json!({})),
            ("read", json!({"path": "a.txt", "offset": "2", "limit": null, "extra": 1})),
        ],
    )
    .await;
    assert!(got[0].is_error && got[0].text.contains("none.txt"), "{:?}", got[0]);
    assert!(got[1].is_error, "{:?}", got[1]);
    let missing = "Validation failed for tool \"read\":\n  - path: missing\n\nReceived arguments:\n{}";
    assert_eq!((got[2].is_error, got[2].text.as_str()), (true, missing));
    assert_eq!(got[2].details, json!({}), "errors carry empty details");
    assert_eq!((got[3].is_error, got[3].text.as_str()), (false, "l2\n"));
}

#[tokio::test]
async fn edit_keeps_byte_order_mark_and_line_ends_14_11() {
    let (sandbox, got) = outcomes(
        &[("a.txt", "\u{feff}one\r\ntwo\r\nthree\r\n")],
        &[edit("a.txt", &[("two\nthree", "TWO\nNEW\nTHREE")])],
    )
    .await;
    assert_eq!(got[0].text, "Successfully replaced 1 block(s) in a.txt.");
    assert_eq!(sandbox.read("a.txt"), "\u{feff}one\r\nTWO\r\nNEW\r\nTHREE\r\n");
}

#[tokio::test]
async fn edit_finds_text_with_other_quotes_and_spaces_and_rewrites_only_touched_lines_14_11() {
    let (sandbox, got) = outcomes(
        &[("f", "keep  \nfn a() {   \n  x\u{2014}y\n}\nlast\t\nit\u{2019}s  \n")],
        &[edit("f", &[("fn a() {\n  x-y\n}", "fn b() {}"), ("it's", "it is")])],
    )
    .await;
    assert!(!got[0].is_error, "{:?}", got[0]);
    assert_eq!(sandbox.read("f"), "keep  \nfn b() {}\nlast\t\nit is\n");
}

#[tokio::test]
async fn edit_refuses_what_is_not_clear_and_leaves_the_file_alone_14_11() {
    let table = [
        (("edit", json!({"path": "a.txt", "edits": []})), &["edits must contain at least one replacement."][..]),
        (edit("a.txt", &[("x\ny", "1"), ("y\nx", "2")]), &["edits[0]", "edits[1]"]),
        (edit("a.txt", &[("y", "y")]), &["No changes made to a.txt."]),
        (edit("none.txt", &[("a", "b")]), &["Could not edit file: none.txt. Error code: ENOENT."]),
        (edit("a.txt", &[("x", "z")]), &["Found 2 occurrences"]),
        (edit("a.txt", &[("q", "z")]), &["Could not find the exact text in a.txt"]),
        (edit("a.txt", &[("y", "1"), ("q", "z")]), &["Could not find edits[1] in a.txt"]),
    ];
    let wanted: Vec<_> = table.iter().map(|(call, _)| call.clone()).collect();
    let (sandbox, got) = outcomes(&[("a.txt", "x\ny\nx\n")], &wanted).await;
    for (outcome, (call, parts)) in got.iter().zip(&table) {
        assert!(outcome.is_error, "{call:?}: {outcome:?}");
        for part in *parts {
            assert!(outcome.text.contains(part), "{call:?}: {outcome:?}");
        }
    }
    assert_eq!(sandbox.read("a.txt"), "x\ny\nx\n");
}

#[tokio::test]
async fn bash_tells_how_a_command_ended_14_11() {
    let bash = |command: &str| ("bash", json!({"command": command}));
    let (_sandbox, got) = outcomes(
        &[],
        &[
            bash("exit 7"),
            bash("echo a; kill -9 $$"),
            bash("true"),
            bash("echo out; echo err >&2; false"),
            ("bash", json!({"command": "echo x", "timeout": -1})),
            ("bash", json!({"command": "echo before; sleep 20", "timeout": 1})),
        ],
    )
    .await;
    assert_eq!((got[0].is_error, got[0].text.as_str()), (true, "(no output)\n\nCommand exited with code 7"));
    assert_eq!(got[0].result["structuredContent"]["exit_code"], 7);
    assert!(got[1].is_error && got[1].text.starts_with("a\n"), "{:?}", got[1]);
    assert!(got[1].text.ends_with("\n\nCommand exited with code 137"), "{:?}", got[1]);
    assert_eq!((got[2].is_error, got[2].text.as_str()), (false, "(no output)"));
    assert!(got[3].is_error && got[3].text.starts_with("out\nerr\n"), "{:?}", got[3]);
    let timeout = "Invalid timeout: must be a finite number of seconds";
    assert!(got[4].is_error && got[4].text.contains(timeout), "{:?}", got[4]);
    assert!(got[5].is_error && got[5].text.starts_with("before\n"), "{:?}", got[5]);
    assert!(got[5].text.ends_with("Command timed out after 1 seconds"), "{:?}", got[5]);
    assert!(got[5].result.get("structuredContent").is_none() && got[5].details == json!({}), "{:?}", got[5]);
}

#[tokio::test]
async fn bash_keeps_the_end_of_long_output_and_all_of_it_in_a_file_14_11() {
    let bash = |command: &str| ("bash", json!({"command": command}));
    let (_sandbox, got) = outcomes(&[], &[bash("seq 1 3000"), bash("head -c 120000 /dev/zero | tr '\\0' x")]).await;
    let (kept, notice) = got[0].text.rsplit_once("\n\n").unwrap();
    assert!(kept.starts_with("1001\n1002\n") && kept.ends_with("\n3000"), "{notice}");
    let path =
        notice.strip_prefix("[Showing lines 1001-3000 of 3000. Full output: ").and_then(|rest| rest.strip_suffix(']'));
    let path = path.unwrap_or_else(|| panic!("{notice}"));
    let all: String = (1..=3000).map(|n| format!("{n}\n")).collect();
    assert_eq!(std::fs::read_to_string(path).unwrap(), all);
    assert!(path.ends_with(".log"), "{path}");
    assert_eq!(got[0].details["fullOutputPath"], path);
    assert_eq!(got[0].details["truncation"]["totalLines"], 3000);

    let (kept, notice) = got[1].text.rsplit_once("\n\n").unwrap();
    assert_eq!(kept, "x".repeat(51_200));
    assert!(notice.starts_with("[Showing last 50.0KB of line 1 (line is 117.2KB). Full output: "), "{notice}");
}

#[tokio::test]
async fn bash_does_not_wait_for_a_child_that_only_holds_the_pipe_fc_041() {
    let (_sandbox, got) = outcomes(&[], &[("bash", json!({"command": "sleep 20 & echo ready"}))]).await;
    assert_eq!((got[0].is_error, got[0].text.as_str()), (false, "ready\n"));
    let seconds = got[0].result["structuredContent"]["wall_time_seconds"].as_f64().unwrap();
    assert!(seconds < 15.0, "waited for the child: {seconds} s");
}

#[tokio::test]
async fn commands_run_in_the_project_without_input_14_11() {
    let (sandbox, got) = outcomes(&[], &[("bash", json!({"command": "pwd; cat; echo rc $?"}))]).await;
    assert_eq!(got[0].text, format!("{}\nrc 0\n", sandbox.project.display()));
}

#[tokio::test]
async fn ls_says_that_there_is_more_14_11() {
    let files: Vec<_> = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| (name, "")).into();
    let (_sandbox, got) =
        outcomes(&files, &[("ls", json!({"limit": 2})), ("ls", json!({"path": "none"})), ("ls", json!({}))]).await;
    assert_eq!(got[0].text, "a\nb\n\n[2 entries limit reached. Use limit=4 for more]");
    assert_eq!(got[0].details, json!({"entryLimitReached": 2}));
    assert!(got[1].is_error && got[1].text.starts_with("Path not found: "), "{:?}", got[1]);
    assert_eq!(got[2].text, "a\nb\nc\nd\ne\nf\ng\nh");
}

#[tokio::test]
async fn find_and_grep_give_relative_paths_5_6() {
    let files = [("src/a.rs", "fn one() {}\nfn two() {}\n"), ("src/b.txt", "two\n"), ("README", "none\n")];
    let (_sandbox, got) = outcomes(
        &files,
        &[
            ("grep", json!({"pattern": "two", "glob": "*.rs"})),
            ("grep", json!({"pattern": "absent"})),
            ("find", json!({"pattern": "*.rs"})),
            ("find", json!({"pattern": "*.zip"})),
        ],
    )
    .await;
    assert_eq!(got[0].text, "src/a.rs:2: fn two() {}");
    assert_eq!(got[1].text, "No matches found");
    assert_eq!(got[2].text, "src/a.rs");
    assert_eq!(got[3].text, "No files found matching pattern");
}
