use ratatui::style::Modifier;

use super::*;

fn contrast(a: Color, b: Color) -> f64 {
    let [a, b] = [a, b].map(|color| match color {
        Color::Rgb(r, g, b) => [r, g, b],
        other => panic!("{other:?} is not given as red, green and blue"),
    });
    super::contrast::contrast(a, b)
}

#[test]
fn the_built_in_themes_are_readable() {
    use ThemeColor::*;
    let boxes = [ToolPendingBg, ToolSuccessBg, ToolErrorBg];
    for (theme, ground) in [(Theme::dark(), Color::Rgb(22, 24, 29)), (Theme::light(), Color::Rgb(255, 255, 255))] {
        assert!(!theme.is_colorless(), "{} is a valid theme", theme.name);
        let check = |text: ThemeColor, ground: Color, least: f64, on: &str| {
            let found = contrast(theme.color(text), ground);
            assert!(found >= least, "{}: {} on {on}: {found:.2}", theme.name, text.name());
        };
        let on = |text: ThemeColor, ground: ThemeColor, least| check(text, theme.color(ground), least, ground.name());
        for text in ThemeColor::ALL {
            let least = match text {
                SelectedBg | UserMessageBg | CustomMessageBg | ToolPendingBg | ToolSuccessBg | ToolErrorBg
                | SearchMatchBg | SearchMatchText => continue,
                // Lines and quiet marks: they need to be seen, not read.
                BorderMuted | ThinkingOff | ScrollbarTrack => 3.0,
                _ => 4.5,
            };
            check(*text, ground, least, "its ground");
        }
        for tool in boxes {
            for text in [ToolTitle, ToolOutput, Text, Error, Warning, Success, Accent, Muted] {
                on(text, tool, 4.5);
            }
            for text in [ToolDiffAdded, ToolDiffRemoved, ToolDiffContext, SyntaxString, SyntaxKeyword, SyntaxNumber] {
                on(text, tool, 4.5);
            }
            on(Dim, tool, 3.0);
            on(SyntaxComment, tool, 3.0);
        }
        on(UserMessageText, UserMessageBg, 4.5);
        on(CustomMessageText, CustomMessageBg, 4.5);
        on(CustomMessageLabel, CustomMessageBg, 4.5);
        on(SearchMatchText, SearchMatchBg, 4.5);
        for text in [Text, Accent, Muted] {
            on(text, SelectedBg, 4.5);
        }
    }
}

#[test]
fn without_colours_attributes_tell_apart() {
    let theme = Theme::dark().lowered(ColorLevel::None);
    assert!(theme.is_colorless());
    assert!(theme.bg(ThemeColor::SelectedBg).add_modifier.contains(Modifier::REVERSED));
    assert_ne!(theme.fg(ThemeColor::ToolDiffAdded), theme.fg(ThemeColor::ToolDiffRemoved));
    assert_ne!(theme.fg(ThemeColor::Error), theme.fg(ThemeColor::Text));
    let prompt = |theme: &Theme| theme.on(ThemeColor::UserMessageText, ThemeColor::UserMessageBg).add_modifier;
    assert!(prompt(&theme).contains(Modifier::BOLD));
    let silent = Theme::system(&TerminalColors::default(), Appearance::Dark);
    assert!(prompt(&silent).contains(Modifier::BOLD), "a terminal that does not say what its ground is");
    assert!(!prompt(&Theme::dark()).contains(Modifier::BOLD));
    assert!(!Theme::dark().is_colorless() && !Theme::dark().lowered(ColorLevel::Ansi).is_colorless());
}

#[test]
fn with_sixteen_colours_what_went_wrong_does_not_look_like_what_is_unimportant() {
    for theme in [Theme::dark(), Theme::light()] {
        let theme = theme.lowered(ColorLevel::Ansi);
        let of = [ThemeColor::Error, ThemeColor::Success, ThemeColor::Accent].map(|color| theme.color(color));
        for (at, color) in of.iter().enumerate() {
            assert!(![Color::Black, Color::DarkGray, Color::Gray, Color::White].contains(color), "{of:?}");
            assert!(!of[..at].contains(color), "{of:?}");
        }
    }
}
