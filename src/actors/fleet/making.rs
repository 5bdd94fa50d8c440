//! The worker that makes a sibling. It derives it from its parent: settings, resources and models are not read again.

use std::{path::PathBuf, sync::Arc};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::task::spawn_blocking;

use super::{FleetMsg, family_msg::FamilyMsg, worktree};
use crate::{
    actors::{
        account::Account,
        address::Addr,
        family_notes::SpawnNote,
        kin::Kin,
        session_writer::SessionPlace,
        shared::{AgentConfig, AgentShared, ProviderSource, ResourceSource, Selection},
    },
    protocol::{
        EntryBody, Model, ModelRef,
        entry::AgentHeader,
        section::{SectionMoment, SectionName, SectionSource},
        sibling::{Isolation, SiblingSpec},
    },
    providers::{
        Provider,
        catalogue::{SCRIPT, TROUPE},
        selection::{CliModel, resolve_cli},
    },
    store::{NewSession, SessionStore, Sidecar},
    tools::{Tool, siblings},
};

/// What the worker needs.
pub struct MakeWork {
    /// The parent.
    pub parent: Arc<AgentShared>,
    /// As what it was spawned.
    pub note: SpawnNote,
    /// Its account.
    pub account: Arc<Account>,
    /// Nobody made it before: there is no session to be read.
    pub first: bool,
    /// Who waits.
    pub to: Addr<FleetMsg>,
}

/// The worker.
pub struct Making;

impl Actor for Making {
    type Msg = MakeWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<MakeWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, myself: ActorRef<MakeWork>, work: MakeWork, (): &mut ()) -> Result<(), ActorProcessingErr> {
        let MakeWork { parent, note, account, first, to } = work;
        let (root, id) = (parent.kin.root.clone(), note.id.clone());
        let spec = &note.spec;
        let derived = first && spec.isolation == Isolation::Shared && spec.cwd.is_none() && spec.script.is_none();
        let result = match derived {
            // A copy of what its parent is made of: another thread would take longer to wake.
            true => make(&parent, &note, account),
            false => spawn_blocking(move || make(&parent, &note, account))
                .await
                .unwrap_or_else(|error| Err(format!("its making broke off: {error}"))),
        };
        to.tell(FleetMsg::Family(Box::new(FamilyMsg::Made { root, id, result })));
        myself.stop(None);
        Ok(())
    }
}

/// Makes a sibling, or makes one anew whose session is there. Blocks.
fn make(parent: &Arc<AgentShared>, note: &SpawnNote, account: Arc<Account>) -> Result<Arc<AgentShared>, String> {
    let spec = &note.spec;
    let (maker, own) = (parent.kin.start.maker.as_ref(), &parent.config);
    let cwd = match (spec.isolation, &spec.cwd) {
        (Isolation::Shared, None) => None,
        (Isolation::Shared, Some(cwd)) if !(cwd.is_absolute() && cwd.is_dir()) => {
            return Err(format!("{} is no folder that is there; write its whole path", cwd.display()));
        }
        (Isolation::Shared, Some(cwd)) => Some(cwd.clone()).filter(|cwd| *cwd != own.cwd),
        (Isolation::Worktree, None) => Some(worktree::open(&own.cwd, note)?.folder),
        (Isolation::Worktree, Some(_)) => {
            return Err("a worktree has a folder of its own: leave out the other one".into());
        }
    };
    let mut config = match cwd {
        None => AgentConfig::clone(own),
        Some(cwd) => {
            let maker = maker.ok_or("agents cannot work in other folders here")?;
            maker.config_in(own, &cwd)?
        }
    };
    config.role = spec.role.as_deref().unwrap_or("sibling").into();
    if let Some(file) = &spec.script {
        let maker = maker.ok_or("agents cannot play scripts of their own here")?;
        config.providers = Arc::new(WithScript { script: maker.script(file)?, rest: own.providers.clone() });
    }
    let kin = Kin::child(&parent.kin, &parent.id, note.id.clone(), account);
    let selection = select(parent, &config, spec, &kin)?;
    // The parent's own prompt is about the parent.
    config.sections.retain(|section| section.name() != ROLE);
    if let Some(prompt) = &spec.prompt {
        match spec.only_prompt {
            true => config.resources = Arc::new(OnlyPrompt { prompt: prompt.clone(), rest: config.resources }),
            false => config.sections.push(Arc::new(RolePrompt(prompt.clone()))),
        }
    }
    let place = place(parent, note, &kin, &config.cwd.display().to_string())?;
    let view = place.store.view();
    kin.board.restore(&kin.id, &view, &kin.account);
    place.find_children(&kin);
    if let Some(spent) = kin.board.change(&kin.id, |member| member.take_up(&view.totals())).flatten() {
        kin.account.charge(spent);
    }
    let agent = kin.agent(&kin.id);
    let selection = restored(selection, &config, &view);
    if view.is_empty() {
        record(&place.store, spec, &selection)?;
    }
    Ok(AgentShared::child(agent, Arc::new(config), place, selection, kin))
}

/// Its session: in memory, in a file that is not made yet, or the one that is there.
fn place(parent: &AgentShared, note: &SpawnNote, kin: &Kin, cwd: &str) -> Result<SessionPlace, String> {
    let spec = &note.spec;
    let agent = AgentHeader {
        id: note.id.clone(),
        name: spec.name.clone(),
        role: spec.role.clone().unwrap_or_else(|| "sibling".to_owned()),
        key: spec.key.clone(),
        parent_id: parent.kin.id.clone(),
        root_id: parent.kin.session_of_root.to_string(),
        depth: kin.depth,
    };
    let new = NewSession {
        id: Some(note.session_id.clone()),
        cwd: cwd.to_owned(),
        parent_session: parent.place.file(),
        agent: Some(Arc::new(agent)),
    };
    let store = match &note.session_file {
        None => SessionStore::in_memory(new).map_err(|error| error.to_string())?,
        Some(file) => SessionStore::open(&PathBuf::from(file), new).map_err(|error| error.to_string())?.store,
    };
    store.writable().map_err(|error| error.to_string())?;
    let journal = Sidecar::of(&store).map_err(|error| error.to_string())?;
    let place = SessionPlace::new(store, journal).with_saving(parent.place.sync, parent.place.on_refusal);
    let place = place.with_replica(parent.place.replica.clone()).taking_over();
    Ok(match spec.task.is_empty() {
        true => place,
        false => place.begun_by_parent(note.entry.clone()),
    })
}

/// What is selected: as the parent, but for what the spec says.
fn select(parent: &AgentShared, config: &AgentConfig, spec: &SiblingSpec, kin: &Kin) -> Result<Selection, String> {
    let mut selection = parent.selection().clone();
    if let Some(pattern) = &spec.model {
        let cli = CliModel { model: Some(pattern), thinking: spec.thinking, ..CliModel::default() };
        let catalogue = config.catalogue.now();
        let chosen = resolve_cli(&catalogue, &cli).map_err(|error| error.to_string())?;
        if let Some(chosen) = chosen {
            if let Some(error) = catalogue.missing_key(&chosen.model).filter(|_| config.providers.needs_auth()) {
                return Err(error.to_string());
            }
            selection.thinking = chosen.thinking.unwrap_or(selection.thinking);
            selection.model = Some(chosen.model);
        }
    } else if spec.script.is_some() {
        let name = ModelRef { provider: TROUPE.into(), model_id: SCRIPT.into() };
        selection.model = config.catalogue.now().find(&name).or(selection.model);
    }
    let wanted = spec.thinking.unwrap_or(selection.thinking);
    selection.thinking = selection.model.as_ref().map_or(wanted, |model| model.clamp_thinking(wanted));
    if let Some(tools) = &spec.tools {
        let known = config.tools.now();
        let is_known = |name: &&String| known.iter().any(|tool| tool.declaration().name == **name);
        if let Some(unknown) = tools.iter().find(|name| !is_known(name)) {
            let names: Vec<_> = known.iter().map(|tool| tool.declaration().name.clone()).collect();
            return Err(format!("there is no tool {unknown}; the tools are {}", names.join(", ")));
        }
        selection.active_tools.clone_from(tools);
    }
    if !kin.may_spawn() {
        selection.active_tools.retain(|name| !siblings::NAMES.contains(&name.as_str()));
    }
    Ok(selection)
}

/// A session that was there says itself what is selected.
fn restored(mut selection: Selection, config: &AgentConfig, view: &crate::store::tree::TreeView) -> Selection {
    let state = view.branch_state();
    if !state.has_messages {
        return selection;
    }
    let catalogue = config.catalogue.now();
    let model = state.selection.restored_model(|name| catalogue.virtual_model(name).is_some());
    if let Some(model) = model.and_then(|name| catalogue.find(&name)) {
        selection.model = Some(model);
    }
    let level = state.selection.thinking_level.as_deref().and_then(crate::protocol::ThinkingLevel::parse);
    selection.thinking = level.unwrap_or(selection.thinking);
    selection
}

/// What a new session begins with.
fn record(store: &SessionStore, spec: &SiblingSpec, selection: &Selection) -> Result<(), String> {
    let model = selection.model.as_ref().map(|model| {
        let ModelRef { provider, model_id } = model.reference();
        EntryBody::ModelChange { provider, model_id }
    });
    let name = spec.name.as_ref().map(|name| EntryBody::SessionInfo { name: Some(name.clone()) });
    let level = EntryBody::thinking(selection.thinking);
    let bodies = model.into_iter().chain([level]).chain(name).map(Into::into).collect();
    store.append(None, bodies).map(drop).map_err(|error| error.to_string())
}

/// The section of a sibling's own prompt.
const ROLE: SectionName = SectionName::of("role");

/// See [`ROLE`].
struct RolePrompt(String);

impl SectionSource for RolePrompt {
    fn name(&self) -> SectionName {
        ROLE
    }

    fn text(&self, _: &SectionMoment<'_>) -> Option<String> {
        Some(self.0.clone())
    }
}

/// A prompt in the place of the program's own.
struct OnlyPrompt {
    prompt: String,
    rest: Arc<dyn ResourceSource>,
}

impl ResourceSource for OnlyPrompt {
    fn prompt_sections(&self, _: &[Arc<dyn Tool>]) -> Vec<(String, String)> {
        vec![("preamble".to_owned(), self.prompt.clone())]
    }

    fn expand(&self, text: &str) -> String {
        self.rest.expand(text)
    }

    fn is_trusted(&self) -> bool {
        self.rest.is_trusted()
    }
}

/// The wires of the parent, with a script of the sibling's own.
struct WithScript {
    script: Arc<dyn Provider>,
    rest: Arc<dyn ProviderSource>,
}

impl ProviderSource for WithScript {
    fn provider_for(&self, model: &Model) -> Option<Arc<dyn Provider>> {
        match (model.provider.as_str(), model.id.as_str()) {
            (TROUPE, SCRIPT) => Some(self.script.clone()),
            _ => self.rest.provider_for(model),
        }
    }

    fn needs_auth(&self) -> bool {
        self.rest.needs_auth()
    }
}
