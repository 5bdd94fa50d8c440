//! From messages to lines: each number of a writer once, in order, and nothing of owners that were overtaken.

use async_nats::HeaderMap;

use super::{
    WINDOW,
    batch::{EPOCH, MIDDLE, NUMBER, WRITER},
};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// The writer whose lines are taken: its epoch, its name, and the number that comes next.
    writer: Option<(u64, String, u64)>,
    /// The beginning of a line whose end did not come yet.
    line: Vec<u8>,
    /// The rest of a line whose beginning was not read.
    skips: bool,
}

/// What a message says beside its contents.
struct Stamp {
    epoch: u64,
    writer: String,
    number: u64,
    middle: bool,
}

impl Order {
    /// The lines that a message completes.
    pub(super) fn take(&mut self, headers: Option<&HeaderMap>, bytes: &[u8]) -> Vec<String> {
        match headers.and_then(stamp) {
            Some(stamp) if self.is_next(&stamp) => self.lines(bytes),
            _ => Vec::new(),
        }
    }

    /// Whether it is the message that is to be read now.
    fn is_next(&mut self, stamp: &Stamp) -> bool {
        let expected = match &self.writer {
            // The first that is read: what was before it is gone.
            None => stamp.number,
            Some((epoch, ..)) if stamp.epoch < *epoch => return false,
            Some((_, writer, next)) if stamp.writer == *writer => *next,
            Some(_) => 1,
        };
        // Whoever sends never has so many under way: the ones between were stored, and are gone by age or size.
        let torn = stamp.number >= expected + WINDOW;
        if stamp.number != expected && !torn {
            return false;
        }
        let goes_on = self.writer.as_ref().is_some_and(|(_, writer, _)| *writer == stamp.writer);
        if !goes_on || torn {
            self.line.clear();
            self.skips = stamp.middle;
        }
        self.writer = Some((stamp.epoch, stamp.writer.clone(), stamp.number + 1));
        true
    }

    fn lines(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            match piece.strip_suffix(b"\n") {
                None => self.line.extend_from_slice(piece),
                Some(end) => {
                    self.line.extend_from_slice(end);
                    let line = std::mem::take(&mut self.line);
                    if !std::mem::take(&mut self.skips) {
                        lines.push(String::from_utf8_lossy(&line).into_owned());
                    }
                }
            }
        }
        lines
    }
}

fn stamp(headers: &HeaderMap) -> Option<Stamp> {
    let text = |name: &str| headers.get(name).map(|value| value.as_str());
    Some(Stamp {
        epoch: text(EPOCH)?.parse().ok()?,
        writer: text(WRITER)?.to_owned(),
        number: text(NUMBER)?.parse().ok()?,
        middle: text(MIDDLE).is_some(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::batch::{Batch, Batcher},
        *,
    };

    fn headers(epoch: u64, writer: &str, batch: &Batch) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(EPOCH, epoch.to_string());
        headers.insert(WRITER, writer);
        headers.insert(NUMBER, batch.number.to_string());
        if batch.middle {
            headers.insert(MIDDLE, "1");
        }
        headers
    }

    fn batch(number: u64, middle: bool, text: &'static str) -> Batch {
        Batch { number, middle, bytes: text.as_bytes().into() }
    }

    fn read(order: &mut Order, epoch: u64, writer: &str, batch: &Batch) -> Vec<String> {
        order.take(Some(&headers(epoch, writer, batch)), &batch.bytes)
    }

    fn batches(lines: &[String], room: usize, every: usize) -> Vec<Batch> {
        let (mut batcher, mut batches) = (Batcher::new(room), Vec::new());
        for (at, line) in lines.iter().enumerate() {
            batcher.add(line, &mut batches);
            if at % every == 0 {
                batches.extend(batcher.take());
            }
        }
        batches.extend(batcher.take());
        batches
    }

    proptest! {
        #[test]
        fn lines_come_out_as_they_went_in_whatever_is_sent_again(
            lines in prop::collection::vec("[a-zäö ]{0,40}", 0..30),
            room in 5usize..60,
            every in 1usize..5,
            back in prop::collection::vec((any::<prop::sample::Index>(), 1usize..5), 0..8),
        ) {
            let sent = batches(&lines, room, every);
            prop_assert!(sent.iter().all(|batch| batch.bytes.len() <= room));
            // What is stored: from time to time the sender goes back some messages, and one in between was lost.
            let mut stored: Vec<usize> = (0..sent.len()).collect();
            for (at, count) in back {
                if stored.is_empty() { continue }
                let at = at.index(stored.len());
                let from = stored[at].saturating_sub(count);
                let lost = stored[at];
                stored = [&stored[..at], &(from..lost).collect::<Vec<_>>(), &(lost..sent.len()).collect::<Vec<_>>()].concat();
            }
            let mut order = Order::default();
            let read: Vec<String> = stored.iter().flat_map(|at| read(&mut order, 1, "w", &sent[*at])).collect();
            prop_assert_eq!(read, lines);
        }
    }

    #[test]
    fn a_message_that_overtook_a_lost_one_waits_until_both_are_sent_again() {
        let mut order = Order::default();
        assert_eq!(read(&mut order, 1, "w", &batch(1, false, "a\n")), ["a"]);
        assert!(read(&mut order, 1, "w", &batch(3, false, "c\n")).is_empty());
        assert_eq!(read(&mut order, 1, "w", &batch(2, false, "b\n")), ["b"]);
        assert_eq!(read(&mut order, 1, "w", &batch(3, false, "c\n")), ["c"]);
        assert!(read(&mut order, 1, "w", &batch(3, false, "c\n")).is_empty());
    }

    #[test]
    fn an_owner_that_was_overtaken_is_not_heard() {
        let mut order = Order::default();
        assert_eq!(read(&mut order, 1, "old", &batch(1, false, "a\nhalf of a li")), ["a"]);
        assert_eq!(read(&mut order, 2, "new", &batch(1, false, "b\n")), ["b"]);
        assert!(read(&mut order, 1, "old", &batch(2, true, "ne\n")).is_empty());
        assert_eq!(read(&mut order, 2, "new", &batch(2, false, "c\n")), ["c"]);
        // The same worker after a restart.
        assert_eq!(read(&mut order, 2, "again", &batch(1, false, "d\n")), ["d"]);
    }

    #[test]
    fn what_is_gone_by_age_is_stepped_over() {
        let mut order = Order::default();
        assert_eq!(read(&mut order, 1, "w", &batch(7, true, "the end of a line\na\n")), ["a"]);
        assert_eq!(read(&mut order, 1, "w", &batch(8 + WINDOW, true, "end\nb\n")), ["b"]);
        assert!(order.take(None, b"x\n").is_empty());
    }
}
