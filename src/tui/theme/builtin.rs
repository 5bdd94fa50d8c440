//! The themes that are always there. They are theme files like any other.

use super::Theme;

const DARK: &str = include_str!("builtin/dark.json");
const LIGHT: &str = include_str!("builtin/light.json");

impl Theme {
    /// For dark ground.
    #[must_use]
    pub fn dark() -> Self {
        Self::parse(DARK).unwrap_or_else(|_| Self::plain())
    }

    /// For light ground.
    #[must_use]
    pub fn light() -> Self {
        Self::parse(LIGHT).unwrap_or_else(|_| Self::plain())
    }
}
