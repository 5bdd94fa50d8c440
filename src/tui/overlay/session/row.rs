//! A row of the list of sessions as it is drawn.

use std::path::Path;

use super::{
    found::{Found, Row},
    is_open,
};
use crate::{
    protocol::time::{Millis, age},
    store::sessions::SessionInfo,
    tui::{
        overlay::{OverlayContext, panel::between},
        text::{StyledLine, one_line},
        theme::ThemeColor,
    },
};

/// Columns that a folder takes at most.
const FOLDER: usize = 24;

/// What rows look like.
pub struct RowLook<'r> {
    /// Columns.
    pub width: usize,
    /// Folders are shown: there are several.
    pub all_folders: bool,
    /// Files are shown.
    pub paths: bool,
    /// The time of day.
    pub now: Millis,
    /// Colours, the open session, the home.
    pub context: &'r OverlayContext<'r>,
}

/// The row.
pub fn line(found: &Found, row: Row, marked: bool, look: &RowLook<'_>) -> StyledLine {
    let theme = look.context.theme;
    let color = |color| theme.fg(color);
    let mut left = StyledLine::of(if marked { "→ " } else { "  " }, color(ThemeColor::Accent));
    let mut right = StyledLine::default();
    let name = if marked { ThemeColor::Accent } else { ThemeColor::Text };
    match row {
        Row::Heading => return StyledLine::of("Said in", color(ThemeColor::Muted)),
        Row::Session { at, depth } => {
            let session = &found.sessions[at];
            if depth > 0 {
                left.push(format!("{}└ ", "  ".repeat(depth.min(8) - 1)), color(ThemeColor::Dim));
            }
            if let Some(own) = &session.name {
                left.push(one_line(own), color(if marked { name } else { ThemeColor::Warning }));
                left.push(" — ", color(ThemeColor::Dim));
                left.push(words(&session.first_message), color(ThemeColor::Muted));
            } else {
                left.push(words(&session.first_message), color(name));
            }
            right = aside(session, found.gone.contains(&session.cwd), look);
        }
        Row::Said(at) => {
            let said = &found.said[at];
            if let Some(session) = found.session(&said.path) {
                left.push(words(session.title()), color(name));
                left.push(" — ", color(ThemeColor::Dim));
                right = aside(session, said.gone, look);
            }
            left.push(words(&said.snippet), color(ThemeColor::Muted));
        }
    }
    let line = between(&left, &right, look.width);
    if marked { line.filled(theme.bg(ThemeColor::SelectedBg)) } else { line }
}

/// What stands at the right: the folder, how much was said, when; or the file.
fn aside(session: &SessionInfo, gone: bool, look: &RowLook<'_>) -> StyledLine {
    let theme = look.context.theme;
    let mut line = StyledLine::default();
    let short = |path: &str| one_line(&look.context.surroundings.short(Path::new(path)));
    if is_open(&session.path, look.context) {
        line.push("open  ", theme.fg(ThemeColor::Success));
    }
    if look.paths {
        let file = session.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        line.push(one_line(&file), theme.fg(ThemeColor::Dim));
        return line;
    }
    if gone {
        line.push("folder is gone  ", theme.fg(ThemeColor::Warning));
    }
    if look.all_folders {
        let folder = short(&session.cwd);
        let from = folder.char_indices().rev().nth(FOLDER - 1).map_or(0, |(at, _)| at);
        let cut = if from > 0 { "…" } else { "" };
        line.push(format!("{cut}{}  ", &folder[from..]), theme.fg(ThemeColor::Muted));
    }
    let more = if session.partial { "+" } else { "" };
    let when = age(session.modified, look.now);
    line.push(format!("{}{more} msgs {when:>4}", session.message_count), theme.fg(ThemeColor::Dim));
    line
}

/// The words of a text on one line.
fn words(text: &str) -> String {
    one_line(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}
