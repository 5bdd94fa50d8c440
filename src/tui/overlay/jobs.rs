//! Background jobs of the agent.

use ratatui::layout::Rect;

use super::{
    Outcome, Overlay, OverlayContext,
    list::{Item, List, Look, Pressed},
    panel::{Panel, between, hints, note, title},
    text_view::TextView,
};
use crate::{
    actors::reply::CommandResult,
    protocol::{
        Command, Reply,
        jobs::{JobInfo, JobList, JobsCommand},
    },
    tui::{
        effect::{Effect, Purpose},
        keys::{Action, Key},
        terminal::Frame,
        text::{StyledLine, one_line},
        theme::ThemeColor,
    },
};

/// Rows of jobs at most.
const ROWS: usize = 12;
/// Milliseconds after which the list is asked for again while something runs.
const AGAIN_MS: u64 = 1_000;

impl Item for JobInfo {
    fn text(&self) -> &str {
        &self.command
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        let color = match (self.running, self.exit_code) {
            (true, _) => ThemeColor::Warning,
            (false, Some(0)) => ThemeColor::Success,
            (false, _) => ThemeColor::Error,
        };
        let mut left = StyledLine::of(format!("{}  ", one_line(&self.id)), look.aside());
        left.push(one_line(&self.command), look.name());
        // The words begin with the id, which stands in front already.
        let status = self.status.strip_prefix(&self.id).map_or(&*self.status, str::trim_start);
        let right = StyledLine::of(one_line(status), look.theme.fg(color));
        between(&left, &right, look.width)
    }
}

/// The list of jobs.
pub struct JobSelector {
    list: List<JobInfo>,
    /// Commands that live on by themselves.
    kept: Vec<String>,
    loads: bool,
    /// The job that is to be ended when the user says so.
    ends: Option<String>,
    problem: Option<String>,
    /// When the list was asked for last.
    asked: u64,
}

fn ask(command: JobsCommand) -> Vec<Effect> {
    vec![Effect::Send(Command::Jobs(command), Purpose::Overlay)]
}

impl JobSelector {
    /// A list, and what is to be done for it.
    #[must_use]
    pub fn new(now: u64) -> (Self, Vec<Effect>) {
        let selector =
            Self { list: List::new(Vec::new()), kept: Vec::new(), loads: true, ends: None, problem: None, asked: now };
        (selector, ask(JobsCommand::List))
    }

    fn listed(&mut self, jobs: &JobList) {
        self.loads = false;
        self.kept.clone_from(&jobs.kept);
        self.list.replace(jobs.jobs.clone(), |a, b| a.id == b.id);
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let theme = context.theme;
        let mut foot: Vec<StyledLine> = self.kept.iter().map(|kept| note(kept, ThemeColor::Muted, theme)).collect();
        if let Some(id) = &self.ends {
            foot.push(note(&format!("End {id}? Enter ends it."), ThemeColor::Warning, theme));
        }
        foot.extend(self.problem.iter().map(|problem| note(problem, ThemeColor::Error, theme)));
        let actions: &[_] = match self.ends {
            Some(_) => &[(Action::SelectConfirm, "end it"), (Action::SelectCancel, "back")],
            None => {
                &[(Action::SelectConfirm, "output"), (Action::DeleteSession, "end"), (Action::SelectCancel, "leave")]
            }
        };
        Panel {
            title: title("Background jobs", theme),
            foot,
            hints: hints(context.keymap, actions, width, theme),
            ..Panel::default()
        }
    }
}

impl Overlay for JobSelector {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        let is = |action| context.keymap.is(key, action);
        self.problem = None;
        if let Some(id) = self.ends.take() {
            return match is(Action::SelectConfirm) {
                true => Outcome::Stay(ask(JobsCommand::Kill { id })),
                false => Outcome::stay(),
            };
        }
        if is(Action::DeleteSession) {
            self.ends = self.list.marked().filter(|job| job.running).map(|job| job.id.clone());
            return Outcome::stay();
        }
        match (self.list.on_key(key, context.keymap), self.list.marked()) {
            (Pressed::Chosen, Some(job)) => Outcome::Stay(ask(JobsCommand::Read { id: job.id.clone(), from: 0 })),
            (Pressed::Cancelled, _) => Outcome::close(),
            _ => Outcome::stay(),
        }
    }

    fn on_answer(&mut self, answer: &CommandResult, _: &OverlayContext<'_>) -> Outcome {
        match answer {
            Ok(Reply::Jobs(jobs)) => self.listed(jobs),
            Ok(Reply::JobOutput(output)) => {
                let mut text = output.output.clone();
                if output.lost > 0 {
                    text.insert_str(0, &format!("… {} bytes before are not in memory any more\n", output.lost));
                }
                if let Some(path) = &output.full_output_path {
                    text.push_str(&format!("\nAll of it: {path}"));
                }
                let view = TextView::plain(format!("{}: {}", output.job.id, output.job.command), text);
                return Outcome::Open(Box::new(view), Vec::new());
            }
            Ok(_) => return Outcome::Stay(ask(JobsCommand::List)),
            Err(error) => self.problem = Some(error.to_string()),
        }
        Outcome::stay()
    }

    fn on_change(&mut self, context: &OverlayContext<'_>) -> Outcome {
        if !self.is_moving() || context.now < self.asked + AGAIN_MS {
            return Outcome::stay();
        }
        self.asked = context.now;
        Outcome::Stay(ask(JobsCommand::List))
    }

    fn is_moving(&self) -> bool {
        self.list.items().iter().any(|job| job.running)
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.list.height(&self.panel(width, context), ROWS, most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        let nothing = if self.loads { "  Looking for jobs …" } else { "  No background job" };
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            self.list.draw(frame, body, nothing, context.theme);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        protocol::jobs::JobOutput,
        tui::overlay::testing::{World, told},
    };

    fn job(id: &str, running: bool) -> JobInfo {
        let status = if running { format!("{id} has run for 3 s") } else { "exit 0".to_owned() };
        let exit_code = (!running).then_some(0);
        JobInfo { id: id.into(), command: format!("make {id}"), running, exit_code, status, ..JobInfo::default() }
    }

    fn selector() -> JobSelector {
        let (mut selector, effects) = JobSelector::new(0);
        assert_eq!(effects, ask(JobsCommand::List));
        let jobs =
            JobList { jobs: vec![job("job-1", true), job("job-2", false)], kept: vec!["a server lives on".into()] };
        selector.on_answer(&Ok(Reply::Jobs(jobs)), &World::default().context());
        selector
    }

    #[test]
    fn keys_show_output_and_end_a_job_after_a_question() {
        let read = |id: &str| told(&Outcome::Stay(ask(JobsCommand::Read { id: id.into(), from: 0 })));
        for (pressed, expected) in [
            ("enter", read("job-1")),
            ("down enter", read("job-2")),
            ("ctrl+d enter", told(&Outcome::Stay(ask(JobsCommand::Kill { id: "job-1".into() })))),
            ("ctrl+d escape escape", "close".to_owned()),
            ("down ctrl+d enter", read("job-2")),
        ] {
            assert_eq!(told(&World::default().press(&mut selector(), pressed)), expected, "{pressed}");
        }
    }

    #[test]
    fn output_opens_and_the_list_is_asked_for_again_while_something_runs() {
        let mut world = World::default();
        let mut selector = selector();
        let output = JobOutput { job: job("job-1", true), output: "line\n".into(), ..JobOutput::default() };
        assert_eq!(told(&selector.on_answer(&Ok(Reply::JobOutput(output)), &world.context())), "open");
        assert_eq!(told(&selector.on_change(&world.context())), "stay");
        world.now = AGAIN_MS;
        assert_eq!(told(&selector.on_change(&world.context())), told(&Outcome::Stay(ask(JobsCommand::List))));
        insta::assert_snapshot!(world.draw(&selector, 60, 12), @r"
    ────────────────────────────────────────────────────────────
    Background jobs
    → job-1  make job-1                          has run for 3 s
      job-2  make job-2                                   exit 0
    a server lives on
    enter output · ctrl+d end · escape leave
    ────────────────────────────────────────────────────────────
    ");
    }
}
