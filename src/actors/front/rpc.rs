//! RPC mode: a client sends commands on standard input, one JSON object a line; responses and events go out on
//! standard output.
//!
//! Commands are carried out side by side and correlated by id. A response never overtakes an event that was published
//! before it: it waits until this front has seen the bus up to there. Questions about state are answered from the
//! front's own view, which holds exactly what the client has been told.

use std::sync::Arc;

use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef};

use super::{
    client::AgentClient,
    rpc_data,
    stdin::{self, Line},
    stdout::{Chunk, Form, Release, Stdout},
};
use crate::{
    actors::{
        address::{Addr, Recipient, Slot},
        fleet::FleetMsg,
        reply::{CommandResult, ReplyTo},
        runtime::{FrontFactory, FrontStart},
        shared::AgentShared,
        spawn::spawn,
        subscriber::{Backlog, Delivered, Delivery, SubscriberKind},
    },
    protocol::{
        Command, Event,
        event::Seq,
        view::View,
        wire::{
            CommandInfo, Incoming, Request, RequestId, Response, RpcCommand, UiResponse, WireMode, WireState,
            parse_line, reply_data, write_event, write_response,
        },
    },
};

/// Starts the front.
pub struct RpcFactory {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// Slash commands that prompts may use.
    pub commands: Vec<CommandInfo>,
}

impl FrontFactory for RpcFactory {
    fn start(&self, fleet: Slot<FleetMsg>, done: Recipient<i32>, supervisor: ActorCell) -> FrontStart<'_> {
        Box::pin(async move {
            let agent = AgentClient { shared: self.shared.clone(), fleet };
            let args = RpcArgs { agent, commands: self.commands.clone(), done };
            Ok(spawn("Rpc", "", Rpc, args, supervisor).await?.actor().get_cell())
        })
    }
}

/// What the front begins with.
pub struct RpcArgs {
    agent: AgentClient,
    commands: Vec<CommandInfo>,
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
        /// The event.
        after: Seq,
    },
    /// Standard output cannot be written any more.
    Broken(String),
    /// Everything is out.
    Flushed,
}

/// State of the front.
pub struct RpcState {
    agent: AgentClient,
    commands: Vec<CommandInfo>,
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
            commands: args.commands,
            done: args.done,
        })
    }

    async fn handle(
        &self,
        _: ActorRef<RpcMsg>,
        message: RpcMsg,
        state: &mut RpcState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            RpcMsg::Opened(Ok(_)) => {
                let to = Recipient::new(state.me.clone(), RpcMsg::Delivery);
                state.backlog = Some(state.agent.subscribe(SubscriberKind::Lossless, to).backlog);
                state.agent.shared.config.questions.attend();
                stdin::start(Recipient::new(state.me.clone(), RpcMsg::Line));
            }
            RpcMsg::Opened(Err(error)) => {
                tracing::error!(%error, "the agent did not open");
                super::complain(&format!("Error: {error}"));
                state.end(1);
            }
            RpcMsg::Line(Line::Text(line, _place)) => state.line(&line),
            RpcMsg::Line(Line::End) => state.end(0),
            RpcMsg::Delivery(delivery) => state.deliver(delivery),
            RpcMsg::Answer { id, command, result, after } => {
                let catalogue = state.agent.shared.config.catalogue.now();
                let response = match result {
                    Ok(reply) => {
                        let data = reply_data(command, reply, |name| catalogue.find(name));
                        Response::done(id, command, data)
                    }
                    Err(error) => Response::failed(id, command, error.to_string()),
                };
                state.held.push((after, response));
                state.release();
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

    async fn post_stop(&self, _: ActorRef<RpcMsg>, state: &mut RpcState) -> Result<(), ActorProcessingErr> {
        state.out.flush().await;
        Ok(())
    }
}

impl RpcState {
    fn line(&mut self, line: &[u8]) {
        match parse_line(line) {
            Incoming::Refused(response) => self.respond(&response),
            // An answer gets no response.
            Incoming::UiResponse(UiResponse { id, answer }) => {
                self.agent.send(Command::Answer { id: id.into(), answer }, ReplyTo::nobody());
            }
            Incoming::Request(Request { id, command }) => {
                let name = command.name();
                match command.into_command(id.as_ref()) {
                    Ok(command) => self.send(id, name, command),
                    Err(question) => self.answer_question(id, name, &question),
                }
            }
        }
    }

    fn send(&self, id: Option<RequestId>, name: &'static str, command: Command) {
        let (me, shared) = (self.me.clone(), self.agent.shared.clone());
        let reply = ReplyTo::new(move |result| {
            me.tell(RpcMsg::Answer { id, command: name, result, after: shared.last_seq() });
        });
        self.agent.send(command, reply);
    }

    fn answer_question(&self, id: Option<RequestId>, name: &'static str, question: &RpcCommand) {
        let response = match rpc_data::answer(&self.agent.shared, &self.view, &self.commands, question) {
            Ok(data) => Response::done(id, name, data),
            Err(error) => Response::failed(id, name, error),
        };
        self.respond(&response);
    }

    fn respond(&self, response: &Response) {
        let mut bytes = Vec::new();
        write_response(response, &mut bytes);
        self.out.write(Chunk { bytes, ..Chunk::default() });
    }

    /// Lets responses go whose events are out. Those of an older incarnation of the bus will not come any more.
    fn release(&mut self) {
        let seen = self.view.seq;
        let (ready, held) = std::mem::take(&mut self.held).into_iter().partition(|(after, _)| *after <= seen);
        self.held = held;
        let ready: Vec<(Seq, Response)> = ready;
        for (_, response) in &ready {
            self.respond(response);
        }
    }

    fn deliver(&mut self, delivery: Delivery) {
        match delivery.content {
            Delivered::Snapshot(view) => self.view = *view,
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
                self.out.write(Chunk { bytes, release, permit: delivery.permit, written: None });
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
