//! The front that speaks the Agent Client Protocol: an editor sends JSON-RPC requests on standard input, one a line;
//! answers, updates and questions go out on standard output. One process serves several sessions, each of which is an
//! agent of its own.
//!
//! The types are those of the protocol's own schema. The loop is ours: the actor that is told everything writes in the
//! order in which things happened, and a client that does not read holds up the model and not the memory.
//!
//! | file | what |
//! |---|---|
//! | [`host`] | what the front asks of whoever built the process |
//! | `front` | the actor's state: sessions, what agents say, what the client is told |
//! | `requests` | what the client asks |
//! | `work` | workers that open, close and list sessions |
//! | `session` | a session that is open |
//! | `prompt_turn` | when a prompt is over, and how (pure) |
//! | `translation`, `history` | from events and stored messages to updates (pure) |
//! | `tool_view`, `patch` | how calls of tools look (pure) |
//! | `prompt` | from content blocks to a user's words (pure) |
//! | `choices` | modes, models, thinking levels (pure) |
//! | `permission`, `form` | questions and answers (pure) |
//! | `hello` | what we are and can do, logging in (pure) |
//! | `json_rpc` | messages as lines (pure) |

mod choices;
mod form;
mod front;
mod hello;
mod history;
pub mod host;
mod json_rpc;
mod patch;
mod permission;
mod prompt;
mod prompt_turn;
mod requests;
mod session;
mod tool_view;
mod translation;
mod work;

use std::{fmt, sync::Arc};

use agent_client_protocol_schema::v1::{Error, RequestId, SessionId};
use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};

use self::{
    front::AcpState,
    host::AcpHost,
    work::{Made, Outcome},
};
use super::stdin::{self, Line};
use crate::{
    actors::{
        address::{Addr, Recipient},
        reply::CommandResult,
        runtime::{FrontFactory, FrontStart, Parts},
        spawn::{ended, spawn},
        subscriber::Delivery,
    },
    extensions::Questions,
    protocol::{Command, event::Seq},
};

/// Starts the front.
pub struct AcpFactory {
    /// Who makes agents.
    pub host: Arc<dyn AcpHost>,
    /// Questions to people: the client is asked.
    pub questions: Questions,
}

impl FrontFactory for AcpFactory {
    fn start(&self, parts: Parts, done: Recipient<i32>, supervisor: ActorCell) -> FrontStart<'_> {
        Box::pin(async move {
            self.questions.attend();
            let args = AcpArgs { host: self.host.clone(), parts, done };
            Ok(spawn("Acp", "", Acp, args, supervisor).await?.actor().get_cell())
        })
    }
}

/// What the front begins with.
struct AcpArgs {
    host: Arc<dyn AcpHost>,
    parts: Parts,
    done: Recipient<i32>,
}

/// What the front is told.
enum AcpMsg {
    /// A line of the client.
    Line(Line),
    /// A worker made a session, and is about to open it.
    Made(Box<Made>),
    /// A worker is done.
    Worked {
        /// Which.
        worker: ActorId,
        /// What came of it.
        outcome: Result<Outcome, Error>,
    },
    /// A worker is gone.
    Gone(ActorId),
    /// What an agent does.
    Delivery(Delivery),
    /// The agent took the prompt of a session, or did not.
    Taken {
        /// Which session.
        session: SessionId,
        /// The request.
        id: RequestId,
        /// The answer.
        result: CommandResult,
        /// The last event before it.
        after: Seq,
    },
    /// Send a prompt again whose answer was lost.
    Again(SessionId, RequestId),
    /// A command that chooses something was carried out, or was not.
    Chosen {
        /// Which session.
        session: SessionId,
        /// The request.
        id: RequestId,
        /// The client asked for an option, and not for a mode.
        option: bool,
        /// What is still to be sent.
        rest: Vec<Command>,
        /// The answer.
        result: CommandResult,
    },
    /// Standard output cannot be written any more.
    Broken(String),
    /// Everything is out.
    Flushed,
}

impl fmt::Debug for AcpMsg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AcpMsg")
    }
}

/// The actor.
struct Acp;

impl Actor for Acp {
    type Msg = AcpMsg;
    type State = AcpState;
    type Arguments = AcpArgs;

    async fn pre_start(&self, myself: ActorRef<AcpMsg>, args: AcpArgs) -> Result<AcpState, ActorProcessingErr> {
        stdin::start(Recipient::new(Addr::of(&myself), AcpMsg::Line));
        Ok(AcpState::new(&myself, args))
    }

    async fn handle(
        &self,
        myself: ActorRef<AcpMsg>,
        message: AcpMsg,
        state: &mut AcpState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            AcpMsg::Line(Line::Text(line, place)) => {
                state.line(&myself, &line).await;
                state.give_back(place);
            }
            AcpMsg::Line(Line::End) => state.end(0),
            AcpMsg::Made(made) => state.made(*made),
            AcpMsg::Worked { worker, outcome } => state.worked(worker, outcome),
            AcpMsg::Gone(worker) => state.worker_gone(worker),
            AcpMsg::Delivery(delivery) => state.deliver(delivery),
            AcpMsg::Taken { session, id, result, after } => state.taken(&myself, &session, id, result, after),
            AcpMsg::Again(session, id) => state.again(&session, &id),
            AcpMsg::Chosen { session, id, option, rest, result } => state.chosen(&session, id, option, rest, result),
            AcpMsg::Broken(cause) => {
                super::complain(&format!("Error: standard output cannot be written: {cause}"));
                state.end(1);
            }
            AcpMsg::Flushed => state.flushed(),
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<AcpMsg>,
        event: SupervisionEvent,
        _: &mut AcpState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, _)) = ended(&event) {
            Addr::of(&myself).tell(AcpMsg::Gone(id));
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<AcpMsg>, state: &mut AcpState) -> Result<(), ActorProcessingErr> {
        state.flush().await;
        Ok(())
    }
}
