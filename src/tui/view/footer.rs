//! The status lines below the editor: where the agent works; what it has used and which model answers; and what is
//! out of the ordinary.

use std::borrow::Cow;

use super::numbers::{dollars, percent, tokens};
use crate::{
    protocol::{ThinkingLevel, permission::PermissionMode},
    tui::{
        gauges::Gauges,
        model::Model,
        text::{StyledLine, cut, one_line, width_of},
        theme::{Theme, ThemeColor},
    },
};

/// Columns between the left and the right part at least.
const GAP: usize = 2;
/// How full the context is, in per cent, when it is shown as a warning, and as an error.
const FULL: (f64, f64) = (70.0, 90.0);

/// What the status lines show: texts as they come, made safe when they become lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Footer {
    /// The agent's folder, the home folder as `~`.
    pub folder: String,
    /// The git branch.
    pub branch: Option<String>,
    /// The session's name.
    pub name: Option<String>,
    /// What was used.
    pub gauges: Gauges,
    /// Tokens of the model's window; 0 = unknown.
    pub window: u64,
    /// It compacts by itself.
    pub auto_compaction: bool,
    /// The model.
    pub model: Option<FooterModel>,
    /// What is out of the ordinary, and fields that extensions set.
    pub notes: Vec<String>,
}

/// The model in the status lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FooterModel {
    /// Its provider.
    pub provider: String,
    /// Its id.
    pub id: String,
    /// Its level; none when it cannot think.
    pub thinking: Option<ThinkingLevel>,
}

/// The status lines of the model: two, or three when there is something out of the ordinary.
#[must_use]
pub fn lines(model: &Model, width: usize) -> Vec<StyledLine> {
    Footer::of(model).lines(width, &model.theme)
}

impl Footer {
    /// What a model's status lines show.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let facts = &model.facts;
        Self {
            folder: model.surroundings.short(&facts.cwd),
            branch: model.branch.clone(),
            name: facts.name(),
            gauges: model.gauges.clone(),
            window: facts.window,
            auto_compaction: facts.auto_compaction,
            model: facts.model.as_ref().map(|model| FooterModel {
                provider: model.provider.clone(),
                id: model.id.clone(),
                thinking: model.reasoning.then_some(facts.thinking),
            }),
            notes: notes(model),
        }
    }

    /// The lines, none wider than `width`.
    #[must_use]
    pub fn lines(&self, width: usize, theme: &Theme) -> Vec<StyledLine> {
        let dim = theme.fg(ThemeColor::Dim);
        let mut lines = vec![StyledLine::of(self.place(width), dim), self.usage(width, theme)];
        if !self.notes.is_empty() {
            let notes: Vec<_> = self.notes.iter().map(|note| one_line(note)).collect();
            lines.push(StyledLine::of(notes.join(" · "), dim));
        }
        lines.iter().map(|line| cut(line, width)).collect()
    }

    /// Where the agent works. The beginning of a path is what can be missed first.
    fn place(&self, width: usize) -> String {
        let mut rest = String::new();
        if let Some(branch) = &self.branch {
            rest.push_str(&format!(" ({})", one_line(branch)));
        }
        if let Some(name) = &self.name {
            rest.push_str(&format!(" • {}", one_line(name)));
        }
        let folder = one_line(&self.folder);
        let room = width.saturating_sub(width_of(&rest));
        format!("{}{rest}", shortened(&folder, room))
    }

    /// What was used at the left, the model at the right, which is cut first.
    fn usage(&self, width: usize, theme: &Theme) -> StyledLine {
        let dim = theme.fg(ThemeColor::Dim);
        let mut line = StyledLine::of(self.used(), dim);
        if let Some(context) = self.context() {
            let style = match context.percent {
                Some(percent) if percent > FULL.1 => theme.fg(ThemeColor::Error),
                Some(percent) if percent > FULL.0 => theme.fg(ThemeColor::Warning),
                _ => dim,
            };
            line.push(context.text, style);
        }
        let room = width.saturating_sub(line.width() + GAP);
        if let Some(right) = self.model_text(room) {
            let right = cut(&StyledLine::of(right, dim), room);
            let blanks = width.saturating_sub(line.width() + right.width());
            line.push(" ".repeat(blanks), dim);
            line.spans.extend(right.spans);
        }
        line
    }

    /// Tokens and price, with a blank at the end when there are any.
    fn used(&self) -> String {
        let Gauges { totals, cache_hit, subscription, .. } = &self.gauges;
        let usage = &totals.usage;
        let mut text = String::new();
        for (sign, count) in
            [("↑", usage.input), ("↓", usage.output), ("R", usage.cache_read), ("W", usage.cache_write)]
        {
            if count > 0 {
                text.push_str(&format!("{sign}{} ", tokens(count)));
            }
        }
        if usage.cache_read + usage.cache_write > 0
            && let Some(hit) = cache_hit
        {
            text.push_str(&format!("CH{hit:.1}% "));
        }
        if usage.cost.total > 0.0 || *subscription {
            let note = if *subscription { " (sub)" } else { "" };
            text.push_str(&format!("{}{note} ", dollars(usage.cost.total)));
        }
        text
    }

    /// How full the context is. Without a model there is no window to fill.
    fn context(&self) -> Option<Context> {
        self.model.as_ref()?;
        let auto = if self.auto_compaction { " (auto)" } else { "" };
        let known = self.gauges.context;
        let percent = known.and_then(|known| percent(known, self.window));
        let part = match (percent, known) {
            (Some(percent), _) => format!("{percent:.1}%"),
            (None, Some(known)) if self.window == 0 => tokens(known),
            _ => "?".to_owned(),
        };
        let window = if self.window > 0 { tokens(self.window) } else { "?".to_owned() };
        Some(Context { text: format!("{part}/{window}{auto}"), percent })
    }

    /// The model in at most `room` columns, with its provider where that helps and fits.
    fn model_text(&self, room: usize) -> Option<String> {
        let Some(model) = &self.model else { return Some("no model".to_owned()) };
        let mut text = with_level(&model.id, model.thinking);
        if let Some((id, level)) = &self.gauges.routed {
            text.push_str(&format!(" → {}", with_level(id, Some(*level))));
        }
        let full = format!("({}) {text}", one_line(&model.provider));
        if self.gauges.several_providers && width_of(&full) <= room {
            return Some(full);
        }
        (room > 0).then_some(text)
    }
}

/// How full the context is.
struct Context {
    text: String,
    percent: Option<f64>,
}

fn with_level(id: &str, level: Option<ThinkingLevel>) -> String {
    let id = one_line(id);
    match level {
        None => id,
        Some(ThinkingLevel::Off) => format!("{id} • thinking off"),
        Some(level) => format!("{id} • {level}"),
    }
}

/// A path in at most `room` columns: folders at its beginning become `…`, the last one stays.
fn shortened(path: &str, room: usize) -> Cow<'_, str> {
    if width_of(path) <= room {
        return Cow::Borrowed(path);
    }
    let mut tail = path;
    while let Some((_, rest)) = tail.split_once('/') {
        tail = rest;
        if width_of(tail) + 2 <= room {
            break;
        }
    }
    let is_whole = tail.is_empty() || tail.len() == path.len();
    if is_whole { Cow::Borrowed(path) } else { Cow::Owned(format!("…/{tail}")) }
}

/// What is out of the ordinary, then the fields of extensions by their keys.
fn notes(model: &Model) -> Vec<String> {
    let facts = &model.facts;
    let mut notes = Vec::new();
    if facts.read_only {
        notes.push("read-only".to_owned());
    }
    if facts.plan_mode {
        notes.push("plan mode".to_owned());
    }
    if facts.permission_mode != PermissionMode::Off {
        notes.push(format!("permissions: {}", facts.permission_mode.as_str()));
    }
    if facts.jobs > 0 {
        notes.push(super::numbers::counted(facts.jobs, "job", "jobs"));
    }
    let agents = crate::tui::cards::running(&model.view);
    if agents > 0 {
        notes.push(super::numbers::counted(agents, "agent", "agents"));
    }
    if let Some(reason) = &model.unsaved {
        notes.push(format!("not saved: {reason}"));
    }
    let mut fields: Vec<_> = model.statuses.iter().collect();
    fields.sort();
    notes.extend(fields.into_iter().map(|(_, text)| text.clone()));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{protocol::Usage, store::tree::Totals, tui::testing::text_of};

    fn footer() -> Footer {
        let mut usage =
            Usage { input: 12_345, output: 678, cache_read: 90_000, cache_write: 4_000, ..Usage::default() };
        usage.cost.total = 0.1234;
        Footer {
            folder: "~/code/projects/troupe".to_owned(),
            branch: Some("main".to_owned()),
            name: Some("Blue Whale".to_owned()),
            gauges: Gauges {
                totals: Totals { usage, ..Totals::default() },
                context: Some(62_400),
                cache_hit: Some(87.3),
                ..Gauges::default()
            },
            window: 200_000,
            auto_compaction: true,
            model: Some(FooterModel {
                provider: "anthropic".to_owned(),
                id: "claude-sonnet-4-5".to_owned(),
                thinking: Some(ThinkingLevel::Medium),
            }),
            notes: Vec::new(),
        }
    }

    fn drawn(footer: &Footer, width: usize) -> String {
        text_of(&footer.lines(width, &Theme::plain()))
    }

    #[test]
    fn the_status_lines_fit_into_every_width() {
        for width in 0..120 {
            for line in footer().lines(width, &Theme::plain()) {
                assert!(line.width() <= width, "{width}: {:?}", line.text());
            }
        }
    }

    #[test]
    fn the_status_lines_in_three_widths() {
        let footer = Footer { notes: vec!["plan mode".into(), "2 jobs".into()], ..footer() };
        insta::assert_snapshot!(drawn(&footer, 40), @r#"
        …/projects/troupe (main) • Blue Whale
        ↑12k ↓678 R90k W4.0k CH87.3% $0.123 31.…
        plan mode · 2 jobs
        "#);
        insta::assert_snapshot!(drawn(&footer, 80), @r#"
        ~/code/projects/troupe (main) • Blue Whale
        ↑12k ↓678 R90k W4.0k CH87.3% $0.123 31.2%/200k (auto)  claude-sonnet-4-5 • medi…
        plan mode · 2 jobs
        "#);
        insta::assert_snapshot!(drawn(&footer, 200), @r#"
        ~/code/projects/troupe (main) • Blue Whale
        ↑12k ↓678 R90k W4.0k CH87.3% $0.123 31.2%/200k (auto)                                                                                                                         claude-sonnet-4-5 • medium
        plan mode · 2 jobs
        "#);
    }

    /// The second line without the blanks between its parts.
    fn check(footer: &Footer, expected: &str) {
        let line = footer.lines(150, &Theme::plain())[1].text();
        let parts: Vec<_> = line.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect();
        assert_eq!(parts.join(" | "), expected);
    }

    #[test]
    fn what_there_is_not_is_left_out() {
        let model = || footer().model;
        let empty = Footer { window: 200_000, model: model(), ..Footer::default() };
        check(&empty, "?/200k | claude-sonnet-4-5 • medium");
        check(&Footer { model: None, window: 0, auto_compaction: true, ..empty.clone() }, "no model");
        let gauges = Gauges { context: Some(0), subscription: true, ..Gauges::default() };
        check(&Footer { gauges, ..empty.clone() }, "$0.000 (sub) 0.0%/200k | claude-sonnet-4-5 • medium");
        let gauges = Gauges { context: Some(1_500), ..Gauges::default() };
        check(&Footer { gauges, window: 0, ..empty.clone() }, "1.5k/? | claude-sonnet-4-5 • medium");
        let thinking = |thinking| model().map(|model| FooterModel { thinking, ..model });
        check(
            &Footer { model: thinking(Some(ThinkingLevel::Off)), ..empty.clone() },
            "?/200k | claude-sonnet-4-5 • thinking off",
        );
        check(&Footer { model: thinking(None), ..empty.clone() }, "?/200k | claude-sonnet-4-5");
        let routed = Some(("haiku".to_owned(), ThinkingLevel::Low));
        let gauges = Gauges { routed, several_providers: true, ..Gauges::default() };
        check(
            &Footer { gauges, model: thinking(None), ..empty },
            "?/200k | (anthropic) claude-sonnet-4-5 → haiku • low",
        );
    }

    #[test]
    fn a_full_context_has_another_colour() {
        let theme = Theme::new("t", crate::tui::theme::Appearance::Dark, |of| ratatui::style::Color::Indexed(of as u8));
        for (context, expected) in [
            (140_000, ThemeColor::Dim),
            (140_100, ThemeColor::Warning),
            (180_000, ThemeColor::Warning),
            (181_000, ThemeColor::Error),
        ] {
            let footer = Footer { gauges: Gauges { context: Some(context), ..Gauges::default() }, ..footer() };
            let line = footer.lines(100, &theme).remove(1);
            let span = line.spans.iter().find(|span| span.text.contains("%/")).unwrap();
            assert_eq!(span.style, theme.fg(expected), "{context}");
        }
    }

    #[test]
    fn the_path_loses_its_beginning_first() {
        for (room, expected) in
            [(22, "~/code/projects/troupe"), (21, "…/projects/troupe"), (16, "…/troupe"), (3, "…/troupe")]
        {
            assert_eq!(shortened("~/code/projects/troupe", room), expected, "{room}");
        }
        assert_eq!(shortened("long-name", 3), "long-name");
    }

    #[test]
    fn fc_064_names_that_hold_commands_of_terminals_are_shown_as_text() {
        let evil = "x\u{1b}]0;title\u{7}\n\t\u{9b}31m\u{202e}";
        let footer = Footer {
            folder: format!("~/project{evil}"),
            branch: Some(evil.to_owned()),
            name: Some(evil.to_owned()),
            model: Some(FooterModel { provider: evil.to_owned(), id: evil.to_owned(), thinking: None }),
            gauges: Gauges {
                several_providers: true,
                routed: Some((evil.into(), ThinkingLevel::Low)),
                ..Gauges::default()
            },
            notes: vec![evil.to_owned()],
            ..Footer::default()
        };
        for width in [40, 400] {
            for line in footer.lines(width, &Theme::plain()) {
                let text = line.text();
                assert!(!text.chars().any(|c| c.is_control() || c == '\u{202e}'), "{text:?}");
            }
        }
        assert!(drawn(&footer, 400).contains("~/projectx<U+001B>]0;title<U+0007>"));
    }
}
