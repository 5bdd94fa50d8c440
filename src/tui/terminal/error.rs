//! Why there is no screen.

use std::io;

/// Why a terminal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// Standard output or input is no terminal.
    #[error("{0} is not a terminal: the screen needs one; give a prompt with -p to do without")]
    NoTerminal(&'static str),
    /// The terminal says that it can do nothing but print.
    #[error(
        "this terminal (TERM=dumb) cannot show the screen; give a prompt with -p, or set TERM to what the terminal is"
    )]
    Dumb,
    /// Another screen of this process has the terminal and does not let go of it.
    #[error("the terminal is in use by another screen of this program; start the program again")]
    InUse,
    /// The system refused something.
    #[error("the terminal cannot be used: {doing}: {error}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        #[source]
        error: io::Error,
    },
}

impl TerminalError {
    /// The error of something that was tried.
    pub(super) fn system(doing: &'static str) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |error| Self::System { doing, error: error.into() }
    }
}
