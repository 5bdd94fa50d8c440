//! The log that all views of a session share.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard},
};

use super::{append_vec::AppendVec, link::link, record::Record, totals::Totals};
use crate::{
    protocol::{EntryId, entry::SessionHeader},
    store::jsonl::{EntryKind, Gap, Line, file::LineSource, read},
};

/// All entries of a session in the order of the file. It only grows; a view is a prefix of it and a leaf.
pub struct Log {
    pub header: SessionHeader,
    pub records: AppendVec<Record>,
    /// Positions of labels and names, so that they are found without a walk over everything.
    pub notes: AppendVec<u32>,
    /// Positions of results that tell of background jobs.
    pub job_results: AppendVec<u32>,
    /// Sums over the first entries, carried on when somebody asks.
    pub totals: Mutex<(usize, Totals)>,
    /// Of equal ids the last one counts.
    index: RwLock<HashMap<EntryId, u32>>,
    source: RwLock<Option<Arc<dyn LineSource>>>,
}

impl Log {
    /// A log of what a file holds.
    pub fn load(header: SessionHeader, lines: Vec<Line>, gaps: &[Gap], source: Option<Arc<dyn LineSource>>) -> Self {
        let index = read::index(&lines);
        let parents = link(&lines, gaps, &index);
        let notes = (0u32..).zip(&lines).filter(|(_, line)| is_note(line.kind)).map(|(at, _)| at).collect();
        let jobs = (0u32..).zip(&lines).filter(|(_, line)| line.of_jobs).map(|(at, _)| at).collect();
        let records = lines
            .into_iter()
            .zip(parents)
            .map(|(line, parent)| Record::read(line.id, parent, line.kind, line.text))
            .collect();
        Self {
            header,
            records: AppendVec::new(records),
            notes: AppendVec::new(notes),
            job_results: AppendVec::new(jobs),
            totals: Mutex::default(),
            index: RwLock::new(index),
            source: RwLock::new(source),
        }
    }

    /// Adds an entry; returns its position.
    pub fn push(&self, record: Record, of_jobs: bool) -> u32 {
        let (id, kind) = (record.id.clone(), record.kind);
        // Entries are counted in 32 bits: a file of so many lines could not be held anyway.
        let at = u32::try_from(self.records.push(record)).unwrap_or(u32::MAX);
        if is_note(kind) {
            self.notes.push(at);
        }
        if of_jobs {
            self.job_results.push(at);
        }
        self.index.write().unwrap_or_else(PoisonError::into_inner).insert(id, at);
        at
    }

    pub fn record(&self, at: u32) -> Option<&Record> {
        self.records.get(at as usize)
    }

    pub fn find(&self, id: &EntryId) -> Option<u32> {
        self.index().get(id).copied()
    }

    pub fn index(&self) -> RwLockReadGuard<'_, HashMap<EntryId, u32>> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn source(&self) -> Option<Arc<dyn LineSource>> {
        self.source.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says where stored lines are read from now on.
    pub fn set_source(&self, source: Arc<dyn LineSource>) {
        *self.source.write().unwrap_or_else(PoisonError::into_inner) = Some(source);
    }
}

fn is_note(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Label | EntryKind::SessionInfo)
}
