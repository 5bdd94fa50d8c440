//! `troupe sessions export` and `import`.

use super::{Place, args::Form, words::short_id};
use crate::{
    actors::front::page,
    cli::{
        exit::Exit,
        paths::absolute,
        run::{print, warn},
        start::StartError,
    },
    protocol::time::{iso, now_ms},
    store::{
        SessionStore, StoreError, replace,
        sessions::{
            copy,
            import::{self, Imported},
        },
    },
};

/// Writes a session into the file `to`, or one of a name that fits; the switch says that a file there is replaced.
pub fn export(place: &Place<'_>, id: &str, form: Form, to: (Option<&str>, bool)) -> Result<Exit, StartError> {
    let environment = place.environment;
    let head = place.session(id)?;
    let opened = SessionStore::open_read_only(&head.path).map_err(StartError::of)?;
    if let Some(notice) = opened.damage_notice() {
        warn(&notice);
    }
    let view = opened.store.view();
    let (named, force) = to;
    let named = named.map(|path| absolute(path, &environment.cwd, environment.home.as_deref()));
    let path = match form {
        Form::Jsonl => {
            let default = || format!("session-{}.jsonl", iso(now_ms()).replace([':', '.'], "-"));
            let path = named.unwrap_or_else(|| environment.cwd.join(default()));
            if replace::is_same(&path, &head.path) {
                return Err(StartError::Failed(format!(
                    "{} is the session itself: one branch in its place would be the end of the others. Choose another \
                     name.",
                    path.display()
                )));
            }
            let existing = if force { copy::Existing::Replace } else { copy::Existing::Keep };
            copy::export_branch(&view, &path, existing).map(|()| path).map_err(StartError::of)?
        }
        Form::Html => {
            if let Some(path) = named.as_ref().filter(|path| path.is_file() && !force) {
                return Err(StartError::of(StoreError::Exists(path.clone())));
            }
            page::export(&view, Some(&head.path), named.as_deref(), &environment.cwd).map_err(StartError::of)?
        }
    };
    Ok(print(&format!("Exported to: {}\n", path.display())))
}

/// Copies a session file into the folder of sessions.
pub fn import(place: &Place<'_>, file: &str) -> Result<Exit, StartError> {
    let environment = place.environment;
    let source = absolute(file, &environment.cwd, environment.home.as_deref());
    let Imported { path, header, warnings, can_go_on } =
        import::import(&source, &place.dir.path).map_err(StartError::of)?;
    warnings.iter().for_each(|warning| warn(warning));
    let imported = print(&format!("Imported {} to: {}\n", short_id(&header.id), path.display()));
    if !can_go_on {
        return Ok(imported);
    }
    // Another session may have the id: the one that was copied, for example.
    let alone = place.session(&header.id).is_ok_and(|found| replace::is_same(&found.path, &path));
    let name = if alone { header.id } else { path.display().to_string() };
    Ok(print(&format!("Go on with: troupe --session {name}\n")))
}
