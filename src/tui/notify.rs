//! Calling a person who looks elsewhere: when, in which words, and how.

use std::process::{Command, Stdio};

use super::{effect::Effect, model::Model, text::one_line};
use crate::store::settings::Settings;

/// How a person is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// The terminal's bell.
    Bell,
    /// A message of the terminal, as iTerm2, Windows Terminal and others know it (OSC 9).
    Osc9,
    /// A message of the terminal, as urxvt, foot and others know it (OSC 777).
    Osc777,
    /// A program with its arguments; the text is added as the last one.
    Command(Vec<String>),
}

/// When and how a person is called: `terminal.notifications` and what goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifySettings {
    /// How; none: never.
    pub way: Option<Way>,
    /// Also while the terminal has the focus.
    pub always: bool,
    /// Milliseconds that a run must have taken.
    pub after_ms: u64,
}

/// A call, carried out by the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// How.
    pub way: Way,
    /// The words: one line without control characters. Nothing of the conversation is in it.
    pub text: String,
}

/// What a person may want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// The agent came to rest after a run of so many milliseconds.
    Settled {
        /// Milliseconds.
        took_ms: u64,
        /// The user ended it.
        aborted: bool,
    },
    /// A question waits.
    Question,
}

impl NotifySettings {
    /// Those of settings.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        const AFTER_MS: u64 = 10_000;
        let key = ["terminal", "notifications"];
        let way = match settings.word(&key, &["bell", "off", "osc9", "osc777", "command"]) {
            "off" => None,
            "osc9" => Some(Way::Osc9),
            "osc777" => Some(Way::Osc777),
            "command" => settings
                .texts(&["terminal", "notificationCommand"])
                .filter(|command| !command.is_empty())
                .map(Way::Command),
            _ => Some(Way::Bell),
        };
        Self {
            way,
            always: settings.word(&["terminal", "notifyWhen"], &["unfocused", "always"]) == "always",
            after_ms: settings.whole(&["terminal", "notifyAfterMs"]).unwrap_or(AFTER_MS),
        }
    }
}

/// Whether a person is to be called, and how.
#[must_use]
pub fn notify(model: &Model, occasion: Occasion) -> Option<Effect> {
    let folder = model.facts.cwd.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    call(&model.settings.notify, model.focused, &folder, occasion).map(Effect::Notify)
}

/// Runs a program with the text as its last argument. Nobody waits for it; what it prints is lost.
pub fn run(command: &[String], text: &str) {
    let Some((program, arguments)) = command.split_first() else { return };
    let mut command = Command::new(program);
    command.args(arguments).arg(text).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(mut child) => {
            // Waited for, so that no dead process stays behind.
            std::thread::spawn(move || child.wait());
        }
        Err(error) => tracing::warn!(%error, program, "the program that calls people does not start"),
    }
}

fn call(settings: &NotifySettings, focused: bool, folder: &str, occasion: Occasion) -> Option<Notification> {
    let way = settings.way.clone()?;
    if focused && !settings.always {
        return None;
    }
    let words = match occasion {
        // Who ended it knows.
        Occasion::Settled { aborted: true, .. } => return None,
        Occasion::Settled { took_ms, .. } if took_ms < settings.after_ms => return None,
        Occasion::Settled { .. } => "done",
        Occasion::Question => "a question waits",
    };
    // A semicolon would end the field of a terminal's command.
    let folder = one_line(folder).replace(';', ",");
    Some(Notification { way, text: format!("Troupe: {words} in {folder}") })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(terminal: serde_json::Value) -> NotifySettings {
        let values = json!({ "terminal": terminal });
        NotifySettings::of(&Settings::from_value(values.as_object().cloned().unwrap()))
    }

    #[test]
    fn people_are_called_when_they_look_elsewhere_and_it_took_a_while() {
        let done = |took_ms| Occasion::Settled { took_ms, aborted: false };
        for (terminal, focused, occasion, expected) in [
            (json!({}), false, done(10_000), Some("Troupe: done in shop")),
            (json!({}), false, done(9_999), None),
            (json!({}), true, done(10_000), None),
            (json!({}), false, Occasion::Settled { took_ms: 10_000, aborted: true }, None),
            (json!({}), false, Occasion::Question, Some("Troupe: a question waits in shop")),
            (json!({"notifyWhen": "always"}), true, Occasion::Question, Some("Troupe: a question waits in shop")),
            (json!({"notifyAfterMs": 100}), false, done(100), Some("Troupe: done in shop")),
            (json!({"notifications": "off"}), false, Occasion::Question, None),
            (json!({"notifications": "command"}), false, Occasion::Question, None),
        ] {
            let called = call(&settings(terminal.clone()), focused, "shop", occasion);
            assert_eq!(called.map(|call| call.text).as_deref(), expected, "{terminal} {focused} {occasion:?}");
        }
    }

    #[test]
    fn the_settings_say_how() {
        for (terminal, expected) in [
            (json!({"notifications": "bell"}), Some(Way::Bell)),
            (json!({"notifications": "osc9"}), Some(Way::Osc9)),
            (json!({"notifications": "osc777"}), Some(Way::Osc777)),
            (
                json!({"notifications": "command", "notificationCommand": ["notify-send", "-u", "low"]}),
                Some(Way::Command(vec!["notify-send".into(), "-u".into(), "low".into()])),
            ),
            (json!({"notifications": "loud"}), Some(Way::Bell)),
        ] {
            assert_eq!(settings(terminal).way, expected);
        }
    }

    #[test]
    fn fc_064_a_folders_name_commands_no_terminal() {
        let call = call(&settings(json!({})), false, "x\u{1b}]0;y\u{7};z", Occasion::Question).unwrap();
        assert_eq!(call.text, "Troupe: a question waits in x<U+001B>]0,y<U+0007>,z");
    }
}
