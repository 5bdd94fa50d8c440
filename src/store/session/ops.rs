//! Which operations were carried out: a repeated request is recognised by its number.

use std::collections::{HashMap, VecDeque};

use crate::protocol::EntryId;

/// Operations that are remembered. A repetition comes soon or never: from a sender whose receiver died.
const REMEMBERED: usize = 1024;

/// The last operations and the ids that their entries got.
#[derive(Debug, Default)]
pub struct Operations {
    ids: HashMap<String, Vec<EntryId>>,
    order: VecDeque<String>,
}

impl Operations {
    /// The ids that were assigned under this number.
    pub fn get(&self, op: &str) -> Option<&[EntryId]> {
        self.ids.get(op).map(Vec::as_slice)
    }

    /// Remembers what is about to be written under this number: it is looked up again even if the writer dies in
    /// the middle.
    pub fn assign(&mut self, op: &str, ids: Vec<EntryId>) {
        if self.ids.insert(op.to_owned(), ids).is_none() {
            self.order.push_back(op.to_owned());
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_operations_are_forgotten_and_new_ones_are_not() {
        let mut ops = Operations::default();
        for n in 0..2000 {
            ops.assign(&n.to_string(), vec![EntryId::from(n.to_string())]);
        }
        assert_eq!(ops.get("0"), None);
        assert_eq!(ops.get("1999"), Some(&[EntryId::from("1999")][..]));
        assert_eq!((ops.ids.len(), ops.order.len()), (REMEMBERED, REMEMBERED));
    }
}
