//! `google-generative-ai` and `google-vertex`: Gemini's API, at Google AI Studio and at Vertex AI.
//!
//! Both take the same body and send the same events; they differ in where requests go and what lets them in.
//!
//! - `family`: how generations of models differ
//! - `body`, `contents`, `wire`, `schema`, `thinking`, `signature`: the request; `amend`: its second wording
//! - `endpoint`: URL and headers
//! - [`decoder`], `usage`: the answer
//! - [`adc`]: Google's application default credentials

pub(crate) mod adc;
mod amend;
mod body;
mod contents;
pub mod decoder;
mod endpoint;
mod family;
mod schema;
mod signature;
mod thinking;
mod usage;
mod wire;

use self::decoder::Decoder;
use super::{
    Request,
    wire_api::{BodyDecoder, Outgoing, SseBody, WireApi},
};
use crate::protocol::Failure;

/// Gemini's API at one of its two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Google {
    /// Google AI Studio: a key alone lets requests in.
    Studio,
    /// Vertex AI: a key, or a token for a project and a location.
    Vertex,
}

impl WireApi for Google {
    fn name(&self) -> &'static str {
        match self {
            Self::Studio => "google-generative-ai",
            Self::Vertex => "google-vertex",
        }
    }

    fn request(&self, request: &Request) -> Result<Outgoing, Failure> {
        Ok(Outgoing {
            url: match self {
                Self::Studio => endpoint::studio_url(&request.model),
                Self::Vertex => endpoint::vertex_url(request)?,
            },
            headers: endpoint::headers(request)?,
            body: body::write(request)?,
        })
    }

    fn amend(&self, request: &Request, failure: &Failure) -> Option<Request> {
        amend::amend(request, failure)
    }

    fn decoder(&self, request: &Request) -> Box<dyn BodyDecoder> {
        Box::new(SseBody::new(Decoder::new(&request.model.provider), request))
    }
}
