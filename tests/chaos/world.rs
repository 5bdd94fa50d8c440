//! A runtime with one agent, put together from the library's parts: a model, its tools, a watching extension, a session
//! in a folder of its own.

use std::{path::PathBuf, sync::Arc};

use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef};
use serde_json::{Map, Value};
use troupe::{
    actors::{
        address::{Recipient, Slot},
        chain::{Chain, Link},
        fleet::{Agents, FleetMsg},
        front::client::AgentClient,
        kin::FamilyStart,
        reply::ReplyTo,
        retry::RetrySettings,
        runtime::{FrontFactory, FrontStart, Parts, RuntimeHandle},
        session_writer::SessionPlace,
        shared::{
            AgentConfig, AgentShared, Observer, PlanOperations, ProviderSource, ResourceSource, Selection, SettingsSink,
        },
        spawn::spawn,
    },
    extensions::{Backstage, Extension, Permissions, Questions, flags::FlagValues},
    protocol::{Model, ThinkingLevel, command::QueueMode, sibling::SiblingLimits},
    providers::{
        CacheRetention, Provider, RequestRetry, Timeouts,
        catalogue::{Catalogue, LiveCatalogue, SCRIPT},
        environment::Environment,
    },
    store::{
        session::{NewSession, SessionStore},
        sidecar::Sidecar,
    },
    tools::{LiveTools, Local, SessionFacts, Tool},
};

use crate::{
    script::ScriptedModel,
    tools::{EffectLog, tools},
    watcher::Watcher,
};

/// Everything that a run of the script is made of.
pub struct World {
    pub client: AgentClient,
    pub runtime: RuntimeHandle,
    pub store: SessionStore,
    pub file: PathBuf,
    pub journal: Sidecar,
    pub effects: EffectLog,
    _folder: tempfile::TempDir,
}

/// Who plays.
pub struct Cast {
    pub tools: Vec<Arc<dyn Tool>>,
    pub extensions: Vec<Arc<dyn Extension>>,
    /// The model, given the session.
    pub model: fn(&SessionStore) -> Arc<dyn Provider>,
    pub limits: SiblingLimits,
}

impl World {
    /// Starts a runtime and opens the agent; its extension may be a curious one.
    pub async fn start(curious: bool) -> Self {
        let effects = EffectLog::default();
        let cast = Cast {
            tools: tools(&effects),
            extensions: vec![Arc::new(Watcher { curious })],
            model: |store| Arc::new(ScriptedModel(store.clone())),
            limits: SiblingLimits::default(),
        };
        Self::of(cast, effects).await
    }

    /// The same with others.
    pub async fn of(cast: Cast, effects: EffectLog) -> Self {
        let Cast { tools, extensions, model: provider, limits } = cast;
        let folder = tempfile::tempdir().unwrap();
        let store = SessionStore::create_in(folder.path(), NewSession::in_folder(folder.path())).unwrap();
        let file = store.path().unwrap();
        let journal = Sidecar::open(&file).unwrap();
        let active_tools = tools.iter().map(|tool| tool.declaration().name.clone()).collect();
        let backstage =
            Backstage::new(LiveTools::new(tools.into_iter().collect()), Questions::default(), FlagValues::default());
        let observers: Vec<_> = extensions.into_iter().map(|one| Observer::new(one, &backstage)).collect();
        let link = |one: &Observer| Link { extension: one.extension.clone(), slot: one.slot.clone() };
        let catalogue = Catalogue::load(folder.path(), Environment::default());
        let model = catalogue.inside().iter().find(|model| model.id == SCRIPT).cloned();
        let selection = Selection {
            model,
            thinking: ThinkingLevel::Off,
            scope: Vec::new(),
            active_tools,
            steering_mode: QueueMode::OneAtATime,
            follow_up_mode: QueueMode::OneAtATime,
            retry: RetrySettings::default(),
            auto_compaction: false,
            plan_mode: false,
        };
        let config = AgentConfig {
            cwd: folder.path().to_owned(),
            role: "main".into(),
            catalogue: LiveCatalogue::new(catalogue),
            providers: Arc::new(OneProvider(provider(&store))),
            tools: backstage.tools.clone(),
            tools_chosen: false,
            chain: Chain::new(observers.iter().map(link).collect()),
            observers: observers.clone(),
            resources: Arc::new(Plain),
            sections: Vec::new(),
            settings: Arc::new(Plain),
            operations: Arc::new(Local),
            user_operations: Arc::new(Local),
            plan_operations: PlanOperations::none(),
            permissions: Permissions::off(),
            questions: backstage.questions.clone(),
            backstage,
            timeouts: Timeouts::default(),
            request_retry: RequestRetry::default(),
            cache: CacheRetention::default(),
            thinking_budgets: Map::new(),
            facts: SessionFacts::default(),
        };
        let place = SessionPlace::new(store.clone(), journal.clone());
        let family = FamilyStart { limits, maker: None };
        let shared = AgentShared::of_family("main".into(), Arc::new(config), place, selection, family);
        let fleet: Slot<FleetMsg> = Slot::default();
        let client = AgentClient { shared, fleet: fleet.clone() };
        let runtime = RuntimeHandle::start(observers, Agents::default(), fleet, Arc::new(NoFront)).await.unwrap();
        let (reply, opened) = ReplyTo::channel();
        client.open(reply);
        opened.await.unwrap().unwrap();
        Self { client, runtime, store, file, journal, effects, _folder: folder }
    }
}

struct OneProvider(Arc<dyn Provider>);

impl ProviderSource for OneProvider {
    fn provider_for(&self, _: &Model) -> Option<Arc<dyn Provider>> {
        Some(self.0.clone())
    }
}

/// No skills, no templates, settings that nobody keeps.
struct Plain;

impl ResourceSource for Plain {
    fn prompt_sections(&self, _: &[Arc<dyn Tool>]) -> Vec<(String, String)> {
        vec![("task".to_owned(), "Play your part.".to_owned())]
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

/// A front that does nothing: the test itself gives the agent work.
struct NoFront;

impl FrontFactory for NoFront {
    fn start(&self, _: Parts, _: Recipient<i32>, supervisor: ActorCell) -> FrontStart<'_> {
        Box::pin(async move { Ok(spawn("Front", "", Silent, (), supervisor).await?.actor().get_cell()) })
    }
}

struct Silent;

impl Actor for Silent {
    type Msg = ();
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<()>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }
}
