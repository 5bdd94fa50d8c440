//! The actor: asks where the run stands whenever no trace runs, and does what comes next.

use std::{
    fs::File,
    sync::{Arc, Mutex, PoisonError},
};

use jsonschema::Validator;
use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio_util::sync::CancellationToken;

use super::{
    limits::Spent,
    look::{Look, LookWork, Looking},
    outcome::Outcome,
    progress::{Answer, Progress},
    steps::{self, Findings, Step},
    task::{Check, Message, Task},
    verify::{Verify, VerifyWork},
    watching::Pulse,
    words::{Settle, Word, line},
};
use crate::{
    actors::{
        address::{Addr, Recipient, Slot},
        front::{
            AGAIN,
            client::AgentClient,
            complain,
            stdout::{Chunk, Form, Stdout},
        },
        json_answer,
        reply::{CommandResult, ReplyTo},
        runtime::{FrontFactory, FrontStart, Parts},
        shared::AgentShared,
        spawn::{ended, spawn, spawn_worker},
        subscriber::{Backlog, Delivery, SubscriberKind},
    },
    protocol::{
        Command, CommandError, EntryId, Reply,
        command::{Disposition, Input},
        wire::{WireMode, WireState},
    },
};

/// Starts the front of a run.
pub struct UnattendedFactory {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// What the run is to do.
    pub task: Task,
    /// Where events go, as lines; the place is at the end of a whole line.
    pub events: Mutex<Option<File>>,
    /// What stands in front of them.
    pub head: Vec<u8>,
    /// Where the front is to be found: by whoever hears the supervisor.
    pub front: Slot<UnattendedMsg>,
}

impl FrontFactory for UnattendedFactory {
    fn start(&self, parts: Parts, done: Recipient<i32>, supervisor: ActorCell) -> FrontStart<'_> {
        Box::pin(async move {
            let events = self.events.lock().unwrap_or_else(PoisonError::into_inner).take();
            let args = UnattendedArgs {
                agent: AgentClient { shared: self.shared.clone(), fleet: parts.fleet },
                task: self.task.clone(),
                events,
                head: self.head.clone(),
                done,
            };
            let addr = spawn("Unattended", "", Unattended, args, supervisor).await?;
            self.front.fill(addr.clone());
            Ok(addr.actor().get_cell())
        })
    }
}

/// What the front begins with.
pub struct UnattendedArgs {
    agent: AgentClient,
    task: Task,
    events: Option<File>,
    head: Vec<u8>,
    done: Recipient<i32>,
}

/// What the front is told.
#[derive(Debug)]
pub enum UnattendedMsg {
    /// The agent takes commands, or does not.
    Opened(CommandResult),
    /// What the agent does.
    Delivery(Delivery),
    /// See whether a trace runs.
    Look,
    /// No trace runs, or nobody knows.
    Idle(CommandResult),
    /// What became of a message.
    Said(Message, CommandResult),
    /// What was done so far.
    Looked(Look),
    /// What the check says.
    Checked(Result<(), String>),
    /// A worker is gone.
    Gone(ActorId),
    /// The run is to settle.
    Settle(Settle),
    /// Events cannot be written any more.
    Unwritable(String),
    /// Nobody hears the words any more.
    Unheard(String),
    /// Everything is out.
    Flushed,
}

/// A worker that is waited for.
pub(super) enum Waiting {
    /// It finds out what was done so far.
    Look(ActorId),
    /// It runs the check.
    Check(ActorId, CancellationToken),
}

/// State of the front.
pub struct UnattendedState {
    pub(super) agent: AgentClient,
    pub(super) task: Task,
    pub(super) me: Addr<UnattendedMsg>,
    done: Recipient<i32>,
    pub(super) events: Option<Stdout>,
    pub(super) words: Stdout,
    pub(super) wire: WireState,
    pub(super) backlog: Option<Arc<Backlog>>,
    pub(super) spent: Spent,
    pub(super) pulse: Pulse,
    pub(super) found: Findings,
    progress: Progress,
    pub(super) waiting: Option<Waiting>,
    validator: Option<Validator>,
    /// Prompts that an extension took: the session does not tell of them.
    handled: Vec<EntryId>,
    /// The work is to be judged, and the model is still to hear of siblings.
    pub(super) lingers: bool,
    pub(super) ended: bool,
}

/// The actor.
pub struct Unattended;

impl Actor for Unattended {
    type Msg = UnattendedMsg;
    type State = UnattendedState;
    type Arguments = UnattendedArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<UnattendedMsg>,
        args: UnattendedArgs,
    ) -> Result<UnattendedState, ActorProcessingErr> {
        let me = Addr::of(&myself);
        let words = Stdout::start(Form::Json, Recipient::new(me.clone(), UnattendedMsg::Unheard));
        let unwritable = Recipient::new(me.clone(), UnattendedMsg::Unwritable);
        let events = args.events.map(|file| Stdout::start_for(file, Form::Json, unwritable));
        if let Some(events) = &events {
            events.write(Chunk { bytes: args.head, ..Chunk::default() });
        }
        args.task.limits.hold(&args.agent.shared.kin.account, &args.task.spent);
        // Before the agent runs: one that takes over a trace goes on with it at once.
        let to = Recipient::new(me.clone(), UnattendedMsg::Delivery);
        let backlog = args.agent.subscribe(SubscriberKind::Lossless, to).backlog;
        let opened = me.clone();
        args.agent.open(ReplyTo::new(move |result| opened.tell(UnattendedMsg::Opened(result))));
        let validator = match args.task.schema.as_ref().map(json_answer::compile).transpose() {
            Ok(validator) => validator,
            Err(error) => return Err(format!("the schema of the answer cannot be used: {error}").into()),
        };
        Ok(UnattendedState {
            spent: args.task.spent,
            agent: args.agent,
            task: args.task,
            done: args.done,
            events,
            words,
            wire: WireState::new(WireMode::Json),
            backlog: Some(backlog),
            pulse: Pulse::default(),
            found: Findings::default(),
            progress: Progress::default(),
            waiting: None,
            validator,
            handled: Vec::new(),
            lingers: false,
            ended: false,
            me,
        })
    }

    async fn handle(
        &self,
        myself: ActorRef<UnattendedMsg>,
        message: UnattendedMsg,
        state: &mut UnattendedState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            UnattendedMsg::Opened(Ok(_)) => {
                state.tell_open();
                state.look();
            }
            UnattendedMsg::Opened(Err(error)) => state.fail(&error.to_string()),
            UnattendedMsg::Delivery(delivery) => state.deliver(delivery),
            UnattendedMsg::Look => state.look(),
            UnattendedMsg::Idle(Ok(_)) => state.go_on(&myself).await,
            // The loop died with the question: its next incarnation goes on with the trace.
            UnattendedMsg::Idle(Err(CommandError::Lost)) => drop(myself.send_after(AGAIN, || UnattendedMsg::Look)),
            UnattendedMsg::Idle(Err(error)) => state.broken(&error.to_string()),
            UnattendedMsg::Said(message, result) => state.said(&myself, message, result),
            UnattendedMsg::Looked(look) => {
                state.looked(look);
                state.go_on(&myself).await;
            }
            UnattendedMsg::Checked(result) => {
                state.waiting = None;
                state.found.check = Some((state.progress.leaf.clone(), result));
                state.go_on(&myself).await;
            }
            UnattendedMsg::Gone(id) => state.gone(&myself, id).await,
            UnattendedMsg::Settle(cause) => state.stop(cause.outcome(), None),
            UnattendedMsg::Unwritable(cause) => {
                complain(&format!("Error: the run's events cannot be written: {cause}"));
                state.stop(Outcome::NotSaved, Some(cause));
            }
            UnattendedMsg::Unheard(cause) => {
                complain(&format!("The supervisor is gone ({cause}): the run settles."));
                state.stop(Settle::Orphaned.outcome(), None);
            }
            UnattendedMsg::Flushed => {
                // The root ends everything; when it is gone, so is the process.
                let _ = state.done.deliver(0);
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<UnattendedMsg>,
        event: SupervisionEvent,
        _: &mut UnattendedState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, _)) = ended(&event) {
            Addr::of(&myself).tell(UnattendedMsg::Gone(id));
        }
        Ok(())
    }

    async fn post_stop(
        &self,
        _: ActorRef<UnattendedMsg>,
        state: &mut UnattendedState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some(events) = &state.events {
            events.flush().await;
        }
        Ok(())
    }
}

impl UnattendedState {
    pub(super) fn tell(&self, word: &Word) {
        self.words.write(Chunk { bytes: line(word), ..Chunk::default() });
    }

    fn tell_open(&self) {
        let place = &self.agent.shared.place;
        let session_id = place.store.view().header().id.clone();
        self.tell(&Word::Open { session: place.store.path(), session_id, turns: self.spent.turns });
    }

    /// Asks to be told when no trace runs.
    pub(super) fn look(&self) {
        let me = self.me.clone();
        self.agent.send(Command::WaitIdle, ReplyTo::new(move |result| me.tell(UnattendedMsg::Idle(result))));
    }

    /// Does what comes next; no trace runs.
    async fn go_on(&mut self, myself: &ActorRef<UnattendedMsg>) {
        if self.ended || self.waiting.is_some() {
            return;
        }
        let Some(tree) = self.agent.shared.tree() else { return self.broken("the session is not open") };
        let mut progress = Progress::of(&tree, &self.task);
        self.count_handled(&mut progress);
        self.found.form = match (&self.validator, &progress.answer) {
            (Some(validator), Answer::Given(text)) => Some(json_answer::check(validator, text)),
            _ => None,
        };
        self.found.limit = self.limit_reached();
        self.progress = progress;
        let step = steps::next(&self.task, &self.progress, &self.found);
        // A model that will hear of siblings has not said its last word.
        self.lingers = step.judges() && self.agent.shared.awaits_siblings();
        if self.lingers {
            return;
        }
        match step {
            Step::Say(message, text) => self.say(message, text),
            Step::Look => {
                let Some(first) = self.first().cloned() else { return self.broken("the run has no prompt") };
                let to = Recipient::new(self.me.clone(), UnattendedMsg::Looked);
                let work = LookWork { shared: self.agent.shared.clone(), tree, first, to };
                match spawn_worker("Looking", "", Looking, (), work, myself.get_cell()).await {
                    Ok(addr) => self.waiting = Some(Waiting::Look(addr.id())),
                    Err(exit) => self.broken(exit.cause()),
                }
            }
            Step::Check => {
                if let Some(check) = self.task.check.clone() {
                    self.check(myself, check).await;
                }
            }
            Step::End(outcome, reason) => self.end(outcome, reason),
        }
    }

    /// The limit that is reached, and more about it.
    fn limit_reached(&self) -> Option<(Outcome, Option<String>)> {
        if self.task.limits.has_turns_over(&self.spent) {
            return Some((Outcome::TurnLimit, None));
        }
        let limit = self.agent.shared.kin.account.exhausted()?;
        Some((Outcome::of_limit(limit.what), Some(limit.message)))
    }

    /// Counts the prompts that an extension took: what it did with them is its answer.
    fn count_handled(&self, progress: &mut Progress) {
        let id = |place: usize| self.task.prompts.get(place).and_then(|prompt| prompt.entry_id.as_ref());
        while id(progress.prompts).is_some_and(|id| self.handled.contains(id)) {
            progress.prompts += 1;
            if progress.answer == Answer::Owed {
                progress.answer = Answer::Given(String::new());
            }
        }
    }

    async fn check(&mut self, myself: &ActorRef<UnattendedMsg>, check: Check) {
        let quiet_ms = u64::try_from(check.timeout.as_millis()).ok();
        self.tell(&Word::Beat { turns: self.spent.turns, quiet_ms });
        let cancel = CancellationToken::new();
        let to = Recipient::new(self.me.clone(), UnattendedMsg::Checked);
        let work = VerifyWork { shared: self.agent.shared.clone(), check, cancel: cancel.clone(), to };
        match spawn_worker("Verify", "", Verify, (), work, myself.get_cell()).await {
            Ok(addr) => self.waiting = Some(Waiting::Check(addr.id(), cancel)),
            Err(exit) => self.me.tell(UnattendedMsg::Checked(Err(format!("The check did not run: {}", exit.cause())))),
        }
    }

    fn say(&mut self, message: Message, text: String) {
        let input = match message {
            Message::Prompt(place) => self.task.prompts.get(place).cloned().unwrap_or_default(),
            other => other.input(&self.task.stem, text),
        };
        self.send(message, input);
    }

    fn send(&self, message: Message, input: Input) {
        let me = self.me.clone();
        let reply = ReplyTo::new(move |result| me.tell(UnattendedMsg::Said(message, result)));
        self.agent.send(Command::Prompt { input, behavior: None }, reply);
    }

    fn said(&mut self, myself: &ActorRef<UnattendedMsg>, message: Message, result: CommandResult) {
        match result {
            Ok(Reply::Input(Disposition::Handled)) => {
                let id = match message {
                    Message::Prompt(place) => self.task.prompts.get(place).and_then(|prompt| prompt.entry_id.clone()),
                    other => Some(other.id(&self.task.stem)),
                };
                self.handled.extend(id);
                self.look();
            }
            Ok(_) => self.look(),
            // The loop died with it, or a trace runs that nobody here began: the session tells what became of it.
            Err(CommandError::Lost | CommandError::Busy) => drop(myself.send_after(AGAIN, || UnattendedMsg::Look)),
            Err(CommandError::Parked(cause)) => self.broken(&cause),
            Err(error) => self.fail(&error.to_string()),
        }
    }

    async fn gone(&mut self, myself: &ActorRef<UnattendedMsg>, id: ActorId) {
        match &self.waiting {
            Some(Waiting::Look(worker)) if *worker == id => {
                self.broken("what the run has done so far could not be found out");
            }
            Some(Waiting::Check(worker, _)) if *worker == id => {
                self.waiting = None;
                let failure = Err("The check broke off by a fault of the program.".to_owned());
                self.found.check = Some((self.progress.leaf.clone(), failure));
                self.go_on(myself).await;
            }
            _ => {}
        }
    }

    /// What was done in this session, with what was done before.
    fn looked(&mut self, look: Look) {
        self.waiting = None;
        let mut all = self.task.before.clone();
        all.add(look);
        // What events told may lack the last ones.
        self.spent = all.spent;
        self.found.look = Some((self.progress.leaf.clone(), all));
    }

    /// The first entry of the run.
    fn first(&self) -> Option<&EntryId> {
        self.task.prompts.first().and_then(|prompt| prompt.entry_id.as_ref())
    }
}
