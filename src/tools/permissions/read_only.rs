//! Commands that only look, by a short list. Whoever is not on it, or has an argument that is not, may change something.

use super::shell::{self, Access, Command, Standing, Word};

/// What the arguments of a command may be.
#[derive(Clone, Copy)]
enum Arguments {
    /// Anything: none of its options writes or runs something.
    Any,
    /// Operands, and these options.
    These(&'static [&'static str]),
    /// Operands, and what passes the test.
    Such(fn(&str) -> bool),
    /// What passes the test as a whole.
    All(fn(&[Word]) -> bool),
}

use Arguments::{All, Any, Such, These};

/// The list.
const COMMANDS: &[(&str, Arguments)] = &[
    ("ls", Any),
    ("cat", Any),
    ("head", Any),
    ("tail", Any),
    ("wc", Any),
    ("stat", Any),
    ("du", Any),
    ("df", Any),
    ("cut", Any),
    ("tr", Any),
    ("nl", Any),
    ("tac", Any),
    ("rev", Any),
    ("fold", Any),
    ("paste", Any),
    ("comm", Any),
    ("cmp", Any),
    ("diff", Any),
    ("od", Any),
    ("basename", Any),
    ("dirname", Any),
    ("realpath", Any),
    ("readlink", Any),
    ("which", Any),
    ("type", Any),
    ("whoami", Any),
    ("id", Any),
    ("uname", Any),
    ("ps", Any),
    ("grep", Any),
    ("egrep", Any),
    ("fgrep", Any),
    ("md5sum", Any),
    ("sha1sum", Any),
    ("sha256sum", Any),
    ("seq", Any),
    ("sleep", Any),
    ("cd", Any),
    ("column", Any),
    ("file", These(&["-b", "-i", "-L", "--brief", "--mime", "--mime-type"])),
    ("date", All(|words| words.iter().all(is_date_argument))),
    ("sort", Such(is_sort_option)),
    ("uniq", All(is_uniq)),
    ("find", Such(is_find_word)),
    ("rg", Such(is_rg_option)),
    ("sed", All(is_sed_print)),
    ("git", All(is_git)),
];

/// Streams that are no files.
const STREAMS: [&str; 3] = ["/dev/null", "/dev/stdout", "/dev/stderr"];

/// Whether a script only looks.
///
/// # Errors
/// What in it may do more.
pub fn check(script: &str) -> Result<(), String> {
    let script = shell::parse(script).map_err(|why| why.to_string())?;
    script.commands.iter().try_for_each(check_command)?;
    for file in &script.files {
        let name = file.target.fixed();
        let is_plain = match (file.access, name) {
            (_, Some(name)) if STREAMS.contains(&name) => true,
            // Some names below /dev are connections.
            (Access::Read, Some(name)) => !name.starts_with("/dev/") && !name.contains(".."),
            _ => false,
        };
        if !is_plain {
            return Err(format!("it opens {}", file.target.shown()));
        }
    }
    Ok(())
}

fn check_command(command: &Command) -> Result<(), String> {
    match &command.standing {
        Standing::Free => return Ok(()),
        Standing::Opaque(why) => return Err(why.clone()),
        Standing::Ordinary => {}
    }
    let refused = || format!("`{}` is not known to read only", command.text());
    let Some(name) = command.name().filter(|_| command.assignments.is_empty()) else { return Err(refused()) };
    let words = &command.words[1..];
    let known = COMMANDS.iter().find(|(known, _)| *known == name).map(|(_, arguments)| *arguments);
    let reads = match known {
        None => false,
        Some(Any) => true,
        Some(These(options)) => words.iter().all(|word| is_either(word, |text| options.contains(&text))),
        Some(Such(test)) => words.iter().all(|word| is_either(word, test)),
        Some(All(test)) => test(words),
    };
    let hint = match (name, words.first().and_then(Word::fixed)) {
        ("git", Some("diff")) => "; write `git diff --no-ext-diff --no-textconv`, so that it runs no other program",
        ("git", Some("show" | "log")) => "; with patches, write --no-textconv, so that it runs no other program",
        _ => "",
    };
    if reads { Ok(()) } else { Err(refused() + hint) }
}

/// An operand, or an option that passes.
fn is_either(word: &Word, test: impl Fn(&str) -> bool) -> bool {
    match word.fixed() {
        Some(text) if text.starts_with('-') && text.len() > 1 => test(text),
        Some(_) => true,
        None => word.is_operand(),
    }
}

/// `-x` or `-xyz` of these letters.
fn is_cluster(text: &str, letters: &str) -> bool {
    text.strip_prefix('-').is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| letters.contains(c)))
}

fn is_date_argument(word: &Word) -> bool {
    word.fixed().is_some_and(|text| text.starts_with('+') || matches!(text, "-u" | "-I" | "-R"))
}

fn is_sort_option(text: &str) -> bool {
    let is_key = text.strip_prefix("-k").is_some_and(|key| key.chars().all(|c| "0123456789.,bdfghinrV".contains(c)));
    let is_separator = text.starts_with("-t") && text.chars().count() <= 3;
    is_cluster(text, "bdfghinrRVcCsuz") || is_key || is_separator
}

/// A second operand would be written to.
fn is_uniq(words: &[Word]) -> bool {
    let operands = words.iter().filter(|word| word.fixed().is_none_or(|text| !text.starts_with('-'))).count();
    operands <= 1
        && words.iter().all(|word| word.fixed().is_some() && is_either(word, |text| is_cluster(text, "cdiuz")))
}

fn is_find_word(text: &str) -> bool {
    let writes = ["-exec", "-ok", "-delete", "-fprint", "-fls"];
    !writes.iter().any(|word| text.starts_with(word))
}

fn is_rg_option(text: &str) -> bool {
    if text.starts_with("--") {
        return !["--pre", "--hostname-bin", "--search-zip"].iter().any(|word| text.starts_with(word));
    }
    !text.contains('z')
}

/// `sed -n 1,20p FILES`.
fn is_sed_print(words: &[Word]) -> bool {
    let [quiet, script, files @ ..] = words else { return false };
    let lines = script.fixed().and_then(|text| text.strip_suffix('p'));
    quiet.fixed() == Some("-n")
        && lines.is_some_and(|lines| lines.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '$')))
        && files.iter().all(Word::is_operand)
}

/// Options of `git status`.
const STATUS: [&str; 14] = [
    "-s",
    "--short",
    "-b",
    "--branch",
    "--porcelain",
    "--porcelain=v1",
    "--porcelain=v2",
    "-uno",
    "-uall",
    "-unormal",
    "--ignored",
    "-z",
    "--long",
    "--show-stash",
];

/// Options of `git log`, `git show` and `git diff` that neither write nor run anything.
const HISTORY: [&str; 34] = [
    "--oneline",
    "--graph",
    "--decorate",
    "--no-decorate",
    "--all",
    "--branches",
    "--tags",
    "--remotes",
    "--follow",
    "--first-parent",
    "--merges",
    "--no-merges",
    "--reverse",
    "--abbrev-commit",
    "--no-color",
    "--stat",
    "--shortstat",
    "--numstat",
    "--name-only",
    "--name-status",
    "--no-patch",
    "-s",
    "-i",
    "-p",
    "-u",
    "--patch",
    "--cached",
    "--staged",
    "--no-ext-diff",
    "--no-textconv",
    "-w",
    "--no-renames",
    "--check",
    "--",
];

/// Beginnings of such options with a value.
const HISTORY_VALUES: [&str; 12] = [
    "--max-count=",
    "--skip=",
    "--since=",
    "--until=",
    "--after=",
    "--before=",
    "--author=",
    "--grep=",
    "--date=",
    "--unified=",
    "--format=",
    "--pretty=",
];

fn is_history_option(text: &str) -> bool {
    let is_number = |prefix: &str| {
        text.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()))
    };
    // `%G…` has signatures checked by another program.
    let has_value = HISTORY_VALUES.iter().any(|known| text.starts_with(known)) && !text.contains("%G");
    HISTORY.contains(&text) || is_number("-") || is_number("-n") || is_number("-U") || text == "-n" || has_value
}

fn is_git(words: &[Word]) -> bool {
    let words = match words {
        [first, rest @ ..] if first.fixed() == Some("--no-pager") => rest,
        words => words,
    };
    let Some((command, arguments)) = words.split_first() else { return false };
    let has = |wanted: &[&str]| arguments.iter().any(|word| word.fixed().is_some_and(|text| wanted.contains(&text)));
    let only = |test: fn(&str) -> bool| arguments.iter().all(|word| is_either(word, test));
    let no_patch = ["-s", "--no-patch", "--stat", "--shortstat", "--numstat", "--name-only", "--name-status"];
    let patch = has(&["-p", "-u", "--patch"]);
    match command.fixed() {
        Some("status") => only(|text| STATUS.contains(&text)),
        Some("diff") => only(is_history_option) && has(&["--no-ext-diff"]) && has(&["--no-textconv"]),
        Some("show") => only(is_history_option) && (has(&["--no-textconv"]) || (has(&no_patch) && !patch)),
        Some("log") => only(is_history_option) && (has(&["--no-textconv"]) || !patch),
        Some("blame") => only(|text| matches!(text, "-w" | "--" | "--no-textconv")) && has(&["--no-textconv"]),
        Some("ls-files") => only(|text| matches!(text, "-z" | "-m" | "-o" | "-c" | "-d" | "--exclude-standard" | "--")),
        Some("ls-tree") => only(|text| matches!(text, "-r" | "-t" | "-l" | "-z" | "--name-only" | "--")),
        Some("rev-parse") => only(|text| matches!(text, "--abbrev-ref" | "--short" | "--show-toplevel" | "--verify")),
        Some("branch") => arguments.iter().all(|word| {
            word.fixed().is_some_and(|text| matches!(text, "-a" | "-r" | "-v" | "-vv" | "--list" | "--show-current"))
        }),
        Some("remote") => arguments.iter().all(|word| word.fixed() == Some("-v")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn what_only_looks_passes() {
        for script in [
            "ls -la src",
            "cat a b | head -5 | wc -l",
            "cd src && grep -rn foo . | sort -u | uniq -c",
            "pwd; id",
            "git status -s",
            "git --no-pager log --oneline -5",
            "git diff --no-ext-diff --no-textconv HEAD~1 -- src",
            "git show --stat HEAD",
            "git show --no-textconv HEAD",
            "find . -name '*.rs' -type f",
            "rg -n foo src/*.rs",
            "sed -n '1,20p' a.rs",
            "for f in *.rs; do wc -l \"$f\"; done",
            "cat <in 2>/dev/null",
            "date +%s",
            "if [ -f x ]; then cat x; fi",
            "ls $(cat list)",
            "find . -print0 | xargs -0 grep foo",
            "sort -k2,2n f",
            "git branch -a",
            "uniq -c f",
            "echo hi; true",
            "cat <<EOF\nx\nEOF",
        ] {
            assert_eq!(check(script), Ok(()), "{script}");
        }
    }

    #[test]
    fn what_may_do_more_does_not() {
        for script in [
            "rm x",
            "ls > x",
            "ls >> x",
            "ls; rm x",
            "ls $(rm x)",
            "cat x | tee y",
            "find . -delete",
            "find . -exec rm {} +",
            "find . -fprint x",
            "find . $X",
            "find . -ok rm {} ';'",
            "sort -o x y",
            "sort -uo x y",
            "sort --output=x y",
            "sort --compress-program=x y",
            "sort $X",
            "sort *",
            "sed -i s/a/b/ x",
            "sed -n 'w x' y",
            "sed -n '1e rm x' y",
            "awk '{print}' x",
            "uniq a b",
            "git diff",
            "git diff --output=x --no-ext-diff --no-textconv",
            "git -c core.pager=x log",
            "git log -p",
            "git log --output=x",
            "git log --format=%G?",
            "git show HEAD",
            "git log $X",
            "git log *",
            "git push",
            "git branch new",
            "git branch -D x",
            "git stash",
            "git -C /x status",
            "FOO=1 ls",
            "PATH=/x; ls",
            "rg --pre=x foo",
            "rg -z foo",
            "rg $X",
            "date -s 0",
            "xargs rm",
            "env ls -x; rm y",
            "sh x.sh",
            "ls <$X",
            "cat </dev/tcp/h/1",
            "ls >&x",
            "/tmp/ls",
            "$X",
            "eval \"$X\"",
            "ls (",
            "file -C x",
            "ls >$X",
            "sudo ls",
            "f() { ls; }; alias f=rm",
            "cargo test",
            "tee x",
            "echo x >y",
        ] {
            assert!(check(script).is_err(), "{script}");
        }
        assert!(check("git diff").unwrap_err().contains("--no-ext-diff"));
    }
}
