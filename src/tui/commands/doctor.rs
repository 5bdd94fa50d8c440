//! Looking for what is wrong.

use ratatui::layout::Rect;

use super::SlashCommand;
use crate::tui::{
    effect::Effect,
    keys::Key,
    model::Model,
    overlay::{Outcome, Overlay, OverlayContext, text_view::TextView},
    terminal::Frame,
    text::{Hang, StyledLine, one_line, wrap},
    theme::{Theme, ThemeColor},
    work::{
        Work, WorkDone,
        doctor::{Finding, Health, Patient},
    },
};

/// See the module.
pub(super) const COMMANDS: &[SlashCommand] = &[SlashCommand {
    name: "doctor",
    argument: "",
    description: "Check terminal, files, programs, keys and network",
    run: doctor,
}];

fn doctor(model: &mut Model, _: &str) -> Vec<Effect> {
    let patient = Patient { reports: model.reports.clone(), size: model.size, unsaved: model.unsaved.clone() };
    model.overlays.push(Box::new(Doctor::new()));
    vec![Effect::Work(Work::Doctor(Box::new(patient)))]
}

/// What was found so far.
struct Doctor {
    findings: Vec<Finding>,
    done: bool,
    view: TextView,
}

impl Doctor {
    fn new() -> Self {
        Self { findings: Vec::new(), done: false, view: view(&[], false) }
    }
}

impl Overlay for Doctor {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        self.view.on_key(key, context)
    }

    fn on_worked(&mut self, done: &WorkDone, _: &OverlayContext<'_>) -> Outcome {
        if let WorkDone::Found(finding) = done
            && !self.done
        {
            self.done = finding.is_none();
            self.findings.extend(finding.clone());
            self.view = view(&self.findings, self.done);
        }
        Outcome::stay()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.view.height(width, most, context)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        self.view.draw(frame, area, context);
    }
}

fn view(findings: &[Finding], done: bool) -> TextView {
    let findings = findings.to_vec();
    let count = |health| findings.iter().filter(|finding| finding.health == health).count();
    let title = match (done, count(Health::Problem), count(Health::Warning)) {
        (false, ..) => "Looking...".to_owned(),
        (true, 0, 0) => "Nothing is wrong".to_owned(),
        (true, problems, warnings) => format!("Problems: {problems}, warnings: {warnings}"),
    };
    TextView::new(title, move |width, theme| findings.iter().flat_map(|finding| rows(finding, width, theme)).collect())
}

/// A finding, and what to do about it.
fn rows(finding: &Finding, width: usize, theme: &Theme) -> Vec<StyledLine> {
    let (sign, color) = match finding.health {
        Health::Good => ("ok       ", ThemeColor::Success),
        Health::Warning => ("warning  ", ThemeColor::Warning),
        Health::Problem => ("problem  ", ThemeColor::Error),
    };
    let indent = sign.len().min(width / 2);
    let mut line = StyledLine::of(sign, theme.fg(color));
    line.push(one_line(&finding.text), theme.fg(ThemeColor::Text));
    let mut rows = wrap(&line, width, &Hang::indent(indent));
    if let Some(advice) = &finding.advice {
        let blanks = StyledLine::of(" ".repeat(indent), theme.fg(ThemeColor::Muted));
        let advice = StyledLine::of(one_line(advice), theme.fg(ThemeColor::Muted));
        let room = width.saturating_sub(indent).max(1);
        rows.extend(wrap(&advice, room, &Hang::default()).into_iter().map(|row| {
            let mut line = blanks.clone();
            line.spans.extend(row.spans);
            line
        }));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::overlay::testing::World;

    fn finding(health: Health, text: &str, advice: Option<&str>) -> WorkDone {
        WorkDone::Found(Some(Finding { health, text: text.into(), advice: advice.map(str::to_owned) }))
    }

    #[test]
    fn findings_come_one_by_one_and_are_summed_up() {
        let world = World::default();
        let mut doctor = Doctor::new();
        for done in [
            finding(Health::Good, "bash: /bin/bash", None),
            finding(Health::Warning, "gh: not on the PATH", Some("Install it if you want /share.")),
            finding(Health::Problem, "evil \u{1b}[2J", Some("Mend it.")),
        ] {
            doctor.on_worked(&done, &world.context());
        }
        assert!(world.draw(&doctor, 40, 20).contains("Looking..."));
        doctor.on_worked(&WorkDone::Found(None), &world.context());
        // What another one finds later is not of this one.
        doctor.on_worked(&finding(Health::Problem, "later", None), &world.context());
        insta::assert_snapshot!(world.draw(&doctor, 40, 20), @r#"
        ────────────────────────────────────────
        Problems: 1, warnings: 1
        ok       bash: /bin/bash
        warning  gh: not on the PATH
                 Install it if you want /share.
        problem  evil <U+001B>[2J
                 Mend it.
        escape close · down scroll
        ────────────────────────────────────────
        "#);
    }
}
