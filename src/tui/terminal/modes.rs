//! The modes that the screen puts the terminal into, and how each is undone.

use crossterm::{
    Command,
    cursor::Show,
    terminal::{DisableLineWrap, EnableLineWrap, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen},
};

use super::{capabilities::Capabilities, pictures};

/// A mode, which is begun and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The terminal keeps its title and gives it back.
    Title,
    AlternateScreen,
    /// Text behind the last column goes to no other row: terminals whose widths differ from ours would scroll.
    NoWrap,
    BracketedPaste,
    /// kitty's keyboard protocol: keys are told apart (1), with what shift makes of them (4). Each screen has flags of its
    /// own.
    KittyKeyboard,
    /// xterm's way to tell keys apart, for terminals without kitty's.
    OtherKeys,
    Focus,
    /// The terminal says when it turns dark or light.
    Appearance,
    /// Buttons and the wheel, and moves with a button held, with positions of any size.
    Mouse,
    /// What drawing leaves behind: styles, a hidden cursor, an update that was not ended.
    Drawing,
    /// Pictures that were given to the terminal. Each screen has pictures of its own.
    Pictures,
}

impl Mode {
    /// Writes what begins it.
    fn begin(self, out: &mut String) {
        let ours = match self {
            Self::AlternateScreen => return command(out, EnterAlternateScreen),
            Self::NoWrap => return command(out, DisableLineWrap),
            Self::Title => "\x1b[22;0t",
            Self::BracketedPaste => "\x1b[?2004h",
            Self::KittyKeyboard => "\x1b[>5u",
            Self::OtherKeys => "\x1b[>4;2m",
            Self::Focus => "\x1b[?1004h",
            Self::Appearance => "\x1b[?2031h",
            Self::Mouse => "\x1b[?1002h\x1b[?1006h",
            Self::Drawing | Self::Pictures => "",
        };
        out.push_str(ours);
    }

    /// Writes what ends it.
    fn end(self, out: &mut String) {
        let ours = match self {
            Self::AlternateScreen => return command(out, LeaveAlternateScreen),
            Self::NoWrap => return command(out, EnableLineWrap),
            Self::Drawing => {
                command(out, EndSynchronizedUpdate);
                out.push_str("\x1b[m");
                return command(out, Show);
            }
            Self::Title => "\x1b[23;0t",
            Self::BracketedPaste => "\x1b[?2004l",
            Self::KittyKeyboard => "\x1b[<u",
            Self::OtherKeys => "\x1b[>4;0m",
            Self::Focus => "\x1b[?1004l",
            Self::Appearance => "\x1b[?2031l",
            Self::Mouse => "\x1b[?1006l\x1b[?1002l",
            Self::Pictures => pictures::FORGET,
        };
        out.push_str(ours);
    }
}

/// Writes a command of crossterm's.
pub(super) fn command(out: &mut String, command: impl Command) {
    // A string takes everything.
    let _ = command.write_ansi(out);
}

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
    /// The terminal keeps pictures of ours (kitty's protocol).
    pub pictures: bool,
}

impl Modes {
    fn list(self) -> impl DoubleEndedIterator<Item = Mode> {
        let wanted = [
            (self.modern, Mode::Title),
            (self.fullscreen, Mode::AlternateScreen),
            (true, Mode::NoWrap),
            (true, Mode::BracketedPaste),
            (self.modern, Mode::KittyKeyboard),
            (self.other_keys, Mode::OtherKeys),
            (self.modern, Mode::Focus),
            (self.modern, Mode::Appearance),
            (self.mouse, Mode::Mouse),
            (true, Mode::Drawing),
            (self.pictures, Mode::Pictures),
        ];
        wanted.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, mode)| mode)
    }

    /// The bytes that begin them.
    #[must_use]
    pub fn begin(self) -> String {
        let mut bytes = String::new();
        self.list().for_each(|mode| mode.begin(&mut bytes));
        bytes
    }

    /// The bytes that end them, the last one first. The cursor stands at the start of a row then.
    #[must_use]
    pub fn end(self) -> String {
        let mut bytes = String::new();
        self.list().rev().for_each(|mode| mode.end(&mut bytes));
        bytes.push('\r');
        bytes
    }

    /// Switches xterm's way of telling keys apart on: the terminal does not know kitty's. The bytes that do it.
    #[must_use]
    pub fn with_other_keys(&mut self) -> String {
        let mut bytes = String::new();
        if !std::mem::replace(&mut self.other_keys, true) {
            Mode::OtherKeys.begin(&mut bytes);
        }
        bytes
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
    if capabilities.images.is_some() {
        // A cell's size in pixels.
        questions.push_str("\x1b[16t");
    }
    if palette {
        questions.extend((0..16).map(|color| format!("\x1b]4;{color};?\x1b\\")));
    }
    questions.push_str("\x1b[c");
    questions
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Modes = Modes { fullscreen: true, mouse: true, modern: true, other_keys: true, pictures: true };

    #[test]
    fn fc_065_every_mode_is_undone_in_reverse_order() {
        let private = |bytes: &str, letter: char| -> Vec<String> {
            let parts = bytes.split("\x1b[?").skip(1).filter_map(|part| part.split_once(letter));
            parts
                .filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()))
                .map(|(number, _)| number.to_owned())
                .collect()
        };
        for modes in [ALL, Modes { fullscreen: false, mouse: false, modern: true, other_keys: false, pictures: false }]
        {
            let mut begun = private(&modes.begin(), 'h');
            begun.reverse();
            let ended: Vec<String> = private(&modes.end(), 'l').into_iter().filter(|number| number != "2026").collect();
            assert_eq!(begun, ended);
            assert!(modes.begin().contains("\x1b[?7l") && modes.end().contains("\x1b[?7h"));
            assert!(modes.end().contains("\x1b[?25h") && modes.end().contains("\x1b[m") && modes.end().ends_with('\r'));
        }
        assert!(ALL.end().find("\x1b[<u") < ALL.end().find("\x1b[?1049l"), "each screen has its own flags");
        assert!(ALL.end().contains("\x1b[>4;0m"));
        assert!(ALL.end().find("\x1b_Ga=d") < ALL.end().find("\x1b[?1049l"), "each screen has its own pictures");
    }

    #[test]
    fn an_old_terminal_gets_none_but_old_modes() {
        let old = Modes { fullscreen: true, mouse: false, modern: false, other_keys: false, pictures: false };
        assert_eq!(old.begin(), "\x1b[?1049h\x1b[?7l\x1b[?2004h");
    }

    #[test]
    fn xterms_keys_are_switched_on_once() {
        let mut modes = Modes { other_keys: false, ..ALL };
        assert_eq!([modes.with_other_keys(), modes.with_other_keys()], ["\x1b[>4;2m", ""].map(str::to_owned));
        assert_eq!(modes, ALL);
    }
}
