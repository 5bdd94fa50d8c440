//! `troupe team check`: what is wrong with a team file, or how its work flows.

use std::path::Path;

use serde_json::{Value, json};

use crate::{
    actors::team::file::{ItemSource, Pattern, PatternKind, Role, Spread, TeamFile},
    cli::{
        exit::Exit,
        run::{fail, print},
    },
};

/// Reads a file and prints what it says.
pub(super) fn run(file: &Path, json: bool) -> Exit {
    let team = match TeamFile::read(file) {
        Ok(team) => team,
        Err(error) => {
            fail(&error.to_string());
            return Exit::InvalidState;
        }
    };
    if json {
        return print(&format!("{:#}\n", as_value(&team)));
    }
    print(&text(&team))
}

fn text(team: &TeamFile) -> String {
    let mut out = format!("{}: {} roles, {} steps", team.name, team.roles.len(), team.steps().len());
    if let Some(description) = &team.description {
        out.push_str(&format!("\n{description}"));
    }
    out.push('\n');
    for input in &team.inputs {
        let rule = input.default.as_ref().map_or("required".to_owned(), |default| format!("default {default:?}"));
        out.push_str(&format!("input {} ({rule})\n", input.name));
    }
    for step in team.steps() {
        out.push_str(&format!("step {step}: {}", told(team, step)));
        let needs = team.needs_of(step);
        if !needs.is_empty() {
            out.push_str(&format!(", after {}", needs.join(", ")));
        }
        out.push('\n');
    }
    out
}

/// What a step is.
fn told(team: &TeamFile, step: &str) -> String {
    let pattern = team.patterns.iter().find(|pattern| pattern.name == step);
    match pattern.map(|Pattern { kind, .. }| kind) {
        None => team.role(step).map(crew).unwrap_or_default(),
        Some(PatternKind::Review { writer, reviewer, rounds, .. }) => {
            format!("{writer}, reviewed by {reviewer}, {rounds} rounds at most")
        }
        Some(PatternKind::Best { of, judge, .. }) => {
            let by = match judge {
                crate::actors::team::file::Judge::Role(role) => role.clone(),
                crate::actors::team::file::Judge::Command { command, .. } => format!("`{command}`"),
            };
            format!("the best of {}, chosen by {by}", team.role(of).map(crew).unwrap_or_default())
        }
        Some(PatternKind::Debate { speakers, rounds, .. }) => {
            format!("{} debate, {rounds} rounds", speakers.join(", "))
        }
    }
}

fn crew(role: &Role) -> String {
    match &role.spread {
        Spread::One => "one agent".to_owned(),
        Spread::Count(count) => format!("{count} agents"),
        Spread::Each(items) => {
            let of = match &items.source {
                ItemSource::Files(globs) => format!("file of {}", globs.join(", ")),
                ItemSource::Lines(path) => format!("line of {path}"),
                ItemSource::Command(command) => format!("line of `{command}`"),
                ItemSource::Output(path) => format!("element that {} lists", path.step),
                ItemSource::List(list) => format!("of {} elements", list.len()),
            };
            format!("an agent for each {of}")
        }
    }
}

fn as_value(team: &TeamFile) -> Value {
    let steps = team
        .steps()
        .into_iter()
        .map(|step| json!({"name": step, "needs": team.needs_of(step), "is": told(team, step)}));
    let inputs = team.inputs.iter().map(|input| json!({"name": input.name, "default": input.default}));
    json!({
        "name": team.name,
        "description": team.description,
        "inputs": inputs.collect::<Vec<_>>(),
        "roles": team.roles.iter().map(|role| role.name.as_str()).collect::<Vec<_>>(),
        "steps": steps.collect::<Vec<_>>(),
    })
}
