//! What the client asks.

use std::path::PathBuf;

use agent_client_protocol_schema::v1::{
    AuthenticateRequest, CancelNotification, CancelRequestNotification, CloseSessionRequest, DeleteSessionRequest,
    Error, ErrorCode, InitializeRequest, ListSessionsRequest, LoadSessionRequest, McpServer, NewSessionRequest,
    PromptRequest, RequestId, RequestPermissionResponse, ResumeSessionRequest, SessionConfigOptionValue, SessionId,
    SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use ractor::ActorRef;

use super::{
    AcpMsg,
    form::{self, Filled},
    front::{AcpState, Pending, Want},
    hello::{self, Client},
    json_rpc::{Incoming, Params, done, error, parse, result},
    permission, prompt,
    session::Session,
    work::{Existing, Job, Work, Worker},
};
use crate::{
    actors::{front::complain, reply::ReplyTo, spawn::spawn_worker},
    protocol::{
        Command,
        command::{Input, QueueKind},
        question::{Answer, Dialog},
    },
};

impl AcpState {
    /// A line of the client.
    pub(super) async fn line(&mut self, myself: &ActorRef<AcpMsg>, line: &[u8]) {
        match parse(line) {
            Incoming::Refused { id, error } => self.refuse(&id, error),
            Incoming::Response { id, result } => self.answered(&id, result),
            Incoming::Notification { method, params } => self.notified(&method, &params),
            Incoming::Request { id, method, params } => {
                if let Err(fault) = self.request(myself, &id, &method, &params).await {
                    self.respond(&id, Err(fault));
                }
            }
        }
    }

    /// Carries a request out, or begins to. An error is its answer.
    async fn request(
        &mut self,
        myself: &ActorRef<AcpMsg>,
        id: &RequestId,
        method: &str,
        params: &Params,
    ) -> Result<(), Error> {
        if self.client.is_none() && method != "initialize" {
            return Err(Self::too_early(method));
        }
        match method {
            "initialize" => {
                let request: InitializeRequest = params.read(method)?;
                self.client = Some(Client::of(&request.client_capabilities));
                self.respond(id, result(&hello::hello(&request.client_capabilities)));
            }
            "authenticate" => {
                let _: AuthenticateRequest = params.read(method)?;
                if !self.host.has_model() {
                    let text = format!("There is no model with a key yet. {}", hello::HOW_TO_LOG_IN);
                    return Err(error(ErrorCode::AuthRequired, text));
                }
                self.respond(id, done());
            }
            "session/new" => {
                let request: NewSessionRequest = params.read(method)?;
                warn(&request.mcp_servers, &request.additional_directories, request.system_prompt.is_some());
                let job = Job::Open { cwd: request.cwd, which: None };
                self.work(myself, id, Want::New, None, job).await;
            }
            "session/load" => {
                let request: LoadSessionRequest = params.read(method)?;
                warn(&request.mcp_servers, &request.additional_directories, request.system_prompt.is_some());
                self.reopen(myself, id, Want::Load, request.session_id, request.cwd).await?;
            }
            "session/resume" => {
                let request: ResumeSessionRequest = params.read(method)?;
                warn(&request.mcp_servers, &request.additional_directories, request.system_prompt.is_some());
                self.reopen(myself, id, Want::Resume, request.session_id, request.cwd).await?;
            }
            "session/close" => {
                let CloseSessionRequest { session_id, .. } = params.read(method)?;
                self.session(&session_id)?.closing = true;
                self.work(myself, id, Want::Close, Some(session_id.clone()), Job::Close(session_id)).await;
            }
            "session/delete" => {
                let DeleteSessionRequest { session_id, .. } = params.read(method)?;
                self.refuse_open(&session_id)?;
                self.work(myself, id, Want::Delete, Some(session_id.clone()), Job::Delete(session_id)).await;
            }
            "session/list" => {
                let request: ListSessionsRequest = params.read(method)?;
                self.work(myself, id, Want::List, None, Job::List(request.cwd)).await;
            }
            "session/prompt" => {
                let PromptRequest { session_id, prompt, .. } = params.read(method)?;
                let session = self.session(&session_id)?;
                let input = prompt::input(prompt)?;
                if let Some(input) = session.turn.begin(id.clone(), input)? {
                    self.prompt_now(&session_id, id.clone(), input);
                }
            }
            "session/set_mode" => {
                let SetSessionModeRequest { session_id, mode_id, .. } = params.read(method)?;
                let chosen = self.session(&session_id)?.choices().choose_mode(&mode_id.0);
                self.choose_all(&session_id, id, false, chosen)?;
            }
            "session/set_config_option" => {
                let request: SetSessionConfigOptionRequest = params.read(method)?;
                let SessionConfigOptionValue::ValueId { value } = &request.value else {
                    return Err(error(ErrorCode::InvalidParams, "the options of a session are chosen from lists"));
                };
                let chosen = self.session(&request.session_id)?.choices().choose(&request.config_id.0, &value.0);
                self.choose_all(&request.session_id, id, true, chosen)?;
            }
            other => {
                let text = format!("there is no method {other} here; docs/acp.md lists those that there are");
                return Err(error(ErrorCode::MethodNotFound, text));
            }
        }
        Ok(())
    }

    /// Something that the client says. What is not understood is passed over, as the protocol wants it.
    fn notified(&mut self, method: &str, params: &Params) {
        match method {
            "session/cancel" => {
                if let Ok(CancelNotification { session_id, .. }) = params.read(method) {
                    self.cancel(&session_id);
                }
            }
            "$/cancel_request" => {
                let Ok(CancelRequestNotification { request_id, .. }) = params.read(method) else { return };
                let prompting = self.sessions.values().find(|session| session.turn.is(&request_id));
                if let Some(id) = prompting.map(|session| session.id.clone()) {
                    self.cancel(&id);
                }
            }
            _ => tracing::debug!(method, "the client says something that means nothing here"),
        }
    }

    /// The running prompt of a session is to end. Its questions have no answer any more.
    fn cancel(&mut self, id: &SessionId) {
        let Ok(session) = self.session(id) else { return };
        session.turn.cancel();
        for question in std::mem::take(&mut session.questions).into_values() {
            let command = Command::Answer { id: question.id.clone(), answer: Answer::Cancelled };
            session.client.send(command, ReplyTo::nobody());
        }
        // Also what goes on in a session that was loaded.
        session.client.send(Command::Abort, ReplyTo::nobody());
    }

    /// The answer to a question of ours. One that nobody waits for any more is dropped.
    fn answered(&mut self, id: &RequestId, result: Result<Params, String>) {
        let RequestId::Number(number) = id else { return };
        let Some(session) = self.sessions.values_mut().find(|session| session.questions.contains_key(number)) else {
            return;
        };
        let Some(question) = session.questions.remove(number) else { return };
        let answer = result.and_then(|params| {
            let answer = match &question.dialog {
                Dialog::Select { .. } | Dialog::Confirm { .. } => params
                    .read::<RequestPermissionResponse>("session/request_permission")
                    .map(|response| permission::answer(&question, &response)),
                Dialog::Input { .. } | Dialog::Editor { .. } => {
                    params.read::<Filled>("elicitation/create").map(|filled| form::answer(&filled))
                }
            };
            answer.map_err(|fault| fault.message)
        });
        let answer = match answer {
            Ok(answer) => answer,
            Err(cause) => {
                complain(&format!("The client could not ask: {cause}. No answer means no."));
                Answer::Cancelled
            }
        };
        session.client.send(Command::Answer { id: question.id.clone(), answer }, ReplyTo::nobody());
    }

    async fn reopen(
        &mut self,
        myself: &ActorRef<AcpMsg>,
        id: &RequestId,
        want: Want,
        session: SessionId,
        cwd: PathBuf,
    ) -> Result<(), Error> {
        self.refuse_open(&session)?;
        let which = Some(Existing { id: session.clone(), tell: want == Want::Load });
        self.work(myself, id, want, Some(session), Job::Open { cwd, which }).await;
        Ok(())
    }

    /// Refuses what cannot be done with a session that is open, or at this moment is opened, closed or deleted.
    fn refuse_open(&self, session: &SessionId) -> Result<(), Error> {
        let busy = self.pending.values().any(|pending| pending.session.as_ref() == Some(session));
        if busy || self.sessions.contains_key(session) {
            let text = format!("the session {session} is open already; close it first with session/close");
            return Err(error(ErrorCode::InvalidRequest, text));
        }
        Ok(())
    }

    /// Has a worker do it.
    async fn work(
        &mut self,
        myself: &ActorRef<AcpMsg>,
        id: &RequestId,
        want: Want,
        session: Option<SessionId>,
        job: Job,
    ) {
        let client = session.as_ref().and_then(|id| self.sessions.get(id)).map(|session| session.client.clone());
        let work = Work { job, client, host: self.host.clone(), parts: self.parts.clone(), front: self.me.clone() };
        let pending = Pending { id: id.clone(), want, session };
        match spawn_worker("SessionWork", format!("{want:?}"), Worker, (), work, myself.get_cell()).await {
            Ok(worker) => drop(self.pending.insert(worker.id(), pending)),
            Err(exit) => self.respond(id, Err(error(ErrorCode::InternalError, exit.cause()))),
        }
    }

    /// Sends a prompt that waited.
    pub(super) fn prompt(&mut self, id: &SessionId, request: RequestId, input: Input) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        match session.turn.begin(request.clone(), input) {
            Ok(Some(input)) => self.prompt_now(id, request, input),
            Ok(None) => {}
            Err(fault) => self.respond(&request, Err(fault)),
        }
    }

    fn prompt_now(&self, id: &SessionId, request: RequestId, input: Input) {
        if let Some(session) = self.sessions.get(id) {
            self.send_prompt(session, request, input);
        }
    }

    /// Sends a prompt to its agent. One that comes while the agent goes on with what was interrupted follows that.
    pub(super) fn send_prompt(&self, session: &Session, request: RequestId, input: Input) {
        let (me, shared, id) = (self.me.clone(), session.client.shared.clone(), session.id.clone());
        let reply = ReplyTo::new(move |result| {
            me.tell(AcpMsg::Taken { session: id, id: request, result, after: shared.last_seq() });
        });
        session.client.send(Command::Prompt { input, behavior: Some(QueueKind::FollowUp) }, reply);
    }

    fn choose_all(
        &mut self,
        session: &SessionId,
        id: &RequestId,
        option: bool,
        chosen: Result<Vec<Command>, String>,
    ) -> Result<(), Error> {
        let mut commands = chosen.map_err(|text| error(ErrorCode::InvalidParams, text))?;
        let rest = commands.split_off(1.min(commands.len()));
        if let Some(first) = commands.pop() {
            self.choose(session, id.clone(), option, first, rest);
        }
        Ok(())
    }

    /// Sends a command that chooses something, and those behind it when it is carried out.
    pub(super) fn choose(
        &self,
        id: &SessionId,
        request: RequestId,
        option: bool,
        command: Command,
        rest: Vec<Command>,
    ) {
        let Some(session) = self.sessions.get(id) else { return };
        let (me, session_id) = (self.me.clone(), id.clone());
        let reply = ReplyTo::new(move |result| {
            me.tell(AcpMsg::Chosen { session: session_id, id: request, option, rest, result });
        });
        session.client.send(command, reply);
    }
}

/// What a client wants for a session and does not get, it is told of; the session goes on without it.
fn warn(servers: &[McpServer], folders: &[PathBuf], prompt: bool) {
    let unmet = [
        (!servers.is_empty(), "MCP servers are not connected by this version"),
        (!folders.is_empty(), "additional folders are not looked at; the agent can read files there all the same"),
        (prompt, "a system prompt of the client is not used; SYSTEM.md and AGENTS.md are"),
    ];
    for (_, text) in unmet.iter().filter(|(wanted, _)| *wanted) {
        complain(&format!("Warning: the session goes on without something that the client wants: {text}."));
    }
}
