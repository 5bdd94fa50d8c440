//! Settings that the screen follows.

use serde_json::Value;

use super::notify::NotifySettings;
use crate::store::settings::Settings;

/// What two escapes do in an empty editor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DoubleEscape {
    /// Open the tree.
    #[default]
    Tree,
    /// Choose a message to fork before.
    Fork,
    /// Nothing.
    None,
}

/// What stays on the terminal behind a screen that took all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExitOutput {
    /// The conversation.
    #[default]
    Transcript,
    /// How to resume only.
    ResumeHint,
}

/// When the place in the conversation is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scrollbar {
    /// Away from the end.
    #[default]
    Auto,
    /// Whenever there is more than is seen.
    Always,
    /// Never.
    Hidden,
}

/// How much is shown at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// Hints, and what was loaded.
    #[default]
    Full,
    /// Hints.
    Short,
    /// Nothing.
    Hidden,
}

/// See the module. Names and defaults are those of the settings.
#[derive(Clone, Debug, PartialEq)]
pub struct ScreenSettings {
    /// All of them, as they are in force.
    pub all: Value,
    /// `hideThinkingBlock`.
    pub hide_thinking: bool,
    /// `showCacheMissNotices`.
    pub tells_cache_misses: bool,
    /// `quietStartup`.
    pub header: Header,
    /// `doubleEscapeAction`.
    pub double_escape: DoubleEscape,
    /// `fullscreenExitOutput`.
    pub exit_output: ExitOutput,
    /// `fullscreenScrollbar`.
    pub scrollbar: Scrollbar,
    /// `theme`.
    pub theme: String,
    /// `editorPaddingX`, columns.
    pub editor_padding: u16,
    /// `outputPad`, columns.
    pub output_pad: u16,
    /// `autocompleteMaxVisible`, rows.
    pub menu_rows: usize,
    /// `markdown.codeBlockIndent`.
    pub code_indent: String,
    /// `externalEditor`.
    pub external_editor: Option<String>,
    /// `fullscreenWheelScrollLines`; `auto` is 3.
    pub wheel_lines: usize,
    /// `fullscreenCopyOnSelect`.
    pub copy_on_select: bool,
    /// `terminal.showTerminalProgress`.
    pub shows_progress: bool,
    /// `terminal.notifications` and what goes with it.
    pub notify: NotifySettings,
    /// `editorMode` is `vim`.
    pub vim: bool,
    /// `terminal.imageWidthCells`; 0 where `terminal.showImages` is off.
    pub picture_columns: u16,
}

impl ScreenSettings {
    /// Those of settings.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        use crate::store::settings::values::QuietStartup;
        let small = |path: &[&str], range, default| u16::try_from(settings.clamped(path, range, default)).unwrap_or(0);
        Self {
            hide_thinking: settings.hide_thinking(),
            tells_cache_misses: settings.flag(&["showCacheMissNotices"], false),
            header: match settings.quiet_startup() {
                QuietStartup::No => Header::Full,
                QuietStartup::Header => Header::Short,
                QuietStartup::Yes => Header::Hidden,
            },
            double_escape: match settings.word(&["doubleEscapeAction"], &["tree", "fork", "none"]) {
                "fork" => DoubleEscape::Fork,
                "none" => DoubleEscape::None,
                _ => DoubleEscape::Tree,
            },
            exit_output: match settings.word(&["fullscreenExitOutput"], &["transcript", "resume-hint"]) {
                "resume-hint" => ExitOutput::ResumeHint,
                _ => ExitOutput::Transcript,
            },
            scrollbar: match settings.word(&["fullscreenScrollbar"], &["auto", "always", "hidden"]) {
                "always" => Scrollbar::Always,
                "hidden" => Scrollbar::Hidden,
                _ => Scrollbar::Auto,
            },
            theme: settings.text(&["theme"]).unwrap_or("system").to_owned(),
            editor_padding: small(&["editorPaddingX"], 0..=3, 0),
            output_pad: small(&["outputPad"], 0..=1, 1),
            menu_rows: usize::from(small(&["autocompleteMaxVisible"], 3..=20, 5)),
            code_indent: settings.text(&["markdown", "codeBlockIndent"]).unwrap_or("  ").to_owned(),
            external_editor: settings.text(&["externalEditor"]).map(str::to_owned),
            wheel_lines: usize::from(small(&["fullscreenWheelScrollLines"], 1..=100, 3)),
            copy_on_select: settings.flag(&["fullscreenCopyOnSelect"], true),
            shows_progress: settings.flag(&["terminal", "showTerminalProgress"], false),
            notify: NotifySettings::of(settings),
            picture_columns: match settings.flag(&["terminal", "showImages"], true) {
                true => small(&["terminal", "imageWidthCells"], 1..=1000, 60),
                false => 0,
            },
            vim: settings.text(&["editorMode"]) == Some("vim"),
            all: settings.effective(),
        }
    }

    /// Those of the values in force, as an agent knows them.
    #[must_use]
    pub fn from_value(values: &Value) -> Self {
        Self::of(&Settings::from_value(values.as_object().cloned().unwrap_or_default()))
    }
}
