//! Troupe with an extension that intervenes: shell commands that delete recursively are denied, and the model is told.
//!
//! ```text
//! cargo run --example guard -- --model troupe/offline -p "what files are here?"
//! ```
//!
//! A guard fails closed: when it panics, hangs beyond its deadline or is being restarted, the call is denied.

use std::{process::ExitCode, sync::Arc};

use troupe::{
    cli,
    extensions::{AgentHandle, Extension, ExtensionRegistry, contract::Answer},
    protocol::ask::{AskPoint, ToolCallAsk, ToolCallVerdict},
};

/// Denies `rm -r` in all its spellings that a look at the words can find. An example, not a sandbox.
struct NoRecursiveDelete;

impl Extension for NoRecursiveDelete {
    fn name(&self) -> &str {
        "no-recursive-delete"
    }

    fn points(&self) -> &[AskPoint] {
        &[AskPoint::ToolCall]
    }

    fn tool_call<'a>(&'a self, ask: ToolCallAsk, _: AgentHandle) -> Answer<'a, ToolCallVerdict> {
        Box::pin(async move {
            let command = ask.input.get("command").and_then(|command| command.as_str()).unwrap_or_default();
            if ask.tool_name == "bash" && deletes_recursively(command) {
                let reason = "Recursive deletion is not allowed here. Delete single files, or ask the user.";
                return Ok(ToolCallVerdict::Deny { reason: reason.to_owned(), terminate: false });
            }
            Ok(ToolCallVerdict::Allow { input: None })
        })
    }
}

fn deletes_recursively(command: &str) -> bool {
    let mut words = command.split(|c: char| c.is_whitespace() || ";&|()`".contains(c)).filter(|word| !word.is_empty());
    let mut in_rm = false;
    words.any(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        if name == "rm" {
            in_rm = true;
            return false;
        }
        let flag =
            word == "--recursive" || (word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']));
        in_rm && flag
    })
}

fn main() -> ExitCode {
    let mut extensions = ExtensionRegistry::default();
    if let Err(error) = extensions.register(Arc::new(NoRecursiveDelete)) {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    cli::run::main_with(extensions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursive_deletion_is_found_in_its_usual_spellings() {
        for (command, found) in [
            ("rm -rf build", true),
            ("cd x && /bin/rm -f -R y", true),
            ("rm --recursive a", true),
            ("rm a; ls -r", true),
            ("rm a", false),
            ("ls -r", false),
            ("grep -r rm .", false),
        ] {
            assert_eq!(deletes_recursively(command), found, "{command}");
        }
    }
}
