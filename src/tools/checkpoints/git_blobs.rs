//! Contents that a repository has, read by the program `git`.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::Stdio,
    thread,
};

use crate::{
    store::checkpoints::{Content, FileFacts, FileState, ObjectStore, Unkept, Wish},
    tools::git::Git,
};

/// Replaces contents that git has by objects, so that they can be compared and written. A blob of another size than the
/// file had is another content: git keeps such a file in another form.
pub fn fetch(wishes: &mut [Wish], store: &ObjectStore) {
    let mut by_repository: BTreeMap<PathBuf, Vec<&mut FileFacts>> = BTreeMap::new();
    for wish in wishes {
        let folder = wish.path.ancestors().skip(1).find(|folder| folder.join(".git").exists()).map(Path::to_owned);
        for state in [Some(&mut wish.target), wish.expected.as_mut()].into_iter().flatten() {
            if let FileState::File(facts) = state
                && matches!(facts.content, Content::Git(_))
            {
                by_repository.entry(folder.clone().unwrap_or_default()).or_default().push(facts);
            }
        }
    }
    for (repository, mut files) in by_repository {
        if let Err(error) = fetch_from(&repository, &mut files, store) {
            for facts in files {
                if matches!(facts.content, Content::Git(_)) {
                    facts.content = Content::Unkept(Unkept::Unreadable { cause: format!("git: {error}") });
                }
            }
        }
    }
}

fn fetch_from(repository: &Path, files: &mut [&mut FileFacts], store: &ObjectStore) -> io::Result<()> {
    if repository.as_os_str().is_empty() {
        return Err(io::Error::other("the repository is gone"));
    }
    let mut git = Git::in_folder(repository).command(&["--no-replace-objects", "cat-file", "--batch"]);
    let mut git = git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let broken = || io::Error::other("it ended too early");
    let (mut input, output) = (git.stdin.take().ok_or_else(broken)?, git.stdout.take().ok_or_else(broken)?);
    let wanted: String = files.iter().filter_map(|facts| id(facts)).map(|id| format!("{id}\n")).collect();
    // In a thread of its own: git answers before it has read everything.
    let writer = thread::spawn(move || input.write_all(wanted.as_bytes()));
    let mut output = BufReader::new(output);
    for facts in files.iter_mut().filter(|facts| id(facts).is_some()) {
        facts.content = match blob(&mut output)? {
            Some(bytes) if bytes.len() as u64 != facts.len => {
                Content::Unkept(Unkept::Unreadable { cause: "git keeps it in another form".to_owned() })
            }
            Some(bytes) => match store.put(&bytes) {
                Ok(object) => Content::Object(object),
                Err(error) => Content::Unkept(Unkept::NotStored { cause: error.to_string() }),
            },
            None => Content::Unkept(Unkept::Unreadable { cause: "git does not have it any more".to_owned() }),
        };
    }
    // What went wrong with them showed in the answers.
    let _ = writer.join();
    let _ = git.wait();
    Ok(())
}

fn id(facts: &FileFacts) -> Option<&str> {
    match &facts.content {
        // Lines are what git reads: an id from a damaged log must not be two of them.
        Content::Git(id) if id.bytes().all(|byte| byte.is_ascii_hexdigit()) => Some(id),
        _ => None,
    }
}

/// The next answer: `ID blob LENGTH`, the content and a newline, or `ID missing`.
fn blob(output: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = String::new();
    output.read_line(&mut line)?;
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [_, kind, len] => {
            let len: usize = len.parse().map_err(io::Error::other)?;
            let mut bytes = Vec::new();
            output.by_ref().take(len as u64 + 1).read_to_end(&mut bytes)?;
            if bytes.len() != len + 1 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            bytes.truncate(len);
            Ok((*kind == "blob").then_some(bytes))
        }
        [_, "missing"] => Ok(None),
        _ => Err(io::Error::other("its answer is not understood")),
    }
}
