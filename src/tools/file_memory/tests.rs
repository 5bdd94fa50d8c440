use std::time::Duration;

use super::*;
use crate::tools::operations::FileKind;

fn stat(len: usize) -> FileStat {
    FileStat { kind: FileKind::File, len: len as u64, modified: Some(SystemTime::UNIX_EPOCH) }
}

fn note(memory: &FileMemory, path: &str, content: &[u8]) {
    memory.note(path.into(), stat(content.len()), Sight::of(content));
}

/// The words of a refusal; none when nothing is refused.
async fn refused(memory: &Arc<FileMemory>, path: &str, content: &[u8]) -> Option<String> {
    let now = (stat(content.len()), content.to_vec());
    let result = refuse_if_stale(memory, Path::new(path), "f", now, |_| false).await;
    result.err().map(|failure| failure.to_string())
}

#[tokio::test]
async fn a_refusal_shows_the_difference_once_fc_051() {
    let head = "f has changed on disk since you last read it, so nothing was written.";
    let again = "Check that your change still fits what the file holds now, and call again.";
    let table: &[(&[u8], &[u8], String)] = &[
        (
            b"a\nb\n",
            b"a\nB\n",
            format!("{head} The difference:\n\n--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n\n{again}"),
        ),
        (
            b"a\n",
            b"a\r\n",
            format!(
                "{head} Only line ends, the byte order mark or bytes that are no text are different. If your change \
                 still fits, call again."
            ),
        ),
        (
            b"\xff\xfea\0\n\0",
            b"\xff\xfeb\0\n\0",
            format!("{head} The difference:\n\n--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n+b\n\n{again}"),
        ),
    ];
    for (before, now, wanted) in table {
        let memory = Arc::default();
        assert_eq!(refused(&memory, "/f", now).await, None, "never seen");
        note(&memory, "/f", before);
        assert_eq!(refused(&memory, "/f", before).await, None, "as it was");
        assert_eq!(refused(&memory, "/f", now).await.as_ref(), Some(wanted));
        assert_eq!(refused(&memory, "/f", now).await, None, "seen by the refusal");
    }
}

#[tokio::test]
async fn what_cannot_be_shown_must_be_read_again_fc_051() {
    let memory = Arc::default();
    let long = vec![b'x'; CONTENT_AT_MOST + 1];
    let lines = |word: &str| (0..500).map(|n| format!("{word} {n}\n")).collect::<String>();
    for (before, now, begins) in [
        (long.clone(), b"short".to_vec(), "written. Read the file again"),
        (b"short".to_vec(), long, "written. Read the file again"),
        (lines("a").into(), lines("b").into(), "written. The difference begins so:\n\n--- f"),
    ] {
        note(&memory, "/f", &before);
        for _ in 0..2 {
            let words = refused(&memory, "/f", &now).await.unwrap();
            assert!(words.contains(begins) && words.ends_with("what it holds now."), "{words}");
            assert!(words.len() < SHOWN_AND_WORDS, "{}", words.len());
        }
        note(&memory, "/f", &now);
        assert_eq!(refused(&memory, "/f", &now).await, None);
    }
}

const SHOWN_AND_WORDS: usize = 11 << 10;

#[test]
fn long_files_are_known_by_size_and_time() {
    let memory = FileMemory::default();
    let check = |stat| refuse_if_touched(&memory, Path::new("/f"), "f", stat).is_err();
    assert!(!check(stat(1)), "never seen");
    note(&memory, "/f", b"x");
    assert!(!check(stat(1)));
    assert!(check(stat(2)));
    assert!(check(FileStat { modified: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1)), ..stat(1) }));
}

#[test]
fn a_content_in_pieces_is_the_same_content() {
    let content: Vec<u8> = (0..=255).cycle().take(5000).collect();
    let whole = Sight::of(&content);
    for piece in [1, 7, 4096] {
        let mut eye = Eye::default();
        content.chunks(piece).for_each(|piece| eye.add(piece));
        let sight = eye.sight();
        assert_eq!((sight.digest, &sight.content), (whole.digest, &whole.content));
    }
}

#[tokio::test]
async fn memory_is_bounded_and_keeps_what_was_seen_last() {
    let memory: Arc<FileMemory> = Arc::default();
    let content = vec![b'x'; CONTENT_AT_MOST];
    for n in 0..40 {
        note(&memory, &format!("/long/{n}"), &content);
    }
    let kept = |memory: &FileMemory| {
        let seen = memory.lock();
        let sum: usize = seen.files.values().map(File::kept).sum();
        assert_eq!(sum, seen.kept);
        sum
    };
    assert!(kept(&memory) <= CONTENTS_AT_MOST);
    assert!(memory.get(Path::new("/long/39")).unwrap().sight.content.is_some());
    assert!(memory.get(Path::new("/long/0")).unwrap().sight.content.is_none());
    assert_eq!(refused(&memory, "/long/0", &content).await, None, "its digest is still known");
    for n in 0..=FILES_AT_MOST {
        note(&memory, &format!("/short/{n}"), b"x");
    }
    kept(&memory);
    assert!(memory.lock().files.len() <= FILES_AT_MOST);
    assert!(memory.get(Path::new(&format!("/short/{FILES_AT_MOST}"))).is_some());
    assert!(memory.get(Path::new("/short/0")).is_none());
}
