//! Searching one file, with a bounded part of it in memory.

use std::{
    io::{self, Read},
    ops::{ControlFlow, Range},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use memchr::{memchr, memrchr};

use super::{
    Found,
    snippet::Finder,
    walk::{Facts, Walk},
};
use crate::store::{
    jsonl::{EntryKind, Role},
    sessions::query::{Query, Term},
};

/// Bytes that are read at once. Lines that fit in are searched as they stand, and read only if words are in them.
const BLOCK: usize = 1 << 20;

/// Searches the lines of `source`, until `found` has enough or `cancelled` is set.
///
/// # Errors
/// When reading fails.
pub fn search(
    mut source: impl Read,
    query: &Query,
    cancelled: &AtomicBool,
    mut found: impl FnMut(Found) -> ControlFlow<()>,
) -> io::Result<()> {
    let mut search = Search::of(query);
    let mut block = vec![0; BLOCK];
    let mut filled = 0;
    let mut is_last = false;
    while !is_last && !cancelled.load(Relaxed) {
        let read = match source.read(&mut block[filled..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        is_last = read == 0;
        let unsearched = filled;
        filled += read;
        let newline = memrchr(b'\n', &block[unsearched..filled]).map(|newline| unsearched + newline + 1);
        let complete = match newline {
            Some(complete) => complete,
            None if is_last || filled == block.len() => filled,
            None => continue,
        };
        let ends_line = newline.is_some() || is_last;
        if search.block(&block[..complete], ends_line, &mut found).is_break() {
            break;
        }
        block.copy_within(complete..filled, 0);
        filled -= complete;
    }
    Ok(())
}

struct Search<'q> {
    /// The word that occurs most seldom, it is hoped.
    rarest: &'q Term,
    others: Vec<&'q Term>,
    finder: Finder<'q>,
    /// A line that began in an earlier block.
    long: Option<Walk>,
}

impl<'q> Search<'q> {
    fn of(query: &'q Query) -> Self {
        let mut others: Vec<&Term> = query.terms().iter().collect();
        others.sort_by_key(|term| term.length());
        // A query has at least one word.
        let rarest = others.pop().unwrap_or(&query.terms()[0]);
        Self { rarest, others, finder: Finder::new(query), long: None }
    }

    /// Takes lines, and a part of one more when the last has no end yet.
    fn block(
        &mut self,
        block: &[u8],
        ends_line: bool,
        found: &mut impl FnMut(Found) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut at = 0;
        if self.long.is_some() || !ends_line {
            let mut walk = self.long.take().unwrap_or_default();
            let end = memchr(b'\n', block);
            walk.feed(&block[..end.unwrap_or(block.len())], &mut self.finder);
            match end {
                None if !ends_line => {
                    self.long = Some(walk);
                    return ControlFlow::Continue(());
                }
                end => {
                    at = end.map_or(block.len(), |end| end + 1);
                    self.finish(walk, found)?;
                }
            }
        }
        while let Some(place) = self.rarest.find_in_json(block, at) {
            let line = line_around(block, place, at);
            let text = &block[line.clone()];
            at = line.end + 1;
            if self.others.iter().all(|term| term.find_in_json(text, 0).is_some()) {
                let mut walk = Walk::default();
                walk.feed(text, &mut self.finder);
                self.finish(walk, found)?;
            }
            if at > block.len() {
                break;
            }
        }
        ControlFlow::Continue(())
    }

    fn finish(&mut self, walk: Walk, found: &mut impl FnMut(Found) -> ControlFlow<()>) -> ControlFlow<()> {
        let snippet = self.finder.take();
        match walk.finish().as_ref().and_then(said_by).zip(snippet) {
            Some(((entry, role), snippet)) => found(Found { entry, role, snippet }),
            None => ControlFlow::Continue(()),
        }
    }
}

fn line_around(block: &[u8], place: usize, from: usize) -> Range<usize> {
    let start = memrchr(b'\n', &block[from..place]).map_or(from, |newline| from + newline + 1);
    start..memchr(b'\n', &block[place..]).map_or(block.len(), |newline| place + newline)
}

/// The id of an entry and who said it; `None` for what nobody said: state, labels, the prompt.
fn said_by(facts: &Facts) -> Option<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (kind, role) = (text(&facts.kind), text(&facts.role));
    let role = match EntryKind::parse(&kind, Some(&role)) {
        EntryKind::Message(Role::User | Role::Assistant | Role::ToolResult | Role::BashExecution) => role,
        EntryKind::Compaction => "compactionSummary".to_owned(),
        EntryKind::BranchSummary => "branchSummary".to_owned(),
        EntryKind::CustomMessage => "custom".to_owned(),
        _ => return None,
    };
    Some((text(&facts.id), role))
}
