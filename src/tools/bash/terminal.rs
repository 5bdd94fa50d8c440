//! From what a program sends to a terminal to plain text.
//!
//! The rule: escape sequences and control characters are removed, except tab and newline. A line that the program
//! wrote over, after a carriage return or a move to the first column, is kept as it was written last; backspace takes back a character. A title or
//! other string sequence that never ends is no sequence: only its introducer is removed.

/// Text of a line that can still be written over. What a longer line holds before is final.
const LINE_HELD: usize = 8 << 10;
/// Parameters that are looked at; longer ones mean nothing here.
const PARAMETERS_AT_MOST: usize = 8;
/// Longer string sequences are taken for text.
const STRING_AT_MOST: usize = 4 << 10;

/// What becomes of carriage returns and backspaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rewriting {
    /// They change the line, which is given out when it is over.
    #[default]
    Applied,
    /// They are removed, so that text can be given out as it comes.
    Ignored,
}

/// Turns terminal output into plain text, piece by piece.
#[derive(Debug, Default)]
pub struct TerminalText {
    rewriting: Rewriting,
    state: State,
    /// The current line, as far as it is not final.
    line: String,
    /// A carriage return came: the next text replaces the line.
    returned: bool,
    /// The parameters of the control sequence that is being read.
    parameters: String,
    /// The string sequence that is being read, in case that it is none.
    string: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate character: one more ends it.
    Intermediate,
    /// In a control sequence: parameters until a final character.
    Control,
    /// In a title, a hyperlink or another string, until BEL or ESC \.
    String,
    /// After an ESC in a string.
    StringEscape,
}

impl TerminalText {
    /// A filter that treats rewritten lines as said.
    pub fn new(rewriting: Rewriting) -> Self {
        Self { rewriting, ..Self::default() }
    }

    /// Takes the next piece, and adds to `out` what is final now.
    pub fn push(&mut self, input: &str, out: &mut String) {
        let mut rest = input;
        while !rest.is_empty() {
            if self.state == State::Text {
                let end = plain_prefix(rest);
                self.plain(&rest[..end], out);
                rest = &rest[end..];
            }
            let mut characters = rest.chars();
            let Some(character) = characters.next() else { break };
            self.step(character, out);
            rest = characters.as_str();
        }
        if self.rewriting == Rewriting::Ignored {
            out.push_str(&self.line);
            self.line.clear();
        }
    }

    /// Ends the text: adds to `out` what was held back.
    pub fn finish(&mut self, out: &mut String) {
        self.give_up_string(out);
        self.state = State::Text;
        out.push_str(&self.line);
        self.line.clear();
    }

    /// The current line, as far as it is not given out.
    pub fn pending(&self) -> &str {
        &self.line
    }

    /// Adds text without control characters other than tab and newline.
    fn plain(&mut self, text: &str, out: &mut String) {
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.returned) && !text.starts_with('\n') {
            self.line.clear();
        }
        match text.rfind('\n') {
            Some(last) => {
                out.push_str(&self.line);
                out.push_str(&text[..=last]);
                self.line.clear();
                self.line.push_str(&text[last + 1..]);
            }
            None => self.line.push_str(text),
        }
        if self.line.len() > LINE_HELD {
            out.push_str(&self.line);
            self.line.clear();
        }
    }

    fn step(&mut self, character: char, out: &mut String) {
        self.state = match (self.state, character) {
            (State::Text, '\r') => {
                self.carriage_return();
                State::Text
            }
            (State::Text, '\u{8}') => {
                if self.rewriting == Rewriting::Applied {
                    self.line.pop();
                }
                State::Text
            }
            (State::Text | State::Escape, '\u{1b}') => State::Escape,
            (State::Text, '\u{9b}') | (State::Escape, '[') => {
                self.parameters.clear();
                State::Control
            }
            (State::Text, '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}')
            | (State::Escape, ']' | 'P' | 'X' | '^' | '_') => State::String,
            (State::Text, _) => State::Text,
            (State::Escape | State::Intermediate, ' '..='/') => State::Intermediate,
            (State::Escape | State::Intermediate, '0'..='~') => State::Text,
            (State::Control, ' '..='?') => {
                if self.parameters.len() < PARAMETERS_AT_MOST {
                    self.parameters.push(character);
                }
                State::Control
            }
            // To a column: the first is where a line begins.
            (State::Control, 'G') if matches!(self.parameters.as_str(), "" | "0" | "1") => {
                self.carriage_return();
                State::Text
            }
            (State::Control, '@'..='~') => State::Text,
            (State::String, '\u{7}' | '\u{9c}') | (State::StringEscape, '\\') => {
                self.string.clear();
                State::Text
            }
            (State::String, '\u{1b}') => State::StringEscape,
            (State::String, character) if !character.is_control() && self.string.len() < STRING_AT_MOST => {
                self.string.push(character);
                State::String
            }
            (State::StringEscape, _) => {
                // The ESC began something else.
                self.give_up_string(out);
                self.state = State::Escape;
                return self.step(character, out);
            }
            // A sequence that is broken off by something that cannot be part of it.
            (State::Escape | State::Intermediate | State::Control | State::String, _) => {
                self.give_up_string(out);
                self.state = State::Text;
                let mut buffer = [0; 4];
                return self.push_again(character.encode_utf8(&mut buffer), out);
            }
        };
    }

    fn carriage_return(&mut self) {
        self.returned = self.rewriting == Rewriting::Applied;
    }

    fn push_again(&mut self, character: &str, out: &mut String) {
        if plain_prefix(character) > 0 {
            self.plain(character, out);
        } else if let Some(control) = character.chars().next() {
            self.step(control, out);
        }
    }

    fn give_up_string(&mut self, out: &mut String) {
        let string = std::mem::take(&mut self.string);
        self.plain(&string, out);
    }
}

/// The length of the text before the first character that is not simply text.
fn plain_prefix(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(place) = first_suspect(&bytes[from..]) {
        let place = from + place;
        match &bytes[place..] {
            // The first byte of many characters, few of which are controls: U+0080 to U+009F, U+FFF9 to U+FFFB.
            [0xc2, second, ..] if *second > 0x9f => from = place + 2,
            [0xef, second, third, ..] if (*second, *third) < (0xbf, 0xb9) || (*second, *third) > (0xbf, 0xbb) => {
                from = place + 3;
            }
            _ => return place,
        }
    }
    bytes.len()
}

/// The first byte at which a character may begin that is not simply text. Looks at many bytes at once, since nearly
/// all output is simply text.
fn first_suspect(bytes: &[u8]) -> Option<usize> {
    const AT_ONCE: usize = 64;
    let is_suspect = |byte: u8| {
        ((byte < 0x20) & (byte != b'\t') & (byte != b'\n')) | (byte == 0x7f) | (byte == 0xc2) | (byte == 0xef)
    };
    let any = |chunk: &&[u8]| chunk.iter().fold(false, |any, byte| any | is_suspect(*byte));
    let clean = bytes.chunks(AT_ONCE).take_while(|chunk| !any(chunk)).map(<[u8]>::len).sum();
    bytes[clean..].iter().position(|byte| is_suspect(*byte)).map(|place| clean + place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(rewriting: Rewriting, pieces: &[&str]) -> String {
        let mut terminal = TerminalText::new(rewriting);
        let mut out = String::new();
        for piece in pieces {
            terminal.push(piece, &mut out);
        }
        terminal.finish(&mut out);
        out
    }

    /// Text, as plain text, and as plain text where rewriting is ignored.
    const TABLE: &[(&str, &str, &str)] = &[
        ("plain\ttext\n", "plain\ttext\n", "plain\ttext\n"),
        ("\u{1b}[31mred\u{1b}[0m\n", "red\n", "red\n"),
        ("\u{1b}[38;5;196mred\u{1b}[m", "red", "red"),
        ("get 10%\rget 55%\rget 100%\ndone\n", "get 100%\ndone\n", "get 10%get 55%get 100%\ndone\n"),
        ("a\rb\n", "b\n", "ab\n"),
        ("a\r\nb\r\n", "a\nb\n", "a\nb\n"),
        ("a\r\r\nb", "a\nb", "a\nb"),
        ("waiting\r", "waiting", "waiting"),
        ("one\ntwo\rthree", "one\nthree", "one\ntwothree"),
        ("x\rhidden\u{1b}[K\rshown\u{1b}[K\n", "shown\n", "xhiddenshown\n"),
        ("|\u{8}/\u{8}-\n", "-\n", "|/-\n"),
        ("B\u{8}Bo\u{8}o\n", "Bo\n", "BBoo\n"),
        ("\u{1b}]0;title\u{7}text", "text", "text"),
        ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link", "link"),
        ("\u{1b}]0;titletail\n", "0;titletail\n", "0;titletail\n"),
        ("\u{1b}]0;open\u{1b}[31mred", "0;openred", "0;openred"),
        ("\u{1b}Pdevice\u{1b}\\x", "x", "x"),
        ("\u{1b}(Bx\u{1b}=y\u{1b}c", "xy", "xy"),
        ("\u{1b}\u{1b}[1mx", "x", "x"),
        ("\u{1b}[31\nm", "\nm", "\nm"),
        ("\u{1b}\u{e9}", "\u{e9}", "\u{e9}"),
        ("a\u{0}b\u{7}c\u{7f}d\u{b}e", "abcde", "abcde"),
        ("\u{9b}31mred\u{85}\u{9d}0;t\u{9c}.", "red.", "red."),
        ("\u{fff9}a\u{fffa}b\u{fffb}", "ab", "ab"),
        (
            "caf\u{e9} \u{a0}\u{feff}\u{fffd}\u{ff21} \u{1f642}",
            "caf\u{e9} \u{a0}\u{feff}\u{fffd}\u{ff21} \u{1f642}",
            "caf\u{e9} \u{a0}\u{feff}\u{fffd}\u{ff21} \u{1f642}",
        ),
    ];

    #[test]
    fn terminal_noise_becomes_plain_text_fc_045() {
        for (input, applied, ignored) in TABLE {
            assert_eq!(plain(Rewriting::Applied, &[input]), *applied, "{input:?}");
            assert_eq!(plain(Rewriting::Ignored, &[input]), *ignored, "{input:?}");
        }
    }

    #[test]
    fn progress_bars_leave_their_last_state_fc_045() {
        // As these programs write to a terminal, which some do for whoever sets a variable.
        let table = [
            (
                "cargo",
                "  Building [>   ] 0/2: a\r\u{1b}[K  Building [=>  ] 1/2: b\r\u{1b}[K  Finished dev\n",
                "  Finished dev\n",
            ),
            ("npm", "\u{1b}[1G\u{1b}[0K⠙\u{1b}[1G\u{1b}[0K⠹\u{1b}[1G\u{1b}[0Kadded 3 packages\n", "added 3 packages\n"),
            (
                "pip",
                "\u{1b}[?25l   \u{1b}[90m━━━━\u{1b}[0m \u{1b}[32m1.0/2.0 MB\u{1b}[0m\r\u{1b}[2K   \u{1b}[32m━━━━\u{1b}[0m 2.0/2.0 \
                 MB\u{1b}[?25h\nInstalled\n",
                "   ━━━━ 2.0/2.0 MB\nInstalled\n",
            ),
            ("curl", "\r  0     0    0\r 42  1270   42\r100  1270  100\n", "100  1270  100\n"),
            ("wget", "\rx.html   0%[      ]    0\rx.html 100%[=====>] 1.2K\r\n", "x.html 100%[=====>] 1.2K\n"),
            ("apt", "0% [Working]\r            \rReading... 0%\r\rReading... Done\r\n", "Reading... Done\n"),
            // Lines above are not written over: each state stays a line.
            ("docker", "a: Pulling\r\n\u{1b}[1A\u{1b}[2K\ra: Done\u{1b}[K\r\n", "a: Pulling\na: Done\n"),
        ];
        for (program, input, applied) in table {
            assert_eq!(plain(Rewriting::Applied, &[input]), applied, "{program}");
        }
    }

    #[test]
    fn the_result_does_not_depend_on_how_the_output_was_cut() {
        for (input, applied, ignored) in TABLE {
            for (place, _) in input.char_indices() {
                let pieces = [&input[..place], &input[place..]];
                assert_eq!(plain(Rewriting::Applied, &pieces), *applied, "{pieces:?}");
                assert_eq!(plain(Rewriting::Ignored, &pieces), *ignored, "{pieces:?}");
            }
        }
    }

    #[test]
    fn endless_lines_and_strings_are_not_held() {
        let mut terminal = TerminalText::default();
        let mut out = String::new();
        for _ in 0..100 {
            terminal.push(&"x".repeat(1000), &mut out);
        }
        assert!(terminal.pending().len() <= LINE_HELD + 1000 && out.len() > 80_000);
        let mut terminal = TerminalText::default();
        terminal.push("\u{1b}]", &mut out);
        for _ in 0..100 {
            terminal.push(&"y".repeat(1000), &mut out);
        }
        assert!(terminal.string.len() <= STRING_AT_MOST && out.len() > 160_000);
    }
}
