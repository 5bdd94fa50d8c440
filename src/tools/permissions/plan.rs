//! Plan mode: the agent looks and thinks, and changes nothing until the user says so.

use serde_json::{Map, Value, json};

use super::read_only;
use crate::{
    protocol::EntryBody,
    tools::{Tool, tool::PlanAccess},
};

/// The type of the session's entries that say whether plan mode is on. Their data is `{"enabled": true}` or false.
pub const PLAN_ENTRY: &str = "troupe.plan-mode";

/// The section of the system prompt that tells the model.
pub const PLAN_SECTION: (&str, &str) = (
    "plan_mode",
    "Plan mode is on: nothing may be changed until the user ends it. Use tools that only read to understand the task; calls \
     that could change something are refused. Then present a plan: the steps in order, the files that each of them \
     changes, and how the result is checked. Ask about what is open. Do not ask for plan mode to be ended before the \
     plan is complete.",
);

/// Why a call may not run in plan mode; none when it may. `confined` says that commands run where nothing can be
/// changed.
#[must_use]
pub fn refusal(tool: &dyn Tool, arguments: &Map<String, Value>, confined: bool) -> Option<String> {
    let name = &tool.declaration().name;
    let why = match tool.plan_access() {
        PlanAccess::Reads => return None,
        PlanAccess::RunsCommands if confined => return None,
        PlanAccess::RunsCommands => {
            let script = arguments.get("command").and_then(Value::as_str);
            let checked = script.ok_or_else(|| "there is no command in the call".to_owned()).and_then(read_only::check);
            let why = checked.err()?;
            format!(
                "{name} runs only commands that are known to read, such as ls, cat, grep, rg, find and git log: {why}"
            )
        }
        PlanAccess::Changes => format!("{name} can change things"),
    };
    Some(format!(
        "Plan mode is on, and the call was not run: {why}. Look at what you need with tools that only read, then present your \
         plan to the user. The user ends plan mode; do not try to get around it."
    ))
}

/// The entry that remembers it.
#[must_use]
pub fn entry(enabled: bool) -> EntryBody {
    EntryBody::Custom { custom_type: PLAN_ENTRY.to_owned(), data: Some(json!({"enabled": enabled})) }
}

/// Whether a session's entry turns plan mode on or off; none when it is about something else.
#[must_use]
pub fn entry_says(body: &EntryBody) -> Option<bool> {
    match body {
        EntryBody::Custom { custom_type, data } if custom_type == PLAN_ENTRY => {
            Some(data.as_ref().and_then(|data| data["enabled"].as_bool()).unwrap_or_default())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::ToolSet;

    #[test]
    fn tools_that_read_run_and_others_are_told_to_plan() {
        let tools = ToolSet::builtin();
        // tool, arguments, confined, a part of the refusal
        let table = [
            ("read", json!({"path": "x"}), false, None),
            ("grep", json!({"pattern": "x"}), false, None),
            ("ls", json!({}), false, None),
            ("find", json!({"pattern": "x"}), false, None),
            ("write", json!({"path": "x", "content": ""}), true, Some("write can change things")),
            ("edit", json!({"path": "x", "edits": []}), true, Some("edit can change things")),
            ("bash", json!({"command": "ls -l"}), false, None),
            ("bash", json!({"command": "ls > x"}), false, Some("it opens x")),
            ("bash", json!({"command": "ls > x"}), true, None),
            ("bash", json!({"command": 5}), false, Some("no command")),
        ];
        for (name, arguments, confined, wanted) in table {
            let tool = tools.get(name).unwrap();
            let refusal = refusal(&**tool, arguments.as_object().unwrap(), confined);
            match (&refusal, wanted) {
                (None, None) => {}
                (Some(text), Some(part)) => {
                    assert!(text.contains(part) && text.contains("present your plan"), "{text}")
                }
                _ => panic!("{name} {arguments} {confined}: {refusal:?}"),
            }
        }
    }

    #[test]
    fn entries_of_the_session_say_whether_it_is_on() {
        for enabled in [true, false] {
            assert_eq!(entry_says(&entry(enabled)), Some(enabled));
        }
        let custom = |custom_type: &str| EntryBody::Custom { custom_type: custom_type.into(), data: None };
        assert_eq!(entry_says(&custom(PLAN_ENTRY)), Some(false));
        assert_eq!(entry_says(&custom("plan-mode")), None);
    }
}
