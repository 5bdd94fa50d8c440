//! The state that a journal describes.

use std::collections::{BTreeMap, BTreeSet};

use super::record::{HeldEntry, InputKind, PendingInput, Record};
use crate::protocol::EntryId;

/// What a run was about when the last record was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunState {
    /// A trace began and has not settled.
    pub active: bool,
    /// Prompts that are not in the session yet, in order.
    pub prompts: Vec<PendingInput>,
    /// Steering messages that wait, in order.
    pub steering: Vec<PendingInput>,
    /// Follow-ups that wait, in order.
    pub follow_ups: Vec<PendingInput>,
    /// Entries that wait for the end of the trace, in order.
    pub held: Vec<HeldEntry>,
    /// Places of the calls that began, by the entry of their assistant message, since the trace began.
    pub begun: BTreeMap<EntryId, BTreeSet<usize>>,
}

impl RunState {
    /// The state after `records`.
    #[must_use]
    pub fn replay(records: impl IntoIterator<Item = Record>) -> Self {
        let mut state = Self::default();
        records.into_iter().for_each(|record| state.apply(record));
        state
    }

    /// Folds one record in. An input that is known already, by its operation number, is not added again.
    pub fn apply(&mut self, record: Record) {
        match record {
            Record::Input(input) => {
                let known = self.pending().any(|known| known.op == input.op);
                if !known {
                    self.queue(input.kind).push(input);
                }
            }
            Record::Held(entry) => {
                if self.held.iter().all(|known| known.entry_id != entry.entry_id) {
                    self.held.push(entry);
                }
            }
            Record::Delivered { ops } | Record::Cleared { ops } => {
                for queue in [&mut self.prompts, &mut self.steering, &mut self.follow_ups] {
                    queue.retain(|input| !ops.contains(&input.op));
                }
                self.held.retain(|held| !ops.iter().any(|op| op == held.entry_id.as_str()));
            }
            Record::Started => self.active = true,
            Record::Settled => {
                self.active = false;
                self.begun.clear();
            }
            Record::Batch { entry_id, places } => self.begun.entry(entry_id).or_default().extend(places),
            Record::Unknown => {}
        }
    }

    /// All inputs that wait: prompts, then steering messages, then follow-ups.
    pub fn pending(&self) -> impl Iterator<Item = &PendingInput> {
        self.prompts.iter().chain(&self.steering).chain(&self.follow_ups)
    }

    /// True when call number `place` of the assistant message `entry` began.
    #[must_use]
    pub fn has_begun(&self, entry: &EntryId, place: usize) -> bool {
        self.begun.get(entry).is_some_and(|places| places.contains(&place))
    }

    /// True when there is nothing that a crash could lose.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        !self.active && self.held.is_empty() && self.pending().next().is_none()
    }

    /// True when a trace begins or runs, and nothing more is to be remembered than that, and the prompt that becomes the
    /// entry `prompt`.
    #[must_use]
    pub fn tells_only_of(&self, prompt: &EntryId) -> bool {
        let waits = |input: &PendingInput| input.kind != InputKind::Prompt || input.entry_id.as_ref() != Some(prompt);
        !self.is_settled() && self.held.is_empty() && self.begun.is_empty() && !self.pending().any(waits)
    }

    fn queue(&mut self, kind: InputKind) -> &mut Vec<PendingInput> {
        match kind {
            InputKind::Prompt => &mut self.prompts,
            InputKind::Steer => &mut self.steering,
            InputKind::FollowUp => &mut self.follow_ups,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(journal: &[&str], active: bool, waiting: &[&str], begun: &[(&str, &[usize])]) {
        let state = RunState::replay(journal.iter().map(|line| serde_json::from_str(line).unwrap()));
        assert_eq!(state.active, active, "{journal:?}");
        let ops: Vec<_> = state.pending().map(|input| input.op.as_str()).collect();
        assert_eq!(ops, waiting, "{journal:?}");
        let expected = begun.iter().map(|(id, places)| (EntryId::from(*id), places.iter().copied().collect()));
        assert_eq!(state.begun, expected.collect::<BTreeMap<_, BTreeSet<_>>>(), "{journal:?}");
    }

    #[test]
    fn a_journal_tells_what_waits_and_what_began() {
        let p = r#"{"type":"input","op":"p","kind":"prompt","entryId":"1","content":"x"}"#;
        let s = r#"{"type":"input","op":"s","kind":"steer","content":[{"type":"text","text":"x"}],"source":"rpc"}"#;
        let f = r#"{"type":"input","op":"f","kind":"followUp","content":"x","source":"extension"}"#;
        let started = r#"{"type":"started"}"#;
        let settled = r#"{"type":"settled"}"#;
        check(&[], false, &[], &[]);
        check(&[f, s, p, p], false, &["p", "s", "f"], &[]);
        check(&[p, started, r#"{"type":"delivered","ops":["p","q"]}"#, s], true, &["s"], &[]);
        check(&[f, s, r#"{"type":"cleared","ops":["s"]}"#], false, &["f"], &[]);
        let batch = r#"{"type":"batch","entryId":"a","places":[0,2]}"#;
        check(&[started, batch, r#"{"type":"batch","entryId":"a","places":[1]}"#], true, &[], &[("a", &[0, 1, 2])]);
        check(&[started, batch, f, settled], false, &["f"], &[]);
        check(&[started, r#"{"type":"hologram","x":1}"#], true, &[], &[]);
    }
}
