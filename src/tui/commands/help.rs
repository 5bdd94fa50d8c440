//! What people can do here, and where it is written.

use super::{SlashCommand, all};
use crate::{
    resources::markup::markdown::Document,
    tui::{
        effect::Effect,
        keys::{Action, Keymap},
        model::Model,
        overlay::text_view::TextView,
        text::{Hang, MarkdownOptions, StyledLine, markdown, one_line, wrap},
        theme::{Theme, ThemeColor},
        work::Work,
    },
};

/// See the module.
pub(super) const COMMANDS: &[SlashCommand] = &[
    SlashCommand { name: "help", argument: "", description: "List commands and what can be typed", run: help },
    SlashCommand { name: "hotkeys", argument: "", description: "List all keys", run: hotkeys },
    SlashCommand { name: "changelog", argument: "", description: "Show what is new", run: changelog },
    SlashCommand { name: "mcp", argument: "", description: "Show MCP servers", run: mcp },
];

/// What is new, as the program was built.
const CHANGES: &str = include_str!("../../../CHANGELOG.md");

/// What can be typed besides commands.
const TYPED: [(&str, &str); 4] = [
    ("!command", "Run a shell command; the model sees what it prints"),
    ("!!command", "Run a shell command that the model does not see"),
    ("@path", "Name a file; Tab completes it"),
    ("/name", "Run a command, a prompt template, or a skill (/skill:name)"),
];

fn help(model: &mut Model, _: &str) -> Vec<Effect> {
    let commands = all().map(|command| {
        let name = format!("/{} {}", command.name, command.argument);
        (name.trim_end().to_owned(), command.description.to_owned())
    });
    let own = commands.collect();
    let brought = model.facts.commands.iter().map(|command| {
        (format!("/{}", one_line(&command.name)), command.description.as_deref().map(one_line).unwrap_or_default())
    });
    let typed = TYPED.iter().map(|(text, does)| ((*text).to_owned(), (*does).to_owned())).collect();
    let sections = vec![
        ("What can be typed", typed),
        ("Commands", own),
        ("Prompt templates, skills, extensions", brought.collect()),
        (
            "More",
            vec![
                ("/hotkeys".to_owned(), "All keys".to_owned()),
                ("/doctor".to_owned(), "Is something wrong?".to_owned()),
            ],
        ),
    ];
    show(model, "Help", sections)
}

fn hotkeys(model: &mut Model, _: &str) -> Vec<Effect> {
    let sections = key_sections(&model.keymap);
    show(model, "Keys", sections)
}

fn changelog(model: &mut Model, _: &str) -> Vec<Effect> {
    let text = CHANGES.split_once('\n').map_or(CHANGES, |(_, changes)| changes.trim());
    let document = Document::parse(text);
    let rows = move |width: usize, theme: &Theme| markdown(&document, width, theme, &MarkdownOptions::default());
    model.overlays.push(Box::new(TextView::new("What is new", rows)));
    Vec::new()
}

fn mcp(_: &mut Model, _: &str) -> Vec<Effect> {
    vec![Effect::Work(Work::McpServers)]
}

/// Rows of two columns below headings.
type Sections = Vec<(&'static str, Vec<(String, String)>)>;

fn show(model: &mut Model, title: &'static str, sections: Sections) -> Vec<Effect> {
    model.overlays.push(Box::new(TextView::new(title, move |width, theme| rows(&sections, width, theme))));
    Vec::new()
}

/// Where keys count, and how the ids of their actions begin: the longest beginning decides.
const PLACES: [(&str, &[&str]); 9] = [
    ("Anywhere", &["app.", "app.agents.show"]),
    ("Writing", &["tui.editor."]),
    ("Sending", &["tui.input."]),
    ("The conversation", &["tui.altScreen."]),
    ("Lists", &["tui.select."]),
    ("Lists of models and thinking levels", &["app.models.", "app.thinking.save"]),
    ("The list of sessions", &["app.session.toggle", "app.session.rename", "app.session.delete"]),
    ("The session's tree", &["app.tree."]),
    ("The list of agents", &["app.agents."]),
];

fn place_of(action: Action) -> Option<&'static str> {
    let beginnings = PLACES.iter().flat_map(|(place, ids)| ids.iter().map(move |id| (*place, *id)));
    let fitting = beginnings.filter(|(_, id)| action.id().starts_with(id));
    fitting.max_by_key(|(_, id)| id.len()).map(|(place, _)| place)
}

/// The keys of all actions that have one, by where they count.
fn key_sections(keymap: &Keymap) -> Sections {
    let section = |(place, _): (&'static str, &[&str])| {
        let actions = Action::ALL.iter().filter(|action| place_of(**action) == Some(place));
        let row = |action: &Action| {
            let keys: Vec<_> = keymap.keys_of(*action).iter().map(ToString::to_string).collect();
            (!keys.is_empty()).then(|| (keys.join(", "), action.description().to_owned()))
        };
        (place, actions.filter_map(row).collect::<Vec<_>>())
    };
    let mut sections: Sections = PLACES.into_iter().map(section).collect();
    let file = (
        "keybindings.json".to_owned(),
        "in your folder gives actions other keys; docs/terminal.md says how".to_owned(),
    );
    sections.push(("Other keys", vec![file]));
    sections
}

/// Columns of the first column at most.
const FIRST: usize = 28;

fn rows(sections: &Sections, width: usize, theme: &Theme) -> Vec<StyledLine> {
    let longest = sections.iter().flat_map(|(_, rows)| rows).map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let first = longest.min(FIRST).min(width / 2);
    let mut lines = Vec::new();
    for (heading, rows) in sections.iter().filter(|(_, rows)| !rows.is_empty()) {
        if !lines.is_empty() {
            lines.push(StyledLine::default());
        }
        lines.push(StyledLine::of(*heading, theme.fg(ThemeColor::MdHeading)));
        for (name, does) in rows {
            let mut line = StyledLine::of(format!("{name:first$}  "), theme.fg(ThemeColor::Accent));
            line.push(does.clone(), theme.fg(ThemeColor::Text));
            lines.extend(wrap(&line, width, &Hang::indent(first + 2)));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_a_place_and_no_key_means_two_things_in_it() {
        let keymap = Keymap::default();
        for (at, action) in Action::ALL.iter().enumerate() {
            assert!(place_of(*action).is_some(), "{}", action.id());
            for other in Action::ALL[at + 1..].iter().filter(|other| place_of(**other) == place_of(*action)) {
                let shared = keymap.keys_of(*action).iter().find(|key| keymap.keys_of(*other).contains(key));
                // The default is saved in each of both lists.
                let known = (*action, *other) == (Action::SaveThinking, Action::SaveModel);
                assert!(shared.is_none() || known, "{} and {}: {shared:?}", action.id(), other.id());
            }
        }
    }
}
