//! Questions to people as requests for a permission, and the answers. Pure.

use agent_client_protocol_schema::v1::{
    PermissionOption, PermissionOptionKind as Kind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SessionId, ToolCallId, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};

use crate::{
    extensions::permissions::answers,
    protocol::question::{Answer, Dialog, Question},
};

/// The answers to a question of yes or no.
const YES: &str = "yes";
/// See [`YES`].
const NO: &str = "no";

/// The request that asks for a choice; none for other questions. `why`: the client can ask for a text afterwards.
pub(super) fn request(
    session: &SessionId,
    question: &Question,
    call: Option<ToolCallId>,
    why: bool,
) -> Option<RequestPermissionRequest> {
    let (text, options) = match &question.dialog {
        Dialog::Select { options } => {
            let shown = options.iter().enumerate().filter(|(_, text)| why || text.as_str() != answers::DENY_WHY);
            let option =
                |(place, text): (usize, &String)| PermissionOption::new(place.to_string(), text.as_str(), kind(text));
            (question.title.clone(), shown.map(option).collect())
        }
        Dialog::Confirm { message } => {
            let yes = PermissionOption::new(YES, "Yes", Kind::AllowOnce);
            let no = PermissionOption::new(NO, "No", Kind::RejectOnce);
            (format!("{}\n\n{message}", question.title), vec![yes, no])
        }
        Dialog::Input { .. } | Dialog::Editor { .. } => return None,
    };
    let fields = ToolCallUpdateFields::new().status(ToolCallStatus::Pending).content(vec![text.into()]);
    let call = match call {
        Some(id) => ToolCallUpdate::new(id, fields),
        // Clients show questions with calls: one that belongs to none gets one of its own.
        None => {
            let title = question.title.lines().next().unwrap_or_default();
            ToolCallUpdate::new(format!("question-{}", question.id), fields.title(title).kind(ToolKind::Other))
        }
    };
    Some(RequestPermissionRequest::new(session.clone(), call, options))
}

/// What an option does, so that clients may show and answer it by themselves.
fn kind(text: &str) -> Kind {
    match text {
        answers::SESSION | answers::ALWAYS => Kind::AllowAlways,
        answers::DENY | answers::DENY_WHY => Kind::RejectOnce,
        _ => Kind::AllowOnce,
    }
}

/// The answer to a question. What is no option is no answer.
pub(super) fn answer(question: &Question, response: &RequestPermissionResponse) -> Answer {
    let RequestPermissionOutcome::Selected(selected) = &response.outcome else { return Answer::Cancelled };
    match (&question.dialog, &*selected.option_id.0) {
        (Dialog::Select { options }, id) => {
            let place: Option<usize> = id.parse().ok();
            place.and_then(|place| options.get(place)).map_or(Answer::Cancelled, |text| Answer::Value(text.clone()))
        }
        (Dialog::Confirm { .. }, YES) => Answer::Confirmed(true),
        (Dialog::Confirm { .. }, NO) => Answer::Confirmed(false),
        _ => Answer::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::question::QuestionId;

    fn question(dialog: Dialog) -> Question {
        let id = QuestionId::from("q".to_owned());
        Question { id, title: "Allow bash?\n\nls".into(), dialog, timeout_ms: None, tool_call_id: None }
    }

    fn select() -> Question {
        let options = [answers::ONCE, answers::SESSION, answers::ALWAYS, answers::DENY, answers::DENY_WHY];
        question(Dialog::Select { options: options.map(str::to_owned).to_vec() })
    }

    #[test]
    fn a_choice_is_asked_with_the_kinds_of_its_answers() {
        let session = SessionId::new("s");
        let request = request(&session, &select(), Some(ToolCallId::new("c")), false).unwrap();
        let kinds: Vec<_> = request.options.iter().map(|option| (option.option_id.to_string(), option.kind)).collect();
        let wanted = [Kind::AllowOnce, Kind::AllowAlways, Kind::AllowAlways, Kind::RejectOnce];
        assert_eq!(kinds, wanted.into_iter().enumerate().map(|(n, kind)| (n.to_string(), kind)).collect::<Vec<_>>());
        assert_eq!(request.tool_call.tool_call_id.to_string(), "c");
        let with_why = super::request(&session, &select(), None, true).unwrap().options;
        assert_eq!(with_why.last().map(|option| option.kind), Some(Kind::RejectOnce));
        assert_eq!(with_why.len(), 5);
        let alone = super::request(&session, &select(), None, false).unwrap().tool_call;
        assert_eq!(
            (alone.tool_call_id.to_string(), alone.fields.title),
            ("question-q".into(), Some("Allow bash?".into()))
        );
        assert!(super::request(&session, &question(Dialog::Input { placeholder: None }), None, true).is_none());
    }

    #[test]
    fn yes_or_no_is_asked_like_a_permission() {
        let confirm = question(Dialog::Confirm { message: "It is large.".into() });
        let request = request(&SessionId::new("s"), &confirm, None, false).unwrap();
        let kinds: Vec<_> = request.options.iter().map(|option| option.kind).collect();
        assert_eq!(kinds, [Kind::AllowOnce, Kind::RejectOnce]);
        for (id, wanted) in
            [("yes", Answer::Confirmed(true)), ("no", Answer::Confirmed(false)), ("0", Answer::Cancelled)]
        {
            let outcome = json!({"outcome": {"outcome": "selected", "optionId": id}});
            assert_eq!(answer(&confirm, &serde_json::from_value(outcome).unwrap()), wanted);
        }
    }

    #[test]
    fn what_is_no_option_is_no_answer() {
        let table = [
            (json!({"outcome": "selected", "optionId": "0"}), Answer::Value(answers::ONCE.into())),
            (json!({"outcome": "selected", "optionId": "3"}), Answer::Value(answers::DENY.into())),
            (json!({"outcome": "selected", "optionId": "9"}), Answer::Cancelled),
            (json!({"outcome": "selected", "optionId": "allow"}), Answer::Cancelled),
            (json!({"outcome": "cancelled"}), Answer::Cancelled),
        ];
        for (outcome, wanted) in table {
            let response = serde_json::from_value(json!({"outcome": outcome})).unwrap();
            assert_eq!(answer(&select(), &response), wanted, "{outcome}");
        }
    }
}
