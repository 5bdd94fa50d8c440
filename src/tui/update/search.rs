//! Keys of the search in the conversation.

use crate::tui::{
    effect::Effect,
    keys::{Action, Key},
    model::Model,
    search::Search,
    view,
    work::Work,
};

impl Model {
    pub(super) fn open_search(&mut self) -> Vec<Effect> {
        self.menu = None;
        self.search = Some(Search::default());
        Vec::new()
    }

    pub(super) fn search_key(&mut self, key: Key) -> Vec<Effect> {
        let Some(search) = &mut self.search else { return Vec::new() };
        let does = |action| self.keymap.is(key, action);
        if does(Action::SearchClose) {
            self.search = None;
        } else if does(Action::SearchPrevious) || does(Action::SearchNext) {
            if let Some(entry) = search.step(does(Action::SearchNext)) {
                self.show_entry(entry);
            }
        } else if search.input.on_key(key, &self.keymap) {
            return self.look_for();
        }
        Vec::new()
    }

    pub(super) fn search_paste(&mut self, text: &str) -> Vec<Effect> {
        if let Some(search) = &mut self.search {
            search.input.paste(text);
        }
        self.look_for()
    }

    fn look_for(&mut self) -> Vec<Effect> {
        let Some(search) = &mut self.search else { return Vec::new() };
        search.found = None;
        search.query().map(|query| Effect::Work(Work::Search(query))).into_iter().collect()
    }

    /// Entries were found for a query.
    pub(super) fn searched(&mut self, query: &str, found: &[usize]) {
        let entry = self.search.as_mut().and_then(|search| search.found(query, found.to_vec()));
        if let Some(entry) = entry {
            self.show_entry(entry);
        }
    }

    fn show_entry(&mut self, entry: usize) {
        let query = self.search.as_ref().and_then(Search::query).unwrap_or_default();
        view::with_view(self, |transcript, rows, context| transcript.show(entry, &query, rows, context));
    }
}
