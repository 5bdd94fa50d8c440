//! How long a loop that crashed is away.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::json;
use tempfile::TempDir;
use troupe::{
    actors::address::Gauge,
    cli::embed::Session,
    protocol::{AgentMessage, AssistantMessage, Block, Command, CommandError, EntryBody, TextBlock},
    store::{NewSession, SessionStore},
};

use super::{
    measure::{Watch, spread, tell},
    world::builder,
};

const ENTRIES: usize = 10_000;
/// Deaths: the supervisor takes no more than three in a minute, the first of them without a wait.
const SESSIONS: usize = 8;

/// A session of a user who asks for the same again and again.
fn file(root: &TempDir) -> PathBuf {
    let path = root.path().join("session.jsonl");
    let new = NewSession::in_folder(&root.path().join("project"));
    let store = SessionStore::open(&path, new).expect("a session").store;
    let answer = || {
        let text = "The file holds sample text. ".repeat(20);
        let content = vec![Block::Text(TextBlock { text, ..TextBlock::default() })];
        AgentMessage::Assistant(AssistantMessage { content, ..AssistantMessage::default() }.into())
    };
    for _ in 0..ENTRIES / 2 {
        let messages = [AgentMessage::user("Please look at the file. ".repeat(4), 1), answer()];
        let entries = messages.map(|message| EntryBody::Message { message }.into());
        store.append(None, entries.into()).expect("entries");
    }
    path
}

/// Opens the session. The one before may not have let go of its file yet.
async fn opened(root: &TempDir, script: &Path, file: &Path) -> Session {
    for _ in 0..100 {
        let script = script.to_owned();
        let builder = builder(root).model("troupe/script").configure(|args| args.script = Some(script));
        if let Ok(session) = builder.session_file(file).start().await {
            return session;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the session cannot be opened");
}

async fn answers(session: &Session) {
    while let Err(error) = session.command(Command::WaitIdle).await {
        assert_eq!(error, CommandError::Lost);
        tokio::time::sleep(Duration::from_micros(100)).await;
    }
}

/// Kills the loop of a long session and asks it something.
pub async fn restart(root: &TempDir) {
    let script = root.path().join("script.json");
    std::fs::write(&script, json!({"turns": ["ok"], "end": "repeat"}).to_string()).expect("a script");
    let file = file(root);
    let mut times = Vec::new();
    for _ in 0..SESSIONS {
        let session = opened(root, &script, &file).await;
        answers(&session).await;
        assert!(session.tree().is_some_and(|tree| tree.entries().count() >= ENTRIES), "it is the long session");
        let turn_loop = Gauge::all().into_iter().find(|(_, gauge)| gauge.kind == "TurnLoop").expect("a loop").1;
        let watch = Watch::start();
        turn_loop.kill();
        // What it was told before its end would be answered by nobody.
        while Gauge::all().iter().any(|(_, gauge)| std::sync::Arc::ptr_eq(gauge, &turn_loop)) {
            tokio::task::yield_now().await;
        }
        answers(&session).await;
        times.push(watch.wall());
        session.close().await.expect("the end");
    }
    tell("restart of a loop on 10,000 entries, until it answers", &spread(times));
}
