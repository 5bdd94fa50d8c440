//! Calling ripgrep, and reading what it finds.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Deserialize;

use crate::tools::{
    operations::{GrepHits, GrepQuery, search::GrepLine},
    truncate::cut_to_units,
};

/// Bytes of text that a result needs at most: far more than any tool shows.
const ENOUGH_BYTES: usize = 1 << 20;

/// Options and pattern. What the query says is never an option of its own.
#[must_use]
pub fn arguments(query: &GrepQuery) -> Vec<String> {
    let mut arguments: Vec<String> =
        ["--no-config", "--json", "--hidden", "--no-messages", "--sort=path"].map(str::to_owned).into();
    arguments.push(if query.ignore_case { "--ignore-case" } else { "--case-sensitive" }.to_owned());
    if query.literal {
        arguments.push("--fixed-strings".to_owned());
    }
    arguments.push(format!("--context={}", query.context));
    // One more than the limit, so that it is known that there is more.
    arguments.push(format!("--max-count={}", query.limit.saturating_add(1)));
    arguments.push(format!("--regexp={}", query.pattern));
    arguments
}

/// The glob, empty for none.
#[must_use]
pub fn glob(query: &GrepQuery) -> String {
    let glob = query.glob.as_deref().unwrap_or_default();
    let (not, name) = glob.strip_prefix('!').map_or(("", glob), |glob| ("!", glob));
    format!("{not}{}", name.strip_prefix("./").unwrap_or(name))
}

/// One line of what `--json` prints.
#[derive(Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "lowercase")]
enum Message {
    Match(Line),
    Context(Line),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Line {
    path: Text,
    lines: Text,
    line_number: Option<u64>,
}

/// Text, or bytes that are none.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Text {
    Text(String),
    Bytes(String),
}

impl Text {
    fn into_string(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Bytes(encoded) => String::from_utf8_lossy(&STANDARD.decode(encoded).unwrap_or_default()).into_owned(),
        }
    }
}

/// Collects the lines of a result.
pub struct Hits<'a> {
    query: &'a GrepQuery,
    /// What the file is called when the search is in one alone.
    name: Option<Arc<str>>,
    hits: GrepHits,
    matches: usize,
    bytes: usize,
    /// File and last line that belong to the last match, when there are enough.
    last: Option<(Arc<str>, u64)>,
}

impl<'a> Hits<'a> {
    /// No lines yet.
    #[must_use]
    pub fn new(query: &'a GrepQuery, name: Option<String>) -> Self {
        let name = name.map(Into::into);
        Self { query, name, hits: GrepHits::default(), matches: 0, bytes: 0, last: None }
    }

    /// Adds a line of ripgrep's output; false when nothing further is wanted.
    #[must_use]
    pub fn add(&mut self, json: &[u8]) -> bool {
        // What cannot be read is a message that later versions may have.
        let Ok(message) = serde_json::from_slice(json) else { return true };
        let (line, mut is_match) = match message {
            Message::Match(line) => (line, true),
            Message::Context(line) => (line, false),
            Message::Other => return true,
        };
        let (path, number) = (self.path(line.path), line.line_number.unwrap_or(0));
        if let Some((file, last)) = &self.last {
            // Another match says that there are more; what shows with the last one is its context.
            self.hits.more |= is_match;
            if *file != path || number > *last {
                return !is_match;
            }
            is_match = false;
        }
        self.push(path, number, is_match, &line.lines.into_string());
        self.bytes <= ENOUGH_BYTES
    }

    /// All lines.
    #[must_use]
    pub fn finish(self) -> GrepHits {
        self.hits
    }

    fn push(&mut self, path: Arc<str>, number: u64, is_match: bool, text: &str) {
        if is_match {
            self.matches += 1;
            if self.matches == self.query.limit {
                self.last = Some((path.clone(), number.saturating_add(self.query.context as u64)));
            }
        }
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let shorter = cut_to_units(text, self.query.line_units);
        let cut = shorter.is_some();
        let text = shorter.unwrap_or(text).to_owned();
        self.bytes += text.len();
        self.hits.lines.push(GrepLine { path, number, is_match, text, cut });
    }

    /// The file's name, shared with the lines before.
    fn path(&self, path: Text) -> Arc<str> {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let path = path.into_string();
        let path = path.strip_prefix("./").unwrap_or(&path);
        match self.hits.lines.last() {
            Some(line) if &*line.path == path => line.path.clone(),
            _ => path.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: &str, path: &str, number: u64, text: &str) -> String {
        let data = serde_json::json!({
            "path": {"text": path}, "lines": {"text": text}, "line_number": number, "absolute_offset": 0, "submatches": []
        });
        serde_json::json!({"type": kind, "data": data}).to_string()
    }

    fn query(limit: usize, context: usize) -> GrepQuery {
        GrepQuery { pattern: "x".into(), limit, context, line_units: 5, ..GrepQuery::default() }
    }

    #[test]
    fn what_a_query_says_is_never_an_option_fc_055() {
        let odd = GrepQuery { pattern: "--pre=./run.sh".into(), ..query(2, 0) };
        let arguments = arguments(&odd);
        assert_eq!(arguments.last().unwrap(), "--regexp=--pre=./run.sh");
        assert!(arguments.contains(&"--max-count=3".to_owned()));
    }

    #[test]
    fn lines_end_with_what_follows_the_last_match() {
        let query = query(2, 1);
        let mut hits = Hits::new(&query, None);
        let lines = [
            line("begin", "./a", 0, ""),
            line("match", "./a", 1, "x one\r\n"),
            line("context", "./a", 2, "two\n"),
            line("match", "./b", 7, "x"),
            line("context", "./b", 8, "after\n"),
            line("context", "./b", 11, "before the next\n"),
        ];
        assert!(lines.iter().all(|line| hits.add(line.as_bytes())));
        assert!(!hits.add(line("match", "./b", 12, "x\n").as_bytes()));
        let hits = hits.finish();
        let shown: Vec<_> =
            hits.lines.iter().map(|l| format!("{}:{}:{}:{}", l.path, l.number, l.is_match, l.text)).collect();
        assert_eq!(shown, ["a:1:true:x one", "a:2:false:two", "b:7:true:x", "b:8:false:after"]);
        assert!(hits.more);
    }

    #[test]
    fn long_lines_are_cut_and_bytes_that_are_no_text_are_shown() {
        let query = query(9, 0);
        let mut hits = Hits::new(&query, Some("f".into()));
        assert!(hits.add(line("match", "/w/f", 1, "123456").as_bytes()));
        let bytes = br#"{"type":"match","data":{"path":{"bytes":"/w=="},"lines":{"bytes":"YcMK"},"line_number":2}}"#;
        assert!(hits.add(bytes));
        assert!(hits.add(b"not json") && hits.add(br#"{"type":"summary","data":{}}"#));
        let hits = hits.finish();
        assert_eq!((hits.lines[0].text.as_str(), hits.lines[0].cut), ("12345", true));
        assert_eq!((hits.lines[1].text.as_str(), &*hits.lines[1].path), ("a\u{fffd}", "f"));
        assert!(!hits.more);
    }
}
