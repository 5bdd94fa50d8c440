//! `troupe sessions …`, and which session a start takes (2.9 to 2.11).

#![allow(clippy::unwrap_used)]

mod support;

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};
use support::*;

const FIX: &str = "0199aaaa-0000-7000-8000-000000000001";
const ASK: &str = "0199aaaa-0000-7000-8000-000000000002";
const OTHER: &str = "0199bbbb-0000-7000-8000-000000000003";

/// A sandbox with two sessions of the project, the named one newer, and one of another project.
struct World {
    sandbox: Sandbox,
    elsewhere: PathBuf,
}

impl World {
    async fn new() -> Self {
        let sandbox = Sandbox::new(|_: &Request| text("ok")).await;
        let elsewhere = sandbox.home.join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let world = Self { sandbox, elsewhere };
        let project = world.sandbox.project.clone();
        world.add(
            &project,
            ASK,
            1000,
            &[said("u1", "user", "What is a\nborrow checker?"), said("a1", "assistant", "A judge.")],
        );
        let named =
            json!({"type": "session_info", "id": "n", "parentId": "u1", "timestamp": TIME, "name": "Fix login"});
        world.add(&project, FIX, 2000, &[said("u1", "user", "The LOGIN page is broken"), named]);
        world.add(&world.elsewhere, OTHER, 3000, &[said("u1", "user", "Bake a cake")]);
        world
    }

    fn folder(&self, cwd: &Path) -> PathBuf {
        let name = cwd.to_string_lossy().trim_start_matches('/').replace('/', "-");
        self.sandbox.user_dir.join("sessions").join(format!("--{name}--"))
    }

    /// A session that was changed in this second.
    fn add(&self, cwd: &Path, id: &str, second: u64, entries: &[Value]) -> PathBuf {
        let header = json!({"type": "session", "version": 3, "id": id, "timestamp": TIME, "cwd": cwd});
        let lines: String = [header].iter().chain(entries).map(|line| format!("{line}\n")).collect();
        let path = self.folder(cwd).join(format!("2026-01-02T03-04-05-678Z_{id}.jsonl"));
        self.sandbox.write(&path, lines);
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
        path
    }

    fn file(&self, id: &str) -> PathBuf {
        let cwd = if id == OTHER { &self.elsewhere } else { &self.sandbox.project };
        self.folder(cwd).join(format!("2026-01-02T03-04-05-678Z_{id}.jsonl"))
    }

    async fn sessions(&self, args: &[&str]) -> Finished {
        self.sandbox.run(&[&["sessions"], args].concat()).await
    }

    /// What it prints when it succeeds.
    async fn printed(&self, args: &[&str]) -> String {
        let finished = self.sessions(args).await;
        assert_eq!(finished.code, Some(0), "{args:?}: {}", finished.stderr);
        finished.stdout
    }

    async fn refused(&self, args: &[&str], why: &str) {
        let finished = self.sessions(args).await;
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{args:?}");
        assert!(
            finished.stderr.starts_with("Error: ") && finished.stderr.contains(why),
            "{args:?}: {}",
            finished.stderr
        );
    }
}

const TIME: &str = "2026-01-02T03:04:05.678Z";

fn said(id: &str, role: &str, words: &str) -> Value {
    json!({"type": "message", "id": id, "parentId": null, "timestamp": TIME, "message": {
        "role": role, "content": [{"type": "text", "text": words}], "timestamp": 1_767_323_045_678_i64,
        "provider": "mock", "model": "m1", "usage": {"input": 10, "output": 2, "totalTokens": 12, "cost": {"total": 0.5}},
    }})
}

/// The ids of a list for programs.
fn ids(list: &str) -> Vec<String> {
    let list: Vec<Value> = serde_json::from_str(list).unwrap();
    list.iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn sessions_are_listed_for_people_and_for_programs() {
    let world = World::new().await;
    let table = world.printed(&[]).await;
    let rows: Vec<_> = table.lines().collect();
    assert_eq!(rows.len(), 2, "{table}");
    assert!(table.contains("  1 message") && table.contains("Fix login — The LOGIN page is broken"), "{table}");
    assert!(table.contains("2 messages") && table.contains("What is a borrow checker?"), "{table}");
    let all = world.printed(&["list", "--all"]).await;
    assert!(all.lines().count() == 3 && all.contains("[~/elsewhere]"), "{all}");

    let list: Vec<Value> = serde_json::from_str(&world.printed(&["--json", "--named"]).await).unwrap();
    let expected = json!([{
        "path": world.file(FIX), "id": FIX, "cwd": world.sandbox.project, "name": "Fix login", "created": TIME,
        "modified": TIME, "messageCount": 1, "firstMessage": "The LOGIN page is broken",
    }]);
    assert_eq!(Value::from(list), expected);
    for (args, expected) in [
        (&["--json", "--sort", "name"][..], vec![FIX, ASK]),
        (&["--json", "--all", "--limit", "1", "--sort=created"], vec![FIX]),
        (&["--json", "borrow"], vec![ASK]),
        (&["--json", "--all", "cake"], vec![OTHER]),
        (&["--json", "LOGIN"], vec![FIX]),
        (&["--json", "Login"], vec![]),
        (&["--json", "--named", "borrow"], vec![]),
    ] {
        let list = ids(&world.printed(args).await);
        assert_eq!(list.len(), expected.len(), "{args:?}: {list:?}");
        assert!(args.contains(&"--all") || list == expected, "{args:?}: {list:?}");
    }
    let limited = world.sessions(&["--limit", "1"]).await;
    assert!(limited.stdout.lines().count() == 1 && limited.stderr.contains("--limit 0"), "{limited:?}");
    let none = world.printed(&["nowhere"]).await;
    assert!(none.contains("no session of this folder that fits \"nowhere\"") && none.contains("--all"), "{none}");
    assert!(world.printed(&["serch", "login"]).await.contains("troupe sessions search"), "a slip of the finger");
}

#[tokio::test]
async fn words_are_found_in_what_was_said() {
    let world = World::new().await;
    let found = world.printed(&["search", "judge"]).await;
    let rows: Vec<_> = found.lines().collect();
    assert!(rows[0].starts_with("0199aaaa-0000") && rows[0].ends_with("What is a borrow checker?"), "{found}");
    assert_eq!(rows[1].split_whitespace().collect::<Vec<_>>(), ["assistant", "a1", "A", "judge."], "{found}");
    let hits = world.printed(&["search", "--json", "--all", "a"]).await;
    let hits: Vec<Value> = hits.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let places: Vec<_> =
        hits.iter().map(|hit| (hit["id"].as_str().unwrap(), hit["entryId"].as_str().unwrap())).collect();
    assert_eq!(places, [(OTHER, "u1"), (FIX, "u1"), (ASK, "u1"), (ASK, "a1")], "newest first");
    assert_eq!(hits[0]["snippet"], "Bake a cake");
    assert_eq!(hits[0]["cwd"], world.elsewhere.to_string_lossy().as_ref());
    let limited = world.printed(&["search", "--json", "--limit", "1", "a"]).await;
    assert_eq!(limited.lines().count(), 2, "{limited}");
    assert!(world.printed(&["search", "cake"]).await.contains("in no session of this folder. --all"));
    world.refused(&["search", "re:("], "regular expression").await;
    world.refused(&["search"], "what to search for").await;
}

#[tokio::test]
async fn everything_about_a_session_is_told() {
    let world = World::new().await;
    let text = world.printed(&["show", "0199aaaa-0000-7000-8000-000000000002"]).await;
    for part in [
        ASK,
        "What is a borrow checker?",
        "2: 1 of the user, 1 answer, 0 tool results",
        "2 branches",
        "mock/m1",
        "$0.5000",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let value: Value = serde_json::from_str(&world.printed(&["show", "--json", FIX]).await).unwrap();
    assert_eq!(
        (&value["name"], &value["messageCount"], &value["branches"]),
        (&json!("Fix login"), &json!(1), &json!(1))
    );
    world.refused(&["show", "0199aaaa"], "means several sessions").await;
    world.refused(&["show", "nosuch"], "No session found matching 'nosuch'").await;
    world.refused(&["show", "../../../../etc/passwd"], "").await;
}

#[tokio::test]
async fn a_session_gets_another_name() {
    let world = World::new().await;
    let text = world.printed(&["rename", ASK, " Borrow\nchecker "]).await;
    assert_eq!(text, "0199aaaa-0000 is called \"Borrow checker\" now.\n");
    let lines = lines(&world.file(ASK));
    assert_eq!(
        (&lines[3]["type"], &lines[3]["name"], lines.len()),
        (&json!("session_info"), &json!("Borrow checker"), 4)
    );
    assert!(world.printed(&[]).await.contains("Borrow checker — What is a borrow checker?"));
    world.refused(&["rename", ASK, " "], "at least one character").await;
}

#[tokio::test]
async fn deleted_sessions_can_be_brought_back() {
    let world = World::new().await;
    world.refused(&["delete", ASK], "Add --yes").await;
    world.refused(&["delete", ASK, "nosuch", "--yes"], "No session found").await;
    let state = world.file(ASK).with_extension("state");
    world.sandbox.write(&state, "{}\n");
    let mut rpc = world.sandbox.rpc(&["--session", FIX]).await;
    let finished = world.sessions(&["delete", ASK, FIX, "--yes"]).await;
    assert_eq!((finished.code, finished.stdout.lines().count()), (Some(1), 1), "{finished:?}");
    assert!(finished.stderr.contains("is open in another Troupe process"), "{}", finished.stderr);
    assert!(world.file(FIX).exists() && !world.file(ASK).exists() && !state.exists());
    rpc.call(json!({"type": "get_state"})).await;
    drop(rpc);

    let trash = world.sandbox.home.join(".local/share/Trash");
    let name = world.file(ASK).file_name().unwrap().to_owned();
    fs::rename(trash.join("files").join(name), world.file(ASK)).unwrap();
    assert_eq!(ids(&world.printed(&["--json"]).await).len(), 2);
    let again = world.sandbox.run(&["-p", "--session", ASK, "hi"]).await;
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), "ok\n"), "{}", again.stderr);
}

#[tokio::test]
async fn where_there_is_no_trash_that_is_said() {
    let world = World::new().await;
    world.sandbox.write(world.sandbox.home.join(".local"), "in the way");
    let finished = world.sessions(&["delete", ASK, "-y"]).await;
    assert_eq!((finished.code, finished.stdout.starts_with("deleted for good")), (Some(0), true), "{finished:?}");
    assert!(finished.stderr.contains("cannot be put into the trash") && !world.file(ASK).exists(), "{finished:?}");
}

#[tokio::test]
async fn a_session_leaves_as_a_file_and_comes_back() {
    let world = World::new().await;
    let out = world.sandbox.project.join("out.jsonl");
    let text = world.printed(&["export", ASK, "out.jsonl"]).await;
    assert_eq!(text, format!("Exported to: {}\n", out.display()));
    assert_eq!(entry_roles(&lines(&out)), ["assistant"], "the branch of the last entry");
    world.refused(&["export", ASK, "out.jsonl"], "exists already").await;
    world.printed(&["export", "--jsonl", "--force", FIX, "out.jsonl"]).await;
    assert_eq!(lines(&out)[0]["id"], FIX);
    let named = world.printed(&["export", FIX]).await;
    assert!(named.contains("/session-20") && named.ends_with("Z.jsonl\n"), "{named}");

    let (own, before) = (world.file(FIX).display().to_string(), fs::read(world.file(FIX)).unwrap());
    for form in ["--jsonl", "--html"] {
        world.refused(&["export", FIX, form, "--force", &own], "is the session itself").await;
    }
    assert_eq!(fs::read(world.file(FIX)).unwrap(), before);
    let pipe = world.sandbox.project.join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for args in [&["export", FIX, "--force", "pipe"][..], &["show", "./pipe"]] {
        world.refused(args, "found a pipe").await;
    }

    world.printed(&["export", FIX, "page.html"]).await;
    assert!(world.sandbox.read("page.html").contains("The LOGIN page is broken"));
    world.refused(&["export", ASK, "page.html"], "exists already").await;
    world.printed(&["export", ASK, "--html", "--force", "page.html"]).await;
    assert!(world.sandbox.read("page.html").contains("borrow checker"));

    for name in ["out.jsonl", "out-1.jsonl"] {
        let text = world.printed(&["import", "out.jsonl"]).await;
        let copy = world.folder(&world.sandbox.project).join(name);
        assert!(text.ends_with(&format!("--session {}\n", copy.display())), "its id means several: {text}");
        assert_eq!(fs::read(copy).unwrap(), fs::read(&out).unwrap());
    }
    world.refused(&["show", FIX], "out-1.jsonl").await;
    let gone =
        fs::read_to_string(&out).unwrap().replace(&world.sandbox.project.to_string_lossy().into_owned(), "/gone");
    world.sandbox.write("gone.jsonl", gone);
    world.refused(&["import", "gone.jsonl"], "/gone, which does not exist here").await;
    world.sandbox.write("foreign.jsonl", "{}\n");
    world.refused(&["import", "foreign.jsonl"], "not a valid pi session").await;
    world.sandbox.write("torn.jsonl", format!("{{\"x\n{}", fs::read_to_string(&out).unwrap()));
    let torn = world.sessions(&["import", "torn.jsonl"]).await;
    assert!(torn.code == Some(0) && torn.stderr.contains("cannot be read"), "{torn:?}");
    world.refused(&["import", "none.jsonl"], "none.jsonl").await;
}

#[tokio::test]
async fn a_session_of_another_project_is_not_taken_without_a_word_2_11() {
    let world = World::new().await;
    let refused = world.sandbox.run(&["-p", "--session", "0199bbbb", "hi"]).await;
    assert_eq!(refused.code, Some(1));
    for part in ["belongs to another project", &world.elsewhere.to_string_lossy(), "--fork 0199bbbb"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert_eq!(lines(&world.file(OTHER)).len(), 2, "nothing was added");
    let forked = world.sandbox.run(&["-p", "--fork", "0199bbbb", "hi"]).await;
    assert_eq!((forked.code, forked.stdout.as_str()), (Some(0), "ok\n"), "{}", forked.stderr);
    assert_eq!(world.sandbox.server.last().texts("user"), ["Bake a cake", "hi"]);
    let path = world.file(OTHER).display().to_string();
    let named = world.sandbox.run(&["-p", "--session", &path, "hi"]).await;
    assert_eq!((named.code, named.stdout.as_str()), (Some(0), "ok\n"), "{}", named.stderr);
    fs::remove_dir_all(&world.elsewhere).unwrap();
    let gone = world.sandbox.run(&["-p", "--session", &path, "hi"]).await;
    assert!(gone.code == Some(1) && gone.stderr.contains("elsewhere"), "{}", gone.stderr);
    let picked = world.sandbox.run(&["-r", "-p", "hi"]).await;
    assert!(picked.code == Some(1) && picked.stderr.contains("troupe sessions"), "{}", picked.stderr);
}

#[tokio::test]
async fn names_cannot_act_on_a_terminal_fc_107() {
    let script = Path::new("/usr/bin/script");
    if !script.exists() {
        eprintln!("SKIPPED: script (bsdutils) is not installed here");
        return;
    }
    let world = World::new().await;
    let evil = "a\u{1b}]0;x\u{7}b\u{202e}c";
    world.add(&world.sandbox.project, "evil", 4000, &[said("u1", "user", evil)]);
    for args in
        [&["sessions"][..], &["sessions", "--json"], &["sessions", "search", "b"], &["sessions", "show", "evil"]]
    {
        let inner = world.sandbox.command(args);
        let inner = inner.as_std();
        let words: Vec<&OsStr> = [inner.get_program()].into_iter().chain(inner.get_args()).collect();
        let line = words.join(OsStr::new(" "));
        let mut command = tokio::process::Command::new(script);
        command.args(["-qefc", line.to_str().unwrap(), "/dev/null"]).current_dir(&world.sandbox.project).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?)))).kill_on_drop(true);
        let shown = finish(command, "").await.stdout;
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{args:?}: {shown:?}");
        assert!(shown.contains("<U+202E>") || shown.contains("\\u202e"), "{args:?}: {shown:?}");
    }
}
