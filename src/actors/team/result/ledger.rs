//! Collects what a run did while it runs. It is the only thing that is kept of a run that breaks off, so it is always up
//! to date.

use std::time::Duration;

use super::{
    AgentResult, Break, StepResult, TeamResult,
    timeline::{Span, SpanKind, Timeline},
};
use crate::{
    actors::team::plan::{Outcome, Plan},
    protocol::{Usage, sibling::SiblingEnd},
};

/// The books of a run.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    result: TeamResult,
    spans: Vec<Span>,
    outcome: Option<Outcome>,
}

impl Ledger {
    /// The books of a run that begins; `result` has what is known of it before.
    #[must_use]
    pub fn new(result: TeamResult) -> Self {
        Self { result, ..Self::default() }
    }

    /// An agent takes its first task.
    pub fn started(&mut self, now: Duration, name: &str, role: &str, step: &str) {
        self.result.agents.push(AgentResult {
            name: name.to_owned(),
            role: role.to_owned(),
            step: step.to_owned(),
            ..AgentResult::default()
        });
        self.told(now, name, step);
    }

    /// An agent takes a task.
    pub fn told(&mut self, now: Duration, name: &str, step: &str) {
        let Some(agent) = self.agent(name) else { return };
        agent.tasks += 1;
        let task = agent.tasks;
        self.open(now, name, step, SpanKind::Work, task);
    }

    /// Something else begins that takes time.
    pub fn began(&mut self, now: Duration, name: &str, step: &str, kind: SpanKind) {
        self.open(now, name, step, kind, 0);
    }

    /// It ends.
    pub fn ended(&mut self, now: Duration, name: &str, kind: SpanKind, outcome: &str) {
        self.close(now, name, kind, outcome, Usage::default());
    }

    /// An agent has ended its task; how long it took, when it was known to work.
    pub fn finished(&mut self, now: Duration, name: &str, end: &SiblingEnd) -> Option<u64> {
        let took = self.close(now, name, SpanKind::Work, end.outcome.word(), end.usage)?;
        let agent = self.agent(name)?;
        agent.outcome = end.outcome.word().to_owned();
        agent.message = end.outcome.message().to_owned();
        agent.model = end.model.as_ref().map(ToString::to_string).or(agent.model.take());
        agent.usage.add(&end.usage);
        agent.ms += took;
        agent.session = end.session_file.clone().or(agent.session.take());
        agent.patch = end.patch.as_ref().map(|patch| patch.file.clone()).or(agent.patch.take());
        self.result.usage.add(&end.usage);
        Some(took)
    }

    /// It was broken off, and another process goes on with it, after so many milliseconds in which nobody worked.
    pub fn broke(&mut self, now: Duration, down_ms: u64) {
        self.result.breaks.push(Break { at_ms: millis(now), down_ms });
    }

    /// The run is over.
    pub fn over(&mut self, plan: &Plan, outcome: Outcome) {
        let steps = plan.outputs().map(|(name, output)| StepResult {
            name: name.to_owned(),
            output: output.value.clone(),
            chosen: output.chosen,
        });
        self.result.steps = steps.collect();
        self.outcome = Some(outcome);
    }

    /// Result and timeline; a run that is not over was broken off for `reason`.
    #[must_use]
    pub fn take(self, now: Duration, reason: &str) -> (TeamResult, Timeline) {
        let Self { mut result, mut spans, outcome } = self;
        result.wall_ms = millis(now);
        result.close(outcome.unwrap_or_else(|| Outcome::Stopped(reason.to_owned())));
        for span in spans.iter_mut().filter(|span| span.to_ms.is_none()) {
            span.outcome = "stopped".to_owned();
        }
        for agent in result.agents.iter_mut().filter(|agent| agent.outcome.is_empty()) {
            agent.outcome = "stopped".to_owned();
        }
        let timeline = Timeline {
            team: result.team.clone(),
            started_at: result.started_at.clone(),
            wall_ms: result.wall_ms,
            breaks: result.breaks.clone(),
            spans,
        };
        (result, timeline)
    }

    fn agent(&mut self, name: &str) -> Option<&mut AgentResult> {
        self.result.agents.iter_mut().find(|agent| agent.name == name)
    }

    fn open(&mut self, now: Duration, name: &str, step: &str, kind: SpanKind, task: u32) {
        self.spans.push(Span {
            agent: name.to_owned(),
            step: step.to_owned(),
            kind,
            task,
            from_ms: millis(now),
            ..Span::default()
        });
    }

    /// Closes the open span of that kind; how long it was.
    fn close(&mut self, now: Duration, name: &str, kind: SpanKind, outcome: &str, usage: Usage) -> Option<u64> {
        let open = |span: &&mut Span| span.agent == name && span.kind == kind && span.to_ms.is_none();
        let span = self.spans.iter_mut().find(open)?;
        (span.to_ms, span.outcome, span.usage) = (Some(millis(now)), outcome.to_owned(), usage);
        Some(millis(now).saturating_sub(span.from_ms))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::sibling::{Outcome as TaskOutcome, SiblingId};

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn end(outcome: TaskOutcome, tokens: u64) -> SiblingEnd {
        SiblingEnd {
            id: SiblingId::root().child(1),
            task: 1,
            outcome,
            text: String::new(),
            truncated: false,
            usage: Usage { input: tokens, ..Usage::default() }.summed(),
            model: None,
            session_file: Some("a.jsonl".into()),
            patch: None,
        }
    }

    #[test]
    fn tasks_of_an_agent_add_up_and_what_still_ran_at_the_end_was_stopped() {
        let mut ledger = Ledger::new(TeamResult { team: "t".into(), ..TeamResult::default() });
        ledger.started(ms(0), "a", "role", "step");
        ledger.started(ms(5), "b", "role", "step");
        assert_eq!(ledger.finished(ms(10), "a", &end(TaskOutcome::Done, 7)), Some(10));
        ledger.told(ms(20), "a", "step");
        ledger.finished(ms(50), "a", &end(TaskOutcome::Refused { message: "no".into() }, 3));
        ledger.began(ms(50), "a", "step", SpanKind::Command);
        let (result, timeline) = ledger.take(ms(60), "a signal");
        let agents: Vec<_> =
            result.agents.iter().map(|a| (&*a.name, &*a.outcome, a.tasks, a.usage.input, a.ms)).collect();
        assert_eq!(agents, [("a", "refused", 2, 10, 40), ("b", "stopped", 1, 0, 0)]);
        assert_eq!((&*result.outcome, &*result.message, result.usage.input), ("stopped", "a signal", 10));
        let spans: Vec<_> =
            timeline.spans.iter().map(|s| json!([s.agent, s.kind, s.from_ms, s.to_ms, s.outcome])).collect();
        let expected = [
            json!(["a", "work", 0, 10, "done"]),
            json!(["b", "work", 5, null, "stopped"]),
            json!(["a", "work", 20, 50, "refused"]),
            json!(["a", "command", 50, null, "stopped"]),
        ];
        assert_eq!(spans, expected);
    }
}
