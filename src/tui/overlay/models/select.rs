//! Choosing a model.

use std::sync::Arc;

use ratatui::layout::Rect;
use serde_json::json;

use crate::{
    protocol::{Command, Model, ModelRef},
    tui::{
        effect::{Effect, Purpose},
        keys::{Action, Key},
        overlay::{
            Outcome, Overlay, OverlayContext,
            list::{Item, List, Look, Pressed},
            panel::{Panel, between, hints, note, title},
            saving::Save,
        },
        terminal::Frame,
        text::{StyledLine, one_line},
        theme::ThemeColor,
        work::Work,
    },
};

/// Rows of models at most.
const ROWS: usize = 12;

/// A model in the list.
struct Row {
    model: Arc<Model>,
    /// What a search looks at.
    text: String,
    current: bool,
}

impl Row {
    fn of(model: &Arc<Model>, current: Option<&Arc<Model>>) -> Self {
        let text = format!("{} {} {}", model.id, model.provider, model.name);
        let current = current.is_some_and(|current| current.reference() == model.reference());
        Self { model: model.clone(), text, current }
    }
}

impl Item for Row {
    fn text(&self) -> &str {
        &self.text
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        let mut left = StyledLine::of(one_line(&self.model.id), look.name());
        left.push(format!(" [{}]", one_line(&self.model.provider)), look.aside());
        if self.current {
            left.push(" ✓", look.theme.fg(ThemeColor::Success));
        }
        let right = StyledLine::of(one_line(&self.model.name), look.theme.fg(ThemeColor::Dim));
        between(&left, &right, look.width)
    }
}

/// Which models are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tab {
    All,
    Scoped,
}

/// The list of models. Choosing one changes this session only; saving makes it the default, too.
pub struct ModelSelector {
    list: List<Row>,
    all: Vec<Arc<Model>>,
    /// Models to cycle through; empty = no scope.
    scoped: Vec<Arc<Model>>,
    current: Option<Arc<Model>>,
    tab: Tab,
}

impl ModelSelector {
    /// A list of the models that have a key. `scoped` are those of the scope, none without one; `current` is marked, and
    /// `search` is looked for.
    #[must_use]
    pub fn new(all: Vec<Arc<Model>>, scoped: Vec<Arc<Model>>, current: Option<Arc<Model>>, search: &str) -> Self {
        let tab = if scoped.is_empty() { Tab::All } else { Tab::Scoped };
        let mut selector = Self { list: List::new(Vec::new()), all, scoped, current, tab };
        selector.fill();
        selector.list.on_paste(search);
        selector
    }

    /// Lists the models of the tab, the current one first.
    fn fill(&mut self) {
        let models = if self.tab == Tab::All { &self.all } else { &self.scoped };
        let mut rows: Vec<Row> = models.iter().map(|model| Row::of(model, self.current.as_ref())).collect();
        if self.tab == Tab::All {
            rows.sort_by_key(|row| !row.current);
        }
        self.list.replace(rows, |a, b| a.model.reference() == b.model.reference());
        if let Some(current) = self.list.items().iter().position(|row| row.current)
            && self.list.search().is_empty()
        {
            self.list.mark(current);
        }
    }

    fn marked(&self) -> Option<ModelRef> {
        self.list.marked().map(|row| row.model.reference())
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let theme = context.theme;
        let mut head = title("Model", theme);
        if !self.scoped.is_empty() {
            for (tab, name) in [(Tab::All, "all"), (Tab::Scoped, "scoped")] {
                let color = if tab == self.tab { ThemeColor::Accent } else { ThemeColor::Dim };
                let name = if tab == self.tab { format!("  [{name}]") } else { format!("  {name} ") };
                head.push(name, theme.fg(color));
            }
        }
        let mut actions = vec![(Action::SelectConfirm, "choose"), (Action::SaveModel, "save as default")];
        if !self.scoped.is_empty() {
            actions.push((Action::InputTab, "all or scoped"));
        }
        actions.push((Action::SelectCancel, "leave"));
        let missing = "Models without a key are not listed. /login adds a key, or set the provider's variable.";
        Panel {
            title: head,
            input: Some((self.list.search(), "search")),
            foot: vec![note(missing, ThemeColor::Dim, theme)],
            hints: hints(context.keymap, &actions, width, theme),
            ..Panel::default()
        }
    }
}

impl Overlay for ModelSelector {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        let is = |action| context.keymap.is(key, action);
        if is(Action::InputTab) && !self.scoped.is_empty() {
            self.tab = if self.tab == Tab::All { Tab::Scoped } else { Tab::All };
            self.fill();
            return Outcome::stay();
        }
        if is(Action::SaveModel) {
            return match self.marked() {
                Some(model) => {
                    let save = Effect::Work(Work::Save(default_of(&model)));
                    Outcome::Close(vec![Effect::Send(Command::SetModel(model), Purpose::Plain), save])
                }
                None => Outcome::stay(),
            };
        }
        match (self.list.on_key(key, context.keymap), self.marked()) {
            (Pressed::Chosen, Some(model)) => {
                Outcome::Close(vec![Effect::Send(Command::SetModel(model), Purpose::Plain)])
            }
            (Pressed::Cancelled, _) => Outcome::close(),
            _ => Outcome::stay(),
        }
    }

    fn on_paste(&mut self, text: &str, _: &OverlayContext<'_>) -> Outcome {
        self.list.on_paste(text);
        Outcome::stay()
    }

    fn height(&self, width: u16, most: u16, context: &OverlayContext<'_>) -> u16 {
        self.list.height(&self.panel(width, context), ROWS, most)
    }

    fn draw(&self, frame: &mut Frame, area: Rect, context: &OverlayContext<'_>) {
        let mut panel = self.panel(area.width, context);
        if let Some(count) = self.list.count(panel.body_rows(area.height)) {
            panel.title.push(format!("  {count}"), context.theme.fg(ThemeColor::Dim));
        }
        panel.draw(frame, area, context.theme, |frame, body| {
            self.list.draw(frame, body, "  No provider has a key", context.theme);
        });
    }
}

/// What makes a model the one to begin with.
fn default_of(model: &ModelRef) -> Save {
    Save::new(format!("Default model: {model}"))
        .set(&["defaultProvider"], json!(model.provider))
        .set(&["defaultModel"], json!(model.model_id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::overlay::testing::{World, model, told};

    fn selector(scoped: &[&str], search: &str) -> ModelSelector {
        let all = ["p/alpha", "p/beta", "q/gamma"].map(model);
        ModelSelector::new(all.to_vec(), scoped.iter().copied().map(model).collect(), Some(model("p/beta")), search)
    }

    fn set(model: &str) -> String {
        let (provider, id) = model.split_once('/').unwrap();
        let name = ModelRef { provider: provider.into(), model_id: id.into() };
        told(&Outcome::Close(vec![Effect::Send(Command::SetModel(name), Purpose::Plain)]))
    }

    #[test]
    fn keys_search_and_choose() {
        for (scoped, pressed, expected) in [
            (&[][..], "enter", set("p/beta")),
            (&[], "down enter", set("p/alpha")),
            (&[], "g a m enter", set("q/gamma")),
            (&[], "q / g enter", set("q/gamma")),
            (&[], "z z z enter", "stay".into()),
            (&[], "escape", "close".into()),
            (&[], "tab enter", set("p/beta")),
            (&["q/gamma"], "enter", set("q/gamma")),
            (&["q/gamma"], "tab enter", set("p/beta")),
            (&["q/gamma"], "tab tab enter", set("q/gamma")),
        ] {
            let world = World::default();
            assert_eq!(told(&world.press(&mut selector(scoped, ""), pressed)), expected, "{scoped:?} {pressed}");
        }
    }

    #[test]
    fn saving_makes_it_the_default_too() {
        let outcome = World::default().press(&mut selector(&[], "alph"), "ctrl+s");
        let Outcome::Close(effects) = outcome else { panic!("{}", told(&outcome)) };
        assert_eq!(effects[1], Effect::Work(Work::Save(default_of(&model("p/alpha").reference()))));
    }

    #[test]
    fn the_current_one_is_marked_at_every_size() {
        let world = World::default();
        insta::assert_snapshot!(world.draw(&selector(&["q/gamma"], ""), 40, 12), @r"
    ────────────────────────────────────────
    Model  all   [scoped]
    > search
    → gamma [q]                        GAMMA
    Models without a key are not listed. /l…
    enter choose · escape leave
    ────────────────────────────────────────
    ");
        insta::assert_snapshot!(world.draw(&selector(&[], ""), 80, 24), @r"
    ────────────────────────────────────────────────────────────────────────────────
    Model
    > search
    → beta [p] ✓                                                                BETA
      alpha [p]                                                                ALPHA
      gamma [q]                                                                GAMMA
    Models without a key are not listed. /login adds a key, or set the provider's v…
    enter choose · ctrl+s save as default · escape leave
    ────────────────────────────────────────────────────────────────────────────────
    ");
        insta::assert_snapshot!(world.draw(&selector(&[], "zzz"), 80, 24), @r"
    ────────────────────────────────────────────────────────────────────────────────
    Model
    > zzz
      Nothing fits the search


    Models without a key are not listed. /login adds a key, or set the provider's v…
    enter choose · ctrl+s save as default · escape leave
    ────────────────────────────────────────────────────────────────────────────────
    ");
    }
}
