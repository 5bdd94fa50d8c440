//! Choosing which models there are to cycle through and to choose from.

use std::sync::Arc;

use ratatui::layout::Rect;
use serde_json::{Value, json};

use crate::{
    protocol::{Model, ModelRef},
    tui::{
        effect::Effect,
        keys::{Action, Key},
        overlay::{
            Outcome, Overlay, OverlayContext,
            list::{Item, List, Look, Pressed},
            panel::{Panel, between, hints, title},
            saving::Save,
        },
        terminal::Frame,
        text::{StyledLine, one_line},
        theme::ThemeColor,
        work::Work,
        working::WorkContext,
    },
};

/// Rows of models at most.
const ROWS: usize = 15;

/// A model in the list.
struct Row {
    model: Arc<Model>,
    text: String,
    enabled: bool,
}

impl Item for Row {
    fn text(&self) -> &str {
        &self.text
    }

    fn line(&self, look: &Look<'_>) -> StyledLine {
        let (mark, color) = if self.enabled { ("✓ ", ThemeColor::Success) } else { ("  ", ThemeColor::Dim) };
        let mut left = StyledLine::of(mark, look.theme.fg(color));
        left.push(one_line(&self.model.id), look.name());
        let right = StyledLine::of(format!("[{}]", one_line(&self.model.provider)), look.aside());
        between(&left, &right, look.width)
    }
}

/// The list of models with those of the scope first, in their order. A change counts at once in this session; it is
/// saved when the user says so.
pub struct ScopedModels {
    list: List<Row>,
    /// Whether something was changed since it was saved.
    unsaved: bool,
}

impl ScopedModels {
    /// A list of all models with a key. `scope`: those that are enabled, in order; empty: all of them.
    #[must_use]
    pub fn new(all: &[Arc<Model>], scope: &[Arc<Model>]) -> Self {
        let row = |model: &Arc<Model>, enabled| {
            let text = format!("{} {} {}", model.id, model.provider, model.name);
            Row { model: model.clone(), text, enabled }
        };
        let is_scoped = |model: &Arc<Model>| scope.iter().any(|known| known.reference() == model.reference());
        let first = scope.iter().map(|model| row(model, true));
        let rest = all.iter().filter(|model| !is_scoped(model)).map(|model| row(model, scope.is_empty()));
        Self { list: List::new(first.chain(rest).collect()), unsaved: false }
    }

    /// The enabled models in order; none when all are: then there is no scope.
    fn scope(&self) -> Option<Vec<ModelRef>> {
        let rows = self.list.items();
        let enabled = rows.iter().filter(|row| row.enabled).map(|row| row.model.reference()).collect();
        (!rows.iter().all(|row| row.enabled)).then_some(enabled)
    }

    fn changed(&mut self) -> Outcome {
        self.unsaved = true;
        Outcome::Stay(vec![Effect::Work(Work::Scope(ScopeWork(self.scope().unwrap_or_default())))])
    }

    /// Enables or disables the models that `of` takes.
    fn enable(&mut self, enabled: bool, of: impl Fn(&Row) -> bool) -> Outcome {
        self.list.items_mut().iter_mut().filter(|row| of(row)).for_each(|row| row.enabled = enabled);
        self.changed()
    }

    /// Moves the marked model up or down in the order.
    fn reorder(&mut self, by: isize) -> Outcome {
        let Some(at) = self.list.marked_at().filter(|_| self.list.search().is_empty()) else { return Outcome::stay() };
        let Some(to) = at.checked_add_signed(by).filter(|to| *to < self.list.items().len()) else {
            return Outcome::stay();
        };
        self.list.items_mut().swap(at, to);
        self.list.refresh();
        self.list.mark(to);
        self.changed()
    }

    fn save(&mut self) -> Outcome {
        self.unsaved = false;
        let scope = self.scope();
        let told = match &scope {
            Some(scope) => format!("{} models are enabled from now on", scope.len()),
            None => "All models are enabled from now on".to_owned(),
        };
        let value = scope.map_or(Value::Null, |scope| json!(scope.iter().map(ModelRef::to_string).collect::<Vec<_>>()));
        Outcome::Stay(vec![Effect::Work(Work::Save(Save::new(told).set(&["enabledModels"], value)))])
    }

    fn panel(&self, width: u16, context: &OverlayContext<'_>) -> Panel<'_> {
        let theme = context.theme;
        let mut head = title("Models to choose from", theme);
        let rows = self.list.items();
        let enabled = rows.iter().filter(|row| row.enabled).count();
        head.push(format!("  {enabled} of {}", rows.len()), theme.fg(ThemeColor::Muted));
        if self.unsaved {
            head.push("  not saved", theme.fg(ThemeColor::Warning));
        }
        let actions = [
            (Action::SelectConfirm, "toggle"),
            (Action::SelectCancel, "leave"),
            (Action::SaveModel, "save"),
            (Action::EnableAllModels, "all"),
            (Action::ClearAllModels, "none"),
            (Action::ToggleProvider, "provider"),
            (Action::ReorderModelUp, "up"),
            (Action::ReorderModelDown, "down"),
        ];
        Panel {
            title: head,
            input: Some((self.list.search(), "search")),
            hints: hints(context.keymap, &actions, width, theme),
            ..Panel::default()
        }
    }
}

impl Overlay for ScopedModels {
    fn on_key(&mut self, key: Key, context: &OverlayContext<'_>) -> Outcome {
        let is = |action| context.keymap.is(key, action);
        let marked = self.list.marked().map(|row| (row.model.clone(), row.enabled));
        if is(Action::SaveModel) {
            return self.save();
        }
        if is(Action::EnableAllModels) {
            return self.enable(true, |_| true);
        }
        if is(Action::ClearAllModels) {
            return self.enable(false, |_| true);
        }
        if let (true, Some((model, enabled))) = (is(Action::ToggleProvider), &marked) {
            return self.enable(!enabled, |row| row.model.provider == model.provider);
        }
        if is(Action::ReorderModelUp) {
            return self.reorder(-1);
        }
        if is(Action::ReorderModelDown) {
            return self.reorder(1);
        }
        match (self.list.on_key(key, context.keymap), marked) {
            (Pressed::Chosen, Some((model, enabled))) => {
                self.enable(!enabled, |row| row.model.reference() == model.reference())
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
        self.panel(area.width, context).draw(frame, area, context.theme, |frame, body| {
            self.list.draw(frame, body, "  No provider has a key", context.theme);
        });
    }
}

/// Other models to cycle through in this session; empty: all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeWork(pub Vec<ModelRef>);

impl ScopeWork {
    /// Puts them into the place of those before. A model keeps the level that went with it.
    pub fn run(self, context: &WorkContext) {
        let catalogue = context.shared.config.catalogue.now();
        let mut selection = context.shared.selection();
        let level = |model: &Arc<Model>| {
            let known = selection.scope.iter().find(|(known, _)| known.reference() == model.reference());
            known.and_then(|(_, level)| *level)
        };
        let models = self.0.iter().filter_map(|name| catalogue.find(name));
        selection.scope = models.map(|model| (model.clone(), level(&model))).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::overlay::testing::{World, model, told};

    fn check(scope: &[&str], pressed: &str, expected: Option<&[&str]>) {
        let all = ["p/alpha", "p/beta", "q/gamma"].map(model);
        let scope: Vec<_> = scope.iter().copied().map(model).collect();
        let mut overlay = ScopedModels::new(&all, &scope);
        World::default().press(&mut overlay, pressed);
        let scope = overlay.scope().map(|scope| scope.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            scope.as_deref(),
            expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).as_deref(),
            "{pressed}"
        );
    }

    #[test]
    fn keys_enable_disable_and_reorder() {
        check(&[], "", None);
        check(&[], "enter", Some(&["p/beta", "q/gamma"]));
        check(&[], "enter enter", None);
        check(&[], "ctrl+x", Some(&[]));
        check(&[], "ctrl+x ctrl+a", None);
        check(&[], "ctrl+p", Some(&["q/gamma"]));
        check(&[], "ctrl+x down down enter", Some(&["q/gamma"]));
        check(&["q/gamma"], "", Some(&["q/gamma"]));
        check(&["q/gamma"], "down enter", Some(&["q/gamma", "p/alpha"]));
        check(&["q/gamma", "p/beta"], "alt+down", Some(&["p/beta", "q/gamma"]));
        check(&["q/gamma", "p/beta"], "down alt+up alt+up", Some(&["p/beta", "q/gamma"]));
        check(&[], "g a m enter", Some(&["p/alpha", "p/beta"]));
    }

    #[test]
    fn a_change_counts_at_once_and_is_saved_on_demand() {
        let world = World::default();
        let mut overlay = ScopedModels::new(&["p/alpha", "p/beta"].map(model), &[]);
        let changed = told(&world.press(&mut overlay, "enter"));
        assert!(changed.starts_with("stay Work(Scope(ScopeWork([ModelRef") && !changed.contains("alpha"), "{changed}");
        insta::assert_snapshot!(world.draw(&overlay, 60, 12), @r"
    ────────────────────────────────────────────────────────────
    Models to choose from  1 of 2  not saved
    > search
    →   alpha                                                [p]
      ✓ beta                                                 [p]
    enter toggle · escape leave · ctrl+s save · ctrl+a all
    ────────────────────────────────────────────────────────────
    ");
        let saved = told(&world.press(&mut overlay, "ctrl+s"));
        assert!(saved.contains("enabledModels") && saved.contains("p/beta"), "{saved}");
    }
}
