//! The tool `jobs`: shell commands that run in the background while the model does something else.
//!
//! - `job`: a job, and the [`JobHost`] that keeps the jobs of an agent; `run`: following one.
//! - `request`: what a call asks for; `report`: what it is told; `keep`: commands that outlive the agent.
//!
//! It is registered and not active by default: `--tools +jobs`, or `+jobs` in the setting `defaultTools`.

use std::{sync::Arc, time::Duration};

use grep_matcher::Matcher;
use grep_regex::RegexMatcherBuilder;
use serde_json::{Value, json};
use tokio::time;

use super::{
    BoxFuture, Failure, Tool, ToolContext,
    bash::{environment, with_settings},
    operations::{Input, ShellCommand},
    truncate::{self, MAX_BYTES},
};
use crate::protocol::{Block, ToolDeclaration, ToolOutput, tool::ExecutionMode};

mod job;
mod keep;
mod report;
mod request;
mod run;
#[cfg(test)]
mod tests;

pub use job::{Job, JobBoard, JobEnd, JobHost, JobSpec, JobState, MAX_RUNNING};
pub use report::{described, running_details};
pub use run::{Orders, run};

use request::Request;

/// The name of the tool.
pub const NAME: &str = crate::store::jsonl::kind::JOBS_TOOL;

/// A wait looks at new output at most this often.
const LOOK: Duration = Duration::from_millis(50);

/// The tool `jobs`.
#[derive(Debug)]
pub struct JobsTool {
    declaration: ToolDeclaration,
}

impl JobsTool {
    /// The tool.
    #[must_use]
    pub fn new() -> Self {
        let description = format!(
            "Run shell commands in the background and come back to them: servers, watchers, long builds, programs that \
             ask questions. One action a call:\n\
             - start: runs `command` as a job and returns its id at once. A job ends with the session, unless `keep` is \
             true: then it is on its own, and the result names its process and its output file.\n\
             - list: all jobs.\n\
             - read: what the job `id` printed since the last read (or from the place `from`; 0 is the beginning), cut to \
             the last {} lines or {}.\n\
             - write: `text` to its standard input as it is (end lines with \\n); `close` ends the input.\n\
             - wait: until the job ends, prints something that the regular expression `pattern` matches, or asks for \
             input; for `seconds` at most ({} without). Returns what read would.\n\
             - kill: ends it with all processes that it started.",
            truncate::MAX_LINES,
            truncate::size(MAX_BYTES),
            request::DEFAULT_WAIT,
        );
        let text = |description: &str| json!({"type": "string", "description": description});
        let parameters = json!({
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": request::ACTIONS, "description": "What to do"},
                "id": text("The job, such as job-1 (read, write, wait, kill)"),
                "command": text("The command to run (start)"),
                "keep": {"type": "boolean", "description": "Let it live on after the session, by itself (start)"},
                "from": {"type": "number", "description": "Read from this place on, instead of from the last read (read)"},
                "text": text("What to write (write)"),
                "close": {"type": "boolean", "description": "End the input, after the text if there is one (write)"},
                "pattern": text("Regular expression to wait for in the output (wait)"),
                "seconds": {"type": "number", "description": "How long to wait at most (wait)"},
            },
            "required": ["action"],
        });
        Self {
            declaration: ToolDeclaration {
                name: NAME.into(),
                description,
                parameters,
                constrained_sampling: Some(super::prefer_strict_schema()),
            },
        }
    }
}

impl Default for JobsTool {
    fn default() -> Self {
        Self::new()
    }
}

impl Tool for JobsTool {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn prompt_snippet(&self) -> Option<&str> {
        Some("Run commands in the background, read what they print, write to them, wait for them")
    }

    fn prompt_guidelines(&self) -> &[&str] {
        &["Start servers and other commands that do not end by themselves with jobs, not with bash and &"]
    }

    /// One after another: what is written in a message is there for what is waited for in it.
    fn execution_mode(&self) -> ExecutionMode {
        ExecutionMode::Sequential
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move { execute(&context).await.unwrap_or_else(ToolOutput::from) })
    }
}

async fn execute(context: &ToolContext) -> Result<ToolOutput, Failure> {
    let request = Request::of(&context.arguments)?;
    if context.cancel.is_cancelled() {
        return Err(Failure::aborted());
    }
    let host =
        context.session.jobs.clone().ok_or_else(|| Failure::new("There are no background jobs here: use bash."))?;
    let board = host.board();
    let done = |text: String| Ok(output(text, &board));
    match request {
        Request::Start { command, keep: true } => done(keep::start(context, &command, &board).await?),
        Request::Start { command, keep: false } => {
            let job = host.start(spec(context, command)).await?;
            done(report::started(&job))
        }
        Request::List => done(report::list(&board)),
        Request::Read { id, from } => {
            let job = board.find(&id)?;
            done(report::news(&job, from, None))
        }
        Request::Write { id, text, close } => {
            let job = board.find(&id)?;
            let bytes = text.len();
            job.write(text, close).await?;
            done(report::written(&job, bytes, close))
        }
        Request::Wait { id, pattern, limit } => {
            let job = board.find(&id)?;
            let outcome = wait(context, &job, pattern.as_deref(), limit).await?;
            done(report::news(&job, None, Some(&outcome)))
        }
        Request::Kill { id } => {
            let job = board.find(&id)?;
            job.kill();
            let outcome = wait(context, &job, None, Duration::from_secs(5)).await?;
            done(report::news(&job, None, (outcome != WaitEnd::JobEnded).then_some(&outcome)))
        }
    }
}

/// A result that also says, for programs and for the session, which jobs run now.
fn output(text: String, board: &JobBoard) -> ToolOutput {
    ToolOutput { content: vec![Block::text(text)], details: Some(running_details(board)), ..ToolOutput::default() }
}

fn spec(context: &ToolContext, command: String) -> JobSpec {
    let shell = ShellCommand {
        environment: environment(&context.session),
        input: Input::Piped,
        ..with_settings(&context.session, &command, context.cwd.clone())
    };
    JobSpec { command, shell, operations: context.operations.clone() }
}

/// Why a wait is over.
#[derive(Clone, Debug, PartialEq, Eq)]
enum WaitEnd {
    JobEnded,
    /// The output has what was waited for: this line.
    Found(String),
    /// The job waits for input, so it would wait for ever.
    WaitsForInput,
    TimedOut(Duration),
}

/// Waits for a job's end, for a pattern in what was not read yet, or until it asks for input.
async fn wait(
    context: &ToolContext,
    job: &Arc<Job>,
    pattern: Option<&str>,
    limit: Duration,
) -> Result<WaitEnd, Failure> {
    let matcher = match pattern {
        Some(pattern) => Some(
            RegexMatcherBuilder::new()
                .multi_line(true)
                .build(pattern)
                .map_err(|error| Failure::new(format!("The pattern {pattern:?} is no regular expression: {error}")))?,
        ),
        None => None,
    };
    context.progress.attach(job.output());
    let deadline = time::Instant::now() + limit;
    let mut changes = job.watch();
    loop {
        let state = changes.borrow_and_update().clone();
        if let Some(matcher) = &matcher {
            let text = job.output().since(job.cursor()).text;
            if let Ok(Some(found)) = matcher.find(text.as_bytes()) {
                let line = text[..found.start()].rfind('\n').map_or(0, |place| place + 1);
                let line = text[line..].lines().next().unwrap_or_default();
                return Ok(WaitEnd::Found(truncate::cut_to_units(line, 200).unwrap_or(line).to_owned()));
            }
        }
        match state.state {
            JobState::Ended { .. } => return Ok(WaitEnd::JobEnded),
            // With a pattern only where it looks like a question: servers that also take keys wait for them all the time.
            JobState::Running { waits_for_input: true, .. } if matcher.is_none() || job.output().has_open_line() => {
                return Ok(WaitEnd::WaitsForInput);
            }
            JobState::Running { .. } => {}
        }
        context.progress.changed();
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => return Err(Failure::aborted()),
            () = time::sleep_until(deadline) => return Ok(WaitEnd::TimedOut(limit)),
            // Nobody else can end the job's record; a record without a job is one that has ended.
            changed = changes.changed() => if changed.is_err() { return Ok(WaitEnd::JobEnded) },
        }
        time::sleep(LOOK.min(deadline.saturating_duration_since(time::Instant::now()))).await;
    }
}

/// Details of results and notices name the jobs that run: the branch tells what its model knows.
#[must_use]
pub fn running_in(details: &Value) -> Option<Vec<(String, String)>> {
    let list = details.get("runningJobs")?.as_array()?;
    let text = |job: &Value, name: &str| Some(job.get(name)?.as_str()?.to_owned());
    Some(list.iter().filter_map(|job| Some((text(job, "id")?, text(job, "command")?))).collect())
}
