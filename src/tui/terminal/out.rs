//! Sequences that change no cell: title, clipboard, bell, notifications, progress.
//!
//! Texts in them come from outside: whatever could end the sequence early is taken out.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::protocol::hidden;

/// Bytes of a text that terminals take into the clipboard: some drop longer sequences, and 74,994 is what the oldest of
/// them (hterm) allows for 100,000 bytes in base64.
const CLIPBOARD_LIMIT: usize = 74_994;

/// Characters of a title or a notification.
const TEXT_LIMIT: usize = 200;

/// One line, with nothing in it that a terminal obeys.
fn harmless(text: &str) -> String {
    let shown = hidden::for_terminal(text);
    let mut line = String::new();
    for word in shown.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|character| !character.is_control()));
    }
    match line.char_indices().nth(TEXT_LIMIT) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// Gives the terminal's window a title (OSC 2).
#[must_use]
pub fn title(text: &str) -> Vec<u8> {
    format!("\x1b]2;{}\x1b\\", harmless(text)).into_bytes()
}

/// Puts a text into the clipboard of the computer that the terminal runs on (OSC 52); none when the text is longer than
/// terminals take.
#[must_use]
pub fn copy(text: &str, tmux: bool) -> Option<Vec<u8>> {
    let fits = text.len() <= CLIPBOARD_LIMIT;
    fits.then(|| passed_on(format!("\x1b]52;c;{}\x1b\\", STANDARD.encode(text)), tmux).into_bytes())
}

/// Rings the bell.
#[must_use]
pub fn bell() -> Vec<u8> {
    vec![0x07]
}

/// Shows a message on the desktop (OSC 9).
#[must_use]
pub fn message(text: &str, tmux: bool) -> Vec<u8> {
    passed_on(format!("\x1b]9;{}\x1b\\", harmless(text)), tmux).into_bytes()
}

/// Shows a message with a title on the desktop (OSC 777).
#[must_use]
pub fn titled_message(title: &str, text: &str, tmux: bool) -> Vec<u8> {
    // A semicolon separates the parts.
    let (title, text) = (harmless(title).replace(';', ","), harmless(text).replace(';', ","));
    passed_on(format!("\x1b]777;notify;{title};{text}\x1b\\"), tmux).into_bytes()
}

/// Shows that something of unknown length is worked at, or takes that away (OSC 9;4, from ConEmu).
#[must_use]
pub fn progress(busy: bool, tmux: bool) -> Vec<u8> {
    passed_on(format!("\x1b]9;4;{}\x1b\\", if busy { 3 } else { 0 }), tmux).into_bytes()
}

/// tmux gives the outer terminal what is wrapped for it.
fn passed_on(sequence: String, tmux: bool) -> String {
    if tmux { format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b")) } else { sequence }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn fc_064_nothing_in_a_text_ends_the_sequence_or_begins_another() {
        let evil = "a\x1b\\b\x07\x1b]0;x\x07\u{9c}\u{9d}c\nd;e\u{202e}";
        for bytes in [title(evil), message(evil, false), titled_message(evil, evil, false)] {
            let sequence = text(bytes);
            let ends = sequence.matches("\x1b\\").count();
            assert_eq!(sequence.matches('\x1b').count(), 2 * ends, "{sequence:?}");
            let inside = sequence.replace("\x1b\\", "").replace("\x1b]", "");
            assert!(!inside.chars().any(char::is_control) && !inside.contains('\u{202e}'), "{sequence:?}");
        }
    }

    #[test]
    fn sequences_are_those_that_terminals_know() {
        for (bytes, expected) in [
            (title("π - demo"), "\x1b]2;π - demo\x1b\\"),
            (title(&"x".repeat(500)), &*format!("\x1b]2;{}…\x1b\\", "x".repeat(200))),
            (copy("hi", false).unwrap(), "\x1b]52;c;aGk=\x1b\\"),
            (copy("hi", true).unwrap(), "\x1bPtmux;\x1b\x1b]52;c;aGk=\x1b\x1b\\\x1b\\"),
            (bell(), "\x07"),
            (titled_message("troupe", "a;b", false), "\x1b]777;notify;troupe;a,b\x1b\\"),
            (message("a;b", false), "\x1b]9;a;b\x1b\\"),
            (progress(true, false), "\x1b]9;4;3\x1b\\"),
            (progress(false, false), "\x1b]9;4;0\x1b\\"),
            (progress(true, true), "\x1bPtmux;\x1b\x1b]9;4;3\x1b\x1b\\\x1b\\"),
        ] {
            assert_eq!(text(bytes), expected);
        }
        assert_eq!(copy(&"x".repeat(80_000), false), None);
    }
}
