//! The root: starts extensions, fleet and front in this order, ends them in the reverse one. Its end ends the process.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::{sync::oneshot, time::Instant};

use super::{
    address::{Addr, Recipient, Slot},
    extensions::{Extensions, ExtensionsMsg, RunningExtensions},
    fleet::{Agents, Fleet, FleetMsg},
    reply::ReplyTo,
    restart::{Exit, RestartDecision, RestartKind, RestartPolicy},
    shared::Observer,
    spawn::{ended, spawn, spawn_root},
    trace,
};

/// How long the whole orderly end may take.
const DRAIN: Duration = Duration::from_secs(5);

/// How long the front may take to show the last words of the agents.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A front's start: its actor.
pub type FrontStart<'a> = Pin<Box<dyn Future<Output = Result<ActorCell, Exit>> + Send + 'a>>;

/// Where a front end finds the other parts of the runtime.
#[derive(Clone, Default)]
pub struct Parts {
    /// Who opens and addresses agents.
    pub fleet: Slot<FleetMsg>,
    /// Who runs the extensions that agents ask.
    pub extensions: Slot<ExtensionsMsg>,
}

/// Starts the front end: the one who gives the agents work and shows what they do.
pub trait FrontFactory: Send + Sync {
    /// Starts it below `supervisor`. It says through `done` how the process should end.
    fn start(&self, parts: Parts, done: Recipient<i32>, supervisor: ActorCell) -> FrontStart<'_>;

    /// Whether it is started again when it dies. Not one that writes lines to a stream: a second one could tear a line
    /// that the first had begun.
    fn restart(&self) -> RestartKind {
        RestartKind::Temporary
    }
}

/// Something that runs beside the front, and whose death harms nothing: it is not started again.
pub struct Service(Box<dyn FnOnce(ActorCell) -> FrontStart<'static> + Send>);

impl Service {
    /// What `start` starts below its argument.
    #[must_use]
    pub fn new(start: impl FnOnce(ActorCell) -> FrontStart<'static> + Send + 'static) -> Self {
        Self(Box::new(start))
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Service")
    }
}

/// What the root is told.
#[derive(Debug)]
pub enum RuntimeMsg {
    /// Start something that runs beside the front.
    Serve(Service),
    /// A child is gone.
    Gone(ActorId, Exit),
    /// The wait before a restart is over.
    Restart(Part),
    /// The front is done: end everything, with this exit code.
    Done(i32),
    /// Everything has ended, or had its time.
    Drained,
}

/// The parts below the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The extensions' supervisor.
    Extensions,
    /// The fleet.
    Fleet,
    /// The front.
    Front,
}

/// What the root begins with.
pub struct RuntimeArgs {
    /// The extensions.
    pub extensions: RunningExtensions,
    /// The agents that are open.
    pub agents: Agents,
    /// The places of the parts.
    pub parts: Parts,
    /// The front.
    pub front: Arc<dyn FrontFactory>,
    /// Where the exit code goes.
    pub exit: oneshot::Sender<i32>,
}

/// State of the root.
pub struct RuntimeState {
    extensions: RunningExtensions,
    agents: Agents,
    parts: Parts,
    exit: Option<oneshot::Sender<i32>>,
    code: Option<i32>,
    running: Vec<(ActorId, Part)>,
    factory: Arc<dyn FrontFactory>,
    front: Option<ActorCell>,
    histories: [Vec<Duration>; 3],
    begun: Instant,
}

/// The actor.
pub struct Runtime;

impl Actor for Runtime {
    type Msg = RuntimeMsg;
    type State = RuntimeState;
    type Arguments = RuntimeArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<RuntimeMsg>,
        args: RuntimeArgs,
    ) -> Result<RuntimeState, ActorProcessingErr> {
        for observer in args.extensions.observers() {
            let me = Addr::of(&myself);
            observer.control.backstage().on_end(move || me.tell(RuntimeMsg::Done(0)));
        }
        let mut state = RuntimeState {
            extensions: args.extensions,
            agents: args.agents,
            parts: args.parts.clone(),
            exit: Some(args.exit),
            code: None,
            running: Vec::new(),
            factory: args.front,
            front: None,
            histories: Default::default(),
            begun: Instant::now(),
        };
        for part in [Part::Extensions, Part::Fleet] {
            state.start(&myself, part).await.map_err(|exit| exit.cause().to_owned())?;
        }
        let started = state.start(&myself, Part::Front).await;
        started.map_err(|exit| format!("the front end did not start: {}", exit.cause()))?;
        Ok(state)
    }

    async fn handle(
        &self,
        myself: ActorRef<RuntimeMsg>,
        message: RuntimeMsg,
        state: &mut RuntimeState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            RuntimeMsg::Serve(Service(start)) => {
                if let Err(exit) = start(myself.get_cell()).await {
                    tracing::warn!(cause = exit.cause(), "a service did not start");
                }
            }
            RuntimeMsg::Gone(id, exit) => {
                let Some(at) = state.running.iter().position(|(known, _)| *known == id) else { return Ok(()) };
                let part = state.running.remove(at).1;
                state.decide(&myself, part, &exit);
            }
            RuntimeMsg::Restart(part) => {
                if let Err(exit) = state.start(&myself, part).await {
                    state.decide(&myself, part, &exit);
                }
            }
            RuntimeMsg::Done(code) => state.end(&myself, code),
            RuntimeMsg::Drained => {
                if let Some(front) = state.front.take() {
                    // What the agents said at their end is in its mailbox. One that is dead or stuck is not waited for.
                    let _ = front.drain_and_wait(Some(LAST_WORDS)).await;
                }
                if let Some(exit) = state.exit.take() {
                    // Nobody waits for the code any more: the process is ending anyway.
                    let _ = exit.send(state.code.unwrap_or(1));
                }
                myself.stop(None);
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<RuntimeMsg>,
        event: SupervisionEvent,
        _: &mut RuntimeState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, exit)) = ended(&event) {
            Addr::of(&myself).tell(RuntimeMsg::Gone(id, exit));
        }
        Ok(())
    }
}

impl RuntimeState {
    async fn start(&mut self, myself: &ActorRef<RuntimeMsg>, part: Part) -> Result<(), Exit> {
        let supervisor = myself.get_cell();
        let id = match part {
            Part::Extensions => {
                let addr: Addr<ExtensionsMsg> =
                    spawn("Extensions", "", Extensions, self.extensions.clone(), supervisor).await?;
                let id = addr.id();
                self.parts.extensions.fill(addr);
                id
            }
            Part::Fleet => {
                let addr = spawn("Fleet", "", Fleet, self.agents.clone(), supervisor).await?;
                let id = addr.id();
                self.parts.fleet.fill(addr);
                id
            }
            Part::Front => {
                let done = Recipient::new(Addr::of(myself), RuntimeMsg::Done);
                let front = self.factory.start(self.parts.clone(), done, supervisor).await?;
                let id = front.get_id();
                self.front = Some(front);
                id
            }
        };
        self.running.push((id, part));
        Ok(())
    }

    fn decide(&mut self, myself: &ActorRef<RuntimeMsg>, part: Part, exit: &Exit) {
        match part {
            Part::Extensions => self.parts.extensions.clear(),
            Part::Fleet => self.parts.fleet.clear(),
            Part::Front => self.front = None,
        }
        if self.code.is_some() {
            return;
        }
        let kind = if part == Part::Front { self.factory.restart() } else { RestartKind::Permanent };
        let history = &mut self.histories[part as usize];
        match RestartPolicy::actors(kind).decide(history, self.begun.elapsed(), exit) {
            RestartDecision::Restart(wait) => {
                trace::restarted(&format!("{part:?}"), "", exit.cause(), wait);
                myself.send_after(wait, move || RuntimeMsg::Restart(part));
            }
            RestartDecision::GiveUp | RestartDecision::Leave => {
                tracing::error!(?part, cause = exit.cause(), "given up after repeated failures");
                self.end(myself, 1);
            }
        }
    }

    /// The orderly end: traces first, then agents, then everything else.
    fn end(&mut self, myself: &ActorRef<RuntimeMsg>, code: i32) {
        if self.code.is_some() {
            return;
        }
        self.code = Some(code);
        let me = Addr::of(myself);
        let drained = me.clone();
        let reply = ReplyTo::new(move |_| drained.tell(RuntimeMsg::Drained));
        self.parts.fleet.tell(FleetMsg::ShutDown(reply));
        myself.send_after(DRAIN, || RuntimeMsg::Drained);
    }
}

/// A running runtime, as the one who started it sees it.
pub struct RuntimeHandle {
    root: Addr<RuntimeMsg>,
    exit: Mutex<Option<oneshot::Receiver<i32>>>,
}

impl RuntimeHandle {
    /// Starts a runtime.
    ///
    /// # Errors
    /// What did not start, and why.
    pub async fn start(
        extensions: Vec<Observer>,
        agents: Agents,
        fleet: Slot<FleetMsg>,
        front: Arc<dyn FrontFactory>,
    ) -> Result<Self, Exit> {
        let (sender, exit) = oneshot::channel();
        let parts = Parts { fleet, ..Parts::default() };
        let args = RuntimeArgs { extensions: RunningExtensions::new(extensions), agents, parts, front, exit: sender };
        let root = spawn_root("Runtime", Runtime, args).await?;
        Ok(Self { root, exit: Mutex::new(Some(exit)) })
    }

    /// Starts something that runs beside the front.
    pub fn serve(&self, service: Service) {
        self.root.tell(RuntimeMsg::Serve(service));
    }

    /// Begins the orderly end with this exit code.
    pub fn end(&self, code: i32) {
        self.root.tell(RuntimeMsg::Done(code));
    }

    /// Waits for the end; the exit code. To be awaited once.
    pub async fn wait(&self) -> i32 {
        let exit = self.exit.lock().unwrap_or_else(PoisonError::into_inner).take();
        match exit {
            // The root died without a word: a failure.
            Some(exit) => exit.await.unwrap_or(1),
            None => 1,
        }
    }
}
