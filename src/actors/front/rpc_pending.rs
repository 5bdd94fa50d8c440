//! What waits while another session takes the place of a front's.

use std::collections::VecDeque;

use ractor::ActorId;

use super::stdin::Line;
use crate::{extensions::backstage::Changed, protocol::wire::RequestId};

/// Lines that wait without a place among those that are read ahead. Far more than a client sends that asks how things
/// stand while a person thinks about a question.
const LINES: usize = 1024;
/// Bytes of such lines.
const BYTES: usize = 16 * 1024 * 1024;

/// The session is being replaced; the client's lines wait meanwhile.
pub(super) struct Pending {
    /// Who replaces it.
    pub worker: Option<ActorId>,
    /// Who wants it.
    pub asker: Asker,
    /// What the client says meanwhile.
    pub waiting: Waiting,
}

/// Who wants another session, and is told what came of it.
pub(super) enum Asker {
    /// The client, with this request.
    Client {
        /// What the client calls it.
        id: Option<RequestId>,
        /// The command.
        command: &'static str,
    },
    /// An extension.
    Extension(Changed),
}

/// Lines in the order in which they came.
#[derive(Default)]
pub(super) struct Waiting {
    lines: VecDeque<Line>,
    bytes: usize,
}

impl Waiting {
    /// Takes a line in. It gives its place up, so that what is behind it is read: that may be the answer to a question
    /// that the replacement waits for, or the end. Beyond the limits it keeps the place, and the client is held up.
    pub fn push(&mut self, line: Line) {
        let free = self.lines.len() < LINES && self.bytes < BYTES;
        self.bytes += length(&line);
        self.lines.push_back(match line {
            Line::Text(text, _) if free => Line::Text(text, None),
            line => line,
        });
    }

    /// The first of them.
    pub fn pop(&mut self) -> Option<Line> {
        let line = self.lines.pop_front()?;
        self.bytes -= length(&line);
        Some(line)
    }
}

fn length(line: &Line) -> usize {
    match line {
        Line::Text(text, _) => text.len(),
        Line::End => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::Semaphore;

    use super::*;

    #[test]
    fn lines_that_wait_hold_nobody_up_until_there_are_too_many() {
        for (size, count, kept) in [(2, LINES, 0), (2, LINES + 3, 3), (BYTES / 4, 4, 0), (BYTES / 4, 6, 2)] {
            let places = Arc::new(Semaphore::new(2 * LINES));
            let mut waiting = Waiting::default();
            for _ in 0..count {
                let place = places.clone().try_acquire_owned().unwrap();
                waiting.push(Line::Text(vec![b'x'; size], Some(place)));
            }
            waiting.push(Line::End);
            assert_eq!(2 * LINES - places.available_permits(), kept, "{count} of {size} bytes");
            let lines: Vec<Line> = std::iter::from_fn(|| waiting.pop()).collect();
            assert_eq!((lines.len(), waiting.bytes), (count + 1, 0));
            assert!(matches!(lines.last(), Some(Line::End)));
        }
    }
}
