//! The course of a team: the plan, the books, and what is under way. It takes in what happened and says what is to be
//! done; it does nothing itself, so that what a team has noted leads another process to the same place.

use std::{
    collections::HashMap,
    sync::{Arc, MutexGuard},
    time::Duration,
};

use super::{
    TeamRun, code_of,
    errand::{Errand, Job},
    happening::{Happening, Record},
    specs,
};
use crate::{
    actors::{
        front::page::numbers::{cost, duration, grouped},
        team::{
            plan::{Effect, Input, Plan, SeatId},
            result::{ledger::Ledger, timeline::SpanKind},
        },
    },
    protocol::{
        Usage,
        sibling::{SiblingEnd, SiblingId},
    },
};

/// What is told of notes that are not this team's.
const MISFIT: &str =
    "what is noted of the run does not fit the team file, so nobody can go on with it: begin another run";

/// See the module.
pub(super) struct Course {
    run: Arc<TeamRun>,
    plan: Plan,
    /// What was begun and has not come to its end.
    under_way: Vec<Job>,
    /// The number of the last task of each agent that has ended.
    ended: HashMap<String, u32>,
    /// When each agent was started.
    started: HashMap<String, Duration>,
    /// What agents that work elsewhere have used in the tasks that they have ended.
    used_away: HashMap<String, Usage>,
    /// How it ended, as soon as it has: the exit code.
    code: Option<i32>,
    /// It is being gone through again.
    is_past: bool,
}

impl Course {
    /// The course of a team of which this is noted.
    ///
    /// # Errors
    /// The notes are those of another team, or of a program with other rules: who went on by them would wait for what
    /// never comes.
    pub fn of(run: Arc<TeamRun>, records: &[Record]) -> Result<Self, String> {
        let plan = Plan::new(run.team.clone(), run.given.clone());
        let (under_way, ended, started, used_away) = Default::default();
        let mut course = Self { run, plan, under_way, ended, started, used_away, code: None, is_past: true };
        for (at, record) in records.iter().enumerate() {
            course.check(&record.what).map_err(|problem| format!("{MISFIT} (note {}: {problem})", at + 1))?;
            drop(course.on(record.time(), record.what.clone()));
        }
        if !records.is_empty() && course.is_stuck() {
            return Err(format!("{MISFIT} (nothing is left that it could wait for)"));
        }
        course.is_past = false;
        Ok(course)
    }

    /// Whether something that happened can have happened to this team.
    fn check(&self, what: &Happening) -> Result<(), String> {
        let (name, known) = match what {
            Happening::Ended { seat, life, name, .. }
            | Happening::Ran { seat, life, name, .. }
            | Happening::Merged { seat, life, name, .. } => {
                let seat = self.plan.seats().get(*seat).filter(|seat| (1..=seat.life).contains(life));
                (name, seat.map(|seat| seat.agent_of(*life)))
            }
            Happening::Listed { step, name, .. } => (name, self.plan.steps().nth(*step).map(str::to_owned)),
            Happening::Begun | Happening::GoesOn { .. } | Happening::Stopped { .. } | Happening::Limit { .. } => {
                return Ok(());
            }
        };
        match known {
            Some(known) if known == *name => Ok(()),
            Some(known) => Err(format!("it is about {name}, and by the file it is {known}'s turn")),
            None => Err(format!("it is about {name}, and by the file nobody of that name works yet")),
        }
    }

    /// Whether it is not over, and waits for nothing.
    fn is_stuck(&self) -> bool {
        self.code.is_none() && self.under_way.iter().all(Job::stops)
    }

    /// The exit code, when it is over.
    pub fn code(&self) -> Option<i32> {
        self.code
    }

    /// When each agent was started.
    pub fn started(&self) -> &HashMap<String, Duration> {
        &self.started
    }

    /// Whether something is under way for this agent of this seat that the plan is to hear of.
    pub fn waits_for(&self, seat: SeatId, life: u32) -> bool {
        self.under_way.iter().any(|job| job.seat == Some((seat, life)))
    }

    /// What follows from what happened `now`, a time since the team began.
    pub fn on(&mut self, now: Duration, what: Happening) -> Vec<Job> {
        self.under_way.retain(|job| !is_done_by(job, &what));
        let resumes = matches!(what, Happening::GoesOn { .. });
        let input = self.input(now, what);
        let effects = input.map(|input| self.plan.on(now, input)).unwrap_or_default();
        let mut jobs = Vec::new();
        for effect in effects {
            self.take(now, effect, &mut jobs);
        }
        if resumes {
            return self.under_way.iter().map(|job| self.taken_up(job)).collect();
        }
        self.under_way.extend(jobs.iter().cloned());
        jobs
    }

    /// The team does not go on, for a reason that is no part of its plan.
    pub fn break_off(&mut self, now: Duration, reason: String) {
        for effect in self.plan.on(now, Input::Stop(reason)) {
            self.take(now, effect, &mut Vec::new());
        }
    }

    /// Notes what happened in the books; what the plan hears of it.
    fn input(&mut self, now: Duration, what: Happening) -> Option<Input> {
        let run = self.run.clone();
        let word = |is_good: bool| if is_good { "done" } else { "failed" };
        match what {
            Happening::Begun => Some(Input::Begin),
            Happening::GoesOn { down_ms } => {
                run.books().broke(now, down_ms);
                self.tell(&format!("goes on after a break of {}", duration(down_ms)));
                None
            }
            Happening::Ended { seat, life, name, end, patch } => {
                self.note(now, &name, &end);
                if self.is_away(seat) {
                    self.used_away.entry(name.clone()).or_default().add(&end.usage);
                }
                let SiblingEnd { outcome, text, id, task, .. } = *end;
                // The end of an agent that there never was has no number.
                if id != SiblingId::root() {
                    self.ended.insert(name, task);
                }
                Some(Input::Ended { seat, life, outcome, text, patch })
            }
            Happening::Ran { seat, life, name, passed, output } => {
                run.books().ended(now, &name, SpanKind::Command, word(passed));
                self.tell(&format!("{name}: the command {}", if passed { "succeeded" } else { "failed" }));
                Some(Input::Ran { seat, life, passed, output })
            }
            Happening::Merged { seat, life, name, result } => {
                run.books().ended(now, &name, SpanKind::Merge, word(result.is_ok()));
                Some(Input::Merged { seat, life, result })
            }
            Happening::Listed { step, name, items } => {
                run.books().ended(now, &name, SpanKind::List, word(items.is_ok()));
                Some(Input::Listed { step, items })
            }
            Happening::Stopped { ends, .. } => {
                ends.iter().for_each(|(name, end)| self.note(now, name, end));
                None
            }
            Happening::Limit { what, message } => Some(Input::Limit { what, message }),
        }
    }

    /// What an effect of the plan comes to.
    fn take(&mut self, now: Duration, effect: Effect, jobs: &mut Vec<Job>) {
        let run = self.run.clone();
        match effect {
            Effect::Start { seat, life, name, task, after } => {
                let role = self.plan.role_of(seat);
                let spec = Box::new(specs::spec(&run, role, &name, task));
                self.books().started(now, &name, &role.name, self.step_of(seat));
                self.started.insert(name.clone(), now);
                self.tell(&format!("{name} begins"));
                jobs.push(self.job_for(Some((seat, life)), name, self.is_away(seat), Errand::Start { spec, after }));
            }
            Effect::Say { seat, text } => {
                let job = self.job(seat, Errand::Say { text });
                self.books().told(now, &job.name, self.step_of(seat));
                jobs.push(job);
            }
            Effect::Run { seat, command, time } => {
                let job = self.job(seat, Errand::Run { command, time });
                self.books().began(now, &job.name, self.step_of(seat), SpanKind::Command);
                jobs.push(job);
            }
            Effect::Merge { seat } => {
                let job = self.job(seat, Errand::Merge);
                self.books().began(now, &job.name, self.step_of(seat), SpanKind::Merge);
                jobs.push(job);
            }
            Effect::List { step, source } => {
                let name = self.plan.step_name(step).to_owned();
                self.books().began(now, &name, &name, SpanKind::List);
                jobs.push(self.job_for(None, name, false, Errand::List { step, source }));
            }
            Effect::Stop { seat, life } => {
                let name = self.plan.seats()[seat].agent_of(life);
                // Whoever goes on with the team has nothing to hear from it.
                let waits = |job: &Job| job.seat == Some((seat, life));
                self.under_way.retain(|job| !waits(job));
                jobs.retain(|job| !waits(job));
                jobs.push(self.job_for(None, name, self.is_away(seat), Errand::Stop));
            }
            Effect::Finish(outcome) => {
                self.code = Some(i32::from(code_of(&outcome)));
                self.books().over(&self.plan, outcome);
                self.under_way.retain(Job::stops);
                jobs.retain(Job::stops);
            }
        }
    }

    /// How a job of an earlier process is taken up.
    fn taken_up(&self, job: &Job) -> Job {
        let errand = match &job.errand {
            errand @ (Errand::Start { .. } | Errand::Say { .. }) => {
                Errand::Rejoin { otherwise: Box::new(errand.clone()) }
            }
            errand => errand.clone(),
        };
        self.job_for(job.seat, job.name.clone(), job.is_away, errand)
    }

    fn books(&self) -> MutexGuard<'_, Ledger> {
        self.run.books()
    }

    fn tell(&self, text: &str) {
        if !self.is_past {
            self.run.tell(text);
        }
    }

    fn step_of(&self, seat: SeatId) -> &str {
        self.plan.step_name(self.plan.seats()[seat].step)
    }

    fn job(&self, seat: SeatId, errand: Errand) -> Job {
        let now = &self.plan.seats()[seat];
        self.job_for(Some((seat, now.life)), now.agent(), self.is_away(seat), errand)
    }

    fn job_for(&self, seat: Option<(SeatId, u32)>, name: String, is_away: bool, errand: Errand) -> Job {
        let ended = self.ended.get(&name).copied().unwrap_or(0);
        let used = self.used_away.get(&name).copied().unwrap_or_default();
        let budget = seat.map(|(seat, _)| specs::role_budget(&self.plan.role_of(seat).budget)).unwrap_or_default();
        Job { seat, name, is_away, ended, budget, used, errand }
    }

    /// Whether the agents of a seat work elsewhere. A worktree is where the repository is.
    fn is_away(&self, seat: SeatId) -> bool {
        self.run.elsewhere.get().is_some() && !self.plan.role_of(seat).worktree
    }

    /// What agents elsewhere have used, as the team's notes tell.
    pub fn used_away(&self) -> Usage {
        let mut all = Usage::default();
        self.used_away.values().for_each(|usage| all.add(usage));
        all
    }

    /// Notes the end of an agent's task, the first time that it is heard of.
    fn note(&self, now: Duration, name: &str, end: &SiblingEnd) {
        let took = self.books().finished(now, name, end);
        let Some(took) = took else { return };
        let mut line = format!(
            "{name} {}, {}, {} tokens",
            end.outcome.word(),
            duration(took),
            grouped(end.usage.context_tokens())
        );
        if end.usage.cost.total > 0.0 {
            line.push_str(&format!(", {}", cost(end.usage.cost.total)));
        }
        if !end.outcome.message().is_empty() {
            line.push_str(&format!(": {}", end.outcome.message()));
        }
        self.tell(&line);
    }
}

/// Whether a job has come to its end by this.
fn is_done_by(job: &Job, what: &Happening) -> bool {
    match what {
        Happening::Ended { seat, life, .. }
        | Happening::Ran { seat, life, .. }
        | Happening::Merged { seat, life, .. } => job.seat == Some((*seat, *life)),
        Happening::Listed { step, .. } => matches!(job.errand, Errand::List { step: of, .. } if of == *step),
        Happening::Stopped { name, .. } => job.stops() && name.as_ref().is_none_or(|name| job.name == *name),
        Happening::Begun | Happening::GoesOn { .. } | Happening::Limit { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::VecDeque, path::Path};

    use super::*;
    use crate::{
        actors::team::{file::TeamFile, plan::Given, result::TeamResult},
        protocol::sibling::Outcome,
    };

    const FILE: &str = r#"
        [team]
        name = "t"
        max_parallel = 3
        [role.worker]
        each = { command = "list" }
        prompt = "{{item}}"
        verify = "look"
        [role.writer]
        prompt = "{{worker.output}}"
        [role.critic]
        prompt = "{{writer.output}}"
        [review.text]
        writer = "writer"
        reviewer = "critic"
        until = { contains = "yes" }
        revise = "{{critic.output}}"
        [role.racer]
        count = 3
        strategy = "any"
        prompt = "go"
    "#;

    fn end(task: u32, text: &str) -> SiblingEnd {
        SiblingEnd {
            id: SiblingId::root().child(1),
            task,
            outcome: Outcome::Done,
            text: text.to_owned(),
            truncated: false,
            usage: crate::protocol::Usage { input: 7, ..Default::default() }.summed(),
            model: None,
            session_file: None,
            patch: None,
        }
    }

    /// What comes of a job.
    fn outcome(job: &Job, course: &Course) -> Happening {
        let Job { seat, name, errand, .. } = job.clone();
        let (seat, life) = seat.unwrap_or_default();
        match errand {
            Errand::Start { .. } | Errand::Say { .. } | Errand::Rejoin { .. } => {
                let task = course.ended.get(&name).copied().unwrap_or(0) + 1;
                let text = if name.starts_with("critic-") { "yes" } else { "no" };
                Happening::Ended { seat, life, name, end: Box::new(end(task, text)), patch: None }
            }
            Errand::Run { .. } => Happening::Ran { seat, life, name, passed: true, output: String::new() },
            Errand::Merge => Happening::Merged { seat, life, name, result: Ok(()) },
            Errand::List { step, .. } => Happening::Listed { step, name, items: Ok(vec!["a".into(), "b".into()]) },
            Errand::Stop | Errand::StopAll => Happening::Stopped { ends: Vec::new(), name: Some(name) },
        }
    }

    fn shown(jobs: &[Job]) -> Vec<String> {
        jobs.iter().map(|job| format!("{job:?}")).collect()
    }

    #[test]
    fn the_notes_of_a_team_lead_to_where_it_stood_at_each_of_them() {
        let team = Arc::new(TeamFile::parse(Path::new("t.toml"), FILE.to_owned()).unwrap());
        let run = || Arc::new(TeamRun::new(team.clone(), Given::default(), "s".into(), TeamResult::default()));
        // Those that are done first are the newest, the oldest, or now these, now those.
        for order in [0, 1, 2] {
            let live_run = run();
            let (mut live, mut records) = (Course::of(live_run.clone(), &[]).unwrap(), Vec::new());
            let mut open = VecDeque::new();
            let mut what = Some(Happening::Begun);
            while let Some(happening) = what.take() {
                let record = Record { at: records.len() as u64 * 10, clock: 0, what: happening };
                open.extend(live.on(record.time(), record.what.clone()));
                records.push(record);
                let next_run = run();
                let mut next = Course::of(next_run.clone(), &records).unwrap();
                assert_eq!(shown(&next.under_way), shown(&live.under_way), "after {:?}", records.last());
                assert_eq!(next.code(), live.code());
                let books = |run: &TeamRun| {
                    let (result, timeline) = run.result("x");
                    (result.agents, result.usage, result.output, timeline.spans)
                };
                assert_eq!(books(&next_run), books(&live_run));
                // Whoever goes on takes up all of it, and begins no task twice.
                let jobs = next.on(Duration::from_secs(60), Happening::GoesOn { down_ms: 5 });
                assert_eq!(jobs.len(), live.under_way.len());
                assert!(!jobs.iter().any(|job| matches!(job.errand, Errand::Start { .. } | Errand::Say { .. })));
                let job =
                    if order == 0 || order == 2 && records.len() % 2 == 0 { open.pop_back() } else { open.pop_front() };
                what = job.map(|job| outcome(&job, &live));
            }
            assert_eq!(live.code(), Some(0));
            assert!(records.len() > 10, "{records:?}");
        }
    }

    #[test]
    fn notes_of_another_team_are_refused_in_the_place_of_a_wait_without_end() {
        let course = |file: &str, happenings: &[Happening]| {
            let text = format!("[team]\nname = \"t\"\n{file}");
            let team = Arc::new(TeamFile::parse(Path::new("t.toml"), text).unwrap());
            let run = Arc::new(TeamRun::new(team, Given::default(), "s".into(), TeamResult::default()));
            let records = happenings.iter().map(|what| Record { at: 0, clock: 0, what: what.clone() });
            Course::of(run, &records.collect::<Vec<_>>()).map(drop)
        };
        let ended = |seat, life, name: &str| Happening::Ended {
            seat,
            life,
            name: name.to_owned(),
            end: Box::new(end(1, "x")),
            patch: None,
        };
        let listed = Happening::Listed { step: 0, name: "a".to_owned(), items: Ok(vec!["x".into()]) };
        let one = "[role.a]\nprompt = \"x\"\n[role.b]\nprompt = \"{{a.output}}\"\n";
        let table = [
            (vec![Happening::Begun], "Ok(())"),
            (vec![Happening::Begun, ended(0, 1, "a")], "Ok(())"),
            (vec![Happening::Begun, ended(0, 1, "a"), ended(1, 1, "b")], "Ok(())"),
            (vec![Happening::Begun, ended(0, 1, "worker")], "it is about worker, and by the file it is a's turn"),
            (vec![Happening::Begun, ended(0, 2, "a-try2")], "(note 2: it is about a-try2"),
            (vec![Happening::Begun, ended(7, 1, "b")], "nobody of that name works yet"),
            (vec![Happening::GoesOn { down_ms: 0 }], "nothing is left that it could wait for"),
        ];
        for (happenings, expected) in table {
            let found = format!("{:?}", course(one, &happenings));
            assert!(found.contains(expected), "{happenings:?}: {found}");
        }
        let other = format!("{:?}", course("[role.z]\nprompt = \"x\"\n", &[Happening::Begun, listed]));
        assert!(other.contains("it is about a, and by the file it is z's turn"), "{other}");
    }
}
