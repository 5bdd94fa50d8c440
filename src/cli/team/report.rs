//! The last words of a run: its result, where all of it is, and how to go on when a signal ended it.

use std::path::{Path, PathBuf};

use super::{results, run::Refusal};
use crate::{
    actors::team::{
        result::{TeamResult, summary::Summary},
        template::shown,
    },
    cli::{
        exit::Exit,
        notices,
        run::{fail, print},
        start::StartError,
    },
};

/// Where results are, and how they are told.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Their folder.
    pub folder: PathBuf,
    /// As JSON.
    pub json: bool,
    /// The agents are on the workers of a server, which has to be named again: its URL may hold a password.
    pub is_away: bool,
}

impl Place {
    fn tell(&self) {
        notices::tell(&format!("results: {}", self.folder.display()));
    }

    /// A run that was stopped can be gone on with.
    fn tell_how_to_go_on(&self, last: &TeamResult) {
        if last.outcome == "stopped" {
            let on = if self.is_away { " --on URL" } else { "" };
            let folder = for_shell(&self.folder.display().to_string());
            notices::tell(&format!("Go on with it: troupe team run --resume {folder}{on}"));
        }
    }
}

/// Prints the result of a run that ended like this; how the command ends.
pub(super) fn report(result: &TeamResult, exit: Exit, place: &Place) -> Result<Exit, Refusal> {
    let mut printed = Exit::Done;
    if place.json {
        let text = serde_json::to_string_pretty(result).map_err(StartError::of)?;
        printed = print(&format!("{text}\n"));
    } else {
        match result.is_done() {
            true => printed = print(&format!("{}\n", shown(&result.output).trim_end())),
            false => drop(fail(&told(result))),
        }
        place.tell();
    }
    place.tell_how_to_go_on(result);
    Ok(first_failure(exit, printed))
}

/// Several runs in folders below that of `place`, each carried out by `play`; they are compared.
pub(super) fn report_all(
    place: &Place,
    times: u64,
    first_seed: u64,
    play: impl Fn(&Path, u64) -> Result<(TeamResult, Exit), Refusal>,
) -> Result<Exit, Refusal> {
    let (mut all, mut exit) = (Vec::new(), Exit::Done);
    for number in 1..=times {
        let own = place.folder.join(format!("run-{number}"));
        let (result, ended) = play(&own, first_seed.saturating_add(number - 1))?;
        all.push((own.display().to_string(), result));
        let stopped = is_signal(ended);
        if ended != Exit::Done && (exit == Exit::Done || stopped) {
            exit = ended;
        }
        if stopped {
            break;
        }
    }
    let summary = Summary::of(&all);
    results::write_json(&place.folder.join("summary.json"), &summary).map_err(StartError::Failed)?;
    let printed = if place.json {
        let text = serde_json::to_string_pretty(&summary).map_err(StartError::of)?;
        print(&format!("{text}\n"))
    } else {
        let printed = print(&summary.table());
        place.tell();
        printed
    };
    if let Some((_, last)) = all.last() {
        place.tell_how_to_go_on(last);
    }
    Ok(first_failure(exit, printed))
}

/// A result that could not be written is a failure, unless there was another one before.
fn first_failure(exit: Exit, printed: Exit) -> Exit {
    if exit == Exit::Done { printed } else { exit }
}

/// Whether a signal ended it.
pub(super) fn is_signal(exit: Exit) -> bool {
    matches!(exit, Exit::Interrupted | Exit::Terminated | Exit::HungUp | Exit::Quit)
}

fn told(result: &TeamResult) -> String {
    let step = result.step.as_ref().map_or(String::new(), |step| format!(" in {step}"));
    match result.outcome.as_str() {
        "limit" => format!("a limit was reached: {}", result.message),
        outcome => format!("the team {outcome}{step}: {}", result.message),
    }
}

/// A word as a shell takes it.
fn for_shell(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%,=".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_take_them_apart() {
        let table = [("/a/b-1", "/a/b-1"), ("/a b", "'/a b'"), ("it's", r"'it'\''s'"), ("$x", "'$x'"), ("", "''")];
        for (word, expected) in table {
            assert_eq!(for_shell(word), expected);
        }
    }
}
