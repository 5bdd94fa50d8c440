//! What a task asks for, as far as this program understands words.

use super::{
    vocabulary::{mark, unknown, without_options},
    words::{Word, as_path, is_file_like, words},
};

/// A kind of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// How people call them, such as `Rust files`.
    pub label: String,
    /// Patterns of their names; none = all files.
    pub globs: Vec<String>,
}

/// A task that this program can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// Say what is in these files.
    Summarise(Vec<String>),
    /// Say what is in all files of a kind below a folder.
    SummariseKind(Kind, String),
    /// Show these files.
    Show(Vec<String>),
    /// Say what is in a folder.
    ListFolder(String),
    /// List the files of a kind below a folder.
    ListFiles(Kind, String),
    /// Count lines of the files of a kind below a folder.
    CountLines(Kind, String),
    /// Count lines and words of these files.
    CountFiles(Vec<String>),
    /// Find a text below a folder.
    Search(String, String),
    /// Say what project this is.
    Overview(String),
    /// None of them.
    Unknown,
}

/// Kinds by the words that name them.
const KINDS: [(&[&str], &str, &[&str]); 15] = [
    (&["rust"], "Rust files", &["*.rs"]),
    (&["python"], "Python files", &["*.py"]),
    (&["markdown"], "Markdown files", &["*.md"]),
    (&["javascript", "js"], "JavaScript files", &["*.js", "*.mjs"]),
    (&["typescript", "ts"], "TypeScript files", &["*.ts", "*.tsx"]),
    (&["shell", "bash"], "shell scripts", &["*.sh"]),
    (&["toml"], "TOML files", &["*.toml"]),
    (&["json"], "JSON files", &["*.json"]),
    (&["yaml", "yml"], "YAML files", &["*.yaml", "*.yml"]),
    (&["text", "txt"], "text files", &["*.txt"]),
    (&["go", "golang"], "Go files", &["*.go"]),
    (&["java"], "Java files", &["*.java"]),
    (&["html"], "HTML files", &["*.html"]),
    (&["css"], "CSS files", &["*.css"]),
    (&["c"], "C files", &["*.c", "*.h"]),
];

/// What asks for a change, which this program never makes.
#[rustfmt::skip]
const CHANGES: [&str; 22] = [
    "write", "edit", "fix", "implement", "refactor", "delete", "remove", "create", "change", "add", "rename",
    "translate", "install", "build", "run", "test", "commit", "update", "move", "debug", "optimise", "optimize",
];

/// Words that stand for the folder that the program works in.
#[rustfmt::skip]
const HERE: [&str; 19] = [
    "this", "here", "it", "current", "project", "repo", "repository", "codebase", "folder", "directory", "there",
    "every", "all", "each", "total", "working", "them", "those", "these",
];

/// Reads a task: the part of it before a verb that asks for a change.
pub(super) fn read(text: &str) -> Task {
    let words = understood_part(text);
    if unknown_in(&words).is_some() { Task::Unknown } else { read_known(&words) }
}

/// The first word of a task that this program does not know.
pub(super) fn unknown_word(text: &str) -> Option<String> {
    unknown_in(&understood_part(text))
}

/// The words before the part that asks for a change; all of them when it begins with that.
fn understood_part(text: &str) -> Vec<Word> {
    let mut words = without_options(words(text));
    if let Some(at) = change_at(&words).filter(|at| *at > 0) {
        words.truncate(at);
    }
    words
}

fn unknown_in(words: &[Word]) -> Option<String> {
    let plain: Vec<String> = words.iter().map(Word::plain).collect();
    let mut names = vec![folder(words, &plain)];
    if kind(words, &plain).is_none() {
        names.extend(wanted(words, &plain));
    }
    unknown(words, &names, |word| {
        let is_kind = KINDS.iter().any(|(names, _, _)| names.contains(&word.plain().as_str()));
        let pattern = word.text.contains('*') || word.text.len() > 1 && word.text.starts_with('.');
        is_kind || pattern && kind(words, &plain).is_some()
    })
}

fn read_known(words: &[Word]) -> Task {
    let plain: Vec<String> = words.iter().map(Word::plain).collect();
    let has = |wanted: &[&str]| plain.iter().any(|word| wanted.contains(&word.as_str()));
    let has_start = |start: &str| plain.iter().any(|word| word.starts_with(start));
    let kind = kind(words, &plain);
    let folder = folder(words, &plain);
    let paths = paths(words, &folder);
    let counts = has(&["count", "counts", "many", "number", "size"]);
    let summarises = has_start("summar") || has(&["describe", "explain", "outline", "about", "review", "overview"]);
    let whole = has(&["project", "repo", "repository", "codebase", "overview"]);

    if counts && (has(&["line", "lines", "word", "words", "loc"]) || !paths.is_empty()) {
        return match kind {
            _ if !paths.is_empty() => Task::CountFiles(paths),
            Some(kind) => Task::CountLines(kind, folder),
            None => Task::CountLines(all_files(), folder),
        };
    }
    if summarises && !paths.is_empty() {
        return Task::Summarise(paths);
    }
    if let Some(task) = search(words, &plain, kind.as_ref(), &folder, &paths) {
        return task;
    }
    if let Some(mark) = words.iter().find_map(mark) {
        return Task::Search(mark, place(&folder, &paths));
    }
    match kind {
        Some(kind) if summarises => return Task::SummariseKind(kind, folder),
        Some(kind) if counts || has(&["list", "which", "what", "show", "files", "scripts"]) => {
            return Task::ListFiles(kind, folder);
        }
        _ => {}
    }
    if (summarises || has(&["what", "what's", "which"])) && whole && paths.is_empty() {
        return Task::Overview(folder);
    }
    if has(&["read", "show", "print", "cat", "open", "display", "view", "see"]) && !paths.is_empty() {
        return Task::Show(paths);
    }
    if counts && has(&["files"]) {
        return Task::ListFiles(all_files(), folder);
    }
    if has(&["list", "ls", "files", "tree", "folder", "directory"]) && !has(&CHANGES) {
        return match paths.as_slice() {
            [] => Task::ListFolder(folder),
            [path] if !is_file_like(path) => Task::ListFolder(path.clone()),
            _ => Task::Unknown,
        };
    }
    if summarises && folder != "." {
        return Task::Overview(folder);
    }
    if !paths.is_empty() && !has(&CHANGES) {
        return Task::Summarise(paths);
    }
    Task::Unknown
}

/// The first word that asks for a change.
pub(super) fn asks_for_change(text: &str) -> Option<String> {
    words(text).iter().map(Word::plain).find(|word| CHANGES.contains(&word.as_str()))
}

/// The verb of a part of the task that asks for a change: at its start, or after `and` and the like.
pub(super) fn also_asks_for_change(text: &str) -> Option<String> {
    let words = without_options(words(text));
    change_at(&words).map(|at| words[at].plain())
}

fn change_at(words: &[Word]) -> Option<usize> {
    let begins = |at: usize| at == 0 || ["and", "then", "please", "also"].contains(&words[at - 1].plain().as_str());
    (0..words.len()).find(|at| CHANGES.contains(&words[*at].plain().as_str()) && begins(*at))
}

/// Where to search: the one file or folder that the task names besides.
fn place(folder: &str, paths: &[String]) -> String {
    match paths {
        [path] if folder == "." => path.trim_end_matches('/').to_owned(),
        _ => folder.to_owned(),
    }
}

fn all_files() -> Kind {
    Kind { label: "files".to_owned(), globs: Vec::new() }
}

/// A kind by its name before `files`, `scripts` or `code`, or by a pattern or an ending.
fn kind(words: &[Word], plain: &[String]) -> Option<Kind> {
    let pattern = words.iter().map(|word| word.text.as_str()).find(|text| text.contains('*') && !text.contains('/'));
    if let Some(pattern) = pattern.filter(|pattern| pattern.len() > 1) {
        return Some(Kind { label: format!("files that match `{pattern}`"), globs: vec![pattern.to_owned()] });
    }
    let of_files = |at: usize| {
        plain.get(at + 1).is_some_and(|next| ["file", "files", "scripts", "code", "sources"].contains(&next.as_str()))
    };
    for (at, word) in plain.iter().enumerate().filter(|(at, _)| of_files(*at)) {
        if let Some((_, label, globs)) = KINDS.iter().find(|(names, _, _)| names.contains(&word.as_str())) {
            return Some(Kind {
                label: (*label).to_owned(),
                globs: globs.iter().map(|glob| (*glob).to_owned()).collect(),
            });
        }
        let ending = words[at].text.strip_prefix('.').filter(|ending| !ending.is_empty());
        if let Some(ending) = ending.filter(|ending| ending.chars().all(|char| char.is_ascii_alphanumeric())) {
            return Some(Kind { label: format!(".{ending} files"), globs: vec![format!("*.{ending}")] });
        }
    }
    None
}

/// The folder after `in`, `inside` or `under`; this one when none is named.
fn folder(words: &[Word], plain: &[String]) -> String {
    for (at, _) in
        plain.iter().enumerate().filter(|(_, word)| ["in", "inside", "under", "within"].contains(&word.as_str()))
    {
        let rest = words[at + 1..].iter().find(|word| !["the", "folder", "directory"].contains(&word.plain().as_str()));
        let Some(word) = rest else { continue };
        let is_file = as_path(word).is_some_and(|path| is_file_like(&path));
        if !is_file && !HERE.contains(&word.plain().as_str()) && !word.text.contains('*') && is_name(word) {
            return trimmed(&word.text);
        }
    }
    // `ls src`: what stands behind the command is its folder.
    match words {
        [command, word] if command.plain() == "ls" && is_name(word) && !is_file_like(&word.text) => trimmed(&word.text),
        _ => ".".to_owned(),
    }
}

/// A folder without slashes at its end; the root keeps its one.
fn trimmed(folder: &str) -> String {
    match folder.trim_end_matches('/') {
        "" => "/".to_owned(),
        name => name.to_owned(),
    }
}

/// Folder names look like names: a kind of file or a file after `in` is none.
fn is_name(word: &Word) -> bool {
    let known_kind = KINDS.iter().any(|(names, _, _)| names.contains(&word.plain().as_str()));
    word.quoted || !known_kind && word.text.chars().all(|char| char.is_alphanumeric() || "_-./~".contains(char))
}

fn paths(words: &[Word], folder: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for path in words.iter().filter_map(as_path) {
        if path.trim_end_matches('/') != folder && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Words around the text that is searched for.
#[rustfmt::skip]
const AROUND: [&str; 28] = [
    "for", "all", "the", "any", "every", "each", "me", "where", "occurrences", "occurrence", "of", "uses", "usages",
    "mentions", "comments", "comment", "is", "are", "used", "defined", "mentioned", "anywhere", "please", "files",
    "file", "text", "markers", "string",
];

fn search_verb(plain: &[String]) -> Option<usize> {
    plain.iter().position(|word| ["find", "search", "grep", "locate", "where"].contains(&word.as_str()))
}

/// The words behind the verb of a search that may be what is searched for; a quoted one is it for sure.
fn wanted(words: &[Word], plain: &[String]) -> Vec<String> {
    let Some(verb) = search_verb(plain) else { return Vec::new() };
    let behind = &words[verb + 1..];
    if let Some(quoted) = behind.iter().find(|word| word.quoted) {
        return vec![quoted.text.clone()];
    }
    let until = |word: &&Word| !["in", "inside", "under", "within", "across", "and"].contains(&word.plain().as_str());
    let wanted = behind.iter().take_while(until).filter(|word| {
        let plain = word.plain();
        !AROUND.contains(&plain.as_str()) && !["named", "called"].contains(&plain.as_str())
    });
    let mut wanted: Vec<String> = wanted.map(|word| word.text.clone()).collect();
    // `grep TEXT FOLDER`: the folder is a path like any other. Several words without quotes may mean anything.
    if verb == 0 && plain[0] == "grep" && wanted.len() == 2 && wanted[1].contains(['/', '.']) {
        wanted.truncate(1);
    }
    if wanted.len() > 1 { Vec::new() } else { wanted }
}

fn search(words: &[Word], plain: &[String], kind: Option<&Kind>, folder: &str, paths: &[String]) -> Option<Task> {
    let verb = search_verb(plain)?;
    if plain[verb + 1..].iter().any(|word| ["find", "search", "grep", "locate"].contains(&word.as_str())) {
        return Some(Task::Unknown);
    }
    let named_files = plain[verb..].iter().any(|word| ["file", "files", "named", "called"].contains(&word.as_str()));
    let quoted = words[verb + 1..].iter().any(|word| word.quoted);
    match kind {
        // A text in files of a kind: the search does not look at kinds.
        Some(_) if quoted => return Some(Task::Unknown),
        Some(kind) => return Some(Task::ListFiles(kind.clone(), folder.to_owned())),
        None => {}
    }
    let needle = singular(wanted(words, plain).first()?);
    let path = as_path(&Word { text: needle.clone(), quoted: false });
    if path.is_some() && !needle.contains(' ') || named_files {
        let name = needle.rsplit('/').next().unwrap_or(&needle).to_owned();
        let kind = Kind { label: format!("files named `{name}`"), globs: vec![name] };
        return Some(Task::ListFiles(kind, folder.to_owned()));
    }
    Some(Task::Search(needle, place(folder, paths)))
}

/// `TODOs` is `TODO`.
fn singular(needle: &str) -> String {
    match needle.strip_suffix('s') {
        Some(stem) if stem.len() > 1 && stem.chars().all(|char| char.is_ascii_uppercase()) => stem.to_owned(),
        _ => needle.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(task: &Task) -> String {
        match task {
            Task::Summarise(paths) => format!("summarise {}", paths.join(" ")),
            Task::SummariseKind(kind, folder) => format!("summarise {} in {folder}", kind.globs.join(" ")),
            Task::Show(paths) => format!("show {}", paths.join(" ")),
            Task::ListFolder(folder) => format!("folder {folder}"),
            Task::ListFiles(kind, folder) => format!("files {} in {folder}", kind.globs.join(" ")),
            Task::CountLines(kind, folder) => format!("lines {} in {folder}", kind.globs.join(" ")),
            Task::CountFiles(paths) => format!("count {}", paths.join(" ")),
            Task::Search(text, folder) => format!("search [{text}] in {folder}"),
            Task::Overview(folder) => format!("overview {folder}"),
            Task::Unknown => "unknown".to_owned(),
        }
    }

    #[test]
    fn tasks_are_understood() {
        let table = [
            ("read README.md and summarise it", "summarise README.md"),
            ("Summarize the readme, please!", "summarise README.md"),
            ("Summarise README.md and docs/a.md", "summarise README.md docs/a.md"),
            ("What is src/main.rs about?", "summarise src/main.rs"),
            ("what is in Cargo.toml?", "summarise Cargo.toml"),
            ("summarise all the markdown files in docs", "summarise *.md in docs"),
            ("list the Rust files and count their lines", "lines *.rs in ."),
            ("how many lines are in the python files?", "lines *.py in ."),
            ("count the lines in src/lib.rs", "count src/lib.rs"),
            ("count words in README.md", "count README.md"),
            ("How many Rust files are there in src?", "files *.rs in src"),
            ("find TODO", "search [TODO] in ."),
            ("find all TODOs in src", "search [TODO] in src"),
            ("search for `fn main` in the src folder", "search [fn main] in src"),
            ("where is spawn_child used?", "search [spawn_child] in ."),
            ("grep \"hello world\"", "search [hello world] in ."),
            ("find main.rs", "files main.rs in ."),
            ("find the file called notes", "files notes in ."),
            ("find all markdown files", "files *.md in ."),
            ("list *.toml", "files *.toml in ."),
            ("which .cfg files are there", "files *.cfg in ."),
            ("what files are here", "folder ."),
            ("list the files in src/actors", "folder src/actors"),
            ("ls", "folder ."),
            ("show src/main.rs", "show src/main.rs"),
            ("cat \"my notes.txt\"", "show my notes.txt"),
            ("what is this project?", "overview ."),
            ("Give me an overview of the repository", "overview ."),
            ("hello", "unknown"),
            ("write a poem", "unknown"),
            ("fix the bug in src/main.rs", "unknown"),
            ("what is the meaning of life?", "unknown"),
            ("ls /", "folder /"),
            ("ls src", "folder src"),
            ("ls -a src/", "folder src"),
            ("list /etc", "folder /etc"),
            ("list README.md", "unknown"),
            ("Explain the code in /etc/passwd", "overview /etc/passwd"),
            ("grep -r TODO .", "search [TODO] in ."),
            ("grep TODO src/main.rs", "search [TODO] in src/main.rs"),
            ("find TODO in README.md", "search [TODO] in README.md"),
            ("List the TODOs of this project", "search [TODO] in ."),
            ("which todos are in src?", "search [TODO] in src"),
            ("Find all files with .md and grep for 'actor' in them", "unknown"),
            ("find the markdown files and grep 'x'", "unknown"),
            ("find all unused functions", "unknown"),
            ("Replace Troupe with Foo in README.md", "unknown"),
            ("Append a line to u.txt", "unknown"),
            ("Sort u.txt", "unknown"),
            ("Compile src/a.rs", "unknown"),
            ("Make Cargo.toml valid", "unknown"),
            ("when was u.txt modified?", "unknown"),
            ("Don't read README.md", "unknown"),
            ("Do not read README.md", "unknown"),
            ("read everything except README.md", "unknown"),
            ("read README.md backwards", "unknown"),
            ("count the words in x; touch pwn3", "unknown"),
            ("grep -v TODO README.md", "unknown"),
            ("can you read README.md?", "show README.md"),
            ("summarise README.md and fix it", "summarise README.md"),
            ("", "unknown"),
        ];
        for (text, expected) in table {
            assert_eq!(shown(&read(text)), expected, "{text}");
        }
        assert_eq!(also_asks_for_change("read a.md and fix it").as_deref(), Some("fix"));
        assert_eq!(also_asks_for_change("show the test files"), None);
        assert_eq!(asks_for_change("please fix src/main.rs").as_deref(), Some("fix"));
    }
}
