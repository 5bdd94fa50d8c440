//! What becomes of pasted text.

use super::Fragment;

/// A paste of more lines is shown as a marker.
const MAX_LINES: usize = 10;
/// A paste of more characters is shown as a marker.
const MAX_CHARS: usize = 1000;
/// What a pasted tab becomes.
const TAB: &str = "    ";

/// `text` without control characters: line ends are newlines; tabs become `tab`.
fn cleaned(text: &str, tab: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                characters.next_if_eq(&'\n');
                out.push('\n');
            }
            '\n' => out.push('\n'),
            '\t' => out.push_str(tab),
            character if character.is_control() => {}
            character => out.push(character),
        }
    }
    out
}

/// `text` as it may be in the editor: with newlines and tabs, without other control characters.
pub fn plain(text: &str) -> String {
    cleaned(text, "\t")
}

/// Pasted text as it is inserted: itself, or the marker of block `number` when it is long. `before` is the character
/// before the caret: a path does not stick to a word.
pub fn pasted(text: &str, number: usize, before: Option<char>) -> Fragment {
    let mut text = cleaned(text, TAB);
    let is_path = text.starts_with(['/', '~', '.']);
    if is_path && before.is_some_and(|character| character.is_alphanumeric() || character == '_') {
        text.insert(0, ' ');
    }
    match marker(&text, number) {
        Some(marker) => Fragment::block(marker, text),
        None => Fragment::from(text.as_str()),
    }
}

/// What stands for a long text.
fn marker(text: &str, number: usize) -> Option<String> {
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
    if lines > MAX_LINES {
        return Some(format!("[paste #{number} +{lines} lines]"));
    }
    let characters = text.chars().count();
    (characters > MAX_CHARS).then(|| format!("[paste #{number} {characters} chars]"))
}
