//! How the next worker begins after a crash: the same place again, then further and further back.

use serde::{Deserialize, Serialize};

/// How a worker begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// Where the session stands; also the first start.
    #[default]
    Resume,
    /// At the last turn boundary before that: what the last answer wanted is left.
    Rewind,
    /// In a new session that is told what happened.
    Anew,
}

/// A start of a worker that crashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// How it began.
    pub rung: Rung,
    /// The model gave an answer meanwhile.
    pub moved: bool,
}

/// The rung of the next start after these crashes, the latest last; none to give up. A worker that got an answer crashed
/// at another place than the one before: the next one begins at the foot of the ladder.
#[must_use]
pub fn rung(crashes: &[Attempt]) -> Option<Rung> {
    match crashes.last() {
        None => Some(Rung::Resume),
        Some(last) if last.moved => Some(Rung::Resume),
        // One crash at a place says little: the next worker tries the same.
        Some(Attempt { rung: Rung::Resume, .. }) if !is_second(crashes) => Some(Rung::Resume),
        Some(Attempt { rung: Rung::Resume, .. }) => Some(Rung::Rewind),
        Some(Attempt { rung: Rung::Rewind, .. }) => Some(Rung::Anew),
        Some(Attempt { rung: Rung::Anew, .. }) => None,
    }
}

/// Whether the last crash is the second one at its place.
fn is_second(crashes: &[Attempt]) -> bool {
    crashes.len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_at_the_same_place_climbs_and_any_progress_begins_at_the_foot_again() {
        use Rung::{Anew, Resume, Rewind};
        let at = |rung, moved| Attempt { rung, moved };
        let table: &[(&[Attempt], Option<Rung>)] = &[
            (&[], Some(Resume)),
            (&[at(Resume, true)], Some(Resume)),
            (&[at(Resume, false)], Some(Resume)),
            (&[at(Resume, true), at(Resume, false)], Some(Rewind)),
            (&[at(Resume, false), at(Resume, false)], Some(Rewind)),
            (&[at(Resume, true), at(Resume, false), at(Rewind, false)], Some(Anew)),
            (&[at(Resume, true), at(Resume, false), at(Rewind, true)], Some(Resume)),
            (&[at(Resume, false), at(Rewind, false), at(Anew, false)], None),
            (&[at(Resume, false), at(Rewind, false), at(Anew, true)], Some(Resume)),
        ];
        for (crashes, wanted) in table {
            assert_eq!(rung(crashes), *wanted, "{crashes:?}");
        }
    }
}
