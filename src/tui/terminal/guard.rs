//! The terminal is given back exactly once, whoever does it: the screen when it ends, or what ends the process.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::termios::Termios;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use super::{TerminalError, modes::Modes, tty::Tty};

/// How long a terminal that takes no output is waited for.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long whoever had the terminal may take to let go of it.
const LETS_GO: Duration = Duration::from_secs(5);

static FREE: Semaphore = Semaphore::const_new(1);

/// The right to the terminal of the process, which one screen has at a time: one that dies gives the terminal back when
/// all of it is gone, which may be after the next was started, and would undo what the next one did.
#[derive(Debug)]
pub struct Claim {
    _permit: SemaphorePermit<'static>,
}

impl Claim {
    /// Waits until nobody has it.
    ///
    /// # Errors
    /// Somebody keeps it.
    pub async fn take() -> Result<Self, TerminalError> {
        match timeout(LETS_GO, FREE.acquire()).await {
            Ok(Ok(permit)) => Ok(Self { _permit: permit }),
            _ => Err(TerminalError::InUse),
        }
    }
}

/// A terminal that was taken over.
struct Taken {
    tty: Tty,
    original: Termios,
    modes: Modes,
}

static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);

fn taken() -> MutexGuard<'static, Option<Taken>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Switches line editing off and keeps how it was. The bytes that begin the modes are the caller's to write.
pub(super) fn take(tty: Tty, modes: Modes) -> Result<(), TerminalError> {
    let mut taken = taken();
    let original = match taken.take() {
        // Taken twice: what was there before the first time counts.
        Some(before) => before.original,
        None => tty.make_raw()?,
    };
    *taken = Some(Taken { tty, original, modes });
    Ok(())
}

/// Switches line editing off again after somebody else had the terminal, such as the shell while the process was stopped.
/// Returns the modes that are to be begun again; none when the terminal is not ours.
pub(super) fn retake() -> Option<Modes> {
    let taken = taken();
    let taken = taken.as_ref()?;
    // The modes from before stay those that are given back.
    let _ = taken.tty.make_raw();
    Some(taken.modes)
}

/// Notes that the modes are others now.
pub(super) fn change(change: impl FnOnce(&mut Modes) -> String) -> String {
    taken().as_mut().map_or_else(String::new, |taken| change(&mut taken.modes))
}

/// Gives the terminal back: every mode undone, line editing as it was. Does nothing when it is not ours, or was given back
/// already. Whatever ends the process may call it, from any thread.
pub fn restore() {
    restore_after(|_| {});
}

/// The same, with something done when the modes are undone and line editing is still off.
pub(super) fn restore_after(last: impl FnOnce(&Tty)) {
    let taken = taken().take();
    if let Some(taken) = taken {
        taken.tty.write_soon(taken.modes.end().as_bytes(), PATIENCE);
        last(&taken.tty);
        let _ = taken.tty.set(&taken.original);
    }
}
