//! The rules of `docs/architecture.md` that a program can check. A failure lists every place that breaks one, with
//! the rule and what to do.

#![allow(clippy::unwrap_used)]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folders of `src` from the bottom up. Code may use folders of lower levels and its own, nothing else.
///
/// `tui` is below `cli` because the command line starts the screen.
const LEVELS: [&[&str]; 7] =
    [&["protocol"], &["store"], &["resources", "providers", "tools"], &["extensions"], &["actors"], &["tui"], &["cli"]];

/// Lines that a file may have.
const MAX_LINES: usize = 500;

/// The turn machine is one state machine that is best read in one piece.
const LONGER: [(&str, usize); 1] = [("src/actors/turn.rs", 600)];

/// What `src/protocol` must not name: it is plain data.
const NOT_IN_PROTOCOL: [&str; 6] = ["tokio", "ractor", "std::fs", "std::net", "std::process", "std::env"];

/// Pieces of paths that exist on one machine only.
const MACHINE_PATHS: [&str; 3] = ["/root/", "/home/", "/Users/"];

/// Code that is not there yet.
const STUBS: [&str; 2] = ["todo!(", "unimplemented!("];

/// A source file.
struct Source {
    /// The path below the package's root, with `/`.
    path: String,
    text: String,
}

impl Source {
    /// The folder of `src` that it is in; none for the files right below `src`.
    fn folder(&self) -> Option<&str> {
        let (folder, _) = self.path.strip_prefix("src/")?.split_once('/')?;
        Some(folder)
    }
}

/// All Rust files below a folder of the package.
fn sources(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
                found.push(Source { path: name, text: fs::read_to_string(&path).unwrap() });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn level(folder: &str) -> Option<usize> {
    LEVELS.iter().position(|level| level.contains(&folder))
}

/// The code of a text: comments are blanked, so that links in documentation may point anywhere.
fn code(text: &str) -> String {
    let strip = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    text.lines().map(strip).collect::<Vec<_>>().join("\n")
}

/// The names after each `crate::` of a code text, with their lines: `crate::a::B` and `crate::{a::B, c::{D, E}}`.
fn crate_paths(code: &str) -> Vec<(usize, String)> {
    const START: &str = "crate::";
    let mut found = Vec::new();
    for (at, _) in code.match_indices(START) {
        if code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_') {
            continue;
        }
        let from = at + START.len();
        for name_at in first_names(code, from) {
            let name: String = code[name_at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push((line_of(code, name_at), name));
        }
    }
    found
}

/// Where the first names of a path or of a group of paths begin.
fn first_names(code: &str, from: usize) -> Vec<usize> {
    if !code[from..].starts_with('{') {
        return vec![from];
    }
    let mut names = Vec::new();
    let (mut depth, mut at_item) = (0, false);
    for (offset, character) in code[from..].char_indices() {
        match character {
            '{' => {
                depth += 1;
                at_item = depth == 1;
            }
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' => at_item = depth == 1,
            _ if character.is_whitespace() => {}
            _ if at_item => {
                names.push(from + offset);
                at_item = false;
            }
            _ => {}
        }
    }
    names
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The lines that contain one of `words`, with the word.
fn lines_with<'a>(text: &'a str, words: &'a [&str]) -> impl Iterator<Item = (usize, &'a str)> {
    text.lines().enumerate().flat_map(move |(n, line)| {
        words.iter().filter(move |word| line.contains(**word)).map(move |word| (n + 1, *word))
    })
}

/// Fails with all faults, if there are any.
fn assert_none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n\n{}\n", faults.join("\n"));
}

#[test]
fn imports_run_downwards_only() {
    let mut faults = Vec::new();
    for source in sources("src") {
        let Some(folder) = source.folder() else { continue };
        let Some(own) = level(folder) else {
            let path = &source.path;
            faults.push(format!("{path}:1: the folder `{folder}` has no level. Give it one in tests/architecture.rs."));
            continue;
        };
        for (line, name) in crate_paths(&code(&source.text)) {
            if name != folder && level(&name).is_some_and(|other| other >= own) {
                faults.push(format!(
                    "{}:{line}: `{folder}` must not use `{name}`, which is not below it. Move what both need down, or \
                     let whoever builds the runtime hand it in through a trait of `protocol`.",
                    source.path
                ));
            }
        }
    }
    assert_none(faults);
}

#[test]
fn the_protocol_is_plain_data() {
    let mut faults = Vec::new();
    for source in sources("src/protocol") {
        for (line, word) in lines_with(&code(&source.text), &NOT_IN_PROTOCOL) {
            faults.push(format!(
                "{}:{line}: `protocol` must not know `{word}`. Keep the data here and move the work to a folder above.",
                source.path
            ));
        }
    }
    assert_none(faults);
}

#[test]
fn files_are_short_enough_to_read() {
    let mut faults = Vec::new();
    for source in ["src", "tests", "benches"].into_iter().flat_map(sources) {
        let exception = LONGER.iter().find(|(path, _)| *path == source.path);
        let most = exception.map_or(MAX_LINES, |(_, most)| *most);
        let lines = source.text.lines().count();
        if lines > most {
            faults.push(format!(
                "{}:{}: the file has {lines} lines, {most} at most. Find the second concept in it and give it a file.",
                source.path,
                most + 1
            ));
        }
    }
    assert_none(faults);
}

#[test]
fn every_folder_has_a_page_that_says_what_lives_there() {
    let sources = sources("src");
    let mut folders: Vec<&str> = sources.iter().filter_map(|source| Some(source.path.rsplit_once('/')?.0)).collect();
    folders.dedup();
    let mut faults = Vec::new();
    for folder in folders.into_iter().filter(|folder| *folder != "src") {
        let pages = [format!("{folder}/mod.rs"), format!("{folder}.rs")];
        match sources.iter().find(|source| pages.contains(&source.path)) {
            None => faults.push(format!("{}:1: the folder has no page. Write one.", pages[0])),
            Some(page) if !page.text.starts_with("//!") => faults
                .push(format!("{}:1: the page must begin with `//!` and say what lives in the folder.", page.path)),
            Some(_) => {}
        }
    }
    assert_none(faults);
}

#[test]
fn sources_name_no_machine_and_hold_no_stubs() {
    let mut faults = Vec::new();
    for source in sources("src") {
        for (line, word) in lines_with(&source.text, &MACHINE_PATHS) {
            faults.push(format!(
                "{}:{line}: `{word}` is a path of one machine. Take it from the environment or a temporary folder.",
                source.path
            ));
        }
        for (line, word) in lines_with(&source.text, &STUBS) {
            faults.push(format!("{}:{line}: `{word}…)` is a stub. Write it, or leave it out.", source.path));
        }
    }
    assert_none(faults);
}

/// Who writes to standard output and standard error. Others say things through `actors::front`, which lets no text of
/// a model or a file act on a terminal; the log's writer escapes what it writes, and the last asks for sizes and kinds.
///
/// The screen's `tty` takes the stream for what it is: a terminal. Frames hold no text that acts on one, and neither do the
/// lines that `top` draws again and again.
const WRITERS: [&str; 8] = [
    "src/actors/front/printer.rs",
    "src/actors/front/stdout.rs",
    "src/actors/front/voice.rs",
    "src/cli/live/top.rs",
    "src/cli/logging.rs",
    "src/cli/mode.rs",
    "src/cli/run.rs",
    "src/tui/terminal/tty.rs",
];

/// Whether a file is there for tests alone.
fn is_test(all: &[Source], path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
    let declared = format!("#[cfg(test)]\nmod {name};");
    path.contains("/tests/") || all.iter().any(|source| source.text.contains(&declared))
}

#[test]
fn few_write_to_standard_streams_fc_064() {
    let mut faults = Vec::new();
    let all = sources("src");
    let production =
        all.iter().filter(|source| !WRITERS.contains(&source.path.as_str()) && !is_test(&all, &source.path));
    for source in production {
        for (line, word) in lines_with(&code(&source.text), &["io::stdout(", "io::stderr(", "eprintln!(", "println!("])
        {
            // Tests may print.
            if !source.text.lines().take(line).any(|line| line.contains("#[cfg(test)]")) {
                faults.push(format!("{}:{line}: `{word}…)`. Say it with `actors::front::complain`.", source.path));
            }
        }
    }
    assert_none(faults);
}

#[test]
fn the_check_sees_single_and_grouped_paths_and_no_comments() {
    let table: [(&str, &[(usize, &str)]); 6] = [
        ("use crate::store::Tree;", &[(1, "store")]),
        ("use crate::{\n    protocol::{Entry, tool::X},\n    store::Tree,\n};", &[(2, "protocol"), (3, "store")]),
        ("fn f(x: &crate::tools::Tool) -> crate::Error {}", &[(1, "tools"), (1, "Error")]),
        ("//! [`crate::actors::Turn`]\nuse std::io; // crate::cli", &[]),
        ("pub(crate) fn f() { my_crate::store(); }", &[]),
        ("$crate::cli::x!()", &[(1, "cli")]),
    ];
    for (text, wanted) in table {
        let found = crate_paths(&code(text));
        let found: Vec<_> = found.iter().map(|(line, name)| (*line, name.as_str())).collect();
        assert_eq!(found, wanted, "{text}");
    }
}
