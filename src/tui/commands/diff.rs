//! What has changed in the files.

use super::SlashCommand;
use crate::{
    protocol::event::NoticeLevel,
    resources::markup::highlight::diff::{DiffLine, kind_of},
    tui::{
        effect::Effect,
        model::Model,
        overlay::text_view::TextView,
        text::{Hang, StyledLine, drawable, fold, lines_of},
        theme::{Theme, ThemeColor},
        work::{Work, diff::DiffOf},
    },
};

/// See the module.
pub(super) const COMMANDS: &[SlashCommand] = &[SlashCommand {
    name: "diff",
    argument: "[session]",
    description: "Show what changed in the files: against git, or in this session",
    run: diff,
}];

fn diff(model: &mut Model, argument: &str) -> Vec<Effect> {
    let of = match argument {
        "" => DiffOf::WorkingTree,
        "session" => DiffOf::Session,
        _ => {
            let text =
                format!("/diff {argument}: expected nothing (what git sees) or session (what this session changed)");
            model.transcript.notice(NoticeLevel::Error, text);
            return Vec::new();
        }
    };
    model.flash("Comparing files...");
    vec![Effect::Work(Work::Diff(of))]
}

/// Shows a difference.
pub(super) fn show(model: &mut Model, of: DiffOf, text: &str) {
    model.flash = None;
    if text.is_empty() {
        let text = match of {
            DiffOf::WorkingTree => "Nothing has changed since the last commit.",
            DiffOf::Session => "This session has changed no file.",
        };
        model.transcript.notice(NoticeLevel::Info, text);
        return;
    }
    let title = match of {
        DiffOf::WorkingTree => "Changes since the last commit",
        DiffOf::Session => "Changes of this session",
    };
    let text = text.to_owned();
    model.overlays.push(Box::new(TextView::new(title, move |width, theme| rows(&text, width, theme))));
}

/// A unified difference in colours. Rows break where they are full: blanks count in code.
fn rows(text: &str, width: usize, theme: &Theme) -> Vec<StyledLine> {
    let row = |line: &str| {
        let color = match kind_of(line) {
            DiffLine::Added => ThemeColor::ToolDiffAdded,
            DiffLine::Removed => ThemeColor::ToolDiffRemoved,
            DiffLine::Header => ThemeColor::MdHeading,
            DiffLine::Context => ThemeColor::ToolDiffContext,
        };
        fold(&StyledLine::of(drawable(line, 0).into_owned(), theme.fg(color)), width, &Hang::default())
    };
    lines_of(text).flat_map(row).collect()
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::*;
    use crate::tui::theme::Appearance;

    #[test]
    fn lines_of_a_difference_have_the_colour_of_what_they_are() {
        let theme = Theme::new("t", Appearance::Dark, |of| Color::Indexed(of as u8));
        let text = "diff --git a/x b/x\n@@ -1 +1 @@\n-old\u{1b}[2J\n+new\n same\n";
        let rows = rows(text, 80, &theme);
        let colors: Vec<_> = rows.iter().map(|row| row.spans[0].style).collect();
        let expected = [
            ThemeColor::MdHeading,
            ThemeColor::MdHeading,
            ThemeColor::ToolDiffRemoved,
            ThemeColor::ToolDiffAdded,
            ThemeColor::ToolDiffContext,
        ];
        assert_eq!(colors, expected.map(|color| theme.fg(color)));
        assert_eq!(rows[2].text(), "-old<U+001B>[2J");
    }
}
