//! Writing a session elsewhere, taking one from there, and sharing one.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use super::WorkDone;
use crate::{
    actors::front::exporter,
    protocol::{
        event::NoticeLevel,
        time::{iso, now_ms},
    },
    store::{
        paths, replace,
        sessions::{
            copy::{self, Existing},
            import::{self, Imported},
        },
        tree::TreeView,
    },
    tui::working::WorkContext,
};

/// Writes the session as a page, or its branch as a session file, as the name says.
pub(super) fn export(context: &WorkContext, path: Option<String>) {
    let written = tree(context).and_then(|tree| {
        let session = context.shared.place.file().map(PathBuf::from);
        match path {
            Some(path) if path.to_ascii_lowercase().ends_with(".jsonl") => branch(&tree, session.as_deref(), &path),
            page => exporter::export(&tree, session, page),
        }
    });
    context.send(match written {
        Ok(path) => told(NoticeLevel::Info, format!("Exported to: {}", path.display())),
        Err(error) => told(NoticeLevel::Error, format!("Nothing was exported: {error}")),
    });
}

fn branch(tree: &TreeView, session: Option<&Path>, path: &str) -> Result<PathBuf, String> {
    let path = absolute(path)?;
    if session.is_some_and(|session| replace::is_same(session, &path)) {
        return Err(format!(
            "{} is the session itself: one branch in its place would be the end of the others. Choose another name.",
            path.display()
        ));
    }
    copy::export_branch(tree, &path, Existing::Keep).map_err(|error| error.to_string())?;
    Ok(path)
}

/// Copies a session file into the folder of sessions.
pub(super) fn import(context: &WorkContext, path: &str) {
    let imported = absolute(path)
        .and_then(|path| import::import(&path, &context.surroundings.sessions.path).map_err(|error| error.to_string()));
    match imported {
        Err(error) => context.send(told(NoticeLevel::Error, format!("Nothing was imported: {error}"))),
        Ok(Imported { path, warnings, can_go_on, .. }) => {
            warnings.into_iter().for_each(|warning| context.send(told(NoticeLevel::Warning, warning)));
            context.send(match can_go_on {
                true => WorkDone::Imported(path),
                false => told(NoticeLevel::Info, format!("Imported to: {}", path.display())),
            });
        }
    }
}

/// Makes a secret gist of the session's page.
pub(super) fn share(context: &WorkContext) {
    context.send(match tree(context).and_then(|tree| gist(&tree, Path::new("gh"))) {
        Ok(address) => told(NoticeLevel::Info, format!("Shared: {address}\n`gh gist delete {address}` takes it back.")),
        Err(error) => told(NoticeLevel::Error, format!("The session was not shared: {error}")),
    });
}

/// Has the program `gh` make a gist; its address.
fn gist(tree: &TreeView, gh: &Path) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no folder for the page: {error}"))?;
    let page = folder.path().join(format!("session-{}.html", iso(now_ms()).replace([':', '.'], "-")));
    let page = crate::actors::front::page::export(tree, None, Some(&page), folder.path());
    let page = page.map_err(|error| error.to_string())?;
    let mut command = Command::new(gh);
    command.args(["gist", "create", "--desc", "A session of Troupe"]).arg(&page).env("GH_PROMPT_DISABLED", "1");
    match command.stdin(Stdio::null()).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(
            "it takes GitHub's program `gh`, which is not on the PATH. Install it, run `gh auth login`, and try again; \
             or write the page with /export and share it yourself."
                .to_owned(),
        ),
        Err(error) => Err(format!("gh: {error}")),
        Ok(output) => address(&output),
    }
}

fn address(output: &Output) -> Result<String, String> {
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if !output.status.success() {
        return Err(format!("gh: {}. `gh auth login` logs in at GitHub.", said(&output.stderr)));
    }
    let words = said(&output.stdout);
    let address = words.split_whitespace().find(|word| word.starts_with("https://"));
    address.map(str::to_owned).ok_or_else(|| format!("gh gave no address: {words}"))
}

fn tree(context: &WorkContext) -> Result<TreeView, String> {
    context.shared.tree().ok_or_else(|| "the session is not open yet".to_owned())
}

/// A path as it is written: from the folder of this process, `~` is the home folder.
fn absolute(path: &str) -> Result<PathBuf, String> {
    let cwd = std::env::current_dir().map_err(|error| format!("the folder of this process is gone: {error}"))?;
    Ok(paths::absolute(&paths::Environment::of_process().expand(path.as_ref()), &cwd))
}

fn told(level: NoticeLevel, text: String) -> WorkDone {
    WorkDone::Told(level, text)
}
