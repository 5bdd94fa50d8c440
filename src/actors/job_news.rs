//! What a model knows of its background jobs, and what it must be told. Pure but for a look at the board.
//!
//! Results of the tool `jobs` and earlier notices say which jobs ran then, so the branch tells what its model believes.
//! What is no longer so becomes a message at the next boundary of a turn: it stands in its place in the conversation, so
//! that providers' caches of what is before it stay good, as a section of the system prompt would not let them. In a new
//! process the board is empty, and the model hears that its jobs are gone.

use serde_json::Value;

use super::branch_news::BranchNews;
use crate::{
    protocol::{Content, EntryBody},
    tools::jobs::{self, JobBoard, described, running_details, running_in},
};

/// The jobs that the branch believes to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobNews {
    believed: Vec<(String, String)>,
    last_number: usize,
    /// What was said of them was summarised.
    compacted: bool,
}

impl BranchNews for JobNews {
    const KIND: &'static str = "jobs";

    fn is_told_by(tool: &str) -> bool {
        tool == jobs::NAME
    }

    fn take(&mut self, details: &Value) {
        let Some(running) = running_in(details) else { return };
        let numbers = running.iter().filter_map(|(id, _)| id.strip_prefix("job-")?.parse().ok());
        self.last_number = numbers.fold(self.last_number, usize::max);
        self.believed = running;
        self.compacted = false;
    }

    fn compacted(&mut self) {
        self.compacted = true;
    }
}

impl JobNews {
    /// The highest number of a job that the branch names; 0 when it names none.
    #[must_use]
    pub fn last_number(&self) -> usize {
        self.last_number
    }

    /// What is to be told before the next request.
    #[must_use]
    pub fn news(&self, board: &JobBoard) -> Option<EntryBody> {
        let known = board.all();
        let mut lines = Vec::new();
        for (id, command) in &self.believed {
            match known.iter().find(|job| job.id() == id) {
                Some(job) if job.is_running() && !self.compacted => {}
                Some(job) => lines.push(format!("{}: {command}", described(job))),
                None => lines.push(format!("{id} is gone, since the program that ran it has ended: {command}")),
            }
        }
        if lines.is_empty() {
            return None;
        }
        let text = format!(
            "Notice of the program, not of the user. Background jobs:\n{}\nThe tool jobs reads what they printed.",
            lines.join("\n")
        );
        Some(EntryBody::CustomMessage {
            custom_type: Self::KIND.to_owned(),
            content: Content::Text(text),
            display: true,
            details: Some(running_details(board)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::{
        protocol::{AgentMessage, ToolResultMessage},
        tools::jobs::JobEnd,
    };

    fn result(tool: &str, ids: &[&str]) -> EntryBody {
        let jobs: Vec<_> = ids.iter().map(|id| json!({"id": id, "command": "make"})).collect();
        let message = ToolResultMessage {
            tool_name: tool.to_owned(),
            details: Some(json!({"runningJobs": jobs})),
            ..ToolResultMessage::default()
        };
        EntryBody::Message { message: AgentMessage::ToolResult(Arc::new(message)) }
    }

    fn text(news: Option<EntryBody>) -> Option<String> {
        let EntryBody::CustomMessage { content, .. } = news? else { return None };
        let text = content.text("\n");
        let lines: Vec<_> = text.lines().collect();
        Some(lines[1..lines.len() - 1].join("|"))
    }

    #[test]
    fn what_is_no_longer_so_is_told_once() {
        let board = JobBoard::default();
        let (first, _first) = board.add("make".into()).unwrap();
        let (second, _second) = board.add("make".into()).unwrap();
        let mut news = JobNews::default();
        assert_eq!(text(news.news(&board)), None, "the model knows of none");
        news.read(&result("bash", &["job-1"]));
        assert_eq!(text(news.news(&board)), None, "a result of another tool");
        news.read(&result("jobs", &["job-1", "job-2"]));
        assert_eq!(text(news.news(&board)), None, "both run");
        first.ended(JobEnd::Exited(3));
        let told = news.news(&board).unwrap();
        let line = text(Some(told.clone())).unwrap();
        assert!(line.starts_with("job-1 exited with code 3 after ") && line.ends_with(" s: make"), "{line}");
        news.read(&told);
        assert_eq!(text(news.news(&board)), None, "it was told");
        second.ended(JobEnd::Lost("its worker died".into()));
        assert!(text(news.news(&board)).unwrap().contains("job-2 is gone after "));
        news.read(&result("jobs", &[]));
        assert_eq!(text(news.news(&board)), None, "a result said so already");
    }

    #[test]
    fn in_a_new_process_the_jobs_are_gone_and_their_numbers_are_not_used_again() {
        let mut news = JobNews::default();
        news.read(&result("jobs", &["job-7"]));
        let board = JobBoard::default();
        board.number_after(news.last_number());
        assert_eq!(text(news.news(&board)).unwrap(), "job-7 is gone, since the program that ran it has ended: make");
        assert_eq!(board.add("x".into()).unwrap().0.id(), "job-8");
    }

    #[test]
    fn after_a_compaction_the_running_ones_are_told_again() {
        let board = JobBoard::default();
        let _job = board.add("make".into()).unwrap();
        let mut news = JobNews::default();
        news.read(&result("jobs", &["job-1"]));
        let compaction = json!({"type": "compaction", "summary": "s", "firstKeptEntryId": "a", "tokensBefore": 1});
        news.read(&serde_json::from_value(compaction).unwrap());
        let told = news.news(&board).unwrap();
        assert!(text(Some(told.clone())).unwrap().starts_with("job-1 has run for "));
        news.read(&told);
        assert_eq!(text(news.news(&board)), None);
    }
}
