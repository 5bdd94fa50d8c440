//! How sessions and times are told.

use std::path::Path;

use serde_json::{Value, json};

use crate::{protocol::time::iso, store::sessions::SessionInfo};

/// Characters of an id that are shown: of ours, the first thirteen are the millisecond in which it was made.
const ID: usize = 13;

/// Characters of an id that is not ours.
const FOREIGN_ID: usize = 64;

/// The beginning of an id that is enough to name its session.
pub fn short_id(id: &str) -> String {
    let is_ours = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if is_ours { id[..ID].to_owned() } else { one_line(id, FOREIGN_ID) }
}

/// A value as it stands, on one line: no text of a file may look like a line of ours.
pub fn on_one_line(value: &str) -> String {
    value.replace('\n', "\\n")
}

/// Text on one line, of at most `width` characters.
pub fn one_line(text: &str, width: usize) -> String {
    let mut line = String::new();
    for (at, word) in text.split_whitespace().enumerate() {
        if at > 0 {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > 4 * width {
            break;
        }
    }
    match line.char_indices().nth(width) {
        None => line,
        Some(_) => line.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// A folder, with `~` for the home.
pub fn folder(path: &str, home: Option<&Path>) -> String {
    match home.and_then(|home| Path::new(path).strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.to_owned(),
    }
}

/// What programs get of a session: pi's words.
pub fn for_programs(session: &SessionInfo) -> Value {
    let mut value = json!({
        "path": session.path.to_string_lossy(),
        "id": session.id,
        "cwd": session.cwd,
        "name": session.name,
        "parentSession": session.parent_session,
        "created": iso(session.created),
        "modified": iso(session.modified),
        "messageCount": session.message_count,
        "firstMessage": session.first_message,
    });
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
        if session.partial {
            fields.insert("partial".to_owned(), true.into());
        }
    }
    value
}

/// A number and its noun.
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_line_and_cut_with_a_mark() {
        assert_eq!(one_line(" fix\n\tthe  bug ", 20), "fix the bug");
        assert_eq!(one_line("fix the bug", 7), "fix th…");
        assert_eq!(one_line("ééééé", 5), "ééééé");
    }

    #[test]
    fn ids_and_folders_are_shortened_when_they_are_ours() {
        assert_eq!(short_id("019b3f2c-8a41-7222-8333-444455556666"), "019b3f2c-8a41");
        assert_eq!(short_id("my-own.id"), "my-own.id");
        assert_eq!(short_id("a\nb"), "a b");
        let home = Some(Path::new("/h/u"));
        for (path, text) in [("/h/u", "~"), ("/h/u/shop", "~/shop"), ("/h/user", "/h/user"), ("/srv", "/srv")] {
            assert_eq!(folder(path, home), text);
        }
    }
}
