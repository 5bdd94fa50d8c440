//! A second wording of requests that Gemini refused for their signatures.

use std::sync::Arc;

use super::{family::Family, signature::UNCHECKED};
use crate::{
    protocol::{AssistantMessage, Block, Failure, Message, Model},
    providers::{Request, transform::is_made_by},
};

/// The request without signatures: those that are there do not fit the conversation any more, or came to harm on the
/// way. Models that insist on a signature for each call get the one that is not checked; that also helps when another
/// model made the calls. `None` when the refusal was about something else, or nothing can be changed.
pub(super) fn amend(request: &Request, failure: &Failure) -> Option<Request> {
    // "Corrupted thought signature", "Function call is missing a thought_signature", …
    let about_signatures = failure.message.to_lowercase().replace('_', " ").contains("thought signature");
    if failure.status != Some(400) || !about_signatures {
        return None;
    }
    let model = &request.model;
    let insists = Family::of(&model.id).newest;
    request.with_messages(|message| match message {
        Message::Assistant(answer) => {
            without_signatures(answer, model, insists).map(|answer| Message::Assistant(Arc::new(answer)))
        }
        _ => None,
    })
}

fn without_signatures(answer: &AssistantMessage, model: &Model, insists: bool) -> Option<AssistantMessage> {
    let own = is_made_by(answer, model);
    let mark = insists.then(|| UNCHECKED.to_owned());
    let mut new = answer.clone();
    if !own && insists {
        // Only what the model made itself keeps its marks on the way out: the calls pass for its own, and what else
        // another model left behind goes.
        (new.provider, new.api, new.model) = (model.provider.clone(), model.api.clone(), model.id.clone());
        new.content.retain(|block| !matches!(block, Block::Thinking(_)));
    }
    for block in &mut new.content {
        match block {
            Block::Text(block) => block.text_signature = None,
            Block::Thinking(block) => block.thinking_signature = None,
            Block::ToolCall(call) => call.thought_signature.clone_from(&mark),
            Block::Image(_) | Block::Unknown(_) => {}
        }
    }
    (new.content != answer.content).then_some(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        protocol::{FailureClass, TextBlock, ThinkingBlock, ToolCall},
        providers::testing::{answer, plain_model, request, user},
    };

    fn refused(text: &str) -> Failure {
        Failure::new(FailureClass::InvalidRequest, format!("400: {text}")).with_status(400)
    }

    /// A request of a model after an answer of `made_by`.
    fn asked(id: &str, made_by: &str) -> Request {
        let mut model = plain_model("google-generative-ai");
        model.id = id.into();
        let signature = Some("abcd".to_owned());
        let content = vec![
            Block::Thinking(ThinkingBlock {
                thinking: "t".into(),
                thinking_signature: signature.clone(),
                redacted: None,
            }),
            Block::Text(TextBlock { text: "x".into(), text_signature: signature.clone() }),
            Block::ToolCall(ToolCall {
                id: "1".into(),
                name: "ls".into(),
                thought_signature: signature,
                ..ToolCall::default()
            }),
        ];
        let made = AssistantMessage { model: made_by.into(), api: model.api.clone(), ..answer(content) };
        request(model, vec![user("q"), Message::Assistant(Arc::new(made))])
    }

    fn signature(block: &Block) -> &str {
        let signature = match block {
            Block::Text(block) => &block.text_signature,
            Block::Thinking(block) => &block.thinking_signature,
            Block::ToolCall(call) => &call.thought_signature,
            other => panic!("{other:?}"),
        };
        signature.as_deref().unwrap_or("-")
    }

    /// The signatures of the answer, `-` for none, and whether it passes for the model's own.
    fn signatures(request: &Request) -> (Vec<&str>, bool) {
        let Message::Assistant(answer) = &request.messages[1] else { panic!() };
        (answer.content.iter().map(signature).collect(), answer.model == request.model.id)
    }

    #[test]
    fn signatures_go_and_calls_of_models_that_insist_get_the_unchecked_one() {
        let table = [
            ("gemini-3-pro", "gemini-3-pro", vec!["-", "-", UNCHECKED], true),
            ("gemini-3-pro", "other", vec!["-", UNCHECKED], true),
            ("gemini-2.5-pro", "gemini-2.5-pro", vec!["-", "-", "-"], true),
            ("gemini-2.5-pro", "other", vec!["-", "-", "-"], false),
        ];
        let texts =
            ["Corrupted thought signature.", "Invalid Thought Signature", "call is missing a thought_signature in"];
        for (id, made_by, expected, own) in table {
            let request = asked(id, made_by);
            for text in texts {
                let second = amend(&request, &refused(text)).unwrap();
                assert_eq!(signatures(&second), (expected.clone(), own), "{id} {made_by}");
                assert!(amend(&second, &refused(text)).is_none(), "nothing is left to change");
            }
        }
    }

    #[test]
    fn other_refusals_are_left_alone() {
        let request = asked("gemini-3-pro", "gemini-3-pro");
        assert!(amend(&request, &refused("Invalid argument")).is_none());
        assert!(amend(&request, &Failure::new(FailureClass::ServerError, "thought signature")).is_none());
    }
}
