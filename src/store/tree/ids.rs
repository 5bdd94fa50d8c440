//! Ids of new entries.

use std::hash::{BuildHasher, RandomState};

use uuid::Uuid;

use crate::protocol::EntryId;

/// Eight random hex digits; a whole random number when those are always taken.
pub fn fresh_id(taken: impl Fn(&EntryId) -> bool) -> EntryId {
    const ATTEMPTS: usize = 100;
    (0..ATTEMPTS)
        .map(|_| EntryId::from(format!("{:08x}", random())))
        .find(|id| !taken(id))
        .unwrap_or_else(|| EntryId::from(Uuid::new_v4().to_string()))
}

/// A random number without a call of the system: the keys of the standard library's hashers are random once in a thread
/// and different each time. Nobody must be kept from guessing an entry's id.
fn random() -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "half of the bits are enough")]
    let bits = RandomState::new().hash_one(()) as u32;
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_id_is_eight_hex_digits_and_not_taken() {
        let id = fresh_id(|_| false);
        assert!(id.as_str().len() == 8 && id.as_str().bytes().all(|digit| digit.is_ascii_hexdigit()));
        assert_eq!(fresh_id(|id| id.as_str().len() == 8).as_str().len(), 36);
        let many: std::collections::HashSet<_> = (0..1000).map(|_| fresh_id(|_| false)).collect();
        assert!(many.len() >= 999, "two of a thousand are alike once in ten thousand tries");
    }
}
