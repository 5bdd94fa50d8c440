//! What a provider refused once in a session, so that it is not sent again with every request.
//!
//! Old reasoning that no longer fits its seal, or tools that are together too strict, would be refused each time: each
//! request would be sent twice, and the prompt cache would lose what changes back. So the refusal is remembered, and the
//! messages that were refused are written in the other wording from the beginning; later ones are as they are.

use std::sync::{Mutex, PoisonError};

use super::{Request, wire_api::WireApi};
use crate::protocol::Failure;

/// Sessions that are remembered at most; the one that was refused longest ago is forgotten.
const LIMIT: usize = 64;

/// A refusal that another wording made good.
struct Refused {
    session: String,
    model: String,
    /// As many messages were in the refused request.
    messages: usize,
    failure: Failure,
}

static REFUSED: Mutex<Vec<Refused>> = Mutex::new(Vec::new());

/// Remembers that the other wording of `request` was taken. Requests without a session are not remembered.
pub(crate) fn remember(request: &Request, failure: &Failure) {
    let Some(session) = request.session_id.clone() else { return };
    let model = request.model.reference().to_string();
    let mut all = REFUSED.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|known| known.session != session || known.model != model || known.failure.message != failure.message);
    if all.len() >= LIMIT {
        all.remove(0);
    }
    all.push(Refused { session, model, messages: request.messages.len(), failure: failure.clone() });
}

/// The request without what the provider refused in this session before; `None` when nothing was.
pub(crate) fn apply(api: &dyn WireApi, request: &Request) -> Option<Request> {
    let session = request.session_id.as_deref()?;
    let mut amended: Option<Request> = None;
    for (messages, failure) in refused(session, request) {
        let current = amended.as_ref().unwrap_or(request);
        let count = messages.min(current.messages.len());
        let head = Request { messages: current.messages[..count].to_vec(), ..current.clone() };
        if let Some(mut other) = api.amend(&head, &failure) {
            other.messages.extend_from_slice(&current.messages[count..]);
            amended = Some(other);
        }
    }
    amended
}

/// What was refused of this model in a session: how many messages, and why.
fn refused(session: &str, request: &Request) -> Vec<(usize, Failure)> {
    let all = REFUSED.lock().unwrap_or_else(PoisonError::into_inner);
    let of_session = all.iter().filter(|known| known.session == session);
    let of_model = of_session.filter(|known| known.model == request.model.reference().to_string());
    of_model.map(|known| (known.messages, known.failure.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        protocol::{Block, FailureClass, Message, ThinkingBlock},
        providers::{
            anthropic::Anthropic,
            testing::{assistant, plain_model, request, user},
        },
    };

    fn thought() -> Message {
        let block = ThinkingBlock { thinking_signature: Some("sig".into()), ..ThinkingBlock::default() };
        assistant(vec![Block::Thinking(block), Block::text("said")])
    }

    /// Which answers still have their reasoning.
    fn thoughtful(request: &Request) -> Vec<bool> {
        let answers = request.messages.iter().filter_map(|message| match message {
            Message::Assistant(answer) => Some(matches!(answer.content[0], Block::Thinking(_))),
            _ => None,
        });
        answers.collect()
    }

    #[test]
    fn what_was_refused_is_left_out_from_then_on_and_what_came_later_is_not() {
        let mut asked = request(plain_model("anthropic-messages"), vec![user("a"), thought(), user("b")]);
        let failure = Failure::new(FailureClass::InvalidRequest, "400: Invalid `signature` in `thinking` block");
        let failure = failure.with_status(400);
        asked.session_id = Some("amendments-1".into());
        assert!(apply(&Anthropic, &asked).is_none());
        remember(&asked, &failure);
        assert_eq!(thoughtful(&apply(&Anthropic, &asked).unwrap()), [false]);
        asked.messages.extend([thought(), user("c")]);
        assert_eq!(thoughtful(&apply(&Anthropic, &asked).unwrap()), [false, true]);

        let elsewhere = Request { session_id: Some("amendments-2".into()), ..asked.clone() };
        assert!(apply(&Anthropic, &elsewhere).is_none(), "another session");
        let mut model = plain_model("anthropic-messages");
        model.id = "other".into();
        let other = Request { model: std::sync::Arc::new(model), ..asked.clone() };
        assert!(apply(&Anthropic, &other).is_none(), "another model");
        remember(&Request { session_id: None, ..asked.clone() }, &failure);
        assert!(apply(&Anthropic, &Request { session_id: None, ..asked }).is_none(), "no session");
    }
}
