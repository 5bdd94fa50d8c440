//! What stands for colours where there are none.

use ratatui::style::Modifier;

use super::ThemeColor;

/// The attributes that say what a ground would say.
pub(super) fn of_ground(color: ThemeColor) -> Modifier {
    match color {
        ThemeColor::SelectedBg | ThemeColor::SearchMatchBg => Modifier::REVERSED,
        // A prompt among answers.
        ThemeColor::UserMessageBg => Modifier::BOLD,
        _ => Modifier::empty(),
    }
}

/// The attributes that say what a text's colour would say. Most colours only please the eye; these carry a meaning.
pub(super) fn of(color: ThemeColor) -> Modifier {
    match color {
        ThemeColor::Accent | ThemeColor::ToolTitle | ThemeColor::ToolDiffAdded | ThemeColor::MdHeading => {
            Modifier::BOLD
        }
        ThemeColor::Error | ThemeColor::Warning => Modifier::BOLD,
        ThemeColor::Muted
        | ThemeColor::Dim
        | ThemeColor::ToolDiffContext
        | ThemeColor::ThinkingText
        | ThemeColor::MdLinkUrl
        | ThemeColor::SyntaxComment => Modifier::DIM,
        _ => Modifier::empty(),
    }
}
