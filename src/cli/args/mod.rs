//! The flags of the command line, in three steps.
//!
//! `words` sorts the words by the product's own rules (multi-letter short forms, `@files`, flags of extensions), clap
//! turns the known flags into [`LowArgs`], which says what was typed, and [`HiArgs`] says what it means: conflicts are
//! refused, paths are absolute, and each question ("which session?", "which front end?") has one answer.

mod cassette;
mod error;
mod flags;
mod high;
mod permissions;
mod plan;
mod sandbox;
mod session;
mod words;

use clap::Parser;

pub use cassette::{CassetteChoice, ReplaySpeed};
pub use error::ArgError;
pub use flags::{
    ApiKey, DiagnosisFlags, LowArgs, ModelFlags, OutputFlags, PromptFlags, ResourceFlags, SandboxFlags, SessionFlags,
    ToolFlags, TrustFlags,
};
pub use high::{Discovery, ExtensionSource, HiArgs, Launch, ModelChoice, Resources, Task, ToolRequest};
pub use permissions::{ModeName, OnDenied, PermissionArgs, PermissionChoice};
pub use plan::Plan;
pub use sandbox::SandboxRequest;
pub use session::{SessionChoice, SessionTarget};
pub use words::{ExtensionFlag, FlagValue, MULTI_LETTER};

/// Words of a command line that are no known flags.
#[derive(Debug)]
pub struct Rest {
    /// Messages, in order.
    pub messages: Vec<String>,
    /// `@file` arguments without the `@`, in order.
    pub files: Vec<String>,
    /// Flags that only an extension may know.
    pub extension_flags: Vec<ExtensionFlag>,
}

/// Reads the words after the program's name.
///
/// # Errors
/// Everything that is wrong with them, in the order in which it was found.
pub fn parse(argv: &[String]) -> Result<LowArgs, Vec<ArgError>> {
    let (flags, Rest { messages, files, extension_flags }) = parse_as::<LowArgs>(argv)?;
    Ok(LowArgs { messages, files, extension_flags, ..flags })
}

/// The same for a table of flags of a command's own.
///
/// # Errors
/// See [`parse`].
pub fn parse_as<T: Parser>(argv: &[String]) -> Result<(T, Rest), Vec<ArgError>> {
    let mut command = T::command();
    let words = words::sort(argv, &command);
    let mut errors = words.errors;
    let parsed = command
        .try_get_matches_from_mut(words.options)
        .and_then(|mut matches| T::from_arg_matches_mut(&mut matches))
        .map_err(|error| ArgError::from_clap(&error));
    match parsed {
        Ok(flags) if errors.is_empty() => {
            let (messages, files, extension_flags) = (words.messages, words.files, words.extension_flags);
            Ok((flags, Rest { messages, files, extension_flags }))
        }
        Ok(_) => Err(errors),
        Err(error) => {
            errors.push(error);
            Err(errors)
        }
    }
}

#[cfg(test)]
mod tests;
