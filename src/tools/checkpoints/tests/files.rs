//! Changes by the tools write and edit.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use serde_json::json;

use super::world::{World, tree};
use crate::{
    protocol::{
        EntryBody,
        checkpoint::{FileChange, Undo, UndoTarget},
    },
    store::checkpoints::{ObjectId, PlanError, log},
    tools::checkpoints::{UndoError, list},
};

fn forced() -> Undo {
    Undo { force: true, ..Undo::default() }
}

#[tokio::test]
async fn turns_are_undone_one_by_one_and_come_back_in_reverse() {
    let world = World::new();
    world.put("old.txt", "first\n");
    let mut states = vec![tree(&world.root)];
    world.write("old.txt", "second\n").await;
    states.push(tree(&world.root));
    world.write("deep/er/new.txt", "x").await;
    states.push(tree(&world.root));
    let (_, operations) = world.turn();
    let edit = json!({"path": "old.txt", "edits": [{"oldText": "second", "newText": "third"}]});
    assert!(!world.call(&operations, "edit", edit).await.is_error);
    world.call(&operations, "write", json!({"path": "deep/er/new.txt", "content": "y"})).await;
    world.call(&operations, "write", json!({"path": "deep/er/new.txt", "content": "z"})).await;
    states.push(tree(&world.root));
    let expected = [
        vec!["restored deep/er/new.txt", "restored old.txt"],
        vec!["removed deep", "removed deep/er", "removed deep/er/new.txt"],
        vec!["restored old.txt"],
    ];
    for (at, expected) in [2, 1, 0].into_iter().zip(expected) {
        let report = world.undo(UndoTarget::Turn).await;
        assert_eq!(world.outcomes(&report), expected);
        assert_eq!(tree(&world.root), states[at], "after undo {at}");
    }
    let nothing = world.ask(Undo::default()).await;
    assert!(matches!(nothing, Err(UndoError::Plan(PlanError::NothingToUndo))));
    for state in &states[1..] {
        world.undo(UndoTarget::Redo).await;
        assert_eq!(tree(&world.root), *state);
    }
    assert!(world.ask(Undo { target: UndoTarget::Redo, ..Undo::default() }).await.is_err());
}

#[tokio::test]
async fn an_entry_and_a_prompt_are_places_to_go_back_to() {
    let world = World::new();
    let first = world.write("a", "1").await;
    world.write("a", "2").await;
    let prompt = world.entry("do more");
    world.write("a", "3").await;
    world.write("b", "4").await;
    let look = |target| Undo { target, dry_run: true, ..Undo::default() };
    let report = world.ask(look(UndoTarget::Entry(prompt.clone()))).await.unwrap().report;
    assert_eq!(world.outcomes(&report), ["restored a", "removed b"]);
    assert_eq!(world.get("a").as_deref(), Some("3"), "nothing was done");
    // Every entry of this conversation is a prompt: the turn's own is the last.
    assert_eq!(world.outcomes(&world.undo(UndoTarget::Prompt).await), ["removed b"]);
    world.undo(UndoTarget::Entry(prompt)).await;
    assert_eq!((world.get("a").as_deref(), world.get("b")), (Some("2"), None));
    world.undo(UndoTarget::Entry(first)).await;
    assert_eq!(world.get("a"), None);
    let unknown = world.ask(look(UndoTarget::Entry("nowhere".into()))).await.unwrap_err();
    assert_eq!(unknown.to_string(), "Entry nowhere not found");
}

#[tokio::test]
async fn fc_051_what_somebody_else_changed_is_left_alone_unless_forced_and_comes_back_by_a_redo() {
    let world = World::new();
    world.put("a", "one\n");
    world.put("b", "one\n");
    let (_, operations) = world.turn();
    for name in ["a", "b"] {
        world.call(&operations, "write", json!({"path": name, "content": "two\n"})).await;
    }
    world.put("a", "two\nand mine\n");
    let report = world.undo(UndoTarget::Turn).await;
    assert_eq!(world.outcomes(&report), ["conflict a", "restored b"]);
    assert!(report.files[0].reason.as_ref().unwrap().contains("somebody else"));
    let diff = report.files[0].diff.as_ref().unwrap();
    assert!(diff.contains("-and mine") && diff.contains("+one"), "{diff}");
    assert_eq!(world.get("a").as_deref(), Some("two\nand mine\n"));
    // The same undo again, now with force.
    let report = world.ask(forced()).await.unwrap().report;
    assert_eq!(world.outcomes(&report), ["restored a", "unchanged b"]);
    assert_eq!(world.get("a").as_deref(), Some("one\n"));
    world.undo(UndoTarget::Redo).await;
    assert_eq!(world.get("a").as_deref(), Some("two\nand mine\n"));
}

#[tokio::test]
async fn contents_modes_names_and_links_are_restored_exactly() {
    let world = World::new();
    let odd = "odd \u{1f980} \"name\"\n.txt";
    for (name, content) in [("bin", &b"\0\xff\xfe\r\n"[..]), ("empty", b""), (odd, b"x"), ("run.sh", b"#!/bin/sh\n")] {
        world.put(name, content);
    }
    fs::set_permissions(world.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    symlink("bin", world.path("link")).unwrap();
    symlink("made-through-a-link", world.path("to-nothing")).unwrap();
    let before = tree(&world.root);
    let (_, operations) = world.turn();
    for name in ["link", "empty", odd, "run.sh", "to-nothing"] {
        assert!(
            !world.call(&operations, "write", json!({"path": name, "content": "changed"})).await.is_error,
            "{name}"
        );
    }
    assert_ne!(tree(&world.root), before);
    fs::remove_file(world.path("run.sh")).unwrap();
    let report = world.ask(forced()).await.unwrap().report;
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(tree(&world.root), before);
}

#[tokio::test]
async fn names_that_are_no_text_are_kept_in_the_log() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let path = world.root.join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::write(&path, "old").unwrap();
    let (_, operations) = world.turn();
    operations.write(&path, b"new".to_vec()).await.unwrap();
    world.undo(UndoTarget::Turn).await;
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

#[tokio::test]
async fn what_takes_the_place_of_a_file_is_never_touched() {
    let world = World::new();
    for name in ["a", "b", "c/d"] {
        world.put(name, "old");
    }
    let outside = world.put("outside/d", "precious");
    let (_, operations) = world.turn();
    for name in ["a", "b", "c/d"] {
        world.call(&operations, "write", json!({"path": name, "content": "new"})).await;
    }
    fs::remove_file(world.path("a")).unwrap();
    symlink(&outside, world.path("a")).unwrap();
    fs::remove_file(world.path("b")).unwrap();
    fs::create_dir(world.path("b")).unwrap();
    fs::remove_dir_all(world.path("c")).unwrap();
    symlink(outside.parent().unwrap(), world.path("c")).unwrap();
    let report = world.ask(forced()).await.unwrap().report;
    assert_eq!(world.outcomes(&report), ["skipped a", "skipped b", "skipped c/d"]);
    let reasons: Vec<_> = report.files.iter().filter_map(|file| file.reason.as_deref()).collect();
    assert_eq!(reasons, ["a link is there now", "a folder is there now", "a link in the path to it is there now"]);
    assert_eq!(fs::read_to_string(outside).unwrap(), "precious");
}

#[tokio::test]
async fn a_folder_that_somebody_else_uses_by_now_stays() {
    let world = World::new();
    world.write("new/file", "x").await;
    world.put("new/other", "mine");
    let report = world.undo(UndoTarget::Turn).await;
    assert_eq!(world.outcomes(&report), ["skipped new", "removed new/file"]);
    assert_eq!(world.get("new/other").as_deref(), Some("mine"));
}

#[tokio::test]
async fn too_large_a_file_is_changed_without_a_copy_and_that_is_told() {
    let world = World::new();
    let path = world.put("big", "");
    fs::File::options().write(true).open(&path).unwrap().set_len(65 << 20).unwrap();
    world.write("big", "small").await;
    assert!(world.notices()[0].contains("too large"), "{:?}", world.notices());
    let report = world.undo(UndoTarget::Turn).await;
    assert_eq!(world.outcomes(&report), ["skipped big"]);
    let infos = list(&world.checkpoints, &world.session.view()).unwrap();
    assert_eq!(infos[0].files[0].change, FileChange::Changed);
    assert!(infos[0].files[0].not_restorable.as_ref().unwrap().contains("too large"));
}

#[tokio::test]
async fn fc_010_a_store_that_refuses_blocks_a_change_only_where_checkpoints_are_required() {
    for required in [false, true] {
        let world = World::with(|config| crate::tools::CheckpointConfig { required, ..config });
        world.put("a", "old");
        let session = world.session.path().unwrap();
        fs::create_dir_all(session.parent().unwrap()).unwrap();
        fs::write(log::folder_of(&session), "no folder").unwrap();
        let (_, operations) = world.turn();
        let output = world.call(&operations, "write", json!({"path": "a", "content": "new"})).await;
        assert_eq!(output.is_error, required, "{output:?}");
        assert_eq!(world.get("a").as_deref(), Some(if required { "old" } else { "new" }));
        if required {
            let text = crate::protocol::message::text_of(&output.content, "");
            assert!(text.contains("checkpoints.required"), "{text}");
        } else {
            assert!(world.notices()[0].contains("cannot be undone"), "{:?}", world.notices());
        }
    }
}

#[tokio::test]
async fn a_limit_of_the_store_costs_the_undo_not_the_change() {
    let world = World::with(|config| crate::tools::CheckpointConfig { max_size: 10, ..config });
    world.put("a", "far more than ten bytes");
    world.write("a", "new").await;
    assert!(world.notices()[0].contains("checkpoints.maxSize"), "{:?}", world.notices());
    assert_eq!(world.outcomes(&world.undo(UndoTarget::Turn).await), ["skipped a"]);
}

#[tokio::test]
async fn a_torn_log_and_a_lost_object_cost_what_they_held_and_nothing_else() {
    let world = World::new();
    world.put("a", "old a");
    world.put("b", "old b");
    let (_, operations) = world.turn();
    for name in ["a", "b"] {
        world.call(&operations, "write", json!({"path": name, "content": "new"})).await;
    }
    let session = world.session.path().unwrap();
    let object = ObjectId::of(b"old a").to_string();
    fs::remove_file(log::folder_of(&session).join("objects").join(&object[..2]).join(&object[2..])).unwrap();
    let mut text = fs::read(log::path_of(&session)).unwrap();
    text.extend_from_slice(b"{\"type\":\"before\",\"id\":\"torn");
    fs::write(log::path_of(&session), text).unwrap();
    let report = world.undo(UndoTarget::Turn).await;
    assert_eq!(world.outcomes(&report), ["skipped a", "restored b"]);
    assert_eq!(report.files[0].reason.as_deref(), Some("its kept content is gone"));
    world.write("b", "newer").await;
    assert_eq!(world.outcomes(&world.undo(UndoTarget::Turn).await), ["restored b"]);
}

#[tokio::test]
async fn a_crash_between_record_and_change_leaves_doubt_that_is_told() {
    let world = World::new();
    world.put("a", "old");
    world.write("a", "new").await;
    let path = log::path_of(&world.session.path().unwrap());
    let text = fs::read_to_string(&path).unwrap();
    let whole: Vec<&str> = text.lines().filter(|line| !line.contains("\"type\":\"after\"")).collect();
    fs::write(&path, whole.join("\n") + "\n").unwrap();
    let report = world.undo(UndoTarget::Turn).await;
    assert_eq!(world.outcomes(&report), ["conflict a"]);
    assert_eq!(world.outcomes(&world.ask(forced()).await.unwrap().report), ["restored a"]);
    assert_eq!(world.get("a").as_deref(), Some("old"));
}

#[tokio::test]
async fn the_model_is_told_what_became_of_the_files() {
    let world = World::new();
    world.put("a", "old");
    world.write("a", "new").await;
    let undone = world.ask(Undo { conversation: true, ..Undo::default() }).await.unwrap();
    let Some(EntryBody::CustomMessage { content, .. }) = undone.message else { panic!("a message") };
    let text = content.text("");
    assert!(text.contains("undone by the user") && text.contains("a holds what it held before"), "{text}");
    // The turn's entry is a message of the user here: the conversation goes on before it.
    assert_eq!(undone.leaf, Some(None));
    world.write("b", "x").await;
    let looked = world.ask(Undo { dry_run: true, ..Undo::default() }).await.unwrap();
    assert!(looked.message.is_none() && looked.report.changes());
}

#[tokio::test]
async fn a_session_without_changes_leaves_nothing_on_the_disk() {
    let world = World::new();
    world.put("a", "x");
    let (_, operations) = world.turn();
    world.call(&operations, "read", json!({"path": "a"})).await;
    assert!(!log::folder_of(&world.session.path().unwrap()).exists());
}
