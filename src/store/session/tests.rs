//! Sessions that are written: laziness, repetition, other programs, refusing disks.

mod disk;
mod forks;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{NewEntry, NewSession, SessionStore, StoreNotice};
use crate::{
    protocol::{AgentMessage, EntryBody, EntryId, entry::Entry, navigation::leaf_entry},
    store::{
        StoreError,
        testing::{answer, file, header, user},
    },
};

fn project() -> NewSession {
    NewSession::in_folder(Path::new("/srv/app"))
}

fn said(text: &str) -> NewEntry {
    AgentMessage::user(text, 1).into()
}

fn model(id: &str) -> NewEntry {
    EntryBody::ModelChange { provider: "acme".into(), model_id: id.into() }.into()
}

/// The lines of a file, each of which must be JSON.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A session file with these lines behind a header.
fn stored(dir: &TempDir, entries: &[String]) -> PathBuf {
    let path = dir.path().join("s.jsonl");
    fs::write(&path, file(&[&[header()], entries].concat())).unwrap();
    path
}

fn open(path: &Path) -> SessionStore {
    SessionStore::open(path, project()).unwrap().store
}

fn append(store: &SessionStore, text: &str) -> Entry {
    let appended = store.append(None, vec![said(text)]).unwrap();
    assert_eq!(appended.notices, []);
    (*appended.entries[0]).clone()
}

#[test]
fn a_session_without_conversation_leaves_no_file_and_the_first_message_brings_everything() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("sessions/--srv-app--");
    let store = SessionStore::create_in(&folder, project()).unwrap();
    store.append(None, vec![model("a")]).unwrap();
    store.append(None, vec![EntryBody::SessionInfo { name: Some(" early\n".into()) }.into()]).unwrap();
    assert!(!folder.exists() && store.saved_path().is_none());
    append(&store, "hello");
    let path = store.saved_path().unwrap();
    let header = store.view().header().clone();
    let name = format!("{}_{}.jsonl", header.timestamp.replace([':', '.'], "-"), header.id);
    assert_eq!(path, folder.join(name));
    let written = lines(&path);
    let kinds: Vec<_> = written.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["session", "model_change", "session_info", "message"]);
    assert_eq!(written[2]["name"], "early");
    assert_eq!(written[3]["parentId"], written[2]["id"]);
    // FC-011: for nobody else.
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(&folder), mode(folder.parent().unwrap())), (0o600, 0o700, 0o700));
}

#[test]
fn fc_005_appends_only_add_bytes_and_a_reopened_session_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &[user("e1", "", "one")]);
    for n in 0..3 {
        let before = fs::read(&path).unwrap();
        let store = open(&path);
        let entry = append(&store, &format!("more {n}"));
        let after = fs::read(&path).unwrap();
        assert!(after.starts_with(&before) && after.len() < before.len() + 300);
        assert_eq!(store.view().get(&entry.id).as_deref(), Some(&entry), "read again from the file");
    }
    let texts: Vec<_> = open(&path).view().fork_messages().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["one", "more 0", "more 1", "more 2"]);
}

#[test]
fn a_repeated_operation_gives_the_same_entries_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &[]);
    let store = open(&path);
    let first = store.append(Some("op-1"), vec![said("a"), said("b")]).unwrap();
    let size = fs::metadata(&path).unwrap().len();
    // Asked by the writer that took the place of one that died.
    let again = store.clone().append(Some("op-1"), vec![said("a"), said("b")]).unwrap();
    assert!(again.repeated && !first.repeated);
    assert_eq!(again.entries, first.entries);
    assert_eq!(fs::metadata(&path).unwrap().len(), size);
    assert!(!store.append(Some("op-2"), vec![said("a")]).unwrap().repeated);
}

#[test]
fn reserved_ids_are_used_once() {
    let store = SessionStore::in_memory(project()).unwrap();
    let id = store.reserve_id();
    let entry = NewEntry { id: Some(id.clone()), ..said("x") };
    assert_eq!(store.append(None, vec![entry.clone()]).unwrap().entries[0].id, id);
    assert!(matches!(store.append(None, vec![entry.clone()]), Err(StoreError::IdTaken(_))));
    let twice = NewEntry { id: Some("aaaa0001".into()), ..entry };
    assert!(matches!(store.append(None, vec![twice.clone(), twice]), Err(StoreError::IdTaken(_))));
    assert_eq!(store.view().len(), 1, "a refused batch leaves nothing");
}

#[test]
fn a_move_of_the_leaf_outlives_the_process_and_a_move_that_fails_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &[user("e1", "", "one"), answer("e2", "e1", "two")]);
    let store = open(&path);
    let leaf = |store: &SessionStore| store.view().leaf().unwrap().id().clone();
    let before = fs::read(&path).unwrap();
    assert!(matches!(store.branch(Some(&"nowhere".into()), vec![said("x")]), Err(StoreError::UnknownEntry(_))));
    let taken = NewEntry { id: Some("e2".into()), ..said("x") };
    assert!(matches!(store.branch(Some(&"e1".into()), vec![taken]), Err(StoreError::IdTaken(_))));
    assert_eq!((leaf(&store), fs::read(&path).unwrap()), ("e2".into(), before));
    let moved = store.branch(Some(&"e1".into()), vec![leaf_entry().into()]).unwrap();
    assert_eq!(moved.entries[0].parent_id, Some("e1".into()));
    drop((store, moved));
    let store = open(&path);
    assert_eq!(store.view().place().unwrap().id().as_str(), "e1");
    let root = store.branch(None, vec![leaf_entry().into()]).unwrap();
    assert_eq!(root.entries[0].parent_id, None);
    drop((store, root));
    let store = open(&path);
    assert!(store.view().place().is_none() && store.view().context().messages.is_empty());
}

#[test]
fn a_compaction_gets_the_prompt_and_the_tools_of_its_place() {
    let store = SessionStore::in_memory(project()).unwrap();
    let system: AgentMessage = serde_json::from_value(json!({
        "role": "system", "content": "", "sections": {"preamble": "P"}, "toolsAdded": [{"name": "read", "description": "D", "parameters": {}}],
    }))
    .unwrap();
    store.append(None, vec![system.into(), said("x")]).unwrap();
    let body: EntryBody =
        serde_json::from_value(json!({"type": "compaction", "summary": "S", "firstKeptEntryId": ""})).unwrap();
    let appended = store.append(None, vec![body.into()]).unwrap();
    let EntryBody::Compaction { first_kept_entry_id, system_message: Some(message), .. } = &appended.entries[0].body
    else {
        panic!("no checkpoint")
    };
    assert_eq!(*first_kept_entry_id, appended.entries[0].id, "no kept entry given: none is kept");
    assert_eq!(message.sections.as_ref().unwrap()["preamble"], "P");
    assert_eq!(message.tools_added.as_ref().unwrap().len(), 1);
    // Readers tell a message by its role: without one, pi would go on without a prompt.
    let written = serde_json::to_value(&appended.entries[0]).unwrap();
    assert_eq!(written["systemMessage"]["role"], "system");
    let roles: Vec<_> = appended.view.context().messages.iter().map(|m| m.role().to_owned()).collect();
    assert_eq!(roles, ["system", "compactionSummary"]);
    assert_eq!(appended.view.context().system().sections, [("preamble".to_owned(), "P".to_owned())]);
}

#[test]
fn design_6_a_second_writer_is_refused_and_may_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &[user("e1", "", "one")]);
    let store = open(&path);
    let refused = SessionStore::open(&path, project()).unwrap_err().to_string();
    assert!(refused.contains("open in another Troupe process") && refused.contains("--fork"), "{refused}");
    let reader = SessionStore::open_read_only(&path).unwrap().store;
    assert_eq!(reader.view().len(), 1);
    assert!(matches!(reader.append(None, vec![said("x")]), Err(StoreError::ReadOnly(_))));
    let view = store.view();
    drop(store);
    append(&open(&path), "free again");
    assert_eq!(view.fork_messages().len(), 1, "a view can still be read");
}

#[test]
fn a_session_that_is_given_up_can_be_written_by_others_while_a_view_of_it_is_read_fc_007() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &[user("u1", "", "hi")]);
    let store = open(&path);
    let (view, syncer) = (store.view(), store.syncer());
    store.close().unwrap();
    append(&open(&path), "from another one");
    assert_eq!(view.len(), 1);
    assert!(syncer.is_some());
    assert!(store.append(None, vec![said("too late")]).is_err());
}

#[test]
fn an_empty_file_gets_its_header_at_once_and_a_missing_one_with_the_first_message() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("empty.jsonl");
    fs::write(&path, "").unwrap();
    let store = open(&path);
    assert_eq!(lines(&path)[0]["cwd"], "/srv/app");
    append(&store, "x");
    assert_eq!(lines(&path).len(), 2);

    let path = dir.path().join("new/dir/s.jsonl");
    let store = open(&path);
    assert!(!path.exists() && store.path().as_deref() == Some(&path));
    append(&store, "x");
    assert_eq!(lines(&path).len(), 2);
}

#[test]
fn fc_104_a_foreign_file_is_refused_by_name_and_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notes.jsonl");
    fs::write(&path, "{\"a\":1}\n{\"b\":2}\n").unwrap();
    let refused = SessionStore::open(&path, project()).unwrap_err().to_string();
    assert_eq!(refused, format!("Session file is not a valid pi session: {}", path.display()));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\":1}\n{\"b\":2}\n");
    let bad = NewSession { id: Some("../x".into()), ..project() };
    assert!(matches!(SessionStore::create_in(dir.path(), bad), Err(StoreError::BadSessionId(_))));
}

#[test]
fn fc_111_a_newer_file_can_be_read_and_not_continued() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &[user("e1", "", "one")]);
    let text = fs::read_to_string(&path).unwrap().replace("\"version\":3", "\"version\":99");
    fs::write(&path, &text).unwrap();
    let opened = SessionStore::open(&path, project()).unwrap();
    assert_eq!((opened.version, opened.store.view().len()), (Some(99), 1));
    let refused = opened.store.append(None, vec![said("x")]).unwrap_err().to_string();
    assert!(refused.contains("99") && refused.contains('3') && refused.contains("s.jsonl"), "{refused}");
    assert!(opened.store.writable().is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn fc_111_an_old_file_is_looked_at_without_a_change_and_rewritten_when_it_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("old.jsonl");
    let old = [
        r#"{"type":"session","id":"old-1","timestamp":"2025-01-02T03:04:05.678Z","cwd":"/p"}"#,
        r#"{"type":"message","timestamp":"t","message":{"role":"user","content":"A","later":1}}"#,
        r#"{"type":"message","timestamp":"t","message":{"role":"hookMessage","customType":"h","content":"H"}}"#,
    ];
    let text = old.join("\n") + "\n";
    fs::write(&path, &text).unwrap();
    let opened = SessionStore::open(&path, project()).unwrap();
    assert_eq!(opened.version, Some(1));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    append(&opened.store, "B");
    let written = lines(&path);
    assert_eq!((&written[0]["version"], &written[1]["message"]["later"]), (&json!(3), &json!(1)));
    assert_eq!(written[2]["message"]["role"], "custom");
    assert!(written[1..].windows(2).all(|pair| pair[1]["parentId"] == pair[0]["id"]));
    assert_eq!(fs::read_to_string(dir.path().join("old.jsonl.v1")).unwrap(), text, "the old file is kept");
    assert_eq!(opened.store.view().context().messages.len(), 3);
    append(&opened.store, "C");
    drop(opened);
    assert_eq!(open(&path).view().len(), 4);
    // Another old file of that name does not push the kept one away.
    fs::write(&path, text.replace("old-1", "old-2")).unwrap();
    append(&open(&path), "D");
    assert_eq!(fs::read_to_string(dir.path().join("old.jsonl.v1")).unwrap(), text);
    assert!(fs::read_to_string(dir.path().join("old.jsonl.v1-2")).unwrap().contains("old-2"));
}

#[test]
fn sessions_in_memory_outlive_their_writer() {
    let store = SessionStore::in_memory(project()).unwrap();
    let next_writer = store.clone();
    append(&store, "x");
    drop(store);
    assert_eq!((next_writer.view().len(), next_writer.path()), (1, None));
    append(&next_writer, "y");
}

#[test]
fn fc_110_a_long_run_holds_the_content_of_its_context_and_reads_the_rest_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&stored(&dir, &[]));
    let compaction = || -> EntryBody {
        serde_json::from_value(json!({"type": "compaction", "summary": "S", "firstKeptEntryId": ""})).unwrap()
    };
    for turn in 1..=200 {
        append(&store, &format!("{turn} {}", "x".repeat(500)));
        if turn % 20 == 0 {
            store.append(None, vec![compaction().into()]).unwrap();
        }
        let held = store.view().entries().filter(|entry| entry.is_parsed()).count();
        assert!(held <= 22, "{held} entries are held in turn {turn}");
    }
    assert_eq!(store.view().fork_messages().len(), 200);
    let held = store.view().entries().filter(|entry| entry.is_parsed()).count();
    assert!(held <= 22, "a walk over everything keeps nothing: {held}");
}
