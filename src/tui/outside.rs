//! The user's own editor, on the text that is being written.

use std::{
    io::{self, Write as _},
    process::Command,
};

/// The editor's command: the setting, `$VISUAL`, `$EDITOR`, else `nano`. Given as the words of a shell.
#[must_use]
pub fn command(setting: Option<&str>) -> String {
    let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    setting
        .map(str::to_owned)
        .or_else(|| named("VISUAL"))
        .or_else(|| named("EDITOR"))
        .unwrap_or_else(|| "nano".to_owned())
}

/// Opens the editor on a text and gives back what it saved. Blocks until it ends.
///
/// # Errors
/// It did not run, or ended with a failure: what was said. The text is not lost: nothing took its place.
pub fn edit(command: &str, text: &str) -> Result<String, String> {
    let failed = |error: io::Error| {
        format!(
            "The editor ({command}) did not work: {error}. The setting externalEditor, $VISUAL or $EDITOR names another."
        )
    };
    let mut file = tempfile::Builder::new().prefix("troupe-").suffix(".md").tempfile().map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    // The file's name is an argument and no part of the command.
    let status = Command::new("sh").arg("-c").arg(format!("{command} \"$1\"")).arg("sh").arg(file.path()).status();
    let status = status.map_err(failed)?;
    if !status.success() {
        return Err(format!("The editor ({command}) ended with {status}; the text was left as it was."));
    }
    std::fs::read_to_string(file.path()).map_err(failed)
}
