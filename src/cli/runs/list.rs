//! `troupe runs list` and `troupe runs show`.

use serde_json::{Value, json};

use super::{
    folder::{FolderError, RunFolder},
    lease::{Owner, owner_of},
    result::RunResult,
    spec::RunSpec,
    state::{RunState, Status},
};
use crate::{
    actors::front::complain,
    protocol::{
        hidden,
        time::{age, iso, now_ms},
    },
};

/// Characters of a prompt in a list.
const TITLE: usize = 60;

/// A run as it is told.
struct Told {
    spec: RunSpec,
    state: RunState,
    result: Option<RunResult>,
    owner: Option<Owner>,
}

impl Told {
    fn of(run: &RunFolder) -> Result<Self, FolderError> {
        let owner = owner_of(run).filter(Owner::is_alive);
        Ok(Self { spec: run.spec()?, state: run.state()?, result: run.result()?, owner })
    }

    /// Where it stands, in a word. A run whose supervisor was killed says that it runs, and does not.
    fn status(&self) -> String {
        match (&self.owner, self.state.status, &self.result) {
            (Some(_), Status::Restarting, _) => "restarting".to_owned(),
            (Some(_), ..) => "running".to_owned(),
            (None, _, Some(result)) => {
                let name = serde_json::to_value(result.outcome).unwrap_or_default();
                name.as_str().unwrap_or_default().to_owned()
            }
            (None, _, None) => "killed".to_owned(),
        }
    }

    fn title(&self) -> String {
        let text = self.spec.prompts.first().map(|prompt| prompt.text.as_str()).unwrap_or_default();
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(TITLE) {
            Some((at, _)) => format!("{}…", &line[..at]),
            None => line,
        }
    }

    fn json(&self, run: &RunFolder) -> Value {
        json!({
            "id": self.spec.id,
            "status": self.status(),
            "created": self.spec.created,
            "cwd": self.spec.cwd,
            "prompt": self.spec.prompts.first().map(|prompt| &prompt.text),
            "folder": run.path,
            "supervisor": self.owner.as_ref().map(|owner| owner.process.pid),
            "worker": self.owner.as_ref().and(self.state.worker).map(|worker| worker.pid),
            "restarts": self.state.restarts(),
            "sessions": self.state.sessions,
            "result": self.result,
        })
    }
}

/// All runs, the latest first.
#[must_use]
pub fn list(runs: &[RunFolder], json: bool) -> String {
    let of = |run: &RunFolder| {
        Told::of(run).inspect_err(|error| complain(&format!("Warning: the run {}: {error}", run.id()))).ok()
    };
    let mut told: Vec<(&RunFolder, Told)> = runs.iter().filter_map(|run| Some((run, of(run)?))).collect();
    told.sort_by_key(|(_, one)| std::cmp::Reverse(one.spec.created));
    if json {
        let all: Vec<Value> = told.iter().map(|(run, one)| one.json(run)).collect();
        return text_of(&Value::Array(all));
    }
    if told.is_empty() {
        return "There is no run. `troupe run PROMPT` begins one.\n".to_owned();
    }
    let now = now_ms();
    let width = told.iter().map(|(_, one)| one.spec.id.len()).max().unwrap_or(0);
    told.iter()
        .map(|(_, one)| {
            let (id, when) = (&one.spec.id, age(one.spec.created, now));
            format!("{id:<width$}  {:<20}  {when:>8}  {}\n", one.status(), one.title())
        })
        .collect()
}

fn text_of(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default() + "\n";
    hidden::for_terminal_json(&text).into_owned()
}

/// Everything about one run.
///
/// # Errors
/// Its files cannot be read.
pub fn show(run: &RunFolder, json: bool) -> Result<String, FolderError> {
    let one = Told::of(run)?;
    if json {
        return Ok(text_of(&one.json(run)));
    }
    let id = &one.spec.id;
    let mut text = format!("run       {id}\nstatus    {}\n", one.status());
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<9} {value}\n"));
    line("prompt", one.title());
    line("begun", iso(one.spec.created));
    line("folder", one.spec.cwd.display().to_string());
    for session in &one.state.sessions {
        line("session", session.display().to_string());
    }
    if let Some(owner) = &one.owner {
        line("process", owner.process.pid.to_string());
    }
    for start in one.state.starts.iter().filter(|start| start.cause.is_some()) {
        let when = start.ended.map(iso).unwrap_or_default();
        line("crash", format!("{when}  {}", start.cause.as_deref().unwrap_or_default()));
    }
    if let Some(result) = &one.result {
        if let Some(reason) = &result.reason {
            line("reason", reason.clone());
        }
        line(
            "spent",
            format!("{} turns, {} tokens, ${:.4}", result.turns, result.usage.summed().total_tokens, result.cost),
        );
        for file in &result.changed_files {
            line("changed", file.clone());
        }
        if let Some(answer) = &result.answer {
            line("answer", answer.clone());
        }
    }
    let next = match (&one.owner, &one.result) {
        (Some(_), _) => format!("`troupe runs logs -f {id}` shows it, `troupe runs stop {id}` stops it."),
        (None, Some(result)) if result.resume.is_none() => {
            format!("`troupe runs logs {id}` shows what its workers said.")
        }
        (None, _) => format!("`troupe runs resume {id}` goes on with it."),
    };
    Ok(format!("{text}{next}\n"))
}
