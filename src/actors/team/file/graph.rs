//! What waits for what.

use super::{ItemSource, Pattern, PatternKind, Role, Spread, TeamFile};
use crate::actors::team::template::{Place, Template};

impl TeamFile {
    /// The steps that a step needs before it can begin: those that its roles name, and those that its templates mention.
    #[must_use]
    pub fn needs_of(&self, step: &str) -> Vec<&str> {
        let pattern = self.patterns.iter().find(|pattern| pattern.name == step);
        let members = pattern.map_or_else(|| vec![step], Pattern::members);
        let mut needs: Vec<&str> = Vec::new();
        for role in members.iter().filter_map(|name| self.role(name)) {
            needs.extend(role.needs.iter().map(String::as_str));
            needs.extend(mentioned(&role.prompt));
            if let Spread::Each(items) = &role.spread
                && let ItemSource::Output(path) = &items.source
            {
                needs.push(&path.step);
            }
        }
        needs.extend(pattern.and_then(Pattern::template).into_iter().flat_map(mentioned));
        needs.retain(|name| !members.contains(name));
        needs.sort_unstable();
        needs.dedup();
        needs
    }

    /// A way from a step back to itself, if there is one.
    #[must_use]
    pub(super) fn circle(&self) -> Option<Vec<&str>> {
        let steps = self.steps();
        let mut done: Vec<&str> = Vec::new();
        // Each pass takes out the steps whose needs are out already; what stays at the end waits in a circle.
        loop {
            let ready =
                |step: &&&str| !done.contains(*step) && self.needs_of(step).iter().all(|need| done.contains(need));
            let next: Vec<&str> = steps.iter().filter(ready).copied().collect();
            if next.is_empty() {
                break;
            }
            done.extend(next);
        }
        let mut way = vec![*steps.iter().find(|step| !done.contains(step))?];
        while let Some(next) = self.needs_of(way[way.len() - 1]).into_iter().find(|need| !done.contains(need)) {
            if let Some(at) = way.iter().position(|step| *step == next) {
                way.drain(..at);
                way.push(next);
                return Some(way);
            }
            way.push(next);
        }
        None
    }
}

impl Pattern {
    /// The pattern's own template.
    #[must_use]
    pub fn template(&self) -> Option<&Template> {
        match &self.kind {
            PatternKind::Review { revise, .. } => Some(revise),
            PatternKind::Debate { reply, .. } => Some(reply),
            PatternKind::Best { .. } => None,
        }
    }
}

impl Role {
    /// Whether several agents may work at it.
    #[must_use]
    pub fn is_many(&self) -> bool {
        self.spread != Spread::One
    }
}

/// The steps whose work a template mentions.
fn mentioned(template: &Template) -> impl Iterator<Item = &str> {
    template.places().filter_map(|place| match place {
        Place::Output(path) => Some(path.step.as_str()),
        Place::Patch(step) => Some(step.as_str()),
        _ => None,
    })
}
