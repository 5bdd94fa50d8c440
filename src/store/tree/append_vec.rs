//! A vector that grows at its end while others read it.

use std::sync::{
    OnceLock,
    atomic::{AtomicUsize, Ordering},
};

/// Values of the first chunk; each further chunk is twice as long. Few: most sessions of siblings are short, and there
/// may be thousands of them.
const FIRST: usize = 8;
/// Enough chunks for any position in a log, which has 32 bits.
const CHUNKS: usize = u32::BITS as usize - FIRST.ilog2() as usize;

/// A vector whose values never move and never change: readers need no lock, and a value costs the same to add
/// whatever the length.
pub struct AppendVec<T> {
    /// What it was made from.
    loaded: Box<[T]>,
    chunks: [OnceLock<Box<[OnceLock<T>]>>; CHUNKS],
    length: AtomicUsize,
}

impl<T> AppendVec<T> {
    /// A vector that begins with these values.
    pub fn new(loaded: Vec<T>) -> Self {
        let length = AtomicUsize::new(loaded.len());
        Self { loaded: loaded.into(), chunks: [const { OnceLock::new() }; CHUNKS], length }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.length.load(Ordering::Acquire)
    }

    /// The value at `index`.
    pub fn get(&self, index: usize) -> Option<&T> {
        let Some(added) = index.checked_sub(self.loaded.len()) else { return self.loaded.get(index) };
        let (chunk, place) = place(added);
        self.chunks[chunk].get()?[place].get()
    }

    /// Adds a value; returns its index.
    pub fn push(&self, mut value: T) -> usize {
        let mut index = self.len();
        loop {
            let (chunk, place) = place(index - self.loaded.len());
            let slots = self.chunks[chunk].get_or_init(|| (0..FIRST << chunk).map(|_| OnceLock::new()).collect());
            match slots[place].set(value) {
                Ok(()) => break,
                // Somebody else was faster.
                Err(back) => value = back,
            }
            index += 1;
        }
        self.length.fetch_max(index + 1, Ordering::Release);
        index
    }
}

/// The chunk of the value with this number, and its place in there.
fn place(number: usize) -> (usize, usize) {
    let chunk = (number / FIRST + 1).ilog2() as usize;
    (chunk, number - FIRST * ((1 << chunk) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_index_over_chunk_borders() {
        for loaded in [0, 1, 100] {
            let vec = AppendVec::new((0..loaded).collect());
            for value in loaded..1000 {
                assert_eq!(vec.get(value), None);
                assert_eq!(vec.push(value), value);
            }
            assert_eq!(vec.len(), 1000);
            assert!((0..1000).all(|index| vec.get(index) == Some(&index)));
        }
    }

    #[test]
    fn threads_that_push_at_once_lose_nothing() {
        let vec = AppendVec::new(Vec::new());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let vec = &vec;
                scope.spawn(move || (0..500).for_each(|n| assert!(vec.push(thread * 500 + n) < 2000)));
            }
        });
        let mut all: Vec<usize> = (0..vec.len()).map(|index| *vec.get(index).unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..2000).collect::<Vec<_>>());
    }
}
