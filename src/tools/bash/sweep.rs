//! Removing old files of outputs, which nobody else does.
//!
//! A session names its files, and may be gone on with in another process, so it is their age that counts and not who
//! made them.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::Once,
    time::{Duration, SystemTime},
};

/// How long a file that nobody writes to is kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
/// So many entries of the folder are looked at, and so many files are removed, at most: the rest another time.
const LOOKED_AT: usize = 20_000;
const REMOVED: usize = 500;

/// The name of a file.
pub fn name(random: u64) -> String {
    format!("troupe-bash-{random:016x}.log")
}

/// Sweeps the folder, the first time that this process asks for it; nobody waits for that.
pub fn once(folder: &Path) {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| {
        let folder = folder.to_owned();
        // Nothing in it can panic, and its result is of no use to anybody.
        drop(tokio::task::spawn_blocking(move || sweep(&folder, SystemTime::now())));
    });
}

/// Removes our files that were not written to for long; how many.
fn sweep(folder: &Path, now: SystemTime) -> usize {
    let own = rustix::process::geteuid().as_raw();
    let is_old = |path: &Path| {
        // Of the entry itself: a link that somebody put there is not followed.
        fs::symlink_metadata(path).is_ok_and(|metadata| {
            let age = metadata.modified().ok().and_then(|written| now.duration_since(written).ok());
            metadata.is_file() && metadata.uid() == own && age.is_some_and(|age| age > KEPT)
        })
    };
    let entries = fs::read_dir(folder).into_iter().flatten().take(LOOKED_AT).flatten();
    let ours = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_name)).map(|entry| entry.path());
    ours.filter(|path| is_old(path)).take(REMOVED).filter(|path| fs::remove_file(path).is_ok()).count()
}

fn is_name(name: &str) -> bool {
    let random = name.strip_prefix("troupe-bash-").and_then(|rest| rest.strip_suffix(".log"));
    random.is_some_and(|random| random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_files_of_ours_go() {
        let folder = tempfile::tempdir().unwrap();
        let ours = folder.path().join(name(7));
        let other = folder.path().join("troupe-bash-note.log");
        let link = folder.path().join(name(8));
        let directory = folder.path().join(name(9));
        fs::write(&ours, "x").unwrap();
        fs::write(&other, "x").unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        fs::create_dir(&directory).unwrap();
        let now = SystemTime::now();
        assert_eq!(sweep(folder.path(), now), 0, "they are new");
        let later = now + KEPT + Duration::from_secs(60);
        assert_eq!(sweep(folder.path(), later), 1);
        assert!(!ours.exists() && other.exists() && link.is_symlink() && directory.exists());
        assert_eq!(sweep(&folder.path().join("none"), later), 0);
    }
}
