//! Where in the conversation the view is.

use ratatui::layout::Rect;

use crate::tui::{
    model::Model,
    settings::Scrollbar,
    terminal::Frame,
    text::width_of,
    theme::ThemeColor,
    transcript::scroll::{Part, Scroll},
};

/// Draws it into the last column of `area`. How long items are that nobody looked at is not known, so the bar counts
/// items, not lines.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect, parts: &[Part]) {
    let shown = match model.settings.scrollbar {
        Scrollbar::Auto => model.transcript.scroll != Scroll::Bottom,
        Scrollbar::Always => true,
        Scrollbar::Hidden => false,
    };
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return };
    let count = model.transcript.count().max(1);
    let everything = first.item == 0 && first.range.start == 0 && last.item + 1 >= count;
    if !shown || everything || area.width < 2 || area.height < 2 {
        return;
    }
    let height = usize::from(area.height);
    let begin = (first.item * height / count).min(height - 1);
    let end = ((last.item + 1) * height).div_ceil(count).clamp(begin + 1, height);
    for row in 0..area.height {
        let inside = (begin..end).contains(&usize::from(row));
        let (sign, color) =
            if inside { ("█", ThemeColor::ScrollbarThumb) } else { ("│", ThemeColor::ScrollbarTrack) };
        let (x, y) = (area.right() - 1, area.y + row);
        // Of a character that takes both of the last columns no half stays.
        if width_of(frame.buffer[(x - 1, y)].symbol()) > 1 {
            frame.buffer[(x - 1, y)].set_symbol(" ");
        }
        frame.buffer[(x, y)].set_symbol(sign).set_style(model.theme.fg(color));
    }
}
