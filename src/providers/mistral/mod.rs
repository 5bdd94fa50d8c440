//! `mistral-conversations`: Mistral's chat completions endpoint.
//!
//! A relative of [`completions`](super::completions) that refuses every field it does not know, and whose answers are
//! lists of pieces.
//!
//! - [`compat`]: what a model may set
//! - `body`, `messages`, `wire`: the request
//! - [`decoder`], `usage`: the answer

mod body;
pub mod compat;
pub mod decoder;
mod messages;
mod usage;
mod wire;

use self::decoder::Decoder;
use super::{
    Request,
    wire_api::{BodyDecoder, Outgoing, SseBody, WireApi},
};
use crate::protocol::Failure;

/// Mistral's API.
#[derive(Clone, Copy, Debug)]
pub struct Mistral;

impl WireApi for Mistral {
    fn name(&self) -> &'static str {
        "mistral-conversations"
    }

    fn request(&self, request: &Request) -> Result<Outgoing, Failure> {
        body::write(request)
    }

    fn decoder(&self, request: &Request) -> Box<dyn BodyDecoder> {
        Box::new(SseBody::new(Decoder::new(&request.model.provider), request))
    }
}
