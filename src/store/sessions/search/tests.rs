//! Searching sessions.

use std::{fs, path::Path, sync::atomic::AtomicBool};

use serde_json::json;

use super::*;
use crate::store::testing::{answer, compaction, file as lines_of, header, header_of, line, system, user};

/// Entry and role of each hit in a file of these bytes.
fn hits_in(bytes: &[u8], query: &str) -> Vec<String> {
    let mut hits = Vec::new();
    let query = Query::parse(query).unwrap();
    file::search(bytes, &query, &AtomicBool::new(false), |found| {
        hits.push(format!("{} {}", found.entry, found.role));
        ControlFlow::Continue(())
    })
    .unwrap();
    hits
}

fn session() -> Vec<u8> {
    let message = |id: &str, message: serde_json::Value| line("message", id, "", json!({ "message": message }));
    let block = json!({"type": "text", "text": "the Needle of a tool"});
    lines_of(&[
        header(),
        system("s", "", json!({"preamble": "needle of the prompt"})),
        user("u", "s", "a \"quoted\" needle\nin the first line"),
        answer("a", "u", "Café: the NEEDLE is found"),
        message(
            "t",
            json!({"role": "toolResult", "toolName": "needle", "content": [block, {"type": "image", "data": "needle"}]}),
        ),
        message("b", json!({"role": "bashExecution", "command": "grep needle", "output": "x\\y"})),
        message(
            "k",
            json!({"role": "assistant", "content": [{"type": "toolCall", "id": "needle", "arguments": {"text": "needle"}}]}),
        ),
        compaction("c", "b", "about a needle", "u"),
        line("custom", "x", "c", json!({"data": {"text": "needle"}})),
        line("label", "l", "c", json!({"targetId": "u", "label": "needle"})),
    ])
}

#[test]
fn what_was_said_is_found_and_nothing_else() {
    let bytes = session();
    for (query, expected) in [
        ("needle", vec!["u user", "a assistant", "t toolResult", "b bashExecution", "c compactionSummary"]),
        ("NEEDLE", vec!["a assistant"]),
        ("Needle", vec!["t toolResult"]),
        ("needle found", vec!["a assistant"]),
        ("\"needle in\"", vec!["u user"]),
        ("café", vec!["a assistant"]),
        ("\"a \"quoted", vec!["u user"]),
        ("x\\y", vec!["b bashExecution"]),
        // A line break is no blank to a regular expression.
        ("re:needle (of|in)", vec!["t toolResult"]),
        ("re:^grep", vec!["b bashExecution"]),
        ("toolresult", vec![]),
        ("nowhere", vec![]),
    ] {
        assert_eq!(hits_in(&bytes, query), expected, "{query}");
    }
}

#[test]
fn escaped_characters_are_found_as_well() {
    let text = String::from_utf8(session()).unwrap().replace('é', "\\u00e9");
    assert_eq!(hits_in(text.as_bytes(), "CAFÉ"), Vec::<String>::new(), "capitals count");
    assert_eq!(hits_in(text.as_bytes(), "café"), ["a assistant"]);
}

#[test]
fn damaged_lines_and_a_missing_newline_cost_nothing_else() {
    let mut bytes = lines_of(&[header(), "{\"torn needle".to_owned(), user("u", "", "needle")]);
    bytes.extend_from_slice(&[b"\xff\xfe needle\n\0\0\0\n", user("v", "u", "needle").as_bytes()].concat());
    assert_eq!(hits_in(&bytes, "needle"), ["u user", "v user"]);
}

/// Gives its bytes in pieces of odd sizes.
struct Trickle<'b>(&'b [u8]);

impl std::io::Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let size = self.0.len().min(out.len()).min(77_777);
        out[..size].copy_from_slice(&self.0[..size]);
        self.0 = &self.0[size..];
        Ok(size)
    }
}

#[test]
fn lines_that_are_longer_than_what_is_read_at_once_are_searched_too() {
    let picture = "needle".repeat(600_000);
    let content = json!([
        {"type": "text", "text": "before"}, {"type": "image", "data": picture}, {"type": "text", "text": "the needle"}
    ]);
    let long = line("message", "long", "", json!({"message": {"role": "user", "content": content}}));
    let blank = line(
        "message",
        "blank",
        "",
        json!({"message": {"role": "user", "content": [{"type": "image", "data": picture}]}}),
    );
    let text = user("text", "", &format!("{} needle", "word ".repeat(700_000)));
    let bytes = lines_of(&[header(), user("u", "", "needle"), long, blank, text, user("v", "", "needle")]);
    for cut in [0, 1] {
        let query = Query::parse("needle").unwrap();
        let mut hits = Vec::new();
        let source = Trickle(&bytes[..bytes.len() - cut]);
        file::search(source, &query, &AtomicBool::new(false), |found| {
            hits.push(found.entry);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(hits, ["u", "long", "text", "v"], "without {cut} bytes of the end");
    }
}

/// A folder of sessions; later ones are newer. Each says `needle` so often.
fn folder(rows: &[(&str, usize)]) -> (tempfile::TempDir, SessionDir) {
    let dir = tempfile::tempdir().unwrap();
    let project = SessionDir::of_project(dir.path(), Path::new("/p"));
    fs::create_dir_all(&project.path).unwrap();
    for (at, (id, count)) in rows.iter().enumerate() {
        let mut lines = vec![header_of(id, "/p")];
        lines.extend((0..*count).map(|n| user(&format!("{n}"), "", "needle")));
        let path = project.path.join(format!("{id}.jsonl"));
        fs::write(&path, lines_of(&lines)).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 + at as u64);
        fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
    }
    (dir, project)
}

fn start(dir: &SessionDir, per_session: Option<usize>) -> Search {
    let options = SearchOptions { scope: Scope::Project, per_session };
    Search::start(dir, Query::parse("needle").unwrap(), options).unwrap()
}

#[test]
fn hits_come_newest_session_first_and_in_the_order_of_the_file() {
    let (_guard, dir) = folder(&[("old", 2), ("none", 0), ("many", 100), ("new", 1)]);
    let hits: Vec<_> = start(&dir, None).map(|hit| format!("{}:{}", hit.header.id, hit.found.entry)).collect();
    assert_eq!(
        (hits.len(), hits[0].as_str(), hits[1].as_str(), hits[100].as_str()),
        (103, "new:0", "many:0", "many:99")
    );
    assert_eq!(hits[101..], ["old:0", "old:1"]);
    let few: Vec<_> = start(&dir, Some(1)).map(|hit| hit.header.id.clone()).collect();
    assert_eq!(few, ["new", "many", "old"]);
}

#[test]
fn a_search_ends_when_it_is_cancelled_or_dropped() {
    let rows: Vec<_> = (0..200).map(|n| (format!("s{n}"), 50)).collect();
    let rows: Vec<_> = rows.iter().map(|(id, count)| (id.as_str(), *count)).collect();
    let (_guard, dir) = folder(&rows);
    let mut search = start(&dir, None);
    assert!(search.next().is_some());
    search.cancel_handle().cancel();
    assert!(search.count() < 200 * 50 - 1);
    drop(start(&dir, None));
}

#[test]
fn what_is_no_session_is_not_searched() {
    let (_guard, dir) = folder(&[("a", 1)]);
    fs::write(dir.path.join("foreign.jsonl"), format!("{{}}\n{}\n", user("1", "", "needle"))).unwrap();
    fs::write(dir.path.join("empty.jsonl"), "").unwrap();
    crate::store::testing::pipe_in(&dir.path, "pipe.jsonl");
    std::os::unix::fs::symlink("loop.jsonl", dir.path.join("loop.jsonl")).unwrap();
    assert_eq!(start(&dir, None).count(), 1);
}
