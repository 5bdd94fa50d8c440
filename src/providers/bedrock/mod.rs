//! `bedrock-converse-stream`: Amazon Bedrock's Converse API, many vendors' models in one wire.
//!
//! - `family`: what a model is, by its id and name
//! - `endpoint`: region and address
//! - `body`, `messages`, `wire`, `thinking`: the request
//! - [`decoder`], `events`: the answer; its frames are read by [`event_stream`](super::aws::event_stream)
//!
//! Claude's thinking, strict tools and second wordings are those of [`anthropic`].
//!
//! HTTP/1.1 need not be forced: the client offers both versions and the server chooses.

mod body;
pub mod decoder;
mod endpoint;
mod events;
mod family;
mod messages;
mod thinking;
mod wire;

use self::decoder::Decoder;
use super::{
    Request, anthropic,
    wire_api::{BodyDecoder, Outgoing, WireApi},
};
use crate::protocol::{Failure, time::now_ms};

/// The Converse API.
#[derive(Clone, Copy, Debug)]
pub struct Bedrock;

impl WireApi for Bedrock {
    fn name(&self) -> &'static str {
        "bedrock-converse-stream"
    }

    fn request(&self, request: &Request) -> Result<Outgoing, Failure> {
        body::write(request, now_ms())
    }

    /// Only Claude refuses for what can be left out, in the words that its own API has.
    fn amend(&self, request: &Request, failure: &Failure) -> Option<Request> {
        anthropic::amend::amend(request, failure)
    }

    fn decoder(&self, request: &Request) -> Box<dyn BodyDecoder> {
        Box::new(Decoder::new(&request.model.provider))
    }
}
