//! Exit codes.

use std::process::ExitCode;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All that was asked for is done.
    Done,
    /// The command line, the start or the run failed; also a failed run in JSON mode, so that a script that only looks
    /// at the code learns of it.
    Failed,
    /// `auth check` could not come to an answer.
    InvalidState,
    /// The words behind `troupe run` or `troupe runs` make no sense.
    Usage,
    /// Calls were denied in a run whose user wants to know (`--on-denied fail`).
    Denied,
    /// The session could not be saved: the run ended for it, or went on in memory and the disk refused to the end.
    NotSaved,
    /// The check of a run failed, also after the last retry.
    VerificationFailed,
    /// The answer of a run does not fit its schema.
    SchemaNotMet,
    /// No file changed in a run that was to change one.
    NoChange,
    /// A run needed more turns than it had.
    TurnLimit,
    /// A run needed more money or tokens than it had.
    SpendingLimit,
    /// A run needed more time than it had.
    TimeLimit,
    /// The worker of a run crashed too often.
    GaveUp,
    /// A run is owned by another process.
    Owned,
    /// A run goes on elsewhere: its log has another owner, or its worker's machine handed it on.
    TakenOver,
    /// SIGHUP: the terminal went away.
    HungUp,
    /// SIGINT.
    Interrupted,
    /// SIGQUIT.
    Quit,
    /// SIGTERM.
    Terminated,
}

impl Exit {
    /// The number that the shell sees; 128 and the signal's number for signals.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::InvalidState | Self::Usage => 2,
            Self::Denied => 5,
            Self::NotSaved => 6,
            Self::VerificationFailed => 7,
            Self::SchemaNotMet => 8,
            Self::NoChange => 9,
            Self::TurnLimit => 10,
            Self::SpendingLimit => 11,
            Self::TimeLimit => 12,
            Self::GaveUp => 14,
            Self::Owned => 15,
            Self::TakenOver => 16,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Quit => 131,
            Self::Terminated => 143,
        }
    }

    /// The way out that a front chose by its number; a number that none has is a failure.
    #[must_use]
    pub fn of_front(code: i32) -> Self {
        const CHOSEN: [Exit; 10] = [
            Exit::Done,
            Exit::Denied,
            Exit::NotSaved,
            Exit::TurnLimit,
            Exit::SpendingLimit,
            Exit::TimeLimit,
            Exit::HungUp,
            Exit::Interrupted,
            Exit::Quit,
            Exit::Terminated,
        ];
        CHOSEN.into_iter().find(|exit| i32::from(exit.code()) == code).unwrap_or(Self::Failed)
    }

    /// The way out after `signal`, for the signals that end the program in order.
    #[must_use]
    pub const fn from_signal(signal: i32) -> Option<Self> {
        match signal {
            1 => Some(Self::HungUp),
            2 => Some(Self::Interrupted),
            3 => Some(Self::Quit),
            15 => Some(Self::Terminated),
            _ => None,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_ends_with_128_and_its_number() {
        for signal in [1, 2, 3, 15] {
            assert_eq!(i32::from(Exit::from_signal(signal).unwrap().code()), 128 + signal);
        }
        assert_eq!(Exit::from_signal(9), None);
        assert_eq!([Exit::Done, Exit::Failed, Exit::InvalidState].map(Exit::code), [0, 1, 2]);
    }
}
