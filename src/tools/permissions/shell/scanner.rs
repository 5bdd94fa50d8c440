//! Characters of a script. Outside of single quotes, comments and quoted here-documents a backslash at the end of a line
//! joins it with the next one, wherever that is: `gi\` and `t` on the next line are the command `git`.

/// A place in a script.
pub(super) struct Scanner {
    chars: Vec<char>,
    at: usize,
}

impl Scanner {
    pub fn new(text: &str) -> Self {
        Self { chars: text.chars().collect(), at: 0 }
    }

    /// The next character as it stands.
    pub fn raw(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    /// Takes the next character as it stands.
    pub fn next_raw(&mut self) -> Option<char> {
        let c = self.raw()?;
        self.at += 1;
        Some(c)
    }

    /// The next character, with lines joined.
    pub fn peek(&mut self) -> Option<char> {
        self.at = self.after_continuations(self.at);
        self.raw()
    }

    /// Takes the next character, with lines joined.
    pub fn next(&mut self) -> Option<char> {
        self.peek()?;
        self.next_raw()
    }

    /// Takes the text if it comes next.
    pub fn eat(&mut self, text: &str) -> bool {
        match self.end_of(text) {
            Some(end) => {
                self.at = end;
                true
            }
            None => false,
        }
    }

    /// Whether the text comes next.
    pub fn looking_at(&self, text: &str) -> bool {
        self.end_of(text).is_some()
    }

    fn end_of(&self, text: &str) -> Option<usize> {
        let mut at = self.at;
        for wanted in text.chars() {
            at = self.after_continuations(at);
            if self.chars.get(at) != Some(&wanted) {
                return None;
            }
            at += 1;
        }
        Some(at)
    }

    fn after_continuations(&self, mut at: usize) -> usize {
        while self.chars.get(at) == Some(&'\\') && self.chars.get(at + 1) == Some(&'\n') {
            at += 2;
        }
        at
    }

    /// Where we are.
    pub fn place(&self) -> usize {
        self.at
    }

    /// The text from a place to here, with lines joined.
    pub fn since(&self, place: usize) -> String {
        let text: String = self.chars[place..self.at].iter().collect();
        text.replace("\\\n", "")
    }

    /// The rest of the line as it stands, without its end; none at the end of the script.
    pub fn raw_line(&mut self) -> Option<String> {
        self.raw()?;
        let mut line = String::new();
        while let Some(c) = self.next_raw() {
            if c == '\n' {
                break;
            }
            line.push(c);
        }
        Some(line)
    }
}
