//! What was killed, to be yanked.

use std::collections::VecDeque;

use super::Fragment;

/// Kills that are kept.
const MAX_KILLS: usize = 60;

/// The side of the caret that was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Text before the caret.
    Before,
    /// Text behind it.
    Behind,
}

/// What was killed, the latest first.
#[derive(Clone, Debug, Default)]
pub struct KillRing {
    kills: VecDeque<Fragment>,
}

impl KillRing {
    /// Remembers a kill. `joins`: it follows another at once, and both become one.
    pub fn kill(&mut self, killed: Fragment, side: Side, joins: bool) {
        if killed.is_empty() {
            return;
        }
        let killed = match self.kills.pop_front() {
            Some(last) if joins && side == Side::Before => killed.followed_by(&last),
            Some(last) if joins => last.followed_by(&killed),
            Some(last) => {
                self.kills.push_front(last);
                killed
            }
            None => killed,
        };
        self.kills.push_front(killed);
        self.kills.truncate(MAX_KILLS);
    }

    /// The latest.
    #[must_use]
    pub fn latest(&self) -> Option<&Fragment> {
        self.kills.front()
    }

    /// Moves the latest to the end: the one before is the latest now. None if there is no other.
    pub fn turn(&mut self) -> Option<&Fragment> {
        if self.kills.len() < 2 {
            return None;
        }
        self.kills.rotate_left(1);
        self.kills.front()
    }
}
