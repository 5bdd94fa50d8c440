//! Random trees: whatever the files are, every name, number and quotation in an answer is true.

use std::{collections::BTreeMap, fs, path::Path};

use proptest::{collection::btree_map, prelude::*};

use super::workshop::{Run, run, walk};

/// Tool sets: the default one, all, and the least.
const TOOLS: [&[&str]; 4] = [&["read", "bash"], &["read", "bash", "grep", "find", "ls"], &["read", "find"], &["bash"]];

fn name() -> impl Strategy<Value = String> {
    let stem = "[a-zé -][a-z' _$;&-]{0,5}[a-z]";
    let ending = prop_oneof![Just(".rs"), Just(".md"), Just(".txt"), Just("")];
    (stem, ending).prop_map(|(stem, ending)| format!("{stem}{ending}"))
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![name(), (name(), name()).prop_map(|(folder, file)| format!("d{folder}/{file}"))]
}

fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("# Heading é".to_owned()),
        Just("// TODO: later".to_owned()),
        Just("```".to_owned()),
        Just("pub fn f() {".to_owned()),
        Just("[1]".to_owned()),
        "[a-zA-Z0-9 .:“”`]{0,30}",
        "([a-z]{1,9} ){0,80}",
    ];
    (prop::collection::vec(line, 0..12), any::<bool>())
        .prop_map(|(lines, ends)| lines.join("\n") + if ends && !lines.is_empty() { "\n" } else { "" })
}

fn tree() -> impl Strategy<Value = BTreeMap<String, String>> {
    // A name may not be a file and a folder at once.
    btree_map(path(), text(), 0..9).prop_map(|files| {
        let folders: Vec<String> = files.keys().filter_map(|path| Some(path.split_once('/')?.0.to_owned())).collect();
        files.into_iter().filter(|(path, _)| !folders.contains(path)).collect()
    })
}

fn lay(files: &BTreeMap<String, String>) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// Quotations are in the results (white space aside), and so are the names in backticks.
fn is_honest(done: &Run, task: &str) {
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Comment marks between joined lines are not quoted.
    let unmarked = |text: &str| squeeze(&text.replace("//!", " ").replace("//", " ").replace('#', " "));
    let (results, bare) = (squeeze(&done.results), unmarked(&done.results));
    for line in done.answer.lines().filter(|line| line.starts_with("- It") || line.starts_with("- Its")) {
        let (Some(from), Some(to)) = (line.find('“'), line.rfind('”')) else { continue };
        for quoted in line[from + '“'.len_utf8()..to].split("”, “").flat_map(|part| part.split("” / “")) {
            let quoted = squeeze(quoted.split("” …").next().unwrap());
            assert!(results.contains(&quoted) || bare.contains(&quoted), "{task}: {quoted:?} in\n{}", done.answer);
        }
    }
}

fn count_lines(folder: &Path, ending: &str, lines: fn(&str) -> usize) -> BTreeMap<String, usize> {
    let files = walk(folder).into_iter().filter(|path| path.ends_with(ending));
    files.map(|path| (path.clone(), lines(&fs::read_to_string(folder.join(&path)).unwrap()))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn line_counts_are_true(files in tree()) {
        let dir = lay(&files);
        for tools in TOOLS {
            let done = run(dir.path(), tools, "list the Rust files and count their lines");
            // wc counts line ends; a file that was read is counted by its lines.
            let by_wc = tools.contains(&"bash");
            let lines: fn(&str) -> usize = if by_wc { |text| text.matches('\n').count() } else { |text| text.lines().count() };
            let counts = count_lines(dir.path(), ".rs", lines);
            if counts.is_empty() {
                prop_assert!(done.answer.starts_with("There are no Rust files."), "{}", done.answer);
                continue;
            }
            let shown = |number: usize| format!("{number} line{}", if number == 1 { "" } else { "s" });
            let read = counts.len().min(if by_wc { usize::MAX } else { 6 });
            let total: usize = counts.values().take(read).sum();
            prop_assert!(done.answer.contains(&format!("{} in all.", shown(total))), "{}", done.answer);
            for (path, number) in counts.iter().take(read) {
                let line = format!("- `{path}`: {}\n", shown(*number));
                prop_assert!(done.answer.contains(&line), "{line} in {}", done.answer);
            }
        }
    }

    #[test]
    fn search_results_are_true(files in tree()) {
        let dir = lay(&files);
        let hits: usize = files.values().map(|text| text.lines().filter(|line| line.contains("TODO")).count()).sum();
        let with_hits = files.values().filter(|text| text.contains("TODO")).count();
        for tools in [TOOLS[0], TOOLS[1]] {
            let done = run(dir.path(), tools, "find all TODOs");
            if hits == 0 {
                prop_assert!(done.answer.starts_with("`TODO` occurs nowhere."), "{}", done.answer);
                continue;
            }
            let plural = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
            let head = format!("`TODO` occurs in {} of {}.", plural(hits, "line"), plural(with_hits, "file"));
            prop_assert!(done.answer.starts_with(&head), "{head}\n{}", done.answer);
        }
    }

    #[test]
    fn summaries_and_lists_are_true(files in tree()) {
        let dir = lay(&files);
        for tools in TOOLS {
            for path in files.keys() {
                let task = format!("read \"./{path}\" and summarise it");
                let done = run(dir.path(), tools, &task);
                let text = &files[path];
                let (lines, words) = (text.lines().count(), text.split_whitespace().count());
                let plural = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
                let head = format!("{path}`**: {}, {}.", plural(lines, "line"), plural(words, "word"));
                prop_assert!(done.answer.contains(&head), "{head}\n{}", done.answer);
                is_honest(&done, &task);
            }
            let done = run(dir.path(), tools, "what is this project?");
            let count = walk(dir.path()).len();
            if count > 0 {
                let all = format!("In all there are {count} file");
                prop_assert!(done.answer.contains(&all), "{all}\n{}", done.answer);
            }
            is_honest(&done, "project");
        }
    }
}
