//! The commands of RPC about siblings. None of them is pi's.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::fields::{FieldError, Fields};
use crate::protocol::sibling::{SiblingCommand, SiblingSpec};

/// Messages that one answer about a conversation holds when the client does not say.
const PAGE: usize = 100;

/// The name of a command on the wire.
pub(super) fn name(command: &SiblingCommand) -> &'static str {
    match command {
        SiblingCommand::Spawn(_) => "spawn_agent",
        SiblingCommand::Send { .. } => "send_agent",
        SiblingCommand::Wait { .. } => "wait_agents",
        SiblingCommand::List => "list_agents",
        SiblingCommand::Stop { .. } => "stop_agent",
        SiblingCommand::Hold { paused: true, .. } => "pause_agent",
        SiblingCommand::Hold { paused: false, .. } => "resume_agent",
        SiblingCommand::Transcript { .. } => "agent_transcript",
        SiblingCommand::Merge { .. } => "merge_agent",
    }
}

/// The command of that name; none when it is about something else.
pub(super) fn parse(name: &str, fields: &Map<String, Value>) -> Result<Option<SiblingCommand>, FieldError> {
    const SECONDS: &str = "a number of seconds";
    let mut fields = Fields::new(name, fields.clone());
    Ok(Some(match name {
        "spawn_agent" => {
            let spec: SiblingSpec = fields.all()?;
            SiblingCommand::Spawn(Box::new(SiblingSpec { task: fields.text("task")?, ..spec }))
        }
        "send_agent" => SiblingCommand::Send {
            id: fields.text("agentId")?,
            message: fields.text("message")?,
            mode: fields.optional("mode", "`steer` or `follow_up`")?.unwrap_or_default(),
        },
        "wait_agents" => SiblingCommand::Wait {
            ids: ids(&mut fields)?,
            mode: fields.optional("mode", "`all` or `any`")?.unwrap_or_default(),
            timeout_s: fields.optional("timeoutS", SECONDS)?,
        },
        "list_agents" => SiblingCommand::List,
        "stop_agent" => SiblingCommand::Stop {
            ids: ids(&mut fields)?,
            grace_s: fields.optional("graceS", SECONDS)?,
            worktree: fields.optional("worktree", "`patch`, `merge` or `drop`")?.unwrap_or_default(),
        },
        "pause_agent" | "resume_agent" => {
            SiblingCommand::Hold { ids: ids(&mut fields)?, paused: name == "pause_agent" }
        }
        "agent_transcript" => SiblingCommand::Transcript {
            id: fields.text("agentId")?,
            from: fields.optional("from", "a number from 0")?.unwrap_or_default(),
            limit: fields.optional("limit", "a number from 0")?.unwrap_or(PAGE),
        },
        "merge_agent" => SiblingCommand::Merge { id: fields.text("agentId")? },
        _ => return Ok(None),
    }))
}

/// The agents that are meant; without the field all children. An empty list means nobody, and is a mistake.
fn ids(fields: &mut Fields) -> Result<Vec<String>, FieldError> {
    let ids: Option<Ids> = fields.optional("agentIds", "a list of at least one id; without it all are meant")?;
    Ok(ids.map(|ids| ids.0).unwrap_or_default())
}

/// Ids, at least one.
#[derive(Deserialize)]
#[serde(try_from = "Vec<String>")]
struct Ids(Vec<String>);

impl TryFrom<Vec<String>> for Ids {
    type Error = &'static str;

    fn try_from(ids: Vec<String>) -> Result<Self, Self::Error> {
        if ids.is_empty() { Err("there is no id") } else { Ok(Self(ids)) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::sibling::{Budget, SendMode, WaitMode, WorktreeFate};

    fn read(request: &Value) -> Result<Option<SiblingCommand>, String> {
        let fields = request.as_object().unwrap();
        parse(fields["type"].as_str().unwrap(), fields).map_err(|error| error.to_string())
    }

    #[test]
    fn requests_about_siblings_are_read() {
        let spec = SiblingSpec {
            key: Some("k".into()),
            budget: Budget { turns: Some(2), ..Budget::default() },
            tells_parent: true,
            ..SiblingSpec::of_task("x")
        };
        let table = [
            (
                json!({"type": "spawn_agent", "task": "x", "key": "k", "budget": {"turns": 2}, "tellsParent": true}),
                SiblingCommand::Spawn(Box::new(spec)),
            ),
            (
                json!({"type": "send_agent", "agentId": "a", "message": "m"}),
                SiblingCommand::Send { id: "a".into(), message: "m".into(), mode: SendMode::Steer },
            ),
            (
                json!({"type": "wait_agents", "mode": "any", "timeoutS": 1.5}),
                SiblingCommand::Wait { ids: Vec::new(), mode: WaitMode::Any, timeout_s: Some(1.5) },
            ),
            (json!({"type": "list_agents"}), SiblingCommand::List),
            (
                json!({"type": "stop_agent", "agentIds": ["a"], "worktree": "merge"}),
                SiblingCommand::Stop { ids: vec!["a".into()], grace_s: None, worktree: WorktreeFate::Merge },
            ),
            (json!({"type": "resume_agent"}), SiblingCommand::Hold { ids: Vec::new(), paused: false }),
            (
                json!({"type": "agent_transcript", "agentId": "a", "from": 3}),
                SiblingCommand::Transcript { id: "a".into(), from: 3, limit: PAGE },
            ),
        ];
        for (request, wanted) in table {
            assert_eq!(read(&request), Ok(Some(wanted.clone())), "{request}");
            assert_eq!(name(&wanted), request["type"]);
        }
        assert_eq!(read(&json!({"type": "get_state"})), Ok(None));
    }

    #[test]
    fn a_request_that_is_wrong_is_refused_by_name() {
        let error = read(&json!({"type": "spawn_agent"})).unwrap_err();
        assert_eq!(error, "Field `task` of spawn_agent is missing: expected text");
        let error = read(&json!({"type": "spawn_agent", "task": "x", "isolation": "moon"})).unwrap_err();
        assert!(error.starts_with("spawn_agent: unknown variant `moon`"), "{error}");
        let error = read(&json!({"type": "stop_agent", "agentIds": []})).unwrap_err();
        assert!(error.contains("at least one id; without it all are meant"), "{error}");
    }
}
