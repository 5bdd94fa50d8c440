//! `troupe runs list` and `troupe runs show`.

use serde_json::{Map, Value, json};

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
pub struct Told {
    /// What is to be run.
    pub spec: RunSpec,
    /// Where it stands.
    pub state: RunState,
    /// What came of it, if nobody has gone on with it since.
    pub result: Option<RunResult>,
    /// Somebody has it now.
    pub is_owned: bool,
    /// The word for a run without an owner and without a result.
    pub idle: &'static str,
    /// What only runs of its kind have, as JSON.
    pub json: Map<String, Value>,
    /// The same for people.
    pub lines: Vec<(&'static str, String)>,
}

impl Told {
    /// A run of this machine.
    ///
    /// # Errors
    /// Its files cannot be read.
    pub fn of(run: &RunFolder) -> Result<Self, FolderError> {
        let owner = owner_of(run).filter(Owner::is_alive);
        let state = run.state()?;
        let mut json = Map::new();
        json.insert("folder".to_owned(), json!(run.path));
        json.insert("supervisor".to_owned(), json!(owner.as_ref().map(|owner| owner.process.pid)));
        json.insert("worker".to_owned(), json!(owner.as_ref().and(state.worker).map(|worker| worker.pid)));
        let lines = owner.iter().map(|owner| ("process", owner.process.pid.to_string())).collect();
        // A run whose supervisor was killed says that it runs, and does not.
        let (is_owned, idle) = (owner.is_some(), "killed");
        Ok(Self { spec: run.spec()?, state, result: run.result()?, is_owned, idle, json, lines })
    }

    /// Where it stands, in a word.
    fn status(&self) -> String {
        match (self.is_owned, self.state.status, &self.result) {
            (true, Status::Restarting, _) => "restarting".to_owned(),
            (true, ..) => "running".to_owned(),
            (false, _, Some(result)) => {
                let name = serde_json::to_value(result.outcome).unwrap_or_default();
                name.as_str().unwrap_or_default().to_owned()
            }
            (false, _, None) => self.idle.to_owned(),
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

    fn json(&self) -> Value {
        let mut value = json!({
            "id": self.spec.id,
            "status": self.status(),
            "created": self.spec.created,
            "cwd": self.spec.cwd,
            "prompt": self.spec.prompts.first().map(|prompt| &prompt.text),
            "restarts": self.state.restarts(),
            "sessions": self.state.sessions,
            "result": self.result,
        });
        if let Some(fields) = value.as_object_mut() {
            fields.extend(self.json.clone());
        }
        value
    }

    /// What its commands need beside its id.
    fn on(&self) -> String {
        self.spec.on.as_ref().map(|on| format!(" --on {on}")).unwrap_or_default()
    }
}

/// The runs in these folders; those that cannot be read are named.
#[must_use]
pub fn told(runs: &[RunFolder]) -> Vec<Told> {
    let of = |run: &RunFolder| {
        Told::of(run).inspect_err(|error| complain(&format!("Warning: the run {}: {error}", run.id()))).ok()
    };
    runs.iter().filter_map(of).collect()
}

/// All runs, the latest first.
#[must_use]
pub fn list(mut told: Vec<Told>, json: bool) -> String {
    told.sort_by_key(|one| std::cmp::Reverse(one.spec.created));
    if json {
        return text_of(&Value::Array(told.iter().map(Told::json).collect()));
    }
    if told.is_empty() {
        return "There is no run. `troupe run PROMPT` begins one.\n".to_owned();
    }
    let now = now_ms();
    let width = told.iter().map(|one| one.spec.id.len()).max().unwrap_or(0);
    told.iter()
        .map(|one| {
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
#[must_use]
pub fn show(one: &Told, json: bool) -> String {
    if json {
        return text_of(&one.json());
    }
    let (id, on) = (&one.spec.id, one.on());
    let mut text = format!("run       {id}\nstatus    {}\n", one.status());
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<9} {value}\n"));
    line("prompt", one.title());
    line("begun", iso(one.spec.created));
    line("folder", one.spec.cwd.display().to_string());
    match one.spec.on {
        // Where its worker had it, it is gone.
        Some(_) if !one.state.sessions.is_empty() => {
            line("session", format!("`troupe runs fetch {id} DIR{on}` brings it here"))
        }
        Some(_) => {}
        None => one.state.sessions.iter().for_each(|session| line("session", session.display().to_string())),
    }
    for (name, value) in &one.lines {
        line(name, value.clone());
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
    let next = match (one.is_owned, &one.result) {
        (true, _) => format!("`troupe runs logs -f {id}{on}` shows it, `troupe runs stop {id}{on}` stops it."),
        (false, Some(result)) if result.resume.is_none() => {
            format!("`troupe runs logs {id}{on}` shows what its workers said.")
        }
        (false, None) if one.spec.on.is_some() => format!("`troupe runs stop {id}{on}` stops it."),
        (false, _) => format!("`{}` goes on with it.", one.spec.resume()),
    };
    format!("{text}{next}\n")
}
