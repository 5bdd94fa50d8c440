//! Text that is piped in.

use std::io::{self, Read};

/// All of `input` as text without the space around it; `None` when nothing is left. Bytes that are no UTF-8 become
/// replacement characters: half a log is better than none.
///
/// # Errors
/// What reading reports.
pub fn read(mut input: impl Read) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
    // A byte order mark is no text either.
    let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    Ok(match trimmed.len() {
        0 => None,
        length if length == text.len() => Some(text),
        _ => Some(trimmed.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn piped_text_is_trimmed_and_read_tolerantly() {
        let table: &[(&[u8], Option<&str>)] = &[
            (b"", None),
            (b" \n\t", None),
            (b"piped in\n", Some("piped in")),
            (b"a\n\nb", Some("a\n\nb")),
            ("\u{feff}text".as_bytes(), Some("text")),
            (b"caf\xe9 \xff", Some("caf\u{fffd} \u{fffd}")),
        ];
        for (bytes, text) in table {
            assert_eq!(super::read(*bytes).unwrap().as_deref(), *text, "{bytes:?}");
        }
    }
}
