//! Background jobs, as front ends see them.

use serde::Serialize;

/// What a person wants of the jobs of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobsCommand {
    /// All jobs.
    List,
    /// What a job printed.
    Read {
        /// The job.
        id: String,
        /// Where to begin, in bytes; 0 is the beginning.
        from: usize,
    },
    /// End a job.
    Kill {
        /// The job.
        id: String,
    },
}

/// A job.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobInfo {
    /// Its id, such as `job-1`.
    pub id: String,
    /// The command.
    pub command: String,
    /// It runs.
    pub running: bool,
    /// It runs and waits for input.
    pub waits_for_input: bool,
    /// The exit code, when it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it has run, or ran.
    pub seconds: f64,
    /// All of that in words.
    pub status: String,
}

/// The jobs of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobList {
    /// Those that run, and the last ones that ended.
    pub jobs: Vec<JobInfo>,
    /// Commands that live on by themselves, in words.
    pub kept: Vec<String>,
}

/// What a job printed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobOutput {
    /// The job.
    pub job: JobInfo,
    /// The text. Its last line may be unfinished, and comes again when it is finished.
    pub output: String,
    /// Bytes before it that are not in memory any more.
    pub lost: usize,
    /// Where the next read goes on.
    pub next: usize,
    /// The file with all of it, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_output_path: Option<String>,
}
