//! RPC mode: a client sends commands on standard input, one JSON object a line; responses and events go out on
//! standard output.
//!
//! Commands are carried out side by side and correlated by id. A response never overtakes an event that was published
//! before it: it waits until this front has seen the bus up to there. Questions about state are answered from the
//! front's own view, which holds exactly what the client has been told.

use std::{mem, path::PathBuf, sync::Arc};

use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::sync::OwnedSemaphorePermit;

use super::{
    client::AgentClient,
    exporter::{ExportWork, Exporter},
    rpc_data,
    rpc_pending::{Asker, Pending, Waiting},
    rpc_stream,
    sibling_work::{SiblingJob, SiblingWork},
    stdin::{self, Line},
    stdout::{Chunk, Form, Release, Stdout},
};
use crate::{
    actors::{
        address::{Addr, Recipient},
        agent_factory::{AgentFactory, MadeAgent},
        fleet::Family,
        replacing::{ReplaceWork, Replaced},
        reply::{CommandResult, ReplyTo},
        runtime::{FrontFactory, FrontStart, Parts},
        shared::AgentShared,
        spawn::{ended, spawn, spawn_worker},
        subscriber::{Backlog, Delivered, Delivery, SubscriberKind},
    },
    extensions::backstage::WantedSession,
    protocol::{
        Command, Event,
        event::Seq,
        session_change::SessionChange,
        view::View,
        wire::{
            Incoming, Request, RequestId, Response, ResponseData, RpcCommand, UiResponse, WireMode, WireState,
            parse_line, reply_data, write_event, write_response, write_ui_request,
        },
    },
};

/// Starts the front.
pub struct RpcFactory {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// Who makes agents on other sessions.
    pub factory: Arc<dyn AgentFactory>,
}

impl FrontFactory for RpcFactory {
    fn start(&self, parts: Parts, done: Recipient<i32>, supervisor: ActorCell) -> FrontStart<'_> {
        Box::pin(async move {
            let agent = AgentClient { shared: self.shared.clone(), fleet: parts.fleet.clone() };
            let args = RpcArgs { agent, parts, factory: self.factory.clone(), done };
            Ok(spawn("Rpc", "", Rpc, args, supervisor).await?.actor().get_cell())
        })
    }
}

/// What the front begins with.
pub struct RpcArgs {
    agent: AgentClient,
    parts: Parts,
    factory: Arc<dyn AgentFactory>,
    done: Recipient<i32>,
}

/// What the front is told.
#[derive(Debug)]
pub enum RpcMsg {
    /// The agent takes commands, or does not.
    Opened(CommandResult),
    /// A line of the client.
    Line(Line),
    /// What the agent does.
    Delivery(Delivery),
    /// The answer to a command, and the last event that was published before it.
    Answer {
        /// What the client called its request.
        id: Option<RequestId>,
        /// The command.
        command: &'static str,
        /// The answer.
        result: CommandResult,
        /// Whose answer and event it is.
        agent: Arc<str>,
        /// The event.
        after: Seq,
    },
    /// An extension wants another session.
    Wanted(WantedSession),
    /// What came of the wish for another session.
    Replaced(Replaced),
    /// A worker is gone.
    Gone(ActorId),
    /// Standard output cannot be written any more.
    Broken(String),
    /// Everything is out.
    Flushed,
}

/// State of the front.
pub struct RpcState {
    agent: AgentClient,
    parts: Parts,
    factory: Arc<dyn AgentFactory>,
    pending: Option<Pending>,
    done: Recipient<i32>,
    me: Addr<RpcMsg>,
    out: Stdout,
    wire: WireState,
    view: View,
    backlog: Option<Arc<Backlog>>,
    /// Responses that wait until the events before them are out.
    held: Vec<(Seq, Response)>,
    code: i32,
}

/// The actor.
pub struct Rpc;

impl Actor for Rpc {
    type Msg = RpcMsg;
    type State = RpcState;
    type Arguments = RpcArgs;

    async fn pre_start(&self, myself: ActorRef<RpcMsg>, args: RpcArgs) -> Result<RpcState, ActorProcessingErr> {
        let me = Addr::of(&myself);
        let opened = me.clone();
        args.agent.open(ReplyTo::new(move |result| opened.tell(RpcMsg::Opened(result))));
        Ok(RpcState {
            out: Stdout::start(Form::Json, Recipient::new(me.clone(), RpcMsg::Broken)),
            wire: WireState::new(WireMode::Rpc),
            view: View::default(),
            backlog: None,
            held: Vec::new(),
            code: 0,
            me,
            agent: args.agent,
            parts: args.parts,
            factory: args.factory,
            pending: None,
            done: args.done,
        })
    }

    async fn handle(
        &self,
        myself: ActorRef<RpcMsg>,
        message: RpcMsg,
        state: &mut RpcState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            RpcMsg::Opened(Ok(_)) => {
                state.watch();
                let me = state.me.clone();
                let backstage = &state.agent.shared.config.backstage;
                backstage.on_session_wanted(move |wanted| me.tell(RpcMsg::Wanted(wanted)));
                state.agent.shared.config.questions.attend();
                stdin::start(Recipient::new(state.me.clone(), RpcMsg::Line));
            }
            RpcMsg::Opened(Err(error)) => {
                tracing::error!(%error, "the agent did not open");
                super::complain(&format!("Error: {error}"));
                state.end(1);
            }
            RpcMsg::Line(line) if state.pending.is_some() && state.passes(&line) => {}
            RpcMsg::Line(line) => match &mut state.pending {
                Some(pending) => pending.waiting.push(line),
                None => state.line(&myself, line).await,
            },
            RpcMsg::Delivery(delivery) => state.deliver(delivery),
            RpcMsg::Answer { id, command, result, agent, after } => {
                let catalogue = state.agent.shared.config.catalogue.now();
                let response = match result {
                    Ok(reply) => {
                        let data = reply_data(command, reply, |name| catalogue.find(name));
                        Response::done(id, command, data)
                    }
                    Err(error) => Response::failed(id, command, error.to_string()),
                };
                // The events of an agent that was replaced are out.
                let after = if agent == state.agent.shared.id { after } else { Seq::default() };
                state.held.push((after, response));
                state.release();
            }
            RpcMsg::Wanted(WantedSession { agent, change, then }) => {
                if agent != state.agent.shared.id {
                    then(Err(format!("the agent {agent} is not in front of anybody any more")));
                } else if state.pending.is_some() {
                    then(Err("the session is being replaced already".to_owned()));
                } else {
                    state.replace(&myself, change, Asker::Extension(then)).await;
                }
            }
            RpcMsg::Replaced(replaced) => state.replaced(&myself, replaced).await,
            RpcMsg::Gone(worker) => {
                if state.pending.as_ref().is_some_and(|pending| pending.worker == Some(worker)) {
                    let failed = Replaced::Failed("the work on it broke off; look at the state before going on".into());
                    state.replaced(&myself, failed).await;
                }
            }
            RpcMsg::Broken(cause) => {
                super::complain(&format!("Error: standard output cannot be written: {cause}"));
                state.end(1);
            }
            RpcMsg::Flushed => {
                // The root ends everything; when it is gone, so is the process.
                let _ = state.done.deliver(state.code);
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<RpcMsg>,
        event: SupervisionEvent,
        _: &mut RpcState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, _)) = ended(&event) {
            Addr::of(&myself).tell(RpcMsg::Gone(id));
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<RpcMsg>, state: &mut RpcState) -> Result<(), ActorProcessingErr> {
        state.out.flush().await;
        Ok(())
    }
}

impl RpcState {
    /// Begins to watch the agent.
    fn watch(&mut self) {
        let to = Recipient::new(self.me.clone(), RpcMsg::Delivery);
        self.backlog = Some(self.agent.subscribe(SubscriberKind::Lossless, to).backlog);
    }

    /// Takes what must not wait while the session is being replaced: extensions may ask whether it may be, and wait for
    /// the answer.
    fn passes(&self, line: &Line) -> bool {
        let questions = &self.agent.shared.config.questions;
        match line {
            Line::End => {
                questions.leave();
                false
            }
            Line::Text(text, _) => match parse_line(text) {
                Incoming::UiResponse(UiResponse { id, answer }) => {
                    questions.answer(&id.into(), answer);
                    true
                }
                _ => false,
            },
        }
    }

    async fn line(&mut self, myself: &ActorRef<RpcMsg>, line: Line) {
        // An answer on the spot gives the place free when it is out: a client that asks and does not read is not read
        // either.
        let Line::Text(line, place) = line else { return self.end(0) };
        match parse_line(&line) {
            Incoming::Refused(response) => self.respond(&response, place),
            // An answer gets no response.
            Incoming::UiResponse(UiResponse { id, answer }) => {
                self.agent.send(Command::Answer { id: id.into(), answer }, ReplyTo::nobody());
            }
            Incoming::Request(Request { id, command }) => {
                let name = command.name();
                match command.into_command(id.as_ref()) {
                    Ok(command) => self.send(id, name, command),
                    Err(RpcCommand::Sibling(command)) => {
                        let job = SiblingJob {
                            family: Family::of(&self.agent.shared),
                            command,
                            reply: self.reply_to(id, name),
                        };
                        // When it does not start, the duty to answer goes with it and answers that the command is lost.
                        let _ = spawn_worker("SiblingWork", name, SiblingWork, (), job, myself.get_cell()).await;
                    }
                    Err(RpcCommand::ExportHtml { output_path }) => self.export(myself, id, name, output_path).await,
                    Err(command) => match change_of(&command) {
                        Some(change) => self.replace(myself, change, Asker::Client { id, command: name }).await,
                        None => self.answer_question(id, name, &command, place),
                    },
                }
            }
        }
    }

    async fn replace(&mut self, myself: &ActorRef<RpcMsg>, change: SessionChange, asker: Asker) {
        let work = ReplaceWork {
            client: self.agent.clone(),
            parts: self.parts.clone(),
            factory: self.factory.clone(),
            change,
            to: Recipient::new(self.me.clone(), RpcMsg::Replaced),
        };
        let worker = work.begin(myself.get_cell()).await;
        self.pending = Some(Pending { worker, asker, waiting: Waiting::default() });
    }

    /// Answers the wish for another session, and goes on with the lines that waited.
    async fn replaced(&mut self, myself: &ActorRef<RpcMsg>, replaced: Replaced) {
        let Some(Pending { asker, mut waiting, .. }) = self.pending.take() else { return };
        let answer = match replaced {
            Replaced::Failed(cause) => Err(cause),
            Replaced::Cancelled => Ok(None),
            Replaced::Done { agent, text, notices } => {
                self.go_on_with(agent);
                self.agent.shared.publish(notices);
                Ok(Some(text))
            }
        };
        match asker {
            Asker::Client { id, command } => {
                let response = match answer {
                    Err(cause) => Response::failed(id, command, cause),
                    Ok(None) => Response::done(id, command, Some(outcome(command, None, true))),
                    Ok(Some(text)) => Response::done(id, command, Some(outcome(command, text, false))),
                };
                self.respond(&response, None);
            }
            Asker::Extension(then) => then(answer.map(|done| done.map(|_| self.agent.shared.id.clone()))),
        }
        while let Some(line) = waiting.pop() {
            self.line(myself, line).await;
            if let Some(pending) = &mut self.pending {
                pending.waiting = waiting;
                return;
            }
        }
    }

    fn go_on_with(&mut self, agent: MadeAgent) {
        // The old agent is closed: no event will come that these could overtake.
        for (_, response) in mem::take(&mut self.held) {
            self.respond(&response, None);
        }
        let MadeAgent { shared } = agent;
        self.agent = AgentClient { shared, fleet: self.parts.fleet.clone() };
        self.wire = WireState::new(WireMode::Rpc);
        self.view = View::default();
        self.watch();
    }

    fn send(&self, id: Option<RequestId>, name: &'static str, command: Command) {
        self.agent.send(command, self.reply_to(id, name));
    }

    /// Has the session written as a page.
    async fn export(
        &self,
        myself: &ActorRef<RpcMsg>,
        id: Option<RequestId>,
        name: &'static str,
        output: Option<String>,
    ) {
        let Some(view) = self.agent.shared.tree() else {
            let response = Response::failed(id, name, "The session is not open yet.".to_owned());
            return self.respond(&response, None);
        };
        let session = self.agent.shared.place.file().map(Into::into);
        let work = ExportWork { view, session, output, reply: self.reply_to(id, name) };
        // When it does not start, or dies, the duty to answer goes with it and answers that the command is lost.
        let _ = spawn_worker("Exporter", "", Exporter, (), work, myself.get_cell()).await;
    }

    /// The duty to answer a request.
    fn reply_to(&self, id: Option<RequestId>, name: &'static str) -> ReplyTo {
        let (me, shared) = (self.me.clone(), self.agent.shared.clone());
        ReplyTo::new(move |result| {
            let (agent, after) = (shared.id.clone(), shared.last_seq());
            me.tell(RpcMsg::Answer { id, command: name, result, agent, after });
        })
    }

    fn answer_question(
        &self,
        id: Option<RequestId>,
        name: &'static str,
        question: &RpcCommand,
        place: Option<OwnedSemaphorePermit>,
    ) {
        let tree = self.agent.shared.tree();
        if let Some(chunk) = tree.and_then(|tree| rpc_stream::answer(&tree, id.as_ref(), question)) {
            return self.out.write(Chunk { written: place.map(given_back), ..chunk });
        }
        let response = match rpc_data::answer(&self.agent.shared, &self.view, question) {
            Ok(data) => Response::done(id, name, data),
            Err(error) => Response::failed(id, name, error),
        };
        self.respond(&response, place);
    }

    fn respond(&self, response: &Response, place: Option<OwnedSemaphorePermit>) {
        let mut bytes = Vec::new();
        write_response(response, &mut bytes);
        self.out.write(Chunk { bytes, written: place.map(given_back), ..Chunk::default() });
    }

    /// Lets responses go whose events are out. Those of an older incarnation of the bus will not come any more.
    fn release(&mut self) {
        let seen = self.view.seq;
        let (ready, held) = std::mem::take(&mut self.held).into_iter().partition(|(after, _)| *after <= seen);
        self.held = held;
        let ready: Vec<(Seq, Response)> = ready;
        for (_, response) in &ready {
            self.respond(response, None);
        }
    }

    fn deliver(&mut self, delivery: Delivery) {
        // Late words of an agent that was replaced would be taken for those of its successor.
        if delivery.agent != self.agent.shared.id {
            return;
        }
        match delivery.content {
            Delivered::Snapshot(view) => {
                // Extensions may have asked before this front was there.
                let mut bytes = Vec::new();
                for question in &view.questions {
                    write_ui_request(&question.id.to_string(), &(&**question).into(), &mut bytes);
                }
                self.out.write(Chunk { bytes, ..Chunk::default() });
                self.view = *view;
            }
            Delivered::Events(events) => {
                let mut bytes = Vec::new();
                for event in &events {
                    write_event(event, &mut self.wire, &mut bytes);
                    self.view.apply(event);
                    if let Event::Notice { text, .. } = &event.event {
                        super::complain(text);
                    }
                    if let Some(warning) = super::warning_of_hidden(&event.event) {
                        super::complain(&warning);
                    }
                }
                let weights = events.iter().map(|event| event.event.weight()).collect();
                let release = self.backlog.clone().map(|backlog| Release { backlog, weights });
                self.out.write(Chunk { bytes, release, permit: delivery.permit, ..Chunk::default() });
            }
        }
        self.release();
    }

    /// Ends the process with this code when everything is out.
    fn end(&mut self, code: i32) {
        self.code = code;
        let me = self.me.clone();
        self.out.flushed(move || me.tell(RpcMsg::Flushed));
    }
}

/// Gives the place of a line free when its answer is out.
fn given_back(place: OwnedSemaphorePermit) -> Box<dyn FnOnce() + Send> {
    Box::new(move || drop(place))
}

/// The session that a command wants in the place of this one; none for other commands.
fn change_of(command: &RpcCommand) -> Option<SessionChange> {
    Some(match command {
        RpcCommand::NewSession { parent_session } => SessionChange::New { parent_session: parent_session.clone() },
        RpcCommand::SwitchSession { session_path } => {
            let path = PathBuf::from(session_path);
            // As a shell would: from where the program was started.
            SessionChange::Open(std::path::absolute(&path).unwrap_or(path).display().to_string())
        }
        RpcCommand::Fork { entry_id } => SessionChange::Fork(entry_id.clone()),
        RpcCommand::Clone => SessionChange::Clone,
        RpcCommand::Reload => SessionChange::Reload,
        _ => return None,
    })
}

/// What the client learns of the wish for another session.
fn outcome(command: &str, text: Option<String>, cancelled: bool) -> ResponseData {
    match command {
        "fork" if cancelled => ResponseData::Fork(None),
        "fork" => ResponseData::Fork(Some(text.unwrap_or_default())),
        _ => ResponseData::Cancelled(cancelled),
    }
}
