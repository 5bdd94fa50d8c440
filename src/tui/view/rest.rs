//! What stays on the terminal behind the screen.

use crate::tui::{
    model::Model,
    settings::ExitOutput,
    text::{StyledLine, plain},
    theme::ThemeColor,
    transcript::item::Item,
    view::with_layout,
};

/// Lines of the conversation that stay at most: the end of it.
const LINES: usize = 2_000;

/// The lines: the end of the conversation, where that is wanted, and how to go on.
#[must_use]
pub fn lines(model: &mut Model) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    if model.surroundings.fullscreen && model.settings.exit_output == ExitOutput::Transcript {
        lines = with_layout(model, |transcript, _, context| {
            transcript.to_bottom();
            let header = matches!(transcript.items().first(), Some(Item::Header));
            let mut parts = transcript.visible(LINES, context);
            parts.retain(|part| !(header && part.item == 0));
            transcript.lines(&parts, context)
        });
    }
    if let Some(hint) = resume_hint(model) {
        lines.push(StyledLine::default());
        let style = model.theme.fg(ThemeColor::Dim);
        lines.extend(plain("To go on with this session:", usize::from(model.size.0), style));
        // A line of its own, whole: it is to be copied.
        lines.push(StyledLine::of(hint, style));
    }
    lines
}

/// How to go on with the session, where it has a file.
fn resume_hint(model: &Model) -> Option<String> {
    let file = model.facts.session_file.as_ref()?;
    let id = &model.facts.tree.as_ref()?.header().id;
    std::path::Path::new(file).exists().then(|| format!("  troupe --session {id}"))
}
