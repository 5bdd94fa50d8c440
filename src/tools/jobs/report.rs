//! What a model is told of jobs.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    WaitEnd,
    job::{Job, JobBoard, JobEnd, JobState},
};
use crate::tools::truncate::{self, Limits, MAX_BYTES, TruncatedBy};

/// A command in one short line.
pub fn short(command: &str) -> String {
    /// UTF-16 units.
    const LONGEST: usize = 80;
    let line = command.split_whitespace().collect::<Vec<_>>().join(" ");
    match truncate::cut_to_units(&line, LONGEST) {
        Some(cut) => format!("{cut}…"),
        None => line,
    }
}

fn time(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Where a job stands, in words.
#[must_use]
pub fn described(job: &Job) -> String {
    let age = time(job.age());
    match job.state() {
        JobState::Running { waits_for_input: true, .. } => {
            format!("{} has run for {age} and is waiting for input: use the action write to answer it", job.id())
        }
        JobState::Running { shell: Some(code), .. } => format!(
            "{} has run for {age}; its shell exited with code {code}, and what it left in the background runs on",
            job.id()
        ),
        JobState::Running { .. } => format!("{} has run for {age}", job.id()),
        JobState::Ended { end: JobEnd::Exited(code), .. } => {
            format!("{} exited with code {code} after {age}", job.id())
        }
        JobState::Ended { end: JobEnd::Killed, .. } => format!("{} was killed after {age}", job.id()),
        JobState::Ended { end: JobEnd::Lost(why), .. } => format!("{} is gone after {age}: {why}", job.id()),
    }
}

/// The jobs that run, for the details of results and notices.
#[must_use]
pub fn running_details(board: &JobBoard) -> Value {
    let running: Vec<_> =
        board.running().iter().map(|job| json!({"id": job.id(), "command": short(job.command())})).collect();
    json!({"runningJobs": running})
}

pub fn started(job: &Job) -> String {
    format!("Started {}: {}", job.id(), short(job.command()))
}

pub fn list(board: &JobBoard) -> String {
    let jobs = board.all().into_iter().map(|job| format!("{}: {}", described(&job), short(job.command())));
    let lines: Vec<String> = jobs.chain(board.kept()).collect();
    if lines.is_empty() { "No jobs were started yet.".to_owned() } else { lines.join("\n") }
}

pub fn written(job: &Job, bytes: usize, closed: bool) -> String {
    let wrote = (bytes > 0).then(|| format!("Wrote {} to {}", truncate::size(bytes), job.id()));
    let closed = closed.then(|| format!("closed the input of {}", job.id()));
    match (wrote, closed) {
        (Some(wrote), Some(closed)) => format!("{wrote} and {closed}."),
        (Some(only), None) => format!("{only}."),
        (None, closed) => format!("{}.", closed.unwrap_or_default()).replacen('c', "C", 1),
    }
}

/// What a job printed since the last read (or from a place on), and where it stands. The next read goes on from there.
pub fn news(job: &Job, from: Option<usize>, waited: Option<&WaitEnd>) -> String {
    let since = job.output().since(from.unwrap_or_else(|| job.cursor()));
    job.read_to(since.end);
    let cut = truncate::tail(&since.text, Limits::default());
    let mut notes = Vec::new();
    if since.lost > 0 {
        notes.push(format!("{} before this are not in memory any more", truncate::size(since.lost)));
    }
    match cut.truncated_by {
        Some(_) if cut.last_line_partial => {
            notes.push(format!("Showing the last {} of a long line", truncate::size(cut.output_bytes)))
        }
        Some(by) => {
            let limit = if by == TruncatedBy::Bytes {
                format!(" ({} limit)", truncate::size(MAX_BYTES))
            } else {
                String::new()
            };
            notes.push(format!("Showing the last {} of {} lines{limit}", cut.output_lines, cut.total_lines));
        }
        None => {}
    }
    if let Some(path) = since.path.filter(|_| !notes.is_empty()) {
        notes.push(format!("Full output: {}", path.display()));
    }
    let why = match waited {
        Some(WaitEnd::Found(line)) => Some(format!("Found: {line}")),
        Some(WaitEnd::TimedOut(limit)) => Some(format!("Waited {} in vain", time(*limit))),
        Some(WaitEnd::WaitsForInput | WaitEnd::JobEnded) | None => None,
    };
    notes.extend(why);
    notes.push(described(job));
    notes.push(format!("next place: {}", since.end));
    let text = if cut.content.is_empty() { "(no new output)" } else { cut.content.trim_end_matches('\n') };
    format!("{text}\n\n[{}]", notes.join(". "))
}
