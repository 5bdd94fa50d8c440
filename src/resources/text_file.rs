//! Text files that go to the model: bounded, without a byte order mark, and looked through for hidden characters.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use super::{
    hidden,
    warning::{Loaded, Warning},
};

/// How much of a file is read, in bytes. A file of that size already fills a fifth of a large context window.
pub const MAX_BYTES: usize = 256 * 1024;

/// The text of `path`. More than [`MAX_BYTES`] are cut, with a notice in the text and a warning; bytes that are no
/// UTF-8 become replacement characters.
///
/// # Errors
/// It cannot be read, or is no regular file: a pipe would wait for ever.
pub fn read(path: &Path) -> io::Result<Loaded<String>> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(to_text(path, bytes))
}

/// The text of the file at `path` from its content, as [`read`] gives it: for files of other machines.
#[must_use]
pub fn to_text(path: &Path, mut bytes: Vec<u8>) -> Loaded<String> {
    let mut warnings = Vec::new();
    let is_cut = bytes.len() > MAX_BYTES;
    if is_cut {
        // Back to the beginning of the character that the cut would split.
        let end = (0..=MAX_BYTES).rev().find(|at| bytes[*at] & 0xc0 != 0x80).unwrap_or(MAX_BYTES);
        bytes.truncate(end);
    }
    let mut text = String::from_utf8(bytes).unwrap_or_else(|error| {
        warnings.push(Warning::new(path, "is not UTF-8 throughout; what is not shows as replacement characters"));
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    });
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    if let Some(hidden) = hidden::find(&text) {
        warnings.push(Warning::new(path, hidden.to_string()));
    }
    if is_cut {
        let size = MAX_BYTES >> 10;
        text += &format!("\n[Only the first {size} KiB of this file are shown. Read the file for the rest.]");
        warnings.push(Warning::new(path, format!("is larger than {size} KiB; the model sees its beginning only")));
    }
    Loaded { value: text, warnings }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_bytes(bytes: &[u8]) -> (String, Vec<String>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let loaded = read(file.path()).unwrap();
        (loaded.value, loaded.warnings.into_iter().map(|warning| warning.message).collect())
    }

    #[test]
    fn text_is_read_as_it_is_but_for_the_byte_order_mark() {
        for (bytes, text, warnings) in [
            (&b"a\r\nb\n\n"[..], "a\r\nb\n\n", 0),
            ("\u{feff}x".as_bytes(), "x", 0),
            (b"", "", 0),
            (b"caf\xe9", "caf\u{fffd}", 1),
            ("zero\u{200b}".as_bytes(), "zero\u{200b}", 1),
        ] {
            let got = read_bytes(bytes);
            assert_eq!((got.0.as_str(), got.1.len()), (text, warnings), "{bytes:?}");
        }
    }

    #[test]
    fn a_large_file_is_cut_between_characters_and_says_so() {
        let (whole, warnings) = read_bytes("x".repeat(MAX_BYTES).as_bytes());
        assert_eq!((whole.len(), warnings.len()), (MAX_BYTES, 0));
        let (text, warnings) = read_bytes(format!("x{}", "é".repeat(MAX_BYTES)).as_bytes());
        let (shown, notice) = text.split_once('\n').unwrap();
        assert_eq!(shown.len(), MAX_BYTES - 1);
        assert!(notice.starts_with("[Only the first 256 KiB"));
        assert_eq!(warnings, ["is larger than 256 KiB; the model sees its beginning only"]);
    }

    #[test]
    fn a_folder_is_no_text_file() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()).unwrap_err().to_string(), "it is not a regular file");
    }
}
