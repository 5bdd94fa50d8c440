//! What the terminal can do: what its environment says, what the user's settings say, and what it says itself.

use super::Report;
use crate::tui::theme::ColorLevel;

/// How a terminal shows pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// By kitty's protocol.
    Kitty,
    /// By iTerm2's.
    Iterm2,
}

/// What the user's settings say of the terminal: none decides by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    /// Setting `terminal.trueColor`.
    pub true_color: Option<bool>,
    /// Setting `terminal.hyperlinks`.
    pub hyperlinks: Option<bool>,
    /// Setting `terminal.images`; an inner none switches them off.
    pub images: Option<Option<Images>>,
}

/// What the terminal can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Colours.
    pub colors: ColorLevel,
    /// Links (OSC 8).
    pub hyperlinks: bool,
    /// Pictures.
    pub images: Option<Images>,
    /// It shows what is between the two ends of a synchronised update (mode 2026) at once. True until it says no: those
    /// that do not know it are not disturbed by it.
    pub synchronized: bool,
    /// It is asked questions and told of modes that came after the VT220. False for those that are disturbed by them.
    pub modern: bool,
    /// It lays out anew what it shows when it becomes narrower.
    pub reflows: bool,
    /// tmux stands between, which passes some sequences on only when they are wrapped.
    pub tmux: bool,
    /// The terminal is on another computer.
    pub ssh: bool,
}

impl Capabilities {
    /// What environment variables and settings say.
    #[must_use]
    pub fn detect(variable: impl Fn(&str) -> Option<String>, preferences: &Preferences) -> Self {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let term = variable("TERM").unwrap_or_default();
        let tmux = variable("TMUX").is_some() || term.starts_with("tmux");
        let is_inside = tmux || variable("STY").is_some() || term.starts_with("screen");
        // Inside tmux and screen, what the outer terminal left in the environment says nothing.
        let program = if is_inside { Program::Other } else { program(&term, &variable) };
        // tmux and screen know nothing of pictures, whatever the settings say of the terminal around them.
        let images = if is_inside { None } else { preferences.images.unwrap_or(program.images()) };
        Self {
            colors: colors(&term, program, &variable, preferences.true_color),
            hyperlinks: preferences.hyperlinks.unwrap_or(program.has_links()),
            images,
            synchronized: true,
            modern: !matches!(&*term, "" | "linux" | "cons25" | "vt52" | "vt100" | "vt102" | "vt220" | "ansi"),
            // tmux does it too, whatever the terminal around it does.
            reflows: tmux || program != Program::Other,
            tmux,
            ssh: ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"].iter().any(|name| variable(name).is_some()),
        }
    }

    /// Takes in what the terminal said; returns whether that changed something.
    pub fn learn(&mut self, report: &Report) -> bool {
        match report {
            Report::Mode(2026, is_known) => std::mem::replace(&mut self.synchronized, *is_known) != *is_known,
            _ => false,
        }
    }
}

/// Terminals that say who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    Kitty,
    Ghostty,
    WezTerm,
    Iterm2,
    /// Others with all colours and links.
    Able,
    AppleTerminal,
    Other,
}

impl Program {
    fn has_links(self) -> bool {
        !matches!(self, Self::AppleTerminal | Self::Other)
    }

    fn images(self) -> Option<Images> {
        match self {
            Self::Kitty | Self::Ghostty | Self::WezTerm => Some(Images::Kitty),
            Self::Iterm2 => Some(Images::Iterm2),
            _ => None,
        }
    }
}

fn program(term: &str, variable: &impl Fn(&str) -> Option<String>) -> Program {
    let is_set = |name: &str| variable(name).is_some();
    match variable("TERM_PROGRAM").as_deref() {
        Some("iTerm.app") => return Program::Iterm2,
        Some("WezTerm") => return Program::WezTerm,
        Some("ghostty") => return Program::Ghostty,
        Some("vscode" | "Hyper" | "WarpTerminal" | "Tabby" | "rio") => return Program::Able,
        Some("Apple_Terminal") => return Program::AppleTerminal,
        _ => {}
    }
    match term {
        "xterm-kitty" => Program::Kitty,
        "xterm-ghostty" | "ghostty" => Program::Ghostty,
        "wezterm" => Program::WezTerm,
        "foot" | "foot-extra" | "alacritty" | "contour" | "contour-latest" | "rio" => Program::Able,
        _ if is_set("KITTY_WINDOW_ID") => Program::Kitty,
        _ if is_set("GHOSTTY_RESOURCES_DIR") => Program::Ghostty,
        _ if is_set("WEZTERM_PANE") => Program::WezTerm,
        _ if is_set("WT_SESSION") || is_set("KONSOLE_VERSION") || is_set("ALACRITTY_WINDOW_ID") => Program::Able,
        // Terminals on GNOME's library know links from 0.50 on.
        _ if variable("VTE_VERSION").and_then(|version| version.parse::<u32>().ok()).is_some_and(|it| it >= 5000) => {
            Program::Able
        }
        _ => Program::Other,
    }
}

fn colors(
    term: &str,
    program: Program,
    variable: &impl Fn(&str) -> Option<String>,
    true_color: Option<bool>,
) -> ColorLevel {
    if variable("NO_COLOR").is_some() || matches!(term, "dumb" | "vt52" | "vt100" | "vt102" | "vt220") {
        return ColorLevel::None;
    }
    let said = variable("COLORTERM").is_some_and(|value| matches!(&*value, "truecolor" | "24bit"));
    let is_able = !matches!(program, Program::AppleTerminal | Program::Other);
    if true_color.unwrap_or(said || is_able || term.ends_with("-direct")) {
        return ColorLevel::TrueColor;
    }
    // Whoever switches true colour off has the 256 left.
    if term.contains("256color") || said || is_able || program == Program::AppleTerminal {
        return ColorLevel::Indexed;
    }
    ColorLevel::Ansi
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(variables: &[(&str, &str)], preferences: &Preferences) -> Capabilities {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
        Capabilities::detect(variable, preferences)
    }

    #[test]
    fn colours_are_those_that_the_environment_and_the_settings_say() {
        use ColorLevel::{Ansi, Indexed, None as NoColor, TrueColor as True};
        for (variables, true_color, level) in [
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")][..], None, True),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], Some(false), Indexed),
            (&[("TERM", "xterm-256color")], None, Indexed),
            (&[("TERM", "xterm-256color")], Some(true), True),
            (&[("TERM", "xterm")], None, Ansi),
            (&[("TERM", "linux")], None, Ansi),
            (&[("TERM", "foo-unknown")], None, Ansi),
            (&[], None, Ansi),
            (&[("TERM", "xterm-kitty")], None, True),
            (&[("TERM", "xterm-direct")], None, True),
            (&[("TERM", "screen"), ("TERM_PROGRAM", "WezTerm"), ("STY", "1")], None, Ansi),
            (&[("TERM", "tmux-256color"), ("KITTY_WINDOW_ID", "1")], None, Indexed),
            (&[("TERM", "tmux-256color"), ("COLORTERM", "truecolor")], None, True),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")], None, Indexed),
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")], Some(true), NoColor),
            (&[("TERM", "xterm-256color"), ("NO_COLOR", "")], None, Indexed),
            (&[("TERM", "vt100")], None, NoColor),
        ] {
            let preferences = Preferences { true_color, ..Preferences::default() };
            assert_eq!(detect(variables, &preferences).colors, level, "{variables:?} {true_color:?}");
        }
    }

    #[test]
    fn links_and_pictures_are_used_where_they_are_known_or_wanted() {
        for (variables, links, images) in [
            (&[("TERM", "xterm-kitty")][..], true, Some(Images::Kitty)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], true, Some(Images::Iterm2)),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")], true, None),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "4800")], false, None),
            (&[("TERM", "tmux-256color"), ("TERM_PROGRAM", "iTerm.app")], false, None),
            (&[("TERM", "xterm-256color")], false, None),
        ] {
            let found = detect(variables, &Preferences::default());
            assert_eq!((found.hyperlinks, found.images), (links, images), "{variables:?}");
        }
        let wanted =
            Preferences { hyperlinks: Some(true), images: Some(Some(Images::Iterm2)), ..Preferences::default() };
        let found = detect(&[("TERM", "xterm")], &wanted);
        assert_eq!((found.hyperlinks, found.images), (true, Some(Images::Iterm2)));
        let unwanted = Preferences { hyperlinks: Some(false), images: Some(None), ..Preferences::default() };
        let found = detect(&[("TERM", "xterm-kitty")], &unwanted);
        assert_eq!((found.hyperlinks, found.images), (false, None));
    }

    #[test]
    fn old_terminals_are_asked_nothing() {
        for (term, modern) in [("linux", false), ("", false), ("xterm", true), ("foo-unknown", true)] {
            assert_eq!(detect(&[("TERM", term)], &Preferences::default()).modern, modern, "{term}");
        }
        let found = detect(&[("TMUX", "/tmp/x"), ("SSH_TTY", "/dev/pts/0")], &Preferences::default());
        assert!(found.tmux && found.ssh);
    }

    #[test]
    fn a_terminal_that_does_not_know_synchronised_updates_gets_none() {
        let mut found = detect(&[("TERM", "xterm")], &Preferences::default());
        assert!(!found.learn(&Report::Mode(2026, true)) && found.synchronized);
        assert!(found.learn(&Report::Mode(2026, false)) && !found.synchronized);
        assert!(!found.learn(&Report::KittyKeyboard(1)));
    }
}
