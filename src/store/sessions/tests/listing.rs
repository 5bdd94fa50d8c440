//! Lists, and the index behind them.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::store::sessions::{
    files::{Found, FoundFile},
    index::{self, Index},
    info::{NO_MESSAGES, read_info},
};

/// A list when some time has passed since files were changed.
fn listing(dir: &SessionDir, scope: Scope, index: Option<&Path>) -> Listing {
    Listing::open_at(dir, scope, index, SystemTime::now() + Duration::from_secs(10))
}

fn list(dir: &SessionDir, scope: Scope, index: Option<&Path>) -> Vec<SessionInfo> {
    let mut listing = listing(dir, scope, index);
    let infos = listing.rest();
    listing.save_index().unwrap();
    infos
}

fn ids(infos: &[SessionInfo]) -> Vec<&str> {
    infos.iter().map(|info| info.id.as_str()).collect()
}

/// A message of a user at this second.
fn said_at(id: &str, second: u64) -> String {
    user(id, "", id).replace("\"timestamp\":5", &format!("\"timestamp\":{}", second * 1000))
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
    let list = Listing::open(&dir, Scope::Project, None).rest();
    assert_eq!(list.iter().map(|info| info.id.as_str()).collect::<Vec<_>>(), ["rich", "quiet", "old"]);
    assert_eq!((list[2].first_message.as_str(), list[2].modified), ("from version 1", 1_735_787_046_000));
    let info = &list[0];
    assert_eq!((info.name.as_deref(), info.first_message.as_str()), (Some("new name"), "first words"));
    assert_eq!((info.message_count, info.modified, info.partial), (4, 2_000_000_000_000, false));
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
    let info = Listing::open(&dir, Scope::Project, None).rest().remove(0);
    assert!(info.partial && info.message_count < 14);
    assert_eq!((info.name.as_deref(), info.first_message.as_str()), (Some("late name"), "first"));
}

#[test]
fn a_page_is_in_order_and_reads_no_more_files_than_it_needs() {
    let mut home = Home::new();
    let dir = home.project("/p/one");
    for n in 0..100 {
        let id = format!("s{n:02}");
        home.add(&dir.path, &format!("{id}.jsonl"), &file(&[header_of(&id, "/p/one"), said_at("u", 1_000_000 + n)]));
    }
    // Copied later than its last word: its file is the newest, the session is not.
    home.add(&dir.path, "copy.jsonl", &file(&[header_of("copy", "/p/one"), said_at("u", 1_000_050)]));
    for (name, second) in [("s10.jsonl", 1_000_010), ("s90.jsonl", 1_000_090)] {
        fs::write(dir.path.join(name), "{}\n").unwrap();
        home.touch(&dir.path.join(name), second);
    }
    let mut listing = Listing::open(&dir, Scope::Project, None);
    assert_eq!((listing.files(), ids(&listing.page(3))), (101, vec!["s99", "s98", "s97"]));
    assert_eq!(ids(&listing.page(8)), ["s96", "s95", "s94", "s93", "s92", "s91", "s89", "s88"]);
    let rest = listing.rest();
    let place = rest.iter().position(|info| info.id == "copy").unwrap();
    assert!(["s50", "s51"].contains(&&*rest[place - 1].id), "{:?}", ids(&rest));
    assert_eq!(rest.len(), 101 - 2 - 11);
    assert!(listing.page(5).is_empty());
}

#[test]
fn fc_006_the_opening_of_a_message_with_a_large_picture_is_shown() {
    let mut home = Home::new();
    let dir = home.project("/p/one");
    let picture = json!({"type": "image", "data": "x".repeat(9 << 20), "mimeType": "image/png"});
    let said = |id: &str, content: serde_json::Value| {
        let message = line("message", "u", "", json!({"message": {"role": "user", "content": content}}));
        file(&[header_of(id, "/p/one"), message])
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let long = format!("{}\u{e9}\"\n", "w".repeat(900));
    for (id, content, expected) in [
        ("before", json!([text("look \"here\""), picture]), "look \"here\"".to_owned()),
        ("behind", json!([picture, text("look")]), NO_MESSAGES.to_owned()),
        ("plain", json!(long.repeat(12_000)), long.repeat(2)[..1001].to_owned()),
    ] {
        home.add(&dir.path, "s.jsonl", &said(id, content));
        let info = list(&dir, Scope::Project, None).remove(0);
        assert_eq!((info.first_message, info.partial), (expected, true), "{id}");
    }
}

#[test]
fn odd_things_among_sessions_are_stepped_over_and_unreadable_folders_are_told() {
    let mut home = Home::new();
    home.session("/p/one", "mine");
    home.session("/p/two", "other");
    let dir = home.project("/p/one");
    let sessions = dir.path.parent().unwrap().to_owned();
    home.add(&dir.path, "empty.jsonl", b"");
    home.add(&dir.path, "zeros.jsonl", &[0; 4096]);
    home.add(&dir.path, "text.txt", b"x");
    fs::create_dir(dir.path.join("folder.jsonl")).unwrap();
    crate::store::testing::pipe_in(&dir.path, "pipe.jsonl");
    std::os::unix::fs::symlink("loop.jsonl", dir.path.join("loop.jsonl")).unwrap();
    std::os::unix::fs::symlink(".", sessions.join("loop")).unwrap();
    std::os::unix::fs::symlink(&dir.path, sessions.join("same")).unwrap();
    fs::write(sessions.join("notes.txt"), "x").unwrap();
    assert_eq!(ids(&list(&dir, Scope::Project, None)), ["mine"]);
    let mut all = list(&dir, Scope::All, None);
    all.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!(ids(&all), ["mine", "other"]);

    assert!(Listing::open(&home.project("/p/none"), Scope::Project, None).problems().is_empty(), "it is not there");
    let file_for_folder = home.project("/p/file");
    fs::write(&file_for_folder.path, "x").unwrap();
    let listing = Listing::open(&file_for_folder, Scope::Project, None);
    assert!(listing.problems()[0].to_string().contains("--p-file--"), "{:?}", listing.problems());
}

#[test]
fn the_index_gives_what_the_files_gave_and_never_more() {
    let mut home = Home::new();
    let path = index::path_in(home.dir.path());
    let a = home.session("/p/one", "a");
    home.session("/p/one", "b");
    home.session("/p/two", "c");
    let dir = home.project("/p/one");
    let mut at_once = Listing::open(&dir, Scope::All, Some(&path));
    let read = at_once.rest();
    at_once.save_index().unwrap();
    assert!(!path.exists(), "what changed just now may change again unseen");
    assert_eq!(list(&dir, Scope::All, Some(&path)), read);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let kept = |path: &Path| {
        let index = Index::load(path, SystemTime::now());
        dir.found(Scope::All).files.iter().filter(|file| index.get(file).is_some()).count()
    };
    assert_eq!(kept(&path), 3);
    assert_eq!(list(&dir, Scope::All, Some(&path)), read);

    // Another length, another time, another file under the name: each is read again.
    let changes: [&dyn Fn(&Path); 3] = [
        &|path| fs::write(path, file(&[header_of("a", "/p/one"), user("1", "", "longer than before")])).unwrap(),
        &|path| {
            let same = fs::read_to_string(path).unwrap().replace("longer", "LONGER");
            fs::write(path, same).unwrap();
        },
        &|path| {
            let other = path.with_extension("other");
            fs::write(&other, fs::read_to_string(path).unwrap().replace("LONGER", "larger")).unwrap();
            fs::rename(&other, path).unwrap();
        },
    ];
    for (change, first) in changes.into_iter().zip(["longer", "LONGER", "larger"]) {
        change(&a);
        let infos = list(&dir, Scope::Project, Some(&path));
        let info = infos.iter().find(|info| info.id == "a").unwrap();
        assert!(info.first_message.starts_with(first), "{info:?}");
    }
    fs::remove_file(&a).unwrap();
    home.session("/p/one", "d");
    list(&dir, Scope::Project, Some(&path));
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        !text.contains("\"id\":\"a\"") && text.contains("\"id\":\"c\""),
        "the other project was not looked at: {text}"
    );
}

#[test]
fn a_damaged_index_is_mended_and_never_believed() {
    let mut home = Home::new();
    let path = index::path_in(home.dir.path());
    for id in ["a", "b", "c"] {
        home.session("/p/one", id);
    }
    let dir = home.project("/p/one");
    let expected = list(&dir, Scope::Project, Some(&path));
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(23) {
        for damage in
            [&|bytes: &mut Vec<u8>, at: usize| bytes[at] ^= 1, &|bytes: &mut Vec<u8>, at: usize| bytes.truncate(at)]
                as [&dyn Fn(&mut Vec<u8>, usize); 2]
        {
            let mut bytes = whole.clone();
            damage(&mut bytes, at);
            fs::write(&path, &bytes).unwrap();
            assert_eq!(list(&dir, Scope::Project, Some(&path)), expected, "byte {at}");
        }
    }
    list(&dir, Scope::Project, Some(&path));
    let sorted = |path: &Path| {
        let mut lines: Vec<_> = fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let mended = sorted(&path);
    fs::write(&path, &whole).unwrap();
    assert_eq!(mended, sorted(&path));
    for odd in [&b"troupe sessions index 9\n"[..], b"", &[0; 100]] {
        fs::write(&path, odd).unwrap();
        assert_eq!(list(&dir, Scope::Project, Some(&path)), expected);
    }
    fs::remove_file(&path).unwrap();
    crate::store::testing::pipe_in(path.parent().unwrap(), "sessions-index");
    assert_eq!(list(&dir, Scope::Project, Some(&path)), expected);
    assert!(path.is_file(), "the pipe was replaced");
}

#[test]
fn two_that_write_the_index_at_once_harm_nobody() {
    let mut home = Home::new();
    let path = index::path_in(home.dir.path());
    let ids: Vec<_> = (0..40).map(|n| format!("s{n}")).collect();
    ids.iter().for_each(|id| drop(home.session("/p/one", id)));
    let dir = home.project("/p/one");
    let expected = list(&dir, Scope::Project, None);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let mut listing = listing(&dir, Scope::Project, Some(&path));
                    assert_eq!(listing.rest(), expected);
                    listing.save_index().unwrap();
                    let _ = fs::remove_file(&path);
                }
            });
        }
    });
}

#[test]
fn found_files_carry_what_the_system_says() {
    let mut home = Home::new();
    let path = home.session("/p/one", "a");
    let Found { files, .. } = home.project("/p/one").found(Scope::Project);
    let [FoundFile { stamp, .. }] = &files[..] else { panic!("{files:?}") };
    assert_eq!(stamp.size, fs::metadata(&path).unwrap().len());
    assert_eq!(read_info(&files[0]).unwrap().id, "a");
}
