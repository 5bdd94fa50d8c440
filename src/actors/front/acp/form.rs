//! Questions for a text as forms of one field, and the answers. Pure.
//!
//! Written and read by hand: the schema's types for forms can do everything that JSON Schema can.

use agent_client_protocol_schema::v1::{SessionId, ToolCallId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::protocol::question::{Answer, Dialog, Question};

/// The name of the field.
const FIELD: &str = "text";

/// The request that asks for a text; none for other questions.
pub(super) fn request(session: &SessionId, question: &Question, call: Option<&ToolCallId>) -> Option<Value> {
    let mut field = Map::from_iter([("type".to_owned(), json!("string"))]);
    match &question.dialog {
        Dialog::Input { placeholder } => {
            field.extend(placeholder.iter().map(|text| ("description".to_owned(), json!(text))));
        }
        Dialog::Editor { prefill } => field.extend(prefill.iter().map(|text| ("default".to_owned(), json!(text)))),
        Dialog::Select { .. } | Dialog::Confirm { .. } => return None,
    }
    let mut request = json!({
        "sessionId": session,
        "mode": "form",
        "message": question.title,
        "requestedSchema": {"type": "object", "properties": {FIELD: field}, "required": [FIELD]},
    });
    if let Some(call) = call {
        request["toolCallId"] = json!(call);
    }
    Some(request)
}

/// What a client says of a form.
#[derive(Deserialize)]
pub(super) struct Filled {
    action: String,
    #[serde(default)]
    content: Option<Map<String, Value>>,
}

/// The answer to a question for a text. What is no text is no answer.
pub(super) fn answer(filled: &Filled) -> Answer {
    let text = filled.content.as_ref().and_then(|content| content.get(FIELD)?.as_str());
    match (filled.action.as_str(), text) {
        ("accept", Some(text)) => Answer::Value(text.to_owned()),
        _ => Answer::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol_schema::v1::{CreateElicitationRequest, ElicitationMode, ElicitationScope};

    use super::*;
    use crate::protocol::question::QuestionId;

    fn question(dialog: Dialog) -> Question {
        let id = QuestionId::from("q".to_owned());
        Question { id, title: "Why?".into(), dialog, timeout_ms: None, tool_call_id: None }
    }

    #[test]
    fn a_form_is_one_that_the_schema_knows() {
        let (session, call) = (SessionId::new("s"), ToolCallId::new("c"));
        let ask = |dialog| request(&session, &question(dialog), Some(&call));
        let form = ask(Dialog::Input { placeholder: Some("a reason".into()) }).unwrap();
        assert_eq!(form["requestedSchema"]["properties"]["text"]["description"], "a reason");
        let typed: CreateElicitationRequest = serde_json::from_value(form).unwrap();
        assert_eq!(typed.message, "Why?");
        let ElicitationMode::Form(mode) = typed.mode else { panic!("{typed:?}") };
        let ElicitationScope::Session(scope) = &mode.scope else { panic!("{mode:?}") };
        assert_eq!((scope.session_id.to_string(), scope.tool_call_id.clone()), ("s".to_owned(), Some(call.clone())));
        let editor = ask(Dialog::Editor { prefill: Some("draft".into()) }).unwrap();
        assert_eq!(editor["requestedSchema"]["properties"]["text"]["default"], "draft");
        assert!(ask(Dialog::Confirm { message: String::new() }).is_none());
    }

    #[test]
    fn only_a_text_that_was_accepted_is_an_answer() {
        let table = [
            (json!({"action": "accept", "content": {"text": "so"}}), Answer::Value("so".into())),
            (json!({"action": "accept", "content": {"text": 7}}), Answer::Cancelled),
            (json!({"action": "accept"}), Answer::Cancelled),
            (json!({"action": "decline"}), Answer::Cancelled),
            (json!({"action": "cancel", "content": {"text": "so"}}), Answer::Cancelled),
        ];
        for (filled, wanted) in table {
            assert_eq!(answer(&serde_json::from_value(filled.clone()).unwrap()), wanted, "{filled}");
        }
    }
}
