//! A runtime with one agent, put together from the library's parts: the scripted model, its tools, the watching
//! extension, a session in a folder of its own.

use std::{path::PathBuf, sync::Arc};

use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef};
use serde_json::{Map, Value};
use troupe::{
    actors::{
        address::{Recipient, Slot},
        chain::{Chain, Link},
        fleet::{Agents, FleetMsg},
        front::client::AgentClient,
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
    protocol::{Model, ThinkingLevel, command::QueueMode},
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

impl World {
    /// Starts a runtime and opens the agent; its extension may be a curious one.
    pub async fn start(curious: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SessionStore::create_in(folder.path(), NewSession::in_folder(folder.path())).unwrap();
        let file = store.path().unwrap();
        let journal = Sidecar::open(&file).unwrap();
        let effects = EffectLog::default();
        let tools = tools(&effects);
        let active_tools = tools.iter().map(|tool| tool.declaration().name.clone()).collect();
        let backstage =
            Backstage::new(LiveTools::new(tools.into_iter().collect()), Questions::default(), FlagValues::default());
        let extension: Arc<dyn Extension> = Arc::new(Watcher { curious });
        let observer = Observer::new(extension, &backstage);
        let link = Link { extension: observer.extension.clone(), slot: observer.slot.clone() };
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
            providers: Arc::new(OneProvider(Arc::new(ScriptedModel(store.clone())))),
            tools: backstage.tools.clone(),
            tools_chosen: false,
            chain: Chain::new(vec![link]),
            observers: vec![observer.clone()],
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
        let shared = AgentShared::new("main".into(), Arc::new(config), place, selection);
        let fleet: Slot<FleetMsg> = Slot::default();
        let client = AgentClient { shared, fleet: fleet.clone() };
        let runtime = RuntimeHandle::start(vec![observer], Agents::default(), fleet, Arc::new(NoFront)).await.unwrap();
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
