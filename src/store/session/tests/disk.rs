//! Damaged files, other programs, disks that refuse.

use std::io::Write;

use super::*;
use crate::store::testing::pipe_in;

fn appended_by_another(path: &Path, bytes: &[u8]) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn fc_001_the_first_append_ends_a_torn_line_and_keeps_its_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &[user("e1", "", "one")]);
    for tail in [&br#"{"type":"message","id":"e2","par"#[..], &[0; 64], b"{\"type\":\"mess\xe9"] {
        let before = [file(&[header(), user("e1", "", "one")]), tail.to_vec()].concat();
        fs::write(&path, &before).unwrap();
        let opened = SessionStore::open(&path, project()).unwrap();
        let notice = opened.damage_notice().unwrap();
        assert!(notice.contains("s.jsonl"), "{notice}");
        assert_eq!(fs::read(&path).unwrap(), before, "opening changes nothing");
        append(&opened.store, "two");
        append(&opened.store, "three");
        drop(opened);
        let after = fs::read(&path).unwrap();
        assert!(after.starts_with(&[&before[..], b"\n{"].concat()));
        let texts: Vec<_> = open(&path).view().fork_messages().into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["one", "two", "three"]);
    }
}

#[test]
fn a_whole_last_line_without_its_newline_is_an_entry_and_gets_it_with_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &[user("e1", "", "one")]);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let opened = SessionStore::open(&path, project()).unwrap();
    assert!(opened.damage.is_none());
    assert_eq!(append(&opened.store, "two").parent_id, Some(EntryId::from("e1")));
    assert_eq!(lines(&path).len(), 3);
}

#[test]
fn a_file_cut_at_every_byte_can_be_continued() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &[user("e1", "", "one"), answer("e2", "e1", "two")]);
    let bytes = fs::read(&path).unwrap();
    for cut in header().len()..bytes.len() {
        fs::write(&path, &bytes[..cut]).unwrap();
        let store = open(&path);
        let known = store.view().len();
        let entry = append(&store, "next");
        drop(store);
        let again = open(&path).view();
        assert_eq!(again.len(), known + 1, "cut at {cut}");
        assert_eq!(again.leaf().unwrap().id(), &entry.id);
        assert_eq!(again.path().len(), known + 1, "cut at {cut}: the path is whole");
    }
}

#[test]
fn fc_007_entries_of_a_program_that_ignores_the_lock_are_taken_in_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &[user("e1", "", "one")]);
    let store = open(&path);
    append(&store, "mine");
    appended_by_another(&path, &file(&[user("f1", "e1", "foreign"), answer("f2", "f1", "x")]));
    let appended = store.append(None, vec![said("mine too")]).unwrap();
    assert_eq!(appended.notices, [StoreNotice::ForeignEntries(2)]);
    let texts =
        |view: &crate::store::TreeView| view.path().iter().filter_map(|entry| entry.user_text()).collect::<Vec<_>>();
    assert_eq!(texts(&appended.view), ["one", "mine", "mine too"], "our branch goes on");
    assert_eq!(texts(&appended.view.with_leaf(Some(&"f2".into())).unwrap()), ["one", "foreign"]);
    assert_eq!(lines(&path).len(), 6);
    // A fragment of the other program gets its end before our next line.
    appended_by_another(&path, b"{\"type\":");
    store.append(None, vec![said("again")]).unwrap();
    drop(store);
    assert_eq!(open(&path).view().len(), 6);
}

#[test]
fn a_file_that_lost_bytes_is_not_written_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &[user("e1", "", "one")]);
    let store = open(&path);
    fs::write(&path, "short\n").unwrap();
    assert!(matches!(store.append(None, vec![said("x")]), Err(StoreError::Rewritten(_))));
    assert_eq!(fs::read_to_string(&path).unwrap(), "short\n");
    let context = store.view().context();
    assert_eq!((context.messages.len(), context.unreadable), (0, vec![EntryId::from("e1")]), "and it is told");
}

#[test]
fn a_removed_file_is_made_again_and_a_file_that_took_its_place_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &[user("e1", "", "one")]);
    let store = open(&path);
    fs::remove_file(&path).unwrap();
    let appended = store.append(None, vec![said("two")]).unwrap();
    assert_eq!(appended.notices, [StoreNotice::Restored(path.clone())]);
    assert_eq!(lines(&path).len(), 3);
    store.view().forget_outside_context();
    assert_eq!(store.view().fork_messages().len(), 2, "read again from the new file");

    fs::remove_file(&path).unwrap();
    fs::write(&path, "foreign\n").unwrap();
    assert!(matches!(store.append(None, vec![said("three")]), Err(StoreError::Rewritten(_))));
    assert_eq!(fs::read_to_string(&path).unwrap(), "foreign\n");
}

/// A place where no file can be made: its parent is a file.
fn refusing(dir: &TempDir) -> PathBuf {
    let blocker = dir.path().join("blocker");
    fs::write(&blocker, "").unwrap();
    blocker.join("s.jsonl")
}

#[test]
fn fc_010_a_refusing_disk_is_an_error_that_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = refusing(&dir);
    let store = SessionStore::create_in(path.parent().unwrap(), project()).unwrap();
    store.append(None, vec![model("a")]).unwrap();
    let error = store.append(Some("op"), vec![said("x")]).unwrap_err().to_string();
    assert!(error.contains("blocker"), "{error}");
    assert_eq!((store.view().len(), store.saved_path()), (1, None));
    // The disk is mended, and the operation repeated: it is carried out now.
    fs::remove_file(dir.path().join("blocker")).unwrap();
    let appended = store.append(Some("op"), vec![said("x")]).unwrap();
    assert!(!appended.repeated);
    assert_eq!(lines(&store.saved_path().unwrap()).len(), 3);
}

#[test]
fn fc_010_an_interactive_session_goes_on_in_memory_and_is_saved_when_the_disk_takes_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = refusing(&dir);
    let store = SessionStore::create_in(path.parent().unwrap(), project()).unwrap();
    store.set_keep_going(true);
    let first = store.append(None, vec![model("m"), said("a")]).unwrap();
    assert!(matches!(&first.notices[..], [StoreNotice::NotSaved(_)]));
    // The same is not told twice.
    append(&store, "b");
    store.append(None, vec![model("n")]).unwrap();
    assert_eq!(store.unsaved().unwrap().entries, 4);
    assert_eq!((store.save_again(), store.unsaved().unwrap().entries), (vec![], 4), "still refused");
    assert_eq!(store.view().context().messages.len(), 2);
    fs::remove_file(dir.path().join("blocker")).unwrap();
    assert_eq!(store.save_again(), [StoreNotice::Saved(4)]);
    assert_eq!((store.save_again(), store.unsaved()), (vec![], None));
    let path = store.saved_path().unwrap();
    assert_eq!(lines(&path).len(), 5);
    append(&store, "c");
    drop(store);
    assert_eq!(open(&path).view().path().len(), 5);
}

#[test]
fn fc_010_an_append_saves_what_was_refused_before_also_when_it_is_no_conversation() {
    let dir = tempfile::tempdir().unwrap();
    let path = refusing(&dir);
    let store = SessionStore::create_in(path.parent().unwrap(), project()).unwrap();
    store.set_keep_going(true);
    store.append(None, vec![said("a")]).unwrap();
    fs::remove_file(dir.path().join("blocker")).unwrap();
    assert_eq!(store.append(None, vec![model("m")]).unwrap().notices, [StoreNotice::Saved(1)]);
    assert_eq!(lines(&store.saved_path().unwrap()).len(), 3);
}

#[test]
fn fc_010_a_session_that_goes_on_in_memory_leaves_a_file_alone_that_lost_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &[user("e1", "", "one")]);
    let store = open(&path);
    store.set_keep_going(true);
    fs::write(&path, "short\n").unwrap();
    let appended = store.append(None, vec![said("x")]).unwrap();
    assert!(matches!(&appended.notices[..], [StoreNotice::NotSaved(reason)] if reason.contains("changed by another")));
    assert_eq!(store.save_again(), []);
    assert_eq!((store.unsaved().unwrap().entries, store.view().len()), (1, 2));
    assert_eq!(fs::read_to_string(&path).unwrap(), "short\n");
}

#[test]
fn a_session_whose_file_another_process_made_meanwhile_is_told_so_and_the_file_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new.jsonl");
    let (first, second) = (open(&path), open(&path));
    append(&first, "mine");
    for keep_going in [false, true] {
        second.set_keep_going(keep_going);
        let refused = second.append(None, vec![said("x")]).unwrap_err().to_string();
        assert!(refused.contains("was made by another process") && refused.contains("new.jsonl"), "{refused}");
    }
    append(&first, "still mine");
    assert_eq!(lines(&path).len(), 3);
}

#[test]
fn a_link_stays_a_link_whatever_becomes_of_the_session() {
    let dir = tempfile::tempdir().unwrap();
    let target = stored(&dir, &[user("e1", "", "one")]);
    let link = dir.path().join("link.jsonl");
    std::os::unix::fs::symlink("s.jsonl", &link).unwrap();
    let is_link = || fs::symlink_metadata(&link).unwrap().is_symlink();
    let store = open(&link);
    // The other name is the same session.
    assert!(matches!(SessionStore::open(&target, project()), Err(StoreError::Locked { .. })));
    append(&store, "two");
    fs::remove_file(&target).unwrap();
    store.append(None, vec![said("three")]).unwrap();
    assert!(is_link());
    assert_eq!(lines(&target).len(), 4);
    drop(store);
    // An old file is brought to our version behind its link.
    fs::write(&target, fs::read_to_string(&target).unwrap().replace("\"version\":3", "\"version\":2")).unwrap();
    append(&open(&link), "four");
    assert!(is_link());
    assert_eq!((lines(&target)[0]["version"].clone(), lines(&target).len()), (json!(3), 5));
    // A link to nothing is where the session is made.
    let dangling = dir.path().join("dangling.jsonl");
    std::os::unix::fs::symlink("made.jsonl", &dangling).unwrap();
    append(&open(&dangling), "x");
    assert_eq!(lines(&dir.path().join("made.jsonl")).len(), 2);
}

#[test]
fn what_is_no_regular_file_is_no_session_and_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = pipe_in(dir.path(), "pipe.jsonl");
    for (path, found) in
        [(&*pipe, "a pipe"), (Path::new("/dev/null"), "a device"), (Path::new("/dev/zero"), "a device")]
    {
        let expected = format!("cannot open {}: expected a regular file, found {found}", path.display());
        assert_eq!(SessionStore::open(path, project()).unwrap_err().to_string(), expected);
        assert_eq!(SessionStore::open_read_only(path).unwrap_err().to_string(), expected);
    }
    let opened = SessionStore::open(dir.path(), project()).unwrap_err().to_string();
    assert!(opened.contains(&dir.path().display().to_string()), "{opened}");
    assert!(crate::store::sessions::dir::read_header(&pipe).is_none());
}
