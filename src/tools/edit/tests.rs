use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::tools::testing::{Bench, text};

fn edits(path: &str, pairs: &[(&str, &str)]) -> Value {
    let list: Vec<Value> = pairs.iter().map(|(old, new)| json!({"oldText": old, "newText": new})).collect();
    json!({"path": path, "edits": list})
}

#[tokio::test]
async fn line_endings_and_byte_order_mark_stay_fc_046_fc_047() {
    let bench = Bench::new();
    bench.write("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n");
    let output = bench.ok("edit", edits("a.txt", &[("two\nthree", "TWO\nNEW\nTHREE")])).await;
    assert_eq!(output, "Successfully replaced 1 block(s) in a.txt.");
    assert_eq!(bench.read("a.txt"), b"\xef\xbb\xbfone\r\nTWO\r\nNEW\r\nTHREE\r\n");
}

#[tokio::test]
async fn results_say_what_changed() {
    let bench = Bench::new();
    bench.write("f", (1..=30).map(|n| format!("l{n}\n")).collect::<String>());
    let output = bench.call("edit", edits("f", &[("l25", "Y\nZ"), ("l10", "X")])).await;
    let details = output.details.unwrap();
    assert_eq!(details["firstChangedLine"], 10);
    assert!(details["diff"].as_str().unwrap().contains("-10 l10\n+10 X"));
    assert!(details["patch"].as_str().unwrap().starts_with("--- f\n+++ f\n@@ -6,9 +6,9 @@\n"));
}

#[tokio::test]
async fn failures_leave_the_file_alone_and_say_what_to_do() {
    let bench = Bench::new();
    let content = "x\ny\nx\n";
    bench.write("a.txt", content);
    std::fs::create_dir(bench.path("d")).unwrap();
    let table = [
        (edits("a.txt", &[]), "Edit tool input is invalid. edits must contain at least one replacement."),
        (edits("a.txt", &[("x\ny", "1"), ("y\nx", "2")]), "edits[0] and edits[1] overlap in a.txt."),
        (edits("a.txt", &[("y", "y")]), "No changes made to a.txt."),
        (edits("none.txt", &[("a", "b")]), "Could not edit file: none.txt. Error code: ENOENT."),
        (edits("d", &[("a", "b")]), "Could not edit file: d. Error code: EISDIR."),
        (edits("a.txt", &[("x", "z")]), "Found 2 occurrences of the text in a.txt (lines 1, 3);"),
        (edits("a.txt", &[("y", "z"), ("x", "z")]), "Found 2 occurrences of edits[1] in a.txt (lines 1, 3);"),
        (edits("a.txt", &[("q", "z")]), "Could not find the exact text in a.txt."),
        (edits("a.txt", &[("y", "1"), ("q", "z")]), "Could not find edits[1] in a.txt."),
        (edits("a.txt", &[("", "z")]), "oldText must not be empty in a.txt."),
        (json!({"path": "a.txt", "edits": "not json"}), "Validation failed for tool \"edit\":\n  - edits.0:"),
    ];
    for (arguments, wanted) in table {
        let got = bench.fails("edit", arguments.clone()).await;
        assert!(got.starts_with(wanted), "{arguments}: {got}");
        assert_eq!(bench.read("a.txt"), content.as_bytes());
    }
}

#[tokio::test]
async fn the_forms_that_models_send_are_understood() {
    let mut bench = Bench::new();
    bench.facts.file_memory = None;
    let pair = json!({"oldText": "old", "newText": "new"});
    let table = [
        json!({"path": "f", "edits": json!([pair]).to_string()}),
        json!({"path": "f", "edits": pair}),
        json!({"path": "f", "oldText": "old", "newText": "new"}),
        json!({"path": "f", "edits": pair.to_string()}),
    ];
    for arguments in table {
        bench.write("f", "old\n");
        bench.ok("edit", arguments.clone()).await;
        assert_eq!(bench.read("f"), b"new\n", "{arguments}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_edits_of_one_file_are_all_kept_fc_050() {
    let mut bench = Bench::new();
    bench.facts.file_memory = None;
    for _ in 0..50 {
        bench.write("f", (0..8).map(|n| format!("line{n}\n")).collect::<String>());
        symlink("f", bench.path("link")).ok();
        let calls = (0..8).map(|n| {
            let path = if n % 2 == 0 { "f" } else { "link" };
            bench.call("edit", edits(path, &[(&format!("line{n}\n"), &format!("done{n}\n"))]))
        });
        let outputs = futures_util::future::join_all(calls).await;
        assert!(outputs.iter().all(|output| !output.is_error), "{outputs:?}");
        assert_eq!(bench.read("f"), (0..8).map(|n| format!("done{n}\n")).collect::<String>().as_bytes());
    }
}

#[tokio::test]
async fn edits_and_writes_go_through_links_fc_052() {
    let bench = Bench::new();
    bench.write("real.txt", "one");
    symlink("real.txt", bench.path("link.txt")).unwrap();
    symlink("later/dir/new.txt", bench.path("dangling.txt")).unwrap();
    bench.ok("edit", edits("link.txt", &[("one", "two")])).await;
    assert_eq!(bench.read("real.txt"), b"two");
    bench.ok("write", json!({"path": "link.txt", "content": "three"})).await;
    assert_eq!(bench.read("real.txt"), b"three");
    bench.ok("write", json!({"path": "dangling.txt", "content": "d"})).await;
    assert_eq!(bench.read("later/dir/new.txt"), b"d");
    assert!(bench.path("link.txt").is_symlink() && bench.path("dangling.txt").is_symlink());
}

#[tokio::test]
async fn what_others_changed_since_it_was_seen_is_shown_before_it_is_changed_fc_051() {
    let write = |content: &str| ("write", json!({"path": "f", "content": content}));
    let edit = |old: &str, new: &str| ("edit", edits("f", &[(old, new)]));
    let difference = "f has changed on disk since you last read it, so nothing was written. The difference:\n\n--- f\n\
                      +++ f\n@@ -1,1 +1,2 @@\n one\n+outside\n\n";
    for (tool, arguments) in [write("mine\n"), edit("one", "1")] {
        for how_it_was_seen in ["read", "write", "edit", "part"] {
            let bench = Bench::new();
            bench.write("f", "zero\n");
            match how_it_was_seen {
                "write" => bench.ok("write", json!({"path": "f", "content": "one\n"})).await,
                "edit" => bench.ok("edit", edits("f", &[("zero", "one")])).await,
                limit => {
                    bench.write("f", "one\n");
                    let limit = if limit == "part" { json!(0) } else { json!(null) };
                    bench.ok("read", json!({"path": "f", "limit": limit})).await
                }
            };
            bench.write("f", "one\noutside\n");
            let refused = bench.fails(tool, arguments.clone()).await;
            assert!(refused.starts_with(difference), "{tool} after {how_it_was_seen}: {refused}");
            assert_eq!(bench.read("f"), b"one\noutside\n");
            // The difference was seen: the same call works.
            bench.ok(tool, arguments.clone()).await;
            std::fs::remove_file(bench.path("f")).unwrap();
            bench.ok("write", json!({"path": "f", "content": "new, since it was gone\n"})).await;
        }
    }
}

#[tokio::test]
async fn an_edit_of_what_the_agent_did_not_see_is_not_based_on_what_it_saw_fc_051() {
    let bench = Bench::new();
    bench.write("f", "one\ntwo\n");
    bench.ok("read", json!({"path": "f"})).await;
    // It changed the file with a command, say, and goes on with what it made of it.
    bench.write("f", "uno\ntwo\n");
    let refused = bench.fails("edit", edits("f", &[("uno", "1"), ("two", "2")])).await;
    assert!(refused.contains("-one\n+uno\n"), "one of both is based on what it saw: {refused}");
    bench.write("f", "eins\ntwo\n");
    let edited = bench.ok("edit", edits("f", &[("eins", "1")])).await;
    assert!(edited.ends_with("It had changed on disk since you last read it; the rest of it may be new to you."));
    assert_eq!(bench.read("f"), b"1\ntwo\n");
    bench.ok("edit", edits("f", &[("two", "2")])).await;
}

#[tokio::test]
async fn files_that_were_never_seen_or_only_touched_are_not_stale_fc_051() {
    let bench = Bench::new();
    bench.write("f", "one\n");
    bench.ok("edit", edits("f", &[("one", "two")])).await;
    // Written again with the same content: another time, the same file.
    bench.write("f", "two\n");
    bench.ok("edit", edits("f", &[("two", "three")])).await;
    bench.write("g", "never read\n");
    bench.ok("write", json!({"path": "g", "content": "mine"})).await;
}

#[tokio::test]
async fn a_cancelled_edit_changes_nothing_and_one_that_waits_gives_up() {
    let bench = Bench::new();
    let path = bench.write("f", "old");
    let held = crate::tools::mutation_queue::turn(path.clone()).await;
    let call = bench.call("edit", edits("f", &[("old", "new")]));
    let cancel = bench.cancel.clone();
    let (output, ()) = tokio::join!(call, async move { cancel.cancel() });
    assert_eq!(text(&output), "Operation aborted");
    drop(held);
    assert_eq!(bench.fails("edit", edits("f", &[("old", "new")])).await, "Operation aborted");
    assert_eq!(bench.read("f"), b"old");
    assert!(!crate::tools::mutation_queue::is_busy(&path));
}
