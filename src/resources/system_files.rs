//! SYSTEM.md and APPEND_SYSTEM.md, and the flags that stand in for them.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{
    roots::Places,
    text_file,
    warning::{Loaded, Warning},
};

/// Texts that replace and extend the usual system prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptTexts {
    /// In place of the usual prompt.
    pub system: Option<String>,
    /// Added to the prompt, in order.
    pub append: Vec<String>,
}

/// A file that was named for the prompt and cannot be read. The run must not go on with a prompt that nobody wrote.
#[derive(Debug, thiserror::Error)]
#[error("Cannot read {} for {flag}: {source}", .path.display())]
pub struct PromptFileError {
    /// The flag that named it.
    pub flag: &'static str,
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// The texts for a session: what the flags say, else the trusted project's file, else the user's; for each of the two
/// by itself, and never two of them together. A flag's value that names an existing file, seen from `launch_dir`, is
/// that file's text; any other is the text itself.
///
/// # Errors
/// A flag names a file that cannot be read.
pub fn load(
    system: Option<&str>,
    append: &[String],
    launch_dir: &Path,
    places: &Places<'_>,
) -> Result<Loaded<PromptTexts>, PromptFileError> {
    let mut loaded = Loaded::<PromptTexts>::default();
    let warnings = &mut loaded.warnings;
    loaded.value.system = match system {
        Some(value) => Some(text_or_file("--system-prompt", value, launch_dir, warnings)?),
        None => usual_file("SYSTEM.md", places, warnings),
    };
    loaded.value.append = if append.is_empty() {
        usual_file("APPEND_SYSTEM.md", places, warnings).into_iter().collect()
    } else {
        let read = |value: &String| text_or_file("--append-system-prompt", value, launch_dir, warnings);
        append.iter().map(read).collect::<Result<_, _>>()?
    };
    Ok(loaded)
}

fn text_or_file(
    flag: &'static str,
    value: &str,
    launch_dir: &Path,
    warnings: &mut Vec<Warning>,
) -> Result<String, PromptFileError> {
    let path = launch_dir.join(value);
    // A text of several lines is no file name, even if the system would allow it.
    if value.is_empty() || value.contains('\n') || !path.is_file() {
        return Ok(value.to_owned());
    }
    let text = text_file::read(&path).map_err(|source| PromptFileError { flag, path, source })?;
    warnings.extend(text.warnings);
    Ok(text.value)
}

fn usual_file(name: &str, places: &Places<'_>, warnings: &mut Vec<Warning>) -> Option<String> {
    let project = places.project_dir.filter(|_| places.trusted);
    let path = project.into_iter().chain([places.user_dir]).map(|dir| dir.join(name)).find(|path| path.is_file())?;
    match text_file::read(&path) {
        Ok(text) => {
            warnings.extend(text.warnings);
            Some(text.value)
        }
        Err(error) => {
            warnings.push(Warning::new(path, format!("cannot be read: {error}")));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_flag_beats_the_trusted_project_which_beats_the_user() {
        let dir = tempfile::tempdir().unwrap();
        let (user, project, launch) = (dir.path().join("u"), dir.path().join("p"), dir.path().join("w"));
        for folder in [&user, &project, &launch.join("docs")] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(launch.join("sp.txt"), "\u{feff}FROM-FILE").unwrap();
        let texts = |system: Option<&str>, append: &[&str], trusted| {
            let places = Places { user_dir: &user, home: None, cwd: &launch, project_dir: Some(&project), trusted };
            let append: Vec<_> = append.iter().map(|text| (*text).to_owned()).collect();
            let texts = load(system, &append, &launch, &places).unwrap().value;
            (texts.system.unwrap_or_default(), texts.append.join("|"))
        };
        let pair = |system: &str, append: &str| (system.to_owned(), append.to_owned());
        assert_eq!(texts(None, &[], true), pair("", ""));
        fs::write(user.join("SYSTEM.md"), "USER").unwrap();
        fs::write(user.join("APPEND_SYSTEM.md"), "USER-A").unwrap();
        assert_eq!(texts(None, &[], true), pair("USER", "USER-A"));
        fs::write(project.join("SYSTEM.md"), "PROJECT").unwrap();
        assert_eq!(texts(None, &[], true), pair("PROJECT", "USER-A"));
        assert_eq!(texts(None, &[], false), pair("USER", "USER-A"), "without trust");
        assert_eq!(texts(Some("CUSTOM"), &["ADD", "sp.txt", "docs"], true), pair("CUSTOM", "ADD|FROM-FILE|docs"));
        assert_eq!(texts(Some("sp.txt"), &[], true), pair("FROM-FILE", "USER-A"));
        let long = "x".repeat(100_000);
        assert_eq!(texts(Some(&long), &[], true).0, long, "too long for a file name");
    }
}
