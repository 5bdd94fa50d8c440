//! Finding, listing and copying sessions.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde_json::json;
use tempfile::TempDir;

use super::{
    dir::{SessionDir, file_name, folder_name, read_header},
    list::{list_all_sessions, list_sessions},
    resolve::{Resolved, check_folder, most_recent, resolve, with_id},
    *,
};
use crate::store::{
    StoreError,
    paths::Environment,
    session::open::read_view,
    testing::{answer, file, header, header_of, label, line, user},
};

/// A home with sessions of the projects `/p/one` and `/p/two`; later ones are newer.
struct Home {
    dir: TempDir,
    count: u64,
}

impl Home {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), count: 0 }
    }

    fn project(&self, cwd: &str) -> SessionDir {
        SessionDir::of_project(self.dir.path(), Path::new(cwd))
    }

    fn add(&mut self, folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        self.count += 1;
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + self.count);
        File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
        path
    }

    fn session(&mut self, cwd: &str, id: &str) -> PathBuf {
        let folder = self.project(cwd).path;
        let bytes = file(&[header_of(id, cwd), user("e1", "", "hi")]);
        self.add(&folder, &format!("{id}.jsonl"), &bytes)
    }
}

#[test]
fn folders_and_files_are_named_as_pi_names_them() {
    for (cwd, name) in [("/srv/u/proj", "--srv-u-proj--"), ("/a b/c.d:e\\f", "--a b-c.d-e-f--"), ("/", "----")] {
        assert_eq!(folder_name(Path::new(cwd)), name);
    }
    let header = serde_json::from_str(&header()).unwrap();
    assert_eq!(file_name(&header), "2026-01-02T03-04-05-678Z_11111111-2222-7333-8444-555555555555.jsonl");
}

#[test]
fn the_folder_of_sessions_is_chosen_by_flag_environment_setting_in_this_order() {
    let path = |text| Some(Path::new(text));
    let env = |session_dir: Option<&str>| Environment {
        home: Some("/h".into()),
        session_dir: session_dir.map(Into::into),
        ..Environment::default()
    };
    for (env, flag, setting, expected) in [
        (env(Some("/env")), path("flag"), path("/set"), "/p/flag"),
        (env(Some("~/env")), None, path("/set"), "/h/env"),
        (env(None), None, path("~/set"), "/h/set"),
    ] {
        let dir = SessionDir::choose(&env, Path::new("/p"), flag, setting);
        assert_eq!((dir.path.as_path(), dir.custom), (Path::new(expected), true));
    }
    let dir = SessionDir::choose(&env(None), Path::new("/p"), None, None);
    assert_eq!((dir.path.as_path(), dir.custom), (Path::new("/h/.troupe/sessions/--p--"), false));
}

#[test]
fn a_session_is_found_by_path_id_and_the_beginning_of_its_id() {
    let mut home = Home::new();
    let old = home.session("/p/one", "aaaa-1");
    let new = home.session("/p/one", "aaaa-22");
    let other = home.session("/p/two", "bbbb-1");
    let same = home.session("/p/two", "aaaa-3");
    let dir = home.project("/p/one");
    let elsewhere = |path: &Path| Resolved::Elsewhere(path.to_owned(), "/p/two".into());
    for (text, expected) in [
        ("aaaa-1", Resolved::Here(old)),
        ("aaaa", Resolved::Here(new)),
        ("bbbb-1", elsewhere(&other)),
        ("b", elsewhere(&other)),
        ("aaaa-3", elsewhere(&same)),
        ("../x/y.jsonl", Resolved::Path("/p/x/y.jsonl".into())),
        ("new.jsonl", Resolved::Path("/p/one/new.jsonl".into())),
    ] {
        assert_eq!(resolve(text, &dir).unwrap(), expected, "{text}");
    }
    for text in ["nosuch", "", "aaaa-111"] {
        assert!(matches!(resolve(text, &dir), Err(StoreError::SessionNotFound(_))), "{text}");
    }
    assert!(with_id("aaaa-1", &dir).unwrap().is_some());
    assert_eq!(with_id("aaaa", &dir).unwrap(), None, "no beginnings here");
    assert_eq!(with_id("bbbb-1", &dir).unwrap(), None, "this project only");
    assert!(matches!(with_id("../x", &dir), Err(StoreError::BadSessionId(_))));
}

#[test]
fn the_last_session_is_the_file_that_changed_last_and_can_be_read() {
    let mut home = Home::new();
    let dir = home.project("/p/one");
    assert_eq!(most_recent(&dir), None);
    home.session("/p/one", "a");
    let readable = home.session("/p/one", "b");
    home.add(&dir.path, "damaged.jsonl", b"\0garb\n{\"type\":\"message\",\"id\":\"x\"}\n");
    home.add(&dir.path, "foreign.jsonl", b"{}\n");
    home.add(&dir.path, "empty.jsonl", b"");
    home.add(&dir.path, "b.state", b"{}\n");
    fs::create_dir(dir.path.join("folder.jsonl")).unwrap();
    assert_eq!(most_recent(&dir), Some(readable));
}

#[test]
fn a_folder_that_the_user_chose_holds_sessions_of_many_projects() {
    let mut home = Home::new();
    let folder = home.dir.path().join("flat");
    let mine = home.add(&folder, "a.jsonl", &file(&[header_of("aaaa", "/p/one")]));
    home.add(&folder, "b.jsonl", &file(&[header_of("bbbb", "/p/two")]));
    let dir = SessionDir::custom(folder, Path::new("/p/one"));
    assert_eq!(most_recent(&dir), Some(mine));
    assert!(matches!(resolve("bbbb", &dir).unwrap(), Resolved::Elsewhere(_, cwd) if cwd == "/p/two"));
    assert_eq!((list_sessions(&dir).len(), list_all_sessions(&dir).len()), (1, 2));
}

#[test]
fn headers_are_looked_for_in_a_bounded_part_of_the_file() {
    let mut home = Home::new();
    let folder = home.project("/p/one").path;
    let read = |path: PathBuf| read_header(&path).map(|header| header.id);
    let own = header_of("aaaa", "/p/one");
    assert_eq!(read(home.add(&folder, "1.jsonl", own.as_bytes())).as_deref(), Some("aaaa"), "no newline");
    assert_eq!(read(home.add(&folder, "2.jsonl", format!("\n{{bad\n{own}\n").as_bytes())).as_deref(), Some("aaaa"));
    let long = header_of("aaaa", &"x".repeat(100_000));
    assert_eq!(read(home.add(&folder, "3.jsonl", long.as_bytes())).as_deref(), Some("aaaa"));
    assert_eq!(read(home.add(&folder, "4.jsonl", &vec![b'x'; 3 << 20])), None);
    assert_eq!(read(folder.join("missing.jsonl")), None);
}

#[test]
fn a_list_tells_what_each_session_is_about() {
    let mut home = Home::new();
    let dir = home.project("/p/one");
    let said = |line: String, at: i64| line.replace("\"timestamp\":5", &format!("\"timestamp\":{at}"));
    let rich = [
        header_of("rich", "/p/one"),
        line("session_info", "n", "", json!({"name": "old name"})),
        said(user("u1", "n", "first words"), 2_000_000_000_000),
        answer("a1", "u1", "reply"),
        line(
            "message",
            "t",
            "a1",
            json!({"message": {"role": "toolResult", "content": [], "timestamp": 9_000_000_000_000_i64}}),
        ),
        line("session_info", "n2", "t", json!({"name": " new\nname "})),
        user("u2", "n2", "more"),
    ];
    home.add(&dir.path, "rich.jsonl", &[file(&rich), b"{\"torn".to_vec()].concat());
    home.add(&dir.path, "quiet.jsonl", &[file(&[header_of("quiet", "/p/one")]), vec![0; 64]].concat());
    let old = r#"{"type":"session","id":"old","cwd":"/p/one","timestamp":"2025-01-02T03:04:05.678Z"}
{"type":"message","timestamp":"2025-01-02T03:04:06.000Z","message":{"role":"user","content":"from version 1"}}"#;
    home.add(&dir.path, "old.jsonl", old.as_bytes());
    let list = list_sessions(&dir);
    assert_eq!(list.iter().map(|info| info.id.as_str()).collect::<Vec<_>>(), ["rich", "quiet", "old"]);
    assert_eq!((list[2].first_message.as_str(), list[2].modified), ("from version 1", 1_735_787_046_000));
    let info = &list[0];
    assert_eq!((info.name.as_deref(), info.first_message.as_str()), (Some("new name"), "first words"));
    assert_eq!((info.message_count, info.modified, info.partial), (4, 2_000_000_000_000, false));
    assert_eq!(info.text, "first words reply more");
    assert_eq!(info.created, 1_767_323_045_678);
    let quiet = &list[1];
    assert_eq!(
        (quiet.first_message.as_str(), quiet.message_count, quiet.modified),
        ("(no messages)", 0, quiet.created)
    );
}

#[test]
fn fc_006_of_a_huge_file_both_ends_are_read() {
    let mut home = Home::new();
    let dir = home.project("/p/one");
    let mut lines = vec![header_of("big", "/p/one"), user("u0", "", "first")];
    let blob = "x".repeat(1 << 20);
    lines.extend((1..14).map(|n| user(&format!("u{n}"), "u0", &blob)));
    lines.push(line("session_info", "n", "u0", json!({"name": "late name"})));
    home.add(&dir.path, "big.jsonl", &file(&lines));
    let info = list_sessions(&dir).remove(0);
    assert!(info.partial && info.message_count < 14);
    assert_eq!((info.name.as_deref(), info.first_message.as_str()), (Some("late name"), "first"));
    assert!(info.text.len() <= 2 * (64 << 10));
}

#[test]
fn fc_014_a_session_whose_folder_is_gone_names_it() {
    let header = serde_json::from_str(&header_of("a", "/gone-folder")).unwrap();
    let error = check_folder(&header, Path::new("/s/a.jsonl")).unwrap_err().to_string();
    assert!(error.contains("/gone-folder") && error.contains("a.jsonl"), "{error}");
    let header = serde_json::from_str(&header_of("a", "/")).unwrap();
    assert!(check_folder(&header, Path::new("/s/a.jsonl")).is_ok());
}

#[test]
fn an_imported_file_keeps_its_bytes_and_gets_a_free_name() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("s.jsonl");
    let bytes = file(&[header(), user("e1", "", "hi")]);
    fs::write(&source, &bytes).unwrap();
    let to = dir.path().join("sessions");
    let names: Vec<_> = (0..3).map(|_| import(&source, &to).unwrap()).collect();
    assert_eq!(names, [to.join("s.jsonl"), to.join("s-1.jsonl"), to.join("s-2.jsonl")]);
    assert!(names.iter().all(|name| fs::read(name).unwrap() == bytes));
    fs::write(&source, "{}\n").unwrap();
    assert!(matches!(import(&source, &to), Err(StoreError::NotASession(_))));
}

#[test]
fn an_exported_branch_is_a_session_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let lines = [
        header().replace("\"cwd\"", "\"parentSession\":\"/x\",\"cwd\""),
        user("e1", "", "E1"),
        user("other", "e1", "OTHER"),
        label("l", "e1", "e1", "L"),
        answer("e2", "l", "E2"),
    ];
    fs::write(&path, file(&lines)).unwrap();
    let out = dir.path().join("out.jsonl");
    export_branch(&read_view(&path).unwrap(), &out).unwrap();
    let exported = read_view(&out).unwrap();
    let ids: Vec<_> = exported.path().iter().take(2).map(|entry| entry.id().to_string()).collect();
    assert_eq!((ids, exported.len()), (vec!["e1".to_owned(), "e2".to_owned()], 3));
    assert_eq!(exported.header().parent_session, None);
    assert_eq!(exported.header().id, "11111111-2222-7333-8444-555555555555");
}
