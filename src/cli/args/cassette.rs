//! Whether a run is recorded or replayed.

use std::path::PathBuf;

use clap::ValueEnum;

use super::{
    error::ArgError,
    flags::DiagnosisFlags,
    high::{Launch, given},
};

/// The value of `--replay-speed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReplaySpeed {
    /// Without waiting.
    #[default]
    Full,
    /// As it came.
    Recorded,
}

/// What a run has to do with a cassette.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CassetteChoice {
    /// Nothing.
    #[default]
    None,
    /// Its exchanges with providers are written into this file.
    Record(PathBuf),
    /// This file answers in place of the providers.
    Replay {
        /// The file.
        file: PathBuf,
        /// How fast.
        speed: ReplaySpeed,
        /// A request that differs from the recorded one fails.
        strict: bool,
    },
}

/// The one thing that the flags mean.
pub(super) fn choice(flags: &DiagnosisFlags, launch: Launch<'_>) -> Result<CassetteChoice, ArgError> {
    let path = |flag: &Option<String>| given(flag.clone()).map(|text| launch.path(&text));
    match (path(&flags.record), path(&flags.replay)) {
        (Some(_), Some(_)) => Err(ArgError::Conflict("--record", "--replay")),
        (_, None) if flags.replay_speed.is_some() => Err(ArgError::Lonely("--replay-speed", "--replay FILE")),
        (_, None) if flags.replay_strict => Err(ArgError::Lonely("--replay-strict", "--replay FILE")),
        (None, None) => Ok(CassetteChoice::None),
        (Some(file), None) => Ok(CassetteChoice::Record(file)),
        (None, Some(file)) => Ok(CassetteChoice::Replay {
            file,
            speed: flags.replay_speed.unwrap_or_default(),
            strict: flags.replay_strict,
        }),
    }
}
