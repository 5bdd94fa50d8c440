//! Whatever happens to files: the next owner has them as of the last commit that was acknowledged, byte by byte.

use std::collections::BTreeMap;

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use super::*;

const SESSIONS: [&str; 3] = ["s.jsonl", "s.agents/a.jsonl", "s.agents/b.jsonl"];

#[derive(Clone, Debug)]
enum Step {
    /// Bytes come to a session.
    Grow(usize, Vec<u8>),
    /// A session gets a new file.
    Replace(usize, Vec<u8>),
    /// A session is cut off and goes on.
    Cut(usize, usize, Vec<u8>),
    /// A session or its journal is deleted.
    Remove(usize, bool),
    /// A journal is written.
    Note(usize, Vec<u8>),
    /// What a session has is committed.
    Commit(usize),
    /// All files are stored in one piece.
    Snapshot,
    /// Another machine takes over, or the same one again.
    Take(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..400);
    let session = || 0..SESSIONS.len();
    prop_oneof![
        4 => (session(), bytes()).prop_map(|(s, b)| Step::Grow(s, b)),
        1 => (session(), bytes()).prop_map(|(s, b)| Step::Replace(s, b)),
        1 => (session(), any::<usize>(), bytes()).prop_map(|(s, at, b)| Step::Cut(s, at, b)),
        1 => (session(), any::<bool>()).prop_map(|(s, journal)| Step::Remove(s, journal)),
        2 => (session(), bytes()).prop_map(|(s, b)| Step::Note(s, b)),
        6 => session().prop_map(Step::Commit),
        1 => Just(Step::Snapshot),
        1 => any::<bool>().prop_map(Step::Take),
    ]
}

/// What the log must have.
type Model = BTreeMap<String, Vec<u8>>;

fn journal(session: usize) -> String {
    sidecar::path_of(Path::new(SESSIONS[session])).to_str().unwrap().to_owned()
}

async fn play(hub: &Hub, run: &str, steps: &[Step]) {
    let (mut epoch, mut model) = (1, Model::new());
    let mut machine = Machine::take(hub, run, epoch).await.unwrap();
    for step in steps {
        match step {
            Step::Grow(session, bytes) => machine.append(SESSIONS[*session], bytes),
            Step::Note(session, bytes) => machine.append(&journal(*session), bytes),
            Step::Replace(session, bytes) => {
                machine.append("new", bytes);
                machine.append(SESSIONS[*session], b"");
                fs::rename(machine.session("new"), machine.session(SESSIONS[*session])).unwrap();
            }
            Step::Cut(session, at, bytes) => {
                machine.append(SESSIONS[*session], b"");
                let file = machine.session(SESSIONS[*session]);
                let mut there = fs::read(&file).unwrap();
                there.truncate(at % (there.len() + 1));
                // In place: the file stays the same one.
                fs::write(file, [&there[..], bytes].concat()).unwrap();
            }
            Step::Remove(session, true) => drop(fs::remove_file(machine.session(&journal(*session)))),
            Step::Remove(session, false) => drop(fs::remove_file(machine.session(SESSIONS[*session]))),
            Step::Commit(session) => {
                machine.commit(SESSIONS[*session]).await.unwrap();
                for name in [SESSIONS[*session].to_owned(), journal(*session)] {
                    match fs::read(machine.session(&name)) {
                        Ok(bytes) => drop(model.insert(name, bytes)),
                        Err(_) => drop(model.remove(&name)),
                    }
                }
            }
            // It fails when a file was replaced since its last commit; then nothing of the log goes away.
            Step::Snapshot => drop(machine.log.snapshot().await),
            Step::Take(true) if !model.is_empty() => {
                let log = SessionLog::take(hub, run, epoch, machine.dir.path()).await.unwrap();
                machine.log = log;
                agree(&machine, &model, false);
            }
            Step::Take(_) => {
                epoch += 1;
                let old = std::mem::replace(&mut machine, Machine::take(hub, run, epoch).await.unwrap());
                agree(&machine, &model, true);
                old.append(SESSIONS[0], b"too late");
                assert!(old.commit(SESSIONS[0]).await.is_err());
            }
        }
    }
    let last = Machine::take(hub, run, epoch + 1).await.unwrap();
    agree(&last, &model, true);
}

/// The files are what was committed. In a folder that is not new there may be sessions that nobody committed.
fn agree(machine: &Machine, model: &Model, new: bool) {
    let mut there: Model = contents(machine.dir.path()).into_iter().collect();
    if !new {
        there.retain(|name, _| {
            model.contains_key(name)
                || (name.ends_with(".state") && { model.contains_key(&name.replace(".state", ".jsonl")) })
        });
    }
    assert!(there == *model, "{there:?} {model:?}");
}

#[test]
fn the_next_owner_has_what_was_acknowledged() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let Some(server) = runtime.block_on(Server::start()) else { return };
    let hub = runtime.block_on(server.hub());
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    let run = std::cell::Cell::new(0);
    let laws = runner.run(&prop::collection::vec(step(), 0..40), |steps| {
        run.set(run.get() + 1);
        runtime.block_on(play(&hub, &format!("run-{}", run.get()), &steps));
        Ok(())
    });
    laws.unwrap();
}
