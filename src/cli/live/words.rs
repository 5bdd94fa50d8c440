//! Events as lines of text.

use serde_json::Value;

use crate::{tools::truncate::cut_to_units, tui::text::one_line};

/// Characters of arguments at most.
const ARGUMENTS: usize = 120;

/// What a record says to a person; none for one that says nothing new.
#[must_use]
pub fn words(record: &Value) -> Option<String> {
    let text = |value: &Value| one_line(value.as_str().unwrap_or_default());
    Some(match record["type"].as_str()? {
        "response" if record["success"] == false => format!("! {}", text(&record["error"])),
        "message_end" => return message(&record["message"]),
        "tool_execution_start" => {
            let arguments = one_line(&record["args"].to_string());
            let cut = cut_to_units(&arguments, ARGUMENTS).map(|cut| format!("{cut}…"));
            format!("[{}] {}", text(&record["toolName"]), cut.unwrap_or(arguments))
        }
        "tool_execution_end" => {
            let how = if record["isError"] == true { "failed" } else { "done" };
            format!("[{}] {how}", text(&record["toolName"]))
        }
        "agent_settled" if record["aborted"] == true => "-- stopped --".to_owned(),
        "agent_settled" => "-- idle --".to_owned(),
        "auto_retry_start" => format!("-- trying again: {} --", text(&record["errorMessage"])),
        "compaction_start" => "-- compacting --".to_owned(),
        "sibling_start" => format!("-- {} began: {} --", agent(&record["sibling"]), text(&record["sibling"]["title"])),
        "sibling_end" => {
            let outcome = &record["end"]["outcome"];
            let why = outcome["message"].as_str().map(|why| format!(": {}", one_line(why))).unwrap_or_default();
            format!("-- {} ended: {}{why} --", agent(&record["sibling"]), text(&outcome["kind"]))
        }
        "restart" => format!("-- {} was started again: {} --", text(&record["actor"]), text(&record["cause"])),
        "parked" => format!("-- given up: {} --", text(&record["cause"])),
        "gap" => "-- some updates were left out --".to_owned(),
        _ => return None,
    })
}

fn agent(status: &Value) -> String {
    let id = one_line(status["id"].as_str().unwrap_or_default());
    status["name"].as_str().map(|name| format!("{id} {}", one_line(name))).unwrap_or(id)
}

/// What a person or the model said.
fn message(message: &Value) -> Option<String> {
    let mark = match message["role"].as_str()? {
        "user" => "> ",
        "assistant" => "",
        _ => return None,
    };
    let said = match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => {
            let texts = blocks.as_array()?.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
    };
    let failed = message["errorMessage"].as_str().map(|error| format!("! {}", one_line(error)));
    let said = Some(said.trim_end().to_owned()).filter(|said| !said.is_empty());
    let said = said.map(|said| format!("{mark}{said}")).into_iter().chain(failed).collect::<Vec<_>>().join("\n");
    Some(said).filter(|said| !said.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_told_in_lines() {
        let user = json!({"role": "user", "content": "do it"});
        let answer = json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Done.\n"}]});
        let failed = json!({"role": "assistant", "content": [], "errorMessage": "529"});
        let sibling = json!({"id": "agent-1", "name": "reader", "title": "look"});
        let end = json!({"outcome": {"kind": "failed", "message": "529", "mayPass": true}});
        for (record, expected) in [
            (json!({"type": "message_end", "message": user}), Some("> do it")),
            (json!({"type": "message_end", "message": answer}), Some("Done.")),
            (json!({"type": "message_end", "message": failed}), Some("! 529")),
            (json!({"type": "message_update"}), None),
            (
                json!({"type": "tool_execution_start", "toolName": "ls", "args": {"path": "."}}),
                Some("[ls] {\"path\":\".\"}"),
            ),
            (json!({"type": "tool_execution_end", "toolName": "ls", "isError": true}), Some("[ls] failed")),
            (json!({"type": "agent_settled", "aborted": false}), Some("-- idle --")),
            (json!({"type": "agent_settled", "aborted": true}), Some("-- stopped --")),
            (json!({"type": "sibling_start", "sibling": sibling}), Some("-- agent-1 reader began: look --")),
            (
                json!({"type": "sibling_end", "sibling": sibling, "end": end}),
                Some("-- agent-1 reader ended: failed: 529 --"),
            ),
            (json!({"type": "response", "success": false, "error": "no"}), Some("! no")),
            (json!({"type": "response", "success": true}), None),
            (
                json!({"type": "restart", "actor": "TurnLoop", "cause": "x\u{1b}[2J"}),
                Some("-- TurnLoop was started again: x<U+001B>[2J --"),
            ),
            (json!([]), None),
        ] {
            assert_eq!(words(&record).as_deref(), expected, "{record}");
        }
    }
}
