//! One batch of tool calls: prepared in call order, run when all are prepared, finished each at its own time.
//!
//! The actor lives for one batch and never waits: guards are asked by a worker, tools run in workers, and running
//! output is looked at through [`Progress`]. Identity of a call is its place in the batch; ids are labels, and models
//! do send one twice.

mod ends;

use std::{sync::Arc, time::Duration};

use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Span;

use super::{
    address::{Addr, Recipient},
    batch::{ABORTED, Finished, INTERRUPTED},
    call_guard::{CallGuard, GuardWork},
    restart::Exit,
    session_writer::WriterMsg,
    shared::AgentShared,
    spawn::{ended, spawn_worker},
    tool_call::{ToolCallWorker, ToolWork},
    turn_io::{Input, Work},
};
use ends::{after_output, crash_text, crashed, not_decided};

use crate::{
    protocol::{
        EntryId, Event, ToolCall, ToolOutput, ask::AskPoint, event::CallLabel, time::now_ms, tool::ExecutionMode,
    },
    tools::{self, Progress, Tool, ToolContext, permissions::plan},
};

/// Updates of a running call are published at most this often.
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);
/// What an aborted call gets to end by itself with what it has.
const GRACE: Duration = Duration::from_millis(150);

/// What a batch is told.
pub enum BatchMsg {
    /// Begin.
    Begin,
    /// A call may run with these arguments, or has its result already.
    Guarded {
        /// Which.
        place: usize,
        /// The arguments to run with.
        result: Result<Map<String, Value>, Box<ToolOutput>>,
    },
    /// The run state knows that calls begin.
    Marked(Result<(), String>),
    /// A running call has something to show.
    Progress(usize),
    /// Look at running calls again.
    Tick,
    /// A call is over.
    Finished {
        /// Which.
        place: usize,
        /// Its result.
        output: Box<ToolOutput>,
        /// Milliseconds.
        duration_ms: u64,
    },
    /// A worker is gone.
    Gone(ActorId, Exit),
    /// End now, with what there is.
    Abort,
    /// Calls that did not end by themselves are killed.
    GraceOver,
}

/// What a batch begins with.
pub struct BatchArgs {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// The loop that waits for the results.
    pub to: Recipient<Input>,
    /// The work that it waits for.
    pub work: Work,
    /// The entry of the message.
    pub entry: EntryId,
    /// All calls of the message.
    pub calls: Arc<[ToolCall]>,
    /// Those that are to be run.
    pub places: Vec<usize>,
    /// What tools may use; arguments, id, token and progress are filled in for each call.
    pub context: ToolContext,
    /// The active tools.
    pub tools: Arc<Vec<Arc<dyn Tool>>>,
    /// The span of the turn.
    pub span: Span,
}

enum Phase {
    /// Not looked at yet.
    Waiting,
    /// Guards are being asked, by this worker.
    Guarding(Option<ActorId>),
    /// May run.
    Ready(Map<String, Value>),
    /// Runs.
    Running { worker: Addr<ToolWork>, updated: Option<Instant> },
    /// Has its result.
    Done,
}

struct Call {
    place: usize,
    label: CallLabel,
    tool: Option<Arc<dyn Tool>>,
    /// Its start has been published.
    announced: bool,
    phase: Phase,
    progress: Arc<Progress>,
    cancel: CancellationToken,
}

/// State of a batch.
pub struct BatchState {
    args: BatchArgs,
    calls: Vec<Call>,
    sequential: bool,
    aborted: bool,
    marking: bool,
    ticking: bool,
}

/// The actor.
pub struct ToolBatch;

impl Actor for ToolBatch {
    type Msg = BatchMsg;
    type State = BatchState;
    type Arguments = BatchArgs;

    async fn pre_start(&self, myself: ActorRef<BatchMsg>, args: BatchArgs) -> Result<BatchState, ActorProcessingErr> {
        let me = Addr::of(&myself);
        let calls: Vec<Call> = args.places.iter().map(|place| Call::new(*place, &args, &me)).collect();
        let sequential = calls
            .iter()
            .any(|call| call.tool.as_ref().is_some_and(|tool| tool.execution_mode() == ExecutionMode::Sequential));
        me.tell(BatchMsg::Begin);
        Ok(BatchState { args, calls, sequential, aborted: false, marking: false, ticking: false })
    }

    async fn handle(
        &self,
        myself: ActorRef<BatchMsg>,
        message: BatchMsg,
        state: &mut BatchState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            BatchMsg::Begin => {}
            BatchMsg::Guarded { place, result } => match (state.call(place), result) {
                (Some(call), Ok(arguments)) if matches!(call.phase, Phase::Guarding(_)) => {
                    call.phase = Phase::Ready(arguments);
                }
                (Some(_), Err(output)) => state.finish(place, *output, None),
                _ => {}
            },
            BatchMsg::Marked(Ok(())) => {
                state.marking = false;
                state.run_ready(&myself).await;
            }
            BatchMsg::Marked(Err(cause)) => {
                state.marking = false;
                let text = format!("The call was not executed: the session could not be saved ({cause}).");
                state.finish_where(|phase| matches!(phase, Phase::Ready(_)), &text);
            }
            BatchMsg::Progress(place) => state.show(&myself, place),
            BatchMsg::Tick => {
                state.ticking = false;
                for at in 0..state.calls.len() {
                    let place = state.calls[at].place;
                    state.show(&myself, place);
                }
            }
            BatchMsg::Finished { place, output, duration_ms } => state.finish(place, *output, Some(duration_ms)),
            BatchMsg::Gone(id, exit) => state.gone(id, &exit),
            BatchMsg::Abort if !state.aborted => {
                state.aborted = true;
                state.finish_where(|phase| !matches!(phase, Phase::Running { .. } | Phase::Done), ABORTED);
                state.calls.iter().for_each(|call| call.cancel.cancel());
                myself.send_after(GRACE, || BatchMsg::GraceOver);
            }
            BatchMsg::Abort => {}
            BatchMsg::GraceOver => {
                for call in &state.calls {
                    if let Phase::Running { worker, .. } = &call.phase {
                        worker.kill();
                    }
                }
            }
        }
        state.advance(&myself).await;
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<BatchMsg>,
        event: SupervisionEvent,
        _: &mut BatchState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, exit)) = ended(&event) {
            Addr::of(&myself).tell(BatchMsg::Gone(id, exit));
        }
        Ok(())
    }
}

impl Call {
    fn new(place: usize, args: &BatchArgs, me: &Addr<BatchMsg>) -> Self {
        let call = &args.calls[place];
        let me = me.clone();
        Self {
            place,
            label: CallLabel {
                place,
                tool_call_id: call.id.clone(),
                tool_name: call.name.clone(),
                args: Arc::new(call.arguments.clone()),
            },
            tool: args.tools.iter().find(|tool| tool.declaration().name == call.name).cloned(),
            announced: false,
            phase: Phase::Waiting,
            progress: Arc::new(Progress::new(move || me.tell(BatchMsg::Progress(place)))),
            cancel: CancellationToken::new(),
        }
    }

    fn is_read_only(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.is_read_only())
    }
}

impl BatchState {
    fn call(&mut self, place: usize) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| call.place == place)
    }

    fn publish(&self, event: Event) {
        self.args.shared.publish(vec![event]);
    }

    fn report(&self, input: Input) {
        // When the loop is gone, so is this batch: its death is under way.
        let _ = self.args.to.deliver(input);
    }

    /// Does what can be done now.
    async fn advance(&mut self, myself: &ActorRef<BatchMsg>) {
        loop {
            let guarding = self.calls.iter().any(|call| matches!(call.phase, Phase::Guarding(_)));
            let running = self.calls.iter().any(|call| matches!(call.phase, Phase::Running { .. } | Phase::Ready(_)));
            // Call i+1 is prepared after call i; in a sequential batch, after it has run.
            if guarding || (self.sequential && running) {
                break;
            }
            match self.calls.iter().position(|call| matches!(call.phase, Phase::Waiting)) {
                Some(at) => self.prepare(myself, at).await,
                None => break,
            }
        }
        let preparing = self.calls.iter().any(|call| matches!(call.phase, Phase::Guarding(_)))
            || (!self.sequential && self.calls.iter().any(|call| matches!(call.phase, Phase::Waiting)));
        if !preparing && !self.marking {
            self.mark_or_run(myself).await;
        }
        if self.calls.iter().all(|call| matches!(call.phase, Phase::Done)) {
            self.report(Input::BatchDone { work: self.args.work });
            myself.stop(None);
        }
    }

    fn announce(&mut self, at: usize) {
        if !std::mem::replace(&mut self.calls[at].announced, true) {
            self.publish(Event::ToolExecutionStart { call: self.calls[at].label.clone() });
        }
    }

    /// Finds the tool, checks the arguments, and has the guards asked.
    async fn prepare(&mut self, myself: &ActorRef<BatchMsg>, at: usize) {
        let place = self.calls[at].place;
        self.announce(at);
        let Some(tool) = self.calls[at].tool.clone() else {
            let name = &self.args.calls[place].name;
            let output = ToolOutput::error(format!("Tool {name} not found"));
            return self.finish(place, output, None);
        };
        let arguments = match tools::validate(&*tool, &self.args.calls[place]) {
            Ok(arguments) => arguments,
            Err(failure) => return self.finish(place, failure.into(), None),
        };
        // Before anybody is asked about it.
        if let Some(refusal) = self.plan_refusal(&*tool, &arguments) {
            return self.finish(place, refusal, None);
        }
        let chain = &self.args.shared.config.chain;
        if !chain.has(AskPoint::ToolCall) {
            self.calls[at].phase = Phase::Ready(arguments);
            return;
        }
        let work = GuardWork {
            chain: chain.clone(),
            asking: self.args.shared.asking(),
            tool,
            call: ToolCall { arguments, ..self.args.calls[place].clone() },
            place,
            batch: Addr::of(myself),
        };
        let name = self.args.calls[place].name.clone();
        match spawn_worker("CallGuard", name, CallGuard, (), work, myself.get_cell()).await {
            Ok(worker) => self.calls[at].phase = Phase::Guarding(Some(worker.id())),
            Err(exit) => self.finish(place, not_decided(&exit), None),
        }
    }

    /// Why a call may not run while the agent only plans.
    fn plan_refusal(&self, tool: &dyn Tool, arguments: &Map<String, Value>) -> Option<ToolOutput> {
        let shared = &self.args.shared;
        let confined = shared.config.plan_operations.get().is_some();
        let refused = shared.selection().plan_mode.then(|| plan::refusal(tool, arguments, confined)).flatten();
        refused.map(ToolOutput::error)
    }

    /// Before a call that may have effects begins, the run state must know.
    async fn mark_or_run(&mut self, myself: &ActorRef<BatchMsg>) {
        let effects: Vec<usize> = self
            .calls
            .iter()
            .filter(|call| matches!(call.phase, Phase::Ready(_)) && !call.is_read_only())
            .map(|call| call.place)
            .collect();
        if effects.is_empty() {
            return self.run_ready(myself).await;
        }
        self.marking = true;
        let me = Addr::of(myself);
        let mark = WriterMsg::CallsStarted {
            entry: self.args.entry.clone(),
            places: effects,
            reply: Recipient::new(me.clone(), BatchMsg::Marked),
        };
        if self.args.shared.writer.try_tell(mark).is_err() {
            me.tell(BatchMsg::Marked(Err("the session's writer is not running".into())));
        }
    }

    async fn run_ready(&mut self, myself: &ActorRef<BatchMsg>) {
        let places: Vec<usize> =
            self.calls.iter().filter(|call| matches!(call.phase, Phase::Ready(_))).map(|call| call.place).collect();
        if places.is_empty() {
            return;
        }
        if let Err(lost) = self.args.shared.place.may_begin() {
            let text = format!("The call was not executed: {lost}.");
            return self.finish_where(|phase| !matches!(phase, Phase::Running { .. } | Phase::Done), &text);
        }
        self.report(Input::CallsStarted { work: self.args.work, places });
        for at in 0..self.calls.len() {
            if let Phase::Ready(arguments) = &mut self.calls[at].phase {
                let arguments = std::mem::take(arguments);
                self.run(myself.get_cell(), Addr::of(myself), at, arguments).await;
            }
        }
    }

    async fn run(&mut self, myself: ActorCell, batch: Addr<BatchMsg>, at: usize, arguments: Map<String, Value>) {
        let call = &self.calls[at];
        let Some(tool) = call.tool.clone() else { return };
        let place = call.place;
        // Once more: guards may have changed the arguments, and the user the mode.
        if let Some(refusal) = self.plan_refusal(&*tool, &arguments) {
            return self.finish(place, refusal, None);
        }
        let config = &self.args.shared.config;
        let confined = config.plan_operations.get().filter(|_| self.args.shared.selection().plan_mode);
        let context = ToolContext {
            operations: confined.unwrap_or_else(|| self.args.context.operations.clone()),
            tool_call_id: call.label.tool_call_id.clone(),
            arguments,
            cancel: call.cancel.clone(),
            progress: call.progress.clone(),
            ..self.args.context.clone()
        };
        let work = ToolWork {
            tool,
            context,
            chain: self.args.shared.config.chain.clone(),
            shared: self.args.shared.clone(),
            place,
            batch,
            span: self.args.span.clone(),
        };
        let label = self.calls[at].label.tool_name.clone();
        match spawn_worker("ToolCall", label, ToolCallWorker, (), work, myself).await {
            Ok(worker) => self.calls[at].phase = Phase::Running { worker, updated: None },
            Err(exit) => self.finish(place, crashed(&self.calls[at].label.tool_name, exit.cause()), None),
        }
    }

    /// Publishes what a running call has, unless it did so a moment ago.
    fn show(&mut self, myself: &ActorRef<BatchMsg>, place: usize) {
        let Some(call) = self.calls.iter_mut().find(|call| call.place == place) else { return };
        let Phase::Running { updated, .. } = &mut call.phase else { return };
        let mut outputs = Vec::new();
        if updated.is_none() {
            // The first update says that the call runs and has nothing yet.
            outputs.push(ToolOutput::default());
            *updated = Some(Instant::now());
            if !self.ticking {
                self.ticking = true;
                myself.send_after(UPDATE_INTERVAL, || BatchMsg::Tick);
            }
        } else if updated.is_some_and(|then| then.elapsed() >= UPDATE_INTERVAL) {
            if let Some(output) = call.progress.take() {
                *updated = Some(Instant::now());
                outputs.push(output);
            }
        } else if !self.ticking {
            self.ticking = true;
            myself.send_after(UPDATE_INTERVAL, || BatchMsg::Tick);
        }
        let label = call.label.clone();
        for output in outputs {
            self.publish(Event::ToolExecutionUpdate { call: label.clone(), partial: Arc::new(output) });
        }
    }

    /// Gives a call its result, once: the last update first, then the end.
    fn finish(&mut self, place: usize, output: ToolOutput, duration_ms: Option<u64>) {
        let Some(at) = self.calls.iter().position(|call| call.place == place) else { return };
        // A call that never began because of an abort has a start all the same.
        self.announce(at);
        let call = &mut self.calls[at];
        let phase = std::mem::replace(&mut call.phase, Phase::Done);
        let label = call.label.clone();
        let mut updates = Vec::new();
        match phase {
            Phase::Done => return,
            Phase::Running { updated, .. } => {
                let changed = call.progress.take();
                if updated.is_none() && changed.is_some() {
                    updates.push(ToolOutput::default());
                }
                updates.extend(changed.filter(|output| !output.content.is_empty()));
            }
            _ => {}
        }
        for update in updates {
            self.publish(Event::ToolExecutionUpdate { call: label.clone(), partial: Arc::new(update) });
        }
        let output = Arc::new(output);
        self.publish(Event::ToolExecutionEnd { call: label, result: output.clone(), duration_ms });
        let finished = Finished { output, duration_ms, timestamp: now_ms() };
        self.report(Input::CallFinished { work: self.args.work, place, finished });
    }

    fn finish_where(&mut self, which: impl Fn(&Phase) -> bool, text: &str) {
        let places: Vec<usize> = self.calls.iter().filter(|call| which(&call.phase)).map(|call| call.place).collect();
        for place in places {
            self.finish(place, ToolOutput::error(text), None);
        }
    }

    /// A worker ended. When its call has no result by then, it died.
    fn gone(&mut self, id: ActorId, exit: &Exit) {
        let aborted = self.aborted;
        let Some(call) = self.calls.iter().find(|call| match &call.phase {
            Phase::Running { worker, .. } => worker.id() == id,
            Phase::Guarding(worker) => *worker == Some(id),
            _ => false,
        }) else {
            return;
        };
        let place = call.place;
        let output = match &call.phase {
            Phase::Guarding(_) => not_decided(exit),
            _ => {
                let text = match exit {
                    Exit::Failed(cause) => crash_text(&call.label.tool_name, cause),
                    _ if aborted => ABORTED.to_owned(),
                    _ => INTERRUPTED.to_owned(),
                };
                after_output(call.progress.snapshot(), text)
            }
        };
        self.finish(place, output, None);
    }
}

#[cfg(test)]
mod tests;
