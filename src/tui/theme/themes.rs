//! The themes that there are, and which of them is used.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{Appearance, SYSTEM, TerminalColors, Theme, ThemeError};
use crate::resources::{
    roots::{Root, RootKind},
    warning::{Loaded, Warning},
};

/// The themes without a file.
const BUILT_IN: [&str; 3] = [SYSTEM, "dark", "light"];
/// Files looked at in one place.
const MAX_ENTRIES: usize = 1000;
/// Bytes of the largest theme file.
const LARGEST: u64 = 1 << 20;

/// What the setting `theme` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThemeChoice {
    /// The terminal's own colours.
    System,
    /// A theme.
    Named(String),
    /// One for light ground and one for dark ground.
    ByAppearance {
        /// On light ground.
        light: String,
        /// On dark ground.
        dark: String,
    },
}

impl ThemeChoice {
    /// Reads the setting: `system`, a name, or `light/dark`.
    #[must_use]
    pub fn of_setting(setting: &str) -> Self {
        match setting.split_once('/') {
            Some((light, dark)) => Self::ByAppearance { light: light.trim().to_owned(), dark: dark.trim().to_owned() },
            None if setting.trim().is_empty() || setting == SYSTEM => Self::System,
            None => Self::Named(setting.to_owned()),
        }
    }

    /// The theme's name on such ground.
    #[must_use]
    pub fn name(&self, appearance: Appearance) -> &str {
        match (self, appearance) {
            (Self::System, _) => SYSTEM,
            (Self::Named(name), _) => name,
            (Self::ByAppearance { light, .. }, Appearance::Light) => light,
            (Self::ByAppearance { dark, .. }, Appearance::Dark) => dark,
        }
    }
}

/// What a theme's file was when it was read: when that changes, it is to be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
}

/// The themes of files, and the built-in ones.
#[derive(Clone, Debug, Default)]
pub struct Themes {
    /// Names and files.
    found: Vec<(String, PathBuf)>,
}

/// Why a theme is not used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is none of this name.
    #[error("There is no theme \"{name}\". There are: {}", .known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// Its file cannot be read.
    #[error("{}: cannot be read: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Its file is not a theme.
    #[error("{}: {source}", .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: ThemeError,
    },
}

impl Themes {
    /// The themes of the files at `roots`, see [`crate::resources::roots`]; of two with the same name the first. A file
    /// that is no valid theme is left out, with a warning.
    #[must_use]
    pub fn find(roots: &[Root]) -> Loaded<Self> {
        let mut themes = Self::default();
        let mut warnings = Vec::new();
        for root in roots {
            for path in files(root, &mut warnings) {
                if !root.admits(&path) || themes.found.iter().any(|(_, known)| *known == path) {
                    continue;
                }
                match read(&path) {
                    Ok(theme) if themes.list().contains(&theme.name) => {
                        let text = format!("there is already a theme \"{}\"; give it another name", theme.name);
                        warnings.push(Warning::new(path, text));
                    }
                    Ok(theme) => themes.found.push((theme.name, path)),
                    Err(LoadError::Invalid { source, .. }) => warnings.push(Warning::new(path, source.to_string())),
                    Err(error) => warnings.push(Warning::new(path, error.to_string())),
                }
            }
        }
        Loaded { value: themes, warnings }
    }

    /// The names, the built-in ones first.
    #[must_use]
    pub fn list(&self) -> Vec<String> {
        let mut found: Vec<String> = self.found.iter().map(|(name, _)| name.clone()).collect();
        found.sort();
        BUILT_IN.map(str::to_owned).into_iter().chain(found).collect()
    }

    /// The file of a theme; none for those without.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<&Path> {
        self.found.iter().find(|(known, _)| known == name).map(|(_, path)| path.as_path())
    }

    /// What the theme's file is now; none for a theme without a file, or when it is gone.
    #[must_use]
    pub fn stamp(&self, name: &str) -> Option<Stamp> {
        let data = fs::metadata(self.path(name)?).ok()?;
        Some(Stamp { modified: data.modified().ok(), bytes: data.len() })
    }

    /// A theme, from its file as it is now.
    ///
    /// # Errors
    ///
    /// When there is none, or its file is not valid any more.
    pub fn load(&self, name: &str, colors: &TerminalColors, appearance: Appearance) -> Result<Theme, LoadError> {
        if name == SYSTEM {
            return Ok(Theme::system(colors, appearance));
        }
        match (self.path(name), name) {
            (Some(path), _) => read(path),
            (None, "dark") => Ok(Theme::dark()),
            (None, "light") => Ok(Theme::light()),
            (None, name) => Err(LoadError::Unknown { name: name.to_owned(), known: self.list() }),
        }
    }
}

/// The files that may be themes directly at `root`, in the order of their names.
fn files(root: &Root, warnings: &mut Vec<Warning>) -> Vec<PathBuf> {
    if root.kind == RootKind::Named && !root.path.is_dir() {
        if root.path.is_file() {
            return vec![root.path.clone()];
        }
        warnings.push(Warning::new(&root.path, "there is no such theme"));
    }
    let Ok(entries) = root.path.read_dir() else { return Vec::new() };
    let paths = entries.take(MAX_ENTRIES).filter_map(Result::ok).map(|entry| entry.path());
    let mut files: Vec<_> = paths.filter(|path| is_theme(path)).collect();
    files.sort();
    files
}

fn is_theme(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    !name.starts_with('.') && name.ends_with(".json") && path.is_file()
}

fn read(path: &Path) -> Result<Theme, LoadError> {
    let failed = |source| LoadError::Read { path: path.to_owned(), source };
    if fs::metadata(path).map_err(failed)?.len() > LARGEST {
        return Err(failed(io::Error::other(format!("it is larger than {LARGEST} bytes"))));
    }
    let text = fs::read_to_string(path).map_err(failed)?;
    Theme::parse(&text).map_err(|source| LoadError::Invalid { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests;
