//! Sessions as the disk, other processes and `kill -9` treat them.
//!
//! | file | what |
//! |---|---|
//! | `others` | a second process: told who writes, free to read or to fork |
//! | `full` | a disk that refuses, and takes things again |
//! | `torture` | a writer that is killed at any moment: the library alone |
//! | `kills` | the same with the binary |

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[cfg(target_os = "linux")]
mod full;
mod kills;
mod others;
#[path = "../support/mod.rs"]
mod support;
mod torture;

/// Random numbers that are the same for the same seed (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).unwrap()
    }
}

/// `TROUPE_TORTURE_ROUNDS`, or so many.
pub fn rounds(usual: usize) -> usize {
    std::env::var("TROUPE_TORTURE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(usual)
}
