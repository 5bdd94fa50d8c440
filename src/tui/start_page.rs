//! What was loaded for the session in front, for the start page.

use std::path::Path;

use crate::{actors::shared::AgentShared, resources::listing::Listing};

/// The guard that comes with the program.
const PERMISSIONS: &str = "permissions";

/// See the module. Texts are as they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartPage {
    /// Context files, skills, prompt templates.
    pub listing: Listing,
    /// Names of extensions.
    pub extensions: Vec<String>,
    /// Names of the user's themes.
    pub themes: Vec<String>,
}

impl StartPage {
    /// What was loaded for an agent. Reads the folder of themes.
    #[must_use]
    pub fn of(shared: &AgentShared, user_dir: &Path) -> Self {
        let extensions = shared.config.observers.iter().map(|observer| observer.extension.name().to_owned());
        Self {
            listing: shared.config.resources.listing(),
            // What comes with the program is no news.
            extensions: extensions.filter(|name| name != PERMISSIONS).collect(),
            themes: themes(user_dir),
        }
    }
}

/// The names of the theme files in the user's folder, sorted.
fn themes(user_dir: &Path) -> Vec<String> {
    let files = std::fs::read_dir(user_dir.join("themes")).into_iter().flatten().flatten();
    let name = |file: std::fs::DirEntry| {
        let name = file.file_name().into_string().ok()?;
        name.strip_suffix(".json").map(str::to_owned)
    };
    let mut names: Vec<String> = files.filter_map(name).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn themes_are_the_json_files_of_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        assert!(themes(dir.path()).is_empty());
        std::fs::create_dir(dir.path().join("themes")).unwrap();
        for name in ["night.json", "day.json", "readme.md"] {
            std::fs::write(dir.path().join("themes").join(name), "{}").unwrap();
        }
        assert_eq!(themes(dir.path()), ["day", "night"]);
    }
}
