//! Finding, listing, copying and deleting sessions.

mod listing;
mod removing;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde_json::json;
use tempfile::TempDir;

use super::{
    copy::Existing,
    dir::{SessionDir, file_name, folder_name, read_header},
    resolve::{Resolved, check_folder, most_recent, only, resolve, with_id},
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
        self.touch(&path, 1_000_000 + self.count);
        path
    }

    fn touch(&self, path: &Path, second: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
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
    let count = |scope| Listing::open(&dir, scope, None).rest().len();
    assert_eq!((count(Scope::Project), count(Scope::All)), (1, 2));
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
fn what_must_not_hit_another_session_is_refused_when_several_are_meant() {
    let mut home = Home::new();
    let first = home.session("/p/one", "aaaa-1");
    home.session("/p/one", "aaaa-22");
    let other = home.session("/p/two", "bbbb-1");
    let twice = home.project("/p/two").path;
    home.add(&twice, "x.jsonl", &file(&[header_of("cccc", "/p/two")]));
    home.add(&twice, "x-1.jsonl", &file(&[header_of("cccc", "/p/two")]));
    let dir = home.project("/p/one");
    let found = |text: &str| only(text, &dir).map(|head| head.path).map_err(|error| error.to_string());
    assert_eq!(found("aaaa-1"), Ok(first.clone()));
    assert_eq!(found("b"), Ok(other));
    assert_eq!(found(&first.to_string_lossy()), Ok(first));
    for (text, why) in [
        ("aaaa", "means several sessions: aaaa-22, aaaa-1"),
        ("cccc", "x-1.jsonl"),
        ("", "No session found"),
        ("nosuch", "No session found matching 'nosuch'"),
        ("../../etc/passwd", "not a valid pi session"),
        ("/no/such.jsonl", "No session found"),
    ] {
        let error = found(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
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
    let view = read_view(&path).unwrap();
    export_branch(&view, &out, Existing::Keep).unwrap();
    let error = export_branch(&view, &out, Existing::Keep).unwrap_err().to_string();
    assert!(error.contains("exists already"), "{error}");
    export_branch(&view, &out, Existing::Replace).unwrap();
    let exported = read_view(&out).unwrap();
    let ids: Vec<_> = exported.path().iter().take(2).map(|entry| entry.id().to_string()).collect();
    assert_eq!((ids, exported.len()), (vec!["e1".to_owned(), "e2".to_owned()], 3));
    assert_eq!(exported.header().parent_session, None);
    assert_eq!(exported.header().id, "11111111-2222-7333-8444-555555555555");
}
