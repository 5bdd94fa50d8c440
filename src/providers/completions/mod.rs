//! `openai-completions`: the Chat Completions API and its many relatives.
//!
//! - [`compat`]: how hosts differ
//! - `body`, `messages`, `wire`, `thinking`: the request
//! - [`decoder`], `calls`, `ends`, `usage`, `details`: the answer

mod body;
pub(super) mod calls;
pub mod compat;
pub mod decoder;
mod details;
pub(super) mod ends;
pub(super) mod messages;
mod thinking;
mod usage;
pub(super) mod wire;

use std::collections::HashMap;

use self::{compat::Compat, decoder::Decoder};
use super::{
    Request,
    wire_api::{BodyDecoder, Outgoing, SseBody, WireApi},
};
use crate::protocol::Failure;

/// The Chat Completions API.
#[derive(Clone, Copy, Debug)]
pub struct Completions;

impl WireApi for Completions {
    fn name(&self) -> &'static str {
        "openai-completions"
    }

    fn request(&self, request: &Request) -> Result<Outgoing, Failure> {
        body::write(request)
    }

    fn decoder(&self, request: &Request) -> Box<dyn BodyDecoder> {
        let compat = Compat::of(&request.model);
        let free_text = if compat.grammar_tools { body::free_text(request, &compat) } else { HashMap::new() };
        let decoder = Decoder::new(&request.model.provider, compat.finish_reason, free_text);
        Box::new(SseBody::new(decoder, request))
    }
}
