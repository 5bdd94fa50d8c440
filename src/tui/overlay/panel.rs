//! The frame of an overlay: a title, a search line, the body, hints. Where there is little room, the body stays.

use ratatui::{layout::Rect, style::Modifier};

use super::input::LineInput;
use crate::tui::{
    keys::{Action, Keymap},
    terminal::Frame,
    text::{StyledLine, cut, one_line, plain, width_of},
    theme::{Theme, ThemeColor},
};

/// What stands around the body.
#[derive(Default)]
pub struct Panel<'p> {
    /// What it is about.
    pub title: StyledLine,
    /// Lines below the title.
    pub head: Vec<StyledLine>,
    /// The line that is written on, with what it shows while it is empty.
    pub input: Option<(&'p LineInput, &'p str)>,
    /// Lines below the body.
    pub foot: Vec<StyledLine>,
    /// What keys do.
    pub hints: StyledLine,
}

/// The parts around the body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Top,
    Title,
    Head,
    Input,
    Foot,
    Hints,
    Bottom,
}

/// The order in which the parts get room.
const FIRST_TO_LAST: [Part; 7] =
    [Part::Input, Part::Title, Part::Foot, Part::Head, Part::Hints, Part::Top, Part::Bottom];

impl Panel<'_> {
    /// Rows that it takes with a body of so many rows.
    #[must_use]
    pub fn height(&self, body: usize) -> u16 {
        let around: usize = FIRST_TO_LAST.iter().map(|part| self.rows(*part)).sum();
        u16::try_from(around + body.max(1)).unwrap_or(u16::MAX)
    }

    /// Rows that are left for the body in `height` rows.
    #[must_use]
    pub fn body_rows(&self, height: u16) -> usize {
        let taken: usize = self.parts(height).iter().map(|part| self.rows(*part)).sum();
        usize::from(height).saturating_sub(taken)
    }

    fn rows(&self, part: Part) -> usize {
        match part {
            Part::Title => usize::from(!self.title.spans.is_empty()),
            Part::Head => self.head.len(),
            Part::Input => usize::from(self.input.is_some()),
            Part::Foot => self.foot.len(),
            Part::Hints => usize::from(!self.hints.spans.is_empty()),
            Part::Top | Part::Bottom => 1,
        }
    }

    /// The parts for which there is room beside a row of the body.
    fn parts(&self, height: u16) -> Vec<Part> {
        let mut left = usize::from(height).saturating_sub(1);
        let fits = |part: &Part| {
            let rows = self.rows(*part);
            let fits = (1..=left).contains(&rows);
            left -= if fits { rows } else { 0 };
            fits
        };
        FIRST_TO_LAST.into_iter().filter(fits).collect()
    }

    /// Draws it, and `body` into the room that it leaves. The title's row shows `right` at its end.
    pub fn draw(&self, frame: &mut Frame, area: Rect, theme: &Theme, body: impl FnOnce(&mut Frame, Rect)) {
        frame.clear(area, theme.fg(ThemeColor::Text));
        let parts = self.parts(area.height);
        let has = |part| parts.contains(&part);
        let width = usize::from(area.width);
        let border = StyledLine::of("─".repeat(width), theme.fg(ThemeColor::Border));
        let body_rows = u16::try_from(self.body_rows(area.height)).unwrap_or(u16::MAX);
        let mut row = 0;
        let mut line = |frame: &mut Frame, line: &StyledLine| {
            frame.line(area, row, &cut(line, width));
            row += 1;
            row
        };
        if has(Part::Top) {
            line(frame, &border);
        }
        if has(Part::Title) {
            line(frame, &self.title);
        }
        if has(Part::Head) {
            self.head.iter().for_each(|head| {
                line(frame, head);
            });
        }
        if has(Part::Input) {
            let at = line(frame, &StyledLine::default()) - 1;
            if let Some((input, placeholder)) = self.input {
                input.draw(frame, Rect::new(area.x, area.y + at, area.width, 1), "> ", placeholder, theme);
            }
        }
        let at = line(frame, &StyledLine::default()) - 1;
        body(frame, Rect::new(area.x, area.y + at, area.width, body_rows));
        row = at + body_rows;
        let mut line = |frame: &mut Frame, line: &StyledLine| {
            frame.line(area, row, &cut(line, width));
            row += 1;
        };
        if has(Part::Foot) {
            self.foot.iter().for_each(|foot| line(frame, foot));
        }
        if has(Part::Hints) {
            line(frame, &self.hints);
        }
        if has(Part::Bottom) {
            line(frame, &border);
        }
    }
}

/// A title.
#[must_use]
pub fn title(text: impl Into<String>, theme: &Theme) -> StyledLine {
    StyledLine::of(text.into(), theme.fg(ThemeColor::Accent).add_modifier(Modifier::BOLD))
}

/// A dim line of words that others may have written.
#[must_use]
pub fn note(text: &str, color: ThemeColor, theme: &Theme) -> StyledLine {
    StyledLine::of(one_line(text), theme.fg(color))
}

/// Dim rows of words that others may have written, `most` at most.
#[must_use]
pub fn notes(text: &str, color: ThemeColor, width: u16, most: usize, theme: &Theme) -> Vec<StyledLine> {
    let mut rows = plain(text, usize::from(width), theme.fg(color));
    rows.truncate(most);
    rows
}

/// What keys do: the first key of each action and what it does here. Those that do not fit into `width` are left out, and
/// so are actions without a key.
#[must_use]
pub fn hints(keymap: &Keymap, actions: &[(Action, &str)], width: u16, theme: &Theme) -> StyledLine {
    const APART: &str = " · ";
    let mut room = usize::from(width) + width_of(APART);
    let mut fits = |key: &str, does: &str| {
        let wanted = width_of(key) + 1 + width_of(does) + width_of(APART);
        let fits = wanted <= room;
        room -= if fits { wanted } else { 0 };
        fits
    };
    let known = actions.iter().filter_map(|(action, does)| Some((*action, keymap.hint(*action)?, *does)));
    let mut hints: Vec<_> = known.map(|(action, key, does)| (action == Action::SelectCancel, key, does)).collect();
    // The way out is what a person who is lost looks for: it gets its room first.
    let out = hints.iter().position(|(is_out, ..)| *is_out);
    let out_fits = out.is_some_and(|at| fits(&hints[at].1, hints[at].2));
    hints.retain(|(is_out, key, does)| if *is_out { out_fits } else { fits(key, does) });
    let mut line = StyledLine::default();
    for (_, key, does) in hints {
        let apart = if line.spans.is_empty() { "" } else { APART };
        line.push(apart, theme.fg(ThemeColor::Dim));
        line.push(key, theme.fg(ThemeColor::Muted));
        line.push(format!(" {does}"), theme.fg(ThemeColor::Dim));
    }
    line
}

/// A row with something at its right end. The left part is cut where both do not fit; a right part that takes more than
/// half of the row is left out.
#[must_use]
pub fn between(left: &StyledLine, right: &StyledLine, width: usize) -> StyledLine {
    let right_width = right.width();
    if right_width == 0 || right_width * 2 > width {
        return cut(left, width);
    }
    let mut line = cut(left, width - right_width - 1);
    let gap = width - right_width - line.width();
    line.push(" ".repeat(gap), ratatui::style::Style::new());
    line.spans.extend(right.spans.iter().cloned());
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::overlay::testing::picture;

    #[test]
    fn the_body_stays_where_there_is_little_room() {
        let theme = Theme::plain();
        let input = LineInput::with_text("find");
        let panel = Panel {
            title: title("Title", &theme),
            head: vec![note("head", ThemeColor::Dim, &theme)],
            input: Some((&input, "")),
            foot: vec![note("foot", ThemeColor::Dim, &theme)],
            hints: note("hints", ThemeColor::Dim, &theme),
        };
        for (height, expected) in [
            (9, "────────\nTitle\nhead\n> find\nbody 2\n\nfoot\nhints\n────────"),
            (7, "────────\nTitle\nhead\n> find\nbody 1\nfoot\nhints"),
            (3, "Title\n> find\nbody 1"),
            (1, "body 1"),
        ] {
            let mut frame = Frame::new(8, height);
            panel.draw(&mut frame, Rect::new(0, 0, 8, height), &theme, |frame, area| {
                frame.line(area, 0, &note(&format!("body {}", area.height), ThemeColor::Text, &theme));
            });
            assert_eq!(picture(&frame), expected, "{height}");
            assert_eq!(panel.body_rows(height), if height == 9 { 2 } else { 1 });
        }
        assert_eq!(panel.height(2), 9);
    }

    #[test]
    fn parts_that_are_not_there_take_no_room() {
        let theme = Theme::plain();
        let panel = Panel { title: title("Title", &theme), ..Panel::default() };
        let mut frame = Frame::new(8, 4);
        panel.draw(&mut frame, Rect::new(0, 0, 8, 4), &theme, |frame, area| {
            frame.line(area, 0, &note(&format!("body {}", area.height), ThemeColor::Text, &theme));
        });
        assert_eq!(picture(&frame), "────────\nTitle\nbody 1\n────────");
    }

    #[test]
    fn hints_that_do_not_fit_are_left_out() {
        let (keymap, theme) = (Keymap::default(), Theme::plain());
        let actions = [
            (Action::SelectConfirm, "choose"),
            (Action::SaveModel, "save as default"),
            (Action::SelectCancel, "leave"),
        ];
        for (width, expected) in [
            (80, "enter choose · ctrl+s save as default · escape leave"),
            (30, "enter choose · escape leave"),
            (16, "escape leave"),
            (5, ""),
        ] {
            assert_eq!(hints(&keymap, &actions, width, &theme).text(), expected, "{width}");
        }
    }

    #[test]
    fn the_right_end_of_a_row_stays_and_the_left_is_cut() {
        let line = |text: &str| StyledLine::of(text.to_owned(), ratatui::style::Style::new());
        for (left, right, width, expected) in [
            ("name", "3d", 10, "name    3d"),
            ("a long name", "3d", 10, "a long… 3d"),
            ("name", "right end", 10, "name"),
        ] {
            assert_eq!(between(&line(left), &line(right), width).text(), expected);
        }
    }
}
