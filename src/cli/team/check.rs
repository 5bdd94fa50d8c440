//! `troupe team check`: what is wrong with a team file, or how its work flows.

use std::path::Path;

use serde_json::{Value, json};

use super::{models::Look, source::Source};
use crate::{
    actors::team::file::{ItemSource, Judge, Pattern, PatternKind, Role, Spread, TeamFile},
    cli::{
        env::Environment,
        exit::Exit,
        run::{fail, print},
        setup,
    },
    extensions::ExtensionRegistry,
    store::document::nearest,
};

/// Reads a file and prints what it says.
pub(super) fn run(environment: &Environment, file: &Path, json: bool, extensions: &ExtensionRegistry) -> Exit {
    let team = Source::read(file).and_then(|source| {
        let team = source.team()?;
        source.check(environment, &team, Look::File, extensions).map(|()| team)
    });
    let team = match team {
        Ok(team) => team,
        Err(problem) => {
            fail(&problem);
            return Exit::InvalidState;
        }
    };
    if json {
        return print(&format!("{:#}\n", as_value(&team)));
    }
    print(&text(&team))
}

/// Whether all tools that roles name are there.
pub(super) fn tools(source: &Source, team: &TeamFile, extensions: &ExtensionRegistry) -> Result<(), String> {
    let tools = setup::all_tools(extensions);
    let known: Vec<&str> = tools.names().collect();
    for role in &team.roles {
        let Some(stranger) = role.tools.iter().flatten().find(|name| !known.contains(&name.as_str())) else { continue };
        let near = nearest(stranger, &known).map_or_else(
            || format!("; expected some of {}", known.join(", ")),
            |near| format!(" (did you mean {near}?)"),
        );
        return Err(source.fault(team, &role.name, "tools", &format!("there is no tool {stranger}{near}")));
    }
    Ok(())
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
                Judge::Role(role) => role.clone(),
                Judge::Command { command, .. } => format!("`{command}`"),
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
