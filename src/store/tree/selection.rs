//! What a branch says about the selection: which model, and how much it thinks.

use super::{EntryRef, TreeView};
use crate::{
    protocol::{AgentMessage, EntryBody, ModelRef},
    store::jsonl::{EntryKind, Role},
};

/// What was selected at a leaf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchSelection {
    /// The thinking level that was chosen last, by name; none when none was.
    pub thinking_level: Option<String>,
    /// The model of the branch: chosen last, or that of the last answer, whichever is later.
    pub model: Option<ModelRef>,
    /// The model that was chosen last. It differs from `model` when answers name another one, as those of a virtual
    /// model do.
    pub selected_model: Option<ModelRef>,
}

impl BranchSelection {
    /// The model to go on with: a virtual one that was chosen stays chosen, although answers name physical ones.
    #[must_use]
    pub fn restored_model(&self, is_virtual: impl Fn(&ModelRef) -> bool) -> Option<ModelRef> {
        let chosen = self.selected_model.clone();
        chosen.filter(is_virtual).or_else(|| self.model.clone())
    }

    fn is_complete(&self) -> bool {
        self.thinking_level.is_some() && self.model.is_some() && self.selected_model.is_some()
    }

    /// Takes in the next entry on the way up.
    fn read(&mut self, part: &EntryRef<'_>) {
        match part.kind() {
            EntryKind::ThinkingLevelChange if self.thinking_level.is_none() => {
                if let EntryBody::ThinkingLevelChange { thinking_level } = &part.entry().body {
                    self.thinking_level = Some(thinking_level.clone());
                }
            }
            EntryKind::ModelChange if self.selected_model.is_none() => {
                if let EntryBody::ModelChange { provider, model_id } = &part.entry().body {
                    let model = ModelRef { provider: provider.clone(), model_id: model_id.clone() };
                    self.model.get_or_insert_with(|| model.clone());
                    self.selected_model = Some(model);
                }
            }
            EntryKind::Message(Role::Assistant) if self.model.is_none() => {
                if let Some(answer) = part.entry().body.as_message().and_then(AgentMessage::as_assistant) {
                    self.model = Some(ModelRef { provider: answer.provider.clone(), model_id: answer.model.clone() });
                }
            }
            _ => {}
        }
    }
}

impl TreeView {
    /// What the branch of the leaf says about the selection. Costs time in the length of the branch where it says
    /// little: for starts and moves, not for every turn.
    #[must_use]
    pub fn selection(&self) -> BranchSelection {
        let mut selection = BranchSelection::default();
        for part in self.ancestors() {
            if selection.is_complete() {
                break;
            }
            selection.read(&part);
        }
        selection
    }
}
