//! What the actors of one agent share: places, not state. It outlives every restart of them.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
};

use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::{
    address::{Recipient, Slot},
    branch_news::BranchNews,
    chain::{Asking, Chain},
    compactor::CompactorMsg,
    event_bus::{self, BusMsg},
    extension::ExtMsg,
    extension_host::Host,
    jobs::JobsMsg,
    kin::{FamilyStart, Kin},
    retry::RetrySettings,
    route_facts::last_dispatch,
    session_writer::{SessionPlace, WriterMsg},
    sibling_news::SiblingNews,
    subscriber::{STREAM_PERMITS, SubscriberKind, Subscribers},
    turn_loop::LoopMsg,
};
use crate::{
    extensions::{Backstage, Permissions, Questions},
    protocol::{
        EntryId, Event, Model, ModelRef, StreamEvent, ThinkingLevel,
        ask::AskPoint,
        checkpoint::CheckpointCause,
        command::QueueMode,
        event::{NoticeLevel, Seq},
        route::VIRTUAL_API,
        section::{self, SectionMoment, SectionSource},
        sibling::SiblingEnd,
        wire::CommandInfo,
    },
    providers::{CacheRetention, Provider, RequestRetry, Timeouts, catalogue::LiveCatalogue},
    resources::{listing::Listing, roots::Root},
    store::{settings::values::CompactionSettings, tree::TreeView},
    tools::{
        FileMemory, LiveTools, SessionFacts, Tool, checkpoints::Checkpointing, jobs::JobBoard, operations::Operations,
        permissions::plan::PLAN_SECTION,
    },
};

pub use super::extension::Observer;

/// Gives the provider that speaks a model's wire.
pub trait ProviderSource: Send + Sync {
    /// The provider; none when nobody speaks that API.
    fn provider_for(&self, model: &Model) -> Option<Arc<dyn Provider>>;

    /// Whether requests need keys: a replay asks nobody who could refuse.
    fn needs_auth(&self) -> bool {
        true
    }
}

/// Gives what depends on files around the project.
pub trait ResourceSource: Send + Sync {
    /// The system prompt's sections for these active tools, in order.
    fn prompt_sections(&self, tools: &[Arc<dyn Tool>]) -> Vec<(String, String)>;

    /// A user's text with skills and prompt templates expanded.
    fn expand(&self, text: &str) -> String;

    /// Slash commands that prompts may use for them.
    fn commands(&self) -> Vec<CommandInfo> {
        Vec::new()
    }

    /// The project may bring settings and resources.
    fn is_trusted(&self) -> bool {
        true
    }

    /// Where themes are looked for.
    fn theme_roots(&self) -> Vec<Root> {
        Vec::new()
    }

    /// What was loaded, for people.
    fn listing(&self) -> Listing {
        Listing::default()
    }
}

/// Keeps settings that commands change.
pub trait SettingsSink: Send + Sync {
    /// Stores a value; null removes it. A failure is reported, never fatal.
    ///
    /// # Errors
    /// Why it could not be stored.
    fn set(&self, path: &[&str], value: Value) -> Result<(), String>;

    /// All settings in force, a copy.
    fn all(&self) -> Value {
        Value::Null
    }

    /// When and how far a session is compacted.
    fn compaction(&self, model: Option<&ModelRef>) -> CompactionSettings {
        let _ = model;
        CompactionSettings::default()
    }

    /// Tokens of the window that stay free when a branch is summarised.
    fn branch_summary_reserve(&self) -> u64 {
        16_384
    }

    /// The thinking level that goes with a model by the settings: the model's own, else the default.
    fn thinking_for(&self, model: &Model) -> Option<ThinkingLevel>;
}

/// What an agent is made of. Fixed for its life.
#[derive(Clone)]
pub struct AgentConfig {
    /// The folder that it works in.
    pub cwd: PathBuf,
    /// What it is for others: `main`, or the role of a sibling. Virtual models may choose by it.
    pub role: Arc<str>,
    /// Models and keys.
    pub catalogue: LiveCatalogue,
    /// Wires.
    pub providers: Arc<dyn ProviderSource>,
    /// All tools that can be activated.
    pub tools: LiveTools,
    /// The command line says which tools are active: a branch that had others does not change them.
    pub tools_chosen: bool,
    /// Interceptors.
    pub chain: Chain,
    /// Extensions that watch.
    pub observers: Vec<Observer>,
    /// What the extensions share.
    pub backstage: Backstage,
    /// Prompt, skills, templates.
    pub resources: Arc<dyn ResourceSource>,
    /// Who adds sections to the prompt, in the order in which they come behind its own. Of two with one name the first
    /// counts.
    pub sections: Vec<Arc<dyn SectionSource>>,
    /// Settings that commands change.
    pub settings: Arc<dyn SettingsSink>,
    /// Files and processes, for tools.
    pub operations: Arc<dyn Operations>,
    /// The same for shell commands that the user runs.
    pub user_operations: Arc<dyn Operations>,
    /// Files and processes of plan mode, where nothing can be changed. Without them, commands run only when they are
    /// known to read.
    pub plan_operations: PlanOperations,
    /// What may run; also the last interceptor of the chain.
    pub permissions: Arc<Permissions>,
    /// Questions to people.
    pub questions: Questions,
    /// Limits of waiting for providers.
    pub timeouts: Timeouts,
    /// Retries inside one model call.
    pub request_retry: RequestRetry,
    /// How long providers keep prompts in their caches.
    pub cache: CacheRetention,
    /// Tokens for thinking, by level.
    pub thinking_budgets: Map<String, Value>,
    /// What tools are told, apart from the model and the session.
    pub facts: SessionFacts,
}

/// Makes operations that cannot change anything; none where this system has no walls.
type MakeOperations = dyn Fn() -> Option<Arc<dyn Operations>> + Send + Sync;

/// Operations that cannot change anything. They are made when plan mode is turned on: that takes some milliseconds.
#[derive(Clone)]
pub struct PlanOperations {
    made: Arc<OnceLock<Option<Arc<dyn Operations>>>>,
    make: Arc<MakeOperations>,
}

impl PlanOperations {
    /// Those that `make` makes; it may block for a moment.
    #[must_use]
    pub fn new(make: impl Fn() -> Option<Arc<dyn Operations>> + Send + Sync + 'static) -> Self {
        Self { made: Arc::default(), make: Arc::new(make) }
    }

    /// There are none.
    #[must_use]
    pub fn none() -> Self {
        Self::new(|| None)
    }

    /// Makes them, once. May block for a moment.
    pub fn prepare(&self) {
        self.made.get_or_init(|| (self.make)());
    }

    /// Those that were made.
    #[must_use]
    pub fn get(&self) -> Option<Arc<dyn Operations>> {
        self.made.get().cloned().flatten()
    }
}

/// What is selected for the next request, and how the loop behaves. Commands change it.
#[derive(Clone)]
pub struct Selection {
    /// The model.
    pub model: Option<Arc<Model>>,
    /// The thinking level in force.
    pub thinking: ThinkingLevel,
    /// Models to cycle through, with the level that goes with each; empty = all available.
    pub scope: Vec<(Arc<Model>, Option<ThinkingLevel>)>,
    /// Names of the active tools in order.
    pub active_tools: Vec<String>,
    /// How steering is delivered.
    pub steering_mode: QueueMode,
    /// How follow-ups are delivered.
    pub follow_up_mode: QueueMode,
    /// Retries of failed turns.
    pub retry: RetrySettings,
    /// Compact by itself.
    pub auto_compaction: bool,
    /// Only plan: nothing is changed.
    pub plan_mode: bool,
}

/// See the module.
pub struct AgentShared {
    /// The agent's id.
    pub id: Arc<str>,
    /// What it is made of.
    pub config: Arc<AgentConfig>,
    /// Where its session is.
    pub place: SessionPlace,
    /// Its event bus.
    pub bus: Slot<BusMsg>,
    /// Its session writer.
    pub writer: Slot<WriterMsg>,
    /// Its compactor.
    pub compactor: Slot<CompactorMsg>,
    /// Its jobs.
    pub jobs: Slot<JobsMsg>,
    /// Its turn loop.
    pub turn_loop: Slot<LoopMsg>,
    /// Who watches it.
    pub subscribers: Subscribers,
    /// The incarnation of its bus, from 1.
    pub(super) epoch: AtomicU32,
    /// Events sent to that incarnation.
    pub(super) sent: AtomicU64,
    /// Whether those who watch were last told that a trace runs.
    pub(super) told_running: AtomicBool,
    /// Streamed batches under way to lossless subscribers.
    pub stream_permits: Arc<Semaphore>,
    /// What its turn loop waits for, by the name of [`Turn::phase`]: sent before the loop acts on it.
    ///
    /// [`Turn::phase`]: super::turn::Turn::phase
    pub phase: watch::Sender<&'static str>,
    /// Messages that wait in its queues.
    pub waiting: AtomicUsize,
    /// The session's tree, as of the last append.
    pub tree: watch::Sender<Option<TreeView>>,
    /// What its tools have read.
    pub file_memory: Arc<FileMemory>,
    /// Its background jobs.
    pub job_board: Arc<JobBoard>,
    /// Its family, its place there, and what it may use.
    pub kin: Kin,
    selection: Mutex<Selection>,
}

impl AgentShared {
    /// A new agent's, which can have siblings in its own folder only.
    #[must_use]
    pub fn new(id: Arc<str>, config: Arc<AgentConfig>, place: SessionPlace, selection: Selection) -> Arc<Self> {
        Self::of_family(id, config, place, selection, FamilyStart::default())
    }

    /// A new agent's that is the root of a family.
    #[must_use]
    pub fn of_family(
        id: Arc<str>,
        config: Arc<AgentConfig>,
        place: SessionPlace,
        selection: Selection,
        start: FamilyStart,
    ) -> Arc<Self> {
        let kin = Kin::root(&id, start, &place.store.view());
        place.find_children(&kin);
        let shared = Self::with(id, config, place, selection, kin);
        let asker = Arc::downgrade(&shared);
        shared.config.questions.register(&shared.id, move |event| {
            // An agent that is gone has nobody who watches it.
            if let Some(shared) = asker.upgrade() {
                shared.publish(vec![event]);
            }
        });
        shared
    }

    /// A new sibling's. Its questions go to those who watch the root.
    #[must_use]
    pub fn child(
        id: Arc<str>,
        config: Arc<AgentConfig>,
        place: SessionPlace,
        selection: Selection,
        kin: Kin,
    ) -> Arc<Self> {
        let name = kin.board.look(&kin.id, |member| member.spec().name.clone()).flatten();
        let label = name.map_or_else(|| kin.id.to_string(), |name| format!("{} ({name})", kin.id));
        config.questions.register_below(&id, &kin.root, label);
        Self::with(id, config, place, selection, kin)
    }

    fn with(id: Arc<str>, config: Arc<AgentConfig>, place: SessionPlace, selection: Selection, kin: Kin) -> Arc<Self> {
        let shared = Arc::new(Self {
            id,
            config,
            place,
            bus: Slot::default(),
            writer: Slot::default(),
            compactor: Slot::default(),
            jobs: Slot::default(),
            turn_loop: Slot::default(),
            subscribers: Subscribers::default(),
            epoch: AtomicU32::new(0),
            sent: AtomicU64::new(0),
            told_running: AtomicBool::new(false),
            stream_permits: Arc::new(Semaphore::new(STREAM_PERMITS)),
            phase: watch::Sender::new("idle"),
            waiting: AtomicUsize::new(0),
            tree: watch::Sender::new(None),
            file_memory: Arc::default(),
            job_board: Arc::default(),
            kin,
            selection: Mutex::new(selection),
        });
        shared.config.backstage.attach(shared.id.clone(), Host::of(&shared));
        // What nobody looks at is not sent: each batch is a worker of the extension's actor.
        for observer in shared.config.observers.iter().filter(|observer| observer.extension.observes()) {
            let to = Recipient::of_slot(observer.slot.clone(), ExtMsg::Delivery);
            let subscriber = event_bus::subscriber(SubscriberKind::Coalescing, to);
            observer.watches.add(shared.id.clone(), subscriber.id, shared.bus.clone());
            shared.subscribers.add(subscriber);
        }
        if let Some(checkpoints) = &shared.place.checkpoints {
            let agent = Arc::downgrade(&shared);
            checkpoints.on_notice(move |text| {
                if let Some(agent) = agent.upgrade() {
                    agent.publish(vec![Event::Notice { level: NoticeLevel::Warning, text }]);
                }
            });
        }
        shared
    }

    /// Whether its model is still to hear of siblings: of one that works, or of an end that will wake it.
    #[must_use]
    pub fn awaits_siblings(&self) -> bool {
        let Kin { board, id, .. } = &self.kin;
        let untold = || {
            let news = self.tree().map(|tree| SiblingNews::of(&tree).untold(board, id));
            news.is_some_and(|news| news.iter().any(SiblingEnd::wakes))
        };
        board.awaits_news(id) || (!board.children(id).is_empty() && untold())
    }

    /// Publishes events, in order.
    pub fn publish(&self, events: Vec<Event>) {
        let count = events.len() as u64;
        self.sent.fetch_add(count, Ordering::Relaxed);
        if self.bus.try_tell(BusMsg::Publish(events)).is_err() {
            self.sent.fetch_sub(count, Ordering::Relaxed);
        }
    }

    /// Publishes steps of the streaming answer; the permit comes free when all lossless subscribers let them go.
    pub fn stream(&self, events: Vec<StreamEvent>, permit: Option<OwnedSemaphorePermit>) {
        self.sent.fetch_add(1, Ordering::Relaxed);
        if self.bus.try_tell(BusMsg::Stream { events, permit }).is_err() {
            self.sent.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Files and processes for changes that follow `entry`: with checkpoints, where they are taken.
    #[must_use]
    pub fn operations(&self, entry: Option<EntryId>, cause: CheckpointCause) -> Arc<dyn Operations> {
        let operations = match cause {
            CheckpointCause::User => self.config.user_operations.clone(),
            _ => self.config.operations.clone(),
        };
        match &self.place.checkpoints {
            Some(checkpoints) => Arc::new(Checkpointing::new(operations, checkpoints.turn(entry, cause))),
            None => operations,
        }
    }

    /// A model is asked, and may want to run commands: the workspace is looked at meanwhile.
    pub fn warm_up(&self) {
        if let Some(checkpoints) = &self.place.checkpoints
            && self.active_tools().iter().any(|tool| !tool.is_read_only())
        {
            checkpoints.warm_up();
        }
    }

    /// The number that the last event sent so far will have at least.
    #[must_use]
    pub fn last_seq(&self) -> Seq {
        Seq { epoch: self.epoch.load(Ordering::Relaxed), n: self.sent.load(Ordering::Relaxed) }
    }

    /// Who asks extensions something now: they see all events up to here first.
    #[must_use]
    pub fn asking(&self) -> Asking {
        Asking { agent: self.id.clone(), after: self.last_seq() }
    }

    /// What is selected. Held only for a moment: never across an await.
    pub fn selection(&self) -> MutexGuard<'_, Selection> {
        self.selection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The active tools in order. A name without a tool is left out.
    #[must_use]
    pub fn active_tools(&self) -> Vec<Arc<dyn Tool>> {
        let names = self.selection().active_tools.clone();
        let tools = self.config.tools.now();
        let known = |name: &String| tools.iter().find(|tool| tool.declaration().name == *name).cloned();
        names.iter().filter_map(known).collect()
    }

    /// The system prompt's sections as things stand, in order: the prompt's own, then those that parts of the program
    /// add.
    #[must_use]
    pub fn prompt_sections(&self) -> Vec<(String, String)> {
        let tools = self.active_tools();
        let mut sections = self.config.resources.prompt_sections(&tools);
        let names: Vec<&str> = tools.iter().map(|tool| tool.declaration().name.as_str()).collect();
        let moment = SectionMoment::new(&names);
        for source in &self.config.sections {
            let name = source.name();
            if let Some(text) = source.text(&moment)
                && !sections.iter().any(|(known, _)| known == name.as_str())
            {
                sections.push((name.to_string(), section::tagged(name.as_str(), &text)));
            }
        }
        if self.selection().plan_mode {
            let (name, text) = PLAN_SECTION;
            sections.push((name.to_owned(), section::tagged(name, text)));
        }
        sections
    }

    /// The window of the selected model in tokens; for a virtual one that of the model that answered last, and its own
    /// until then. 0 = unknown.
    #[must_use]
    pub fn window(&self, tree: &TreeView) -> u64 {
        let Some(model) = self.selection().model.clone() else { return 0 };
        let answered = (model.api == VIRTUAL_API).then(|| last_dispatch(tree)).flatten();
        let physical = answered.and_then(|dispatch| self.config.catalogue.now().find(&dispatch.model));
        physical.unwrap_or(model).context_window
    }

    /// The tree as of the last append.
    #[must_use]
    pub fn tree(&self) -> Option<TreeView> {
        self.tree.borrow().clone()
    }

    /// Tells the world that extensions failed at a point.
    pub fn report_failures(&self, point: AskPoint, failures: Vec<(String, String)>) {
        if failures.is_empty() {
            return;
        }
        let events = failures
            .into_iter()
            .map(|(extension, error)| Event::ExtensionError { extension, event: point.name().to_owned(), error })
            .collect();
        self.publish(events);
    }
}

#[cfg(test)]
mod tests;
