//! Commands that outlive the agent.
//!
//! The shell starts the command in a process group of its own, with its output in a private file, says where both are,
//! and ends. From then on nobody here owns it: that works wherever commands run, also on another machine.

use std::time::Duration;

use tokio::time;

use super::{job::JobBoard, report::short};
use crate::tools::{
    Failure, ToolContext,
    bash::{environment, with_settings},
    operations::{ProcessEvent, ShellCommand},
};

/// What the shell gets to start the command.
const START: Duration = Duration::from_secs(10);
/// What is said when it does not end by then: behind the wall of a sandbox it lives as long as what it started.
const TOO_LONG: &str = "the shell did not end. In a sandbox nothing outlives the run: start it without `keep`, or let the \
                        user start it";

/// Starts a command that lives on; what is told of it.
pub async fn start(context: &ToolContext, command: &str, board: &JobBoard) -> Result<String, Failure> {
    let shell = ShellCommand {
        environment: environment(&context.session),
        ..with_settings(&context.session, &script(command), context.cwd.clone())
    };
    let failed = |why: String| Failure::new(format!("The command could not be started: {why}"));
    let mut process = context.operations.spawn(shell).await.map_err(|error| failed(error.to_string()))?;
    let mut output = Vec::new();
    let follow = async {
        let mut code = None;
        let mut open = true;
        while open || code.is_none() {
            match process.next(&mut output).await? {
                ProcessEvent::Output => {}
                ProcessEvent::Exited { code: exited } => code = Some(exited),
                ProcessEvent::Closed => open = false,
            }
        }
        Ok::<_, std::io::Error>(code)
    };
    let ended = tokio::select! {
        () = context.cancel.cancelled() => return Err(Failure::aborted()),
        ended = time::timeout(START, follow) => ended,
    };
    let code = ended.map_err(|_| failed(TOO_LONG.to_owned()))?.map_err(|error| failed(error.to_string()))?;
    let output = String::from_utf8_lossy(&output);
    let last = output.lines().last().and_then(|line| line.split_once(' '));
    let (Some(0), Some((pid, file))) = (code, last) else { return Err(failed(output.trim().to_owned())) };
    process.leave();
    board.note_kept(format!("Kept process {pid} with its output in {file}: {}", short(command)));
    Ok(format!(
        "Started process {pid}, which lives on after the session: {}\nIts output goes to {file} (read it with read or \
         bash). End it with: kill -- -{pid}",
        short(command)
    ))
}

/// `set -m` gives the command a group of its own. The file is made by the shell, where the command runs.
fn script(command: &str) -> String {
    let quoted = command.replace('\'', r"'\''");
    format!(
        "file=$(mktemp \"${{TMPDIR:-/tmp}}/troupe-job-XXXXXXXXXX\") || exit 1\n\
         set -m\n\
         ( eval '{quoted}' ) </dev/null >\"$file\" 2>&1 &\n\
         echo \"$! $file\""
    )
}
