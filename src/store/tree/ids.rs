//! Ids of new entries.

use uuid::Uuid;

use crate::protocol::EntryId;

/// Eight hex digits of a random number; all of it when those are always taken.
pub fn fresh_id(taken: impl Fn(&EntryId) -> bool) -> EntryId {
    const ATTEMPTS: usize = 100;
    (0..ATTEMPTS)
        .map(|_| {
            let mut digits = Uuid::encode_buffer();
            EntryId::from(&Uuid::new_v4().simple().encode_lower(&mut digits)[..8])
        })
        .find(|id| !taken(id))
        .unwrap_or_else(|| EntryId::from(Uuid::new_v4().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_id_is_eight_hex_digits_and_not_taken() {
        let id = fresh_id(|_| false);
        assert!(id.as_str().len() == 8 && id.as_str().bytes().all(|digit| digit.is_ascii_hexdigit()));
        assert_eq!(fresh_id(|id| id.as_str().len() == 8).as_str().len(), 36);
    }
}
