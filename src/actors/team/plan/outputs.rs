//! What comes of steps, and how it gets into texts.

use serde_json::{Value, json};

use super::{Plan, SeatId, seat::SeatState};
use crate::actors::team::template::{Place, Template, message, shown, within};

/// What a step made.
#[derive(Clone, Debug, PartialEq)]
pub struct StepOutput {
    /// Its value: a text, JSON, or the list of those of several agents.
    pub value: Value,
    /// A list as a prompt has it.
    pub(super) text: Option<String>,
    /// What was changed in worktrees.
    pub patch: Option<String>,
    /// The number of the agent whose work was chosen.
    pub chosen: Option<usize>,
}

impl StepOutput {
    /// One value.
    #[must_use]
    pub fn one(value: Value, patch: Option<String>) -> Self {
        Self { value, text: None, patch, chosen: None }
    }

    /// Several values, each with a heading.
    #[must_use]
    pub fn many(parts: Vec<(String, Value)>, patch: Option<String>) -> Self {
        let text = listed(parts.iter().map(|(heading, value)| (heading.as_str(), shown(value))));
        Self { value: parts.into_iter().map(|(_, value)| value).collect(), text: Some(text), patch, chosen: None }
    }

    /// The whole as a prompt has it.
    #[must_use]
    pub fn text(&self) -> String {
        self.text.clone().unwrap_or_else(|| shown(&self.value))
    }
}

/// Texts below headings.
pub(super) fn listed<'a>(parts: impl Iterator<Item = (&'a str, String)>) -> String {
    parts.map(|(heading, text)| format!("### {heading}\n\n{text}")).collect::<Vec<_>>().join("\n\n")
}

/// What a template may use beside the outputs of steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moment {
    /// Which agent of its role it is for.
    pub number: usize,
    /// The element of the list.
    pub item: Option<Value>,
    /// The round.
    pub round: u32,
    /// What the other speakers said.
    pub others: Option<String>,
}

impl Plan {
    /// A message for an agent of a step; `which` says in errors which one it is. An empty one is an error: an agent that is
    /// told nothing does nothing, and its end would be waited for without end.
    pub(super) fn fill(
        &self,
        step: usize,
        template: &Template,
        moment: &Moment,
        which: &str,
    ) -> Result<String, String> {
        let filled = template.fill(|place| self.value_of(step, place, moment))?;
        message(template, filled).map_err(|problem| format!("its {which} message {problem}"))
    }

    fn value_of(&self, step: usize, place: &Place, moment: &Moment) -> Option<Value> {
        match place {
            Place::Input(name) => self.given.inputs.get(name).map(|text| json!(text)),
            Place::Number => Some(json!(moment.number)),
            Place::Round => Some(json!(moment.round)),
            Place::Others => moment.others.as_ref().map(|text| json!(text)),
            Place::Seed => Some(json!(self.given.seed)),
            Place::Item(fields) => within(moment.item.as_ref()?, fields).cloned(),
            Place::Output(path) => {
                let output = self.part_of(step, &path.step).or_else(|| self.output_of(&path.step).cloned())?;
                if path.fields.is_empty() { Some(json!(output.text())) } else { path.of(&output.value).cloned() }
            }
            Place::Patch(name) => {
                let output = self.part_of(step, name).or_else(|| self.output_of(name).cloned())?;
                Some(json!(output.patch.unwrap_or_default()))
            }
        }
    }

    /// What a step made.
    pub(super) fn output_of(&self, name: &str) -> Option<&StepOutput> {
        self.steps.iter().find(|step| step.name == name)?.output.as_ref()
    }

    /// What a role has made so far as a part of a pattern.
    fn part_of(&self, step: usize, role: &str) -> Option<StepOutput> {
        if self.steps[step].name == role {
            return None;
        }
        let seats = self.seats_of(step, role);
        if self.team.role(role)?.is_many() {
            return (!seats.is_empty()).then(|| self.all_of(&seats));
        }
        let answer = self.seats[*seats.last()?].answer.as_ref()?;
        Some(StepOutput::one(answer.value.clone(), answer.patch.clone()))
    }

    /// The seats of a role in a step, in order.
    pub(super) fn seats_of(&self, step: usize, role: &str) -> Vec<SeatId> {
        let of_role = |seat: &&SeatId| self.role_of(**seat).name == role;
        self.steps[step].seats.iter().filter(of_role).copied().collect()
    }

    /// What those of these seats made that are done.
    pub(super) fn all_of(&self, seats: &[SeatId]) -> StepOutput {
        let done = seats.iter().map(|seat| &self.seats[*seat]).filter(|seat| seat.state == SeatState::Done);
        let (mut values, mut patches) = (Vec::new(), Vec::new());
        for seat in done {
            let Some(answer) = &seat.answer else { continue };
            let heading = match &seat.item {
                Some(item) => format!("{} ({})", seat.label, shown(item)),
                None => seat.label.clone(),
            };
            patches.extend(answer.patch.clone().map(|patch| (heading.clone(), patch)));
            values.push((heading, answer.value.clone()));
        }
        let patch = listed(patches.iter().map(|(heading, patch)| (heading.as_str(), patch.clone())));
        StepOutput::many(values, (!patch.is_empty()).then_some(patch))
    }
}
