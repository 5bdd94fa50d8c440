//! Which front end a start gets.

use clap::ValueEnum;

/// The value of `--mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputMode {
    /// Plain text; says nothing about one-shot or interactive.
    Text,
    /// One JSON object per event.
    Json,
    /// JSON commands on stdin, JSON records on stdout.
    Rpc,
}

/// The value of `--tui-mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TuiMode {
    /// Lines scroll into the terminal's own history.
    Regular,
    /// The alternate screen.
    Fullscreen,
}

/// Which of the process's streams are terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminals {
    /// stdin is one.
    pub stdin: bool,
    /// stdout is one.
    pub stdout: bool,
}

impl Terminals {
    /// The streams of this process.
    #[must_use]
    pub fn of_process() -> Self {
        use std::io::IsTerminal as _;
        Self { stdin: std::io::stdin().is_terminal(), stdout: std::io::stdout().is_terminal() }
    }
}

/// A front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The screen.
    Interactive,
    /// The prompts are run and the last answer is printed.
    Print,
    /// The prompts are run and every event is a JSON line.
    Json,
    /// Commands and events as JSON lines until stdin ends.
    Rpc,
}

impl Mode {
    /// The front end for `--mode`, `--print` and the streams. `--mode text` alone does not make a run one-shot; a
    /// stream that is no terminal does, because nobody could answer there.
    #[must_use]
    pub fn resolve(output: Option<OutputMode>, print: bool, terminals: Terminals) -> Self {
        match output {
            Some(OutputMode::Rpc) => Self::Rpc,
            Some(OutputMode::Json) => Self::Json,
            Some(OutputMode::Text) | None if print || !terminals.stdin || !terminals.stdout => Self::Print,
            Some(OutputMode::Text) | None => Self::Interactive,
        }
    }

    /// Whether piped stdin is part of the first message: everywhere except in RPC, whose commands come that way.
    #[must_use]
    pub fn reads_stdin(self, terminals: Terminals) -> bool {
        self != Self::Rpc && !terminals.stdin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_follows_from_the_flags_and_the_streams() {
        use {Mode::*, OutputMode as O};
        let both = (true, true);
        // output, print, (stdin, stdout) are terminals, mode, reads stdin
        let table = [
            (None, false, both, Interactive, false),
            (Some(O::Text), false, both, Interactive, false),
            (None, true, both, Print, false),
            (None, false, (false, true), Print, true),
            (None, false, (true, false), Print, false),
            (Some(O::Text), false, (false, false), Print, true),
            (Some(O::Json), false, both, Json, false),
            (Some(O::Json), true, (false, false), Json, true),
            (Some(O::Rpc), true, (false, false), Rpc, false),
            (Some(O::Rpc), false, both, Rpc, false),
        ];
        for (output, print, (stdin, stdout), mode, reads) in table {
            let terminals = Terminals { stdin, stdout };
            let got = Mode::resolve(output, print, terminals);
            assert_eq!(got, mode, "{output:?} {print} {terminals:?}");
            assert_eq!(got.reads_stdin(terminals), reads, "{output:?} {print} {terminals:?}");
        }
    }
}
