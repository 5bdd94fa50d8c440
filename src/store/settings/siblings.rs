//! The settings of siblings (`siblings.*`).

use super::Settings;
use crate::protocol::sibling::SiblingLimits;

impl Settings {
    /// Whether models get the tools for siblings.
    #[must_use]
    pub fn sibling_tools(&self) -> bool {
        self.flag(&["siblings", "tools"], false)
    }

    /// The limits of a family.
    #[must_use]
    pub fn sibling_limits(&self) -> SiblingLimits {
        let usual = SiblingLimits::default();
        let number = |name: &str| self.whole(&["siblings", name]);
        let count = |name: &str, usual: usize| {
            number(name).map_or(usual, |number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        SiblingLimits {
            running: count("maxRunning", usual.running),
            total: count("maxTotal", usual.total),
            depth: number("maxDepth").map_or(usual.depth, |depth| u32::try_from(depth).unwrap_or(u32::MAX)),
        }
    }
}
