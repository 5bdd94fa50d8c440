//! How long a family takes to stop whose commands do not want to.

use std::{fs, path::Path, time::Duration};

use serde_json::json;
use tempfile::TempDir;
use troupe::{
    actors::fleet::family::STOP_GRACE,
    protocol::sibling::{SiblingState, WorktreeFate},
};

use super::{
    measure::{Watch, tell},
    world::{scripted, spawned},
};

const HUNG: usize = 100;

/// Processes whose shell noted its number in this folder.
fn living(folder: &Path) -> usize {
    let pids = fs::read_dir(folder).map(|files| files.flatten().map(|file| file.file_name())).into_iter().flatten();
    pids.filter(|pid| Path::new("/proc").join(pid).exists()).count()
}

/// A hundred that each run a shell which ignores the signal that asks it to end.
pub async fn hung(root: &TempDir) {
    let folder = root.path().join("pids");
    fs::create_dir(&folder).expect("a folder");
    let command = format!("trap '' TERM; touch {}/$$; while :; do sleep 1; done", folder.display());
    let call = json!({"name": "bash", "arguments": {"command": command}});
    let session = scripted(root, &json!({"turns": [{"calls": [call]}, "done"]})).await;
    spawned(&session, HUNG).await;
    while living(&folder) < HUNG {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let watch = Watch::start();
    let ends = session.family().stop(&[], "enough", STOP_GRACE, WorktreeFate::Patch).await.expect("ends");
    let (wall, used, left) = (watch.wall(), watch.used(), living(&folder));
    assert_eq!(ends.len(), HUNG);
    assert!(session.family().status().iter().all(|status| status.state == SiblingState::Gone));
    let [wall, used] = [wall, used].map(|time| time.as_secs_f64() * 1e3);
    let figure = format!("{wall:.0} ms, {used:.0} ms of processor time, {left} processes left");
    tell("stop of 100 with hung commands", &figure);
    session.close().await.expect("the end");
}
