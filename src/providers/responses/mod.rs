//! `openai-responses` and its two variants: Azure OpenAI, and the backend of ChatGPT plans.
//!
//! - `dialect`: where the variants differ; `codex`: what only the plans' backend needs
//! - [`compat`]: how hosts differ
//! - `body`, `messages`, `wire`: the request; `amend`: its second wording
//! - [`decoder`], `events`, `items`, `usage`: the answer
//! - `replay`: what a session keeps of the API's items
//!
//! The conversation is never kept by the server: every request holds all of it, and reasoning goes back encrypted.

mod amend;
mod body;
mod codex;
pub mod compat;
pub mod decoder;
mod dialect;
mod events;
mod items;
mod messages;
mod replay;
mod usage;
mod wire;

use serde_json::Value;

use self::{compat::Compat, decoder::Decoder, dialect::Dialect};
use super::{
    Request,
    sampling::sampling_param,
    wire_api::{BodyDecoder, Outgoing, SseBody, WireApi},
};
use crate::protocol::Failure;

/// OpenAI's Responses API and the hosts that speak it.
pub const OPENAI: Responses = Responses(Dialect::OpenAi);
/// The same at Azure, where models are deployments.
pub const AZURE: Responses = Responses(Dialect::Azure);
/// The same at the backend of ChatGPT plans.
pub const CODEX: Responses = Responses(Dialect::Codex);

/// The Responses API in one of its dialects.
#[derive(Clone, Copy, Debug)]
pub struct Responses(Dialect);

impl WireApi for Responses {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn request(&self, request: &Request) -> Result<Outgoing, Failure> {
        body::write(request, self.0)
    }

    fn amend(&self, request: &Request, failure: &Failure) -> Option<Request> {
        amend::amend(request, failure)
    }

    fn decoder(&self, request: &Request) -> Box<dyn BodyDecoder> {
        let compat = Compat::of(&request.model, self.0);
        let tier = sampling_param(request, "service_tier").filter(|_| self.0.takes_sampling());
        let decoder = Decoder::new(
            &request.model,
            &self.0.model_name(request),
            tier.and_then(Value::as_str),
            body::free_text(request, &compat),
        );
        Box::new(SseBody::new(decoder, request))
    }
}
