//! Lists that say which resources count: in settings, in a package's manifest, in the filter of a package.
//!
//! An entry is a path or a glob (adds, or chooses), `!glob` (leaves out), `+path` (takes back in) or `-path` (leaves out
//! for good). Globs match a resource's path seen from the list's folder, its name with or without the ending, or its
//! absolute path; a skill also goes by its folder.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::warning::Warning;

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry<'a> {
    Plain(&'a str),
    Without(&'a str),
    With(&'a str),
    Never(&'a str),
}

impl<'a> Entry<'a> {
    fn of(text: &'a str) -> Self {
        let rest = text.get(1..).unwrap_or_default();
        match text.chars().next() {
            Some('!') => Self::Without(rest),
            Some('+') => Self::With(rest),
            Some('-') => Self::Never(rest),
            _ => Self::Plain(text),
        }
    }
}

/// The paths and globs of a list that add something.
#[must_use]
pub fn plain(list: &[String]) -> Vec<&str> {
    let plain = |entry: &'_ String| matches!(Entry::of(entry), Entry::Plain(text) if !text.is_empty());
    list.iter().filter(|entry| plain(entry)).map(String::as_str).collect()
}

/// Whether an entry has wildcards.
#[must_use]
pub fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// What a list says about resources that were found.
#[derive(Clone, Debug)]
pub struct Patterns {
    /// The list's folder.
    base: PathBuf,
    /// Without one of these it does not count; none: all do.
    chosen: Option<Vec<Pattern>>,
    /// What matches is turned on whatever was before.
    on: Vec<Pattern>,
    without: Vec<Pattern>,
    with: Vec<Pattern>,
    never: Vec<Pattern>,
}

#[derive(Clone, Debug)]
enum Pattern {
    Glob(GlobMatcher),
    /// A path as it was written, without `./` and a slash at the end; what lies below it belongs to it.
    Path(String),
}

impl Pattern {
    fn new(text: &str, base: &Path, warnings: &mut Vec<Warning>) -> Option<Self> {
        let text = tidy(text);
        if !is_glob(text) {
            return Some(Self::Path(text.to_owned()));
        }
        match GlobBuilder::new(text).literal_separator(true).build() {
            Ok(glob) => Some(Self::Glob(glob.compile_matcher())),
            Err(error) => {
                warnings.push(Warning::new(base, format!("the pattern {text} is malformed and says nothing: {error}")));
                None
            }
        }
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Glob(glob) => glob.is_match(name),
            Self::Path(path) => {
                name.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
        }
    }

    fn is(&self, name: &str) -> bool {
        match self {
            Self::Glob(glob) => glob.is_match(name),
            Self::Path(path) => name == path,
        }
    }
}

fn tidy(text: &str) -> &str {
    text.strip_prefix("./").unwrap_or(text).trim_end_matches('/')
}

impl Patterns {
    /// What the entries with a sign say about everything in the list's reach: in settings and manifests, plain entries
    /// say where to look.
    #[must_use]
    pub fn of_list(list: &[String], base: &Path, warnings: &mut Vec<Warning>) -> Self {
        let mut patterns = Self::nothing(base);
        for entry in list {
            let (to, text) = match Entry::of(entry) {
                Entry::Plain(_) => continue,
                Entry::Without(text) => (&mut patterns.without, text),
                Entry::With(text) => (&mut patterns.with, text),
                Entry::Never(text) => (&mut patterns.never, text),
            };
            to.extend(Pattern::new(text, base, warnings));
        }
        patterns
    }

    /// What a package's filter says: plain entries choose, and an empty list chooses nothing.
    #[must_use]
    pub fn of_filter(list: &[String], base: &Path, warnings: &mut Vec<Warning>) -> Self {
        let plain = plain(list);
        let chosen = (list.is_empty() || !plain.is_empty())
            .then(|| plain.iter().filter_map(|text| Pattern::new(text, base, warnings)).collect());
        Self { chosen, ..Self::of_list(list, base, warnings) }
    }

    /// What a filter changes about another one: plain entries and `+` turn on, `!` and `-` turn off.
    #[must_use]
    pub fn of_change(list: &[String], base: &Path, warnings: &mut Vec<Warning>) -> Self {
        let mut patterns = Self::nothing(base);
        for entry in list {
            let (to, text) = match Entry::of(entry) {
                Entry::Plain(text) | Entry::With(text) => (&mut patterns.on, text),
                Entry::Without(text) | Entry::Never(text) => (&mut patterns.never, text),
            };
            to.extend(Pattern::new(text, base, warnings));
        }
        patterns
    }

    /// Only what matches the glob counts.
    #[must_use]
    pub fn of_glob(glob: &str, base: &Path, warnings: &mut Vec<Warning>) -> Self {
        let chosen = Pattern::new(glob, base, warnings).into_iter().collect();
        Self { chosen: Some(chosen), ..Self::nothing(base) }
    }

    fn nothing(base: &Path) -> Self {
        let empty = Vec::new;
        Self { base: base.to_owned(), chosen: None, on: empty(), without: empty(), with: empty(), never: empty() }
    }

    /// Whether the resource at `path` counts, `before` being what was said so far.
    #[must_use]
    pub fn admits(&self, path: &Path, before: bool) -> bool {
        let names = names_of(path, &self.base);
        let any = |patterns: &[Pattern], is: fn(&Pattern, &str) -> bool| {
            patterns.iter().any(|pattern| names.iter().any(|name| is(pattern, name)))
        };
        let mut state = before && self.chosen.as_ref().is_none_or(|chosen| any(chosen, Pattern::matches));
        state |= any(&self.on, Pattern::matches);
        state &= !any(&self.without, Pattern::matches);
        state |= before && any(&self.with, Pattern::is);
        state && !any(&self.never, Pattern::is)
    }
}

/// The names that patterns may call a resource by.
fn names_of(path: &Path, base: &Path) -> Vec<String> {
    let folder = path.parent().filter(|_| path.file_name().is_some_and(|name| name == super::skills::SKILL_FILE));
    let mut names = Vec::new();
    for path in std::iter::once(path).chain(folder) {
        names.push(path.to_string_lossy().into_owned());
        names.extend(path.strip_prefix(base).ok().map(|path| path.to_string_lossy().into_owned()));
        names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
    }
    // Prompt templates and loose skills are called without their ending.
    names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &str) -> Vec<String> {
        entries.split_whitespace().map(str::to_owned).collect()
    }

    /// The skills of `a b c` and the loose file `d.md` in the folder `skills` that a list lets through.
    fn admitted(make: fn(&[String], &Path, &mut Vec<Warning>) -> Patterns, entries: &str, before: bool) -> String {
        let mut warnings = Vec::new();
        let patterns = make(&list(entries), Path::new("/base"), &mut warnings);
        assert!(warnings.is_empty(), "{entries}: {warnings:?}");
        let files = ["a/SKILL.md", "b/SKILL.md", "c/SKILL.md", "d.md"];
        let admits = |file: &&&str| patterns.admits(&Path::new("/base/skills").join(file), before);
        files.iter().filter(admits).map(|file| &file[..1]).collect()
    }

    #[test]
    fn a_list_in_settings_leaves_out_and_takes_back_in() {
        for (entries, expected) in [
            ("", "abcd"),
            ("somewhere else/*", "abcd"),
            ("!a", "bcd"),
            ("!skills/*", ""),
            ("!*.md", ""),
            ("!d.md", "abc"),
            ("!d", "abc"),
            ("!/base/skills/b", "acd"),
            ("!* +skills/b", "b"),
            ("!* +b -b", ""),
            ("!* +/base/skills/c/", "c"),
            ("!* +./skills/c/SKILL.md", "c"),
            ("-skills/a/SKILL.md", "bcd"),
            ("-skills", "abcd"),
            ("!skills/**", ""),
        ] {
            assert_eq!(admitted(Patterns::of_list, entries, true), expected, "{entries}");
        }
    }

    #[test]
    fn a_filter_chooses_and_a_change_turns_on_and_off() {
        for (entries, expected) in
            [("", ""), ("a", "a"), ("skills/a skills/d.md", "ad"), ("skills", "abcd"), ("!b", "acd"), ("a b !b", "a")]
        {
            assert_eq!(admitted(Patterns::of_filter, entries, true), expected, "{entries}");
        }
        for (entries, before, expected) in
            [("", true, "abcd"), ("", false, ""), ("a +b", false, "ab"), ("!a -b", true, "cd"), ("!a", false, "")]
        {
            assert_eq!(admitted(Patterns::of_change, entries, before), expected, "{entries}");
        }
        let mut warnings = Vec::new();
        let _ = Patterns::of_list(&list("![z"), Path::new("/base"), &mut warnings);
        assert!(warnings[0].to_string().contains("the pattern [z is malformed"), "{warnings:?}");
    }
}
