//! The model as a frame.
//!
//! From the top: the conversation, cards of agents below this one, what waits in queues, the status line, the editor (or what stands in its place),
//! completion, the footer. The rows of the lower parts come first; the conversation gets the rest.

pub mod cards;
pub mod footer;
pub mod header;
pub mod numbers;
pub mod prompt;
pub mod regular;
pub mod rest;
mod scrollbar;
pub mod status;
#[cfg(test)]
mod tests;

use ratatui::{layout::Rect, style::Style};

use self::header::StartView;
use super::{
    keys::Action,
    model::Model,
    search::{self, Search},
    settings::Header,
    terminal::Frame,
    text::StyledLine,
    theme::ThemeColor,
    transcript::layout::LayoutContext,
};

/// Rows of extensions at most, above the editor and below it: more would leave nothing of the conversation.
const WIDGET_ROWS: usize = 10;

/// The rows of each part of a screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The conversation.
    pub transcript: Rect,
    /// Cards of the agents below this one.
    pub cards: Rect,
    /// Messages in queues.
    pub queue: Rect,
    /// The status line.
    pub status: Rect,
    /// Lines of extensions above the editor.
    pub above: Rect,
    /// The editor or an overlay.
    pub prompt: Rect,
    /// Completion.
    pub menu: Rect,
    /// Lines of extensions below the editor.
    pub below: Rect,
    /// The footer.
    pub footer: Rect,
}

/// The lines of each part but the conversation and the editor.
struct Lines {
    cards: Vec<StyledLine>,
    queue: Vec<StyledLine>,
    status: Vec<StyledLine>,
    above: Vec<StyledLine>,
    menu: Vec<StyledLine>,
    below: Vec<StyledLine>,
    footer: Vec<StyledLine>,
}

impl Lines {
    /// How many there are.
    fn around(&self) -> usize {
        [&self.cards, &self.queue, &self.status, &self.above, &self.menu, &self.below, &self.footer]
            .iter()
            .map(|part| part.len())
            .sum()
    }
}

/// Draws the model.
pub fn draw(model: &mut Model) -> Frame {
    let (columns, rows) = model.size;
    let mut frame = Frame::new(columns, rows);
    let lines = lines(model, rows);
    let parts = parts(model, &lines);
    draw_transcript(model, &mut frame, parts.transcript);
    for (area, lines) in [
        (parts.cards, &lines.cards),
        (parts.queue, &lines.queue),
        (parts.status, &lines.status),
        (parts.above, &lines.above),
        (parts.menu, &lines.menu),
        (parts.below, &lines.below),
        (parts.footer, &lines.footer),
    ] {
        for (row, line) in (0..area.height).zip(lines) {
            frame.line(area, row, line);
        }
    }
    match model.overlays.last() {
        Some(overlay) => overlay.draw(&mut frame, parts.prompt, &model.context()),
        None => prompt::draw(model, &mut frame, parts.prompt),
    }
    if let Some(selection) = &mut model.selection {
        selection.draw(&mut frame);
    }
    if let Some(search) = &model.search {
        // The status line makes room, and the cursor goes there.
        frame.clear(parts.status, Style::new());
        let state = search.state();
        let room = parts.status.width.saturating_sub(u16::try_from(state.len() + 1).unwrap_or(0));
        let line = Rect { width: room, ..parts.status };
        search.input.draw(&mut frame, line, " Search: ", "", &model.theme);
        let rest = Rect { x: room, width: parts.status.width - room, ..parts.status };
        frame.line(rest, 0, &StyledLine::of(state, model.theme.fg(ThemeColor::Muted)));
    }
    frame
}

/// Rows of the conversation that are visible now.
#[must_use]
pub fn transcript_rows(model: &Model) -> usize {
    usize::from(parts(model, &lines(model, model.size.1)).transcript.height)
}

fn lines(model: &Model, rows: u16) -> Lines {
    let width = usize::from(model.size.0);
    let few = rows < 8;
    let widgets = |below: bool| {
        let shown = model.widgets.iter().filter(move |widget| widget.2 == below);
        let text = shown.flat_map(|widget| widget.1.iter()).take(usize::from(rows));
        text.flat_map(|text| super::text::plain(text, width, model.theme.fg(super::theme::ThemeColor::Text)))
            .take(WIDGET_ROWS)
            .collect::<Vec<_>>()
    };
    let footer = footer::lines(model, width);
    Lines {
        cards: if few { Vec::new() } else { cards::lines(model, width, rows) },
        queue: if few { Vec::new() } else { status::queue(model, width) },
        status: if rows < 5 { Vec::new() } else { vec![status::line(model, width)] },
        above: if few { Vec::new() } else { widgets(false) },
        menu: model
            .menu
            .as_ref()
            .map_or_else(Vec::new, |menu| menu.lines(&model.theme, model.size.0, model.settings.menu_rows)),
        below: if few { Vec::new() } else { widgets(true) },
        footer: if rows < 4 { Vec::new() } else { footer.into_iter().take(if few { 1 } else { 4 }).collect() },
    }
}

fn parts(model: &Model, lines: &Lines) -> Parts {
    let (columns, rows) = model.size;
    let mut below = rows;
    let mut take = |wanted: usize, keep: u16| {
        let height = u16::try_from(wanted).unwrap_or(u16::MAX).min(below.saturating_sub(keep));
        below -= height;
        Rect::new(0, below, columns, height)
    };
    // The line with the cursor is the last to go.
    let footer = take(lines.footer.len(), 1);
    let below_rows = take(lines.below.len(), 1);
    let menu = if model.overlays.is_empty() { take(lines.menu.len(), 3) } else { take(0, 0) };
    let prompt = match model.overlays.last() {
        Some(overlay) => {
            let most = rows.saturating_sub(footer.height + below_rows.height).max(1);
            take(usize::from(overlay.height(columns, most, &model.context())), 0)
        }
        None => take(prompt::height(model), 0),
    };
    let above = take(lines.above.len(), 0);
    let status = take(lines.status.len(), 0);
    let queue = take(lines.queue.len(), 3);
    let cards = take(lines.cards.len(), 3);
    let transcript = Rect::new(0, 0, columns, below);
    Parts { transcript, cards, queue, status, above, prompt, menu, below: below_rows, footer }
}

fn draw_transcript(model: &mut Model, frame: &mut Frame, area: Rect) {
    let (parts, lines) = with_layout(model, |transcript, context| {
        let parts = transcript.visible(usize::from(area.height), context);
        let lines = transcript.lines(&parts, context);
        (parts, lines)
    });
    let query = model.search.as_ref().and_then(Search::query);
    let style = model.theme.on(ThemeColor::SearchMatchText, ThemeColor::SearchMatchBg);
    for (row, line) in (0..area.height).zip(&lines) {
        frame.line(area, row, line);
        if let Some(query) = &query {
            search::mark(frame, area, row, line, query, style);
        }
    }
    scrollbar::draw(model, frame, area, &parts);
}

/// The first key of an action, as people read it.
#[must_use]
pub fn key_name(model: &Model, action: Action) -> String {
    model.keymap.keys_of(action).first().map_or_else(|| "no key".to_owned(), ToString::to_string)
}

/// Does something with the transcript that needs to know how it is laid out.
pub fn with_layout<T>(
    model: &mut Model,
    act: impl FnOnce(&mut super::transcript::Transcript, &LayoutContext<'_>) -> T,
) -> T {
    let expand_key = key_name(model, Action::ExpandTools);
    let Model { theme, settings, facts, surroundings, transcript, now, size, keymap, start_page, pictures, .. } = model;
    pictures.columns = settings.picture_columns;
    let header = StartView {
        keymap,
        surroundings,
        page: (settings.header == Header::Full).then_some(start_page),
        has_model: facts.model.is_some(),
        expanded: transcript.expanded,
    };
    let context = LayoutContext {
        width: usize::from(size.0),
        theme,
        settings,
        expand_key: &expand_key,
        cwd: &facts.cwd,
        home: surroundings.home.as_deref(),
        now: *now,
        header: &header,
        pictures: Some(&*pictures).filter(|pictures| pictures.is_on()),
    };
    act(transcript, &context)
}

/// The same for what also needs to know how many rows of it are visible: for that, everything below it is laid out.
pub fn with_view<T>(
    model: &mut Model,
    act: impl FnOnce(&mut super::transcript::Transcript, usize, &LayoutContext<'_>) -> T,
) -> T {
    let rows = transcript_rows(model);
    with_layout(model, |transcript, context| act(transcript, rows, context))
}
