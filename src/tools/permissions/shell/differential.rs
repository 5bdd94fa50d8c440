//! The parser against a real shell: scripts of a grammar are run where all commands are stubs that record their words,
//! and whatever ran must be in the parser's list.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use proptest::prelude::*;

use super::{Access, Script, Shape, Standing, Word, parse};

/// Commands that are what they are.
const REAL: [&str; 8] = ["sh", "bash", "env", "nice", "timeout", "xargs", "find", "nohup"];
const STUBS: [&str; 3] = ["ca", "cb", "cc"];
/// Between words, and at the end of a command's words.
const WORD_END: char = '\x1f';
const END: char = '\x1e';

fn found_on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A folder with stubs and the real commands; none where the system lacks one of them.
fn stage(folder: &Path) -> Option<()> {
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).unwrap();
    for name in REAL {
        symlink(found_on_path(name)?, bin.join(name)).unwrap();
    }
    let shell = found_on_path("sh")?.canonicalize().unwrap();
    let stub = format!("#!{}\nprintf '%s\\037' \"${{0##*/}}\" \"$@\" '\u{1e}' >>\"$STUB_LOG\"\n", shell.display(),);
    for name in STUBS {
        fs::write(bin.join(name), &stub).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    Some(())
}

/// Runs a script; the words of all stubs that ran, and the names of the files that it made.
fn run(folder: &Path, shell: &str, script: &str) -> (Vec<Vec<String>>, Vec<String>) {
    // Of its own: what an earlier script left in the background may still write.
    let own = tempfile::tempdir_in(folder).unwrap();
    let (log, work) = (own.path().join("log"), own.path().join("work"));
    fs::write(&log, "").unwrap();
    fs::create_dir(&work).unwrap();
    fs::write(work.join("have"), "1 2\n").unwrap();
    let mut command = Command::new(folder.join("bin").join(shell));
    command.args(["-c", script]).current_dir(&work).env_clear();
    command.env("PATH", folder.join("bin")).env("x", "-n val").env("STUB_LOG", &log);
    // All that it starts holds these streams: their end is the end of all.
    command.stdin(Stdio::null()).output().unwrap();
    let log = fs::read_to_string(log).unwrap();
    let end = format!("{END}{WORD_END}");
    let calls = log.split_terminator(&end);
    let calls = calls.map(|call| call.split_terminator(WORD_END).map(str::to_owned).collect()).collect();
    let files = fs::read_dir(work).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    (calls, files.filter(|name| name != "have").collect())
}

/// Whether these words can become that call.
fn can_become(words: &[Word], call: &[String]) -> bool {
    let Some((word, rest)) = words.split_first() else { return call.is_empty() };
    match word.shape {
        Shape::Fixed => call.first() == Some(&word.text) && can_become(rest, &call[1..]),
        Shape::Glob => (1..=call.len()).any(|taken| {
            call[..taken].iter().all(|text| text.starts_with(&word.text)) && can_become(rest, &call[taken..])
        }),
        Shape::Dynamic => (0..=call.len()).any(|taken| can_become(rest, &call[taken..])),
    }
}

fn lists(script: &Script, call: &[String]) -> bool {
    script.commands.iter().any(|command| can_become(&command.words, call))
}

fn writes(script: &Script, file: &str) -> bool {
    script.files.iter().any(|found| found.access == Access::Write && found.target.fixed() == Some(file))
}

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "a",
        "'b c'",
        "\"d e\"",
        "\"$x\"",
        "$x",
        "f\\ g",
        "*",
        "{p,q}",
        "h\"i\"'j'",
        "''",
        "${x:-m}",
        "#n",
        "a#b",
        "~",
        "-n",
        "a=b",
        "\\\n",
        "$((1+2))",
        "\"\\\"\"",
        "'#'",
        "{}",
        "!",
        "[a-z]*",
        "$",
        "${x%%v*}",
    ])
    .prop_map(str::to_owned)
}

fn simple() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["ca", "c\\b", "'c'c", "\"ca\"", "c\\\na"]);
    let before = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        "y=1 ",
        ">out1 ",
        "2>err ",
        "env ",
        "env y=1 ",
        "nice ",
        "timeout 5 ",
        "nohup ",
        "command ",
        "exec ",
        "xargs ",
        "xargs -I% ",
        "find have -exec ",
        "! ",
        "time ",
        "&>both ",
    ]);
    let after = prop::sample::select(vec![
        "",
        "",
        "",
        " >out2",
        " 2>&1",
        " >>out3 </dev/null",
        " <have",
        " <<<b",
        " # cb",
        " >|out4",
        " 2>/dev/null",
    ]);
    (before, name, prop::collection::vec(word(), 0..3), after).prop_map(|(before, name, words, after)| {
        let words: String = words.iter().map(|word| format!(" {word}")).collect();
        let end = if before.starts_with("find") { " \\;" } else { "" };
        let after = if after.starts_with(" #") { format!("{after}\n") } else { after.to_owned() };
        format!("{before}{name}{words}{end}{after}")
    })
}

fn script() -> impl Strategy<Value = String> {
    simple().prop_recursive(4, 24, 3, |inner| {
        let joined = (
            inner.clone(),
            prop::sample::select(vec![" && ", " || ", "; ", " | ", " & ", "\n", "|", "&&"]),
            inner.clone(),
        );
        prop_oneof![
            joined.prop_map(|(a, joint, b)| format!("{a}{joint}{b}")),
            inner.clone().prop_map(|a| format!("({a}\n)")),
            inner.clone().prop_map(|a| format!("{{ {a}\n}} >out5")),
            inner.clone().prop_map(|a| format!("ca $({a}\n) \"$({a}\n)\"")),
            inner.clone().prop_map(|a| format!("cb <({a}\n)")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("if {a}\nthen {b}\nelse {a}\nfi")),
            inner.clone().prop_map(|a| format!("for y in 1 $x; do {a}\ndone")),
            inner.clone().prop_map(|a| format!("case a in (b|a) {a}\n;; *) {a}\nesac")),
            inner.clone().prop_map(|a| format!("f() {{ {a}\n}}; f")),
            inner.clone().prop_map(|a| format!("while {a}\ndo break; done")),
            inner.clone().prop_map(|a| format!("sh -c '{}'", a.replace('\'', "'\\''"))),
            inner.clone().prop_map(|a| format!("ca <<EOF\n$({a}\n)\nEOF\n")),
            inner.clone().prop_map(|a| format!("ca <<'EOF'\n{a}\nEOF\n")),
            inner.prop_map(|a| format!("eval '{}'", a.replace('\'', "'\\''"))),
        ]
    })
}

#[test]
fn whatever_a_shell_runs_is_in_the_list() {
    let folder = tempfile::tempdir().unwrap();
    if stage(folder.path()).is_none() {
        println!("skipped: bash and the usual commands are not all on PATH");
        return;
    }
    let cases = std::env::var("TROUPE_SHELL_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let config =
        ProptestConfig { cases, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let known = std::cell::Cell::new(0);
    let result = runner.run(&script(), |text| {
        let Ok(parsed) = parse(&text) else { return Ok(()) };
        // What such a command runs is said to be unknown.
        if parsed.commands.iter().any(|command| matches!(command.standing, Standing::Opaque(_))) {
            return Ok(());
        }
        known.set(known.get() + 1);
        for shell in ["bash", "sh"] {
            let (calls, files) = run(folder.path(), shell, &text);
            for call in calls {
                prop_assert!(lists(&parsed, &call), "{shell} ran {call:?}\nof {text}\nlisted: {parsed:?}");
            }
            for file in files {
                prop_assert!(writes(&parsed, &file), "{shell} wrote {file:?}\nby {text}\nlisted: {parsed:?}");
            }
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    assert!(known.get() * 3 > cases, "only {} of {cases} scripts were understood", known.get());
}
