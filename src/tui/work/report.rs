//! Reports for whoever mends a fault. No key, no text of a session, and no value of a setting is in them.

use std::{fmt::Write as _, fs::OpenOptions, io::Write as _, os::unix::fs::OpenOptionsExt as _, path::Path};

use serde_json::Value;

use crate::{
    protocol::{
        event::NoticeLevel,
        time::{iso, now_ms},
    },
    tui::{work::WorkDone, working::WorkContext},
};

/// Variables that say what the terminal is; none of them is a secret.
const TERMINAL: [&str; 9] =
    ["TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "LANG", "LC_ALL", "TMUX", "STY", "SSH_CONNECTION"];
/// Of these only whether they are set matters: their values name machines.
const SET_OR_NOT: [&str; 3] = ["TMUX", "STY", "SSH_CONNECTION"];
/// Characters of each problem that are kept.
const MAX_PROBLEM: usize = 500;

/// What the screen knows of a fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What the user says.
    pub description: String,
    /// Columns and rows.
    pub size: (u16, u16),
    /// What the terminal said of itself.
    pub reports: Vec<String>,
    /// The model.
    pub model: Option<String>,
    /// The settings; their values are left out.
    pub settings: Value,
    /// Warnings and errors that were shown, the last one last.
    pub notices: Vec<String>,
}

/// Writes a report into the user's folder and says where it goes.
pub(super) fn write(context: &WorkContext, report: &Report) {
    let name = format!("bug-report-{}.md", iso(now_ms()).replace([':', '.'], "-"));
    let path = context.surroundings.user_dir.join(name);
    let variable = |name: &str| std::env::var(name).ok();
    let text = report.text(context.surroundings.version, &variable);
    context.send(match private_file(&path, &text) {
        Ok(()) => WorkDone::Told(
            NoticeLevel::Info,
            format!(
                "The report is in {}. No key, no text of the session and no value of a setting is in it; read it, add \
                 what you did and what you expected, and send it to where you got Troupe from.",
                path.display()
            ),
        ),
        Err(error) => WorkDone::Told(NoticeLevel::Error, format!("{}: {error}", path.display())),
    });
}

/// Appends what is drawn and what the model is sent to `troupe-debug.log`.
pub(super) fn debug(context: &WorkContext, drawn: &str) {
    let path = context.surroundings.user_dir.join("troupe-debug.log");
    let mut text = format!("--- {} ---\n{drawn}\n", iso(now_ms()));
    if let Some(tree) = context.shared.tree() {
        for message in tree.context().messages {
            let line = serde_json::to_string(&message).unwrap_or_else(|error| error.to_string());
            text.push_str(&line);
            text.push('\n');
        }
    }
    context.send(match private_file(&path, &text) {
        Ok(()) => WorkDone::Told(NoticeLevel::Info, format!("Written to {}", path.display())),
        Err(error) => WorkDone::Told(NoticeLevel::Error, format!("{}: {error}", path.display())),
    });
}

fn private_file(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

impl Report {
    fn text(&self, version: &str, variable: &dyn Fn(&str) -> Option<String>) -> String {
        let mut text = String::from("# A fault in Troupe\n\n");
        let description = if self.description.is_empty() { "(what happened?)" } else { &self.description };
        let mut line = |line: String| {
            // Writing into a text cannot fail.
            let _ = writeln!(text, "{line}");
        };
        line(format!("{description}\n"));
        line(format!("- version: {version}"));
        line(format!("- system: {} {}", std::env::consts::OS, std::env::consts::ARCH));
        line(format!("- size: {}x{}", self.size.0, self.size.1));
        line(format!("- model: {}", self.model.as_deref().unwrap_or("none")));
        for name in TERMINAL {
            let Some(value) = variable(name) else { continue };
            let value = if SET_OR_NOT.contains(&name) { "set" } else { &value };
            line(format!("- {name}: {value}"));
        }
        self.reports.iter().for_each(|report| line(format!("- terminal: {report}")));
        let mut keys = Vec::new();
        keys_of(&self.settings, "", &mut keys);
        line(format!("- settings that are set: {}", if keys.is_empty() { "none".to_owned() } else { keys.join(", ") }));
        line("\n## What was shown last\n".to_owned());
        if self.notices.is_empty() {
            line("No warning and no error.".to_owned());
        }
        for problem in &self.notices {
            line(format!("- {}", redacted(problem)));
        }
        text
    }
}

/// The names of settings, without what users call their own things: keys of objects below the first two levels.
fn keys_of(value: &Value, path: &str, keys: &mut Vec<String>) {
    let Some(object) = value.as_object() else { return };
    for (key, value) in object {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if value.is_object() && !path.contains('.') && !OWN_NAMES.contains(&path.as_str()) {
            keys_of(value, &path, keys);
        } else {
            keys.push(path);
        }
    }
}

/// Settings whose keys are names that the user chose.
const OWN_NAMES: [&str; 4] = ["modelThinkingLevels", "oauth", "extensionChangelogVersions", "permissions"];

/// A problem without words that look like keys, and not too long.
fn redacted(problem: &str) -> String {
    let word = |word: &str| {
        let longest = word.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))).map(str::len).max();
        let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
        let is_key = longest.is_some_and(|longest| longest >= 24) && has_digit || word.starts_with("sk-");
        if is_key { "[left out]".to_owned() } else { word.to_owned() }
    };
    let words: Vec<_> = problem.split_whitespace().map(word).collect();
    words.join(" ").chars().take(MAX_PROBLEM).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report() -> Report {
        Report {
            description: "It hung.".into(),
            size: (80, 24),
            reports: vec!["Background([0, 0, 0])".into()],
            model: Some("p/m".into()),
            settings: json!({
                "theme": "dark-hush", "retry": {"maxRetries": 7}, "oauth": {"hush-corp": {"clientId": "hush"}},
            }),
            notices: vec![
                "HTTP status 401: the key sk-hush-1 is wrong".into(),
                "hush0123456789abcdef0123456789 bad".into(),
            ],
        }
    }

    #[test]
    fn a_report_says_what_helps_and_no_secret() {
        let variable = |name: &str| match name {
            "TERM" => Some("xterm-256color".to_owned()),
            "SSH_CONNECTION" => Some("hush.example 22".to_owned()),
            _ => None,
        };
        let text = report().text("0.1.0", &variable);
        for wanted in [
            "It hung.",
            "- version: 0.1.0",
            "- size: 80x24",
            "- TERM: xterm-256color",
            "- SSH_CONNECTION: set",
            "settings that are set: theme, retry.maxRetries, oauth",
            "HTTP status 401: the key [left out] is wrong",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
        assert!(!text.contains("hush"), "{text}");
    }

    #[test]
    fn a_report_can_be_read_by_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.md");
        private_file(&path, "x").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
