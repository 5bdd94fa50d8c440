//! Cassettes: the exchanges of a run with its providers in a file, and a provider that plays them back.
//!
//! What is kept is what went over the wire, so that a replay goes through the same decoders: a fault of a decoder shows
//! itself again. `docs/cassettes.md` describes the file and its use.
//!
//! | module | what |
//! |---|---|
//! | `format` | the lines of the file |
//! | [`recorder`], [`secrets`], `access` | writing it: exchange by exchange, without keys |
//! | [`tape`] | reading it |
//! | `normal`, `difference` | what a request asks, and where two differ |
//! | [`player`] | choosing the exchange that answers a request, and playing it |

mod access;
mod difference;
mod format;
mod normal;
pub mod player;
pub mod recorder;
pub mod secrets;
pub mod tape;

use std::{io, path::PathBuf};

pub use player::{Pace, Player, Replay};
pub use recorder::{Places, Recorder};
pub use secrets::Secrets;
pub use tape::Cassette;

pub(super) use player::Playback;
pub(super) use recorder::Take;

/// Why there is no cassette.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The place is taken.
    #[error("{} exists already and is not overwritten: name another file for the recording", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be written.
    #[error("the cassette {} cannot be written: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It cannot be read.
    #[error("the cassette {} cannot be read: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is something else.
    #[error("{} is no cassette: its first line must be a record of the type \"cassette\", as --record writes it", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A later program wrote it.
    #[error(
        "the cassette {} has version {version} of the format, this program reads up to {}: use a newer one",
        .path.display(), format::VERSION
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        version: u32,
    },
    /// A line makes no sense.
    #[error("the cassette {}, line {line}: {fault}", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        fault: String,
    },
    /// Nothing was recorded.
    #[error("the cassette {} holds no exchange: there is nothing to replay", .path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}
