//! Searching file contents.
//!
//! The threads that walk also search (see [`super::walk`]).

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::overrides::{Override, OverrideBuilder};
use tokio_util::sync::CancellationToken;

use super::{
    files,
    walk::{self, Bound, Place, Sight},
};
use crate::tools::{
    operations::{FileKind, GrepHits, GrepQuery, SearchError, search::GrepLine},
    truncate::cut_to_units,
};

/// Bytes of text that a result needs at most: far more than any tool shows.
const ENOUGH_BYTES: usize = 1 << 20;
/// Bytes of the longest line that is searched; each thread may hold one.
const LINE_AT_MOST: usize = 32 << 20;

pub fn run(query: &GrepQuery, sight: &Sight, cancel: &CancellationToken) -> Result<GrepHits, SearchError> {
    let matcher = matcher(query)?;
    let root = query.root.as_path();
    let stat = files::stat(root).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => SearchError::NotFound(root.to_owned()),
        _ => SearchError::Unreadable { path: root.to_owned(), error },
    })?;
    let search = Search { query, matcher: &matcher, sight, cancel };
    let hits = match stat.kind {
        FileKind::Special => return Err(SearchError::Special(root.to_owned())),
        FileKind::File => search.file_alone(root)?,
        FileKind::Folder => search.folder(root)?,
    };
    if cancel.is_cancelled() { Err(SearchError::Cancelled) } else { Ok(hits) }
}

pub fn matcher(query: &GrepQuery) -> Result<RegexMatcher, SearchError> {
    RegexMatcherBuilder::new()
        .case_insensitive(query.ignore_case)
        .fixed_strings(query.literal)
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .build(&query.pattern)
        .map_err(|error| SearchError::Pattern { pattern: query.pattern.clone(), reason: reason(query, error) })
}

/// What is wrong with a pattern, in words for a model.
fn reason(query: &GrepQuery, error: grep_regex::Error) -> String {
    const LITERAL: &str = "To search for it as plain text, set literal to true.";
    if let grep_regex::ErrorKind::NotAllowed(_) = error.kind() {
        return "It has a line break, but lines are searched one by one. Search for one of its lines.".to_owned();
    }
    // The builder's own errors show the pattern within a group that it adds.
    match regex_syntax::parse(&query.pattern) {
        Err(error) if !query.literal => format!("{error}. {LITERAL}"),
        _ => error.to_string(),
    }
}

/// The files that the query's glob lets through.
pub fn overrides(query: &GrepQuery, root: &Path) -> Result<Override, SearchError> {
    let mut builder = OverrideBuilder::new(root);
    let Some(glob) = &query.glob else { return Ok(Override::empty()) };
    let (not, glob_alone) = glob.strip_prefix('!').map_or(("", glob.as_str()), |glob| ("!", glob));
    builder
        .add(&format!("{not}{}", glob_alone.strip_prefix("./").unwrap_or(glob_alone)))
        .and_then(|builder| builder.build())
        .map_err(|error| SearchError::Glob { pattern: glob.clone(), reason: error.to_string() })
}

struct Search<'a> {
    query: &'a GrepQuery,
    matcher: &'a RegexMatcher,
    sight: &'a Sight,
    cancel: &'a CancellationToken,
}

impl Search<'_> {
    /// A file that was asked for by name is searched even where it looks binary.
    fn file_alone(&self, path: &Path) -> Result<GrepHits, SearchError> {
        let name = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let unreadable = |error| SearchError::Unreadable { path: path.to_owned(), error };
        let file = self.sight.open(path).map_err(unreadable)?;
        let mut searcher = searcher(self.query, true);
        let mut found = Found::new(self.query);
        found.add(path, self.file(&mut searcher, file, &name).map_err(unreadable)?);
        Ok(found.finish())
    }

    fn folder(&self, root: &Path) -> Result<GrepHits, SearchError> {
        let overrides = overrides(self.query, root)?;
        let walk = walk::builder(root, true, self.sight)
            .overrides(overrides)
            .add_custom_ignore_filename(".rgignore")
            .build_parallel();
        let found = Mutex::new(Found::new(self.query));
        let bound = Bound::default();
        let unsearched = AtomicUsize::new(0);
        walk::visit(walk, &bound, self.cancel, || {
            let mut searcher = searcher(self.query, false);
            let (found, bound, unsearched) = (&found, &bound, &unsearched);
            move |entry| {
                if !walk::is_file(entry) {
                    return;
                }
                let path = entry.path();
                // Files that cannot be read are left out, as they are for the person who runs this.
                let Ok(file) = self.sight.open(path) else { return };
                match self.file(&mut searcher, file, &|| walk::relative(path, root)) {
                    Ok(hits) if hits.matches > 0 => {
                        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                        found.add(path, hits).inspect(|last| bound.set(last));
                    }
                    Err(error) if error.raw_os_error().is_none() => {
                        unsearched.fetch_add(1, Ordering::Relaxed);
                    }
                    _ => {}
                }
            }
        });
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(GrepHits { unsearched: unsearched.into_inner(), ..found.finish() })
    }

    fn file(&self, searcher: &mut Searcher, file: File, name: &dyn Fn() -> String) -> io::Result<FileHits> {
        search(searcher, self.matcher, self.query, Interruptible { file, cancel: self.cancel }, name)
    }
}

/// Searches one content, wherever it comes from; results call it `name`.
pub fn search(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    query: &GrepQuery,
    content: impl Read,
    name: &dyn Fn() -> String,
) -> io::Result<FileHits> {
    let mut sink = FileSink { name, path: None, hits: FileHits::default(), query, last: None };
    searcher.search_reader(matcher, content, &mut sink)?;
    Ok(sink.hits)
}

/// What goes through contents. One that was asked for by name is searched even where it looks binary.
pub fn searcher(query: &GrepQuery, by_name: bool) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .before_context(query.context)
        .after_context(query.context)
        .heap_limit(Some(LINE_AT_MOST))
        .binary_detection(if by_name { BinaryDetection::none() } else { BinaryDetection::quit(0) })
        .build()
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

/// What one file holds.
#[derive(Default)]
pub struct FileHits {
    lines: Vec<GrepLine>,
    matches: usize,
    bytes: usize,
}

impl FileHits {
    pub fn is_empty(&self) -> bool {
        self.matches == 0
    }
}

/// Collects the lines of one file.
struct FileSink<'a> {
    name: &'a dyn Fn() -> String,
    /// The name as the lines share it; made for the first of them, since most files have none.
    path: Option<Arc<str>>,
    hits: FileHits,
    query: &'a GrepQuery,
    /// The last line that can matter, when there are enough matches.
    last: Option<u64>,
}

impl FileSink<'_> {
    fn add(&mut self, is_match: bool, number: Option<u64>, bytes: &[u8]) {
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // No unit of UTF-16 takes more than three bytes of UTF-8.
        let units = self.query.line_units;
        let beginning = &line[..line.len().min(units.saturating_mul(3).saturating_add(4))];
        let text = String::from_utf8_lossy(beginning);
        let shorter = cut_to_units(&text, units);
        let cut = shorter.is_some() || beginning.len() < line.len();
        let text = shorter.map_or_else(|| text.to_string(), str::to_owned);
        self.hits.bytes += text.len();
        let path = Arc::clone(self.path.get_or_insert_with(|| (self.name)().into()));
        self.hits.lines.push(GrepLine { path, number: number.unwrap_or(0), is_match, text, cut });
    }
}

impl Sink for FileSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.hits.matches += 1;
        let number = found.line_number().unwrap_or(0);
        self.add(true, found.line_number(), found.bytes());
        if self.hits.matches == self.query.limit {
            self.last = Some(number.saturating_add(self.query.context as u64));
        }
        // One more than the limit, so that it is known that there is more; and what shows as context of the last one.
        let wanted = self.hits.matches <= self.query.limit || self.last.is_some_and(|last| number < last);
        Ok(wanted && self.hits.bytes <= ENOUGH_BYTES)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.add(false, context.line_number(), context.bytes());
        Ok(self.hits.bytes <= ENOUGH_BYTES)
    }
}

/// The first files in order that hold enough.
pub struct Found<'a> {
    query: &'a GrepQuery,
    files: BTreeMap<Place, FileHits>,
    matches: usize,
    bytes: usize,
}

impl<'a> Found<'a> {
    pub fn new(query: &'a GrepQuery) -> Self {
        Self { query, files: BTreeMap::new(), matches: 0, bytes: 0 }
    }

    /// Adds a file, drops those that are not needed with it, and gives the last one that can matter, if that is known.
    pub fn add(&mut self, path: &Path, hits: FileHits) -> Option<&Path> {
        self.matches += hits.matches;
        self.bytes += hits.bytes;
        self.files.insert(Place(path.to_owned()), hits);
        while let Some(last) = self.files.last_entry() {
            let (matches, bytes) = (self.matches - last.get().matches, self.bytes - last.get().bytes);
            if !enough(matches, bytes, self.query.limit) {
                break;
            }
            last.remove();
            (self.matches, self.bytes) = (matches, bytes);
        }
        let (last, _) = self.files.last_key_value()?;
        enough(self.matches, self.bytes, self.query.limit).then_some(&last.0)
    }

    /// The lines up to the limit: the last match with what follows it, but nothing that leads to the next.
    pub fn finish(self) -> GrepHits {
        let mut hits = GrepHits::default();
        let mut left = self.query.limit;
        for file in self.files.into_values() {
            if left == 0 {
                hits.more = true;
                break;
            }
            let mut last = u64::MAX;
            for mut line in file.lines {
                hits.more |= left == 0 && line.is_match;
                if line.number > last {
                    continue;
                }
                line.is_match &= left > 0;
                if line.is_match {
                    left -= 1;
                    if left == 0 {
                        last = line.number.saturating_add(self.query.context as u64);
                    }
                }
                hits.lines.push(line);
            }
        }
        hits
    }
}

fn enough(matches: usize, bytes: usize, limit: usize) -> bool {
    matches > limit || bytes > ENOUGH_BYTES
}
