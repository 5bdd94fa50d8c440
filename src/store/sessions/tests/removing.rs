//! Deleting sessions.

use super::*;
use crate::store::{
    NewSession, SessionStore, checkpoints,
    sessions::remove::{Doomed, RemoveError},
    sidecar,
    trash::{Trash, TrashKind},
};

fn trash_in(folder: &Path) -> Trash {
    Trash { command: None, folder: Some(folder.to_owned()), kind: TrashKind::Freedesktop }
}

#[test]
fn a_session_goes_into_the_trash_with_all_that_belongs_to_it_and_comes_back() {
    let mut home = Home::new();
    let path = home.session("/p/one", "a");
    let other = home.session("/p/one", "b");
    let beside =
        [sidecar::path_of(&path), checkpoints::log::path_of(&path), PathBuf::from(format!("{}.v2", path.display()))];
    fs::create_dir(beside[1].parent().unwrap()).unwrap();
    beside.iter().for_each(|file| fs::write(file, "x").unwrap());
    let bytes = fs::read(&path).unwrap();
    let folder = home.dir.path().join("Trash");
    let doomed = Doomed::of(&path).unwrap();
    assert_eq!(doomed.files().len(), 4);
    doomed.to_trash(&trash_in(&folder), 0).unwrap();
    assert!(!path.exists() && beside.iter().all(|file| !file.exists()) && other.exists());
    let note = fs::read_to_string(folder.join("info/a.jsonl.trashinfo")).unwrap();
    let lay = fs::canonicalize(path.parent().unwrap()).unwrap().join("a.jsonl");
    assert_eq!(note, format!("[Trash Info]\nPath={}\nDeletionDate=1970-01-01T00:00:00\n", lay.display()));
    fs::rename(folder.join("files/a.jsonl"), &path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
    drop(doomed);
    SessionStore::open(&path, NewSession::in_folder(Path::new("/p/one"))).unwrap();
}

#[test]
fn a_session_that_somebody_writes_and_files_that_are_none_stay() {
    let mut home = Home::new();
    let path = home.session("/p/one", "a");
    let open = SessionStore::open(&path, NewSession::in_folder(Path::new("/p/one"))).unwrap();
    let error = Doomed::of(&path).unwrap_err();
    assert!(matches!(error, RemoveError::InUse { .. }) && error.to_string().contains("close it there"), "{error}");
    drop(open);
    let doomed = Doomed::of(&path).unwrap();
    let second = SessionStore::open(&path, NewSession::in_folder(Path::new("/p/one")));
    assert!(matches!(second, Err(StoreError::Locked { .. })), "nobody opens it meanwhile");
    doomed.for_good().unwrap();
    assert!(!path.exists());
    let foreign = home.add(&home.project("/p/one").path, "f.jsonl", b"{}\n");
    assert!(Doomed::of(&foreign).is_err() && foreign.exists());
    assert!(Doomed::of(&home.dir.path().join("none.jsonl")).is_err());
}
