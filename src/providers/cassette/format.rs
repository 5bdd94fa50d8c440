//! The lines of a cassette. `docs/cassettes.md` describes them for people.
//!
//! One JSON object a line, each written whole and at once, so that whatever ends the process leaves everything up to the
//! last line readable. The records of one exchange share its number; those of parallel exchanges may alternate.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::protocol::{Failure, Model, ThinkingLevel};

/// The version of the format that this program writes, and the newest that it reads.
pub const VERSION: u32 = 1;

/// A line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Record {
    /// The first line.
    Cassette(Header),
    /// A model that exchanges after this line are with.
    Model { model: Box<Model> },
    /// An exchange begins.
    Request(Box<Asked>),
    /// The head of its answer.
    Response(Answered),
    /// What one read of the body brought.
    Chunk(Chunk),
    /// The exchange is over.
    End(End),
    /// A kind of line that a later version of the same format adds.
    #[serde(other)]
    Unknown,
}

/// What a cassette says about itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Header {
    /// Of the format.
    pub version: u32,
    /// Who wrote it.
    pub program: String,
    /// When, in ISO-8601.
    pub created: String,
    /// Folders by their role, such as `cwd`: they differ on the machine that replays.
    #[serde(default)]
    pub places: BTreeMap<String, String>,
}

/// How a request proved who asks. The proof itself is not kept; how a request is written may depend on its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Access {
    /// Not at all.
    #[default]
    None,
    /// With a key that begins as OpenAI's own do.
    Key,
    /// With another key.
    Token,
    /// With a signed token that tells who its owner is.
    Jwt,
    /// With a signature of Amazon's kind.
    Aws,
}

/// A request as it went out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Asked {
    /// The number of the exchange, from 1.
    pub exchange: u64,
    /// When, in ISO-8601.
    pub at: String,
    /// The session that asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub api: String,
    pub provider: String,
    pub model: String,
    pub thinking: ThinkingLevel,
    #[serde(default)]
    pub access: Access,
    /// Variables that say where the request goes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    pub method: String,
    pub url: String,
    pub headers: Map<String, Value>,
    /// The body; a text when it is no JSON.
    pub body: Value,
}

/// The head of an answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Answered {
    pub exchange: u64,
    /// Milliseconds since the request.
    pub ms: u64,
    pub status: u16,
    pub headers: Map<String, Value>,
}

/// A piece of a body: text, or base64 where it is no UTF-8.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Chunk {
    pub exchange: u64,
    /// Milliseconds since the request.
    pub ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

/// The end of an exchange.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct End {
    pub exchange: u64,
    /// Milliseconds since the request.
    pub ms: u64,
    /// What went wrong with the transport; nothing when all was read that was wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Failure>,
}
