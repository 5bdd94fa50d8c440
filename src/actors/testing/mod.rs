//! What tests of the actors share: an agent in memory with a scripted model, and tools and extensions made of closures.

mod extension;
mod tool;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, Message, SupervisionEvent};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub use extension::{Ext, Reaction};
pub use tool::{FnTool, output_of};

use super::{
    address::{Addr, Gauge, Recipient},
    chain::{Chain, Link},
    event_bus::{BusMsg, subscriber},
    extensions::{Extensions, RunningExtensions},
    fleet::{Agents, Fleet, FleetMsg, OpenAgent},
    front::client::AgentClient,
    kin::{FamilyStart, SiblingMaker},
    reply::ReplyTo,
    retry::RetrySettings,
    session_writer::SessionPlace,
    shared::{
        AgentConfig, AgentShared, Observer, PlanOperations, ProviderSource, ResourceSource, Selection, SettingsSink,
    },
    spawn::{ended, spawn_root},
    subscriber::{Delivered, Delivery, Subscriber, SubscriberKind},
};
use crate::{
    extensions::{Backstage, Extension, ExtensionRegistry, Permissions, Questions},
    protocol::{
        AgentMessage, Command, CommandError, Event, Model, ModelRef, Published, Reply, ThinkingLevel,
        command::{Input, QueueMode},
        sibling::SiblingLimits,
    },
    providers::{
        CacheRetention, Provider, RequestRetry, Timeouts,
        catalogue::{Catalogue, LiveCatalogue, SCRIPT, TROUPE},
        environment::Environment,
        scripted::Scripted,
    },
    store::{
        session::{NewSession, SessionStore},
        sidecar::Sidecar,
    },
    tools::{LiveTools, Local, Operations, SessionFacts, Tool},
};

/// How long anything may take. Generous: it only matters when something hangs.
const DEADLINE: Duration = Duration::from_secs(60);

/// The result of `future`; panics with `what` when it does not come.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("no {what}"),
    }
}

/// Lets the others go on; paused time goes on too.
pub async fn moment() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// Keeps what it is told for the test, and supervises without doing anything about deaths.
struct Inbox<T>(UnboundedSender<T>);

impl<T: Message> Actor for Inbox<T> {
    type Msg = T;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<T>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, _: ActorRef<T>, message: T, (): &mut ()) -> Result<(), ActorProcessingErr> {
        let _ = self.0.send(message);
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        _: ActorRef<T>,
        event: SupervisionEvent,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let _ = ended(&event);
        Ok(())
    }
}

/// An actor that passes what it is told to the test.
pub async fn inbox<T: Message>() -> (Addr<T>, UnboundedReceiver<T>) {
    let (sender, receiver) = unbounded_channel();
    (spawn_root("Inbox", Inbox(sender), ()).await.unwrap(), receiver)
}

/// What an agent is made of; the rest is as simple as can be.
#[derive(Default)]
pub struct Parts {
    /// Turns of the scripted model, or its whole script.
    pub turns: Value,
    /// Tools, all of them active.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Extensions, in order.
    pub extensions: Vec<Arc<dyn Extension>>,
    /// `models.json`.
    pub models: Value,
    /// The full name of the selected model; without one, the scripted model.
    pub model: &'static str,
    /// The working folder.
    pub cwd: PathBuf,
    /// It only plans, and these are its files and processes then.
    pub plan: Option<Option<Arc<dyn Operations>>>,
}

struct Plain(Arc<dyn Provider>);

/// Makes agents that differ from their parent in nothing but the folder.
struct Elsewhere;

impl SiblingMaker for Elsewhere {
    fn config_in(&self, parent: &AgentConfig, cwd: &Path) -> Result<AgentConfig, String> {
        Ok(AgentConfig { cwd: cwd.to_owned(), ..parent.clone() })
    }

    fn script(&self, file: &Path) -> Result<Arc<dyn Provider>, String> {
        Scripted::from_file(file).map(|script| Arc::new(script) as _).map_err(|error| error.to_string())
    }
}

impl ProviderSource for Plain {
    fn provider_for(&self, _: &Model) -> Option<Arc<dyn Provider>> {
        Some(self.0.clone())
    }
}

impl ResourceSource for Plain {
    fn prompt_sections(&self, _: &[Arc<dyn Tool>]) -> Vec<(String, String)> {
        Vec::new()
    }

    fn expand(&self, text: &str) -> String {
        text.to_owned()
    }
}

impl SettingsSink for Plain {
    fn set(&self, _: &[&str], _: Value) -> Result<(), String> {
        Ok(())
    }

    fn thinking_for(&self, _: &Model) -> Option<ThinkingLevel> {
        None
    }
}

impl Parts {
    /// The agent, in memory; nothing of it runs yet.
    pub fn build(self) -> (Arc<AgentShared>, Vec<Observer>) {
        let store = SessionStore::in_memory(NewSession::in_folder(&self.cwd)).unwrap();
        self.build_in(SessionPlace::new(store, Sidecar::in_memory()))
    }

    /// The agent with this session; nothing of it runs yet.
    pub fn build_in(self, place: SessionPlace) -> (Arc<AgentShared>, Vec<Observer>) {
        self.build_with(place, None, SiblingLimits::default())
    }

    /// The same with extensions that other agents ask, too.
    pub fn build_with(
        self,
        place: SessionPlace,
        observers: Option<Vec<Observer>>,
        limits: SiblingLimits,
    ) -> (Arc<AgentShared>, Vec<Observer>) {
        let script = serde_json::json!({"turns": if self.turns.is_null() { "ok".into() } else { self.turns }});
        let script = match &script["turns"] {
            Value::Array(_) => script,
            whole if whole["turns"].is_array() => whole.clone(),
            one => serde_json::json!({"turns": [one], "end": "repeat"}),
        };
        let provider: Arc<dyn Provider> = Arc::new(Scripted::from_value(&script).unwrap());
        let dir = tempfile::tempdir().unwrap();
        if !self.models.is_null() {
            std::fs::write(dir.path().join("models.json"), self.models.to_string()).unwrap();
        }
        let catalogue = LiveCatalogue::new(Catalogue::load(dir.path(), Environment::default()));
        let mut registry = ExtensionRegistry::default();
        for extension in &self.extensions {
            registry.register(extension.clone()).unwrap();
        }
        assert!(registry.register_models(&catalogue).is_empty());
        let (provider_id, model_id) = self.model.split_once('/').unwrap_or((TROUPE, SCRIPT));
        let name = ModelRef { provider: provider_id.into(), model_id: model_id.into() };
        let model = catalogue.now().find(&name);
        let names = self.tools.iter().map(|tool| tool.declaration().name.clone()).collect();
        let questions = Questions::default();
        let backstage =
            Backstage::new(LiveTools::new(self.tools.into_iter().collect()), questions.clone(), registry.flag_values());
        let observe = |extension| Observer::new(extension, &backstage);
        let observers = observers.unwrap_or_else(|| self.extensions.into_iter().map(observe).collect());
        let links = observers.iter().map(|o| Link { extension: o.extension.clone(), slot: o.slot.clone() }).collect();
        let selection = Selection {
            model,
            thinking: ThinkingLevel::Off,
            scope: Vec::new(),
            active_tools: names,
            steering_mode: QueueMode::default(),
            follow_up_mode: QueueMode::default(),
            retry: RetrySettings::default(),
            auto_compaction: true,
            plan_mode: self.plan.is_some(),
        };
        let confined = self.plan.flatten();
        let plan_operations = PlanOperations::new(move || confined.clone());
        plan_operations.prepare();
        let config = AgentConfig {
            cwd: self.cwd.clone(),
            role: "main".into(),
            catalogue,
            providers: Arc::new(Plain(provider.clone())),
            tools: backstage.tools.clone(),
            backstage,
            tools_chosen: false,
            chain: Chain::new(links),
            observers: observers.clone(),
            resources: Arc::new(Plain(provider.clone())),
            sections: registry.sections(),
            settings: Arc::new(Plain(provider)),
            operations: Arc::new(Local),
            user_operations: Arc::new(Local),
            plan_operations,
            permissions: Permissions::off(),
            questions,
            timeouts: Timeouts::default(),
            request_retry: RequestRetry::default(),
            cache: CacheRetention::default(),
            thinking_budgets: serde_json::Map::new(),
            facts: SessionFacts::default(),
        };
        let id = uuid::Uuid::new_v4().to_string();
        let start = FamilyStart { limits, maker: Some(Arc::new(Elsewhere)) };
        (AgentShared::of_family(id.into(), Arc::new(config), place, selection, start), observers)
    }

    /// The agent below a fleet, watched by the test.
    pub async fn start(self) -> Bench {
        self.start_with(SiblingLimits::default()).await
    }

    /// The same with other limits of its family.
    pub async fn start_with(self, limits: SiblingLimits) -> Bench {
        let store = SessionStore::in_memory(NewSession::in_folder(&self.cwd)).unwrap();
        self.start_in(SessionPlace::new(store, Sidecar::in_memory()), limits).await
    }

    /// The same on this session.
    pub async fn start_in(self, place: SessionPlace, limits: SiblingLimits) -> Bench {
        let (shared, observers) = self.build_with(place, None, limits);
        let extensions = spawn_root("Extensions", Extensions, RunningExtensions::new(observers.clone())).await.unwrap();
        let fleet = spawn_root("Fleet", Fleet, Agents::default()).await.unwrap();
        let (reply, opened) = ReplyTo::channel();
        fleet.tell(FleetMsg::Open(Box::new(OpenAgent { shared: shared.clone(), start: None, reply })));
        opened.await.unwrap().unwrap();
        let slot = super::address::Slot::default();
        slot.fill(fleet.clone());
        let client = AgentClient { shared: shared.clone(), fleet: slot };
        let (subscriber, deliveries) = watch(&shared, SubscriberKind::Lossless).await;
        Bench {
            shared,
            fleet,
            client,
            extensions: extensions.actor().get_cell(),
            subscriber,
            deliveries,
            seen: Vec::new(),
        }
    }
}

/// Begins to watch an agent.
pub async fn watch(shared: &AgentShared, kind: SubscriberKind) -> (Subscriber, UnboundedReceiver<Delivery>) {
    let (addr, deliveries) = inbox().await;
    let subscriber = subscriber(kind, Recipient::new(addr, |delivery| delivery));
    shared.bus.tell(BusMsg::Subscribe(subscriber.clone()));
    (subscriber, deliveries)
}

/// A running agent, and what the test has seen of it.
pub struct Bench {
    pub shared: Arc<AgentShared>,
    pub fleet: Addr<FleetMsg>,
    pub client: AgentClient,
    pub extensions: ActorCell,
    pub subscriber: Subscriber,
    deliveries: UnboundedReceiver<Delivery>,
    pub seen: Vec<Arc<Published>>,
}

impl Bench {
    /// The first living actor of a kind below the fleet.
    pub fn find(&self, kind: &str) -> Option<ActorCell> {
        find(&self.fleet.actor().get_cell(), kind)
    }

    /// Sends a command and waits for its answer.
    pub async fn command(&self, command: Command) -> Result<Reply, CommandError> {
        within("answer", self.client.command(command)).await
    }

    /// Sends a prompt and waits until it is accepted.
    pub async fn prompt(&self, text: &str) -> Result<Reply, CommandError> {
        self.command(Command::Prompt { input: Input::text(text), behavior: None }).await
    }

    /// Sends a prompt and does not wait for anything.
    pub fn prompt_without_answer(&self, text: &str) {
        self.client.send(Command::Prompt { input: Input::text(text), behavior: None }, ReplyTo::nobody());
    }

    /// Waits for an event; all events up to it are in `seen`.
    pub async fn until(&mut self, what: &str, wanted: impl Fn(&Event) -> bool) -> Arc<Published> {
        loop {
            let delivery = within(what, self.deliveries.recv()).await.unwrap();
            if let Delivered::Events(events) = delivery.content {
                for event in events {
                    self.subscriber.backlog.release(event.event.weight());
                    self.seen.push(event.clone());
                    if wanted(&event.event) {
                        return event;
                    }
                }
            }
        }
    }

    /// Runs a prompt to its end; the events since the last call.
    pub async fn run(&mut self, text: &str) -> Vec<Event> {
        self.prompt(text).await.unwrap();
        self.settled().await
    }

    /// Waits for the end of the trace; the events since the last call.
    pub async fn settled(&mut self) -> Vec<Event> {
        self.until("end of the trace", |event| matches!(event, Event::AgentSettled { .. })).await;
        std::mem::take(&mut self.seen).iter().map(|published| published.event.clone()).collect()
    }

    /// The results in the session: error or not, and the text.
    pub fn results(&self) -> Vec<(bool, String)> {
        let messages = self.shared.tree().unwrap().context().messages;
        let result = |message: &AgentMessage| match message {
            AgentMessage::ToolResult(result) => Some((result.is_error, text_of(&result.content))),
            _ => None,
        };
        messages.iter().filter_map(result).collect()
    }
}

/// The text of blocks.
pub fn text_of(content: &[crate::protocol::Block]) -> String {
    crate::protocol::message::text_of(content, "")
}

/// The first living actor of a kind below `root`.
pub fn find(root: &ActorCell, kind: &str) -> Option<ActorCell> {
    let children = root.get_children();
    let of_kind = |cell: &&ActorCell| Gauge::of(cell.get_id()).is_some_and(|gauge| gauge.kind == kind);
    children.iter().find(of_kind).cloned().or_else(|| children.iter().find_map(|child| find(child, kind)))
}
