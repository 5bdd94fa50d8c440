//! The second wording of a request whose reasoning the API refused.

use std::sync::Arc;

use crate::{
    protocol::{Failure, Message},
    providers::Request,
};

/// Makes the id of a model that of another one.
const ANOTHER: &str = " before";
/// In lower case: reasoning without the item that it was made with or the other way round, of another account, or forgotten.
const REFUSED: [&str; 5] = [
    "without its required following item",
    "required 'reasoning' item",
    "invalid_encrypted_content",
    "encrypted content could not be",
    "items are not persisted when `store` is set to false",
];

/// The request with the model's earlier answers as another model's: without reasoning and ids, which the API then does
/// not check. `None` when the refusal was about something else, or there is no such answer.
pub(super) fn amend(request: &Request, failure: &Failure) -> Option<Request> {
    let text = failure.message.to_lowercase();
    if !matches!(failure.status, Some(400 | 404)) || !REFUSED.iter().any(|refused| text.contains(refused)) {
        return None;
    }
    request.with_messages(|message| match message {
        Message::Assistant(answer) if answer.model == request.model.id => {
            let mut answer = (**answer).clone();
            answer.model.push_str(ANOTHER);
            Some(Message::Assistant(Arc::new(answer)))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        protocol::{Block, FailureClass},
        providers::testing::{assistant, plain_model, request, user},
    };

    #[test]
    fn refused_reasoning_is_left_out_once() {
        let conversation = vec![user("x"), assistant(vec![Block::text("t")]), user("y")];
        let request = request(plain_model("openai-responses"), conversation);
        let refused = |status, text: &str| Failure::new(FailureClass::InvalidRequest, text).with_status(status);
        let texts = [
            "400: {\"error\":{\"message\":\"Item 'rs_1' of type 'reasoning' was provided without its required following item.\"}}",
            "400: Item 'fc_1' was provided without its required 'reasoning' item: 'rs_1'.",
            "400: {\"error\":{\"code\":\"invalid_encrypted_content\"}}",
            "400: Encrypted content could not be decrypted or parsed.",
        ];
        for text in texts {
            let second = amend(&request, &refused(400, text)).unwrap();
            let Message::Assistant(answer) = &second.messages[1] else { panic!("{:?}", second.messages) };
            assert_ne!(answer.model, request.model.id, "{text}");
            assert_eq!((&second.messages[0], &second.messages[2]), (&request.messages[0], &request.messages[2]));
            assert!(amend(&second, &refused(400, text)).is_none(), "nothing is left to leave out");
        }
        assert!(amend(&request, &refused(404, "Items are not persisted when `store` is set to false.")).is_some());
        assert!(amend(&request, &refused(400, "something else")).is_none());
        assert!(amend(&request, &refused(500, texts[0])).is_none());
    }
}
