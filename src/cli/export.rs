//! `--export FILE [OUTPUT]`: a session as a page.

use std::path::Path;

use super::{
    exit::Exit,
    run::{fail, print, warn},
};
use crate::{actors::front::page, store::SessionStore};

/// Writes the page of the session file `session`. Nothing but that file is looked at: no settings, no project.
pub fn run(session: &Path, output: Option<&Path>, cwd: &Path) -> Exit {
    let opened = match SessionStore::open_read_only(session) {
        Ok(opened) => opened,
        Err(error) => return fail(&error.to_string()),
    };
    if let Some(notice) = opened.damage_notice() {
        warn(&notice);
    }
    match page::export(&opened.store.view(), Some(session), output, cwd) {
        Ok(path) => print(&format!("Exported to: {}\n", path.display())),
        Err(error) => fail(&error.to_string()),
    }
}
