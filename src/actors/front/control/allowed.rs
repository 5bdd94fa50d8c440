//! Which commands the control socket takes.
//!
//! A connection can look, steer and stop. It cannot widen what the agents may do: it runs no commands of its own, answers
//! no questions in a person's place, changes no permissions and writes no files. So a program that an agent started, and
//! that found its way to the socket, gains nothing by it.

use crate::protocol::{
    sibling::{SiblingCommand, WorktreeFate},
    wire::RpcCommand,
};

/// Whether the socket takes a command.
#[must_use]
pub fn is_allowed(command: &RpcCommand) -> bool {
    match command {
        RpcCommand::Prompt { .. }
        | RpcCommand::Steer { .. }
        | RpcCommand::FollowUp { .. }
        | RpcCommand::Abort
        | RpcCommand::AbortRetry
        | RpcCommand::ClearQueue
        | RpcCommand::GetState
        | RpcCommand::GetMessages
        | RpcCommand::SetModel(_)
        | RpcCommand::CycleModel
        | RpcCommand::GetAvailableModels
        | RpcCommand::SetThinkingLevel(_)
        | RpcCommand::CycleThinkingLevel
        | RpcCommand::GetAvailableThinkingLevels
        | RpcCommand::SetSteeringMode(_)
        | RpcCommand::SetFollowUpMode(_)
        | RpcCommand::Compact { .. }
        | RpcCommand::SetAutoCompaction(_)
        | RpcCommand::SetAutoRetry(_)
        | RpcCommand::AbortBash
        | RpcCommand::Jobs(_)
        | RpcCommand::GetSessionStats
        | RpcCommand::GetForkMessages
        | RpcCommand::GetEntries { .. }
        | RpcCommand::GetTree
        | RpcCommand::GetLastAssistantText
        | RpcCommand::SetSessionName(_)
        | RpcCommand::GetCommands
        | RpcCommand::GetPermissions
        | RpcCommand::GetCheckpoints
        | RpcCommand::SetLabel { .. }
        | RpcCommand::GetSupervisionTree
        | RpcCommand::Subscribe { .. } => true,
        RpcCommand::Sibling(command) => match command {
            SiblingCommand::Send { .. }
            | SiblingCommand::Wait { .. }
            | SiblingCommand::List
            | SiblingCommand::Hold { .. }
            | SiblingCommand::Transcript { .. } => true,
            SiblingCommand::Stop { worktree, .. } => *worktree != WorktreeFate::Merge,
            // A spawn may name other folders and files.
            SiblingCommand::Spawn(_) | SiblingCommand::Merge { .. } => false,
        },
        RpcCommand::NewSession { .. }
        | RpcCommand::SwitchSession { .. }
        | RpcCommand::Fork { .. }
        | RpcCommand::Clone
        | RpcCommand::Reload
        | RpcCommand::Bash { .. }
        | RpcCommand::ExportHtml { .. }
        | RpcCommand::SetPermissionMode(_)
        | RpcCommand::SetPlanMode(_)
        | RpcCommand::Undo(_)
        | RpcCommand::NavigateTree(_) => false,
    }
}

/// Whether a command gives the agent in front something to do.
#[must_use]
pub fn is_message(command: &RpcCommand) -> bool {
    matches!(
        command,
        RpcCommand::Prompt { .. } | RpcCommand::Steer { .. } | RpcCommand::FollowUp { .. } | RpcCommand::Compact { .. }
    )
}
