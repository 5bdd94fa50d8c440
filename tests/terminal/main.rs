//! The screen, from the outside: the binary in a terminal, keys that are typed, and what is shown then.
//!
//! | file | what |
//! |---|---|
//! | `agents` | the agents below the one in front |
//! | `start` | the first screen, questions to the terminal, what was typed too early |
//! | `typing`, `editing`, `paste`, `completion` | the editor |
//! | `conversation`, `tools`, `shell_commands` | answers, calls and commands |
//! | `queue` | what is said while something runs |
//! | `selectors` | tree, sessions, models, settings |
//! | `resizing` | sizes, also those that nobody uses |
//! | `stopping`, `ending` | suspending, signals, hang-ups, and what is left of the terminal |
//! | `injection` | texts that want to act on the terminal |
//! | `extensions` | what extensions ask and show |
//! | `lines` | the screen that leaves the terminal's history alone, and output that is no terminal |

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/mod.rs"]
mod support;
#[path = "../support/terminal/mod.rs"]
mod terminal;

mod agents;
mod completion;
mod conversation;
mod editing;
mod ending;
mod extensions;
mod injection;
mod lines;
mod paste;
mod queue;
mod resizing;
mod selectors;
mod shell_commands;
mod start;
mod stopping;
mod tools;
mod typing;

use support::{Reply, replies, text};
use terminal::{Stage, Terminal};

/// What the model says when a test does not care.
const ANSWER: &str = "The answer is 42.";

/// A stage whose model always says [`ANSWER`].
fn answering() -> Stage {
    Stage::new(replies([text(ANSWER)]))
}

/// A stage whose model says these things, the last again and again.
fn saying(answers: impl Into<Vec<Reply>>) -> Stage {
    Stage::new(replies(answers))
}

/// A stage whose model numbers its answers: `Reply 0.`, `Reply 1.`
fn numbering() -> Stage {
    Stage::new(|request| text(&format!("Reply {}.", request.n)))
}

impl Terminal {
    /// Submits a prompt and waits until [`ANSWER`] is there and nothing runs any more.
    fn ask(&self, prompt: &str) {
        self.submit(prompt);
        self.wait_for("the answer", |screen| screen.has(ANSWER) && !screen.has("Working..."));
    }

    /// Types a text in which keys stand in angle brackets: `one<ctrl+a>two`.
    fn play(&self, script: &str) {
        let mut rest = script;
        while let Some((text, after)) = rest.split_once('<') {
            let (key, after) = after.split_once('>').expect("a key ends with >");
            self.send(text);
            self.key(key);
            rest = after;
        }
        self.send(rest);
    }
}
