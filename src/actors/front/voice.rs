//! What is said on standard error, while somebody else has the terminal: it is held until they show it, or until the
//! terminal is free again. Nothing may be written across a screen.

use std::{
    io::Write as _,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::protocol::hidden;

/// Shows what is said.
type Listener = Box<dyn Fn(&str) + Send>;

/// Who shows what is said.
enum Voice {
    /// Standard error.
    Standard,
    /// Nobody yet.
    Held(Vec<String>),
    /// Somebody.
    Listened(Listener),
}

static VOICE: Mutex<Voice> = Mutex::new(Voice::Standard);

fn voice() -> MutexGuard<'static, Voice> {
    VOICE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says something. All that people are told goes this way: texts of models, servers, files and extensions are in it,
/// and none of them may move the cursor or reach the clipboard. When it cannot be written, nobody is listening.
pub fn say(text: &str) {
    match &mut *voice() {
        Voice::Standard => {
            let _ = std::io::stderr().lock().write_all(hidden::for_terminal(text).as_bytes());
        }
        Voice::Held(held) => held.push(text.to_owned()),
        Voice::Listened(listener) => listener(text),
    }
}

/// Holds what is said from now on.
pub fn hold() {
    *voice() = Voice::Held(Vec::new());
}

/// Gives what was held, and what is said from now on, to somebody who shows it.
pub fn listen(listener: impl Fn(&str) + Send + 'static) {
    let mut voice = voice();
    if let Voice::Held(held) = &*voice {
        held.iter().for_each(|text| listener(text));
    }
    *voice = Voice::Listened(Box::new(listener));
}

/// Says what is still held, and goes back to standard error.
pub fn release() {
    let held = std::mem::replace(&mut *voice(), Voice::Standard);
    if let Voice::Held(held) = held {
        held.iter().for_each(|text| say(text));
    }
}
