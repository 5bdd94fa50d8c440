//! The modes that the screen puts the terminal into, and how each is undone.

use super::capabilities::Capabilities;

/// Begins a synchronised update: the terminal shows nothing until its end.
pub(super) const SYNC_BEGIN: &str = "\x1b[?2026h";
/// Ends it.
pub(super) const SYNC_END: &str = "\x1b[?2026l";

/// A mode: what begins it and what ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mode {
    begin: &'static str,
    end: &'static str,
}

const fn mode(begin: &'static str, end: &'static str) -> Mode {
    Mode { begin, end }
}

/// The terminal keeps its title and gives it back.
const TITLE: Mode = mode("\x1b[22;0t", "\x1b[23;0t");
const ALTERNATE_SCREEN: Mode = mode("\x1b[?1049h", "\x1b[?1049l");
/// Text behind the last column goes to no other row: terminals whose widths differ from ours would scroll.
const NO_WRAP: Mode = mode("\x1b[?7l", "\x1b[?7h");
const BRACKETED_PASTE: Mode = mode("\x1b[?2004h", "\x1b[?2004l");
/// kitty's keyboard protocol: keys are told apart (1), with what shift makes of them (4). Each screen has flags of its own.
const KITTY_KEYBOARD: Mode = mode("\x1b[>5u", "\x1b[<u");
/// xterm's way to tell keys apart, for terminals without kitty's.
const OTHER_KEYS: Mode = mode("\x1b[>4;2m", "\x1b[>4;0m");
const FOCUS: Mode = mode("\x1b[?1004h", "\x1b[?1004l");
/// The terminal says when it turns dark or light.
const APPEARANCE: Mode = mode("\x1b[?2031h", "\x1b[?2031l");
/// Buttons and the wheel, and moves with a button held, with positions of any size.
const MOUSE: Mode = mode("\x1b[?1002h\x1b[?1006h", "\x1b[?1006l\x1b[?1002l");
/// What drawing leaves behind: styles, a hidden cursor, an update that was not ended.
const DRAWING: Mode = mode("", "\x1b[?2026l\x1b[m\x1b[?25h");

/// Which modes the terminal is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modes {
    /// The alternate screen.
    pub fullscreen: bool,
    /// The mouse is told.
    pub mouse: bool,
    /// Modes that came after the VT220 are used.
    pub modern: bool,
    /// xterm's way of telling keys apart is on.
    pub other_keys: bool,
}

impl Modes {
    fn list(self) -> Vec<Mode> {
        let wanted = [
            (self.modern, TITLE),
            (self.fullscreen, ALTERNATE_SCREEN),
            (true, NO_WRAP),
            (true, BRACKETED_PASTE),
            (self.modern, KITTY_KEYBOARD),
            (self.other_keys, OTHER_KEYS),
            (self.modern, FOCUS),
            (self.modern, APPEARANCE),
            (self.mouse, MOUSE),
            (true, DRAWING),
        ];
        wanted.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, mode)| mode).collect()
    }

    /// The bytes that begin them.
    #[must_use]
    pub fn begin(self) -> String {
        self.list().iter().map(|mode| mode.begin).collect()
    }

    /// The bytes that end them, the last one first. The cursor stands at the start of a row then.
    #[must_use]
    pub fn end(self) -> String {
        let ends: String = self.list().iter().rev().map(|mode| mode.end).collect();
        format!("{ends}\r")
    }

    /// Switches xterm's way of telling keys apart on: the terminal does not know kitty's.
    #[must_use]
    pub fn with_other_keys(&mut self) -> &'static str {
        if std::mem::replace(&mut self.other_keys, true) { "" } else { OTHER_KEYS.begin }
    }
}

/// Asks the terminal what it is, the colours of its palette too when they are wanted. The last question is one that every
/// terminal answers, so that its answer says that no other comes any more.
#[must_use]
pub fn questions(capabilities: &Capabilities, palette: bool) -> String {
    if !capabilities.modern {
        return String::new();
    }
    let mut questions = String::from("\x1b[?u\x1b[?2026$p\x1b]10;?\x1b\\\x1b]11;?\x1b\\");
    if palette {
        questions.extend((0..16).map(|color| format!("\x1b]4;{color};?\x1b\\")));
    }
    questions.push_str("\x1b[c");
    questions
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Modes = Modes { fullscreen: true, mouse: true, modern: true, other_keys: true };

    #[test]
    fn fc_065_every_mode_is_undone_in_reverse_order() {
        let private = |bytes: &str, letter: char| -> Vec<String> {
            let parts = bytes.split("\x1b[?").skip(1).filter_map(|part| part.split_once(letter));
            parts
                .filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()))
                .map(|(number, _)| number.to_owned())
                .collect()
        };
        for modes in [ALL, Modes { fullscreen: false, mouse: false, modern: true, other_keys: false }] {
            let mut begun = private(&modes.begin(), 'h');
            begun.reverse();
            let ended: Vec<String> = private(&modes.end(), 'l').into_iter().filter(|number| number != "2026").collect();
            assert_eq!(begun, ended);
            assert!(modes.begin().contains("\x1b[?7l") && modes.end().contains("\x1b[?7h"));
            assert!(modes.end().contains("\x1b[?25h") && modes.end().contains("\x1b[m") && modes.end().ends_with('\r'));
        }
        assert!(ALL.end().find("\x1b[<u") < ALL.end().find("\x1b[?1049l"), "each screen has its own flags");
        assert!(ALL.end().contains("\x1b[>4;0m"));
    }

    #[test]
    fn an_old_terminal_gets_none_but_old_modes() {
        let old = Modes { fullscreen: true, mouse: false, modern: false, other_keys: false };
        assert_eq!(old.begin(), "\x1b[?1049h\x1b[?7l\x1b[?2004h");
    }

    #[test]
    fn xterms_keys_are_switched_on_once() {
        let mut modes = Modes { other_keys: false, ..ALL };
        assert_eq!([modes.with_other_keys(), modes.with_other_keys()], ["\x1b[>4;2m", ""]);
        assert_eq!(modes, ALL);
    }
}
