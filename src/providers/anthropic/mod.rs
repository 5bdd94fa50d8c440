//! `anthropic-messages`: Anthropic's Messages API and the hosts that speak it.
//!
//! - [`compat`]: how hosts differ
//! - `body`, `messages`, `strict`, `wire`, `thinking`: the request; `amend`: its second wording
//! - [`decoder`], `usage`: the answer
//!
//! Amazon Bedrock wraps the same models in another wire: it shares how they think, what their strict tools take and
//! how a refused request is amended.

pub(crate) mod amend;
mod body;
pub mod compat;
pub mod decoder;
mod messages;
pub(crate) mod strict;
pub(crate) mod thinking;
mod usage;
mod wire;

use self::{compat::Compat, decoder::Decoder};
use super::{
    Request,
    wire_api::{BodyDecoder, Outgoing, SseBody, WireApi},
};
use crate::protocol::Failure;

/// The Messages API.
#[derive(Clone, Copy, Debug)]
pub struct Anthropic;

impl WireApi for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic-messages"
    }

    fn request(&self, request: &Request) -> Result<Outgoing, Failure> {
        body::write(request)
    }

    fn amend(&self, request: &Request, failure: &Failure) -> Option<Request> {
        amend::amend(request, failure)
    }

    fn decoder(&self, request: &Request) -> Box<dyn BodyDecoder> {
        let compat = Compat::of(&request.model);
        let effort = if compat.managed_effort { body::managed_effort(request, &compat) } else { None };
        Box::new(SseBody::new(Decoder::new(&request.model.provider, effort), request))
    }
}
