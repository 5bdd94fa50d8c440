//! The screen that leaves the terminal's own history alone: what is over is written once above a live part, and scrolls
//! away with everything else.

use ratatui::layout::Rect;

use super::{Lines, lines, prompt, with_layout};
use crate::tui::{model::Model, terminal::Frame, text::StyledLine};

/// Lines of a session that are written when it is opened: its end.
const OPENING_LINES: usize = 500;

/// What is to be written above the live part for good, and the live part.
pub fn draw(model: &mut Model) -> (Vec<StyledLine>, Frame) {
    let over = with_layout(model, |transcript, context| transcript.commit(OPENING_LINES, context));
    let (columns, rows) = model.size;
    let below = lines(model, rows);
    let prompt_rows = match model.overlays.last() {
        Some(overlay) => {
            let most = rows.saturating_sub(u16::try_from(below.footer.len()).unwrap_or(rows)).max(1);
            overlay.height(columns, most, &model.context())
        }
        None => u16::try_from(prompt::height(model)).unwrap_or(rows).min(rows),
    };
    let fixed = usize::from(prompt_rows) + below.around();
    let room = usize::from(rows).saturating_sub(fixed + 1);
    let running = with_layout(model, |transcript, context| transcript.uncommitted(room, context));
    let height = u16::try_from(running.len() + fixed).unwrap_or(rows).clamp(1, rows);
    let mut frame = Frame::new(columns, height);
    let Lines { cards, queue, status, above, menu, below, footer } = below;
    let head: Vec<_> = running.into_iter().chain(cards).chain(queue).chain(status).chain(above).collect();
    let tail: Vec<_> = menu.into_iter().chain(below).chain(footer).collect();
    let tail_rows = u16::try_from(tail.len()).unwrap_or(height).min(height.saturating_sub(prompt_rows.min(height)));
    let prompt_rows = prompt_rows.min(height - tail_rows);
    let head_rows = height - tail_rows - prompt_rows;
    let part = |y: u16, rows: u16| Rect::new(0, y, columns, rows);
    // When there is no room for all of it, the end counts.
    let skipped = head.len().saturating_sub(usize::from(head_rows));
    for (row, line) in (0..head_rows).zip(head.iter().skip(skipped)) {
        frame.line(part(0, head_rows), row, line);
    }
    for (row, line) in (0..tail_rows).zip(&tail) {
        frame.line(part(height - tail_rows, tail_rows), row, line);
    }
    let area = part(head_rows, prompt_rows);
    match model.overlays.last() {
        Some(overlay) => overlay.draw(&mut frame, area, &model.context()),
        None => prompt::draw(model, &mut frame, area),
    }
    (over, frame)
}
