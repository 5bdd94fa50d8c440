//! The part of YAML that heads use.

use super::Malformed;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// As it stands; YAML would give some of them a type.
    Plain(String),
    /// Quoted, or a block: always text.
    Text(String),
    /// A list or an object on one line, as it stands.
    Flow(String),
    /// Something nested.
    Nested,
}

/// Reads the lines between the fences.
pub(super) struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(lines: &'a [&'a str]) -> Self {
        Self { lines, at: 0 }
    }

    /// All keys with their values.
    pub(super) fn entries(mut self) -> Result<Vec<(String, Value)>, Malformed> {
        let mut entries = Vec::new();
        while let Some(line) = self.next() {
            if is_blank(line) {
                continue;
            }
            let (key, rest) = self.key(line)?;
            entries.push((key, self.value(rest)?));
        }
        Ok(entries)
    }

    fn next(&mut self) -> Option<&'a str> {
        let line = self.lines.get(self.at)?;
        self.at += 1;
        Some(line)
    }

    /// The next line when it is indented or blank, that is, part of the value above.
    fn next_inner(&mut self) -> Option<&'a str> {
        let line = self.lines.get(self.at)?;
        if !line.trim().is_empty() && !line.starts_with(' ') {
            return None;
        }
        self.next()
    }

    fn malformed(&self, reason: &'static str) -> Malformed {
        // The fence is line 1, and `at` already counts the line that is looked at.
        Malformed { line: self.at + 1, reason }
    }

    fn key(&self, line: &'a str) -> Result<(String, &'a str), Malformed> {
        if line.starts_with([' ', '\t']) {
            return Err(self.malformed("it is indented, but belongs to no key"));
        }
        let end = line.find(": ").or_else(|| line.trim_end().strip_suffix(':').map(str::len));
        let end = end.ok_or_else(|| self.malformed("it is no `key: value`"))?;
        let key = line[..end].trim().trim_matches(['"', '\'']);
        Ok((key.to_owned(), line[end + 1..].trim()))
    }

    fn value(&mut self, rest: &'a str) -> Result<Value, Malformed> {
        match rest.chars().next() {
            None | Some('#') => Ok(self.below()),
            Some('|') => Ok(Value::Text(self.block("\n"))),
            Some('>') => Ok(Value::Text(self.block(" "))),
            Some(quote @ ('"' | '\'')) => self.quoted(quote, &rest[1..]),
            Some('[' | '{') => self.flow(rest),
            Some(_) => Ok(Value::Plain(self.plain(rest))),
        }
    }

    /// A value that begins on the line below its key.
    fn below(&mut self) -> Value {
        let is_list = |line: &str| line.starts_with("- ") || line.trim_end() == "-";
        let mut text: Option<Value> = None;
        while let Some(line) = self.lines.get(self.at) {
            if !(is_blank(line) || line.starts_with(' ') || is_list(line)) {
                break;
            }
            self.at += 1;
            let line = line.trim();
            if is_blank(line) {
                continue;
            }
            let is_nested = is_list(line) || line.ends_with(':') || line.contains(": ");
            text = Some(match text {
                None if !is_nested => Value::Plain(self.plain(line)),
                _ => Value::Nested,
            });
        }
        text.unwrap_or(Value::Plain(String::new()))
    }

    /// A plain value goes on in the indented lines below.
    fn plain(&mut self, first: &str) -> String {
        let mut text = without_comment(first).to_owned();
        while let Some(line) = self.next_inner() {
            let line = without_comment(line.trim());
            if !line.is_empty() {
                text.push(' ');
                text.push_str(line);
            }
        }
        text
    }

    /// The indented lines below a `|` (kept apart by `joint` = line break) or `>` (a space; blank lines are breaks).
    fn block(&mut self, joint: &str) -> String {
        let mut lines = Vec::new();
        while let Some(line) = self.next_inner() {
            lines.push(line);
        }
        let indent = lines.iter().filter(|line| !line.trim().is_empty()).map(|line| indent_of(line)).min();
        let mut text = String::new();
        for line in lines {
            let line = line.get(indent.unwrap_or(0)..).unwrap_or_default();
            if line.is_empty() {
                text.push('\n');
            } else {
                if !text.is_empty() && (joint == "\n" || !text.ends_with('\n')) {
                    text.push_str(joint);
                }
                text.push_str(line);
            }
        }
        text
    }

    fn quoted(&mut self, quote: char, first: &str) -> Result<Value, Malformed> {
        let opened = self.malformed("a quote is never closed");
        let mut text = String::new();
        let mut line = first;
        loop {
            if let Some(after) = unquote(line, quote, &mut text) {
                let after = after.trim();
                if after.is_empty() || after.starts_with('#') {
                    return Ok(Value::Text(text));
                }
                return Err(self.malformed("there is text behind the closing quote"));
            }
            line = self.next_inner().map(str::trim).ok_or_else(|| opened.clone())?;
            text.push(' ');
        }
    }

    fn flow(&mut self, first: &str) -> Result<Value, Malformed> {
        let opened = self.malformed("a bracket is never closed");
        let mut text = first.to_owned();
        while depth(&text) > 0 {
            let line = self.next().ok_or_else(|| opened.clone())?;
            text.push(' ');
            text.push_str(line.trim());
        }
        Ok(Value::Flow(without_comment(&text).to_owned()))
    }
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn without_comment(text: &str) -> &str {
    if text.starts_with('#') {
        return "";
    }
    text.split_once(" #").map_or(text, |(text, _)| text).trim_end()
}

/// Adds `line` up to the closing quote to `text`; gives what stands behind it, or `None` when it does not close here.
fn unquote<'a>(line: &'a str, quote: char, text: &mut String) -> Option<&'a str> {
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') => {
                chars.next();
                text.push('\'');
            }
            '\\' if quote == '"' => match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, other)) => text.push(other),
                None => {}
            },
            c if c == quote => return Some(&line[at + 1..]),
            c => text.push(c),
        }
    }
    None
}

/// How many brackets are open at the end of `text`.
fn depth(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth
}
