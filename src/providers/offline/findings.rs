//! What a tool's result says, as facts.

use crate::protocol::ToolCall;

/// A call and its result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding {
    /// The call.
    pub call: ToolCall,
    /// The result without the tool's own remark at its end; empty when the tool says that there is nothing.
    pub text: String,
    /// The tool's remark that this is not all.
    pub cut: Option<String>,
    /// True when the call failed.
    pub failed: bool,
}

/// A file and its number of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineCount {
    pub path: String,
    pub lines: u64,
}

/// A line that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub path: String,
    pub line: u64,
    pub text: String,
}

/// How the tools say that there is nothing.
const NOTHING: [&str; 4] = ["(no output)", "No matches found", "No files found matching pattern", "(empty directory)"];

/// How their remarks begin, after a blank line at the end.
const REMARKS: [&str; 4] = ["[Showing ", "[Line ", "[Some lines ", "[50.0KB limit"];
/// What else only a remark says.
const REMARK_PARTS: [&str; 4] = ["more lines in file.", "matches limit", "results limit", "entries limit"];

impl Finding {
    /// Reads a result.
    pub fn new(call: ToolCall, text: &str, failed: bool) -> Self {
        let (text, cut) = split_remark(text);
        let text = if NOTHING.contains(&text.trim()) { "" } else { text };
        Self { call, text: text.to_owned(), cut: cut.map(str::to_owned), failed }
    }

    /// The call's argument of that name.
    pub fn argument(&self, name: &str) -> &str {
        self.call.arguments.get(name).and_then(|value| value.as_str()).unwrap_or_default()
    }

    /// The first line of a failure.
    pub fn failure(&self) -> &str {
        self.text.lines().find(|line| !line.trim().is_empty()).unwrap_or("no reason given")
    }

    /// Paths, one a line.
    pub fn paths(&self) -> Vec<String> {
        let lines = self.text.lines().filter(|line| !self.is_complaint(line)).map(tidy).filter(|path| !path.is_empty());
        lines.map(str::to_owned).collect()
    }

    /// Error lines of programs: a shell mixes them with what they print.
    pub fn complaints(&self) -> impl Iterator<Item = &str> {
        self.text.lines().filter(|line| self.is_complaint(line))
    }

    /// Our own commands print paths that begin with `.`, `/` or `~`, or else fail as a whole.
    fn is_complaint(&self, line: &str) -> bool {
        let by_shell = self.call.name == "bash" && self.argument("command").starts_with("find ");
        by_shell && ["find: ", "wc: ", "sort: "].iter().any(|program| line.starts_with(program))
    }

    /// Counts as `wc -l` prints them. Its totals are left out: with many files there are several.
    pub fn line_counts(&self) -> Vec<LineCount> {
        let counts = self.text.lines().filter_map(|line| {
            let (number, path) = line.trim_start().split_once(' ')?;
            // Searched paths begin with `./`, `../` or `/`, so a file called total is no total.
            let path = path.starts_with(['.', '/']).then(|| tidy(path))?;
            Some(LineCount { path: path.to_owned(), lines: number.parse().ok()? })
        });
        counts.collect()
    }

    /// Lines, words and bytes as `wc` prints them for one file.
    pub fn sizes(&self) -> Option<[u64; 3]> {
        let mut numbers = self.text.split_whitespace().map_while(|word| word.parse().ok());
        Some([numbers.next()?, numbers.next()?, numbers.next()?])
    }

    /// Matches as `grep -n` and the search tool print them: `PATH:LINE:TEXT`. In a search of one file the tool leaves
    /// the folder out.
    pub fn matches(&self) -> Vec<Match> {
        self.text.lines().filter_map(parse_match).collect()
    }
}

fn parse_match(line: &str) -> Option<Match> {
    // The first colon, number, colon ends the path.
    let mut from = 0;
    while let Some(at) = line[from..].find(':').map(|at| from + at) {
        let rest = &line[at + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && rest[digits..].starts_with(':') {
            let text = &rest[digits + 1..];
            let path = tidy(&line[..at]).to_owned();
            return Some(Match { path, line: rest[..digits].parse().ok()?, text: text.trim().to_owned() });
        }
        from = at + 1;
    }
    None
}

fn tidy(path: &str) -> &str {
    let path = path.strip_suffix('\r').unwrap_or(path);
    path.strip_prefix("./").unwrap_or(path)
}

/// Splits the tool's remark off.
fn split_remark(text: &str) -> (&str, Option<&str>) {
    let Some((body, last)) = text.rsplit_once("\n\n") else {
        return if is_remark(text) { ("", Some(text)) } else { (text, None) };
    };
    if is_remark(last) { (body, Some(last)) } else { (text, None) }
}

fn is_remark(text: &str) -> bool {
    text.starts_with('[')
        && text.ends_with(']')
        && (REMARKS.iter().any(|start| text.starts_with(start)) || REMARK_PARTS.iter().any(|part| text.contains(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(text: &str) -> Finding {
        Finding::new(ToolCall::default(), text, false)
    }

    #[test]
    fn remarks_of_tools_are_no_text_of_the_file() {
        let table = [
            ("a\nb\n\n[Showing lines 1-2 of 9. Use offset=3 to continue.]", "a\nb", true),
            ("a\n\n[7 more lines in file. Use offset=2 to continue.]", "a", true),
            ("[Line 1 is 58.6KB, exceeds 50.0KB limit. Use bash: x]", "", true),
            ("a\n\n[a link]", "a\n\n[a link]", false),
            ("(no output)", "", false),
            ("No matches found", "", false),
        ];
        for (text, body, cut) in table {
            let found = finding(text);
            assert_eq!((found.text.as_str(), found.cut.is_some()), (body, cut), "{text}");
        }
    }

    #[test]
    fn counts_and_matches_are_read_from_what_programs_print() {
        let counts = finding("   3 ./src/a b.rs\n 12 ./total\n 15 total\nwc: x: Permission denied").line_counts();
        let expected = [("src/a b.rs", 3), ("total", 12)];
        assert_eq!(counts, expected.map(|(path, lines)| LineCount { path: path.into(), lines }));
        let matches = finding("./src/a.rs:12:  // TODO: x:3:y\nb.md:1: text\nno match").matches();
        let expected = [("src/a.rs", 12, "// TODO: x:3:y"), ("b.md", 1, "text")];
        let expected = expected.map(|(path, line, text)| Match { path: path.into(), line, text: text.into() });
        assert_eq!(matches, expected);
        assert_eq!(finding("  3  5 30 ./x y").sizes(), Some([3, 5, 30]));
        assert_eq!(finding("wc: nope").sizes(), None);
        assert_eq!(finding("./a\nsrc/\n").paths(), ["a", "src/"]);
    }
}
