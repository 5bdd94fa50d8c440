//! Sessions for the parts.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;
use troupe::{
    cli::embed::{Builder, Session, Troupe},
    protocol::sibling::{SiblingSpec, WaitMode},
};

/// A session in a folder of its own, which may have as many siblings as a part wants.
pub fn builder(root: &TempDir) -> Builder {
    for folder in ["user", "project"] {
        fs::create_dir_all(root.path().join(folder)).expect("a folder");
    }
    let settings = json!({"siblings": {"maxRunning": 10_000, "maxTotal": 10_000}});
    fs::write(root.path().join("user/settings.json"), settings.to_string()).expect("settings");
    Troupe::builder().user_dir(root.path().join("user")).folder(root.path().join("project"))
}

/// One whose agents play these turns.
pub async fn scripted(root: &TempDir, script: &Value) -> Session {
    let file = root.path().join("script.json");
    fs::write(&file, script.to_string()).expect("a script");
    let builder = builder(root).model("troupe/script").configure(move |args| args.script = Some(file));
    builder.start().await.expect("a session")
}

/// Spawns so many, one after the other.
pub async fn spawned(session: &Session, count: usize) {
    let family = session.family();
    for _ in 0..count {
        family.spawn(SiblingSpec::of_task("go")).await.expect("a sibling");
    }
}

/// Waits until nobody has anything to do.
pub async fn ended(session: &Session) {
    session.family().wait(&[], WaitMode::All, None).await.expect("ends");
}
