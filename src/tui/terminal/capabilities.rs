//! What the terminal can do: what its environment says, what the user's settings say, and what it says itself.

use ratatui::style::Color;

use super::Report;

/// Colours that a terminal can show. Each can what those before it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColorLevel {
    /// None at all.
    None,
    /// The 16 of old.
    Ansi,
    /// The 256 of xterm.
    Indexed,
    /// Red, green and blue in 256 steps each.
    True,
}

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
        let images = if is_inside { None } else { program.images() };
        Self {
            colors: colors(&term, program, &variable, preferences.true_color),
            hyperlinks: preferences.hyperlinks.unwrap_or(program.has_links()),
            images: preferences.images.unwrap_or(images),
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
        return ColorLevel::True;
    }
    // Whoever switches true colour off has the 256 left.
    if term.contains("256color") || said || is_able || program == Program::AppleTerminal {
        return ColorLevel::Indexed;
    }
    ColorLevel::Ansi
}

/// The colour, or the nearest one that can be shown.
#[must_use]
pub fn lower(color: Color, level: ColorLevel) -> Color {
    match (level, color) {
        (_, Color::Reset) | (ColorLevel::True, _) => color,
        (ColorLevel::None, _) => Color::Reset,
        (ColorLevel::Indexed, Color::Rgb(red, green, blue)) => Color::Indexed(nearest_indexed([red, green, blue])),
        (ColorLevel::Ansi, Color::Rgb(red, green, blue)) => nearest_ansi([red, green, blue]),
        (ColorLevel::Ansi, Color::Indexed(index @ 16..)) => nearest_ansi(rgb_of(index)),
        _ => color,
    }
}

/// Steps of a channel in the cube of 6 × 6 × 6 colours (16 to 231).
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The 16 colours as xterm has them.
const ANSI: [[u8; 3]; 16] = [
    [0, 0, 0],
    [205, 0, 0],
    [0, 205, 0],
    [205, 205, 0],
    [0, 0, 238],
    [205, 0, 205],
    [0, 205, 205],
    [229, 229, 229],
    [127, 127, 127],
    [255, 0, 0],
    [0, 255, 0],
    [255, 255, 0],
    [92, 92, 255],
    [255, 0, 255],
    [0, 255, 255],
    [255, 255, 255],
];

/// Red, green and blue of one of the 256 colours.
fn rgb_of(index: u8) -> [u8; 3] {
    match index {
        0..16 => ANSI[usize::from(index)],
        16..232 => {
            let cube = usize::from(index - 16);
            [STEPS[cube / 36], STEPS[cube / 6 % 6], STEPS[cube % 6]]
        }
        232.. => [8 + 10 * (index - 232); 3],
    }
}

fn distance(one: [u8; 3], other: [u8; 3]) -> u32 {
    // The eye tells greens apart best, and blues least.
    let weights = [3, 4, 2];
    let squares = one.iter().zip(other).zip(weights).map(|((a, b), weight)| {
        let difference = u32::from(a.abs_diff(b));
        weight * difference * difference
    });
    squares.sum()
}

fn nearest_indexed(color: [u8; 3]) -> u8 {
    let step = |channel: u8| (0_u8..6).min_by_key(|at| STEPS[usize::from(*at)].abs_diff(channel)).unwrap_or_default();
    let [red, green, blue] = color.map(step);
    let cube = 16 + 36 * red + 6 * green + blue;
    let mean = color.iter().map(|channel| u32::from(*channel)).sum::<u32>() / 3;
    let gray = 232 + u8::try_from(mean.saturating_sub(3) / 10).unwrap_or(23).min(23);
    if distance(rgb_of(gray), color) < distance(rgb_of(cube), color) { gray } else { cube }
}

fn nearest_ansi(color: [u8; 3]) -> Color {
    let nearest = (0_u8..16).min_by_key(|index| distance(ANSI[usize::from(*index)], color));
    Color::Indexed(nearest.unwrap_or_default())
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
        use ColorLevel::{Ansi, Indexed, None as NoColor, True};
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

    #[test]
    fn colours_become_the_nearest_that_can_be_shown() {
        use ColorLevel::{Ansi, Indexed, None as NoColor, True};
        for (color, level, shown) in [
            (Color::Rgb(1, 2, 3), True, Color::Rgb(1, 2, 3)),
            (Color::Rgb(0, 0, 0), Indexed, Color::Indexed(16)),
            (Color::Rgb(255, 255, 255), Indexed, Color::Indexed(231)),
            (Color::Rgb(95, 135, 175), Indexed, Color::Indexed(67)),
            (Color::Rgb(128, 128, 128), Indexed, Color::Indexed(244)),
            (Color::Rgb(250, 5, 5), Ansi, Color::Indexed(9)),
            (Color::Rgb(10, 10, 10), Ansi, Color::Indexed(0)),
            (Color::Indexed(196), Ansi, Color::Indexed(9)),
            (Color::Indexed(196), Indexed, Color::Indexed(196)),
            (Color::Indexed(3), Ansi, Color::Indexed(3)),
            (Color::Red, Ansi, Color::Red),
            (Color::Red, NoColor, Color::Reset),
            (Color::Rgb(1, 2, 3), NoColor, Color::Reset),
            (Color::Reset, Ansi, Color::Reset),
        ] {
            assert_eq!(lower(color, level), shown, "{color:?} {level:?}");
        }
    }
}
