//! What a model may set for Mistral's API.

use serde::Deserialize;

use crate::{protocol::Model, providers::compat::read};

/// The switches of one model; names and values are those of pi's `models.json`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Compat {
    /// Later system messages stay in place; otherwise they are folded into the leading prompt.
    pub supports_mid_convo_system_messages: bool,
    /// Tools are declared strict where they would like it (true) or never (false). Unset, only tools that require it
    /// are: a large model can be silent for minutes before a strict call.
    pub supports_strict_mode: Option<bool>,
}

impl Compat {
    /// The switches of a model. A setting that cannot be read counts as not made.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        read(model.compat.as_ref())
    }
}
