//! One line of a session, byte by byte: who it is, and the texts that people and models can read in it.
//!
//! A line may be larger than memory: pictures stand in it as text. So nothing of it is held but its kind, its id and
//! what is being read; strings that are no texts are stepped over. What is no JSON ends the line: it has no texts.

use memchr::memchr2;

/// What takes what is found.
pub trait Listener {
    /// A part of a text: decoded, in UTF-8 but perhaps cut inside a character.
    fn text(&mut self, part: &[u8]);
    /// The text is complete.
    fn text_end(&mut self);
}

/// Characters of a kind, an id or a role that are kept. Longer ones are none of ours.
const NAME: usize = 256;

/// What a line says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// `type`.
    pub kind: Vec<u8>,
    /// `id`.
    pub id: Vec<u8>,
    /// The message's `role`.
    pub role: Vec<u8>,
}

/// A place in a line that may hold texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The entry.
    Entry,
    /// Its `message`.
    Message,
    /// The list in `content`.
    Blocks,
    /// An object of that list.
    Block,
}

/// What becomes of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sink {
    Nothing,
    Key,
    Kind,
    Id,
    Role,
    Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the entry.
    Start,
    /// In an object: before a key, or its end.
    Key,
    /// Behind a key.
    Colon,
    /// Before a value; in the list of blocks also before its end.
    Value,
    /// In a number or a word, up to what ends it.
    Scalar,
    /// In a string.
    Text(Sink),
    /// Behind its backslash.
    Escape(Sink),
    /// In `\u`: so many digits are read, and they make this unit.
    Unicode(Sink, u8, u16),
    /// In a value that holds no texts, so deep.
    Skip(u64),
    /// In a string of such a value.
    SkipText(u64),
    /// Behind the backslash of such a string.
    SkipEscape(u64),
    /// Behind the entry.
    Done,
    /// It is no entry.
    Bad,
}

/// A line that is being read.
#[derive(Debug)]
pub struct Walk {
    state: State,
    places: Vec<Place>,
    key: Vec<u8>,
    /// The first half of a pair of units.
    high: Option<u16>,
    facts: Facts,
}

impl Default for Walk {
    fn default() -> Self {
        Self { state: State::Start, places: Vec::new(), key: Vec::new(), high: None, facts: Facts::default() }
    }
}

impl Walk {
    /// What the line said, when it was whole.
    #[must_use]
    pub fn finish(self) -> Option<Facts> {
        (self.state == State::Done).then_some(self.facts)
    }

    /// Takes the next bytes of the line.
    pub fn feed(&mut self, bytes: &[u8], listener: &mut impl Listener) {
        let mut at = 0;
        while at < bytes.len() {
            match self.state {
                State::Text(sink) => {
                    let end = memchr2(b'"', b'\\', &bytes[at..]).map_or(bytes.len(), |end| at + end);
                    self.put(sink, &bytes[at..end], listener);
                    at = end;
                    match bytes.get(at) {
                        Some(b'"') => self.end_text(sink, listener),
                        Some(_) => self.state = State::Escape(sink),
                        None => break,
                    }
                }
                State::SkipText(depth) => {
                    let Some(end) = memchr2(b'"', b'\\', &bytes[at..]) else { return };
                    at += end;
                    self.state = if bytes[at] == b'"' { State::Skip(depth) } else { State::SkipEscape(depth) };
                }
                State::Bad => return,
                _ => self.byte(bytes[at], listener),
            }
            at += 1;
        }
    }

    fn byte(&mut self, byte: u8, listener: &mut impl Listener) {
        let is_blank = matches!(byte, b' ' | b'\t' | b'\r' | 0);
        match self.state {
            State::Start => match byte {
                b'{' => self.enter(Place::Entry),
                // Padding and the parts of a byte order mark.
                _ if is_blank || matches!(byte, 0xef | 0xbb | 0xbf) => {}
                _ => self.state = State::Bad,
            },
            State::Key => match byte {
                b'"' => {
                    self.key.clear();
                    self.state = State::Text(Sink::Key);
                }
                b'}' => self.leave(),
                b',' => {}
                _ if is_blank => {}
                _ => self.state = State::Bad,
            },
            State::Colon => match byte {
                b':' => self.state = State::Value,
                _ if is_blank => {}
                _ => self.state = State::Bad,
            },
            State::Value => self.value(byte, is_blank),
            State::Scalar => match byte {
                b',' => self.state = self.next_in_place(),
                b'}' | b']' => self.leave(),
                _ => {}
            },
            State::Escape(sink) => self.escape(sink, byte, listener),
            State::Unicode(sink, digits, unit) => self.unicode(sink, digits, unit, byte, listener),
            State::Skip(depth) => match byte {
                b'"' => self.state = State::SkipText(depth),
                b'{' | b'[' => self.state = State::Skip(depth + 1),
                b'}' | b']' if depth == 1 => self.state = self.next_in_place(),
                b'}' | b']' => self.state = State::Skip(depth - 1),
                _ => {}
            },
            State::SkipEscape(depth) => self.state = State::SkipText(depth),
            State::Done if is_blank => {}
            // Something stands behind the entry: two lines that grew together.
            State::Done => self.state = State::Bad,
            State::Text(_) | State::SkipText(_) | State::Bad => {}
        }
    }

    fn value(&mut self, byte: u8, is_blank: bool) {
        let place = self.places.last().copied();
        let below = match (place, &*self.key) {
            (Some(Place::Entry), b"message") => (Some(Place::Message), b'{'),
            (Some(Place::Entry | Place::Message), b"content") => (Some(Place::Blocks), b'['),
            (Some(Place::Blocks), _) => (Some(Place::Block), b'{'),
            _ => (None, 0),
        };
        match (byte, below) {
            _ if is_blank => {}
            (b'"', _) => self.state = State::Text(self.sink(place)),
            (b'{' | b'[', (Some(below), opens)) if byte == opens => self.enter(below),
            (b'{' | b'[', _) => self.state = State::Skip(1),
            (b']', _) if place == Some(Place::Blocks) => self.leave(),
            (b',', _) if place == Some(Place::Blocks) => {}
            (b',' | b'}' | b']' | b':', _) => self.state = State::Bad,
            _ => self.state = State::Scalar,
        }
    }

    /// What the string behind the key is.
    fn sink(&self, place: Option<Place>) -> Sink {
        match (place, &*self.key) {
            (Some(Place::Entry), b"type") => Sink::Kind,
            (Some(Place::Entry), b"id") => Sink::Id,
            (Some(Place::Message), b"role") => Sink::Role,
            (Some(Place::Entry), b"summary" | b"content") => Sink::Text,
            (Some(Place::Message), b"content" | b"command" | b"output") => Sink::Text,
            (Some(Place::Block), b"text") => Sink::Text,
            _ => Sink::Nothing,
        }
    }

    fn enter(&mut self, place: Place) {
        self.places.push(place);
        self.state = if place == Place::Blocks { State::Value } else { State::Key };
    }

    fn leave(&mut self) {
        self.places.pop();
        self.state = self.next_in_place();
    }

    fn next_in_place(&self) -> State {
        match self.places.last() {
            None => State::Done,
            Some(Place::Blocks) => State::Value,
            Some(_) => State::Key,
        }
    }

    fn put(&mut self, sink: Sink, part: &[u8], listener: &mut impl Listener) {
        if part.is_empty() {
            return;
        }
        self.lone_half(sink, listener);
        self.emit(sink, part, listener);
    }

    fn emit(&mut self, sink: Sink, part: &[u8], listener: &mut impl Listener) {
        let name = match sink {
            Sink::Nothing => return,
            Sink::Text => return listener.text(part),
            Sink::Key => &mut self.key,
            Sink::Kind => &mut self.facts.kind,
            Sink::Id => &mut self.facts.id,
            Sink::Role => &mut self.facts.role,
        };
        name.extend_from_slice(&part[..part.len().min(NAME.saturating_sub(name.len()))]);
    }

    fn end_text(&mut self, sink: Sink, listener: &mut impl Listener) {
        self.lone_half(sink, listener);
        if sink == Sink::Text {
            listener.text_end();
        }
        self.state = if sink == Sink::Key { State::Colon } else { self.next_in_place() };
    }

    fn escape(&mut self, sink: Sink, byte: u8, listener: &mut impl Listener) {
        let character = match byte {
            b'u' => return self.state = State::Unicode(sink, 0, 0),
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            b'"' | b'\\' | b'/' => byte,
            _ => return self.state = State::Bad,
        };
        self.put(sink, &[character], listener);
        self.state = State::Text(sink);
    }

    fn unicode(&mut self, sink: Sink, digits: u8, unit: u16, byte: u8, listener: &mut impl Listener) {
        let Some(digit) = char::from(byte).to_digit(16) else { return self.state = State::Bad };
        let unit = unit << 4 | u16::try_from(digit).unwrap_or_default();
        if digits < 3 {
            return self.state = State::Unicode(sink, digits + 1, unit);
        }
        self.state = State::Text(sink);
        match (self.high, unit) {
            (None, 0xD800..=0xDBFF) => self.high = Some(unit),
            (high, _) => {
                let pair: Vec<u16> = high.into_iter().chain([unit]).collect();
                self.high = None;
                self.emit(sink, String::from_utf16_lossy(&pair).as_bytes(), listener);
            }
        }
    }

    /// A half that nothing follows.
    fn lone_half(&mut self, sink: Sink, listener: &mut impl Listener) {
        if self.high.take().is_some() {
            self.emit(sink, "\u{fffd}".as_bytes(), listener);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Texts(Vec<Vec<u8>>, Vec<u8>);

    impl Listener for Texts {
        fn text(&mut self, part: &[u8]) {
            self.1.extend_from_slice(part);
        }

        fn text_end(&mut self) {
            self.0.push(std::mem::take(&mut self.1));
        }
    }

    /// The line in pieces of `size` bytes: kind, id, role and texts; none when it is no entry.
    fn walked(line: &str, size: usize) -> Option<(String, Vec<String>)> {
        let mut walk = Walk::default();
        let mut texts = Texts::default();
        line.as_bytes().chunks(size).for_each(|part| walk.feed(part, &mut texts));
        let facts = walk.finish()?;
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let who = [facts.kind, facts.id, facts.role].map(text).join(" ");
        Some((who, texts.0.into_iter().map(text).collect()))
    }

    #[test]
    fn the_texts_of_a_line_are_found_however_it_is_cut() {
        let table: &[(&str, &str, &[&str])] = &[
            (r#"{"type":"message","id":"1","message":{"role":"user","content":"a b"}}"#, "message 1 user", &["a b"]),
            (
                r#" { "message" : { "content" : [ {"type":"text","text":"one"} , {"text":"two"}, 7, "x" ], "role":"assistant" } , "id":"2", "type":"message"}"#,
                "message 2 assistant",
                &["one", "two"],
            ),
            (
                r#"{"type":"message","id":"3","message":{"role":"user","content":[{"type":"image","data":"text\"text","mimeType":"text"}],"n":[{"text":"no"}],"usage":{"content":"no"}},"x":{"text":"no"}}"#,
                "message 3 user",
                &[],
            ),
            (
                r#"{"type":"message","id":"4","message":{"role":"assistant","content":[{"type":"toolCall","arguments":{"text":"no","deep":[[{"a":"}]"}]]}},{"type":"thinking","thinking":"no"},{"type":"text","text":"yes"}]}}"#,
                "message 4 assistant",
                &["yes"],
            ),
            (
                r#"{"type":"message","id":"5","message":{"role":"bashExecution","command":"ls","output":"a\nb","exitCode":0}}"#,
                "message 5 bashExecution",
                &["ls", "a\nb"],
            ),
            (
                r#"{"type":"compaction","id":"6","summary":"kept","systemMessage":{"content":"no","sections":{"summary":"no"}}}"#,
                "compaction 6 ",
                &["kept"],
            ),
            (r#"{"type":"custom_message","content":[{"type":"text","text":"note"}]}"#, "custom_message  ", &["note"]),
            (
                r#"{"type":"message","message":{"content":"\u00e9\ud83d\ude00 \ud83dx \ude00\t\"\\\/ é😀"}}"#,
                "message  ",
                &["é😀 \u{fffd}x \u{fffd}\t\"\\/ é😀"],
            ),
            (r#"{"type":"message","message":{"content":"end \ud83d"}}"#, "message  ", &["end \u{fffd}"]),
            ("\u{feff}{}\0\0", "  ", &[]),
        ];
        for (line, who, texts) in table {
            for size in [1, 2, 3, 7, 4096] {
                let texts = texts.iter().map(ToString::to_string).collect();
                assert_eq!(walked(line, size), Some(((*who).to_owned(), texts)), "{line} by {size}");
            }
        }
    }

    #[test]
    fn what_is_no_whole_entry_says_nothing() {
        for line in [
            "",
            "[1]",
            "7",
            r#"{"type":"message""#,
            r#"{"type":"mess"#,
            r#"{"type" "message"}"#,
            r#"{"type":}"#,
            r#"{"type":"a"}{"type":"b"}"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\u00g0"}"#,
            r#"{1:2}"#,
        ] {
            assert_eq!(walked(line, 3), None, "{line}");
        }
    }

    #[test]
    fn deep_nesting_and_long_names_cost_nothing() {
        let deep = format!(r#"{{"x":{}1{},"id":"{}"}}"#, "[".repeat(100_000), "]".repeat(100_000), "i".repeat(10_000));
        let (who, texts) = walked(&deep, 4096).unwrap();
        assert_eq!((who.len(), texts.len()), (NAME + 2, 0));
    }
}
