//! How an extension acts: on the process ([`Control`]) and on one agent ([`AgentHandle`]).
//!
//! Handles may be kept, by timers and tasks of the extension's own, too. When the agent is gone, or has another session,
//! they answer with an error and do nothing.
//!
//! Calls that end only with the trace (`send_user_message`, `abort`, `compact` …) give no future: an extension that is
//! being asked holds the trace up, and would wait for itself. What goes wrong with them is told as an error of the
//! extension.

use std::{path::Path, sync::Arc};

use serde_json::Value;

use super::{
    backstage::{AgentHost, AgentStatus, Backstage, WantedSession},
    exec::{self, ExecOptions, ExecOutput},
    flags::FlagValue,
    pause::Pause,
    ui::Ui,
};
use crate::{
    protocol::{
        Command, CommandError, Content, EntryBody, EntryId, Event, ModelRef, Reply, ThinkingLevel,
        command::{DeliverAs, Input, InputSource, QueueKind},
        message::CustomMessage,
        navigation::{Navigate, Navigated},
        session_change::SessionChange,
        time::now_ms,
        wire::CommandInfo,
    },
    store::tree::TreeView,
    tools::{Tool, live::ToolTaken},
};

/// Why a call of an extension had no effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// There is no such agent.
    #[error("there is no agent {0}: it has not started yet, or it is gone")]
    NoAgent(String),
    /// The handle belongs to what was there before.
    #[error("this handle is stale: the session of the agent {0} was replaced; use the handle of the new one")]
    Stale(String),
    /// The agent did not do it.
    #[error(transparent)]
    Refused(#[from] CommandError),
}

/// An extension's way into the process. Clones are the same.
#[derive(Clone, Default)]
pub struct Control {
    extension: Arc<str>,
    backstage: Backstage,
}

impl Control {
    /// That of the extension of this name.
    #[must_use]
    pub fn new(extension: &str, backstage: Backstage) -> Self {
        Self { extension: extension.into(), backstage }
    }

    /// What the extensions share.
    #[must_use]
    pub fn backstage(&self) -> &Backstage {
        &self.backstage
    }

    /// Ids of the agents that there are.
    #[must_use]
    pub fn agents(&self) -> Vec<Arc<str>> {
        self.backstage.agents()
    }

    /// A handle of the agent that has this id now.
    #[must_use]
    pub fn agent(&self, id: &str) -> AgentHandle {
        self.agent_within(id, Pause::default())
    }

    /// The same; dialogs make the time of `pause` stand still.
    pub(crate) fn agent_within(&self, id: &str, pause: Pause) -> AgentHandle {
        let known = self.backstage.agent(id);
        AgentHandle {
            control: self.clone(),
            id: id.into(),
            generation: known.as_ref().map(|known| known.generation),
            host: known.map(|known| known.host),
            pause,
        }
    }

    /// The value of a flag that this extension declared.
    #[must_use]
    pub fn flag(&self, name: &str) -> Option<FlagValue> {
        self.backstage.flags.get(&self.extension, name)
    }

    /// Adds a tool, or changes one that this extension added; agents have it from their next request on. It replaces a
    /// built-in one of the same name.
    ///
    /// # Errors
    /// Another extension added one of that name.
    pub fn register_tool(&self, tool: Arc<dyn Tool>) -> Result<(), ToolTaken> {
        self.backstage.register_tool(&self.extension, tool, true)
    }

    /// The same, but agents have it only when somebody activates it.
    ///
    /// # Errors
    /// Another extension added one of that name.
    pub fn register_inactive_tool(&self, tool: Arc<dyn Tool>) -> Result<(), ToolTaken> {
        self.backstage.register_tool(&self.extension, tool, false)
    }

    /// Takes a tool away that this extension added. False when there is none.
    pub fn unregister_tool(&self, name: &str) -> bool {
        self.backstage.tools.unregister(&self.extension, name)
    }

    /// All tools, active or not.
    #[must_use]
    pub fn all_tools(&self) -> Arc<Vec<Arc<dyn Tool>>> {
        self.backstage.tools.now()
    }

    /// Tells of an error of the extension that belongs to no agent: all of them tell it.
    pub fn report(&self, event: &str, error: impl Into<String>) {
        let error = error.into();
        for agent in self.agents() {
            self.agent(&agent).report(event, error.clone());
        }
    }

    /// Tells extensions that listen on a channel.
    pub fn emit(&self, channel: &str, data: Value) {
        self.backstage.bus.emit(channel, data);
    }
}

/// One agent, as an extension sees it and acts on it. Clones are the same.
#[derive(Clone)]
pub struct AgentHandle {
    control: Control,
    id: Arc<str>,
    generation: Option<u64>,
    host: Option<Arc<dyn AgentHost>>,
    pause: Pause,
}

/// The result of a call.
pub type Done<T = ()> = Result<T, ControlError>;

impl AgentHandle {
    /// The agent's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn pause(&self) -> &Pause {
        &self.pause
    }

    /// The process around it.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The people in front of it.
    #[must_use]
    pub fn ui(&self) -> Ui {
        Ui {
            extension: self.control.extension.clone(),
            agent: self.id.clone(),
            questions: self.control.backstage.questions.clone(),
            pause: self.pause.clone(),
        }
    }

    fn host(&self) -> Done<&Arc<dyn AgentHost>> {
        let now = self.control.backstage.agent(&self.id).map(|known| known.generation);
        match &self.host {
            Some(_) if now != self.generation => Err(ControlError::Stale(self.id.to_string())),
            Some(host) => Ok(host),
            None => Err(self.gone()),
        }
    }

    fn gone(&self) -> ControlError {
        ControlError::NoAgent(self.id.to_string())
    }

    /// Sends any command and waits for its answer.
    ///
    /// # Errors
    /// The agent is not there, or did not do it. The same holds for everything below.
    pub async fn command(&self, command: Command) -> Done<Reply> {
        let (sender, answer) = tokio::sync::oneshot::channel();
        // Whoever asks may have given up.
        self.host()?.send(command, Box::new(move |result| drop(sender.send(result))));
        Ok(answer.await.unwrap_or(Err(CommandError::Lost))?)
    }

    /// Sends a command; when it fails, that is told.
    fn start(&self, what: &'static str, command: Command) -> Done {
        let host = self.host()?;
        let (publisher, extension) = (host.clone(), self.control.extension.to_string());
        let then = move |result: Result<Reply, CommandError>| {
            if let Err(error) = result {
                let (event, error) = (what.to_owned(), error.to_string());
                publisher.publish(Event::ExtensionError { extension, event, error });
            }
        };
        host.send(command, Box::new(then));
        Ok(())
    }

    /// Puts a message of the extension into the conversation; see [`Command::SendMessage`].
    ///
    /// # Errors
    /// See [`Self::command`].
    pub fn send_message(&self, message: MessageToSend, trigger_turn: Option<bool>, deliver_as: DeliverAs) -> Done {
        let MessageToSend { custom_type, content, display, details } = message;
        let message = CustomMessage { custom_type, content, display, details, timestamp: now_ms() };
        self.start("send_message", Command::SendMessage { message: Box::new(message), trigger_turn, deliver_as })
    }

    /// Says something as the user would: always a turn. While a trace runs, `deliver_as` is needed. With `expand`, the
    /// text may name commands, skills and templates.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub fn send_user_message(&self, text: &str, deliver_as: Option<QueueKind>, expand: bool) -> Done {
        let input = Input { source: InputSource::Extension, verbatim: !expand, ..Input::text(text) };
        self.start("send_user_message", Command::Prompt { input, behavior: deliver_as })
    }

    /// Stores state of the extension in the session. The model does not see it.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub async fn append_entry(&self, custom_type: &str, data: Option<Value>) -> Done<Option<EntryId>> {
        let body = EntryBody::Custom { custom_type: custom_type.to_owned(), data };
        match self.command(Command::AppendEntry(Box::new(body))).await? {
            Reply::Entry(id) => Ok(Some(id)),
            _ => Ok(None),
        }
    }

    /// Names the session.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub async fn set_session_name(&self, name: &str) -> Done {
        self.command(Command::SetSessionName(name.to_owned())).await.map(drop)
    }

    /// Gives an entry a label; none takes it away.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub async fn set_label(&self, target: EntryId, label: Option<String>) -> Done {
        let body = EntryBody::Label { target_id: target, label };
        self.command(Command::AppendEntry(Box::new(body))).await.map(drop)
    }

    /// Goes to another entry of the session; refused while a trace runs. Not to be awaited by an extension that is being
    /// asked about a move.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub async fn navigate_tree(&self, ask: Navigate) -> Done<Navigated> {
        match self.command(Command::Navigate(ask)).await? {
            Reply::Navigated(navigated) => Ok(*navigated),
            // A move has no other answer.
            _ => Err(self.gone()),
        }
    }

    /// Makes these tools the active ones; names without a tool are left out.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub async fn set_active_tools(&self, names: Vec<String>) -> Done {
        self.command(Command::SetActiveTools(names)).await.map(drop)
    }

    /// Selects a model from the next request on.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub async fn set_model(&self, model: ModelRef) -> Done {
        self.command(Command::SetModel(model)).await.map(drop)
    }

    /// Selects a thinking level from the next request on; it is clamped to the model.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub async fn set_thinking_level(&self, level: ThinkingLevel) -> Done {
        self.command(Command::SetThinkingLevel(level)).await.map(drop)
    }

    /// How the agent stands: idle or not, model, tools, queues, how full the window is.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub fn status(&self) -> Done<AgentStatus> {
        self.host()?.status().ok_or_else(|| self.gone())
    }

    /// The session at this moment, to read.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub fn tree(&self) -> Done<TreeView> {
        self.host()?.tree().ok_or_else(|| self.gone())
    }

    /// The system prompt that the next turn would have.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub fn system_prompt(&self) -> Done<String> {
        self.host()?.system_prompt().ok_or_else(|| self.gone())
    }

    /// A copy of the settings in force.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub fn settings(&self) -> Done<Value> {
        self.host()?.settings().ok_or_else(|| self.gone())
    }

    /// Slash commands that prompts may use.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub fn commands(&self) -> Done<Vec<CommandInfo>> {
        self.host()?.commands().ok_or_else(|| self.gone())
    }

    /// Ends the running trace.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub fn abort(&self) -> Done {
        self.start("abort", Command::Abort)
    }

    /// Summarises old history; a running trace ends first.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub fn compact(&self, instructions: Option<String>) -> Done {
        self.start("compact", Command::Compact { instructions })
    }

    /// Puts another session in the place of this one, as a user would: the running trace is aborted and kept, and this
    /// handle is stale afterwards. Gives the handle of the agent that is there now; none when an extension objected.
    /// A reload makes extensions anew, and ends what they are doing.
    ///
    /// # Errors
    /// See [`Self::command`]. Also when the session cannot be opened (then everything is as it was), and where nobody
    /// replaces sessions for extensions: in print and JSON mode, and in a program with agents inside.
    pub async fn change_session(&self, change: SessionChange) -> Done<Option<Self>> {
        self.host()?;
        let (sender, answer) = tokio::sync::oneshot::channel();
        // Whoever asks may have given up.
        let then = Box::new(move |result| drop(sender.send(result)));
        self.control.backstage.want_session(WantedSession { agent: self.id.clone(), change, then });
        match answer.await {
            Ok(Ok(agent)) => Ok(agent.map(|id| self.control.agent_within(&id, self.pause.clone()))),
            Ok(Err(reason)) => Err(CommandError::Refused(reason).into()),
            Err(_) => Err(CommandError::Lost.into()),
        }
    }

    /// Waits until no trace runs. Not to be awaited by an extension that is being asked about one.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub async fn wait_for_idle(&self) -> Done {
        self.command(Command::WaitIdle).await.map(drop)
    }

    /// Ends the program in good order when no trace and no command of an extension runs.
    ///
    /// # Errors
    /// See [`Self::command`].
    pub fn shut_down(&self) -> Done {
        let backstage = self.control.backstage.clone();
        self.host()?.send(Command::WaitIdle, Box::new(move |_| backstage.end()));
        Ok(())
    }

    /// Runs a program without a shell, in the agent's folder unless `options` say otherwise.
    ///
    /// # Errors
    /// See [`Self::command`]. A program that does not start, or fails, is an output.
    pub async fn exec(&self, program: &str, arguments: &[&str], options: ExecOptions) -> Done<ExecOutput> {
        let cwd = self.status()?.cwd;
        Ok(exec::run(program, arguments, Path::new(&cwd), options).await)
    }

    /// Tells of an error of the extension.
    pub fn report(&self, event: &str, error: impl Into<String>) {
        let (extension, event, error) = (self.control.extension.to_string(), event.to_owned(), error.into());
        match self.host() {
            Ok(host) => host.publish(Event::ExtensionError { extension, event, error }),
            Err(_) => tracing::warn!(extension, event, error, "an extension failed"),
        }
    }
}

/// A message of an extension to the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageToSend {
    /// The extension's name for the kind.
    pub custom_type: String,
    /// What the model reads.
    pub content: Content,
    /// Whether people see it.
    pub display: bool,
    /// Structured facts for the extension.
    pub details: Option<Value>,
}
