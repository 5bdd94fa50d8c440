//! What stays on the terminal behind the screen.

use crate::tui::{
    facts::AgentFacts,
    model::Model,
    settings::ExitOutput,
    text::{StyledLine, plain},
    theme::ThemeColor,
    transcript::item::Item,
    view::with_layout,
};

/// Lines of the conversation that stay at most: the end of it.
const LINES: usize = 2_000;

/// What is said before the command that resumes.
pub const RESUME: &str = "To go on with this session:";

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
    if let Some(hint) = resume_hint(&model.facts) {
        lines.push(StyledLine::default());
        let style = model.theme.fg(ThemeColor::Dim);
        lines.extend(plain(RESUME, usize::from(model.size.0), style));
        // A line of its own, whole: it is to be copied.
        lines.push(StyledLine::of(hint, style));
    }
    lines
}

/// How to go on with the session, where it has a file.
#[must_use]
pub fn resume_hint(facts: &AgentFacts) -> Option<String> {
    let file = facts.session_file.as_ref()?;
    let id = &facts.tree.as_ref()?.header().id;
    std::path::Path::new(file).exists().then(|| format!("  troupe --session {id}"))
}
