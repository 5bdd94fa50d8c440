//! The state of the front: sessions, what their agents say, and what the client is told.

use std::{collections::HashMap, sync::Arc};

use agent_client_protocol_schema::v1::{
    Error, ErrorCode, LoadSessionResponse, NewSessionResponse, Notice, NoticeSeverity, PromptResponse, RequestId,
    ResumeSessionResponse, SessionId, SessionUpdate, SetSessionConfigOptionResponse,
};
use ractor::{ActorId, ActorRef};
use serde_json::{json, value::RawValue};
use tokio::sync::OwnedSemaphorePermit;

use super::{
    AcpArgs, AcpMsg, form,
    hello::Client,
    host::AcpHost,
    json_rpc::{self, done, error, result, write_call, write_response},
    permission,
    prompt_turn::Answered,
    session::Session,
    work::{Made, Outcome, no_session, write_update},
};
use crate::{
    actors::{
        address::{Addr, Recipient},
        front::{
            AGAIN, complain,
            stdout::{Chunk, Form, Release, Stdout},
            warning_of_hidden,
        },
        reply::{CommandResult, ReplyTo},
        runtime::Parts,
        subscriber::{Delivered, Delivery},
    },
    protocol::{
        AgentMessage, Command, CommandError, Event, Published, Reply,
        command::Disposition,
        display::Display,
        event::{NoticeLevel, Seq},
        question::{Answer, Question},
    },
};

/// What a worker's end is an answer to.
pub(super) struct Pending {
    pub id: RequestId,
    pub want: Want,
    /// The session that it is about, once that is known.
    pub session: Option<SessionId>,
}

/// What the client wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    New,
    Load,
    Resume,
    Close,
    List,
    Delete,
}

/// State of the front.
pub(super) struct AcpState {
    pub(super) host: Arc<dyn AcpHost>,
    pub(super) parts: Parts,
    pub(super) me: Addr<AcpMsg>,
    /// The client, once it has introduced itself.
    pub(super) client: Option<Client>,
    pub(super) sessions: HashMap<SessionId, Session>,
    /// Sessions by their agents.
    agents: HashMap<Arc<str>, SessionId>,
    pub(super) pending: HashMap<ActorId, Pending>,
    /// Requests of ours so far.
    asked: i64,
    done: Recipient<i32>,
    out: Stdout,
    code: i32,
}

impl AcpState {
    pub(super) fn new(myself: &ActorRef<AcpMsg>, args: AcpArgs) -> Self {
        let me = Addr::of(myself);
        Self {
            out: Stdout::start(Form::Json, Recipient::new(me.clone(), AcpMsg::Broken)),
            host: args.host,
            parts: args.parts,
            me,
            client: None,
            sessions: HashMap::new(),
            agents: HashMap::new(),
            pending: HashMap::new(),
            asked: 0,
            done: args.done,
            code: 0,
        }
    }

    /// Writes bytes.
    fn write(&self, bytes: Vec<u8>) {
        self.out.write(Chunk { bytes, ..Chunk::default() });
    }

    /// Answers a request.
    pub(super) fn respond(&self, id: &RequestId, result: Result<Box<RawValue>, Error>) {
        let mut bytes = Vec::new();
        write_response(id, result, &mut bytes);
        self.write(bytes);
    }

    /// Tells updates of a session.
    pub(super) fn update(&self, session: &SessionId, updates: Vec<SessionUpdate>) {
        let mut bytes = Vec::new();
        updates.into_iter().for_each(|update| write_update(session, update, &mut bytes));
        self.write(bytes);
    }

    /// A session that is open; the error for all others.
    pub(super) fn session(&mut self, id: &SessionId) -> Result<&mut Session, Error> {
        self.sessions.get_mut(id).filter(|session| !session.closing).ok_or_else(|| no_session(id))
    }

    /// A session was made: what happens in it is told from now on.
    pub(super) fn made(&mut self, made: Made) {
        let Made { worker, session, history } = made;
        let Some(pending) = self.pending.get_mut(&worker) else { return };
        pending.session = Some(session.id.clone());
        self.write(history);
        self.agents.insert(session.client.shared.id.clone(), session.id.clone());
        self.sessions.insert(session.id.clone(), session);
    }

    pub(super) fn worked(&mut self, worker: ActorId, outcome: Result<Outcome, Error>) {
        let Some(pending) = self.pending.remove(&worker) else { return };
        match outcome {
            Ok(Outcome::Opened(session)) => self.opened(&pending, &session),
            Ok(Outcome::Gone) => {
                self.forget(pending.session.as_ref());
                self.respond(&pending.id, done());
            }
            Ok(Outcome::Listed(list)) => self.respond(&pending.id, result(&*list)),
            Err(fault) => {
                self.forget(pending.session.as_ref());
                self.respond(&pending.id, Err(fault));
            }
        }
    }

    pub(super) fn worker_gone(&mut self, worker: ActorId) {
        let broke_off = error(ErrorCode::InternalError, "the work on it broke off");
        self.worked(worker, Err(broke_off));
    }

    fn opened(&mut self, pending: &Pending, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else {
            // The client closed it while it was being opened.
            return self.respond(&pending.id, Err(no_session(id)));
        };
        session.look();
        let usage = session.usage_update(session.used);
        let (modes, options) = (session.choices().modes(), session.choices().options());
        let commands = session.commands_update();
        let response = match pending.want {
            Want::Load => result(&LoadSessionResponse::new().modes(modes).config_options(options)),
            Want::Resume => result(&ResumeSessionResponse::new().modes(modes).config_options(options)),
            _ => result(&NewSessionResponse::new(id.clone()).modes(modes).config_options(options)),
        };
        self.respond(&pending.id, response);
        self.update(id, usage.into_iter().chain([commands]).collect());
    }

    /// A session is closed, or never was open.
    fn forget(&mut self, id: Option<&SessionId>) {
        let Some(mut session) = id.and_then(|id| self.sessions.remove(id)) else { return };
        self.agents.remove(&session.client.shared.id);
        session.turn.cancel();
        let answers = session.turn.broken("the session was closed");
        answers.into_iter().for_each(|answer| self.answer(answer));
    }

    /// Answers a prompt.
    fn answer(&self, (id, ended): Answered) {
        self.respond(&id, ended.and_then(|stop| result(&PromptResponse::new(stop))));
    }

    pub(super) fn deliver(&mut self, delivery: Delivery) {
        let Delivery { agent, content, permit } = delivery;
        let Some(id) = self.agents.get(&agent).cloned() else { return };
        let Delivered::Events(events) = content else { return };
        let mut bytes = Vec::new();
        for event in &events {
            self.event(&id, event, &mut bytes);
        }
        let weights = events.iter().map(|event| event.event.weight()).collect();
        let backlog = self.sessions.get(&id).map(|session| session.backlog.clone());
        let release = backlog.map(|backlog| Release { backlog, weights });
        self.out.write(Chunk { bytes, release, permit, ..Chunk::default() });
        for event in &events {
            self.prompt_event(&id, event);
        }
    }

    /// What an event tells the client.
    fn event(&mut self, id: &SessionId, published: &Published, out: &mut Vec<u8>) {
        if let Some(warning) = warning_of_hidden(&published.event) {
            complain(&warning);
        }
        let notices = self.client.is_some_and(|client| client.notices);
        let Some(session) = self.sessions.get_mut(id) else { return };
        let mut updates = session.translation.on(&published.event);
        match &published.event {
            Event::ModelChanged { .. } | Event::ThinkingLevelChanged { .. } | Event::PlanModeChanged { .. } => {
                updates.extend(session.choice_updates());
            }
            Event::MessageEnd { message: AgentMessage::Assistant(answer), .. } => {
                session.turn.answered(answer);
                updates.extend(session.usage_update(answer.usage.total_tokens));
            }
            Event::TurnEnd { message, .. } => session.turn.answered(message),
            Event::Display { display: Display::Notify { message, level }, .. } if notices => {
                updates.push(notice(level.unwrap_or(NoticeLevel::Info), message));
            }
            Event::Notice { level, text } if notices => updates.push(notice(*level, text)),
            Event::Notice { text, .. } => complain(text),
            Event::ExtensionError { extension, event, error } => {
                complain(&format!("Extension {extension} failed at {event}: {error}"));
            }
            Event::QuestionAsked { question } => self.ask(id, question, out),
            Event::QuestionClosed { id: question } => {
                if let Some(number) = session.asked(question) {
                    write_call(None, "$/cancel_request", &json!({"requestId": number}), out);
                }
            }
            _ => {}
        }
        updates.into_iter().for_each(|update| write_update(id, update, out));
    }

    /// Asks the client. What it cannot ask has no answer.
    fn ask(&mut self, id: &SessionId, question: &Arc<Question>, out: &mut Vec<u8>) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let call = question.tool_call_id.as_deref().and_then(|label| session.translation.open_call(label));
        let forms = self.client.is_some_and(|client| client.forms);
        self.asked += 1;
        if let Some(form) = form::request(id, question, call.as_ref()).filter(|_| forms) {
            write_call(Some(self.asked), "elicitation/create", &form, out);
        } else if let Some(request) = permission::request(id, question, call, forms) {
            write_call(Some(self.asked), "session/request_permission", &request, out);
        } else {
            let command = Command::Answer { id: question.id.clone(), answer: Answer::Cancelled };
            return session.client.send(command, ReplyTo::nobody());
        }
        session.questions.insert(self.asked, question.clone());
    }

    /// What an event means for the prompt that runs.
    fn prompt_event(&mut self, id: &SessionId, published: &Published) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let answers = match &published.event {
            Event::AgentSettled { aborted } => session.turn.settled(published.seq, *aborted).into_iter().collect(),
            Event::Parked { cause } => {
                session.turn.broken(&format!("the agent failed repeatedly and was given up: {cause}"))
            }
            _ => return,
        };
        answers.into_iter().for_each(|answer| self.answer(answer));
        self.next_prompt(id);
    }

    /// Sends the prompt that waited for the end of a cancelled one.
    fn next_prompt(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        if let Some((request, input)) = session.turn.take_next() {
            self.prompt(id, request, input);
        }
    }

    pub(super) fn taken(
        &mut self,
        myself: &ActorRef<AcpMsg>,
        id: &SessionId,
        request: RequestId,
        taken: CommandResult,
        after: Seq,
    ) {
        let Some(session) = self.sessions.get_mut(id).filter(|session| session.turn.is(&request)) else { return };
        let taken = match taken {
            // The loop died with the prompt in its mailbox, or right after it took it: the operation's number tells.
            Err(CommandError::Lost) if !session.closing => {
                let id = id.clone();
                myself.send_after(AGAIN, || AcpMsg::Again(id, request));
                return;
            }
            Ok(Reply::Input(disposition)) => Ok(disposition),
            Ok(_) => Ok(Disposition::Handled),
            Err(fault) => Err(fault),
        };
        if let Some(answer) = session.turn.taken(taken, after) {
            self.answer(answer);
            self.next_prompt(id);
        }
    }

    pub(super) fn again(&mut self, id: &SessionId, request: &RequestId) {
        let Some(session) = self.sessions.get(id).filter(|session| session.turn.is(request)) else { return };
        if let Some(input) = session.turn.input() {
            self.send_prompt(session, request.clone(), input);
        }
    }

    pub(super) fn chosen(
        &mut self,
        id: &SessionId,
        request: RequestId,
        option: bool,
        mut rest: Vec<Command>,
        outcome: CommandResult,
    ) {
        if let Err(fault) = outcome {
            return self.respond(&request, Err(error(ErrorCode::InternalError, fault.to_string())));
        }
        let Some(session) = self.sessions.get_mut(id) else { return self.respond(&request, Err(no_session(id))) };
        if !rest.is_empty() {
            let next = rest.remove(0);
            return self.choose(id, request, option, next, rest);
        }
        let updates = session.choice_updates();
        let response = match option {
            true => result(&SetSessionConfigOptionResponse::new(session.choices().options())),
            false => done(),
        };
        self.respond(&request, response);
        self.update(id, updates);
    }

    /// Gives the place of a line free when everything that was said so far is out: a client that asks and does not read
    /// is not read either.
    pub(super) fn give_back(&self, place: Option<OwnedSemaphorePermit>) {
        self.out.write(Chunk { written: Some(Box::new(move || drop(place))), ..Chunk::default() });
    }

    /// Ends the process with this code when everything is out.
    pub(super) fn end(&mut self, code: i32) {
        self.code = code;
        let me = self.me.clone();
        self.out.flushed(move || me.tell(AcpMsg::Flushed));
    }

    pub(super) fn flushed(&self) {
        // The root ends everything; when it is gone, so is the process.
        let _ = self.done.deliver(self.code);
    }

    pub(super) async fn flush(&self) {
        self.out.flush().await;
    }

    /// Says that a line could not be understood.
    pub(super) fn refuse(&self, id: &RequestId, fault: Error) {
        tracing::warn!(%id, fault = fault.message, "the client sent what is no request");
        self.respond(id, Err(fault));
    }

    /// A request of this method came before the client introduced itself.
    pub(super) fn too_early(method: &str) -> Error {
        json_rpc::error(ErrorCode::InvalidRequest, format!("{method} came before initialize"))
    }
}

fn notice(level: NoticeLevel, text: &str) -> SessionUpdate {
    let severity = match level {
        NoticeLevel::Info => NoticeSeverity::Info,
        NoticeLevel::Warning => NoticeSeverity::Warning,
        NoticeLevel::Error => NoticeSeverity::Error,
    };
    let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
    let description = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
    SessionUpdate::Notice(Notice::new(severity, title).description(description))
}
