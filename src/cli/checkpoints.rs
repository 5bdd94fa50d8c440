//! Whether and how checkpoints are taken in a run.

use std::time::{Duration, SystemTime};

use super::session::ChosenSession;
use crate::{
    store::{
        checkpoints::clean::{Limits, clean},
        settings::Settings,
    },
    tools::{CheckpointConfig, Checkpoints},
};

/// Changes of the last command are waited for so long at the end of a run.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// The checkpoints of a session whose tools work on the machine `place` (none for this one), and old ones are removed;
/// none when the settings say so, for a session in memory, of which nothing is kept on the disk, and for one that is
/// only read.
pub fn of(settings: &Settings, chosen: &ChosenSession, place: Option<String>) -> Option<Checkpoints> {
    let file = chosen.store.writable().ok().and(chosen.store.path())?;
    let wanted = settings.checkpoints();
    wanted.enabled.then(|| {
        let limits = Limits { max_size: wanted.max_size, max_age: wanted.max_age };
        let session = file.clone();
        // Beside the run, whose end it does not hold up.
        tokio::task::spawn_blocking(move || {
            if let Err(error) = clean(&session, limits, SystemTime::now()) {
                tracing::warn!(%error, "old checkpoints were not removed");
            }
        });
        let config = CheckpointConfig::new(file, chosen.store.view().header());
        // A session that was moved to this machine may name a folder of another one.
        let workspace = Some(chosen.cwd.clone());
        let (max_size, required) = (wanted.max_size, wanted.required);
        Checkpoints::new(CheckpointConfig { max_size, required, place, workspace, ..config })
    })
}

/// Ends a run: what its last command changed is recorded.
pub async fn finish(checkpoints: &Checkpoints) {
    if tokio::time::timeout(LAST_LOOK, checkpoints.settled()).await.is_err() {
        tracing::warn!("what the last command changed was not recorded in time");
    }
}
