//! The worker that serves one connection: a client sends RPC's requests, and gets responses and, when it subscribes,
//! events.
//!
//! It may wait, as nobody mails it; it ends with the connection. Its events merge while the client does not read, so it
//! never holds an agent up. A response does not overtake events that were published before it.

use std::sync::{Arc, atomic::Ordering};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::{
    io::{self, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
};
use tokio_stream::StreamExt as _;
use tokio_util::sync::CancellationToken;

use super::{
    Offered,
    allowed::{is_allowed, is_message},
};
use crate::{
    actors::{
        fleet::Family,
        front::{client::AgentClient, rpc_data, rpc_stream, sibling_work::answer, stdout::Stream, watch::Events},
        reply::{CommandResult, ReplyTo},
        shared::AgentShared,
        subscriber::SubscriberKind,
    },
    protocol::{
        Published,
        event::Seq,
        view::View,
        wire::{
            Incoming, Request, RequestId, Response, ResponseData, RpcCommand, WireMode, WireState, parse_line,
            reply_data, write_event, write_response,
        },
    },
};

/// Bytes of a line at most: a prompt with pictures fits.
const LINE: u64 = 32 << 20;
/// Bytes of a long answer that are held at once.
const BLOCK: usize = 64 << 10;

/// What is told to whoever writes to the agent in front of a team.
const NO_MESSAGES: &str =
    "nobody works with this agent: write to one below it, by `send_agent` with its id. /stop stops all.";

/// What the worker needs.
pub struct ConnectionWork {
    /// The connection.
    pub stream: UnixStream,
    /// What it can look at.
    pub offered: Offered,
}

/// The worker.
pub struct Connection;

impl Actor for Connection {
    type Msg = ConnectionWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<ConnectionWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<ConnectionWork>,
        work: ConnectionWork,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        // A client that goes away in the middle of a word is no fault of ours.
        if let Err(error) = serve(work).await {
            tracing::debug!(%error, "a connection to the control socket broke off");
        }
        myself.stop(None);
        Ok(())
    }
}

/// The answer of an agent to a command.
struct Answer {
    id: Option<RequestId>,
    command: &'static str,
    result: CommandResult,
    /// Whose answer it is, and the last event before it.
    agent: Arc<str>,
    after: Seq,
}

struct Served {
    out: OwnedWriteHalf,
    offered: Offered,
    agent: Arc<AgentShared>,
    /// The events of the agent, while the client wants them.
    events: Option<Events>,
    wire: WireState,
    /// Responses that wait until the events before them are out.
    held: Vec<(Seq, Response)>,
    answers: UnboundedSender<Answer>,
}

async fn serve(ConnectionWork { stream, mut offered }: ConnectionWork) -> io::Result<()> {
    let (input, out) = stream.into_split();
    let mut input = BufReader::new(input);
    let (sender, mut answers) = mpsc::unbounded_channel();
    let agent = offered.agent.borrow_and_update().clone();
    let mut changes = offered.agent.clone();
    let mut served = Served {
        out,
        offered,
        agent,
        events: None,
        wire: WireState::new(WireMode::Json),
        held: Vec::new(),
        answers: sender,
    };
    let mut line = Vec::new();
    loop {
        tokio::select! {
            read = read_line(&mut input, &mut line) => {
                if !read? {
                    return served.finish(&mut answers).await;
                }
                served.line(&std::mem::take(&mut line)).await?;
            }
            Some(event) = next(&mut served.events) => served.event(&event).await?,
            Some(answer) = answers.recv() => served.answer(answer).await?,
            Ok(()) = changes.changed() => {
                let agent = changes.borrow_and_update().clone();
                served.go_on_with(agent).await?;
            }
        }
    }
}

async fn next(events: &mut Option<Events>) -> Option<Arc<Published>> {
    match events {
        Some(events) => match events.next().await {
            Some(event) => Some(event),
            // The agent is closed; another one may take its place.
            None => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

/// Reads on until a line is whole; false at the end. What was read so far stays in `line` when this is dropped.
async fn read_line(input: &mut BufReader<OwnedReadHalf>, line: &mut Vec<u8>) -> io::Result<bool> {
    let room = LINE.saturating_sub(line.len() as u64);
    (&mut *input).take(room).read_until(b'\n', line).await?;
    match line.last() {
        Some(b'\n') => Ok(true),
        _ if line.len() as u64 >= LINE => Err(io::Error::other("a line is too long")),
        // A last line without an end counts.
        Some(_) => Ok(true),
        None => Ok(false),
    }
}

impl Served {
    async fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        match parse_line(line) {
            Incoming::Refused(response) => self.respond(&response).await,
            // The front asks people: an answer from here counts for nothing, and gets no response.
            Incoming::UiResponse(_) => Ok(()),
            Incoming::Request(Request { id, command }) if !is_allowed(&command) => {
                let name = command.name();
                let text = format!("`{name}` is not for the control socket: whoever works with the agent does that.");
                self.respond(&Response::failed(id, name, text)).await
            }
            Incoming::Request(Request { id, command }) => match self.offered.end.clone() {
                Some(_) if is_message(&command) => {
                    self.respond(&Response::failed(id, command.name(), NO_MESSAGES.to_owned())).await
                }
                Some(end) if matches!(command, RpcCommand::Abort) => {
                    let response = match end.deliver(()) {
                        true => Response::done(id, command.name(), None),
                        false => Response::failed(id, command.name(), "it cannot be stopped".to_owned()),
                    };
                    self.respond(&response).await
                }
                _ => self.request(id, command).await,
            },
        }
    }

    async fn request(&mut self, id: Option<RequestId>, command: RpcCommand) -> io::Result<()> {
        let name = command.name();
        match command.into_command(id.as_ref()) {
            Ok(command) => {
                self.client().send(command, self.reply_to(id, name));
                Ok(())
            }
            Err(RpcCommand::GetSupervisionTree) => {
                let data = ResponseData::Supervision(Box::new(self.offered.supervision()));
                self.respond(&Response::done(id, name, Some(data))).await
            }
            Err(RpcCommand::Subscribe { events }) => {
                self.events = events.then(|| self.watch());
                self.respond(&Response::done(id, name, None)).await?;
                self.release(!events).await
            }
            Err(RpcCommand::Sibling(command)) => {
                let (family, reply) = (Family::of(&self.agent), self.reply_to(id, name));
                // It waits, and the connection goes on; when this breaks off, the duty to answer says so.
                tokio::spawn(async move { reply.send(answer(&family, command).await) });
                Ok(())
            }
            Err(question) => self.question(id, name, &question).await,
        }
    }

    async fn question(&mut self, id: Option<RequestId>, name: &'static str, question: &RpcCommand) -> io::Result<()> {
        let tree = self.agent.tree();
        if let Some(chunk) = tree.and_then(|tree| rpc_stream::answer(&tree, id.as_ref(), question)) {
            self.out.write_all(&chunk.bytes).await?;
            return match chunk.stream {
                Some(stream) => self.stream(stream).await,
                None => Ok(()),
            };
        }
        // Without events only this much is known: that something runs, and how many messages wait.
        let waiting = vec![String::new(); self.agent.waiting.load(Ordering::Relaxed)];
        let running = *self.agent.phase.borrow() != "idle";
        let idle = View { running, steering: waiting, ..View::default() };
        let view = self.events.as_ref().map_or(&idle, Events::view);
        let response = match rpc_data::answer(&self.agent, view, question) {
            Ok(data) => Response::done(id, name, data),
            Err(error) => Response::failed(id, name, error),
        };
        self.respond(&response).await
    }

    /// Writes an answer that is too long to be held, block by block.
    async fn stream(&mut self, stream: Stream) -> io::Result<()> {
        let (sender, mut blocks) = mpsc::channel(4);
        let writing = tokio::task::spawn_blocking(move || {
            let mut out = std::io::BufWriter::with_capacity(BLOCK, Blocks(sender));
            stream(&mut out).and_then(|()| std::io::Write::flush(&mut out))
        });
        while let Some(block) = blocks.recv().await {
            let block: Vec<u8> = block;
            self.out.write_all(&block).await?;
        }
        writing.await.map_err(io::Error::other)?
    }

    async fn event(&mut self, event: &Published) -> io::Result<()> {
        let mut bytes = Vec::new();
        write_event(event, &mut self.wire, &mut bytes);
        self.out.write_all(&bytes).await?;
        self.release(false).await
    }

    async fn answer(&mut self, answer: Answer) -> io::Result<()> {
        let Answer { id, command, result, agent, after } = answer;
        let catalogue = self.agent.config.catalogue.now();
        let response = match result {
            Ok(reply) => Response::done(id, command, reply_data(command, reply, |name| catalogue.find(name))),
            Err(error) => Response::failed(id, command, error.to_string()),
        };
        // The events of an agent that was replaced will not come.
        let after = if agent == self.agent.id { after } else { Seq::default() };
        self.held.push((after, response));
        self.release(false).await
    }

    /// Lets responses go whose events are out, or `all`.
    async fn release(&mut self, all: bool) -> io::Result<()> {
        let seen = self.events.as_ref().map(|events| events.view().seq);
        let is_due = |after: Seq| all || seen.is_none_or(|seen| after <= seen);
        let (due, held) = std::mem::take(&mut self.held).into_iter().partition(|(after, _)| is_due(*after));
        self.held = held;
        let due: Vec<(Seq, Response)> = due;
        for (_, response) in &due {
            self.respond(response).await?;
        }
        Ok(())
    }

    /// Another agent is in front.
    async fn go_on_with(&mut self, agent: Arc<AgentShared>) -> io::Result<()> {
        self.agent = agent;
        self.wire = WireState::new(WireMode::Json);
        if self.events.is_some() {
            self.events = Some(self.watch());
        }
        self.release(true).await
    }

    /// The client says nothing more: what it asked for is answered, then the connection ends.
    async fn finish(mut self, answers: &mut UnboundedReceiver<Answer>) -> io::Result<()> {
        // With the last duty to answer, the last sender goes.
        let (closed, _) = mpsc::unbounded_channel();
        self.answers = closed;
        self.events = None;
        while let Some(answer) = answers.recv().await {
            self.answer(answer).await?;
        }
        self.release(true).await
    }

    fn watch(&self) -> Events {
        Events::of(&self.client(), SubscriberKind::Coalescing, CancellationToken::new())
    }

    fn client(&self) -> AgentClient {
        AgentClient { shared: self.agent.clone(), fleet: self.agent.kin.fleet.clone() }
    }

    fn reply_to(&self, id: Option<RequestId>, command: &'static str) -> ReplyTo {
        let (answers, shared) = (self.answers.clone(), self.agent.clone());
        ReplyTo::new(move |result| {
            let (agent, after) = (shared.id.clone(), shared.last_seq());
            // The connection may be over.
            let _ = answers.send(Answer { id, command, result, agent, after });
        })
    }

    async fn respond(&mut self, response: &Response) -> io::Result<()> {
        let mut bytes = Vec::new();
        write_response(response, &mut bytes);
        self.out.write_all(&bytes).await
    }
}

/// Hands what is written over to the worker, which waits for the client.
struct Blocks(mpsc::Sender<Vec<u8>>);

impl std::io::Write for Blocks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        self.0.blocking_send(bytes.to_vec()).map(|()| bytes.len()).map_err(gone)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
