//! Tests of completion, by what is completed.

mod commands;
mod files;
mod fuzzy;
mod menu;
mod paths;
mod triggers;

use super::Menu;

/// The labels of a menu.
fn labels(menu: Option<&Menu>) -> Vec<&str> {
    menu.map(|menu| menu.items().iter().map(|item| &*item.label).collect()).unwrap_or_default()
}

/// What its items write.
fn inserts(menu: Option<&Menu>) -> Vec<&str> {
    menu.map(|menu| menu.items().iter().map(|item| &*item.insert).collect()).unwrap_or_default()
}

/// A line with its caret as `|`.
fn with_caret(text: &str) -> (String, usize) {
    (text.replacen('|', "", 1), text.find('|').unwrap())
}
