//! What control sequences mean: keys in the encodings of xterm, rxvt, the Linux console and kitty, mouse events, reports.

use super::machine::tidy;
use crate::tui::{
    keys::{Key, KeyCode, Modifiers},
    terminal::{InputEvent, Mouse, MouseButton, MouseKind, Report},
};

/// What a control sequence is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Csi {
    /// An event.
    Event(InputEvent),
    /// The beginning of a paste.
    PasteBegins,
}

/// A sequence's parameters: numbers between semicolons, each with further ones behind colons.
struct Parameters<'a>(&'a str);

impl Parameters<'_> {
    /// A number by its place, from 0. An absent one is none.
    fn part(&self, parameter: usize, part: usize) -> Option<u32> {
        self.0.split(';').nth(parameter)?.split(':').nth(part)?.parse().ok()
    }

    fn number(&self, parameter: usize) -> Option<u32> {
        self.part(parameter, 0)
    }

    /// Modifiers in the encoding that all share: 1 and a bit each.
    fn modifiers(&self, parameter: usize) -> Modifiers {
        modifiers_of(self.number(parameter).unwrap_or(1).saturating_sub(1))
    }

    /// Whether the key was released (the event type of kitty's protocol).
    fn is_release(&self, parameter: usize) -> bool {
        self.part(parameter, 1) == Some(3)
    }

    fn len(&self) -> usize {
        if self.0.is_empty() { 0 } else { self.0.split(';').count() }
    }
}

fn modifiers_of(bits: u32) -> Modifiers {
    // 16 is hyper, 64 and 128 are the locks, which say nothing here. 32 is meta, which is alt to everybody.
    let pairs =
        [(1, Modifiers::SHIFT), (2, Modifiers::ALT), (4, Modifiers::CTRL), (8, Modifiers::SUPER), (32, Modifiers::ALT)];
    let held = pairs.into_iter().filter(|(bit, _)| bits & bit != 0);
    held.fold(Modifiers::NONE, |all, (_, modifier)| all | modifier)
}

/// What `ESC [`, `body` and `last` mean; none for what we do not know, and for the release of a key.
pub(super) fn parse(body: &[u8], last: u8) -> Option<Csi> {
    let body = std::str::from_utf8(body).ok()?;
    if body == "200" && last == b'~' {
        return Some(Csi::PasteBegins);
    }
    let event = match body.as_bytes().first() {
        Some(b'<') => mouse(&Parameters(&body[1..]), last).map(InputEvent::Mouse),
        Some(b'?') => private(&body[1..], last).map(InputEvent::Report),
        Some(b'=' | b'>') => None,
        // No key has intermediate bytes.
        _ if body.bytes().any(|byte| byte < b'0') => None,
        _ => public(body, last),
    };
    event.map(Csi::Event)
}

fn public(body: &str, last: u8) -> Option<InputEvent> {
    let parameters = Parameters(body);
    match (body, last) {
        ("", b'I') => return Some(InputEvent::Focus(true)),
        ("", b'O') => return Some(InputEvent::Focus(false)),
        _ => {}
    }
    if last == b't' && parameters.number(0) == Some(6) {
        let size = |at| parameters.number(at).and_then(|pixels| u16::try_from(pixels).ok());
        return Some(InputEvent::Report(Report::CellSize(size(2)?, size(1)?)));
    }
    if parameters.is_release(1) {
        return None;
    }
    let key = match last {
        b'u' => kitty(&parameters)?,
        b'~' if parameters.number(0) == Some(27) => other_key(&parameters)?,
        b'~' => Key::with(numbered(parameters.number(0)?)?, parameters.modifiers(1)),
        b'^' => Key::with(numbered(parameters.number(0)?)?, Modifiers::CTRL),
        b'$' => Key::with(numbered(parameters.number(0)?)?, Modifiers::SHIFT),
        b'@' => Key::with(numbered(parameters.number(0)?)?, Modifiers::CTRL | Modifiers::SHIFT),
        b'Z' => Key::with(KeyCode::Tab, parameters.modifiers(1) | Modifiers::SHIFT),
        b'a'..=b'd' if body.is_empty() => Key::with(lettered(last.to_ascii_uppercase())?, Modifiers::SHIFT),
        // With parameters, `R` is also the place of the cursor, whose row may be any number.
        _ if parameters.len() <= 2 && matches!(parameters.number(0), None | Some(1)) => {
            Key::with(lettered(last)?, parameters.modifiers(1))
        }
        _ => return None,
    };
    Some(InputEvent::Key(key))
}

/// What `ESC O`, `body` and `last` mean.
pub(super) fn single(body: &[u8], last: u8) -> Option<Key> {
    // Old xterms put the modifiers here, alone or as the second parameter.
    let body = std::str::from_utf8(body).ok()?;
    let bits: u32 = body.rsplit(';').next()?.parse().unwrap_or(1);
    let modifiers = modifiers_of(bits.saturating_sub(1));
    let keypad = |character: u8| KeyCode::Char(char::from(character));
    let code = match last {
        b'a'..=b'd' => return Some(Key::with(lettered(last.to_ascii_uppercase())?, Modifiers::CTRL)),
        b'M' => KeyCode::Enter,
        b'I' => KeyCode::Tab,
        b'X' => keypad(b'='),
        b'j'..=b'o' => keypad(last - b'j' + b'*'),
        b'p'..=b'y' => keypad(last - b'p' + b'0'),
        _ => lettered(last)?,
    };
    Some(Key::with(code, modifiers))
}

/// Keys that end with a letter.
fn lettered(last: u8) -> Option<KeyCode> {
    Some(match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'P' => KeyCode::Function(1),
        b'Q' => KeyCode::Function(2),
        b'R' => KeyCode::Function(3),
        b'S' => KeyCode::Function(4),
        _ => return None,
    })
}

/// Keys that have a number and end with `~`.
fn numbered(number: u32) -> Option<KeyCode> {
    let function = |from: u32, first: u8| u8::try_from(number - from).ok().map(|more| KeyCode::Function(first + more));
    match number {
        1 | 7 => Some(KeyCode::Home),
        2 => Some(KeyCode::Insert),
        3 => Some(KeyCode::Delete),
        4 | 8 => Some(KeyCode::End),
        5 => Some(KeyCode::PageUp),
        6 => Some(KeyCode::PageDown),
        11..=15 => function(11, 1),
        17..=21 => function(17, 6),
        23..=26 => function(23, 11),
        28..=29 => function(28, 15),
        31..=34 => function(31, 17),
        _ => None,
    }
}

/// `CSI 27 ; modifiers ; code ~`: xterm's modifyOtherKeys. The code is the character with its shift applied.
fn other_key(parameters: &Parameters<'_>) -> Option<Key> {
    let code = coded(parameters.number(2)?)?;
    let modifiers = parameters.modifiers(1);
    let is_typed = matches!(code, KeyCode::Char(character) if character != ' ' && modifiers == Modifiers::SHIFT);
    Some(if is_typed { Key::plain(code) } else { tidy(Key::with(code, modifiers)) })
}

/// `CSI code:shifted:base ; modifiers:event ; text u`: kitty's protocol.
fn kitty(parameters: &Parameters<'_>) -> Option<Key> {
    let number = parameters.number(0)?;
    let modifiers = parameters.modifiers(1);
    let character = |number: Option<u32>| number.and_then(char::from_u32).filter(|character| !character.is_control());
    let shifted = character(parameters.part(0, 1)).filter(|_| modifiers.contains(Modifiers::SHIFT));
    let mut code = coded(number)?;
    if let KeyCode::Char(typed) = code {
        if modifiers.without(Modifiers::SHIFT).is_empty() {
            if let Some(text) = character(parameters.number(2)).or(shifted) {
                return Some(Key::plain(KeyCode::Char(text)));
            }
        } else if let Some(base) = character(parameters.part(0, 2)).filter(|_| !typed.is_ascii()) {
            // On a keyboard of another script ctrl+c is where it is on a US one.
            code = KeyCode::Char(base);
        } else if let Some(symbol) = shifted.filter(|symbol| !symbol.is_alphabetic()) {
            return Some(tidy(Key::with(KeyCode::Char(symbol), modifiers.without(Modifiers::SHIFT))));
        }
    }
    Some(tidy(Key::with(code, modifiers)))
}

/// The key of a code of kitty's protocol; none for those that mean nothing here (locks, media keys, modifiers alone).
fn coded(number: u32) -> Option<KeyCode> {
    let keypad = "0123456789./*-+";
    Some(match number {
        9 => KeyCode::Tab,
        13 | 57414 => KeyCode::Enter,
        27 => KeyCode::Escape,
        8 | 127 => KeyCode::Backspace,
        57376..=57398 => KeyCode::Function(u8::try_from(number - 57376).ok()? + 13),
        57399..=57413 => KeyCode::Char(keypad.chars().nth(usize::try_from(number - 57399).ok()?)?),
        57415 => KeyCode::Char('='),
        57416 => KeyCode::Char(','),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57425 => KeyCode::Insert,
        57426 => KeyCode::Delete,
        0xe000..=0xf8ff => return None,
        _ => KeyCode::Char(char::from_u32(number).filter(|character| !character.is_control())?),
    })
}

/// `CSI < button ; column ; row M` (pressed) or `m` (released).
fn mouse(parameters: &Parameters<'_>, last: u8) -> Option<Mouse> {
    let bits = parameters.number(0)?;
    let place = |at| parameters.number(at)?.checked_sub(1).and_then(|place| u16::try_from(place).ok());
    let button = match bits & 0b11 {
        0 => Some(MouseButton::Left),
        1 => Some(MouseButton::Middle),
        2 => Some(MouseButton::Right),
        _ => None,
    };
    let (is_motion, is_wheel) = (bits & 32 != 0, bits & 0b1100_0000 == 64);
    let kind = match (last, is_wheel, is_motion) {
        _ if bits & 128 != 0 => return None,
        (b'M', true, _) if bits & 0b11 == 0 => MouseKind::WheelUp,
        (b'M', true, _) if bits & 0b11 == 1 => MouseKind::WheelDown,
        (_, true, _) => return None,
        (b'M', false, true) => MouseKind::Drag(button?),
        (b'M', false, false) => MouseKind::Down(button?),
        (b'm', false, _) => MouseKind::Up(button?),
        _ => return None,
    };
    let held = [(4, Modifiers::SHIFT), (8, Modifiers::ALT), (16, Modifiers::CTRL)];
    let held = held.into_iter().filter(|(bit, _)| bits & bit != 0);
    let modifiers = held.fold(Modifiers::NONE, |all, (_, modifier)| all | modifier);
    Some(Mouse { kind, column: place(1)?, row: place(2)?, modifiers })
}

/// `CSI ?` and the rest: answers to our questions.
fn private(body: &str, last: u8) -> Option<Report> {
    let small = |number: u32| u16::try_from(number).ok();
    match last {
        b'u' => Some(Report::KittyKeyboard(u8::try_from(Parameters(body).number(0)?).ok()?)),
        b'c' => Some(Report::Attributes(body.split(';').filter_map(|number| number.parse().ok()).collect())),
        b'n' if body.starts_with("997;") => Some(Report::Appearance(Parameters(body).number(1)? == 1)),
        b'y' => {
            let parameters = Parameters(body.strip_suffix('$')?);
            // 0: not recognised; 4: for ever off.
            let is_known = !matches!(parameters.number(1)?, 0 | 4);
            Some(Report::Mode(small(parameters.number(0)?)?, is_known))
        }
        _ => None,
    }
}
