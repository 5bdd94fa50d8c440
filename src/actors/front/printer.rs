//! Print and JSON mode: sends prompts one after another and prints what comes of them.
//!
//! JSON mode prints every event of the agent as pi's records, one line each, behind the session's header. Print mode
//! prints the text of the last answer. Both say on standard error what went wrong, and both end the process with 1
//! when the last answer failed.

use std::{collections::VecDeque, io::IsTerminal, sync::Arc};

use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef};

use super::{
    AGAIN,
    client::AgentClient,
    complain, given_up,
    stdout::{Chunk, Form, Release, Stdout},
};
use crate::{
    actors::{
        address::{Addr, Recipient},
        reply::{CommandResult, ReplyTo},
        runtime::{FrontFactory, FrontStart, Parts},
        shared::AgentShared,
        spawn::spawn,
        subscriber::{Backlog, Delivered, Delivery, SubscriberKind},
    },
    protocol::{
        AgentMessage, AssistantMessage, Command, CommandError, Event, Published, Reply, StopReason,
        command::{Disposition, Input},
        message::text_of,
        tool::is_denied,
        wire::{WireMode, WireState, write_event, write_header},
    },
};

/// The exit code of a run in which calls were denied, for those who asked for it.
pub const DENIED: i32 = 5;

/// The exit code of a run that could not save its session.
pub const NOT_SAVED: i32 = 6;

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintMode {
    /// The last answer's text.
    Text,
    /// Every event.
    Json,
}

impl PrintMode {
    fn form(self) -> Form {
        match self {
            Self::Text => Form::Text,
            Self::Json => Form::Json,
        }
    }
}

/// Starts the printer.
pub struct PrinterFactory {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// What is printed.
    pub mode: PrintMode,
    /// The prompts, in order.
    pub prompts: Vec<Input>,
    /// A run in which calls were denied has failed.
    pub fail_when_denied: bool,
}

impl FrontFactory for PrinterFactory {
    fn start(&self, parts: Parts, done: Recipient<i32>, supervisor: ActorCell) -> FrontStart<'_> {
        Box::pin(async move {
            let args = PrinterArgs {
                agent: AgentClient { shared: self.shared.clone(), fleet: parts.fleet },
                mode: self.mode,
                prompts: self.prompts.clone().into(),
                fail_when_denied: self.fail_when_denied,
                done,
            };
            Ok(spawn("Printer", "", Printer, args, supervisor).await?.actor().get_cell())
        })
    }
}

/// What the printer begins with.
pub struct PrinterArgs {
    agent: AgentClient,
    mode: PrintMode,
    prompts: VecDeque<Input>,
    fail_when_denied: bool,
    done: Recipient<i32>,
}

/// What the printer is told.
#[derive(Debug)]
pub enum PrinterMsg {
    /// The agent takes commands, or does not.
    Opened(CommandResult),
    /// What the agent does.
    Delivery(Delivery),
    /// What became of the prompt that was sent.
    Prompted(CommandResult),
    /// Send the next prompt, which may be one whose answer was lost.
    Again,
    /// Standard output cannot be written any more.
    Broken(String),
    /// Everything is out.
    Flushed,
}

/// State of the printer.
pub struct PrinterState {
    agent: AgentClient,
    mode: PrintMode,
    prompts: VecDeque<Input>,
    done: Recipient<i32>,
    me: Addr<PrinterMsg>,
    out: Stdout,
    wire: WireState,
    backlog: Option<Arc<Backlog>>,
    last: Option<Arc<AssistantMessage>>,
    /// A prompt was sent, and its trace is not over.
    waiting: Option<Input>,
    progress: bool,
    /// What was denied, in order.
    denied: Vec<String>,
    fail_when_denied: bool,
    /// All prompts are done, and siblings whose ends the model is to hear of still work.
    lingers: bool,
    /// The last notice that was shown.
    told: Option<String>,
    code: i32,
}

/// The actor.
pub struct Printer;

impl Actor for Printer {
    type Msg = PrinterMsg;
    type State = PrinterState;
    type Arguments = PrinterArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<PrinterMsg>,
        args: PrinterArgs,
    ) -> Result<PrinterState, ActorProcessingErr> {
        let me = Addr::of(&myself);
        let opened = me.clone();
        args.agent.open(ReplyTo::new(move |result| opened.tell(PrinterMsg::Opened(result))));
        Ok(PrinterState {
            out: Stdout::start(args.mode.form(), Recipient::new(me.clone(), PrinterMsg::Broken)),
            wire: WireState::new(WireMode::Json),
            backlog: None,
            last: None,
            waiting: None,
            progress: args.mode == PrintMode::Text && std::io::stderr().is_terminal(),
            denied: Vec::new(),
            fail_when_denied: args.fail_when_denied,
            lingers: false,
            told: None,
            code: 0,
            me,
            agent: args.agent,
            mode: args.mode,
            prompts: args.prompts,
            done: args.done,
        })
    }

    async fn handle(
        &self,
        myself: ActorRef<PrinterMsg>,
        message: PrinterMsg,
        state: &mut PrinterState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            PrinterMsg::Opened(Ok(_)) => {
                state.print_header();
                let to = Recipient::new(state.me.clone(), PrinterMsg::Delivery);
                state.backlog = Some(state.agent.subscribe(SubscriberKind::Lossless, to).backlog);
                state.next_prompt();
            }
            PrinterMsg::Opened(Err(error)) => state.fail(&error.to_string()),
            PrinterMsg::Delivery(delivery) => state.deliver(delivery),
            // There may be no trace to wait for; one that an extension began is waited for all the same.
            PrinterMsg::Prompted(Ok(Reply::Input(Disposition::Handled))) => {
                state.waiting = None;
                let me = state.me.clone();
                state.agent.send(Command::WaitIdle, ReplyTo::new(move |_| me.tell(PrinterMsg::Again)));
            }
            PrinterMsg::Prompted(Ok(_)) => {}
            // The loop died with the prompt in its mailbox, or right after it took it: the operation's number tells.
            PrinterMsg::Prompted(Err(CommandError::Lost)) => {
                if let Some(input) = state.waiting.clone() {
                    state.prompts.push_front(input);
                    myself.send_after(AGAIN, || PrinterMsg::Again);
                }
            }
            // The end of a sibling has woken the model: it is let have its say.
            PrinterMsg::Prompted(Err(CommandError::Busy)) => {
                if let Some(input) = state.waiting.take() {
                    state.prompts.push_front(input);
                }
                let me = state.me.clone();
                state.agent.send(Command::WaitIdle, ReplyTo::new(move |_| me.tell(PrinterMsg::Again)));
            }
            PrinterMsg::Again => state.next_prompt(),
            PrinterMsg::Prompted(Err(error)) => state.fail(&error.to_string()),
            PrinterMsg::Broken(cause) => {
                complain(&format!("Error: standard output cannot be written: {cause}"));
                state.agent.send(Command::Abort, ReplyTo::nobody());
                state.end(1);
            }
            PrinterMsg::Flushed => {
                // The root ends everything; when it is gone, so is the process.
                let _ = state.done.deliver(state.code);
            }
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<PrinterMsg>, state: &mut PrinterState) -> Result<(), ActorProcessingErr> {
        state.out.flush().await;
        Ok(())
    }
}

impl PrinterState {
    fn print_header(&self) {
        if let (PrintMode::Json, Some(tree)) = (self.mode, self.agent.shared.tree()) {
            let mut bytes = Vec::new();
            write_header(tree.header(), &mut bytes);
            self.out.write(Chunk { bytes, ..Chunk::default() });
        }
    }

    fn next_prompt(&mut self) {
        let Some(input) = self.prompts.pop_front() else { return self.finish_or_linger() };
        self.waiting = Some(input.clone());
        let me = self.me.clone();
        let reply = ReplyTo::new(move |result| me.tell(PrinterMsg::Prompted(result)));
        self.agent.send(Command::Prompt { input, behavior: None }, reply);
    }

    fn deliver(&mut self, delivery: Delivery) {
        let events = match delivery.content {
            Delivered::Events(events) => events,
            Delivered::Snapshot(view) => {
                if let Some(cause) = &view.parked {
                    self.fail(&given_up(cause));
                }
                return;
            }
        };
        let mut bytes = Vec::new();
        for event in &events {
            if self.mode == PrintMode::Json {
                write_event(event, &mut self.wire, &mut bytes);
            }
        }
        let weights = events.iter().map(|event| event.event.weight()).collect();
        let release = self.backlog.clone().map(|backlog| Release { backlog, weights });
        self.out.write(Chunk { bytes, release, permit: delivery.permit, ..Chunk::default() });
        for event in events {
            if let Some(warning) = super::warning_of_hidden(&event.event) {
                complain(&warning);
            }
            self.watch(&event);
        }
    }

    fn watch(&mut self, published: &Published) {
        match &published.event {
            Event::MessageEnd { message: AgentMessage::Assistant(message), .. } => self.last = Some(message.clone()),
            // Also of a turn that ended without an answer.
            Event::TurnEnd { message, .. } => self.last = Some(message.clone()),
            Event::AgentSettled { .. } if self.waiting.take().is_some() => self.next_prompt(),
            Event::AgentSettled { .. } | Event::SiblingEnd { .. } if self.lingers => self.finish_or_linger(),
            Event::Notice { text, .. } => {
                complain(text);
                self.told = Some(text.clone());
            }
            // A long run goes on without room, and fails later.
            Event::CompactionEnd { error_message: Some(text), .. } => complain(&format!("Warning: {text}")),
            Event::ExtensionError { extension, event, error } => {
                complain(&format!("Extension {extension} failed at {event}: {error}"));
            }
            Event::Parked { cause } => {
                self.fail(&given_up(cause));
            }
            Event::ToolExecutionEnd { call, result, .. } if is_denied(result.details.as_ref()) => {
                self.denied.push(format!("{}: {}", call.tool_name, text_of_blocks(&result.content)));
            }
            Event::ToolExecutionStart { call } if self.progress => complain(&format!("· {}", call.tool_name)),
            Event::AutoRetryStart { attempt, max_attempts, delay_ms, error_message } if self.progress => {
                complain(&format!("· retry {attempt} of {max_attempts} in {delay_ms} ms: {error_message}"));
            }
            _ => {}
        }
    }

    /// All prompts are done. A model that is still to hear of its siblings has not said its last word.
    fn finish_or_linger(&mut self) {
        let shared = &self.agent.shared;
        self.lingers = shared.awaits_siblings();
        if self.lingers {
            return;
        }
        let has_siblings = !shared.kin.board.children(&shared.kin.id).is_empty();
        if has_siblings && *shared.phase.borrow() != "idle" {
            // It was woken, and what it heard is stored: its answer is under way.
            let me = self.me.clone();
            return self.agent.send(Command::WaitIdle, ReplyTo::new(move |_| me.tell(PrinterMsg::Again)));
        }
        self.finish();
    }

    /// All prompts are done: the result decides the exit code.
    fn finish(&mut self) {
        let done = self.report_denied();
        let Some(last) = self.last.clone() else { return self.end(done) };
        match last.stop_reason {
            StopReason::Error | StopReason::Aborted => {
                let text = last.error_message.clone().unwrap_or_else(|| "The request failed.".to_owned());
                if self.told.as_ref() != Some(&text) {
                    complain(&text);
                }
                self.end(1);
            }
            StopReason::Length if self.mode == PrintMode::Text => {
                self.print_text(&last);
                complain("Warning: the answer was cut off: it hit the output token limit.");
                self.end(1);
            }
            _ => {
                self.print_text(&last);
                self.end(done);
            }
        }
    }

    /// Says what was denied: a run that ends well may have done less than it was asked to. The exit code of such a run.
    fn report_denied(&self) -> i32 {
        if self.denied.is_empty() {
            return 0;
        }
        let calls = if self.denied.len() == 1 { "call was" } else { "calls were" };
        complain(&format!("Warning: {} {calls} denied:", self.denied.len()));
        self.denied.iter().for_each(|text| complain(&format!("- {text}")));
        if self.fail_when_denied { DENIED } else { 0 }
    }

    fn print_text(&self, message: &AssistantMessage) {
        if self.mode == PrintMode::Text {
            let blocks: Vec<_> = message.content.iter().filter(|block| block.as_text().is_some()).cloned().collect();
            if !blocks.is_empty() {
                let bytes = format!("{}\n", text_of_blocks(&blocks)).into_bytes();
                self.out.write(Chunk { bytes, ..Chunk::default() });
            }
        }
    }

    fn fail(&mut self, text: &str) {
        complain(&format!("Error: {text}"));
        self.end(1);
    }

    /// Ends the process with this code when everything is out.
    fn end(&mut self, code: i32) {
        let unsaved = self.agent.shared.place.is_unsaved();
        self.code = self.code.max(if unsaved { NOT_SAVED } else { code });
        self.prompts.clear();
        let me = self.me.clone();
        self.out.flushed(move || me.tell(PrinterMsg::Flushed));
    }
}

fn text_of_blocks(blocks: &[crate::protocol::Block]) -> String {
    text_of(blocks, "\n")
}
