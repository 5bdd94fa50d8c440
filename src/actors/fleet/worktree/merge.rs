//! Putting a patch into a folder: all of it, or nothing.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Mutex, PoisonError},
};

use crate::{protocol::sibling::Merged, tools::git::Git};

/// Applies a patch to the folder's repository, unless all of it is there already: a merge may be asked for again when its
/// answer was lost. Files that conflict are named, and nothing is changed then.
pub(super) fn apply(folder: &Path, patch: &Path) -> Result<Merged, String> {
    // Two at once could both find that theirs fits.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let top = Git::in_folder(folder).line(&["rev-parse", "--show-toplevel"])?;
    let git = Git::in_folder(Path::new(&top));
    let file = patch.display().to_string();
    let names = git.bytes(&["apply", "--numstat", "-z", &file])?;
    let files = names.split(|byte| *byte == 0).filter(|line| !line.is_empty()).map(name_of).collect();
    match git.run(&["apply", "--check", &file]) {
        Ok(()) => {
            git.run(&["apply", "--whitespace=nowarn", &file])?;
            Ok(Merged { files, conflicts: Vec::new() })
        }
        Err(_) if git.run(&["apply", "--check", "--reverse", &file]).is_ok() => {
            Ok(Merged { files, conflicts: Vec::new() })
        }
        Err(text) => {
            let conflicts = conflicts(&text);
            if conflicts.is_empty() { Err(text) } else { Ok(Merged { files: Vec::new(), conflicts }) }
        }
    }
}

/// `added<TAB>removed<TAB>name`.
fn name_of(line: &[u8]) -> String {
    let name = line.splitn(3, |byte| *byte == b'\t').nth(2).unwrap_or(line);
    String::from_utf8_lossy(name).into_owned()
}

/// The files that git says the patch does not fit, in order.
fn conflicts(text: &str) -> Vec<String> {
    const ENDS: [&str; 4] = [
        ": patch does not apply",
        ": already exists in working directory",
        ": No such file or directory",
        ": does not exist in index",
    ];
    let line = |line: &str| {
        let line = line.split_once("error: ").map_or(line, |(_, rest)| rest);
        ENDS.iter().find_map(|end| line.strip_suffix(end)).map(str::to_owned)
    };
    text.lines().filter_map(line).collect::<BTreeSet<_>>().into_iter().collect()
}
