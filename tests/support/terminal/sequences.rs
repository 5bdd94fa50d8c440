//! Takes the output of a program apart: escape sequences and control characters, without the text between them.

/// Something in the output that is not text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// `ESC [` and what follows: parameters with their prefix (`?2004`), and the final with what stands before it
    /// (`h`, `$p`).
    Csi(String, String),
    /// `ESC ]` up to its end.
    Osc(String),
    /// A device control string or one of its kind: the character that began it (`P`, `_`, `^`, `X`), and its text.
    Text(char, String),
    /// Another escape sequence, without the escape.
    Escape(String),
    /// A control character alone, also one of U+0080 to U+009F.
    Control(char),
    /// Bytes that are no sequence at all.
    Malformed(String),
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Ground,
    /// After the first byte of a character of U+0080 to U+00BF.
    Latin,
    Escape(Vec<u8>),
    Csi(Vec<u8>),
    Text(u8, Vec<u8>),
    /// An escape in such a text: its end, unless something else follows.
    TextEscape(u8, Vec<u8>),
}

/// A program's output comes in pieces, and so do its sequences: this goes on where the last piece ended.
#[derive(Debug, Default)]
pub struct Scanner {
    state: State,
}

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

impl Scanner {
    /// The sequences that end in these bytes.
    pub fn scan(&mut self, bytes: &[u8]) -> Vec<Sequence> {
        let mut found = Vec::new();
        for byte in bytes {
            let state = std::mem::take(&mut self.state);
            self.state = step(state, *byte, &mut found);
        }
        found
    }
}

fn step(state: State, byte: u8, found: &mut Vec<Sequence>) -> State {
    match state {
        State::Ground => ground(byte, found),
        State::Latin => {
            if byte < 0xa0 {
                found.push(Sequence::Control(char::from(byte)));
            }
            State::Ground
        }
        State::Escape(mut bytes) => match byte {
            b'[' if bytes.is_empty() => State::Csi(Vec::new()),
            b']' | b'P' | b'_' | b'^' | b'X' if bytes.is_empty() => State::Text(byte, Vec::new()),
            b' '..=b'/' => {
                bytes.push(byte);
                State::Escape(bytes)
            }
            b'0'..=b'~' => {
                bytes.push(byte);
                found.push(Sequence::Escape(text(&bytes)));
                State::Ground
            }
            _ => malformed("ESC", &bytes, byte, found),
        },
        State::Csi(mut bytes) => match byte {
            b' '..=b'?' => {
                bytes.push(byte);
                State::Csi(bytes)
            }
            b'@'..=b'~' => {
                let parameters = bytes.iter().position(|byte| *byte < b'0').unwrap_or(bytes.len());
                let (parameters, between) = bytes.split_at(parameters);
                found.push(Sequence::Csi(text(parameters), format!("{}{}", text(between), char::from(byte))));
                State::Ground
            }
            _ => malformed("CSI", &bytes, byte, found),
        },
        State::Text(kind, bytes) if byte == BELL => ended(kind, &bytes, found),
        State::Text(kind, bytes) if byte == ESCAPE => State::TextEscape(kind, bytes),
        State::Text(kind, mut bytes) => {
            bytes.push(byte);
            State::Text(kind, bytes)
        }
        State::TextEscape(kind, bytes) if byte == b'\\' => ended(kind, &bytes, found),
        State::TextEscape(_, bytes) => malformed("text", &bytes, byte, found),
    }
}

fn ground(byte: u8, found: &mut Vec<Sequence>) -> State {
    match byte {
        ESCAPE => return State::Escape(Vec::new()),
        0xc2 => return State::Latin,
        0..=0x1f | 0x7f => found.push(Sequence::Control(char::from(byte))),
        _ => {}
    }
    State::Ground
}

fn ended(kind: u8, bytes: &[u8], found: &mut Vec<Sequence>) -> State {
    found.push(match kind {
        b']' => Sequence::Osc(text(bytes)),
        _ => Sequence::Text(char::from(kind), text(bytes)),
    });
    State::Ground
}

fn malformed(what: &str, bytes: &[u8], byte: u8, found: &mut Vec<Sequence>) -> State {
    found.push(Sequence::Malformed(format!("{what} {:?} and then {byte:#x}", text(bytes))));
    State::Ground
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
