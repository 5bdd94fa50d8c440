//! Requests of RPC clients: one line each.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    fields::{FieldError, Fields, kind_of},
    lenient,
    response::Response,
    siblings,
    ui::{UiResponse, parse_ui_response},
};
use crate::protocol::{
    Command, EntryId, ImageBlock, ModelRef, ThinkingLevel,
    checkpoint::{Undo, UndoTarget},
    command::{Input, InputSource, QueueKind, QueueMode},
    jobs::JobsCommand,
    navigation::Navigate,
    permission::PermissionMode,
    sibling::SiblingCommand,
};

/// What a client calls its request. It comes back with the response, whatever it is; clients use text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(Value);

impl RequestId {
    /// The id as text, for events that carry it.
    #[must_use]
    pub fn to_text(&self) -> String {
        match &self.0 {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

/// A request of a client.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What the client calls it.
    pub id: Option<RequestId>,
    /// What it wants.
    pub command: RpcCommand,
}

/// What a line of a client turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// A request.
    Request(Request),
    /// An answer to a dialog; it gets no response.
    UiResponse(UiResponse),
    /// Neither: the response that says why.
    Refused(Response),
}

/// The commands of RPC.
#[derive(Clone, Debug, PartialEq)]
pub enum RpcCommand {
    /// Start a trace, or queue the message while one runs.
    Prompt {
        /// The text.
        message: String,
        /// Pictures.
        images: Vec<ImageBlock>,
        /// What to do while a trace runs; none refuses.
        streaming_behavior: Option<QueueKind>,
    },
    /// Queue a message for the next turn boundary.
    Steer {
        /// The text.
        message: String,
        /// Pictures.
        images: Vec<ImageBlock>,
    },
    /// Queue a message for when the loop would stop.
    FollowUp {
        /// The text.
        message: String,
        /// Pictures.
        images: Vec<ImageBlock>,
    },
    /// End the running trace.
    Abort,
    /// Take all queued messages back.
    ClearQueue,
    /// Begin another session.
    NewSession {
        /// The session that it comes from.
        parent_session: Option<String>,
    },
    /// What is going on.
    GetState,
    /// The messages of the context.
    GetMessages,
    /// Select a model.
    SetModel(ModelRef),
    /// Select the next model.
    CycleModel,
    /// The models that have a key.
    GetAvailableModels,
    /// Select a thinking level.
    SetThinkingLevel(ThinkingLevel),
    /// Select the next thinking level.
    CycleThinkingLevel,
    /// The levels of the selected model.
    GetAvailableThinkingLevels,
    /// How steering messages are delivered.
    SetSteeringMode(QueueMode),
    /// How follow-ups are delivered.
    SetFollowUpMode(QueueMode),
    /// Summarise old history.
    Compact {
        /// What the summary should care about.
        custom_instructions: Option<String>,
    },
    /// Compact by itself or not.
    SetAutoCompaction(bool),
    /// Retry failed model calls or not.
    SetAutoRetry(bool),
    /// Give up the wait before a retry.
    AbortRetry,
    /// Run a shell command for the user.
    Bash {
        /// The command.
        command: String,
        /// Keep it from the model.
        exclude_from_context: bool,
    },
    /// Cancel the user's shell commands.
    AbortBash,
    /// Look at background jobs, or end one. Not one of pi's.
    Jobs(JobsCommand),
    /// Counts, tokens and cost of the session.
    GetSessionStats,
    /// Write the session as a page.
    ExportHtml {
        /// Where; none means beside the working folder's files, named after the session.
        output_path: Option<String>,
    },
    /// Open another session file.
    SwitchSession {
        /// The file.
        session_path: String,
    },
    /// Begin a session with the history before a user message.
    Fork {
        /// The user message's entry.
        entry_id: EntryId,
    },
    /// Begin a session with the whole branch.
    Clone,
    /// Read settings, resources and extensions again. Not one of pi's.
    Reload,
    /// The user messages that can be forked from.
    GetForkMessages,
    /// Entries in the order of the file.
    GetEntries {
        /// Only those after this one.
        since: Option<EntryId>,
    },
    /// All branches.
    GetTree,
    /// The last text that the model wrote.
    GetLastAssistantText,
    /// Name the session.
    SetSessionName(String),
    /// Templates, skills and extension commands.
    GetCommands,
    /// What is allowed, and whether the agent only plans.
    GetPermissions,
    /// What becomes of calls that no rule is about.
    SetPermissionMode(PermissionMode),
    /// Only plan and change nothing, or work.
    SetPlanMode(bool),
    /// Restore files to what they were before changes of this session.
    Undo(Undo),
    /// What can be undone.
    GetCheckpoints,
    /// Go on at another entry. Not one of pi's.
    NavigateTree(Navigate),
    /// Name an entry. Not one of pi's.
    SetLabel {
        /// The entry.
        target_id: EntryId,
        /// The name; none clears it.
        label: Option<String>,
    },
    /// The live supervision tree. Not one of pi's.
    GetSupervisionTree,
    /// Be told of events, or not any more. Not one of pi's.
    Subscribe {
        /// Be told.
        events: bool,
    },
    /// Something about the agents below this one. Not one of pi's.
    Sibling(SiblingCommand),
}

impl RpcCommand {
    /// The name on the wire.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Prompt { .. } => "prompt",
            Self::Steer { .. } => "steer",
            Self::FollowUp { .. } => "follow_up",
            Self::Abort => "abort",
            Self::ClearQueue => "clear_queue",
            Self::NewSession { .. } => "new_session",
            Self::GetState => "get_state",
            Self::GetMessages => "get_messages",
            Self::SetModel(_) => "set_model",
            Self::CycleModel => "cycle_model",
            Self::GetAvailableModels => "get_available_models",
            Self::SetThinkingLevel(_) => "set_thinking_level",
            Self::CycleThinkingLevel => "cycle_thinking_level",
            Self::GetAvailableThinkingLevels => "get_available_thinking_levels",
            Self::SetSteeringMode(_) => "set_steering_mode",
            Self::SetFollowUpMode(_) => "set_follow_up_mode",
            Self::Compact { .. } => "compact",
            Self::SetAutoCompaction(_) => "set_auto_compaction",
            Self::SetAutoRetry(_) => "set_auto_retry",
            Self::AbortRetry => "abort_retry",
            Self::Bash { .. } => "bash",
            Self::AbortBash => "abort_bash",
            Self::Jobs(_) => "jobs",
            Self::GetSessionStats => "get_session_stats",
            Self::ExportHtml { .. } => "export_html",
            Self::SwitchSession { .. } => "switch_session",
            Self::Fork { .. } => "fork",
            Self::Clone => "clone",
            Self::Reload => "reload",
            Self::GetForkMessages => "get_fork_messages",
            Self::GetEntries { .. } => "get_entries",
            Self::GetTree => "get_tree",
            Self::GetLastAssistantText => "get_last_assistant_text",
            Self::SetSessionName(_) => "set_session_name",
            Self::GetCommands => "get_commands",
            Self::GetPermissions => "get_permissions",
            Self::SetPermissionMode(_) => "set_permission_mode",
            Self::SetPlanMode(_) => "set_plan_mode",
            Self::Undo(_) => "undo",
            Self::GetCheckpoints => "get_checkpoints",
            Self::NavigateTree(_) => "navigate_tree",
            Self::SetLabel { .. } => "set_label",
            Self::GetSupervisionTree => "get_supervision_tree",
            Self::Subscribe { .. } => "subscribe",
            Self::Sibling(command) => siblings::name(command),
        }
    }

    /// The agent's own command for it. `id` names the request in the output events of `bash`.
    ///
    /// # Errors
    /// Gives the command back when no agent command does it: questions about state, and what replaces the session.
    pub fn into_command(self, id: Option<&RequestId>) -> Result<Command, Self> {
        Ok(match self {
            Self::Prompt { message, images, streaming_behavior } => {
                Command::Prompt { input: input(message, images), behavior: streaming_behavior }
            }
            Self::Steer { message, images } => Command::Queue { kind: QueueKind::Steer, input: input(message, images) },
            Self::FollowUp { message, images } => {
                Command::Queue { kind: QueueKind::FollowUp, input: input(message, images) }
            }
            Self::Abort => Command::Abort,
            Self::AbortRetry => Command::AbortRetry,
            Self::ClearQueue => Command::ClearQueue,
            Self::SetSteeringMode(mode) => Command::SetQueueMode { kind: QueueKind::Steer, mode },
            Self::SetFollowUpMode(mode) => Command::SetQueueMode { kind: QueueKind::FollowUp, mode },
            Self::SetAutoRetry(on) => Command::SetAutoRetry(on),
            Self::SetAutoCompaction(on) => Command::SetAutoCompaction(on),
            Self::SetModel(model) => Command::SetModel(model),
            Self::CycleModel => Command::CycleModel,
            Self::SetThinkingLevel(level) => Command::SetThinkingLevel(level),
            Self::CycleThinkingLevel => Command::CycleThinkingLevel,
            Self::SetSessionName(name) => Command::SetSessionName(name),
            Self::Bash { command, exclude_from_context } => {
                Command::Bash { id: id.map(RequestId::to_text), command, exclude_from_context }
            }
            Self::AbortBash => Command::AbortBash,
            Self::Jobs(command) => Command::Jobs(command),
            Self::SetPermissionMode(mode) => Command::SetPermissionMode(mode),
            Self::SetPlanMode(enabled) => Command::SetPlanMode(enabled),
            Self::Undo(undo) => Command::Undo(undo),
            Self::GetCheckpoints => Command::Checkpoints,
            Self::NavigateTree(ask) => Command::Navigate(ask),
            Self::SetLabel { target_id, label } => Command::SetLabel { target: target_id, label },
            Self::Compact { custom_instructions } => Command::Compact { instructions: custom_instructions },
            other => return Err(other),
        })
    }

    /// The command of that name. `None` when there is none.
    fn parse(name: &str, fields: Map<String, Value>) -> Result<Option<Self>, FieldError> {
        const PERMISSION_MODE: &str = "`off`, `allow`, `ask` or `deny`";
        const MODE: &str = "`one-at-a-time` or `all`";
        const LEVEL: &str = "one of off, minimal, low, medium, high, xhigh, max";
        if let Some(command) = siblings::parse(name, &fields)? {
            return Ok(Some(Self::Sibling(command)));
        }
        let mut fields = Fields::new(name, fields);
        Ok(Some(match name {
            "prompt" => Self::Prompt {
                message: fields.text("message")?,
                images: images(&mut fields)?,
                streaming_behavior: fields.optional("streamingBehavior", "`steer` or `followUp`")?,
            },
            "steer" => Self::Steer { message: fields.text("message")?, images: images(&mut fields)? },
            "follow_up" => Self::FollowUp { message: fields.text("message")?, images: images(&mut fields)? },
            "abort" => Self::Abort,
            "clear_queue" => Self::ClearQueue,
            "new_session" => Self::NewSession { parent_session: fields.optional_text("parentSession")? },
            "get_state" => Self::GetState,
            "get_messages" => Self::GetMessages,
            "set_model" => {
                Self::SetModel(ModelRef { provider: fields.text("provider")?, model_id: fields.text("modelId")? })
            }
            "cycle_model" => Self::CycleModel,
            "get_available_models" => Self::GetAvailableModels,
            "set_thinking_level" => Self::SetThinkingLevel(fields.required("level", LEVEL)?),
            "cycle_thinking_level" => Self::CycleThinkingLevel,
            "get_available_thinking_levels" => Self::GetAvailableThinkingLevels,
            "set_steering_mode" => Self::SetSteeringMode(fields.required("mode", MODE)?),
            "set_follow_up_mode" => Self::SetFollowUpMode(fields.required("mode", MODE)?),
            "compact" => Self::Compact { custom_instructions: fields.optional_text("customInstructions")? },
            "set_auto_compaction" => Self::SetAutoCompaction(fields.switch("enabled")?),
            "set_auto_retry" => Self::SetAutoRetry(fields.switch("enabled")?),
            "abort_retry" => Self::AbortRetry,
            "bash" => Self::Bash {
                command: fields.text("command")?,
                exclude_from_context: fields.optional_switch("excludeFromContext")?,
            },
            "abort_bash" => Self::AbortBash,
            "jobs" => Self::Jobs(jobs(&mut fields)?),
            "get_session_stats" => Self::GetSessionStats,
            "export_html" => Self::ExportHtml { output_path: fields.optional_text("outputPath")? },
            "switch_session" => Self::SwitchSession { session_path: fields.text("sessionPath")? },
            "fork" => Self::Fork { entry_id: fields.text("entryId")?.into() },
            "clone" => Self::Clone,
            "reload" => Self::Reload,
            "get_fork_messages" => Self::GetForkMessages,
            "get_entries" => Self::GetEntries { since: fields.optional_text("since")?.map(EntryId::from) },
            "get_tree" => Self::GetTree,
            "get_last_assistant_text" => Self::GetLastAssistantText,
            "set_session_name" => Self::SetSessionName(fields.text("name")?),
            "get_commands" => Self::GetCommands,
            "get_permissions" => Self::GetPermissions,
            "set_permission_mode" => Self::SetPermissionMode(fields.required("mode", PERMISSION_MODE)?),
            "set_plan_mode" => Self::SetPlanMode(fields.switch("enabled")?),
            "undo" => Self::Undo(undo(&mut fields)?),
            "get_checkpoints" => Self::GetCheckpoints,
            "navigate_tree" => Self::NavigateTree(navigate(&mut fields)?),
            "set_label" => {
                Self::SetLabel { target_id: fields.text("targetId")?.into(), label: fields.optional_text("label")? }
            }
            "get_supervision_tree" => Self::GetSupervisionTree,
            "subscribe" => Self::Subscribe { events: fields.optional("events", "true or false")?.unwrap_or(true) },
            _ => return Ok(None),
        }))
    }
}

fn images(fields: &mut Fields<'_>) -> Result<Vec<ImageBlock>, FieldError> {
    Ok(fields.optional("images", "a list of {type: \"image\", data, mimeType}")?.unwrap_or_default())
}

fn jobs(fields: &mut Fields<'_>) -> Result<JobsCommand, FieldError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Action {
        List,
        Read,
        Kill,
    }
    Ok(match fields.required("action", "`list`, `read` or `kill`")? {
        Action::List => JobsCommand::List,
        Action::Read => JobsCommand::Read {
            id: fields.text("jobId")?,
            from: fields.optional("from", "a number of bytes")?.unwrap_or(0),
        },
        Action::Kill => JobsCommand::Kill { id: fields.text("jobId")? },
    })
}

/// `target` is `turn` (the default), `prompt` or `redo`; `entryId` goes back to an entry instead.
fn undo(fields: &mut Fields<'_>) -> Result<Undo, FieldError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        Turn,
        Prompt,
        Redo,
    }
    let word = fields.optional("target", "`turn`, `prompt` or `redo`")?;
    let target = match (fields.optional_text("entryId")?, word) {
        (Some(entry), _) => UndoTarget::Entry(entry.into()),
        (None, None | Some(Word::Turn)) => UndoTarget::Turn,
        (None, Some(Word::Prompt)) => UndoTarget::Prompt,
        (None, Some(Word::Redo)) => UndoTarget::Redo,
    };
    Ok(Undo {
        target,
        conversation: fields.optional_switch("conversation")?,
        force: fields.optional_switch("force")?,
        dry_run: fields.optional_switch("dryRun")?,
    })
}

/// `targetId` is null for the beginning; left out, it is missing.
fn navigate(fields: &mut Fields<'_>) -> Result<Navigate, FieldError> {
    Ok(Navigate {
        target: fields.nullable_text("targetId", "the id of an entry, or null for the beginning")?.map(EntryId::from),
        summarize: fields.optional_switch("summarize")?,
        custom_instructions: fields.optional_text("customInstructions")?,
        replace_instructions: fields.optional_switch("replaceInstructions")?,
        label: fields.optional_text("label")?,
    })
}

fn input(message: String, images: Vec<ImageBlock>) -> Input {
    Input { images, source: InputSource::Rpc, ..Input::text(message) }
}

/// Reads one line of a client, without its LF; a CR before it does not matter.
#[must_use]
pub fn parse_line(line: &[u8]) -> Incoming {
    const PARSE: &str = "parse";
    let refuse = |id, command: &str, error| Incoming::Refused(Response::failed(id, command.to_owned(), error));
    let mut fields = match lenient::from_slice(line) {
        Ok(Value::Object(fields)) => fields,
        Ok(other) => {
            let error = format!("Failed to parse command: expected an object, not {}", kind_of(&other));
            return refuse(None, PARSE, error);
        }
        Err(error) => return refuse(None, PARSE, format!("Failed to parse command: {error}")),
    };
    let kind = match fields.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        other => {
            let got = other.map_or("nothing", kind_of);
            let error = format!("Failed to parse command: `type` must be the name of a command, not {got}");
            return refuse(fields.remove("id").map(RequestId), PARSE, error);
        }
    };
    if kind == "extension_ui_response" {
        return Incoming::UiResponse(parse_ui_response(fields));
    }
    let id = fields.remove("id").map(RequestId);
    match RpcCommand::parse(&kind, fields) {
        Ok(Some(command)) => Incoming::Request(Request { id, command }),
        Ok(None) => refuse(id, &kind, format!("Unknown command: {kind}")),
        Err(error) => refuse(id, &kind, error.to_string()),
    }
}

#[cfg(test)]
mod tests;
