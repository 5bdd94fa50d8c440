//! What can be wrong with a command line.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// A fault of the command line; printed behind `Error: `, exit code 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgError {
    /// Flags that neither the program nor an extension knows.
    #[error(
        "Unknown option{}: {}{}",
        if .names.len() > 1 { "s" } else { "" }, .names.join(", "), hint(.similar.as_deref())
    )]
    UnknownOption {
        /// The flags as they were typed, without values.
        names: Vec<String>,
        /// A flag whose name is close to the first one.
        similar: Option<String>,
    },
    /// A flag came last, without the value that it needs.
    #[error("{flag} requires {needs}")]
    MissingValue {
        /// The flag as it was typed.
        flag: String,
        /// What it needs.
        needs: String,
    },
    /// A switch was given a value with `=`.
    #[error("{0} takes no value")]
    UnexpectedValue(String),
    /// A value outside the list of allowed ones.
    #[error("Invalid value \"{value}\" for {flag}. Valid values: {valid}")]
    InvalidValue {
        /// The flag.
        flag: String,
        /// The value.
        value: String,
        /// The allowed ones.
        valid: String,
    },
    /// A value that the flag refuses, with the reason.
    #[error("{flag}: {reason}")]
    RefusedValue {
        /// The flag.
        flag: String,
        /// Why.
        reason: String,
    },
    /// Two flags that contradict each other.
    #[error("{0} cannot be combined with {1}")]
    Conflict(&'static str, &'static str),
    /// A flag that means nothing without another.
    #[error("{0} requires {1}")]
    Lonely(&'static str, &'static str),
    /// `--provider` alone.
    #[error("--provider requires --model (for example: --provider {0} --model <pattern>)")]
    ProviderWithoutModel(String),
    /// `@file` in RPC mode, where prompts come as commands.
    #[error("@file arguments are not supported in RPC mode; send the file's content in a prompt command")]
    FilesInRpc,
    /// Anything else that clap found.
    #[error("{0}")]
    Other(String),
}

fn hint(similar: Option<&str>) -> String {
    similar.map(|name| format!("\nDid you mean {name}?")).unwrap_or_default()
}

impl ArgError {
    pub(super) fn unknown(name: &str) -> Self {
        Self::UnknownOption { names: vec![name.to_owned()], similar: None }
    }

    /// clap's report in the product's words; one line, without usage.
    pub(super) fn from_clap(error: &clap::Error) -> Self {
        let context = |kind| match error.get(kind) {
            // clap names the value too: `--mode <MODE>`.
            Some(ContextValue::String(text)) => text.split(' ').next().map(str::to_owned),
            Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
            _ => None,
        };
        let value = match error.get(ContextKind::InvalidValue) {
            Some(ContextValue::String(text)) => text.clone(),
            _ => String::new(),
        };
        let reason = std::error::Error::source(error).map(ToString::to_string);
        match (error.kind(), context(ContextKind::InvalidArg), context(ContextKind::ValidValue), reason) {
            (ErrorKind::InvalidValue, Some(flag), Some(valid), _) => Self::InvalidValue { flag, value, valid },
            (ErrorKind::ValueValidation, Some(flag), _, Some(reason)) => Self::RefusedValue { flag, reason },
            _ => Self::Other(error.kind().to_string()),
        }
    }
}
