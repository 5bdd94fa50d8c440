//! Commands and lists of a team.

use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    actors::{fleet::family::Family, shared::AgentConfig, team::file::ItemSource},
    tools::{
        operations::{FindQuery, read_all},
        truncate::{MAX_BYTES, MAX_LINES},
        user_bash,
    },
};

/// Files that a glob gives at most.
const MOST_FILES: usize = 10_000;
/// How long a command that makes a list may take.
const LIST_TIME: Duration = Duration::from_secs(600);

/// What commands about an agent run with: its own folder, the walls around it.
struct Workplace {
    config: AgentConfig,
}

async fn place_of(family: &Family, name: &str) -> Result<Workplace, String> {
    let root = family.agent();
    let folder = family.folder(name).await.map_err(|error| error.to_string())?;
    let config = match (folder, &root.kin.start.maker) {
        (None, _) => AgentConfig::clone(&root.config),
        (Some(folder), Some(maker)) => maker.config_in(&root.config, &folder)?,
        (Some(folder), None) => return Err(format!("commands cannot run in {} here", folder.display())),
    };
    Ok(Workplace { config })
}

/// Runs a shell command where an agent works; whether it succeeded, and what it printed.
pub(super) async fn ran_for(
    family: &Family,
    name: &str,
    command: &str,
    time: Duration,
) -> Result<(bool, String), String> {
    ran(&place_of(family, name).await?, command, time).await
}

/// The same in the folder of the team.
pub(super) async fn ran_here(family: &Family, command: &str, time: Duration) -> Result<(bool, String), String> {
    ran(&Workplace { config: AgentConfig::clone(&family.agent().config) }, command, time).await
}

/// Runs a shell command; whether it succeeded, and what it printed.
async fn ran(Workplace { config }: &Workplace, command: &str, time: Duration) -> Result<(bool, String), String> {
    let cancel = CancellationToken::new();
    let ran = user_bash::run_within(time, &*config.operations, command, &config.cwd, &config.facts, &cancel).await;
    let (result, timed_out) = ran.map_err(|error| format!("`{command}` did not run: {error}"))?;
    if timed_out {
        return Ok((false, format!("{}\n[not done after {} s]", result.output, time.as_secs())));
    }
    if result.truncated {
        return Ok((result.exit_code == Some(0), format!("[cut: only the end is shown]\n{}", result.output)));
    }
    Ok((result.exit_code == Some(0), result.output))
}

/// The elements of a list.
pub(super) async fn listed(config: &AgentConfig, source: ItemSource) -> Result<Vec<Value>, String> {
    match source {
        ItemSource::Files(globs) => files(config, &globs).await,
        ItemSource::Lines(path) => {
            let full = config.cwd.join(&path);
            let read = async {
                let mut reader = config.operations.open(&full).await?;
                read_all(reader.as_mut()).await
            };
            let bytes = read.await.map_err(|error| format!("{path} cannot be read: {error}"))?;
            Ok(lines(&String::from_utf8_lossy(&bytes)))
        }
        ItemSource::Command(command) => printed(config, &command, LIST_TIME).await,
        ItemSource::Output(_) | ItemSource::List(_) => Ok(Vec::new()),
    }
}

/// The lines that a command prints. One that prints more than a list may have is ended, as it may never end itself.
async fn printed(config: &AgentConfig, command: &str, time: Duration) -> Result<Vec<Value>, String> {
    let (stop, mut bytes) = (CancellationToken::new(), 0);
    let count = |piece: &str| {
        bytes += piece.len();
        if bytes > MAX_BYTES {
            stop.cancel();
        }
    };
    let run = user_bash::run(&*config.operations, command, &config.cwd, &config.facts, &stop, count);
    tokio::pin!(run);
    let (ran, timed_out) = tokio::select! {
        biased;
        ran = &mut run => (ran, false),
        () = tokio::time::sleep(time) => {
            stop.cancel();
            (run.await, true)
        }
    };
    let result = ran.map_err(|error| format!("`{command}` did not run: {error}"))?;
    let last = || result.output.trim_end().lines().next_back().unwrap_or_default().to_owned();
    match result.exit_code {
        _ if timed_out => Err(format!("`{command}` was not done after {} s", time.as_secs())),
        Some(0) if !result.truncated => Ok(lines(&result.output)),
        Some(code) if code != 0 => Err(format!("`{command}` failed: {}", last())),
        _ => Err(format!(
            "`{command}` prints too much for a list: {} KiB and {MAX_LINES} lines at most",
            MAX_BYTES >> 10
        )),
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(Value::from).collect()
}

/// Files that match one of the globs, each once, in the order of the globs.
async fn files(config: &AgentConfig, globs: &[String]) -> Result<Vec<Value>, String> {
    let mut found: Vec<String> = Vec::new();
    for glob in globs {
        let query = FindQuery { pattern: glob.clone(), root: config.cwd.clone(), limit: MOST_FILES };
        let hits = config.operations.find(query, CancellationToken::new()).await.map_err(|error| error.to_string())?;
        for path in hits.paths.into_iter().filter(|path| !path.ends_with('/')) {
            if !found.contains(&path) {
                found.push(path);
            }
        }
    }
    Ok(found.into_iter().map(Value::from).collect())
}
