//! Whether a team file makes sense as a whole: every mistake that can be known before an agent was paid for.

use serde_json::Value;

use super::{Condition, ItemSource, Items, Judge, Pattern, PatternKind, Role, Spread, Strategy, TeamFile};
use crate::{
    actors::team::template::{OutputPath, Place, Template, message, within},
    store::document::{Fault, Field, nearest},
};

/// Names that stand for something else: in templates, among agents, among sessions.
const RESERVED: [&str; 9] = ["input", "item", "number", "round", "others", "seed", "main", "agent", "team"];

type Checked = Result<(), Fault>;

/// Checks a file that was read; `root` is where faults are.
pub(super) fn team(team: &TeamFile, root: &Field<'_>) -> Checked {
    let check = Check { team, root };
    check.names()?;
    for pattern in &team.patterns {
        check.pattern(pattern)?;
    }
    for role in &team.roles {
        check.role(role)?;
    }
    if let Some(output) = &team.output {
        check.step(output, &check.at(&["team", "output"]))?;
    }
    match team.circle() {
        Some(way) => {
            let table = check.table(way[0]);
            Err(check.at(&[table, way[0]]).fault(format!("waits for itself: {}", way.join(" needs "))))
        }
        None => Ok(()),
    }
}

struct Check<'a> {
    team: &'a TeamFile,
    root: &'a Field<'a>,
}

impl<'a> Check<'a> {
    /// The field at these keys, or the last one on the way that is there.
    fn at(&self, keys: &[&str]) -> Field<'a> {
        let mut field = self.root.clone();
        for key in keys {
            let Some(inner) = field.object().ok().and_then(|object| object.get(key)) else { break };
            field = inner;
        }
        field
    }

    /// The kind of table that a step stands in.
    fn table(&self, step: &str) -> &'static str {
        self.team.patterns.iter().find(|pattern| pattern.name == step).map_or("role", |pattern| pattern.kind.word())
    }

    fn names(&self) -> Checked {
        let roles = self.team.roles.iter().map(|role| ("role", role.name.as_str()));
        let patterns = self.team.patterns.iter().map(|pattern| (pattern.kind.word(), pattern.name.as_str()));
        let mut seen: Vec<&str> = Vec::new();
        for (table, name) in roles.chain(patterns) {
            if RESERVED.contains(&name) {
                return Err(self.at(&[table, name]).fault(format!("{name} means something else; use another name")));
            }
            if is_numbered(name) {
                return Err(self
                    .at(&[table, name])
                    .fault("ends like the name of an agent (worker-2); use another name"));
            }
            if seen.contains(&name) {
                return Err(self
                    .at(&[table, name])
                    .fault(format!("the name {name} is taken; roles and patterns share their names")));
            }
            seen.push(name);
        }
        Ok(())
    }

    /// The role that `field` names.
    fn member(&self, name: &str, field: &Field<'_>) -> Result<&'a Role, Fault> {
        let roles: Vec<&str> = self.team.roles.iter().map(|role| role.name.as_str()).collect();
        self.team.role(name).ok_or_else(|| field.fault(unknown("role", name, &roles)))
    }

    /// `name` is a step.
    fn step(&self, name: &str, field: &Field<'_>) -> Checked {
        let steps = self.team.steps();
        if steps.contains(&name) {
            return Ok(());
        }
        Err(field.fault(match self.team.pattern_of(name) {
            Some(pattern) => format!("{name} is part of {}: use {0}", pattern.name),
            None => unknown("step", name, &steps),
        }))
    }

    fn pattern(&self, pattern: &Pattern) -> Checked {
        let table = [pattern.kind.word(), pattern.name.as_str()];
        let at = |key: &str| self.at(&[table[0], table[1], key]);
        for name in pattern.members() {
            let members = self.team.patterns.iter().flat_map(Pattern::members);
            if members.filter(|member| *member == name).count() > 1 {
                return Err(self
                    .at(&table)
                    .fault(format!("{name} has a part in more than one pattern; give each its own role")));
            }
        }
        match &pattern.kind {
            PatternKind::Review { writer, reviewer, until, revise, .. } => {
                for (key, name) in [("writer", writer), ("reviewer", reviewer)] {
                    self.single(self.member(name, &at(key))?, key, &at(key))?;
                }
                if let Condition::Field { path, .. } = until {
                    let reviewer = self.member(reviewer, &at("reviewer"))?;
                    self.fields(reviewer.output_schema.as_ref(), &reviewer.name, path, &at("until"))?;
                }
                self.template(revise, &at("revise"), Owner::Pattern(pattern))
            }
            PatternKind::Best { of, judge, merge } => {
                let role = self.member(of, &at("of"))?;
                if !role.is_many() {
                    return Err(at("of").fault(format!("{of} is one agent; give it a count of 2 or more")));
                }
                if *merge && !role.worktree {
                    return Err(
                        at("merge").fault(format!("{of} works in no worktree of its own: set worktree = true there"))
                    );
                }
                if let Judge::Role(judge) = judge {
                    self.single(self.member(judge, &at("judge"))?, "judge", &at("judge"))?;
                }
                Ok(())
            }
            PatternKind::Debate { speakers, reply, .. } => {
                if speakers.len() < 2 {
                    return Err(at("speakers").fault("expected two speakers or more"));
                }
                for name in speakers {
                    self.single(self.member(name, &at("speakers"))?, "speaker", &at("speakers"))?;
                }
                self.template(reply, &at("reply"), Owner::Pattern(pattern))
            }
        }
    }

    /// A part of a pattern that one agent plays.
    fn single(&self, role: &Role, part: &str, field: &Field<'_>) -> Checked {
        if role.is_many() {
            return Err(field.fault(format!("the {part} is one agent, and {} has count or each", role.name)));
        }
        Ok(())
    }

    fn role(&self, role: &Role) -> Checked {
        let at = |key: &str| self.at(&["role", &role.name, key]);
        for need in &role.needs {
            if *need == role.name {
                return Err(at("needs").fault(format!("{need} cannot wait for itself")));
            }
            self.step(need, &at("needs"))?;
        }
        if role.merge && !role.worktree {
            return Err(
                at("merge").fault("needs worktree = true: without one, changes are made in the team's folder anyway")
            );
        }
        if role.merge && role.is_many() && self.team.pattern_of(&role.name).is_some() {
            return Err(at("merge").fault("all would be merged: say merge = true in the table [best.NAME]"));
        }
        if role.strategy != Strategy::OneForOne && !role.is_many() {
            return Err(at("strategy").fault("is for roles with several agents (count or each)"));
        }
        let judges = |pattern: &Pattern| matches!(&pattern.kind, PatternKind::Best { judge: Judge::Role(judge), .. } if *judge == role.name);
        if role.output_schema.is_some() && self.team.pattern_of(&role.name).is_some_and(judges) {
            return Err(at("output_schema").fault("a judge has a schema already: {\"best\": NUMBER, \"reason\": TEXT}"));
        }
        if let Spread::Each(items) = &role.spread
            && let ItemSource::Output(path) = &items.source
        {
            if path.step == role.name {
                return Err(at("each").fault(format!("{} cannot wait for itself", role.name)));
            }
            self.output(path, &at("each"))?;
        }
        self.template(&role.prompt, &at("prompt"), Owner::Role(role))?;
        self.elements(role, &at("each"))
    }

    /// Elements that stand in the file, as far as they alone make the first message.
    fn elements(&self, role: &Role, field: &Field<'_>) -> Checked {
        let Spread::Each(Items { source: ItemSource::List(list), .. }) = &role.spread else { return Ok(()) };
        for (at, item) in list.iter().enumerate() {
            let filled = role.prompt.fill(|place| match place {
                Place::Item(fields) => within(item, fields).cloned(),
                _ => Some(Value::from("there is something")),
            });
            // One that lacks a field fails its agent alone.
            let made = filled.map_or(Ok(String::new()), |filled| message(&role.prompt, filled));
            made.map_err(|problem| field.fault(format!("element {}: the first message {problem}", at + 1)))?;
        }
        Ok(())
    }

    fn template(&self, template: &Template, field: &Field<'_>, user: Owner<'_>) -> Checked {
        template.places().try_for_each(|place| self.place(place, field, user))
    }

    fn place(&self, place: &Place, field: &Field<'_>, user: Owner<'_>) -> Checked {
        let only = |allowed: bool, text: &str| {
            if allowed { Ok(()) } else { Err(field.fault(format!("{{{{{place}}}}}: {text}"))) }
        };
        match place {
            Place::Input(name) => {
                let names: Vec<&str> = self.team.inputs.iter().map(|input| input.name.as_str()).collect();
                only(names.contains(&name.as_str()), &unknown("input", name, &names))
            }
            Place::Item(_) => {
                let each = matches!(user, Owner::Role(role) if matches!(role.spread, Spread::Each(_)));
                only(each, "only a role with each has items")
            }
            Place::Round => only(matches!(user, Owner::Pattern(_)), "only revise and reply have rounds"),
            Place::Others => {
                let debate =
                    matches!(user, Owner::Pattern(pattern) if matches!(pattern.kind, PatternKind::Debate { .. }));
                only(debate, "only the reply of a debate has others")
            }
            Place::Number | Place::Seed => Ok(()),
            Place::Patch(step) => {
                self.visible(step, field, user)?;
                let role = self.role_behind(step);
                only(role.is_some_and(|role| role.worktree), &format!("{step} works in no worktree of its own"))
            }
            Place::Output(path) => {
                self.visible(&path.step, field, user)?;
                match self.team.role(&path.step) {
                    // A part of the same pattern.
                    Some(role) if self.team.pattern_of(&role.name).is_some() => {
                        match (role.is_many(), path.fields.is_empty()) {
                            (true, false) => only(false, &several(&role.name)),
                            _ => self.fields(role.output_schema.as_ref(), &role.name, &path.fields, field),
                        }
                    }
                    _ => self.output(path, field),
                }
            }
        }
    }

    /// A step, or a part of the pattern that the template belongs to.
    fn visible(&self, name: &str, field: &Field<'_>, user: Owner<'_>) -> Checked {
        let (pattern, own) = match user {
            Owner::Role(role) => (self.team.pattern_of(&role.name), Some(role.name.as_str())),
            Owner::Pattern(pattern) => (Some(pattern), None),
        };
        if own == Some(name) {
            return Err(field.fault(format!("{name} cannot use its own output in its first message")));
        }
        let Some(pattern) = pattern.filter(|pattern| pattern.members().contains(&name)) else {
            return self.step(name, field);
        };
        // Who comes first has nothing of the others yet.
        let comes_later = match (&pattern.kind, own) {
            (_, None) => false,
            (PatternKind::Review { writer, .. }, Some(own)) => own == writer,
            (PatternKind::Best { of, .. }, Some(own)) => own == of,
            (PatternKind::Debate { .. }, Some(_)) => true,
        };
        if comes_later {
            return Err(
                field.fault(format!("{name} has not said anything yet when this is told; see {}", pattern.name))
            );
        }
        Ok(())
    }

    /// The fields that another step's output has.
    fn output(&self, path: &OutputPath, field: &Field<'_>) -> Checked {
        self.step(&path.step, field)?;
        if path.fields.is_empty() {
            return Ok(());
        }
        match self.role_behind(&path.step) {
            Some(role)
                if role.is_many() && self.team.pattern_of(&role.name).is_none() && role.strategy != Strategy::Any =>
            {
                Err(field.fault(several(&role.name)))
            }
            Some(role) => self.fields(role.output_schema.as_ref(), &role.name, &path.fields, field),
            None => Err(field.fault(format!("{} is a debate: its output is a list without fields", path.step))),
        }
    }

    /// The role whose output is that of a step; none for a debate.
    fn role_behind(&self, step: &str) -> Option<&'a Role> {
        let pattern = self.team.patterns.iter().find(|pattern| pattern.name == step);
        match pattern.map(|pattern| &pattern.kind) {
            None => self.team.role(step),
            Some(PatternKind::Review { writer, .. }) => self.team.role(writer),
            Some(PatternKind::Best { of, .. }) => self.team.role(of),
            Some(PatternKind::Debate { .. }) => None,
        }
    }

    /// The fields that a schema promises.
    fn fields(&self, schema: Option<&Value>, role: &str, path: &[String], field: &Field<'_>) -> Checked {
        if path.is_empty() {
            return Ok(());
        }
        let Some(mut schema) = schema else {
            return Err(field
                .fault(format!("{role} answers with a text: give it an output_schema to use fields of its output")));
        };
        for name in path {
            // What a schema does not list may be there all the same.
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Ok(()) };
            let names: Vec<&str> = properties.keys().map(String::as_str).collect();
            schema = properties
                .get(name)
                .ok_or_else(|| field.fault(unknown(&format!("field of {role}'s output"), name, &names)))?;
        }
        Ok(())
    }
}

/// Whose template it is.
#[derive(Clone, Copy)]
enum Owner<'a> {
    Role(&'a Role),
    Pattern(&'a Pattern),
}

impl PatternKind {
    /// The table that such a pattern stands in.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Review { .. } => "review",
            Self::Best { .. } => "best",
            Self::Debate { .. } => "debate",
        }
    }
}

/// Whether a name is like one that an agent gets: `worker-2`, `critic-round2`, `worker-try2`.
fn is_numbered(name: &str) -> bool {
    let Some((_, end)) = name.rsplit_once('-') else { return false };
    let digits = ["round", "try"].iter().find_map(|word| end.strip_prefix(word)).unwrap_or(end);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn several(role: &str) -> String {
    format!("{role} is several agents: its output is a list without fields")
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(near) => format!("there is no {what} {name} (did you mean {near}?)"),
        None if known.is_empty() => format!("there is no {what} {name}"),
        None => format!("there is no {what} {name}; expected one of {}", known.join(", ")),
    }
}
