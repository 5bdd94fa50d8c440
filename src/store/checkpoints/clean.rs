//! Keeping the folder of checkpoints small: at most once a day, beside a run, whatever other processes do.
//!
//! First logs go: those without a session, those that nobody used for long, and, while the contents are too large, the
//! oldest. Then contents go that no log names. A process that puts a content while this runs makes it new, under the
//! lock of the folder, and new ones stay; so a crash at any moment, here or there, loses nothing that is named.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{
    log::{self, PathState, Record, Restored},
    object::{ObjectId, open_lock},
    state::{Content, FileFacts, FileState},
};
use crate::store::regular_file;

/// How often, and how long a content stays that no log names: a running session may be about to name it.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What may stay.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of contents.
    pub max_size: u64,
    /// The age of a log that nobody adds to.
    pub max_age: Duration,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Logs.
    pub logs: usize,
    /// Contents.
    pub objects: usize,
}

/// Cleans the folder of checkpoints beside `session`, when that was not done today; none when it was, or when another
/// process does it. The log of `session` itself stays. Blocks.
///
/// # Errors
/// When the folder cannot be read.
pub fn clean(session: &Path, limits: Limits, now: SystemTime) -> io::Result<Option<Cleaned>> {
    let folder = log::folder_of(session);
    let marker = folder.join("cleaned");
    if !folder.is_dir() || fs::metadata(&marker).is_ok_and(|marker| age(&marker, now) < DAY) {
        return Ok(None);
    }
    let mut options = OpenOptions::new();
    let marker = regular_file::open(&marker, options.append(true).create(true).mode(0o600))?;
    if marker.try_lock().is_err() {
        return Ok(None);
    }
    let mut logs = logs(&folder, session, now)?;
    let sizes = objects(&folder, now)?;
    let doomed = doomed(&logs, &sizes, limits);
    let mut cleaned = Cleaned::default();
    for at in &doomed {
        fs::remove_file(&logs[*at].path)?;
        cleaned.logs += 1;
    }
    let mut at = 0;
    logs.retain(|_| (!doomed.contains(&at), at += 1).0);
    let named: HashSet<ObjectId> = logs.into_iter().flat_map(|log| log.objects).collect();
    cleaned.objects = sweep(&folder, &named, &sizes, now)?;
    marker.set_modified(now)?;
    Ok(Some(cleaned))
}

/// A log and what is to be known of it.
#[derive(Debug)]
struct LogFacts {
    path: PathBuf,
    age: Duration,
    /// Its session is gone.
    orphan: bool,
    /// Somebody has its session open.
    in_use: bool,
    objects: HashSet<ObjectId>,
}

/// A content and what is to be known of it.
#[derive(Clone, Copy, Debug)]
struct ObjectFacts {
    len: u64,
    fresh: bool,
}

/// The logs that go. Pure.
fn doomed(logs: &[LogFacts], objects: &HashMap<ObjectId, ObjectFacts>, limits: Limits) -> HashSet<usize> {
    let may_go = |log: &LogFacts| !log.in_use;
    let is_over = |log: &LogFacts| log.age > limits.max_age || (log.orphan && log.age > DAY);
    let mut doomed: HashSet<usize> = (0..logs.len()).filter(|at| may_go(&logs[*at]) && is_over(&logs[*at])).collect();
    let mut users: HashMap<ObjectId, usize> = HashMap::new();
    let stay = |at: &usize, doomed: &HashSet<usize>| !doomed.contains(at);
    for at in (0..logs.len()).filter(|at| stay(at, &doomed)) {
        logs[at].objects.iter().for_each(|id| *users.entry(*id).or_default() += 1);
    }
    let kept = |(id, facts): &(&ObjectId, &ObjectFacts)| facts.fresh || users.contains_key(*id);
    let mut total: u64 = objects.iter().filter(kept).map(|(_, facts)| facts.len).sum();
    let mut by_age: Vec<usize> = (0..logs.len()).filter(|at| stay(at, &doomed) && may_go(&logs[*at])).collect();
    by_age.sort_by_key(|at| std::cmp::Reverse(logs[*at].age));
    for at in by_age {
        if total <= limits.max_size {
            break;
        }
        doomed.insert(at);
        for id in &logs[at].objects {
            let left = users.entry(*id).or_insert(1);
            *left -= 1;
            if *left == 0
                && let Some(facts) = objects.get(id).filter(|facts| !facts.fresh)
            {
                total = total.saturating_sub(facts.len);
            }
        }
    }
    doomed
}

fn logs(folder: &Path, own: &Path, now: SystemTime) -> io::Result<Vec<LogFacts>> {
    let own = log::path_of(own);
    let sessions = folder.parent().unwrap_or(Path::new("."));
    let mut logs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "log") {
            continue;
        }
        let session = sessions.join(path.file_stem().unwrap_or_default()).with_extension("jsonl");
        let file = regular_file::open_to_read(&session);
        let Ok(bytes) = regular_file::read(&path) else { continue };
        let records = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        logs.push(LogFacts {
            age: fs::metadata(&path).map_or(Duration::ZERO, |log| age(&log, now)),
            orphan: file.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound),
            in_use: path == own || file.is_ok_and(|file| is_locked(&file)),
            objects: records.flat_map(named).collect(),
            path,
        });
    }
    Ok(logs)
}

/// Whether some process has the session open. Its lock is tried for, and given back at once.
fn is_locked(session: &File) -> bool {
    let locked = session.try_lock_shared();
    let _ = session.unlock();
    locked.is_err()
}

/// The objects that a record names.
fn named(record: Record) -> Vec<ObjectId> {
    let states: Vec<FileState> = match record {
        Record::Before { files, .. } | Record::After { files, .. } => {
            files.into_iter().map(|PathState { state, .. }| state).collect()
        }
        Record::Undo { files, .. } => files.into_iter().flat_map(|Restored { was, now, .. }| [was, now]).collect(),
        _ => Vec::new(),
    };
    let object = |state| match state {
        FileState::File(FileFacts { content: Content::Object(id), .. }) => Some(id),
        _ => None,
    };
    states.into_iter().filter_map(object).collect()
}

/// All contents that are there.
fn objects(folder: &Path, now: SystemTime) -> io::Result<HashMap<ObjectId, ObjectFacts>> {
    let mut found = HashMap::new();
    for group in fs::read_dir(folder.join("objects")).into_iter().flatten().flatten() {
        for entry in fs::read_dir(group.path()).into_iter().flatten() {
            let entry = entry?;
            let name = format!("{}{}", group.file_name().to_string_lossy(), entry.file_name().to_string_lossy());
            // One that is gone by now was removed by nobody that matters.
            let (Ok(id), Ok(metadata)) = (name.parse(), entry.metadata()) else { continue };
            found.insert(id, ObjectFacts { len: metadata.len(), fresh: age(&metadata, now) < DAY });
        }
    }
    Ok(found)
}

/// Removes contents that no log names and that are not new, and what crashes left half-written.
fn sweep(
    folder: &Path,
    named: &HashSet<ObjectId>,
    objects: &HashMap<ObjectId, ObjectFacts>,
    now: SystemTime,
) -> io::Result<usize> {
    let lock = open_lock(folder).map_err(io::Error::other)?;
    let unnamed: Vec<String> = objects
        .iter()
        .filter(|(id, facts)| !facts.fresh && !named.contains(id))
        .map(|(id, _)| id.to_string())
        .collect();
    let root = folder.join("objects");
    let paths = unnamed.iter().map(|name| root.join(&name[..2]).join(&name[2..]));
    let halves = fs::read_dir(&root).into_iter().flatten().flatten().map(|entry| entry.path());
    let halves = halves.filter(|path| path.is_file());
    let mut removed = 0;
    for path in paths.chain(halves) {
        // For each one by itself: nobody who puts a content waits long.
        let locked = lock.lock().is_ok();
        let is_old = fs::metadata(&path).is_ok_and(|metadata| age(&metadata, now) >= DAY);
        if is_old && fs::remove_file(&path).is_ok() {
            removed += 1;
        }
        if locked {
            lock.unlock()?;
        }
    }
    Ok(removed)
}

fn age(metadata: &fs::Metadata, now: SystemTime) -> Duration {
    let modified = metadata.modified().unwrap_or(now);
    now.duration_since(modified).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::checkpoints::{Log, ObjectStore, StoredPath};

    const MB: u64 = 1_000_000;
    const HUGE: Limits = Limits { max_size: u64::MAX, max_age: Duration::from_secs(30 * 24 * 60 * 60) };

    fn facts(age: u64, orphan: bool, in_use: bool, objects: &[u8]) -> LogFacts {
        LogFacts {
            path: PathBuf::new(),
            age: DAY * u32::try_from(age).unwrap(),
            orphan,
            in_use,
            objects: objects.iter().map(|n| ObjectId::of(&[*n])).collect(),
        }
    }

    #[test]
    fn logs_go_by_age_and_size_but_never_those_in_use() {
        let objects: HashMap<_, _> =
            (1..=4).map(|n| (ObjectId::of(&[n]), ObjectFacts { len: 10 * MB, fresh: n == 4 })).collect();
        let logs = [
            facts(40, false, false, &[1]),
            facts(50, false, true, &[2]),
            facts(2, true, false, &[1]),
            facts(0, true, false, &[1]),
            facts(20, false, false, &[1, 3]),
            facts(10, false, false, &[1, 3]),
        ];
        let table: [(u64, &[usize]); 4] = [
            (u64::MAX, &[0, 2]),
            (40 * MB, &[0, 2]),
            // 20 days old first; its contents are named by the next one, too.
            (30 * MB, &[0, 2, 4, 5]),
            (0, &[0, 2, 3, 4, 5]),
        ];
        for (max_size, expected) in table {
            let found = doomed(&logs, &objects, Limits { max_size, ..HUGE });
            assert_eq!(found, expected.iter().copied().collect(), "{max_size}");
        }
    }

    #[test]
    fn unnamed_contents_go_and_named_and_new_ones_stay() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("s.jsonl");
        let gone = dir.path().join("gone.jsonl");
        fs::write(&session, "{}").unwrap();
        let store = ObjectStore::open(&log::folder_of(&session), MB).unwrap();
        let ids: Vec<ObjectId> = (0..4u8).map(|n| store.put(&[n]).unwrap()).collect();
        let name = |session: &Path, id: ObjectId| {
            let content = Content::Object(id);
            let state = FileState::File(FileFacts { content, len: 1, mode: None, modified: None });
            let files = vec![PathState { path: StoredPath("/f".into()), state }];
            Log::of(session, None).append(&[Record::Before { id: "c".into(), files }]).unwrap();
        };
        name(&session, ids[0]);
        name(&gone, ids[1]);
        fs::write(log::folder_of(&session).join("objects/new-1-x-0"), "half").unwrap();
        let later = SystemTime::now() + 2 * DAY;
        let renewed = File::options().write(true).open(store.path(&ids[3])).unwrap();
        renewed.set_modified(later).unwrap();
        let cleaned = clean(&session, HUGE, later).unwrap();
        assert_eq!(cleaned, Some(Cleaned { logs: 1, objects: 3 }), "two contents and half of one");
        let there: Vec<bool> = ids.iter().map(|id| store.has(id)).collect();
        assert_eq!(there, [true, false, false, true]);
        assert!(!log::path_of(&gone).exists() && log::path_of(&session).exists());
        assert_eq!(clean(&session, HUGE, later).unwrap(), None, "once a day");
        assert_eq!(clean(&dir.path().join("sub/none.jsonl"), HUGE, later).unwrap(), None);
    }

    #[test]
    fn a_session_that_is_open_keeps_its_log() {
        let dir = tempfile::tempdir().unwrap();
        let (own, other) = (dir.path().join("own.jsonl"), dir.path().join("other.jsonl"));
        let file = File::create(&other).unwrap();
        file.try_lock().unwrap();
        Log::of(&other, None).append(&[Record::Looked { id: "c".into() }]).unwrap();
        let limits = Limits { max_size: 0, max_age: Duration::ZERO };
        let later = SystemTime::now() + 2 * DAY;
        assert_eq!(clean(&own, limits, later).unwrap(), Some(Cleaned::default()));
        drop(file);
        let logs = clean(&own, limits, later + 2 * DAY).unwrap().unwrap().logs;
        assert_eq!((logs, log::path_of(&other).exists()), (1, false));
    }
}
