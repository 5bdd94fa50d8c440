//! The terminal's title.

use super::{model::Model, text::one_line};

/// Characters at most: some terminals cut long titles in odd places, and taskbars show few.
const MAX: usize = 120;

/// The title: what an extension set, else `troupe - name - folder`, the name only when the session has one.
#[must_use]
pub fn title(model: &Model) -> String {
    match &model.title {
        Some(title) => safe(title),
        None => {
            let folder = model.facts.cwd.file_name().map(|name| name.to_string_lossy());
            of(model.facts.name().as_deref(), folder.as_deref().unwrap_or("/"))
        }
    }
}

fn of(name: Option<&str>, folder: &str) -> String {
    safe(&match name {
        Some(name) => format!("troupe - {name} - {folder}"),
        None => format!("troupe - {folder}"),
    })
}

fn safe(text: &str) -> String {
    one_line(text).chars().take(MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_names_session_and_folder_and_commands_nothing() {
        for (name, folder, expected) in [
            (None, "project", "troupe - project"),
            (Some("Blue Whale"), "project", "troupe - Blue Whale - project"),
            (Some("a\nb"), "x\u{1b}]0;y\u{7}", "troupe - a b - x<U+001B>]0;y<U+0007>"),
        ] {
            assert_eq!(of(name, folder), expected);
        }
        assert_eq!(of(Some(&"x".repeat(500)), "project").chars().count(), MAX);
    }
}
