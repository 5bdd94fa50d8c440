//! What is said on standard error, while somebody else has the terminal: it is held until they show it, or until the
//! terminal is free again. Nothing may be written across a screen.

use std::{
    collections::VecDeque,
    io::Write as _,
    panic,
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
    thread,
};

use crate::protocol::hidden;

/// Texts that nobody has heard yet are kept up to this many.
const UNHEARD: usize = 100;

/// Shows what is said.
type Listener = Box<dyn Fn(&str) + Send>;

/// Who shows what is said.
enum Voice {
    /// Standard error.
    Standard,
    /// Nobody yet.
    Held(VecDeque<String>),
    /// Somebody; and what they have not shown yet, in case they never will.
    Listened(Listener, VecDeque<String>),
}

impl Voice {
    fn say(&mut self, text: &str) {
        match self {
            Self::Standard => {
                let _ = std::io::stderr().lock().write_all(hidden::for_terminal(text).as_bytes());
            }
            Self::Held(held) => keep(held, text),
            Self::Listened(listener, unheard) => {
                keep(unheard, text);
                listener(text);
            }
        }
    }

    /// What nobody has shown.
    fn into_unheard(self) -> VecDeque<String> {
        match self {
            Self::Standard => VecDeque::new(),
            Self::Held(unheard) | Self::Listened(_, unheard) => unheard,
        }
    }
}

fn keep(texts: &mut VecDeque<String>, text: &str) {
    if texts.len() == UNHEARD {
        texts.pop_front();
    }
    texts.push_back(text.to_owned());
}

static VOICE: Mutex<Voice> = Mutex::new(Voice::Standard);

fn voice() -> MutexGuard<'static, Voice> {
    VOICE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn replace(new: Voice) -> VecDeque<String> {
    std::mem::replace(&mut *voice(), new).into_unheard()
}

/// Says something. All that people are told goes this way: texts of models, servers, files and extensions are in it,
/// and none of them may move the cursor or reach the clipboard. When it cannot be written, nobody is listening.
pub fn say(text: &str) {
    voice().say(text);
}

/// Holds what is said from now on.
pub fn hold() {
    replace(Voice::Held(VecDeque::new()));
}

/// Gives what nobody has shown, and what is said from now on, to somebody who shows it, and says of each text that it was
/// [`heard`].
pub fn listen(listener: impl Fn(&str) + Send + 'static) {
    let mut voice = voice();
    let unheard = std::mem::replace(&mut *voice, Voice::Standard).into_unheard();
    unheard.iter().for_each(|text| listener(text));
    *voice = Voice::Listened(Box::new(listener), unheard);
}

/// The oldest text that a listener was given is shown.
pub fn heard() {
    if let Voice::Listened(_, unheard) = &mut *voice() {
        unheard.pop_front();
    }
}

/// Says what nobody has shown, and goes back to standard error.
pub fn release() {
    replace(Voice::Standard).iter().for_each(|text| say(text));
}

/// From now on the text of a panic is said like everything else while somebody has the terminal, and not written across
/// what they show.
pub fn catch_panics() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let mut voice = match VOICE.try_lock() {
            Ok(voice) => voice,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // It may be this thread that has it.
            Err(TryLockError::WouldBlock) => return tracing::error!(%info, "a panic"),
        };
        if matches!(*voice, Voice::Standard) {
            drop(voice);
            return usual(info);
        }
        tracing::error!(%info, "a panic");
        let name = thread::current().name().unwrap_or("unnamed").to_owned();
        voice.say(&format!("Error: a fault in the program (thread {name}): {info}\n"));
    }));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn fc_065_what_was_said_to_a_listener_that_is_gone_is_given_to_the_next() {
        let heard_by = |into: &Arc<Mutex<Vec<String>>>| {
            let into = into.clone();
            Box::new(move |text: &str| into.lock().unwrap().push(text.to_owned()))
        };
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let mut voice = Voice::Held(VecDeque::new());
        voice.say("before");
        // The first listener shows one text, is told another and dies.
        let unheard = voice.into_unheard();
        assert_eq!(unheard, ["before"]);
        let mut voice = Voice::Listened(heard_by(&said), unheard);
        voice.say("the panic");
        if let Voice::Listened(_, unheard) = &mut voice {
            unheard.pop_front();
        }
        assert_eq!(*said.lock().unwrap(), ["the panic"]);
        assert_eq!(voice.into_unheard(), ["the panic"]);
    }

    #[test]
    fn of_very_many_texts_the_last_are_kept() {
        let mut voice = Voice::Held(VecDeque::new());
        for n in 0..=UNHEARD {
            voice.say(&n.to_string());
        }
        let kept = voice.into_unheard();
        assert_eq!((kept.len(), kept[0].as_str()), (UNHEARD, "1"));
    }
}
