//! A writer that is killed at any moment, a session that is opened again: every acknowledged entry is there, with its
//! exact body and its parent, and the session goes on.
//!
//! The writer is this test program itself, started again to run [`writer`] alone. What it does follows from the number
//! of the operation, so that the parent knows what each entry must say. `TROUPE_TORTURE_ROUNDS=1000` plays longer.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::json;
use troupe::{
    protocol::{AgentMessage, Content, EntryBody, EntryId, command::InputSource},
    store::{
        NewEntry, NewSession, SessionStore, Sidecar,
        sidecar::{InputKind, PendingInput, Record},
    },
};

use super::{Dice, rounds};

const PATH: &str = "TROUPE_TORTURE_PATH";
const FIRST: &str = "TROUPE_TORTURE_FIRST";

/// Rounds with one file: it grows, and opening it takes longer.
const ROUNDS_A_FILE: usize = 12;

/// What operation `n` does.
enum Operation {
    /// Adds these entries in one piece; first the leaf is moved back so many entries.
    Append(usize, Vec<EntryBody>),
    /// Notes these in the journal.
    Note(Vec<Record>),
}

fn operation(n: u64) -> Operation {
    let mut dice = Dice(n);
    let mut message = |longest: usize| {
        let length = dice.below(longest);
        // Letters of one, two and three bytes, and what JSON escapes.
        let text: String = (0..length).map(|at| ['a', '\n', 'é', '"', '…'][(at + length) % 5]).collect();
        EntryBody::Message { message: AgentMessage::user(format!("{n}:{text}"), 7) }
    };
    match n % 16 {
        3 => Operation::Append(0, (0..4).map(|_| message(300)).collect()),
        5 => Operation::Append(2, vec![message(50)]),
        7 => Operation::Append(0, vec![message(60_000)]),
        9 => {
            let compaction =
                json!({"type": "compaction", "summary": format!("{n}"), "firstKeptEntryId": "", "tokensBefore": n});
            Operation::Append(0, vec![serde_json::from_value(compaction).unwrap()])
        }
        11 => Operation::Note(vec![Record::Started, Record::Input(input(n))]),
        // What was noted four operations ago is delivered.
        15 => Operation::Note(vec![Record::Delivered { ops: vec![(n - 4).to_string()] }]),
        _ => Operation::Append(0, vec![message(3_000)]),
    }
}

fn input(n: u64) -> PendingInput {
    PendingInput {
        op: n.to_string(),
        kind: InputKind::FollowUp,
        entry_id: None,
        content: Content::from(format!("words {n}").as_str()),
        source: InputSource::Rpc,
    }
}

fn open(path: &Path) -> troupe::store::session::Opened {
    SessionStore::open(path, NewSession::in_folder(Path::new("/"))).unwrap()
}

/// The writer's process: acknowledges each operation behind it, with the ids and parents of its entries.
#[test]
fn writer() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let first: u64 = std::env::var(FIRST).unwrap().parse().unwrap();
    let store = open(Path::new(&path)).store;
    let journal = Sidecar::open(Path::new(&path)).unwrap();
    let mut out = std::io::stdout();
    for n in first.. {
        let mut line = format!("\nack {n}");
        match operation(n) {
            Operation::Append(back, bodies) => {
                let view = store.view();
                let entries = bodies.into_iter().map(NewEntry::from).collect();
                let appended = match view.path().iter().rev().nth(back).filter(|_| back > 0) {
                    Some(entry) => store.branch(Some(entry.id()), entries).unwrap(),
                    None => store.append(None, entries).unwrap(),
                };
                assert_eq!(appended.notices, []);
                for entry in &appended.entries {
                    line += &format!(" {}<{}", entry.id, entry.parent_id.as_ref().map_or("", |id| id.as_str()));
                }
            }
            Operation::Note(records) => journal.append(&records).unwrap(),
        }
        out.write_all((line + " .\n").as_bytes()).unwrap();
        out.flush().unwrap();
    }
}

/// What the parent knows to be acknowledged.
#[derive(Default)]
struct Known {
    /// Entries, with their operation, their place in it, and their parent.
    entries: BTreeMap<String, (u64, usize, String)>,
    /// Operations whose note of an input was acknowledged, and those whose delivery was.
    noted: Vec<u64>,
    delivered: Vec<u64>,
    /// Those that a process may have delivered without a word.
    perhaps: Vec<u64>,
    /// The first operation that was not acknowledged.
    next: u64,
    /// Fragments that kills left so far.
    torn: usize,
}

impl Known {
    /// Takes an acknowledgement; what is none, or was cut off, says nothing.
    fn take(&mut self, line: &str) {
        let Some(line) = line.strip_prefix("ack ").and_then(|line| line.strip_suffix(" .")) else { return };
        let mut words = line.split(' ');
        let n: u64 = words.next().unwrap().parse().unwrap();
        for (place, entry) in words.enumerate() {
            let (id, parent) = entry.split_once('<').unwrap();
            self.entries.insert(id.to_owned(), (n, place, parent.to_owned()));
        }
        match n % 16 {
            11 => self.noted.push(n),
            15 => self.delivered.push(n - 4),
            _ => {}
        }
        self.next = n + 1;
    }

    /// Opens the session as the next process does, and looks whether everything is there.
    fn check(&mut self, path: &Path) {
        if self.next % 16 == 15 {
            self.perhaps.push(self.next - 4);
        }
        let opened = open(path);
        let damage = &opened.damage;
        assert!(damage.unreadable_lines <= self.torn + usize::from(damage.torn_tail), "{damage}");
        assert_eq!(
            (damage.nul_bytes, damage.bad_text_lines, damage.header_recovered),
            (0, damage.bad_text_lines, false)
        );
        self.torn = damage.unreadable_lines;
        let view = opened.store.view();
        assert_eq!(view.leaf().map(|leaf| leaf.position() + 1).unwrap_or_default(), view.len());
        assert!(view.is_empty() || !view.path().is_empty());
        for (id, (n, place, parent)) in &self.entries {
            let Some(entry) = view.find(&EntryId::from(id.as_str())) else { panic!("{id} of operation {n} is lost") };
            assert_eq!(entry.parent().map(|above| above.id().as_str()).unwrap_or_default(), parent, "{id}");
            let Operation::Append(_, bodies) = operation(*n) else { panic!("{n} adds nothing") };
            match (&entry.entry().body, &bodies[*place]) {
                // The program fills in what was kept: nothing.
                (EntryBody::Compaction { summary, .. }, EntryBody::Compaction { summary: written, .. }) => {
                    assert_eq!(summary, written);
                }
                (read, written) => assert_eq!(read, written, "{id}"),
            }
        }
        let state = Sidecar::open(path).unwrap().state();
        let waits: Vec<_> = state.follow_ups.iter().map(|input| input.op.clone()).collect();
        for n in &self.noted {
            let gone = self.delivered.contains(n) || self.perhaps.contains(n);
            assert!(gone || waits.contains(&n.to_string()), "the input of operation {n} is lost: {waits:?}");
        }
        assert!(self.delivered.iter().all(|n| !waits.contains(&n.to_string())), "delivered twice: {waits:?}");
        // The session goes on behind whatever was left.
        let entry: NewEntry = AgentMessage::user("between two rounds", 1).into();
        let appended = opened.store.append(None, vec![entry]).unwrap();
        drop(opened);
        assert_eq!(open(path).store.view().leaf().map(|leaf| leaf.id().clone()), Some(appended.entries[0].id.clone()));
    }
}

fn start(path: &Path, first: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "torture::writer", "--nocapture", "--test-threads=1"])
        .env(PATH, path)
        .env(FIRST, first.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn fc_009_every_acknowledged_entry_survives_kill_9_at_any_moment() {
    let dir = tempfile::tempdir().unwrap();
    let mut dice = Dice(std::process::id().into());
    let mut known = Known::default();
    let (mut entries, mut torn) = (0, 0);
    for round in 0..rounds(60) {
        if round % ROUNDS_A_FILE == 0 {
            (entries, torn) = (entries + known.entries.len(), torn + known.torn);
            known = Known::default();
        }
        let path = dir.path().join(format!("{}.jsonl", round / ROUNDS_A_FILE));
        let mut child = start(&path, known.next);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Killed behind one of the first acknowledgements: by then the writer is somewhere in what follows.
        let mut left = dice.below(24);
        while left > 0 {
            let line = lines.next().expect("the writer ended by itself").unwrap();
            left -= usize::from(line.starts_with("ack "));
            known.take(&line);
        }
        child.kill().unwrap();
        lines.map_while(Result::ok).for_each(|line| known.take(&line));
        child.wait().unwrap();
        // What was begun and not acknowledged is not repeated under its number.
        known.check(&path);
        known.next += 16 - known.next % 16;
        if round % ROUNDS_A_FILE + 1 == ROUNDS_A_FILE {
            fs::remove_file(&path).unwrap();
        }
    }
    println!("{} entries acknowledged, {} lines torn", entries + known.entries.len(), torn + known.torn);
}
