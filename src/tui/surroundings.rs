//! What does not change while the screen runs.

use std::path::{Path, PathBuf};

use crate::{
    resources::project::project_dir,
    store::{sessions::dir::SessionDir, trash::Trash},
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The program's version.
    pub version: &'static str,
    /// The user's folder.
    pub user_dir: PathBuf,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// Where the sessions of the project are.
    pub sessions: SessionDir,
    /// Where deleted sessions go.
    pub trash: Trash,
    /// The screen takes the whole terminal; otherwise lines go into the terminal's own history.
    pub fullscreen: bool,
    /// No use of the network but model calls.
    pub offline: bool,
    /// What went wrong before the screen came up.
    pub notices: Vec<String>,
}

impl Surroundings {
    /// The folder with the project's configuration, as it is on the disk now.
    #[must_use]
    pub fn project_dir(&self, cwd: &Path) -> Option<PathBuf> {
        project_dir(cwd, &self.user_dir)
    }

    /// The file that gives actions other keys.
    #[must_use]
    pub fn keybindings(&self) -> PathBuf {
        self.user_dir.join("keybindings.json")
    }

    /// A path as people read it: the home folder is `~`.
    #[must_use]
    pub fn short(&self, path: &Path) -> String {
        let inside = self.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
        match inside {
            Some(inside) if inside.as_os_str().is_empty() => "~".to_owned(),
            Some(inside) => format!("~/{}", inside.display()),
            None => path.display().to_string(),
        }
    }
}
