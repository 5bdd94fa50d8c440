//! Those who wait for the ends of siblings. A list, no actor: what is waited for is on the board.

use std::{cell::Cell, sync::Arc};

use super::family_msg::Answer;
use crate::{
    actors::{family_board::FamilyBoard, kin::Kin},
    protocol::sibling::{SiblingError, SiblingId, WaitMode, Waited},
};

/// Somebody who waits.
struct Wait {
    number: u64,
    board: Arc<FamilyBoard>,
    about: Vec<(SiblingId, u32)>,
    mode: WaitMode,
    /// The place in `about` of one that had not ended at the last look.
    open: Cell<usize>,
    reply: Answer<Waited>,
}

/// All who wait.
#[derive(Default)]
pub(super) struct Waits {
    last: u64,
    waiting: Vec<Wait>,
}

impl Waits {
    /// Answers at once when there is nothing to wait for; else the number of the wait.
    pub fn add(&mut self, kin: &Kin, about: Vec<(String, u32)>, mode: WaitMode, reply: Answer<Waited>) -> Option<u64> {
        let board = kin.board.clone();
        let about: Result<Vec<_>, SiblingError> = match about.is_empty() {
            true => Ok(board.children(&kin.id).into_iter().map(|id| (id, 0)).collect()),
            false => about.into_iter().map(|(name, task)| Ok((board.resolve(&kin.id, &name)?, task))).collect(),
        };
        let about = match about {
            Ok(about) => about,
            Err(error) => {
                drop(reply.send(Err(error)));
                return None;
            }
        };
        self.last += 1;
        let wait = Wait { number: self.last, board, about, mode, open: Cell::new(0), reply };
        if wait.is_over() {
            wait.answer(false);
            return None;
        }
        self.waiting.push(wait);
        Some(self.last)
    }

    /// Something ended: answers those who waited for it, and forgets those who went away.
    pub fn look(&mut self) {
        let over = self.waiting.extract_if(.., |wait| wait.reply.is_closed() || wait.is_over());
        over.for_each(|wait| wait.answer(false));
    }

    /// A wait has had its time.
    pub fn over(&mut self, number: u64) {
        if let Some(place) = self.waiting.iter().position(|wait| wait.number == number) {
            self.waiting.swap_remove(place).answer(true);
        }
    }
}

impl Wait {
    fn is_over(&self) -> bool {
        let ended =
            |(id, task): &(SiblingId, u32)| self.board.look(id, |member| member.has_ended(*task)).unwrap_or(true);
        match self.mode {
            WaitMode::All => {
                // One that works keeps the wait open: it is looked at first, so that the ends of a thousand do not cost a
                // look at a thousand each.
                let (behind, from) = self.about.split_at(self.open.get().min(self.about.len()));
                let open = from.iter().chain(behind).position(|about| !ended(about));
                self.open.set(open.map_or(0, |open| (self.open.get() + open) % self.about.len()));
                open.is_none()
            }
            WaitMode::Any => self.about.is_empty() || self.about.iter().any(ended),
        }
    }

    fn answer(self, timed_out: bool) {
        let mut waited = Waited { timed_out, ..Waited::default() };
        for (id, task) in &self.about {
            match self.board.look(id, |member| member.has_ended(*task)) {
                Some(true) => waited.ends.extend(self.board.last_end(id)),
                Some(false) => waited.running.extend(self.board.status(id)),
                None => {}
            }
        }
        drop(self.reply.send(Ok(waited)));
    }
}
