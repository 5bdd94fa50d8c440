//! Sessions out of sessions.

use super::*;
use crate::store::{
    session::{ForkPoint, Forked},
    testing::{label, line, system},
};

fn texts(store: &SessionStore) -> Vec<String> {
    store.view().path().iter().filter_map(|entry| entry.user_text()).collect()
}

fn talk() -> Vec<String> {
    vec![
        system("s", "", json!({"p": "P"})),
        user("u1", "s", "one"),
        answer("a1", "u1", "x"),
        user("u2", "a1", "two"),
        answer("a2", "u2", "y"),
    ]
}

#[test]
fn fc_013_a_fork_before_a_message_gives_its_text_and_leaves_the_source_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &talk());
    let before = fs::read(&path).unwrap();
    let store = open(&path);
    let Forked { store: fork, text } = store.fork(Some(dir.path()), &ForkPoint::Before("u2".into())).unwrap();
    assert_eq!((text.as_deref(), texts(&fork)), (Some("two"), vec!["one".to_owned()]));
    append(&fork, "in fork");
    assert_eq!(fs::read(&path).unwrap(), before);
    let written = lines(&fork.saved_path().unwrap());
    assert_eq!(written[0]["parentSession"].as_str(), path.to_str());
    assert_eq!(written[0]["cwd"], "/srv/app");
    assert_ne!(written[0]["id"], "11111111-2222-7333-8444-555555555555");
    let ids: Vec<_> = written[1..4].iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["s", "u1", "a1"]);
    assert_eq!(written[4]["parentId"], "a1");
}

#[test]
fn a_fork_before_the_first_message_is_a_new_session_that_is_made_when_somebody_speaks() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&stored(&dir, &[user("u1", "", "ROOT")]));
    let Forked { store: fork, text } = store.fork(Some(dir.path()), &ForkPoint::Before("u1".into())).unwrap();
    assert_eq!((text.as_deref(), fork.view().len(), fork.saved_path()), (Some("ROOT"), 0, None));
    assert!(!fork.path().unwrap().exists());
    append(&fork, "fresh");
    assert_eq!(lines(&fork.saved_path().unwrap()).len(), 2);
    // With a head but no conversation it waits too, and brings the head along.
    drop(store);
    let store = open(&stored(&dir, &talk()));
    let fork = store.fork(Some(dir.path()), &ForkPoint::Before("u1".into())).unwrap().store;
    assert_eq!((fork.view().len(), fork.saved_path()), (1, None));
    append(&fork, "fresh");
    assert_eq!(lines(&fork.saved_path().unwrap()).len(), 3);
    assert_eq!(fork.view().context().system().render(), "P", "the head is read from the file now");
}

#[test]
fn only_user_messages_of_the_session_can_be_forked_before() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&stored(&dir, &talk()));
    let fork = |id: &str| store.fork(Some(dir.path()), &ForkPoint::Before(id.into())).unwrap_err();
    assert!(matches!(fork("a1"), StoreError::NotAUserMessage(_)));
    assert!(matches!(fork("nope"), StoreError::UnknownEntry(_)));
    assert!(matches!(fork(""), StoreError::UnknownEntry(_)));
}

#[test]
fn fc_012_a_clone_keeps_labels_and_every_parent_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(
        &dir,
        &[user("e1", "", "E1"), label("l1", "e1", "e1", "LA"), answer("e2", "l1", "E2"), user("e3", "e2", "E3")],
    );
    let clone = open(&path).fork(Some(dir.path()), &ForkPoint::Leaf).unwrap().store;
    append(&clone, "z");
    assert_eq!(texts(&clone), ["E1", "E3", "z"]);
    assert_eq!(clone.view().labels()[&EntryId::from("e1")].text, "LA");
    let written = lines(&clone.saved_path().unwrap());
    for (place, entry) in written.iter().enumerate().skip(1) {
        assert!(entry["parentId"].is_null() || written[..place].iter().any(|above| above["id"] == entry["parentId"]));
    }
    let unsaved = SessionStore::create_in(dir.path(), project()).unwrap();
    assert!(matches!(unsaved.fork(Some(dir.path()), &ForkPoint::Leaf), Err(StoreError::NotSaved)));
}

#[test]
fn a_session_in_memory_forks_in_memory() {
    let store = SessionStore::in_memory(project()).unwrap();
    append(&store, "one");
    let second = append(&store, "two");
    let fork = store.fork(None, &ForkPoint::Before(second.id)).unwrap().store;
    append(&fork, "other");
    assert_eq!((texts(&fork), fork.path()), (vec!["one".to_owned(), "other".to_owned()], None));
    assert_eq!(fork.view().header().parent_session, None);
}

#[test]
fn fc_111_a_forked_file_has_all_branches_and_all_unknown_fields() {
    let dir = tempfile::tempdir().unwrap();
    let mut source = talk();
    source.push(line("hologram", "x", "u1", json!({"payload": [1, 2]})));
    source.push(user("other", "x", "branch").replace("\"role\"", "\"future\":{\"a\":1},\"role\""));
    let path = stored(&dir, &source);
    let before = fs::read(&path).unwrap();
    let to = dir.path().join("fork");
    let new = NewSession { id: Some("forked-1".into()), ..NewSession::in_folder(Path::new("/other")) };
    let fork = SessionStore::fork_file(&path, &to, new).unwrap();
    assert_eq!(fs::read(&path).unwrap(), before);
    let saved = fork.saved_path().unwrap();
    assert!(saved.to_str().unwrap().ends_with("_forked-1.jsonl"));
    let written = fs::read_to_string(&saved).unwrap();
    assert_eq!(written.lines().skip(1).collect::<Vec<_>>(), source, "every line as it was");
    let first = &lines(&saved)[0];
    assert_eq!((&first["cwd"], first["parentSession"].as_str()), (&json!("/other"), path.to_str()));
    append(&fork, "goes on");
}

#[test]
fn fc_111_a_newer_session_is_not_forked_into_our_version() {
    let dir = tempfile::tempdir().unwrap();
    let path = stored(&dir, &[user("e1", "", "one")]);
    let text = fs::read_to_string(&path).unwrap().replace("\"version\":3", "\"version\":4");
    fs::write(&path, text).unwrap();
    let copies = dir.path().join("copies");
    let refused = SessionStore::fork_file(&path, &copies, project()).unwrap_err();
    assert!(matches!(refused, StoreError::Newer { found: 4, .. }), "{refused}");
    let reader = SessionStore::open_read_only(&path).unwrap().store;
    for point in [ForkPoint::Leaf, ForkPoint::Before("e1".into())] {
        assert!(matches!(reader.fork(Some(&copies), &point), Err(StoreError::Newer { .. })));
    }
    assert!(!copies.exists());
}
