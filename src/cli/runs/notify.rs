//! The command that is told of the end of a run.

use std::{
    io::Write as _,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{ID_VARIABLE, folder::RunFolder, result::RunResult};
use crate::{actors::front::complain, cli::exit::Exit};

/// The command's time: it tells somebody something, and does not work.
const TIME: Duration = Duration::from_secs(60);

/// Between two looks at the command.
const LOOK: Duration = Duration::from_millis(5);

/// Runs the command with the result on its standard input, and waits for it. Its failure is told and changes nothing.
pub fn notify(command: &str, folder: &RunFolder, result: &RunResult) {
    if let Err(error) = run(command, folder, result) {
        complain(&format!("Warning: the command of --notify failed: {error}"));
    }
}

fn run(command: &str, folder: &RunFolder, result: &RunResult) -> Result<(), String> {
    let told = |error: std::io::Error| error.to_string();
    let session = result.session.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .env(ID_VARIABLE, &result.run_id)
        .env("TROUPE_RUN_OUTCOME", outcome(result))
        .env("TROUPE_RUN_EXIT", result.exit.to_string())
        .env("TROUPE_RUN_SESSION", session)
        .env("TROUPE_RUN_FOLDER", &folder.path)
        .stdin(Stdio::piped())
        // Standard output is the result's.
        .stdout(Stdio::null())
        .spawn()
        .map_err(told)?;
    let text = serde_json::to_vec(result).map_err(|error| error.to_string())?;
    let input = child.stdin.take();
    // A command that does not read its input must not hold up the end.
    let feed = thread::spawn(move || input.map(|mut pipe| pipe.write_all(&text)));
    let begun = Instant::now();
    loop {
        match child.try_wait().map_err(told)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(status.to_string()),
            None if begun.elapsed() > TIME => {
                child.kill().and_then(|()| child.wait()).map_err(told)?;
                drop(feed);
                return Err(format!("it took longer than {} s", TIME.as_secs()));
            }
            None => thread::sleep(LOOK),
        }
    }
}

fn outcome(result: &RunResult) -> String {
    let name = serde_json::to_value(result.outcome).ok();
    name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_else(|| Exit::Failed.code().to_string())
}
