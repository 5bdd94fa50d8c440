//! Sessions that go elsewhere, and that come from there.

use std::path::Path;

use super::SlashCommand;
use crate::{
    protocol::event::NoticeLevel,
    tui::{effect::Effect, model::Model, overlay::confirm::Confirm, work::Work},
};

/// See the module.
pub(super) const COMMANDS: &[SlashCommand] = &[
    SlashCommand {
        name: "export",
        argument: "[path.html|.jsonl]",
        description: "Write the session as a page, or its branch as a session file",
        run: export,
    },
    SlashCommand {
        name: "import",
        argument: "<path>",
        description: "Go on with a copy of a session file",
        run: import,
    },
    SlashCommand { name: "share", argument: "", description: "Share the session as a secret gist", run: share },
];

fn export(model: &mut Model, argument: &str) -> Vec<Effect> {
    let path = unquoted(argument);
    let ending = Path::new(path).extension().map(|ending| ending.to_ascii_lowercase());
    let known = ending.as_ref().is_some_and(|ending| *ending == "html" || *ending == "htm" || *ending == "jsonl");
    if !path.is_empty() && !known {
        let text = format!("/export {path}: expected a name that ends in .html or .jsonl");
        model.transcript.notice(NoticeLevel::Error, text);
        return Vec::new();
    }
    vec![Effect::Work(Work::Export((!path.is_empty()).then(|| path.to_owned())))]
}

fn import(model: &mut Model, argument: &str) -> Vec<Effect> {
    let path = unquoted(argument);
    if path.is_empty() {
        model.transcript.notice(NoticeLevel::Error, "/import needs a path: that of a session file (.jsonl)");
        return Vec::new();
    }
    if model.is_busy() {
        let text = "Wait until the agent is idle, or press escape, before /import.";
        model.transcript.notice(NoticeLevel::Warning, text);
        return Vec::new();
    }
    vec![Effect::Work(Work::Import(path.to_owned()))]
}

fn share(model: &mut Model, _: &str) -> Vec<Effect> {
    let empty = model.facts.tree.as_ref().is_none_or(crate::store::tree::TreeView::is_empty);
    if empty {
        model.transcript.notice(NoticeLevel::Warning, "There is nothing to share yet.");
        return Vec::new();
    }
    let text = "The whole session, with all that tools printed, goes to GitHub as a secret gist of yours. Everybody who \
                has its address can read it. Look for keys and private texts first: /export makes the same page on this \
                machine.";
    let ask = Confirm::new("Share the session?", text, "share it", vec![Effect::Work(Work::Share)]);
    model.overlays.push(Box::new(ask));
    Vec::new()
}

/// A path without quotes around it.
fn unquoted(path: &str) -> &str {
    let inner = |quote: char| path.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_around_a_path_are_no_part_of_it() {
        for (text, expected) in [
            ("a b.html", "a b.html"),
            ("\"a b.html\"", "a b.html"),
            ("'a b.html'", "a b.html"),
            ("\"a", "\"a"),
            ("\"", "\""),
            ("", ""),
        ] {
            assert_eq!(unquoted(text), expected);
        }
    }
}
