//! What the clipboard of this computer holds: a picture, the paths of files, or text.
//!
//! No library is linked for it: the programs that desktops bring are asked. Over SSH there is none, and the terminal's
//! own paste key is the way.

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
};

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pasted {
    /// A picture, which was written into this file.
    Picture(PathBuf),
    /// Text.
    Text(String),
    /// Nothing; why, in words for people.
    Nothing(String),
}

/// A program that reads the clipboard: its name, the words that list what there is, and those before a kind's name and
/// behind it that give it.
struct Reader {
    program: &'static str,
    list: &'static [&'static str],
    read: (&'static [&'static str], &'static [&'static str]),
}

const READERS: [Reader; 2] = [
    Reader { program: "wl-paste", list: &["--list-types"], read: (&["--no-newline", "--type"], &[]) },
    Reader {
        program: "xclip",
        list: &["-selection", "clipboard", "-t", "TARGETS", "-o"],
        read: (&["-selection", "clipboard", "-t"], &["-o"]),
    },
];

/// Kinds of pictures that models take, with the ends of their files' names.
const PICTURES: [(&str, &str); 5] =
    [("image/png", "png"), ("image/jpeg", "jpg"), ("image/gif", "gif"), ("image/webp", "webp"), ("image/bmp", "bmp")];

/// Kinds of text, the best first.
const TEXTS: [&str; 4] = ["text/plain;charset=utf-8", "UTF8_STRING", "text/plain", "STRING"];

/// Reads it. Blocks while the program runs that is asked.
#[must_use]
pub fn read() -> Pasted {
    for reader in &READERS {
        let Some(kinds) = run(reader.program, reader.list) else { continue };
        let kinds = String::from_utf8_lossy(&kinds).into_owned();
        let has = |kind: &str| kinds.lines().any(|line| line.trim() == kind);
        let give = |kind: &str| run(reader.program, &[reader.read.0, &[kind], reader.read.1].concat());
        if let Some((kind, end)) = PICTURES.iter().find(|(kind, _)| has(kind)) {
            return match give(kind) {
                Some(bytes) if !bytes.is_empty() => keep(&bytes, end),
                _ => Pasted::Nothing("The picture in the clipboard cannot be read.".to_owned()),
            };
        }
        if let Some(text) = TEXTS.iter().find(|kind| has(kind)).and_then(|kind| give(kind)) {
            return Pasted::Text(String::from_utf8_lossy(&text).into_owned());
        }
        return Pasted::Nothing("The clipboard holds neither a picture nor text.".to_owned());
    }
    if cfg!(target_os = "macos")
        && let Some(text) = run("pbpaste", &[])
    {
        return Pasted::Text(String::from_utf8_lossy(&text).into_owned());
    }
    Pasted::Nothing(
        "The clipboard cannot be read here: install wl-clipboard or xclip, or use your terminal's own paste key."
            .to_owned(),
    )
}

/// What a program prints; none when it is not there or fails.
fn run(program: &str, words: &[&str]) -> Option<Vec<u8>> {
    let output = Command::new(program).args(words).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// Writes a picture where the agent can read it. The file stays: the session names it.
fn keep(bytes: &[u8], end: &str) -> Pasted {
    let file = tempfile::Builder::new().prefix("troupe-clipboard-").suffix(&format!(".{end}")).tempfile();
    let kept = file.and_then(|mut file| {
        file.write_all(bytes)?;
        file.keep().map_err(|error| error.error)
    });
    match kept {
        Ok((_, path)) => Pasted::Picture(path),
        Err(error) => Pasted::Nothing(format!("The picture cannot be kept in the folder for temporary files: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_kept_in_a_file_of_its_kind() {
        let Pasted::Picture(path) = keep(b"\x89PNG", "png") else { panic!() };
        assert_eq!(std::fs::read(&path).unwrap(), b"\x89PNG");
        assert!(path.to_string_lossy().ends_with(".png"));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_program_that_is_not_there_gives_nothing() {
        assert_eq!(run("no-such-program-anywhere", &[]), None);
        assert_eq!(run("false", &[]), None);
        assert_eq!(run("echo", &["-n", "x"]), Some(b"x".to_vec()));
    }
}
