//! The terminal is given back exactly once, whoever does it: the screen when it ends, or what ends the process.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::termios::Termios;

use super::{TerminalError, modes::Modes, tty::Tty};

/// How long a terminal that takes no output is waited for.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long whoever had the terminal may take to let go of it.
const LETS_GO: Duration = Duration::from_secs(5);

static CLAIMED: Mutex<bool> = Mutex::new(false);
static LET_GO: Condvar = Condvar::new();

/// The right to the terminal, which one screen has at a time: one that dies gives the terminal back while the next is
/// started, and would undo what the next one did.
#[derive(Debug)]
pub(super) struct Claim(());

impl Claim {
    /// Waits until nobody has it.
    ///
    /// # Errors
    /// Somebody keeps it.
    pub fn wait() -> Result<Self, TerminalError> {
        let claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = LET_GO.wait_timeout_while(claimed, LETS_GO, |claimed| *claimed);
        let (mut claimed, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *claimed, true) { Err(TerminalError::InUse) } else { Ok(Self(())) }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        *CLAIMED.lock().unwrap_or_else(PoisonError::into_inner) = false;
        LET_GO.notify_one();
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
