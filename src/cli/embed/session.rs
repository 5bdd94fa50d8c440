//! A session that runs.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use tokio::sync::oneshot;
use tokio_stream::StreamExt as _;
use tokio_util::sync::CancellationToken;

use crate::{
    actors::{
        address::Slot,
        agent_factory::MadeAgent,
        extension_commands,
        fleet::{Agents, Family},
        front::{
            AGAIN,
            client::AgentClient,
            exporter,
            program::{ProgramFactory, ProgramMsg},
            watch::Events,
        },
        replacing::Replaced,
        runtime::RuntimeHandle,
        subscriber::SubscriberKind,
    },
    cli::{base::Base, exit::Exit, notices},
    protocol::{
        AgentMessage, AssistantMessage, Command, CommandError, Event, Model, Reply,
        command::{Disposition, Input},
        message::text_of,
        session_change::SessionChange,
        wire::CommandInfo,
    },
    providers::credentials::settle,
    store::tree::TreeView,
};

/// What went wrong, in words for people.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The session did not start.
    #[error("{0}")]
    Start(String),
    /// A command was not carried out.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The model call failed, or was cancelled.
    #[error("{0}")]
    Failed(String),
    /// The agent failed too often and is not restarted any more. Its session can be opened again.
    #[error("The agent failed repeatedly and was given up: {0}")]
    Parked(String),
    /// The session did not end as it should.
    #[error("{0}")]
    Close(String),
}

/// What came of a prompt.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The last message of the model; none when an extension took the prompt.
    pub message: Option<Arc<AssistantMessage>>,
}

impl Answer {
    /// The text of the message.
    #[must_use]
    pub fn text(&self) -> String {
        self.message.as_ref().map(|message| text_of(&message.content, "\n")).unwrap_or_default()
    }
}

/// A session that runs. It is closed with [`Session::close`]; one that is dropped ends, too, but nobody hears how.
pub struct Session {
    base: Arc<Base>,
    runtime: RuntimeHandle,
    front: Slot<ProgramMsg>,
    client: AgentClient,
    /// Cancelled when the runtime has ended.
    ended: CancellationToken,
    /// Cancelled when the agent is closed.
    closed: CancellationToken,
    told: Vec<String>,
}

impl Session {
    pub(super) async fn open(base: Arc<Base>, agent: MadeAgent, told: Vec<String>) -> Result<Self, EmbedError> {
        let MadeAgent { shared } = agent;
        let observers = shared.config.observers.clone();
        let (front, (sender, opened)) = (Slot::default(), oneshot::channel());
        let ended = CancellationToken::new();
        let factory = ProgramFactory {
            shared,
            factory: base.clone(),
            front: front.clone(),
            opened: Mutex::new(Some(sender)),
            ended: ended.clone(),
        };
        let runtime = RuntimeHandle::start(observers, Agents::default(), Slot::default(), Arc::new(factory)).await;
        let runtime =
            runtime.map_err(|exit| EmbedError::Start(format!("the runtime did not start: {}", exit.cause())))?;
        let lost = || EmbedError::Start("the runtime ended before the agent was open".to_owned());
        let (client, result) = opened.await.map_err(|_| lost())?;
        let closed = ended.child_token();
        let session = Self { base, runtime, front, client, ended, closed, told };
        match result {
            Ok(_) => Ok(session),
            Err(error) => {
                // The reason why it did not open is what matters.
                drop(session.close().await);
                Err(EmbedError::Start(error.to_string()))
            }
        }
    }

    /// What the start had to tell: settings that make no sense, resources that were left out.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.told
    }

    /// Sends a prompt and waits until all that it led to is done: tool calls, retries, queued messages. A session that
    /// works already refuses; queue the text with [`Command::Queue`] then. To see what happens meanwhile, take
    /// [`Session::events`] before.
    ///
    /// Dropping the future does not cancel the work: send [`Command::Abort`].
    ///
    /// # Errors
    /// The prompt was refused, or the last model call failed.
    pub async fn prompt(&self, text: impl Into<String>) -> Result<Answer, EmbedError> {
        self.prompt_with(Input::text(text)).await
    }

    /// The same with pictures, or as somebody else's words.
    ///
    /// # Errors
    /// See [`Session::prompt`].
    pub async fn prompt_with(&self, input: Input) -> Result<Answer, EmbedError> {
        let mut events = self.events(SubscriberKind::Lossless);
        loop {
            match self.command(Command::Prompt { input: input.clone(), behavior: None }).await {
                Ok(Reply::Input(Disposition::Handled)) => return Ok(Answer::default()),
                Ok(_) => break,
                // The loop died with the prompt in its mailbox, or right after it took it: the input's number tells.
                Err(CommandError::Lost) if self.front.get().is_some() => tokio::time::sleep(AGAIN).await,
                Err(error) => return Err(error.into()),
            }
        }
        let mut last = None;
        while let Some(published) = events.next().await {
            match &published.event {
                Event::MessageEnd { message: AgentMessage::Assistant(message), .. } => last = Some(message.clone()),
                Event::TurnEnd { message, .. } => last = Some(message.clone()),
                Event::Parked { cause } => return Err(EmbedError::Parked(cause.clone())),
                Event::AgentSettled { .. } => return answer(last),
                _ => {}
            }
        }
        Err(CommandError::Lost.into())
    }

    /// Sends a command and waits until it is carried out.
    ///
    /// # Errors
    /// Why it was not.
    pub async fn command(&self, command: Command) -> Result<Reply, CommandError> {
        self.client.command(command).await
    }

    /// What happens from now on. See [`Events`] for the two paces: lossless, where a slow reader slows the agent, and
    /// coalescing, where it misses updates.
    #[must_use]
    pub fn events(&self, pace: SubscriberKind) -> Events {
        Events::of(&self.client, pace, self.closed.clone())
    }

    /// The session's tree as of now: entries, branches, totals, the context.
    #[must_use]
    pub fn tree(&self) -> Option<TreeView> {
        self.client.shared.tree()
    }

    /// The session's file, existing or planned; none in memory.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        self.client.shared.place.file().map(PathBuf::from)
    }

    /// The selected model.
    #[must_use]
    pub fn model(&self) -> Option<Arc<Model>> {
        self.client.shared.selection().model.clone()
    }

    /// The agents below this one: spawn some, wait for them, stop them.
    #[must_use]
    pub fn family(&self) -> Family {
        Family::of(&self.client.shared)
    }

    /// Slash commands that prompts may use.
    #[must_use]
    pub fn commands(&self) -> Vec<CommandInfo> {
        extension_commands::all(&self.client.shared)
    }

    /// Puts another session in the place of this one: a new one, a fork, a file. False when an extension objects.
    /// Streams of events end; take new ones.
    ///
    /// # Errors
    /// Why it did not work; this session goes on then.
    pub async fn replace(&mut self, change: SessionChange) -> Result<bool, EmbedError> {
        let (to, replaced) = oneshot::channel();
        let message = ProgramMsg::Replace { client: Box::new(self.client.clone()), change, to };
        drop(self.front.try_tell(message));
        match replaced.await {
            Ok(Replaced::Done { agent: MadeAgent { shared }, notices, .. }) => {
                shared.publish(notices);
                self.client.shared = shared;
                std::mem::replace(&mut self.closed, self.ended.child_token()).cancel();
                Ok(true)
            }
            Ok(Replaced::Cancelled) => Ok(false),
            Ok(Replaced::Failed(cause)) => Err(EmbedError::Failed(cause)),
            Err(_) => Err(CommandError::Lost.into()),
        }
    }

    /// Writes the session as an HTML page and returns its path. A file of that name is replaced.
    ///
    /// # Errors
    /// Why there is no page.
    pub async fn export_html(&self, file: impl AsRef<Path>) -> Result<PathBuf, EmbedError> {
        let view = self.tree().ok_or(CommandError::Lost)?;
        let (session, file) = (self.file(), file.as_ref().to_string_lossy().into_owned());
        let written = tokio::task::spawn_blocking(move || exporter::export(&view, session, Some(file))).await;
        written.map_err(|error| EmbedError::Failed(error.to_string()))?.map_err(EmbedError::Failed)
    }

    /// Ends the session: what runs is cancelled, what is stored stays.
    ///
    /// # Errors
    /// What of the session could not be saved.
    pub async fn close(self) -> Result<(), EmbedError> {
        let ended = async {
            self.runtime.end(0);
            let code = self.runtime.wait().await;
            let exit = self.base.saved_at_last(if code == 0 { Exit::Done } else { Exit::Failed });
            self.base.close().await;
            settle().await;
            exit
        };
        let (exit, told) = notices::collected(ended).await;
        match exit {
            Exit::Done => Ok(()),
            _ if told.is_empty() => Err(EmbedError::Close("the runtime failed".to_owned())),
            _ => Err(EmbedError::Close(told.join("; "))),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Harmless when it has ended.
        self.runtime.end(0);
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("file", &self.file()).finish_non_exhaustive()
    }
}

/// The answer that a trace ended with.
fn answer(last: Option<Arc<AssistantMessage>>) -> Result<Answer, EmbedError> {
    match &last {
        Some(message) if message.is_failed() => {
            let text = message.error_message.clone().unwrap_or_else(|| "The request failed.".to_owned());
            Err(EmbedError::Failed(text))
        }
        _ => Ok(Answer { message: last }),
    }
}
