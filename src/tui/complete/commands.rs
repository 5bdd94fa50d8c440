//! Slash commands and their arguments.

use super::{
    Menu, MenuItem, MenuKind, Trigger,
    fuzzy::{Query, rank},
};

/// What the names of skills begin with.
const SKILL: &str = "skill:";

/// A slash command that can be completed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlashItem {
    /// Its name, without slash.
    pub name: String,
    /// What it does, in a few words.
    pub description: String,
    /// What its arguments are, such as `<path>`; empty when it has none.
    pub argument_hint: String,
    /// Where it is from, such as the scope of a prompt template; empty for those of the program.
    pub source: String,
}

/// A value that the argument of a command may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgumentItem {
    /// What is written.
    pub value: String,
    /// What is shown for it.
    pub label: String,
    /// What it is, in a few words; may be empty.
    pub description: String,
}

/// The commands whose names fit what was typed, the best first. Skills are found by their own names, without `skill:`.
#[must_use]
pub fn command_menu(trigger: &Trigger, commands: &[SlashItem]) -> Option<Menu> {
    let mut query = Query::new(&trigger.query);
    let mut found: Vec<(u32, &SlashItem)> = commands
        .iter()
        .filter_map(|command| {
            let own = command.name.strip_prefix(SKILL).unwrap_or(&command.name);
            Some((query.score(own).or_else(|| query.score(&command.name))?, command))
        })
        .collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let items = found.into_iter().map(|(_, command)| MenuItem {
        label: command.name.clone(),
        description: described(command),
        insert: format!("/{} ", command.name),
        goes_on: !command.argument_hint.is_empty(),
    });
    Menu::new(MenuKind::Commands, items.collect(), trigger.range.clone())
}

/// The values of an argument that fit what was typed, the best first.
#[must_use]
pub fn argument_menu(trigger: &Trigger, values: &[ArgumentItem]) -> Option<Menu> {
    let items = rank(&trigger.query, values, |item| &item.label).into_iter().map(|ranked| {
        let item = &values[ranked.index];
        MenuItem {
            label: item.label.clone(),
            description: item.description.clone(),
            insert: item.value.clone(),
            goes_on: false,
        }
    });
    Menu::new(MenuKind::Arguments, items.collect(), trigger.range.clone())
}

fn described(command: &SlashItem) -> String {
    let source = if command.source.is_empty() { String::new() } else { format!("[{}]", command.source) };
    let parts = [&*command.argument_hint, &*command.description, &*source];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}
