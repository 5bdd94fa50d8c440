//! Searching file contents.
//!
//! One thread walks and hands out batches of files in order; the others search them. Batches end in any order, the
//! result does not: as soon as the first batches in order hold enough, later ones are neither searched nor kept.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch};
use ignore::overrides::{Override, OverrideBuilder};
use tokio_util::sync::CancellationToken;

use super::{files, walk};
use crate::tools::{
    operations::{FileKind, GrepHits, GrepQuery, SearchError, search::GrepLine},
    truncate::cut_to_units,
};

/// Files that a thread takes at once.
const BATCH: usize = 32;
/// Batches that wait to be searched.
const QUEUE: usize = 64;
/// More threads than this only wait for the disk.
const THREADS_AT_MOST: usize = 8;
/// Bytes of text that a result needs at most: far more than any tool shows.
const ENOUGH_BYTES: usize = 1 << 20;

pub fn run(query: &GrepQuery, cancel: &CancellationToken) -> Result<GrepHits, SearchError> {
    let matcher = matcher(query)?;
    let root = query.root.as_path();
    let stat = files::stat(root).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => SearchError::NotFound(root.to_owned()),
        _ => SearchError::Unreadable { path: root.to_owned(), error },
    })?;
    let search = Search { query, matcher: &matcher, cancel };
    let hits = match stat.kind {
        FileKind::Special => return Err(SearchError::Special(root.to_owned())),
        FileKind::File => search.file_alone(root)?,
        FileKind::Folder => search.folder(root)?,
    };
    if cancel.is_cancelled() { Err(SearchError::Cancelled) } else { Ok(hits) }
}

fn matcher(query: &GrepQuery) -> Result<RegexMatcher, SearchError> {
    RegexMatcherBuilder::new()
        .case_insensitive(query.ignore_case)
        .fixed_strings(query.literal)
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .build(&query.pattern)
        .map_err(|error| SearchError::Pattern { pattern: query.pattern.clone(), reason: error.to_string() })
}

/// The files that the query's glob lets through.
fn overrides(query: &GrepQuery, root: &Path) -> Result<Override, SearchError> {
    let mut builder = OverrideBuilder::new(root);
    let Some(glob) = &query.glob else { return Ok(Override::empty()) };
    builder
        .add(glob.strip_prefix("./").unwrap_or(glob))
        .and_then(|builder| builder.build())
        .map_err(|error| SearchError::Glob { pattern: glob.clone(), reason: error.to_string() })
}

struct Search<'a> {
    query: &'a GrepQuery,
    matcher: &'a RegexMatcher,
    cancel: &'a CancellationToken,
}

impl Search<'_> {
    fn searcher(&self, binary: BinaryDetection) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .before_context(self.query.context)
            .after_context(self.query.context)
            .binary_detection(binary)
            .build()
    }

    /// A file that was asked for by name is searched even where it looks binary.
    fn file_alone(&self, path: &Path) -> Result<GrepHits, SearchError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let unreadable = |error| SearchError::Unreadable { path: path.to_owned(), error };
        let file = files::open(path).map_err(unreadable)?;
        let mut searcher = self.searcher(BinaryDetection::convert(0));
        let mut found = Found::new(self.query.limit);
        let mut batch = BatchHits::default();
        batch.add(self.file(&mut searcher, file, &name).map_err(unreadable)?);
        found.add(0, batch);
        Ok(found.finish())
    }

    fn folder(&self, root: &Path) -> Result<GrepHits, SearchError> {
        let overrides = overrides(self.query, root)?;
        let found = Mutex::new(Found::new(self.query.limit));
        let bound = AtomicUsize::new(usize::MAX);
        let (sender, receiver) = sync_channel(QUEUE);
        let receiver = Arc::new(Mutex::new(receiver));
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(THREADS_AT_MOST);
        thread::scope(|scope| {
            for _ in 0..threads {
                let (receiver, found, bound) = (Arc::clone(&receiver), &found, &bound);
                scope.spawn(move || self.work(root, &receiver, found, bound));
            }
            // Should all threads fail, nobody holds the queue, and the walk ends.
            drop(receiver);
            self.feed(root, overrides, sender, &bound);
        });
        Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner).finish())
    }

    /// Hands out the files in order, until a bound says that those which are out are enough.
    fn feed(&self, root: &Path, overrides: Override, sender: SyncSender<(usize, Vec<PathBuf>)>, bound: &AtomicUsize) {
        let entries = walk::builder(root, true).overrides(overrides).add_custom_ignore_filename(".rgignore").build();
        let mut files = entries.flatten().filter(walk::is_file).map(ignore::DirEntry::into_path);
        for index in 0.. {
            let batch: Vec<PathBuf> = files.by_ref().take(BATCH).collect();
            let enough = bound.load(Ordering::Relaxed) < index;
            if batch.is_empty() || enough || self.cancel.is_cancelled() || sender.send((index, batch)).is_err() {
                return;
            }
        }
    }

    fn work(
        &self,
        root: &Path,
        batches: &Mutex<Receiver<(usize, Vec<PathBuf>)>>,
        found: &Mutex<Found>,
        bound: &AtomicUsize,
    ) {
        let mut searcher = self.searcher(BinaryDetection::quit(0));
        loop {
            let next = batches.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((index, paths)) = next else { return };
            // What is left in the queue is taken out, so that the walk is not held up and ends.
            if index > bound.load(Ordering::Relaxed) || self.cancel.is_cancelled() {
                continue;
            }
            let mut batch = BatchHits::default();
            for path in paths {
                // Files that cannot be read are left out, as they are for the person who runs this.
                let Ok(file) = files::open(&path) else { continue };
                if let Ok(hits) = self.file(&mut searcher, file, &walk::relative(&path, root)) {
                    batch.add(hits);
                }
            }
            if batch.matches > 0 {
                let new_bound = found.lock().unwrap_or_else(PoisonError::into_inner).add(index, batch);
                bound.fetch_min(new_bound, Ordering::Relaxed);
            }
        }
    }

    fn file(&self, searcher: &mut Searcher, file: File, name: &str) -> io::Result<FileHits> {
        let mut sink = FileSink {
            name,
            path: None,
            hits: FileHits::default(),
            limit: self.query.limit,
            units: self.query.line_units,
        };
        searcher.search_reader(self.matcher, Interruptible { file, cancel: self.cancel }, &mut sink)?;
        Ok(sink.hits)
    }
}

/// A file whose reading ends when the search is cancelled, also where nothing matches.
struct Interruptible<'a> {
    file: File,
    cancel: &'a CancellationToken,
}

impl Read for Interruptible<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read(buffer)
    }
}

/// What a line of a result is there for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Match,
    Before,
    After,
}

#[derive(Default)]
struct FileHits {
    lines: Vec<(Role, GrepLine)>,
    matches: usize,
    bytes: usize,
}

/// Collects the lines of one file.
struct FileSink<'a> {
    name: &'a str,
    /// The name as the lines share it; made for the first of them, since most files have none.
    path: Option<Arc<str>>,
    hits: FileHits,
    limit: usize,
    units: usize,
}

impl FileSink<'_> {
    fn add(&mut self, role: Role, number: Option<u64>, bytes: &[u8]) {
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // No unit of UTF-16 takes more than three bytes of UTF-8.
        let beginning = &line[..line.len().min(self.units.saturating_mul(3).saturating_add(4))];
        let text = String::from_utf8_lossy(beginning);
        let shorter = cut_to_units(&text, self.units);
        let cut = shorter.is_some() || beginning.len() < line.len();
        let text = shorter.map_or_else(|| text.to_string(), str::to_owned);
        self.hits.bytes += text.len();
        let path = Arc::clone(self.path.get_or_insert_with(|| self.name.into()));
        self.hits
            .lines
            .push((role, GrepLine { path, number: number.unwrap_or(0), is_match: role == Role::Match, text, cut }));
    }
}

impl Sink for FileSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.hits.matches += 1;
        self.add(Role::Match, found.line_number(), found.bytes());
        // One more than the limit, so that it is known that there is more.
        Ok(self.hits.matches <= self.limit && self.hits.bytes <= ENOUGH_BYTES)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let role = if *context.kind() == SinkContextKind::After { Role::After } else { Role::Before };
        self.add(role, context.line_number(), context.bytes());
        Ok(self.hits.bytes <= ENOUGH_BYTES)
    }
}

/// What one batch of files holds, in order.
#[derive(Default)]
struct BatchHits {
    lines: Vec<(Role, GrepLine)>,
    matches: usize,
    bytes: usize,
}

impl BatchHits {
    fn add(&mut self, file: FileHits) {
        self.lines.extend(file.lines);
        self.matches += file.matches;
        self.bytes += file.bytes;
    }
}

/// The first batches in order that hold enough.
struct Found {
    limit: usize,
    batches: BTreeMap<usize, BatchHits>,
    matches: usize,
    bytes: usize,
}

impl Found {
    fn new(limit: usize) -> Self {
        Self { limit, batches: BTreeMap::new(), matches: 0, bytes: 0 }
    }

    /// Adds a batch, drops what is not needed with it, and gives the last batch that can matter.
    fn add(&mut self, index: usize, batch: BatchHits) -> usize {
        self.matches += batch.matches;
        self.bytes += batch.bytes;
        self.batches.insert(index, batch);
        while let Some(last) = self.batches.last_entry() {
            let (matches, bytes) = (self.matches - last.get().matches, self.bytes - last.get().bytes);
            if !enough(matches, bytes, self.limit) {
                break;
            }
            last.remove();
            (self.matches, self.bytes) = (matches, bytes);
        }
        match self.batches.last_key_value() {
            Some((last, _)) if enough(self.matches, self.bytes, self.limit) => *last,
            _ => usize::MAX,
        }
    }

    /// The lines up to the limit: the last match with what follows it, but nothing that leads to the next.
    fn finish(self) -> GrepHits {
        let mut hits = GrepHits::default();
        let mut matches = 0;
        for (role, line) in self.batches.into_values().flat_map(|batch| batch.lines) {
            if matches == self.limit && role != Role::After {
                if role == Role::Match {
                    hits.more = true;
                    break;
                }
                continue;
            }
            matches += usize::from(role == Role::Match);
            hits.lines.push(line);
        }
        hits
    }
}

fn enough(matches: usize, bytes: usize, limit: usize) -> bool {
    matches > limit || bytes > ENOUGH_BYTES
}
