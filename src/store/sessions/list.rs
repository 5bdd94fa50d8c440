//! What to show of each session.

use std::{
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;

use super::dir::{SessionDir, SessionFileHead};
use crate::{
    protocol::{
        message::Content,
        time::{Millis, parse_iso},
    },
    store::{
        jsonl::{EntryKind, Role, scan::scan, surrogates},
        regular_file,
        tree::labels::normal_name,
    },
};

/// Bytes that are read at each end of a file: a list of many large sessions must not take minutes.
const END: u64 = 4 << 20;
/// Characters of a session's text that are kept for searching.
const SEARCH_TEXT: usize = 64 << 10;

/// What to show of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionInfo {
    /// The file.
    pub path: PathBuf,
    /// The session's id.
    pub id: String,
    /// The folder that it runs in.
    pub cwd: String,
    /// Its name.
    pub name: Option<String>,
    /// The file of the session that it comes from.
    pub parent_session: Option<String>,
    /// When it was made.
    pub created: Millis,
    /// When somebody last said something in it.
    pub modified: Millis,
    /// The number of messages; of a large file, of those that were read.
    pub message_count: usize,
    /// True when the file was too large to be read whole.
    pub partial: bool,
    /// The first words of a user.
    pub first_message: String,
    /// What users and models said, for searching.
    pub text: String,
}

/// The project's sessions, those first in which something was said last. Files that cannot be read are left out.
#[must_use]
pub fn list_sessions(dir: &SessionDir) -> Vec<SessionInfo> {
    sorted(dir.sessions().collect())
}

/// The sessions of all projects.
#[must_use]
pub fn list_all_sessions(dir: &SessionDir) -> Vec<SessionInfo> {
    sorted(dir.sessions_of_all().collect())
}

fn sorted(heads: Vec<SessionFileHead>) -> Vec<SessionInfo> {
    let mut infos = read_all(&heads);
    infos.sort_by_key(|info| std::cmp::Reverse(info.modified));
    infos
}

/// Reads on as many threads as there are processors.
fn read_all(heads: &[SessionFileHead]) -> Vec<SessionInfo> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(heads.len());
    let share = heads.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let readers: Vec<_> =
            heads.chunks(share).map(|heads| scope.spawn(|| heads.iter().filter_map(read_info).collect())).collect();
        readers.into_iter().flat_map(|reader| reader.join().unwrap_or_else(|_| Vec::new())).collect()
    })
}

/// What to show of one session; `None` when its file cannot be read.
#[must_use]
pub fn read_info(head: &SessionFileHead) -> Option<SessionInfo> {
    let (text, partial) = ends(&head.path)?;
    let created = parse_iso(&head.header.timestamp);
    let changed = || head.modified.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis().try_into().ok();
    let fallback: Millis = created.or_else(changed).unwrap_or_default();
    let mut info = SessionInfo {
        path: head.path.clone(),
        id: head.header.id.clone(),
        cwd: head.header.cwd.clone(),
        parent_session: head.header.parent_session.clone(),
        created: fallback,
        partial,
        ..SessionInfo::default()
    };
    for line in text.split('\n').map(|line| line.trim_matches(['\0', '\r', ' '])) {
        info.add(line);
    }
    if info.modified == 0 {
        info.modified = fallback;
    }
    if info.first_message.is_empty() {
        "(no messages)".clone_into(&mut info.first_message);
    }
    Some(info)
}

impl SessionInfo {
    fn add(&mut self, line: &str) {
        let Some(kind) = scan(line).map(|scan| scan.kind) else { return };
        match kind {
            EntryKind::Message(role) => {
                self.message_count += 1;
                if matches!(role, Role::User | Role::Assistant) {
                    self.add_words(role, line);
                }
            }
            EntryKind::SessionInfo => {
                let value: Option<Value> = serde_json::from_str(line).ok();
                let name = value.as_ref().and_then(|entry| entry.get("name")?.as_str()).map(normal_name);
                self.name = name.filter(|name| !name.is_empty());
            }
            _ => {}
        }
    }

    fn add_words(&mut self, role: Role, line: &str) {
        // Only what a list needs, and without an id: files of version 1 are listed too.
        #[derive(Deserialize)]
        struct Line {
            message: Said,
            #[serde(default)]
            timestamp: String,
        }
        #[derive(Deserialize)]
        struct Said {
            #[serde(default)]
            content: Content,
            #[serde(default)]
            timestamp: Millis,
        }
        let Ok(Line { message, timestamp }) = serde_json::from_str(&surrogates::mend(line)) else { return };
        let said = if message.timestamp == 0 { parse_iso(&timestamp).unwrap_or(0) } else { message.timestamp };
        self.modified = self.modified.max(said);
        let words = message.content.text(" ");
        if self.first_message.is_empty() && role == Role::User {
            self.first_message.clone_from(&words);
        }
        if self.text.len() < SEARCH_TEXT && !words.is_empty() {
            if !self.text.is_empty() {
                self.text.push(' ');
            }
            self.text.extend(words.chars().take(SEARCH_TEXT));
        }
    }
}

/// The text of a file, or of both its ends, in whole lines; true when something between them is missing.
fn ends(path: &Path) -> Option<(String, bool)> {
    let mut file = regular_file::open_to_read(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut bytes = Vec::new();
    if length <= 2 * END {
        file.read_to_end(&mut bytes).ok()?;
        return Some((String::from_utf8_lossy(&bytes).into_owned(), false));
    }
    (&mut file).take(END).read_to_end(&mut bytes).ok()?;
    bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1));
    file.seek(SeekFrom::Start(length - END)).ok()?;
    let mut end = Vec::new();
    file.read_to_end(&mut end).ok()?;
    let whole = end.iter().position(|byte| *byte == b'\n').map_or(end.len(), |newline| newline + 1);
    bytes.extend_from_slice(&end[whole..]);
    Some((String::from_utf8_lossy(&bytes).into_owned(), true))
}
