//! `troupe undo`: restores files that a session changed, when nobody has the session open.

use std::{path::PathBuf, sync::Arc};

use super::{
    env::Environment,
    exit::Exit,
    run::{fail, print, warn},
    start::{self, StartError},
    subcommand::{Subcommand, SubcommandError, option},
};
use crate::{
    protocol::{
        EntryId,
        checkpoint::{CheckpointCause, CheckpointInfo, FileChange, FileOutcome, Undo, UndoReport, UndoTarget},
        time::iso,
    },
    store::{
        NewSession, SessionStore,
        sessions::{self, SessionDir},
        settings::Settings,
    },
    tools::{CheckpointConfig, Checkpoints, Local, checkpoints},
};

const USAGE: &str = "troupe undo [--session ID|PATH] [--prompt | --to ENTRY | --redo] [--force] [--dry-run]
  troupe undo --list [--session ID|PATH] [--json]

Restores files to what they held before the last turn of a session that changed files.
  --session ID|PATH  the session; by default the last one of this folder
  --session-dir DIR  where sessions are kept
  --prompt           back to before the last prompt that led to changes
  --to ENTRY         back to where files were when this entry was the last one
  --redo             take the last undo back
  --force            also files that somebody else changed since; a redo brings their changes back
  --dry-run          only say what would be done
  --list             what can be undone, the last first
  --json             as JSON";

/// `troupe undo` with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoCommand {
    session: Option<String>,
    session_dir: Option<String>,
    ask: Undo,
    list: bool,
    json: bool,
}

/// Reads the arguments.
///
/// # Errors
/// When they make no sense.
pub fn parse(rest: &[&str]) -> Result<Subcommand, SubcommandError> {
    let wrong = |reason: String| SubcommandError::Arguments { reason, usage: USAGE, exit: Exit::Failed };
    let mut command = UndoCommand::default();
    let mut targets = 0;
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let (name, inline) = option(word);
        let mut value = || {
            let given = inline.or_else(|| words.next().copied()).filter(|value| !value.is_empty());
            given.map(str::to_owned).ok_or_else(|| wrong(format!("{name} needs a value.")))
        };
        let mut target = |target| {
            command.ask.target = target;
            targets += 1;
        };
        match name {
            "-h" | "--help" => return Ok(Subcommand::Usage(format!("Usage:\n  {USAGE}\n"))),
            "--session" => command.session = Some(value()?),
            "--session-dir" => command.session_dir = Some(value()?),
            "--to" => target(UndoTarget::Entry(EntryId::from(value()?))),
            "--prompt" => target(UndoTarget::Prompt),
            "--redo" => target(UndoTarget::Redo),
            "--force" => command.ask.force = true,
            "--dry-run" => command.ask.dry_run = true,
            "--list" => command.list = true,
            "--json" => command.json = true,
            other => return Err(wrong(format!("Unknown option {other} for \"undo\"."))),
        }
    }
    if targets > 1 {
        return Err(wrong("Only one of --prompt, --to and --redo can be given.".to_owned()));
    }
    Ok(Subcommand::Undo(command))
}

/// Carries out the command: exit code 0 when every file is as it was to be.
#[must_use]
pub fn run(environment: &Environment, command: &UndoCommand) -> Exit {
    match carry_out(environment, command) {
        Ok(exit) => exit,
        Err(error) => fail(&error.to_string()),
    }
}

fn carry_out(environment: &Environment, command: &UndoCommand) -> Result<Exit, StartError> {
    let settings = Settings::load(&environment.user_dir.join("settings.json"), None);
    let path = find(environment, command, &settings)?;
    let new = || NewSession::in_folder(&environment.cwd);
    let looks_only = command.list || command.ask.dry_run;
    let opened = match looks_only {
        true => SessionStore::open_read_only(&path),
        // With the session's lock: who has it open undoes there.
        false => SessionStore::open(&path, new()),
    };
    let opened = opened.map_err(StartError::of)?;
    if let Some(notice) = opened.damage_notice() {
        warn(&notice);
    }
    let store = opened.store;
    let view = store.view();
    let wanted = settings.checkpoints();
    let config = CheckpointConfig::new(path, view.header());
    let checkpoints = Checkpoints::new(CheckpointConfig { max_size: wanted.max_size, workspace: None, ..config });
    if command.list {
        let infos = checkpoints::list(&checkpoints, &view).map_err(StartError::of)?;
        return Ok(print(&if command.json { json(&infos) } else { list(&infos) }));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| StartError::Failed(format!("the async runtime did not start: {error}")))?;
    let operations: Arc<dyn crate::tools::Operations> = Arc::new(Local);
    let undone =
        runtime.block_on(checkpoints::undo(&checkpoints, &operations, &view, &command.ask)).map_err(StartError::of)?;
    if let Some(message) = undone.message
        && let Err(error) = store.writable().and_then(|()| store.append(None, vec![message.into()]))
    {
        warn(&format!("The session could not be told, so its model does not know of it: {error}"));
    }
    print(&if command.json { json(&undone.report) } else { tell(&undone.report) });
    Ok(if undone.report.is_complete() { Exit::Done } else { Exit::Failed })
}

/// The session that is meant: by default the last one of this folder.
fn find(environment: &Environment, command: &UndoCommand, settings: &Settings) -> Result<PathBuf, StartError> {
    let flag = command.session_dir.as_ref();
    let flag = flag.map(|dir| super::paths::absolute(dir, &environment.cwd, environment.home.as_deref()));
    let dir = match start::session_dir_with(environment, flag, settings) {
        Some(path) => SessionDir::custom(path, &environment.cwd),
        None => SessionDir::of_project(&environment.user_dir, &environment.cwd),
    };
    match command.session.as_deref() {
        Some(text) => Ok(sessions::resolve::resolve(text, &dir).map_err(StartError::of)?.path().to_owned()),
        None => sessions::resolve::most_recent(&dir).ok_or_else(|| {
            StartError::Failed("There is no session of this folder. Name one with --session ID or PATH.".to_owned())
        }),
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

fn list(infos: &[CheckpointInfo]) -> String {
    if infos.is_empty() {
        return "Nothing was changed in this session.\n".to_owned();
    }
    let mut text = String::new();
    for info in infos {
        let entry = info.entry_id.as_ref().map_or("the beginning", |id| id.as_str());
        let who = match info.cause {
            CheckpointCause::Tools => "changed by the model",
            CheckpointCause::User => "changed by a command of the user",
        };
        let undone = if info.undone { ", undone" } else { "" };
        text.push_str(&format!("{}  after entry {entry}, {who}{undone}\n", iso(info.time)));
        for file in &info.files {
            let what = match file.change {
                FileChange::Created => "created",
                FileChange::Changed => "changed",
                FileChange::Deleted => "deleted",
            };
            let why = file.not_restorable.as_ref().map(|why| format!(" (cannot be restored: {why})"));
            text.push_str(&format!("  {what}  {}{}\n", file.path, why.unwrap_or_default()));
        }
        info.notes.iter().for_each(|note| text.push_str(&format!("  note: {note}\n")));
    }
    text
}

fn tell(report: &UndoReport) -> String {
    let mut text = report.told();
    if report.files.iter().any(|file| file.outcome == FileOutcome::Conflict) {
        text.push_str("Files in conflict are restored with --force.\n");
    }
    if report.changes() && !report.dry_run {
        text.push_str("The conversation was not changed, but for a message that tells the model of this.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Subcommand, String> {
        parse(&line.split_whitespace().collect::<Vec<_>>()).map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_say_what_is_undone() {
        let entry = |id: &str| UndoTarget::Entry(EntryId::from(id));
        let table = [
            ("", None, UndoTarget::Turn),
            ("--prompt --session abc", Some("abc"), UndoTarget::Prompt),
            ("--to=12ab", None, entry("12ab")),
            ("--to 12ab --force", None, entry("12ab")),
            ("--redo --dry-run --json", None, UndoTarget::Redo),
        ];
        for (line, session, target) in table {
            let Ok(Subcommand::Undo(command)) = parsed(line) else { panic!("{line}") };
            assert_eq!((command.session.as_deref(), &command.ask.target), (session, &target), "{line}");
            assert_eq!(command.ask.force, line.contains("--force"));
            assert_eq!(command.ask.dry_run, line.contains("--dry-run"));
        }
        assert!(matches!(parsed("--help"), Ok(Subcommand::Usage(text)) if text.contains("--redo")));
        for (line, why) in [("--to", "needs a value"), ("--redo --prompt", "Only one"), ("file.txt", "Unknown option")]
        {
            assert!(parsed(line).unwrap_err().contains(why), "{line}");
        }
    }
}
