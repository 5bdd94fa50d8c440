//! Text files that go to the model: bounded, without a byte order mark, and looked through for hidden characters.

use std::{
    io::{self, Read as _},
    path::Path,
};

use encoding_rs::Encoding;

use super::warning::{Loaded, Warning};
use crate::{protocol::hidden, store::regular_file};

/// How much of a file is read, in bytes. A file of that size already fills a fifth of a large context window.
pub const MAX_BYTES: usize = 256 * 1024;

/// The text of `path`. More than [`MAX_BYTES`] are cut, with a notice in the text and a warning; bytes that are no
/// UTF-8 become replacement characters. UTF-16 is read when the file begins with its byte order mark.
///
/// # Errors
/// It cannot be read, is no regular file (a pipe would wait for ever, a device never end), or holds zero bytes, which
/// no text does.
pub fn read(path: &Path) -> io::Result<Loaded<String>> {
    let mut bytes = Vec::new();
    regular_file::open_to_read(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    to_text(path, bytes)
}

/// The text of the file at `path` from its content, as [`read`] gives it: for files of other machines.
///
/// # Errors
/// It holds zero bytes.
pub fn to_text(path: &Path, mut bytes: Vec<u8>) -> io::Result<Loaded<String>> {
    let mut warnings = Vec::new();
    let is_cut = bytes.len() > MAX_BYTES;
    bytes.truncate(MAX_BYTES);
    // A byte order mark decides; without one it is UTF-8.
    let (encoding, mark) = Encoding::for_bom(&bytes).unwrap_or((encoding_rs::UTF_8, 0));
    if is_cut && encoding == encoding_rs::UTF_8 {
        // Back to the beginning of the character that the cut split.
        let end = bytes.iter().rposition(|byte| byte & 0xc0 != 0x80).unwrap_or_default();
        if std::str::from_utf8(&bytes[end..]).is_err() {
            bytes.truncate(end);
        }
    }
    let (text, is_damaged) = encoding.decode_without_bom_handling(&bytes[mark..]);
    if text.contains('\0') {
        let text = "it holds zero bytes, so it is no text; save it as UTF-8";
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    if is_damaged {
        let name = encoding.name();
        let text = format!("is not {name} throughout; what is not shows as replacement characters");
        warnings.push(Warning::new(path, text));
    }
    let mut text = text.into_owned();
    if let Some(hidden) = hidden::find(&text) {
        warnings.push(Warning::new(path, hidden.to_string()));
        // What is spelled in them is for nobody's eyes; so that the model does not take it for an instruction either.
        text = hidden::without_tags(&text).into_owned();
    }
    if is_cut {
        let size = MAX_BYTES >> 10;
        text += &format!("\n[Only the first {size} KiB of this file are shown. Read the file for the rest.]");
        warnings.push(Warning::new(path, format!("is larger than {size} KiB; the model sees its beginning only")));
    }
    Ok(Loaded { value: text, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::pipe_in;

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
            (b"\xff\xfeh\0\xe9\0", "h\u{e9}", 0),
            (b"\xfe\xff\0h\xd8\0", "h\u{fffd}", 1),
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
    fn what_is_no_text_is_refused_and_nothing_waits() {
        let dir = tempfile::tempdir().unwrap();
        let binary = dir.path().join("binary");
        std::fs::write(&binary, "a\0b").unwrap();
        let pipe = pipe_in(dir.path(), "pipe");
        for (path, reason) in [
            (dir.path(), "expected a regular file, found a folder"),
            (&pipe, "expected a regular file, found a pipe"),
            (Path::new("/dev/zero"), "expected a regular file, found a device"),
            (&binary, "it holds zero bytes, so it is no text; save it as UTF-8"),
        ] {
            assert_eq!(read(path).unwrap_err().to_string(), reason, "{}", path.display());
        }
    }
}
