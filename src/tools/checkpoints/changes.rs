//! What a session changed in the files, as a difference for people.

use std::{collections::BTreeMap, fs::File, io::Read as _, path::Path};

use similar::TextDiff;

use super::{git_blobs, recorder::Checkpoints, undo::timeline};
use crate::store::{
    StoreError,
    checkpoints::{Content, FileFacts, FileState, ObjectStore, Wish},
    tree::TreeView,
};

/// Bytes of a file that is compared.
const COMPARED_AT_MOST: u64 = 1 << 20;

/// The unified difference between the files that the session changed, as they were before its first change, and as they
/// are now. Paths are shown from `folder`. What was undone is no change; what cannot be compared is named.
///
/// # Errors
/// When the log or the store cannot be read.
pub fn diff(checkpoints: &Checkpoints, tree: &TreeView, folder: &Path) -> Result<String, StoreError> {
    let timeline = timeline(checkpoints)?;
    let known = |entry: &crate::protocol::EntryId| tree.find(entry).is_some();
    let mut first: BTreeMap<&Path, &FileState> = BTreeMap::new();
    for checkpoint in timeline.checkpoints().filter(|checkpoint| !checkpoint.undone) {
        if checkpoint.place.is_none() && checkpoint.entry.as_ref().is_none_or(known) {
            checkpoint.changes().for_each(|(path, change)| {
                first.entry(path).or_insert(&change.before);
            });
        }
    }
    let wish =
        |(path, before): (&Path, &FileState)| Wish { path: path.to_owned(), expected: None, target: before.clone() };
    let mut wishes: Vec<Wish> = first.into_iter().map(wish).collect();
    let store = checkpoints.0.store()?;
    git_blobs::fetch(&mut wishes, &store);
    Ok(wishes.iter().map(|wish| of_file(wish, &store, folder)).collect())
}

fn of_file(wish: &Wish, store: &ObjectStore, folder: &Path) -> String {
    let name = wish.path.strip_prefix(folder).unwrap_or(&wish.path).display();
    match (text_before(&wish.target, store), text_now(&wish.path)) {
        (Some(before), Some(now)) if before == now => String::new(),
        (Some(before), Some(now)) => {
            let (from, to) = (format!("a/{name}"), format!("b/{name}"));
            let body = TextDiff::from_lines(&before, &now).unified_diff().header(&from, &to).to_string();
            format!("diff --git {from} {to}\n{body}")
        }
        _ => format!("diff --git a/{name} b/{name}\nindex (not shown: no text, too long, or not kept)\n"),
    }
}

fn text_before(state: &FileState, store: &ObjectStore) -> Option<String> {
    match state {
        FileState::Missing => Some(String::new()),
        FileState::File(FileFacts { content: Content::Object(object), len, .. }) if *len <= COMPARED_AT_MOST => {
            String::from_utf8(store.get(object).ok()?).ok()
        }
        _ => None,
    }
}

fn text_now(path: &Path) -> Option<String> {
    match path.symlink_metadata() {
        Err(error) if super::look::is_missing(&error) => Some(String::new()),
        Ok(metadata) if metadata.is_file() && metadata.len() <= COMPARED_AT_MOST => {
            let mut text = String::new();
            File::open(path).ok()?.take(COMPARED_AT_MOST + 1).read_to_string(&mut text).ok()?;
            Some(text)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_compared_with_what_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let store = ObjectStore::open(dir.path(), 1 << 20).unwrap();
        let path = dir.path().join("a.txt");
        let object = |text: &str| {
            let content = Content::Object(store.put(text.as_bytes()).unwrap());
            FileState::File(FileFacts { content, len: text.len() as u64, mode: None, modified: None })
        };
        let of = |target: FileState| of_file(&Wish { path: path.clone(), expected: None, target }, &store, dir.path());
        assert_eq!(of(FileState::Missing), "");
        assert!(of(object("one\n")).ends_with("-one\n"), "it was deleted");
        std::fs::write(&path, "two\n").unwrap();
        let text = of(object("one\n"));
        assert!(
            text.starts_with("diff --git a/a.txt b/a.txt\n--- a/a.txt\n") && text.ends_with("-one\n+two\n"),
            "{text}"
        );
        assert_eq!(of(object("two\n")), "");
        assert!(of(FileState::Missing).ends_with("+two\n"));
        assert!(of(FileState::Unknown).contains("not shown"));
    }
}
