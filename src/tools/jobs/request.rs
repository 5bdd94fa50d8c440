//! What a call of `jobs` asks for.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::tools::Failure;

/// The actions, as the schema names them.
pub const ACTIONS: [&str; 6] = ["start", "list", "read", "write", "wait", "kill"];
/// Seconds of a wait that says nothing else.
pub const DEFAULT_WAIT: u64 = 60;
/// Seconds of the longest wait: a model that wants more can wait again, and is heard of meanwhile.
const LONGEST_WAIT: f64 = 3600.0;

/// One thing to do, with all that it needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Start { command: String, keep: bool },
    List,
    Read { id: String, from: Option<usize> },
    Write { id: String, text: String, close: bool },
    Wait { id: String, pattern: Option<String>, limit: Duration },
    Kill { id: String },
}

#[derive(Deserialize)]
struct Fields {
    action: String,
    id: Option<String>,
    command: Option<String>,
    keep: Option<bool>,
    from: Option<f64>,
    text: Option<String>,
    close: Option<bool>,
    pattern: Option<String>,
    seconds: Option<f64>,
}

impl Request {
    /// Reads the arguments of a call. Fields of other actions do not matter: models fill them in.
    ///
    /// # Errors
    /// What is missing for the action, and what it should be.
    pub fn of(arguments: &Map<String, Value>) -> Result<Self, Failure> {
        let fields =
            Fields::deserialize(arguments).map_err(|error| Failure::new(format!("Invalid arguments: {error}")))?;
        let Fields { action, id, command, keep, from, text, close, pattern, seconds } = fields;
        let filled = |field: Option<String>| field.filter(|text| !text.trim().is_empty());
        let missing = |field: &str, what: &str| Failure::new(format!("The action {action} needs `{field}`: {what}."));
        let id = || {
            let id = filled(id).ok_or_else(|| missing("id", "the job's id, such as job-1; list names all"))?;
            // Some models give the number alone.
            let id = id.trim();
            Ok::<_, Failure>(match id.bytes().all(|byte| byte.is_ascii_digit()) {
                true => format!("job-{id}"),
                false => id.to_owned(),
            })
        };
        Ok(match action.as_str() {
            "start" => {
                let command = filled(command).ok_or_else(|| missing("command", "the shell command to run"))?;
                Self::Start { command, keep: keep.unwrap_or(false) }
            }
            "list" => Self::List,
            "read" => Self::Read { id: id()?, from: from.map(place) },
            "write" => {
                let (text, close) = (text.unwrap_or_default(), close.unwrap_or(false));
                if text.is_empty() && !close {
                    return Err(missing("text", "what to write, with \\n at the end of a line; or `close`: true"));
                }
                Self::Write { id: id()?, text, close }
            }
            "wait" => {
                Self::Wait { id: id()?, pattern: pattern.filter(|text| !text.is_empty()), limit: limit(seconds)? }
            }
            "kill" => Self::Kill { id: id()? },
            other => {
                let known = ACTIONS.join(", ");
                return Err(Failure::new(format!("There is no action {other}. The actions are {known}.")));
            }
        })
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates, and is meant to")]
fn place(from: f64) -> usize {
    from as usize
}

fn limit(seconds: Option<f64>) -> Result<Duration, Failure> {
    match seconds {
        None => Ok(Duration::from_secs(DEFAULT_WAIT)),
        Some(seconds) if seconds.is_finite() && seconds >= 0.0 => {
            Ok(Duration::from_secs_f64(seconds.min(LONGEST_WAIT)))
        }
        Some(seconds) => {
            Err(Failure::new(format!("`seconds` must be a number from 0 to {LONGEST_WAIT}, not {seconds}.")))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(arguments: Value) -> Result<Request, String> {
        Request::of(arguments.as_object().unwrap()).map_err(|failure| failure.to_string())
    }

    #[test]
    fn each_action_takes_its_fields() {
        let wait = |pattern: Option<&str>, limit| Request::Wait {
            id: "job-1".into(),
            pattern: pattern.map(str::to_owned),
            limit: Duration::from_millis(limit),
        };
        let table = [
            (json!({"action": "start", "command": "x"}), Request::Start { command: "x".into(), keep: false }),
            (
                json!({"action": "start", "command": "x", "keep": true, "id": ""}),
                Request::Start { command: "x".into(), keep: true },
            ),
            (json!({"action": "list", "command": "ignored"}), Request::List),
            (json!({"action": "read", "id": "job-2"}), Request::Read { id: "job-2".into(), from: None }),
            (json!({"action": "read", "id": "2", "from": 7.0}), Request::Read { id: "job-2".into(), from: Some(7) }),
            (
                json!({"action": "read", "id": " job-2 ", "from": -3}),
                Request::Read { id: "job-2".into(), from: Some(0) },
            ),
            (
                json!({"action": "write", "id": "job-1", "text": "y\n"}),
                Request::Write { id: "job-1".into(), text: "y\n".into(), close: false },
            ),
            (
                json!({"action": "write", "id": "job-1", "close": true}),
                Request::Write { id: "job-1".into(), text: String::new(), close: true },
            ),
            (json!({"action": "wait", "id": "job-1"}), wait(None, 60_000)),
            (json!({"action": "wait", "id": "job-1", "pattern": "a|b", "seconds": 0.5}), wait(Some("a|b"), 500)),
            (json!({"action": "wait", "id": "job-1", "pattern": "", "seconds": 1e9}), wait(None, 3_600_000)),
            (json!({"action": "kill", "id": "job-1"}), Request::Kill { id: "job-1".into() }),
        ];
        for (arguments, wanted) in table {
            assert_eq!(read(arguments.clone()), Ok(wanted), "{arguments}");
        }
    }

    #[test]
    fn what_is_missing_is_named_with_the_action() {
        let table = [
            (json!({"action": "start"}), "The action start needs `command`: the shell command to run."),
            (json!({"action": "start", "command": "  "}), "The action start needs `command`"),
            (json!({"action": "read"}), "The action read needs `id`: the job's id, such as job-1; list names all."),
            (json!({"action": "kill", "id": ""}), "The action kill needs `id`"),
            (json!({"action": "write", "id": "job-1"}), "The action write needs `text`"),
            (
                json!({"action": "wait", "id": "job-1", "seconds": -1}),
                "`seconds` must be a number from 0 to 3600, not -1.",
            ),
            (
                json!({"action": "stop"}),
                "There is no action stop. The actions are start, list, read, write, wait, kill.",
            ),
        ];
        for (arguments, wanted) in table {
            let error = read(arguments.clone()).unwrap_err();
            assert!(error.starts_with(wanted), "{arguments}: {error}");
        }
    }
}
