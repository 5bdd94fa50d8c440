//! The second wording of a request whose reasoning the API refused.

use std::sync::Arc;

use crate::{
    protocol::{Failure, Message},
    providers::Request,
};

/// Reasoning without the item that it was made with or the other way round, of another account, or forgotten.
const REFUSED: [&str; 5] = [
    "without its required following item",
    "required 'reasoning' item",
    "invalid_encrypted_content",
    "encrypted content could not be",
    "Items are not persisted when `store` is set to false",
];

/// The request with the model's earlier answers as another model's: without reasoning and ids, which the API then does
/// not check. `None` when the refusal was about something else, or there is no such answer.
pub(super) fn amend(request: &Request, failure: &Failure) -> Option<Request> {
    let is_refused =
        matches!(failure.status, Some(400 | 404)) && REFUSED.iter().any(|text| failure.message.contains(text));
    if !is_refused {
        return None;
    }
    let is_own = |message: &Message| matches!(message, Message::Assistant(answer) if answer.model == request.model.id);
    if !request.messages.iter().any(is_own) {
        return None;
    }
    let messages = request.messages.iter().map(|message| match message {
        Message::Assistant(answer) if is_own(message) => {
            let mut answer = (**answer).clone();
            answer.model.push_str(" before");
            Message::Assistant(Arc::new(answer))
        }
        other => other.clone(),
    });
    Some(Request { messages: messages.collect(), ..request.clone() })
}
