//! The state machine: keys, characters and control sequences out of single bytes.

use super::{
    csi::{self, Csi},
    strings,
};
use crate::tui::{
    keys::{Key, KeyCode, Modifiers},
    terminal::InputEvent,
};

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// Bytes of a control sequence that are looked at. No known one is nearly as long; a longer one is read to its end and
/// dropped.
const LONGEST_SEQUENCE: usize = 256;
/// The same for strings (OSC, DCS).
const LONGEST_STRING: usize = 4096;

/// What the machine waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    /// Nothing that time decides.
    Nothing,
    /// Whether an ESC is a key.
    Escape,
    /// Whether two bytes are a key with alt.
    Prefix,
    /// The rest of a sequence.
    Sequence,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// Inside a character of that many bytes, which came with alt or without.
    Utf8 { length: usize, alt: bool },
    /// Behind an ESC.
    Escape,
    /// Behind `ESC [`.
    Control,
    /// Behind `ESC [ [`: a function key of the Linux console.
    LinuxFunction,
    /// Inside an old mouse report: three bytes of any kind.
    OldMouse { left: u8 },
    /// Behind `ESC O`.
    Single,
    /// Behind `ESC ]`, `ESC P` and such: until BEL or `ESC \`.
    String { introducer: u8 },
    /// Behind an ESC inside it.
    StringEscape { introducer: u8 },
}

/// The machine between two bytes.
#[derive(Debug, Default)]
pub(super) struct Machine {
    state: State,
    /// What the sequence or character holds so far, without its introducer.
    buffer: Vec<u8>,
    /// The sequence is longer than the buffer may be.
    is_too_long: bool,
    /// Two ESC came: the first is alt for the key that follows, or was the escape key.
    double: bool,
    paste_began: bool,
}

impl Machine {
    /// Takes bytes until they end or a paste begins; returns the rest.
    pub fn run<'a>(&mut self, bytes: &'a [u8], events: &mut Vec<InputEvent>) -> &'a [u8] {
        for (at, &byte) in bytes.iter().enumerate() {
            self.step(byte, events);
            if self.paste_began {
                return &bytes[at + 1..];
            }
        }
        &[]
    }

    /// Whether the last byte began a paste; says so once.
    pub fn paste_began(&mut self) -> bool {
        std::mem::take(&mut self.paste_began)
    }

    /// What the machine waits for.
    pub fn pending(&self) -> Pending {
        match self.state {
            State::Ground | State::Utf8 { .. } => Pending::Nothing,
            State::Escape => Pending::Escape,
            State::Control | State::Single | State::String { .. } if self.buffer.is_empty() => Pending::Prefix,
            _ => Pending::Sequence,
        }
    }

    /// Nothing more comes.
    pub fn expire(&mut self, events: &mut Vec<InputEvent>) {
        if self.state == State::Escape {
            events.push(plain(KeyCode::Escape));
            self.first_escape(events);
            self.state = State::Ground;
        } else {
            self.abandon(events);
        }
    }

    /// Takes one byte.
    pub fn step(&mut self, byte: u8, events: &mut Vec<InputEvent>) {
        match self.state {
            State::Ground => self.ground(byte, false, events),
            State::Utf8 { length, alt } => self.utf8(byte, length, alt, events),
            State::Escape => self.escape(byte, events),
            State::Control => self.control(byte, events),
            State::LinuxFunction => {
                self.state = State::Ground;
                match byte {
                    b'A'..=b'E' => self.tell(Some(plain(KeyCode::Function(byte - b'A' + 1))), events),
                    0x20..0x7f => {}
                    _ => self.step(byte, events),
                }
            }
            State::OldMouse { left } => {
                self.state = if left > 1 { State::OldMouse { left: left - 1 } } else { State::Ground };
            }
            State::Single => match byte {
                b'0'..=b'9' | b';' => self.keep(byte, LONGEST_SEQUENCE),
                0x40..0x7f => {
                    self.state = State::Ground;
                    let key = csi::single(&self.buffer, byte);
                    self.tell(key.map(InputEvent::Key), events);
                }
                _ => self.abandon_for(byte, events),
            },
            State::String { introducer } => match byte {
                BEL => self.end_string(introducer, events),
                ESC => self.state = State::StringEscape { introducer },
                0x20.. => self.keep(byte, LONGEST_STRING),
                _ => self.abandon_for(byte, events),
            },
            State::StringEscape { introducer } => match byte {
                b'\\' => self.end_string(introducer, events),
                _ => {
                    self.begin(State::Escape);
                    self.step(byte, events);
                }
            },
        }
    }

    fn ground(&mut self, byte: u8, alt: bool, events: &mut Vec<InputEvent>) {
        let length = match byte {
            ESC => {
                self.double = false;
                return self.begin(State::Escape);
            }
            0..0x80 => {
                let key = key_of(byte);
                let modifiers = if alt { key.modifiers | Modifiers::ALT } else { key.modifiers };
                return events.push(InputEvent::Key(tidy(Key::with(key.code, modifiers))));
            }
            0xc2..0xe0 => 2,
            0xe0..0xf0 => 3,
            0xf0..0xf5 => 4,
            // No character begins like that.
            _ => return,
        };
        self.begin(State::Utf8 { length, alt });
        self.buffer.push(byte);
    }

    fn utf8(&mut self, byte: u8, length: usize, alt: bool, events: &mut Vec<InputEvent>) {
        if !(0x80..0xc0).contains(&byte) {
            self.state = State::Ground;
            return self.step(byte, events);
        }
        self.buffer.push(byte);
        if self.buffer.len() < length {
            return;
        }
        self.state = State::Ground;
        let character = std::str::from_utf8(&self.buffer).ok().and_then(|text| text.chars().next());
        if let Some(character) = character.filter(|character| !character.is_control()) {
            let modifiers = if alt { Modifiers::ALT } else { Modifiers::NONE };
            events.push(InputEvent::Key(tidy(Key::with(KeyCode::Char(character), modifiers))));
        }
    }

    fn escape(&mut self, byte: u8, events: &mut Vec<InputEvent>) {
        match byte {
            ESC => {
                self.first_escape(events);
                self.double = true;
            }
            b'[' => self.begin(State::Control),
            b'O' => self.begin(State::Single),
            b']' | b'P' | b'X' | b'^' | b'_' => self.begin(State::String { introducer: byte }),
            _ => {
                self.first_escape(events);
                self.state = State::Ground;
                self.ground(byte, true, events);
            }
        }
    }

    fn control(&mut self, byte: u8, events: &mut Vec<InputEvent>) {
        let is_number = !self.buffer.is_empty() && self.buffer.iter().all(u8::is_ascii_digit);
        match byte {
            // rxvt ends the keys that come with shift like that, where all others have a final byte behind it.
            b'$' if is_number => self.end_control(byte, events),
            0x20..0x40 => self.keep(byte, LONGEST_SEQUENCE),
            b'[' if self.buffer.is_empty() => self.state = State::LinuxFunction,
            b'M' if self.buffer.is_empty() => self.state = State::OldMouse { left: 3 },
            0x40..0x7f => self.end_control(byte, events),
            _ => self.abandon_for(byte, events),
        }
    }

    fn end_control(&mut self, last: u8, events: &mut Vec<InputEvent>) {
        self.state = State::Ground;
        let parsed = if self.is_too_long { None } else { csi::parse(&self.buffer, last) };
        match parsed {
            Some(Csi::PasteBegins) => {
                self.first_escape(events);
                self.paste_began = true;
            }
            Some(Csi::Event(event)) => self.tell(Some(event), events),
            None => self.tell(None, events),
        }
    }

    fn end_string(&mut self, introducer: u8, events: &mut Vec<InputEvent>) {
        self.state = State::Ground;
        self.first_escape(events);
        if !self.is_too_long {
            events.extend(strings::reports(introducer, &self.buffer).into_iter().map(InputEvent::Report));
        }
    }

    /// Tells what a sequence meant. The ESC before it was alt when it is a key, and the escape key otherwise.
    fn tell(&mut self, event: Option<InputEvent>, events: &mut Vec<InputEvent>) {
        match event {
            Some(InputEvent::Key(key)) if std::mem::take(&mut self.double) => {
                events.push(InputEvent::Key(Key::with(key.code, key.modifiers | Modifiers::ALT)));
            }
            other => {
                self.first_escape(events);
                events.extend(other);
            }
        }
    }

    fn first_escape(&mut self, events: &mut Vec<InputEvent>) {
        if std::mem::take(&mut self.double) {
            events.push(plain(KeyCode::Escape));
        }
    }

    fn begin(&mut self, state: State) {
        self.state = state;
        self.buffer.clear();
        self.is_too_long = false;
    }

    fn keep(&mut self, byte: u8, limit: usize) {
        if self.buffer.len() < limit {
            self.buffer.push(byte);
        } else {
            self.is_too_long = true;
        }
    }

    /// A byte that no sequence holds: the sequence is given up, and the byte stands for itself.
    fn abandon_for(&mut self, byte: u8, events: &mut Vec<InputEvent>) {
        self.abandon(events);
        self.step(byte, events);
    }

    /// Gives a sequence up: what was only begun is a key with alt, more than that is dropped.
    fn abandon(&mut self, events: &mut Vec<InputEvent>) {
        self.first_escape(events);
        let begun = match self.state {
            State::Control => Some(b'['),
            State::Single => Some(b'O'),
            State::String { introducer } => Some(introducer),
            _ => None,
        };
        self.state = State::Ground;
        if let Some(byte) = begun.filter(|_| self.buffer.is_empty()) {
            self.ground(byte, true, events);
        }
    }
}

fn plain(code: KeyCode) -> InputEvent {
    InputEvent::Key(Key::plain(code))
}

/// The key of a byte.
fn key_of(byte: u8) -> Key {
    let ctrl = |character: u8| Key::with(KeyCode::Char(char::from(character)), Modifiers::CTRL);
    match byte {
        0 => ctrl(b' '),
        b'\t' => Key::plain(KeyCode::Tab),
        b'\r' => Key::plain(KeyCode::Enter),
        1..=0x1a => ctrl(byte - 1 + b'a'),
        ESC => Key::plain(KeyCode::Escape),
        0x1c => ctrl(b'\\'),
        0x1d => ctrl(b']'),
        0x1e => ctrl(b'^'),
        0x1f => ctrl(b'-'),
        0x7f => Key::plain(KeyCode::Backspace),
        _ => Key::plain(KeyCode::Char(char::from(byte))),
    }
}

/// Letters that come with ctrl, alt or super are lower case; a letter that comes with shift alone is typed text.
pub(super) fn tidy(key: Key) -> Key {
    match key.code {
        KeyCode::Char(character) if key.modifiers == Modifiers::SHIFT && character != ' ' => {
            let mut upper = character.to_uppercase();
            let typed = match (upper.next(), upper.next()) {
                (Some(one), None) => one,
                _ => character,
            };
            Key::plain(KeyCode::Char(typed))
        }
        KeyCode::Char(_) if !key.modifiers.without(Modifiers::SHIFT).is_empty() => key.canonical(),
        _ => key,
    }
}
