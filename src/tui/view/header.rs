//! The start page: what this is, which keys matter, what was loaded, and what is wrong.

use std::path::PathBuf;

use ratatui::style::Modifier;

use super::numbers::counted;
use crate::tui::{
    keys::{Action, Keymap},
    start_page::StartPage,
    surroundings::Surroundings,
    text::{Hang, StyledLine, StyledSpan, one_line, plain, wrap},
    theme::{Theme, ThemeColor},
};

/// Keys that a beginner needs, and in few words what they do.
const SHORT_HINTS: [(Action, &str); 3] =
    [(Action::Interrupt, "stop"), (Action::Clear, "clear, twice quits"), (Action::ExpandTools, "more")];

/// What can be typed, and in few words what it does.
const TYPED_HINTS: [(&str, &str); 2] = [("/", "commands"), ("!", "shell")];

/// Keys of the long list.
const LONG_HINTS: [Action; 14] = [
    Action::Interrupt,
    Action::Clear,
    Action::Exit,
    Action::Suspend,
    Action::NewLine,
    Action::FollowUp,
    Action::Dequeue,
    Action::SelectModel,
    Action::CycleThinking,
    Action::ToggleThinking,
    Action::ExpandTools,
    Action::ExternalEditor,
    Action::CopyMessage,
    Action::PasteImage,
];

/// What can be typed, for the long list.
const LONG_TYPED: [(&str, &str); 5] = [
    ("/", "Commands; /help lists them"),
    ("@", "Name a file"),
    ("!", "Run a shell command and show it to the model"),
    ("!!", "Run a shell command without showing it to the model"),
    ("/hotkeys", "All keys"),
];

/// What the start page is drawn from.
pub struct StartView<'m> {
    /// Keys.
    pub keymap: &'m Keymap,
    /// Version, folders, and what went wrong before the screen came up.
    pub surroundings: &'m Surroundings,
    /// What was loaded; none is listed when it is left out.
    pub page: Option<&'m StartPage>,
    /// A model is selected.
    pub has_model: bool,
    /// All of it is shown.
    pub expanded: bool,
}

impl StartView<'_> {
    /// The lines, none wider than `width`.
    #[must_use]
    pub fn lines(&self, width: usize, theme: &Theme) -> Vec<StyledLine> {
        let room = width.saturating_sub(1).max(1);
        let dim = theme.fg(ThemeColor::Dim);
        let mut title = StyledLine::of("Troupe", theme.fg(ThemeColor::Accent).add_modifier(Modifier::BOLD));
        title.push(format!(" {}", self.surroundings.version), dim);
        let mut lines = vec![title];
        if self.expanded {
            lines.push(StyledLine::default());
            lines.extend(self.long_hints().into_iter().map(|(keys, does)| row(&keys, &does, theme)));
        } else {
            lines.push(StyledLine::of(self.short_hints(), dim));
        }
        if let Some(page) = self.page {
            if self.expanded {
                let listed = self.listed(page);
                if !listed.is_empty() {
                    lines.push(StyledLine::default());
                }
                lines.extend(listed.iter().map(|(kind, names)| row(kind, names, theme)));
            } else if let Some(summary) = summary(page) {
                lines.push(StyledLine::of(summary, dim));
            }
        }
        if !self.has_model {
            let text = "There is no model yet: /login gets one.";
            lines.push(StyledLine::of(text, theme.fg(ThemeColor::Warning)));
        }
        let mut lines: Vec<_> = lines.iter().flat_map(|line| wrap(line, room, &Hang::indent(indent(line)))).collect();
        let warning = theme.fg(ThemeColor::Warning);
        lines.extend(self.surroundings.notices.iter().flat_map(|notice| plain(notice, room, warning)));
        let margin = |mut line: StyledLine| {
            if width > 1 && !line.spans.is_empty() {
                line.spans.insert(0, StyledSpan::new(" ", dim));
            }
            line
        };
        std::iter::once(StyledLine::default()).chain(lines.into_iter().map(margin)).collect()
    }

    fn key(&self, action: Action) -> Option<String> {
        self.keymap.hint(action)
    }

    fn short_hints(&self) -> String {
        let keys = SHORT_HINTS.iter().filter_map(|(action, does)| Some(format!("{} {does}", self.key(*action)?)));
        let typed = TYPED_HINTS.iter().map(|(text, does)| format!("{text} {does}"));
        typed.chain(keys).collect::<Vec<_>>().join(" · ")
    }

    fn long_hints(&self) -> Vec<(String, String)> {
        let keys = LONG_HINTS.iter().filter_map(|action| Some((self.key(*action)?, action.description().to_owned())));
        keys.chain(LONG_TYPED.iter().map(|(text, does)| ((*text).to_owned(), (*does).to_owned()))).collect()
    }

    /// What was loaded, by kind.
    fn listed(&self, page: &StartPage) -> Vec<(&'static str, String)> {
        let path = |path: &PathBuf| self.surroundings.short(path);
        let names = |of: &[(String, PathBuf)]| of.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>().join(", ");
        let listing = &page.listing;
        let kinds = [
            ("context", listing.context_files.iter().map(path).collect::<Vec<_>>().join(", ")),
            ("skills", names(&listing.skills)),
            ("templates", names(&listing.templates)),
            ("extensions", page.extensions.join(", ")),
            ("themes", page.themes.join(", ")),
        ];
        kinds.into_iter().filter(|(_, names)| !names.is_empty()).collect()
    }
}

/// Columns of the first column.
const KEYS: usize = 14;

/// What the following rows of a line begin with.
fn indent(line: &StyledLine) -> usize {
    if line.spans.len() == 2 && line.spans[0].text.len() == KEYS { KEYS } else { 0 }
}

/// A name and what belongs to it, in two columns.
fn row(name: &str, text: &str, theme: &Theme) -> StyledLine {
    let mut line = StyledLine::of(format!("{:KEYS$}", one_line(name)), theme.fg(ThemeColor::Muted));
    line.push(one_line(text), theme.fg(ThemeColor::Dim));
    line
}

/// What was loaded in one line; none when nothing was.
fn summary(page: &StartPage) -> Option<String> {
    let mut parts = Vec::new();
    for file in &page.listing.context_files {
        let name = file.file_name().map(|name| one_line(&name.to_string_lossy())).unwrap_or_default();
        if !parts.contains(&name) {
            parts.push(name);
        }
    }
    for (count, one, several) in [
        (page.listing.skills.len(), "skill", "skills"),
        (page.listing.templates.len(), "prompt template", "prompt templates"),
        (page.extensions.len(), "extension", "extensions"),
        (page.themes.len(), "theme", "themes"),
    ] {
        if count > 0 {
            parts.push(counted(count, one, several));
        }
    }
    (!parts.is_empty()).then(|| format!("Loaded: {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        resources::listing::Listing,
        tui::testing::{surroundings, text_of},
    };

    fn page() -> StartPage {
        let skill = |name: &str| (name.to_owned(), PathBuf::from("/opt/me/.troupe/skills").join(name));
        StartPage {
            listing: Listing {
                context_files: vec!["/opt/me/.troupe/AGENTS.md".into(), "/opt/me/work/AGENTS.md".into()],
                skills: vec![skill("review"), skill("release notes")],
                templates: vec![("fix".to_owned(), "/x/fix.md".into())],
                warnings: Vec::new(),
            },
            extensions: Vec::new(),
            themes: vec!["night".to_owned()],
        }
    }

    fn drawn(width: usize, expanded: bool, notices: &[&str]) -> String {
        let mut surroundings = surroundings();
        surroundings.notices = notices.iter().map(|notice| (*notice).to_owned()).collect();
        let (keymap, page) = (Keymap::default(), page());
        let view = StartView {
            keymap: &keymap,
            surroundings: &surroundings,
            page: Some(&page),
            has_model: notices.is_empty(),
            expanded,
        };
        let lines = view.lines(width, &Theme::plain());
        assert!(lines.iter().all(|line| line.width() <= width), "{width}");
        text_of(&lines)
    }

    #[test]
    fn the_start_page_in_three_widths() {
        insta::assert_snapshot!(drawn(40, false, &["settings.json:1:3: expected a key"]), @r#"

        Troupe 1.2.3
        / commands · ! shell · escape stop ·
        ctrl+c clear, twice quits · ctrl+o more
        Loaded: AGENTS.md, 2 skills, 1 prompt
        template, 1 theme
        There is no model yet: /login gets one.
        settings.json:1:3: expected a key
        "#);
        insta::assert_snapshot!(drawn(80, false, &[]), @r#"

        Troupe 1.2.3
        / commands · ! shell · escape stop · ctrl+c clear, twice quits · ctrl+o more
        Loaded: AGENTS.md, 2 skills, 1 prompt template, 1 theme
        "#);
        insta::assert_snapshot!(drawn(80, true, &[]), @r#"

        Troupe 1.2.3

        escape        Stop what is running
        ctrl+c        Clear the editor; twice quits
        ctrl+d        Quit when the editor is empty
        ctrl+z        Suspend to the shell
        shift+enter   Begin a new line
        alt+enter     Send after the current run
        alt+up        Take queued messages back into the editor
        ctrl+l        Choose a model
        shift+tab     Next thinking level
        ctrl+t        Show or hide thinking
        ctrl+o        Show tools in full or short
        ctrl+g        Edit in $EDITOR
        ctrl+x        Copy the last answer
        ctrl+v        Paste an image or text from the clipboard
        /             Commands; /help lists them
        @             Name a file
        !             Run a shell command and show it to the model
        !!            Run a shell command without showing it to the model
        /hotkeys      All keys

        context       /opt/me/.troupe/AGENTS.md, /opt/me/work/AGENTS.md
        skills        review, release notes
        templates     fix
        themes        night
        "#);
        insta::assert_snapshot!(drawn(200, false, &[]), @r#"

        Troupe 1.2.3
        / commands · ! shell · escape stop · ctrl+c clear, twice quits · ctrl+o more
        Loaded: AGENTS.md, 2 skills, 1 prompt template, 1 theme
        "#);
        for width in 1..80 {
            drawn(width, true, &["wide 日本 notice"]);
        }
    }

    #[test]
    fn fc_064_names_that_hold_commands_of_terminals_are_shown_as_text() {
        let evil = "x\u{1b}]0;title\u{7}\ny\u{202e}";
        let page = StartPage {
            listing: Listing {
                context_files: vec![evil.into()],
                skills: vec![(evil.to_owned(), PathBuf::new())],
                ..Listing::default()
            },
            extensions: vec![evil.to_owned()],
            themes: vec![evil.to_owned()],
        };
        let mut surroundings = surroundings();
        surroundings.notices = vec![evil.to_owned()];
        for expanded in [false, true] {
            let keymap = Keymap::default();
            let view = StartView {
                keymap: &keymap,
                surroundings: &surroundings,
                page: Some(&page),
                has_model: true,
                expanded,
            };
            for line in view.lines(60, &Theme::plain()) {
                assert!(!line.text().chars().any(|c| c.is_control() || c == '\u{202e}'), "{:?}", line.text());
            }
        }
    }
}
