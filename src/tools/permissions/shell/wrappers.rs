//! Commands that run other commands. The inner command is listed too; a wrapper that does nothing else needs no rule of
//! its own, one that gives rights or touches files by itself does.

use super::{
    Command, MAX_DEPTH, Script, Standing, Unclear, Word,
    builtins::is_open,
    parse_nested,
    word::{Shape, is_name},
};

/// What a wrapper was found to run.
enum Inner {
    /// It is no wrapper, or runs nothing.
    Nothing,
    /// A command, in place of the wrapper.
    Instead(Command),
    /// Commands beside what the wrapper does itself.
    Beside(Vec<Command>),
    /// A script, in place of the wrapper.
    Script(String),
    /// It is not clear what it runs.
    Unclear(String),
}

/// Adds what wrappers run, however deep they are nested.
pub(super) fn unwrap_all(script: Script, depth: usize) -> Result<Script, Unclear> {
    let mut result = Script { files: script.files, commands: Vec::new() };
    // The last one first: what a command turns out to run comes right behind it.
    let mut waiting: Vec<(Command, usize)> =
        script.commands.into_iter().rev().map(|command| (command, depth)).collect();
    while let Some((mut command, depth)) = waiting.pop() {
        if depth >= MAX_DEPTH {
            return Err(Unclear::new("it is nested too deeply"));
        }
        let inner = inner(&command);
        let bare = command.assignments.is_empty();
        let mut more = match inner {
            Inner::Nothing => Vec::new(),
            Inner::Instead(inner) => {
                if bare {
                    command.standing = Standing::Free;
                }
                vec![inner]
            }
            Inner::Beside(inner) => inner,
            Inner::Script(text) => {
                if bare {
                    command.standing = Standing::Free;
                }
                let inner = parse_nested(&text, depth + 1)?;
                result.files.extend(inner.files);
                inner.commands
            }
            Inner::Unclear(why) => {
                command.standing = Standing::Opaque(why);
                Vec::new()
            }
        };
        result.commands.push(command);
        while let Some(inner) = more.pop() {
            waiting.push((inner, depth + 1));
        }
    }
    Ok(result)
}

fn inner(command: &Command) -> Inner {
    let Some(name) = command.name() else { return Inner::Nothing };
    let arguments = &command.words[1..];
    // A program with a path may be another one of that name: it is no wrapper that we know, but what it might run counts.
    let base = name.rsplit('/').next().unwrap_or(name);
    let found = match base {
        "env" => env(arguments),
        // It only says what the name stands for.
        "command" if matches!(arguments.first().and_then(Word::fixed), Some("-v" | "-V")) => Inner::Nothing,
        "command" => after_options(arguments, "p", "", &[]),
        "builtin" | "nohup" => after_options(arguments, "", "", &[]),
        "exec" => after_options(arguments, "cl", "a", &[]),
        "setsid" => after_options(arguments, "wfc", "", &["--wait", "--fork", "--ctty"]),
        "nice" => after_options(arguments, "", "n", &[]),
        "ionice" => after_options(arguments, "t", "cn", &[]),
        "stdbuf" => after_options(arguments, "", "ioe", &[]),
        "time" => after_options(arguments, "pv", "f", &[]),
        "timeout" => timeout(arguments),
        "sudo" | "doas" => match after_options(arguments, "EHknSbs", "ugpCT", &[]) {
            Inner::Instead(inner) => Inner::Beside(vec![with_assignments(inner)]),
            other => other,
        },
        "xargs" => xargs(arguments),
        "find" => find(arguments),
        "sh" | "bash" | "dash" => shell(arguments),
        "zsh" | "ksh" | "fish" if arguments.iter().any(|word| is_open(word) || word.text.contains('c')) => {
            Inner::Unclear(format!("`{base}` runs a script in a language of its own"))
        }
        "eval" => eval(arguments),
        _ => Inner::Nothing,
    };
    match found {
        Inner::Instead(inner) if name.contains('/') => Inner::Beside(vec![inner]),
        Inner::Script(_) if name.contains('/') => Inner::Unclear(format!("{name} runs a script")),
        found => found,
    }
}

fn command_of(words: &[Word]) -> Option<Command> {
    let command = Command { words: words.to_vec(), ..Command::default() };
    (!words.is_empty()).then(|| Command { standing: Standing::of(&command), ..command })
}

fn instead(words: &[Word]) -> Inner {
    command_of(words).map_or(Inner::Nothing, Inner::Instead)
}

/// `sudo NAME=value command`.
fn with_assignments(command: Command) -> Command {
    let sets = command.words.iter().take_while(|word| word.assigns().is_some()).count();
    let (assignments, words) = command.words.split_at(sets);
    let command = Command { assignments: assignments.to_vec(), words: words.to_vec(), ..Command::default() };
    Command { standing: Standing::of(&command), ..command }
}

/// The command behind options: letters without a value, letters with one, whole words.
fn after_options(arguments: &[Word], flags: &str, valued: &str, long: &[&str]) -> Inner {
    let mut rest = arguments;
    while let [first, after @ ..] = rest {
        if first.is_operand() && first.shape == Shape::Fixed {
            break;
        }
        let Some(text) = first.fixed() else {
            return Inner::Unclear(format!("what it runs is only known when it runs: {}", first.source));
        };
        if text == "--" {
            rest = after;
            break;
        }
        if long.contains(&text) {
            rest = after;
            continue;
        }
        let letters = text.trim_start_matches('-');
        let first_letter = letters.chars().next().unwrap_or('?');
        if text.starts_with("--") || letters.is_empty() {
            return Inner::Unclear(format!("its option {text} is not known here"));
        }
        let takes_next = valued.contains(first_letter) && letters.len() == 1;
        let is_known = valued.contains(first_letter)
            || letters.chars().all(|c| flags.contains(c))
            // `nice -5`
            || letters.chars().all(|c| c.is_ascii_digit());
        rest = match after {
            [value, after @ ..] if takes_next && value.fixed().is_some() => after,
            after if is_known && !takes_next => after,
            _ => return Inner::Unclear(format!("its option {text} is not known here")),
        };
    }
    instead(rest)
}

fn env(arguments: &[Word]) -> Inner {
    let mut rest = arguments;
    let mut assignments = Vec::new();
    while let [first, after @ ..] = rest {
        let Some(text) = first.fixed() else {
            let is_assignment = first.source.split_once('=').is_some_and(|(name, _)| is_name(name));
            if !is_assignment {
                return Inner::Unclear(format!("what it runs is only known when it runs: {}", first.source));
            }
            assignments.push(first.clone());
            rest = after;
            continue;
        };
        rest = match text {
            "-i" | "-" | "--ignore-environment" => after,
            "-u" => match after {
                [name, after @ ..] if name.fixed().is_some() => after,
                _ => return Inner::Unclear("its option -u has no value".into()),
            },
            text if text.starts_with("--unset=") => after,
            text if text.starts_with('-') => return Inner::Unclear(format!("its option {text} is not known here")),
            text if text.contains('=') => {
                assignments.push(first.clone());
                after
            }
            _ => break,
        };
    }
    // What is taken out of the environment, or emptied, may change what runs just as well.
    let plain = assignments.len() == arguments.len() - rest.len();
    match command_of(rest) {
        None => Inner::Nothing,
        Some(command) if assignments.is_empty() && plain => Inner::Instead(command),
        Some(command) if plain => {
            let command = Command { assignments, ..command };
            Inner::Instead(Command { standing: Standing::of(&command), ..command })
        }
        Some(command) => Inner::Beside(vec![command]),
    }
}

fn timeout(arguments: &[Word]) -> Inner {
    match after_options(arguments, "v", "ks", &["--foreground", "--preserve-status", "--verbose"]) {
        // The first word is how long.
        Inner::Instead(command) => instead(&command.words[1..]),
        other => other,
    }
}

fn xargs(arguments: &[Word]) -> Inner {
    let mut placeholder = None;
    let mut rest = arguments;
    while let [first, after @ ..] = rest {
        let Some(text) = first.fixed() else {
            return Inner::Unclear(format!("what it runs is only known when it runs: {}", first.source));
        };
        rest = match text {
            "-0" | "--null" | "-r" | "--no-run-if-empty" | "-t" | "-x" => after,
            "-I" => match after {
                [mark, after @ ..] if mark.fixed().is_some_and(|mark| !mark.is_empty()) => {
                    placeholder = mark.fixed();
                    after
                }
                _ => return Inner::Unclear("its option -I has no value".into()),
            },
            "-n" | "-P" | "-L" | "-s" | "-d" | "-a" => match after {
                [value, after @ ..] if value.fixed().is_some() => after,
                _ => return Inner::Unclear(format!("its option {text} has no value")),
            },
            text if text.starts_with("-I") => {
                placeholder = Some(&text[2..]);
                after
            }
            text if ["-n", "-P", "-L"].iter().any(|option| text.starts_with(option)) => after,
            text if text.starts_with('-') => return Inner::Unclear(format!("its option {text} is not known here")),
            _ => break,
        };
    }
    let mut words = match placeholder {
        Some(mark) => with_unknown(rest, mark),
        None => rest.to_vec(),
    };
    if words.is_empty() {
        // Without a command it prints what it reads.
        words.push(Word::of("echo"));
    }
    if placeholder.is_none() {
        words.push(Word::unknown("…"));
    }
    instead(&words)
}

/// The words with those that hold `mark` made unknown: something else is put there.
fn with_unknown(words: &[Word], mark: &str) -> Vec<Word> {
    let unknown = |word: &Word| match word.text.contains(mark) || word.source.contains(mark) {
        true => Word::unknown(&word.source),
        false => word.clone(),
    };
    words.iter().map(unknown).collect()
}

fn find(arguments: &[Word]) -> Inner {
    let mut commands = Vec::new();
    let mut rest = arguments;
    while let [first, after @ ..] = rest {
        rest = after;
        if !matches!(first.fixed(), Some("-exec" | "-execdir" | "-ok" | "-okdir")) {
            continue;
        }
        let end = after.iter().position(|word| matches!(word.fixed(), Some(";" | "+")));
        let Some(end) = end else { return Inner::Unclear(format!("its {} does not end", first.text)) };
        commands.extend(command_of(&with_unknown(&after[..end], "{}")));
        rest = &after[end + 1..];
    }
    if arguments.iter().any(|word| is_open(word) && !word.is_operand()) {
        return Inner::Unclear("its arguments are only known when it runs, and some of them run commands".into());
    }
    if commands.is_empty() { Inner::Nothing } else { Inner::Beside(commands) }
}

/// `sh -c SCRIPT`. A file, or a script on standard input, is a command like any other.
fn shell(arguments: &[Word]) -> Inner {
    let mut rest = arguments;
    while let [first, after @ ..] = rest {
        let Some(text) = first.fixed() else {
            return Inner::Unclear(format!("what it runs is only known when it runs: {}", first.source));
        };
        rest = match text {
            "-e" | "-u" | "-x" | "-eu" | "-ex" | "-ux" | "-eux" => after,
            "-o" | "-eo" | "-euo" | "-euxo" if after.first().and_then(Word::fixed) == Some("pipefail") => &after[1..],
            "-c" | "-ec" | "-ce" | "-euc" | "-xc" => {
                return match after.first().map(|word| (word, word.fixed())) {
                    Some((_, Some(script))) => Inner::Script(script.to_owned()),
                    Some((word, None)) => {
                        Inner::Unclear(format!("the script is only known when it runs: {}", word.source))
                    }
                    None => Inner::Nothing,
                };
            }
            text if text.starts_with(['-', '+']) => {
                return Inner::Unclear(format!("its option {text} is not known here"));
            }
            _ => return Inner::Nothing,
        };
    }
    Inner::Nothing
}

fn eval(arguments: &[Word]) -> Inner {
    let fixed: Option<Vec<&str>> = arguments.iter().map(Word::fixed).collect();
    match fixed {
        Some(words) => Inner::Script(words.join(" ")),
        None => Inner::Unclear("what `eval` runs is only known when it runs".into()),
    }
}
