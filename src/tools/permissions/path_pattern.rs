//! Patterns for paths, like those of `.gitignore`: a name alone is meant anywhere, one with a slash in the project, and
//! a folder stands for all that is in it.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::command_pattern::Fit;

/// The folders that patterns start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The project's folder by its names: as it was given, and without links.
    pub project: Vec<PathBuf>,
    /// The user's home folder.
    pub home: Option<PathBuf>,
}

impl Places {
    /// The path below the project; none when it is elsewhere.
    fn relative<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        self.project.iter().find_map(|project| path.strip_prefix(project).ok())
    }

    /// Whether a file is in the project, by all of its paths.
    #[must_use]
    pub fn holds(&self, paths: &[PathBuf]) -> bool {
        !paths.is_empty() && paths.iter().all(|path| self.relative(path).is_some())
    }

    /// How a path is written in a rule.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        let text = match self.relative(path) {
            Some(below) if below.as_os_str().is_empty() => ".".to_owned(),
            // With a slash, so that it means this file and none of the same name elsewhere.
            Some(below) if below.components().count() == 1 => format!("./{}", below.display()),
            Some(below) => below.display().to_string(),
            None => path.display().to_string(),
        };
        text.chars().flat_map(|c| "*?[]{}\\!~()".contains(c).then_some('\\').into_iter().chain([c])).collect()
    }
}

/// A pattern for paths.
#[derive(Clone, Debug)]
pub struct PathPattern {
    /// Matches what it names.
    itself: GlobMatcher,
    /// Matches what is in a folder of that name.
    inside: GlobMatcher,
    base: Base,
}

/// What a pattern's paths start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Root,
    Project,
    Anywhere,
}

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, home: Option<&Path>) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("there is no path between the parentheses".to_owned());
        }
        if text.starts_with('!') {
            return Err("a path cannot be taken out with `!`: write a rule that denies it".to_owned());
        }
        if text.split('/').any(|part| part == "..") {
            return Err("a path with `..` may lead anywhere: write where it leads to, from / or ~".to_owned());
        }
        let trimmed = text.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(text);
        let (base, glob) = match trimmed.strip_prefix('~') {
            Some(below) if below.is_empty() || below.starts_with('/') => {
                let home = home.ok_or("there is no home folder that `~` could stand for")?;
                (Base::Root, format!("{}{below}", globset::escape(&home.to_string_lossy())))
            }
            _ if trimmed == "/" => (Base::Root, "/**".to_owned()),
            _ if trimmed.starts_with('/') => (Base::Root, trimmed.to_owned()),
            _ if trimmed == "." => (Base::Project, "**".to_owned()),
            _ if trimmed.starts_with("**/") || trimmed == "**" => (Base::Anywhere, trimmed.to_owned()),
            _ => match trimmed.strip_prefix("./") {
                Some(below) => (Base::Project, below.to_owned()),
                None if trimmed.contains('/') => (Base::Project, trimmed.to_owned()),
                None => (Base::Anywhere, format!("**/{trimmed}")),
            },
        };
        let compile = |glob: &str| {
            let mut builder = GlobBuilder::new(glob);
            // Where the system takes two spellings for one file, so do rules.
            builder.literal_separator(true).backslash_escape(true).case_insensitive(cfg!(target_os = "macos"));
            builder.build().map(|glob| glob.compile_matcher()).map_err(|error| error.kind().to_string())
        };
        Ok(Self { itself: compile(&glob)?, inside: compile(&format!("{glob}/**"))?, base })
    }

    fn matches(&self, path: &Path) -> bool {
        self.itself.is_match(path) || self.inside.is_match(path)
    }

    /// Whether the pattern covers a file beyond doubt: every path of it. A pattern that does not begin with `/` or `~`
    /// covers files of the project only. For rules that allow.
    #[must_use]
    pub fn covers(&self, paths: &[PathBuf], places: &Places) -> bool {
        let covered = |path: &PathBuf| match self.base {
            Base::Root => self.matches(path),
            Base::Project | Base::Anywhere => places.relative(path).is_some_and(|below| self.matches(below)),
        };
        !paths.is_empty() && paths.iter().all(covered)
    }

    /// Whether any path of a file is one that the pattern means. For rules that deny or ask.
    #[must_use]
    pub fn touches(&self, paths: &[PathBuf], places: &Places) -> Fit {
        let touched = |path: &PathBuf| match self.base {
            Base::Root => self.matches(path),
            Base::Project => places.relative(path).is_some_and(|below| self.matches(below)),
            Base::Anywhere => self.matches(path) || places.relative(path).is_some_and(|below| self.matches(below)),
        };
        match paths {
            [] => Fit::Maybe,
            paths if paths.iter().any(touched) => Fit::Yes,
            _ => Fit::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_match_by_name_by_place_in_the_project_or_from_the_root() {
        let places = Places { project: vec!["/link".into(), "/w/p".into()], home: Some("/h".into()) };
        // pattern, paths of one file, covers, touches
        let table: &[(&str, &[&str], bool, bool)] = &[
            (".env", &["/w/p/.env"], true, true),
            (".env", &["/w/p/a/b/.env"], true, true),
            (".env", &["/w/p/.env.local"], false, false),
            (".env", &["/etc/.env"], false, true),
            ("**/.env", &["/etc/.env"], false, true),
            ("**/.env", &["/w/p/.env"], true, true),
            ("src/*.rs", &["/w/p/src/a.rs"], true, true),
            ("src/*.rs", &["/w/p/src/deep/a.rs"], false, false),
            ("src/*.rs", &["/w/p/x/src/a.rs"], false, false),
            ("src", &["/w/p/src/deep/a.rs"], true, true),
            ("src/", &["/link/src/a.rs", "/w/p/src/a.rs"], true, true),
            ("src/**", &["/w/p/src/a.rs", "/etc/passwd"], false, true),
            ("etc/**", &["/etc/passwd"], false, false),
            (".", &["/w/p/anything"], true, true),
            (".", &["/w/other"], false, false),
            ("**", &["/w/other"], false, true),
            ("/etc/**", &["/etc/passwd"], true, true),
            ("/etc", &["/etc/passwd"], true, true),
            ("/", &["/etc/passwd"], true, true),
            ("~/.ssh", &["/h/.ssh/id"], true, true),
            ("./a\\*b", &["/w/p/a*b"], true, true),
            ("./a", &["/w/p/x/a"], false, false),
            ("secret*", &["/w/p/notes.txt", "/w/p/secrets/notes.txt"], false, true),
        ];
        for (text, paths, covers, touches) in table {
            let pattern = PathPattern::parse(text, Some(Path::new("/h"))).unwrap();
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            assert_eq!(pattern.covers(&paths, &places), *covers, "{text} covers {paths:?}");
            assert_eq!(pattern.touches(&paths, &places) == Fit::Yes, *touches, "{text} touches {paths:?}");
        }
        for path in ["/w/p/a*b(c)", "/w/p/x/[y]", "/etc/{a}", "/w/p/!x", "/w/p/~x/y"] {
            let pattern = PathPattern::parse(&places.shown(Path::new(path)), None).unwrap();
            assert!(pattern.covers(&[path.into()], &places), "{path}");
            assert!(!pattern.covers(&["/w/p/ab".into()], &places), "{path}");
        }
        for text in ["", "../x", "a/../b", "!a", "~/x", "a["] {
            assert!(PathPattern::parse(text, None).is_err(), "{text}");
        }
        let any = PathPattern::parse(".env", None).unwrap();
        assert_eq!((any.covers(&[], &places), any.touches(&[], &places)), (false, Fit::Maybe));
    }
}
