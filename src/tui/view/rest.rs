//! What stays on the terminal behind the screen.

use crate::tui::{
    facts::AgentFacts,
    model::Model,
    settings::ExitOutput,
    text::{StyledLine, one_line, plain},
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
        lines = with_layout(model, |transcript, context| {
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
    std::path::Path::new(file).exists().then(|| one_line(&format!("  troupe --session {id}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        store::{
            jsonl::read,
            testing::{file, header_of},
            tree::Tree,
        },
        tui::testing::model_of,
    };

    #[test]
    fn fc_064_a_sessions_id_commands_no_terminal() {
        let bytes = file(&[header_of("x\u{1b}]0;y\u{7}\nz", "/srv/app")]);
        let loaded = read::read(bytes.as_slice(), None).unwrap();
        let mut model = model_of(&[]);
        model.facts.tree = Some(Tree::load(loaded.header, loaded.lines, &loaded.gaps, None).view().clone());
        model.facts.session_file = Some("/dev/null".to_owned());
        let hint = resume_hint(&model.facts).unwrap();
        assert_eq!(hint, "  troupe --session x<U+001B>]0;y<U+0007> z");
    }
}
