//! Answers to questions about state, from the front's view and the session's tree.

use crate::{
    actors::{extension_commands, shared::AgentShared},
    protocol::{
        ThinkingLevel,
        permission::PermissionsInfo,
        view::View,
        wire::{ForkMessage, ResponseData, RpcCommand, StateData},
    },
    store::tree::TreeView,
};

/// Answers a question.
///
/// # Errors
/// Why there is no answer, in words for the client.
pub fn answer(shared: &AgentShared, view: &View, question: &RpcCommand) -> Result<Option<ResponseData>, String> {
    let Some(tree) = shared.tree() else { return Err("The session is not open yet.".into()) };
    Ok(Some(match question {
        RpcCommand::GetState => ResponseData::State(Box::new(state(shared, view, &tree))),
        RpcCommand::GetAvailableModels => ResponseData::Models(shared.config.catalogue.now().available()),
        RpcCommand::GetAvailableThinkingLevels => {
            let selection = shared.selection();
            let levels = selection.model.as_ref().map(|model| model.thinking_levels());
            ResponseData::Levels(levels.unwrap_or_else(|| vec![ThinkingLevel::Off]))
        }
        RpcCommand::GetSessionStats => ResponseData::Stats(Box::new(super::rpc_stats::stats(shared, &tree))),
        RpcCommand::GetForkMessages => ResponseData::ForkMessages(
            tree.fork_messages().into_iter().map(|(entry_id, text)| ForkMessage { entry_id, text }).collect(),
        ),
        // Those that are known were answered element by element.
        RpcCommand::GetEntries { since } => {
            return Err(format!("Entry not found: {}", since.as_ref().map_or("", |id| id.as_str())));
        }
        RpcCommand::GetLastAssistantText => ResponseData::Text(last_text(&tree)),
        RpcCommand::GetPermissions => {
            let permissions = &shared.config.permissions;
            let (mode, rules) = (permissions.mode(), permissions.rules());
            let plan_mode = shared.selection().plan_mode;
            ResponseData::Permissions(Box::new(PermissionsInfo { mode, rules, plan_mode }))
        }
        RpcCommand::GetSupervisionTree => {
            ResponseData::Supervision(Box::new(crate::actors::supervision::look(shared, "rpc")))
        }
        RpcCommand::Subscribe { .. } => return Err("This client is told of all events already.".into()),
        RpcCommand::GetCommands => ResponseData::Commands(extension_commands::all(shared)),
        other => return Err(format!("The command {} is not available in this version.", other.name())),
    }))
}

fn state(shared: &AgentShared, view: &View, tree: &TreeView) -> StateData {
    let selection = shared.selection().clone();
    StateData {
        model: selection.model,
        thinking_level: selection.thinking,
        is_streaming: view.running,
        is_compacting: view.compacting,
        steering_mode: selection.steering_mode,
        follow_up_mode: selection.follow_up_mode,
        session_file: shared.place.file(),
        session_id: tree.header().id.clone(),
        session_name: tree.name(),
        auto_compaction_enabled: selection.auto_compaction,
        message_count: tree.message_count(),
        pending_message_count: view.steering.len() + view.follow_up.len(),
        unsaved_entries: shared.place.store.unsaved().map_or(0, |unsaved| unsaved.entries),
        read_only: shared.place.read_only.is_some(),
    }
}

/// The text of the last answer. Answers without text that did not simply stop are passed over.
fn last_text(tree: &TreeView) -> Option<String> {
    let text = tree.last_message(|message| {
        let answer = message.as_assistant()?;
        let text = crate::protocol::message::text_of(&answer.content, "");
        (!text.is_empty() || answer.stop_reason == crate::protocol::StopReason::Stop).then(|| text.trim().to_owned())
    });
    text.filter(|text| !text.is_empty())
}
