//! The tool `bash`: a shell command.
//!
//! - `run`: following a command to its end.
//! - `capture`: taking its output; `output`: in bounded memory; `spill`: into a file; `sweep`: removing old ones.
//! - `terminal`: from what is meant for a terminal to plain text.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::{
    BoxFuture, Failure, Tool, ToolContext,
    context::SessionFacts,
    operations::{Input, ShellCommand},
    tool::PlanAccess,
    truncate::{self, MAX_BYTES, TruncatedBy},
};
use crate::protocol::{Block, ToolDeclaration, ToolOutput};

pub(super) mod capture;
pub(super) mod output;
pub(super) mod run;
mod spill;
mod sweep;
pub(super) mod terminal;
#[cfg(test)]
mod tests;

use capture::{Capture, Captured};
use output::Retention;
use run::{End, Seen};

/// Programs get at most this much of an output: half of its beginning, half of its end.
const PROGRAM_OUTPUT: usize = 1 << 20;
/// The longest time-out in seconds: what a timer of 32 bits holds.
const LONGEST_TIMEOUT: f64 = 2_147_483.647;

/// Variables that say which session a command belongs to. An agent inside an agent must not pass on the outer's.
const SESSION_VARIABLES: [&str; 5] =
    ["TROUPE_SESSION_ID", "TROUPE_SESSION_FILE", "TROUPE_PROVIDER", "TROUPE_MODEL", "TROUPE_REASONING_LEVEL"];

/// The tool `bash`.
#[derive(Debug)]
pub struct BashTool {
    declaration: ToolDeclaration,
}

#[derive(Deserialize)]
struct Arguments {
    command: String,
    timeout: Option<f64>,
}

impl BashTool {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        let description = format!(
            "Run a command with bash in the session's folder and get what it prints (standard output and standard error \
             together). Long output is cut to its last {} lines or {}, whichever is less; all of it is then in a file \
             that the result names. Standard input is empty, so commands that ask questions fail. A timeout in seconds \
             can be given; there is none otherwise.",
            truncate::MAX_LINES,
            truncate::size(MAX_BYTES),
        );
        Self {
            declaration: ToolDeclaration {
                name: "bash".into(),
                description,
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "command": {"type": "string", "description": "The command to run"},
                        "timeout": {"type": "number", "description": "Seconds after which the command is killed; without it there is no limit"},
                    },
                    "required": ["command"],
                }),
                constrained_sampling: Some(super::prefer_strict_schema()),
            },
        }
    }
}

impl Default for BashTool {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for BashTool {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn prompt_snippet(&self) -> Option<&str> {
        Some("Run shell commands")
    }

    fn plan_access(&self) -> PlanAccess {
        PlanAccess::RunsCommands
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move { execute(&context).await.unwrap_or_else(ToolOutput::from) })
    }
}

async fn execute(context: &ToolContext) -> Result<ToolOutput, Failure> {
    let arguments: Arguments = context.parse()?;
    let timeout = arguments.timeout.map(timeout).transpose()?;
    if context.cancel.is_cancelled() {
        return Err(Failure::aborted());
    }
    let _turn = super::git_turn::wait(context, &arguments.command).await?;
    let command = ShellCommand { environment: environment(&context.session), ..command(context, &arguments.command) };
    let start = std::time::Instant::now();
    let mut process = context.operations.spawn(command).await.map_err(|error| Failure::new(error.to_string()))?;
    let mut capture = Capture::new(Retention { head: PROGRAM_OUTPUT / 2, tail: PROGRAM_OUTPUT / 2 });
    context.progress.attach(capture.shared());
    let output = capture.shared();
    let show = |seen: Seen<'_>| {
        output.is_silent_for(match seen {
            Seen::Output(_) => None,
            Seen::Silence(since) => Some(since),
        });
        context.progress.changed();
    };
    let end = run::follow(process.as_mut(), &mut capture, timeout, &context.cancel, show).await;
    let wall = start.elapsed();
    let mut captured = capture.finish().await;
    if !context.operations.place().is_here {
        captured.spilled.note_other_machine();
    }
    match end {
        Ok(End::Exited { code }) => Ok(finished(&captured, code, wall)),
        Ok(End::TimedOut { shell }) => {
            Err(broken_off(&captured, &timed_out(arguments.timeout.unwrap_or_default(), shell)))
        }
        Ok(End::Cancelled) => Err(broken_off(&captured, "Command aborted")),
        Err(error) => Err(broken_off(&captured, &format!("The command's output could not be read: {error}"))),
    }
}

fn timeout(seconds: f64) -> Result<Duration, Failure> {
    if !(seconds.is_finite() && seconds > 0.0) {
        return Err(Failure::new("Invalid timeout: must be a finite number of seconds"));
    }
    if seconds > LONGEST_TIMEOUT {
        return Err(Failure::new(format!("Invalid timeout: the longest is {LONGEST_TIMEOUT} seconds")));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// The command as the session's settings want it run, with the environment as inherited.
fn command(context: &ToolContext, script: &str) -> ShellCommand {
    with_settings(&context.session, script, context.cwd.clone())
}

/// A command with the shell and the prefix of the session's settings.
pub(super) fn with_settings(facts: &SessionFacts, script: &str, cwd: std::path::PathBuf) -> ShellCommand {
    let script = match &facts.shell_command_prefix {
        Some(prefix) => format!("{prefix}\n{script}"),
        None => script.to_owned(),
    };
    ShellCommand { script, cwd, shell: facts.shell_path.clone(), environment: agent_variables(), input: Input::Empty }
}

/// What every command sees of the program that runs it.
fn agent_variables() -> Vec<(String, Option<String>)> {
    [("AI_AGENT", "troupe"), ("TROUPE_AGENT", "1")]
        .map(|(name, value)| (name.to_owned(), Some(value.to_owned())))
        .into()
}

/// Changes to the inherited environment: our keys and an outer session's variables go, the session's own come.
pub(super) fn environment(facts: &SessionFacts) -> Vec<(String, Option<String>)> {
    let removed =
        facts.secret_variables.iter().map(String::as_str).chain(SESSION_VARIABLES).map(|name| (name.to_owned(), None));
    let set = facts.environment.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
    agent_variables().into_iter().chain(removed).chain(set).collect()
}

fn finished(captured: &Captured, code: i32, wall: Duration) -> ToolOutput {
    let text = match (shown(captured), code) {
        (text, 0) if text.is_empty() => "(no output)".to_owned(),
        (text, 0) => text,
        (text, _) => with_status(
            if text.is_empty() { "(no output)" } else { &text },
            &format!("Command exited with code {code}"),
        ),
    };
    let path = captured.spilled.path.as_deref();
    let mut facts = json!({
        "output": captured.both_ends,
        "truncated": captured.truncation.truncated,
        "exit_code": code,
        "wall_time_seconds": (wall.as_secs_f64() * 10.0).round() / 10.0,
    });
    if let Some(path) = path {
        facts["full_output_path"] = json!(path);
    }
    ToolOutput {
        content: vec![Block::text(text)],
        details: capture::details(&captured.truncation, path),
        structured_content: Some(facts),
        is_error: code != 0,
        ..ToolOutput::default()
    }
}

/// A command that did not end by itself: what it printed, and why it ended.
fn broken_off(captured: &Captured, status: &str) -> Failure {
    let text = shown(captured);
    Failure::new(if text.is_empty() { status.to_owned() } else { with_status(&text, status) })
}

fn with_status(text: &str, status: &str) -> String {
    format!("{text}\n\n{status}")
}

fn timed_out(seconds: f64, shell: Option<(i32, Duration)>) -> String {
    let text = format!("Command timed out after {seconds} seconds");
    match shell {
        Some((code, after)) => format!(
            "{text}. The shell itself had exited with code {code} after {:.1} seconds; what it left in the background \
             went on writing and was killed.",
            after.as_secs_f64()
        ),
        None => text,
    }
}

/// The end of the output, and what was cut from it.
fn shown(captured: &Captured) -> String {
    let cut = &captured.truncation;
    let Some(by) = cut.truncated_by else { return cut.content.clone() };
    let limit = truncate::size(MAX_BYTES);
    let what = if cut.last_line_partial {
        let (kept, line) = (truncate::size(cut.output_bytes), truncate::size(captured.last_line_bytes));
        format!("Showing last {kept} of line {} (line is {line})", cut.total_lines)
    } else {
        let (first, last) = (cut.total_lines - cut.output_lines + 1, cut.total_lines);
        let limit = if by == TruncatedBy::Bytes { format!(" ({limit} limit)") } else { String::new() };
        format!("Showing lines {first}-{last} of {last}{limit}")
    };
    let path =
        captured.spilled.path.as_deref().map(|path| format!(". Full output: {}", path.display())).unwrap_or_default();
    let note = captured.spilled.note.as_deref().map(|note| format!(". {note}")).unwrap_or_default();
    format!("{}\n\n[{what}{path}{note}]", cut.content)
}
