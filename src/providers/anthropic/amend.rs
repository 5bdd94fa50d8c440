//! Second wordings of requests that the API refused for what can be left out.

use std::sync::Arc;

use crate::{
    protocol::{Block, Failure, Message, ToolDeclaration},
    providers::Request,
};

/// Old thinking that no longer fits its signature: the conversation can go on without it.
const BAD_SIGNATURE: &str = "Invalid `signature` in `thinking` block";
/// Strict tools that are together too much.
const TOO_STRICT: [&str; 3] = [
    "The compiled grammar is too large",
    "Too many strict tools (",
    "Schemas contains too many parameters with union types (",
];

/// The request without what was refused; `None` when the refusal was about something else, or nothing can be left out.
pub(crate) fn amend(request: &Request, failure: &Failure) -> Option<Request> {
    if failure.status != Some(400) {
        return None;
    }
    if failure.message.contains(BAD_SIGNATURE) {
        request.with_messages(without_thinking)
    } else if TOO_STRICT.iter().any(|text| failure.message.contains(text)) {
        request.with_messages(without_strict)
    } else {
        None
    }
}

fn without_thinking(message: &Message) -> Option<Message> {
    let Message::Assistant(answer) = message else { return None };
    let is_thinking = |block: &Block| matches!(block, Block::Thinking(_));
    if !answer.content.iter().any(is_thinking) {
        return None;
    }
    let mut answer = (**answer).clone();
    answer.content.retain(|block| !is_thinking(block));
    Some(Message::Assistant(Arc::new(answer)))
}

fn without_strict(message: &Message) -> Option<Message> {
    let Message::System(system) = message else { return None };
    let prefers = |tool: &ToolDeclaration| {
        tool.constrained_sampling
            .as_ref()
            .is_some_and(|asked| asked["type"] == "json_schema" && asked["strict"] != "require")
    };
    if !system.tools_added.iter().flatten().any(prefers) {
        return None;
    }
    let mut system = (**system).clone();
    for tool in system.tools_added.iter_mut().flatten().filter(|tool| prefers(tool)) {
        tool.constrained_sampling = None;
    }
    Some(Message::System(Arc::new(system)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        protocol::{FailureClass, ThinkingBlock},
        providers::testing::{assistant, plain_model, request, user},
    };

    fn refused(text: &str) -> Failure {
        Failure::new(FailureClass::InvalidRequest, format!("400: {text}")).with_status(400)
    }

    #[test]
    fn what_was_refused_is_left_out_when_it_can_be() {
        let thought =
            Block::Thinking(ThinkingBlock { thinking_signature: Some("old".into()), ..ThinkingBlock::default() });
        let tool = json!({"toolsAdded": [
            {"name": "a", "constrainedSampling": {"type": "json_schema", "strict": "prefer"}},
            {"name": "b", "constrainedSampling": {"type": "json_schema", "strict": "require"}}]});
        let system = Message::System(Arc::new(serde_json::from_value(tool).unwrap()));
        let request = request(
            plain_model("anthropic-messages"),
            vec![system, user("x"), assistant(vec![thought, Block::text("t")])],
        );

        let second = amend(&request, &refused("messages.1: Invalid `signature` in `thinking` block")).unwrap();
        let Message::Assistant(answer) = &second.messages[2] else { panic!() };
        assert_eq!(answer.content, [Block::text("t")]);
        assert!(amend(&second, &refused("Invalid `signature` in `thinking` block")).is_none());

        let second = amend(&request, &refused("Too many strict tools (21)")).unwrap();
        let Message::System(system) = &second.messages[0] else { panic!() };
        let asked: Vec<_> =
            system.tools_added.iter().flatten().map(|tool| tool.constrained_sampling.is_some()).collect();
        assert_eq!(asked, [false, true]);

        assert!(amend(&request, &refused("something else")).is_none());
        assert!(amend(&request, &Failure::new(FailureClass::ServerError, "Too many strict tools (")).is_none());
    }
}
