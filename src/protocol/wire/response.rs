//! Responses to RPC requests and the data in them.

use std::{borrow::Cow, sync::Arc};

use serde::Serialize;

use super::{
    json::{Record, write_value},
    request::RequestId,
    tree::TreeData,
};
use crate::protocol::{
    AgentMessage, Entry, EntryId, Model, ModelRef, Reply, ThinkingLevel,
    checkpoint::{CheckpointInfo, UndoReport},
    command::{BashResult, Disposition, QueueMode},
    event::CompactionResult,
    jobs::{JobList, JobOutput},
    navigation::Navigated,
    permission::PermissionsInfo,
    sibling::SiblingReply,
    supervision::Supervision,
};

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// What the client called the request.
    pub id: Option<RequestId>,
    /// The request's command; `parse` when it had none.
    pub command: Cow<'static, str>,
    /// What it gives back, if anything, or why it was not carried out.
    pub outcome: Result<Option<ResponseData>, String>,
}

impl Response {
    /// The command was carried out.
    #[must_use]
    pub fn done(id: Option<RequestId>, command: &'static str, data: Option<ResponseData>) -> Self {
        Self { id, command: command.into(), outcome: Ok(data) }
    }

    /// The command was not carried out.
    #[must_use]
    pub fn failed(id: Option<RequestId>, command: impl Into<Cow<'static, str>>, error: String) -> Self {
        Self { id, command: command.into(), outcome: Err(error) }
    }
}

/// Appends the line of a response.
pub fn write_response(response: &Response, out: &mut Vec<u8>) {
    let record = Record::begin(out)
        .optional("id", response.id.as_ref())
        .field("type", "response")
        .field("command", &response.command)
        .field("success", &response.outcome.is_ok());
    match &response.outcome {
        Ok(None) => record,
        Ok(Some(data)) => record.field_with("data", |out| data.write(out)),
        Err(error) => record.field("error", error),
    }
    .end();
}

/// The response to a question about a whole session, in two parts: what stands before the first element of its list, and
/// what stands behind the last. The list is named `list`; `leaf_id` comes behind it, where a question has it.
#[must_use]
pub fn streamed_response(
    id: Option<&RequestId>,
    command: &str,
    list: &str,
    leaf_id: Option<&Option<EntryId>>,
) -> (Vec<u8>, Vec<u8>) {
    let mut head = Vec::new();
    let mut border = 0;
    Record::begin(&mut head)
        .optional("id", id)
        .field("type", "response")
        .field("command", command)
        .field("success", &true)
        .field_with("data", |out| {
            let record = Record::begin(out).field_with(list, |out| {
                out.push(b'[');
                border = out.len();
                out.push(b']');
            });
            record.optional("leafId", leaf_id).end_with(b"}");
        })
        .end();
    let tail = head.split_off(border);
    (head, tail)
}

/// What commands give back. One variant a form; the comment names the commands.
#[derive(Clone, Debug, PartialEq)]
pub enum ResponseData {
    /// `prompt`, `steer`, `follow_up`.
    Disposition(Disposition),
    /// `clear_queue`.
    Queue {
        /// Steering texts.
        steering: Vec<String>,
        /// Follow-up texts.
        follow_up: Vec<String>,
    },
    /// `new_session`, `switch_session`, `clone`, `reload`: whether an extension prevented it.
    Cancelled(bool),
    /// `get_state`.
    State(Box<StateData>),
    /// `get_messages`.
    Messages(Vec<AgentMessage>),
    /// `set_model`.
    Model(Arc<Model>),
    /// `cycle_model`; null when there is no other.
    ModelChoice(Option<ModelChoiceData>),
    /// `get_available_models`.
    Models(Vec<Arc<Model>>),
    /// `cycle_thinking_level`; null when there is no other.
    Level(Option<ThinkingLevel>),
    /// `get_available_thinking_levels`.
    Levels(Vec<ThinkingLevel>),
    /// `compact`.
    Compaction(Box<CompactionResult>),
    /// `bash`.
    Bash(BashResult),
    /// `jobs` with the action `list` or `kill`.
    Jobs(JobList),
    /// `jobs` with the action `read`.
    JobOutput(JobOutput),
    /// `get_session_stats`.
    Stats(Box<StatsData>),
    /// `export_html`: the file that was written.
    Path(String),
    /// `fork`: the user message's text for the editor; none when an extension prevented it.
    Fork(Option<String>),
    /// `get_fork_messages`.
    ForkMessages(Vec<ForkMessage>),
    /// `get_entries`.
    Entries {
        /// The entries in the order of the file.
        entries: Vec<Arc<Entry>>,
        /// The last entry of the branch; none in an empty session.
        leaf_id: Option<EntryId>,
    },
    /// `get_tree`.
    Tree(TreeData),
    /// `get_last_assistant_text`; none when the model has written nothing.
    Text(Option<String>),
    /// `get_commands`.
    Commands(Vec<CommandInfo>),
    /// `get_permissions`.
    Permissions(Box<PermissionsInfo>),
    /// `undo`.
    Undone(Box<UndoReport>),
    /// `get_checkpoints`.
    Checkpoints(Vec<CheckpointInfo>),
    /// `navigate_tree`.
    Navigated(Box<Navigated>),
    /// `get_supervision_tree`.
    Supervision(Box<Supervision>),
    /// The commands about siblings.
    Sibling(Box<SiblingReply>),
}

impl ResponseData {
    fn write(&self, out: &mut Vec<u8>) {
        const END: &[u8] = b"}";
        let record = |out| Record::begin(out);
        match self {
            Self::Disposition(disposition) => record(out).field("disposition", disposition).end_with(END),
            Self::Queue { steering, follow_up } => {
                record(out).field("steering", steering).field("followUp", follow_up).end_with(END);
            }
            Self::Cancelled(cancelled) => record(out).field("cancelled", cancelled).end_with(END),
            Self::State(state) => write_value(out, state),
            Self::Messages(messages) => record(out).field("messages", messages).end_with(END),
            Self::Model(model) => write_value(out, model),
            Self::ModelChoice(choice) => write_value(out, choice),
            Self::Models(models) => record(out).field("models", models).end_with(END),
            Self::Level(None) => write_value(out, &()),
            Self::Level(Some(level)) => record(out).field("level", level).end_with(END),
            Self::Levels(levels) => record(out).field("levels", levels).end_with(END),
            Self::Compaction(result) => write_value(out, result),
            Self::Permissions(info) => write_value(out, info),
            Self::Bash(result) => write_value(out, result),
            Self::Jobs(list) => write_value(out, list),
            Self::JobOutput(output) => write_value(out, output),
            Self::Stats(stats) => write_value(out, stats),
            Self::Path(path) => record(out).field("path", path).end_with(END),
            Self::Fork(Some(text)) => record(out).field("text", text).field("cancelled", &false).end_with(END),
            Self::Fork(None) => record(out).field("cancelled", &true).end_with(END),
            Self::ForkMessages(messages) => record(out).field("messages", messages).end_with(END),
            Self::Entries { entries, leaf_id } => {
                record(out).field("entries", entries).field("leafId", leaf_id).end_with(END);
            }
            Self::Tree(tree) => tree.write(out),
            Self::Text(Some(text)) => record(out).field("text", text).end_with(END),
            Self::Text(None) => out.extend_from_slice(b"{}"),
            Self::Undone(report) => write_value(out, report),
            Self::Navigated(navigated) => write_value(out, navigated),
            Self::Supervision(tree) => write_value(out, tree),
            Self::Sibling(reply) => write_value(out, reply),
            Self::Checkpoints(checkpoints) => record(out).field("checkpoints", checkpoints).end_with(END),
            Self::Commands(commands) => record(out).field("commands", commands).end_with(END),
        }
    }
}

/// What an agent's reply to `command` gives a client. `model` finds a model by name.
#[must_use]
pub fn reply_data(
    command: &str,
    reply: Reply,
    model: impl FnOnce(&ModelRef) -> Option<Arc<Model>>,
) -> Option<ResponseData> {
    match reply {
        Reply::Done | Reply::Entry(_) => None,
        Reply::Input(disposition) => Some(ResponseData::Disposition(disposition)),
        Reply::Queue { steering, follow_up } => Some(ResponseData::Queue { steering, follow_up }),
        Reply::Bash(result) => Some(ResponseData::Bash(result)),
        Reply::Jobs(list) => Some(ResponseData::Jobs(list)),
        Reply::JobOutput(output) => Some(ResponseData::JobOutput(output)),
        Reply::Path(path) => Some(ResponseData::Path(path.to_string_lossy().into_owned())),
        Reply::Undone(report) => Some(ResponseData::Undone(Box::new(report))),
        Reply::Sibling(reply) => Some(ResponseData::Sibling(reply)),
        Reply::Navigated(navigated) => Some(ResponseData::Navigated(navigated)),
        Reply::Checkpoints(checkpoints) => Some(ResponseData::Checkpoints(checkpoints)),
        Reply::Compaction(result) => Some(ResponseData::Compaction(Box::new(result))),
        // Setting a level answers nothing: the event says what it was clamped to.
        Reply::Thinking(level) => (command == "cycle_thinking_level").then_some(ResponseData::Level(level)),
        Reply::Model(None) => Some(ResponseData::ModelChoice(None)),
        Reply::Model(Some(choice)) => {
            let model = model(&choice.model)?;
            Some(if command == "cycle_model" {
                ResponseData::ModelChoice(Some(ModelChoiceData {
                    model,
                    thinking_level: choice.level,
                    is_scoped: choice.scoped,
                }))
            } else {
                ResponseData::Model(model)
            })
        }
    }
}

/// Data of `cycle_model`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelChoiceData {
    /// The model in force.
    pub model: Arc<Model>,
    /// The level in force with it.
    pub thinking_level: ThinkingLevel,
    /// Whether it was chosen from a scope.
    pub is_scoped: bool,
}

/// Data of `get_state`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StateData {
    /// The selected model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<Model>>,
    /// The level in force.
    pub thinking_level: ThinkingLevel,
    /// A trace runs.
    pub is_streaming: bool,
    /// A compaction runs.
    pub is_compacting: bool,
    /// How steering messages are delivered.
    pub steering_mode: QueueMode,
    /// How follow-ups are delivered.
    pub follow_up_mode: QueueMode,
    /// The session's file; none in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// The session's id.
    pub session_id: String,
    /// The session's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_name: Option<String>,
    /// Whether old history is summarised by itself.
    pub auto_compaction_enabled: bool,
    /// Messages of the context.
    pub message_count: usize,
    /// Messages that wait in the queues.
    pub pending_message_count: usize,
    /// Entries that are in memory only because the disk refuses them. Ours.
    #[serde(skip_serializing_if = "is_zero")]
    pub unsaved_entries: usize,
    /// Nothing can be added to the session. Ours.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Data of `get_session_stats`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatsData {
    /// The session's file; none in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// The session's id.
    pub session_id: String,
    /// User messages.
    pub user_messages: usize,
    /// Assistant messages.
    pub assistant_messages: usize,
    /// Tool calls in them.
    pub tool_calls: usize,
    /// Results of calls.
    pub tool_results: usize,
    /// Messages of every kind.
    pub total_messages: usize,
    /// Tokens of all requests.
    pub tokens: TokenTotals,
    /// US dollars of all requests.
    pub cost: f64,
    /// How full the window is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_usage: Option<ContextUsage>,
}

/// Sums of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenTotals {
    /// Uncached input.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Cache reads.
    pub cache_read: u64,
    /// Cache writes.
    pub cache_write: u64,
    /// All together.
    pub total: u64,
}

/// How full the model's window is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextUsage {
    /// Tokens of the context; null right after a compaction, when nobody has counted yet.
    pub tokens: Option<u64>,
    /// Tokens that the window holds.
    pub context_window: u64,
    /// `tokens` in percent of the window.
    pub percent: Option<f64>,
}

/// A user message that can be forked from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkMessage {
    /// Its entry.
    pub entry_id: EntryId,
    /// Its text.
    pub text: String,
}

/// A slash command that a prompt may use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandInfo {
    /// The name without the slash.
    pub name: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What kind of thing it is.
    pub source: CommandSource,
    /// Where it comes from.
    pub source_info: SourceInfo,
}

/// What a slash command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandSource {
    /// Code of an extension.
    Extension,
    /// A prompt template.
    Prompt,
    /// A skill.
    Skill,
}

/// Where a resource comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceInfo {
    /// Its file.
    pub path: String,
    /// The package or folder kind that it was found through.
    pub source: String,
    /// `user`, `project` or `temporary`.
    pub scope: String,
    /// `package` or `top-level`.
    pub origin: String,
    /// The folder that relative paths in it start from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_dir: Option<String>,
}

#[cfg(test)]
mod tests;
