//! Reports: of a fault, for whoever mends it; of what is drawn, for whoever works on the screen.

use super::SlashCommand;
use crate::tui::{
    effect::Effect,
    model::Model,
    terminal::Frame,
    view,
    work::{Work, report::Report},
};

/// See the module.
pub(super) const COMMANDS: &[SlashCommand] = &[SlashCommand {
    name: "bug",
    argument: "[description]",
    description: "Write a report of a fault, without keys and texts",
    run: bug,
}];

/// Commands that no list shows.
pub(super) const HIDDEN: &[SlashCommand] = &[SlashCommand {
    name: "debug",
    argument: "",
    description: "Write the drawn lines and the messages to troupe-debug.log",
    run: debug,
}];

fn bug(model: &mut Model, argument: &str) -> Vec<Effect> {
    let report = Report {
        description: argument.to_owned(),
        size: model.size,
        reports: model.reports.iter().map(|report| format!("{report:?}")).collect(),
        model: model.facts.model.as_ref().map(|model| model.reference().to_string()),
        settings: model.settings.all.clone(),
        notices: model.transcript.problems(),
    };
    vec![Effect::Work(Work::Report(Box::new(report)))]
}

fn debug(model: &mut Model, _: &str) -> Vec<Effect> {
    let drawn = rows(&view::draw(model));
    vec![Effect::Work(Work::Debug(drawn))]
}

/// The text of a frame, row by row.
fn rows(frame: &Frame) -> String {
    let area = frame.area();
    let mut text = String::new();
    for y in area.top()..area.bottom() {
        let row: String = (area.left()..area.right()).map(|x| frame.buffer[(x, y)].symbol()).collect();
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}
