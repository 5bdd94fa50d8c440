//! What is selected when the conversation goes to another branch: what that branch says, as far as it is there. What it
//! does not say stays as it is, and is stored below the new place, so that a restart there selects the same.

use std::{mem, sync::Arc};

use super::LoopState;
use crate::{
    protocol::{
        EntryBody, Event, Model, ModelRef, ThinkingLevel,
        event::{NoticeLevel, SelectSource},
    },
    store::{jsonl::EntryKind, tree::TreeView},
    tools::permissions::plan,
};

/// See the module.
#[derive(Default)]
pub(super) struct Restored {
    model: Option<Arc<Model>>,
    level: Option<ThinkingLevel>,
    /// The active tools; none leaves them as they are.
    tools: Option<Vec<String>>,
    /// What the branch does not say.
    pub entries: Vec<EntryBody>,
    /// What people should know.
    notices: Vec<String>,
}

impl LoopState {
    /// What is to be selected at the leaf of `branch`.
    pub(super) fn restored(&self, branch: &TreeView) -> Restored {
        let catalogue = self.shared.config.catalogue.now();
        let said = branch.selection();
        let wanted = said.restored_model(|name| catalogue.virtual_model(name).is_some());
        let there = wanted.as_ref().and_then(|name| self.available(name));
        let mut restored = Restored::default();
        if let (Some(name), None) = (&wanted, &there) {
            let text = format!("The model of this branch, {name}, cannot be used now; the selected model stays.");
            restored.notices.push(text);
        }
        let (selected, thinking) = self.selected();
        restored.model = there.or(selected);
        if let Some(name) = restored.model.as_ref().map(|model| model.reference())
            && wanted.as_ref() != Some(&name)
        {
            let ModelRef { provider, model_id } = name;
            restored.entries.push(EntryBody::ModelChange { provider, model_id });
        }
        let level = said.thinking_level.as_deref().and_then(ThinkingLevel::parse);
        restored.level = Some(level.unwrap_or(thinking));
        restored.entries.extend(level.is_none().then(|| EntryBody::thinking(thinking)));
        restored.entries.extend(self.plan_entry(branch));
        restored.tools = self.tools_of(branch);
        restored
    }

    /// The tools that a branch declares. One without a request declares none: then those of now go on, as they do when
    /// the command line chose them.
    fn tools_of(&self, branch: &TreeView) -> Option<Vec<String>> {
        let config = &self.shared.config;
        let declared = branch.system().tools;
        if config.tools_chosen || declared.is_empty() {
            return None;
        }
        let names = declared.into_iter().map(|tool| tool.name);
        Some(names.filter(|name| config.tools.now().iter().any(|tool| tool.declaration().name == *name)).collect())
    }

    /// Plan mode is the user's wish of now: a branch that says otherwise is told. None when it agrees.
    fn plan_entry(&self, branch: &TreeView) -> Option<EntryBody> {
        let planning = self.shared.selection().plan_mode;
        let mut customs = branch.ancestors().filter(|entry| entry.kind() == EntryKind::Custom);
        let said = customs.find_map(|entry| plan::entry_says(&entry.entry().body));
        (said.unwrap_or_default() != planning).then(|| plan::entry(planning))
    }

    /// The conversation is at its new place: selects what belongs there, and tells what changed by that.
    pub(super) fn select_restored(&self, restored: Restored) {
        let notice = |text| Event::Notice { level: NoticeLevel::Warning, text };
        let mut events: Vec<Event> = restored.notices.into_iter().map(notice).collect();
        {
            let mut selection = self.shared.selection();
            if let Some(model) = restored.model {
                let name = model.reference();
                let previous = selection.model.replace(model).map(|model| model.reference());
                if previous.as_ref() != Some(&name) {
                    events.push(Event::ModelChanged { model: name, previous, source: SelectSource::Restore });
                }
            }
            let level = restored.level.unwrap_or(selection.thinking);
            let level = selection.model.as_ref().map_or(level, |model| model.clamp_thinking(level));
            if mem::replace(&mut selection.thinking, level) != level {
                events.push(Event::ThinkingLevelChanged { level });
            }
            if let Some(tools) = restored.tools {
                selection.active_tools = tools;
            }
        }
        self.shared.publish(events);
    }
}
