use super::{super::contrast::contrast, *};

fn rgb(color: Color) -> Rgb {
    match color {
        Color::Rgb(r, g, b) => [r, g, b],
        other => panic!("{other:?} is not given as red, green and blue"),
    }
}

#[test]
fn the_appearance_is_what_the_terminal_reports_prefers_or_inherits() {
    use Appearance::{Dark, Light};
    let with = |background, prefers_dark| TerminalColors { background, prefers_dark, ..TerminalColors::default() };
    for (background, prefers, variable, wanted) in [
        (None, None, None, Dark),
        (Some([255; 3]), Some(true), Some("15;0"), Light),
        (Some([30; 3]), Some(false), None, Dark),
        (None, Some(false), Some("15;0"), Light),
        (None, None, Some("0;15"), Light),
        (None, None, Some("15;0"), Dark),
        (None, None, Some("0;default;7"), Light),
        (None, None, Some("nonsense"), Dark),
        (None, None, Some(""), Dark),
    ] {
        let found = with(background, prefers).appearance(variable);
        assert_eq!(found, wanted, "{background:?} {prefers:?} {variable:?}");
    }
}

#[test]
fn what_the_terminal_reports_is_made_readable() {
    use ThemeColor as C;
    let solarized = [[7, 54, 66], [220, 50, 47], [133, 153, 0], [181, 137, 0], [38, 139, 210], [211, 54, 130]];
    let mut palette = [None; 16];
    for (known, color) in palette.iter_mut().zip(solarized) {
        *known = Some(color);
    }
    for (background, foreground, palette) in [
        ([0, 43, 54], Some([131, 148, 150]), palette),
        ([253, 246, 227], Some([101, 123, 131]), palette),
        ([0; 3], None, [None; 16]),
        ([255; 3], None, [None; 16]),
        // Nothing is readable as it is.
        ([128; 3], Some([130; 3]), [Some([127; 3]); 16]),
    ] {
        let colors = TerminalColors { foreground, background: Some(background), palette, prefers_dark: None };
        let theme = Theme::system(&colors, colors.appearance(None));
        let grounds = [C::ToolPendingBg, C::ToolSuccessBg, C::ToolErrorBg, C::SelectedBg, C::UserMessageBg];
        let grounds = grounds.map(|ground| rgb(theme.color(ground)));
        // On a middle grey even black has no more contrast than this on a tinted ground.
        let least = if background == [128; 3] { 3.0 } else { READABLE };
        for text in [C::Text, C::Muted, C::Dim, C::Error, C::Success, C::Warning, C::Accent, C::ToolOutput] {
            for ground in grounds.iter().chain([&background]) {
                let found = contrast(rgb(theme.color(text)), *ground);
                assert!(found >= least, "{} on {ground:?} over {background:?}: {found:.2}", text.name());
            }
        }
    }
}

#[test]
fn a_silent_terminal_gets_the_names_of_its_colours() {
    let theme = Theme::system(&TerminalColors::default(), Appearance::Dark);
    assert_eq!(theme.color(ThemeColor::Error), Color::Red);
    assert_eq!(theme.color(ThemeColor::Text), Color::Reset);
    assert!(!theme.is_colorless());
    let selected = theme.bg(ThemeColor::SelectedBg);
    assert!(selected.add_modifier.contains(ratatui::style::Modifier::REVERSED), "a selection is seen on any ground");
}
