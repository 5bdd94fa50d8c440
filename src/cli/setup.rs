//! What an agent is made of, gathered from the command line, the settings, and the files around the project.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::{
    args::HiArgs,
    base::Base,
    cassette::Deck,
    checkpoints, local,
    mode::Mode,
    nats::flags::URL_VARIABLE,
    operations::{self, Closings},
    paths::with_home,
    permissions,
    project::Project,
    prompt::ProjectResources,
    run::warn,
    session::{self, ChosenSession},
    siblings::Maker,
    start::StartError,
};
use crate::{
    actors::{
        chain::{Chain, Link},
        kin::FamilyStart,
        retry::RetrySettings,
        session_writer::SessionPlace,
        shared::{AgentConfig, AgentShared, ProviderSource, Selection, SettingsSink},
    },
    extensions::ExtensionRegistry,
    protocol::{EntryBody, Model, ModelRef, ThinkingLevel},
    providers::{
        self, CacheRetention, Provider, RequestRetry, Secret, Timeouts,
        catalogue::{Catalogue, LiveCatalogue, OFFLINE, SCRIPT, TROUPE},
        http,
        offline::Offline,
        scripted::Scripted,
        selection::{self, CliModel, InitialInput, InitialModel, SessionState, ThinkingInput},
        transport::Transport,
    },
    store::{
        settings::{
            Scope, Settings,
            values::{CompactionSettings, HttpTimeouts},
        },
        tree::{BranchSelection, BranchState},
    },
    tools::{
        self, SessionFacts, ToolSet,
        permissions::plan,
        picture::PicturePolicy,
        selection::{ToolFlags, select},
    },
};

/// An agent that was made, and what must be done when it is closed.
pub struct Setup {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// What ends the agent's sandboxes.
    pub closings: Closings,
}

/// Makes the agent of a session.
///
/// # Errors
/// What prevents it.
pub async fn build(
    base: &Base,
    chosen: ChosenSession,
    settings: Settings,
    project: &Project,
) -> Result<Setup, StartError> {
    let Base { environment, args, deck, backstage, .. } = base;
    let extensions = &base.extensions();
    let live = base.catalogue.clone();
    let catalogue = live.now();
    let before = chosen.store.view().branch_state();
    let tools: ToolSet = backstage.tools.now().iter().cloned().collect();
    let mut of_extensions: Vec<String> =
        extensions.registry().tools().iter().map(|tool| tool.declaration().name.clone()).collect();
    if args.tools.siblings || settings.sibling_tools() {
        of_extensions.extend(tools::siblings::NAMES.map(str::to_owned));
    }
    let active = active_tools(args, &settings, &tools, &of_extensions, &chosen, &before)?;
    let choice = choose_model(args, &settings, &catalogue, &chosen, &before, deck)?;
    match &choice {
        Some(choice) => {
            local::note_guess(&base.servers, &choice.model);
            if choice.model.provider == TROUPE && choice.model.id == SCRIPT && args.script.is_none() {
                let text = "The model troupe/script plays a file: name it with --script FILE \
                            (docs/scripted-provider.md says how).";
                return Err(StartError::Failed(text.to_owned()));
            }
        }
        // The screen helps to get one.
        None if base.mode == Mode::Interactive => {}
        None => return Err(StartError::Failed(local::no_model(environment).await)),
    }
    let works_with = operations::choose(environment, args, &settings, &chosen.cwd, base.remote.clone())?;
    if works_with.remote.is_none() && before.system.sections.iter().any(|(name, _)| name == "machine") {
        warn("This session worked on another machine; its tools work on this one now. Go on there with --ssh.");
    }
    let mut resources = ProjectResources::load(
        environment,
        args,
        &settings,
        &chosen.cwd,
        project,
        extensions.registry().resources(&chosen.cwd),
    )?;
    if let Some(remote) = &works_with.remote {
        resources = resources.elsewhere(works_with.cwd.clone(), remote.context_files());
    }
    resources.warnings().iter().for_each(|warning| warn(warning));

    let questions = backstage.questions.clone();
    let permissions =
        permissions::guard(environment, args, &settings, &works_with.cwd, &questions, works_with.operations.clone())?;
    // The last one: it judges what is left when all others have changed what they want.
    let observers = extensions.observers_with(permissions.clone());
    let links = observers.iter().map(|o| Link { extension: o.extension.clone(), slot: o.slot.clone() }).collect();

    let family = FamilyStart {
        limits: settings.sibling_limits(),
        maker: Some(Arc::new(Maker::of(base, settings.clone(), works_with.closings.clone()))),
    };
    let mut secret_variables = catalogue.credentials().secret_variables();
    secret_variables.push(URL_VARIABLE.to_owned());
    let facts = SessionFacts {
        secret_variables: secret_variables.into(),
        shell_path: settings.shell_path().map(|path| with_home(path, environment.home.as_deref())),
        shell_command_prefix: settings.shell_command_prefix().map(str::to_owned),
        block_images: settings.images().block,
        pictures: PicturePolicy { auto_resize: settings.images().auto_resize, ..PicturePolicy::default() },
        ..SessionFacts::default()
    };
    let checkpoints = checkpoints::of(&settings, &chosen, args.ssh.as_ref().map(ToString::to_string));
    let (sync, on_refusal) = (settings.session_sync(), session::on_refusal(base.mode, &settings));
    let (retry, request_retry) = (settings.retry(), settings.request_retry());
    let selection = Selection {
        thinking: choice.as_ref().map_or_else(ThinkingLevel::default, |choice| choice.thinking),
        scope: choice.as_ref().map_or_else(Vec::new, |choice| choice.scope.clone()),
        model: choice.map(|choice| choice.model),
        active_tools: active,
        steering_mode: settings.steering_mode(),
        follow_up_mode: settings.follow_up_mode(),
        retry: RetrySettings {
            enabled: retry.enabled,
            max_retries: retry.max_retries,
            base_delay_ms: millis(retry.base_delay),
            max_delay_ms: millis(retry.max_delay),
            max_asked_ms: millis(request_retry.max_delay),
        },
        auto_compaction: settings.compaction(None).enabled,
        plan_mode: args
            .permissions
            .plan
            .filter(|_| chosen.is_first)
            .unwrap_or_else(|| permissions::plans(&chosen.store.view())),
    };
    if selection.plan_mode {
        works_with.plan_operations.prepare();
    }
    let HttpTimeouts { connect, first_byte, idle } = settings.http_timeouts();
    http::set_proxy(settings.http_proxy().map(str::to_owned));
    let config = AgentConfig {
        cwd: works_with.cwd,
        timeouts: Timeouts { connect, first_byte, idle },
        request_retry: RequestRetry { max_retries: request_retry.max_retries, max_delay: request_retry.max_delay },
        cache: match environment.long_cache_retention {
            true => CacheRetention::Long,
            false => CacheRetention::Short,
        },
        thinking_budgets: settings.thinking_budgets(),
        role: "main".into(),
        providers: Arc::new(Wires {
            offline: Arc::new(Offline),
            script: base.script.clone(),
            catalogue: live.clone(),
            transport: deck.transport(),
        }),
        catalogue: live,
        tools: backstage.tools.clone(),
        backstage: backstage.clone(),
        tools_chosen: args.tools.selects(),
        chain: Chain::new(links),
        observers,
        resources: Arc::new(resources),
        sections: works_with.sections.into_iter().chain(extensions.registry().sections()).collect(),
        settings: Arc::new(Stored(Mutex::new(settings))),
        operations: works_with.operations,
        user_operations: works_with.user_operations,
        plan_operations: works_with.plan_operations,
        permissions,
        questions,
        facts,
    };
    if chosen.store.writable().is_ok() {
        record_start(&chosen, &selection, &before.selection, &catalogue)?;
    }
    let takes_over = chosen.takes_over;
    let place =
        SessionPlace::new(chosen.store, chosen.journal).with_checkpoints(checkpoints).with_saving(sync, on_refusal);
    let place = place.with_replica(chosen.replica);
    let place = if takes_over { place.taking_over() } else { place };
    let shared = AgentShared::of_family(base.next_agent(), Arc::new(config), place, selection, family);
    Ok(Setup { shared, closings: works_with.closings })
}

/// The catalogue with what extensions register; what is wrong with it is told.
pub(super) fn with_extensions(catalogue: Catalogue, extensions: &ExtensionRegistry) -> LiveCatalogue {
    let live = LiveCatalogue::new(catalogue);
    for (extension, error) in extensions.register_models(&live) {
        warn(&format!("The extension {extension}: {error}"));
    }
    for problem in live.now().problems() {
        warn(&problem.to_string());
    }
    live
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Entries that a start leaves: what a new session begins with, a level that was never recorded, a name.
fn record_start(
    chosen: &ChosenSession,
    selection: &Selection,
    before: &BranchSelection,
    catalogue: &Catalogue,
) -> Result<(), StartError> {
    let mut bodies = Vec::new();
    if let Some(model) = &selection.model
        && (chosen.is_new || is_news(model, before, catalogue))
    {
        let ModelRef { provider, model_id } = model.reference();
        bodies.push(EntryBody::ModelChange { provider, model_id });
    }
    let recorded = before.thinking_level.as_deref().and_then(ThinkingLevel::parse);
    let clamped = |level| selection.model.as_ref().map_or(level, |model: &Arc<Model>| model.clamp_thinking(level));
    if chosen.is_new || recorded.map(clamped) != Some(selection.thinking) {
        bodies.push(EntryBody::thinking(selection.thinking));
    }
    if selection.plan_mode != permissions::plans(&chosen.store.view()) {
        bodies.push(plan::entry(selection.plan_mode));
    }
    if let Some(name) = &chosen.name {
        bodies.push(EntryBody::SessionInfo { name: Some(name.clone()) });
    }
    if bodies.is_empty() {
        return Ok(());
    }
    chosen.store.append(None, bodies.into_iter().map(Into::into).collect()).map_err(StartError::of)?;
    Ok(())
}

/// The model that a branch selects.
fn model_of(before: &BranchSelection, catalogue: &Catalogue) -> Option<ModelRef> {
    before.restored_model(|name| catalogue.virtual_model(name).is_some())
}

/// Whether the branch does not tell by itself which model is selected: answers name physical models alone.
fn is_news(model: &Model, before: &BranchSelection, catalogue: &Catalogue) -> bool {
    let of_branch = model_of(before, catalogue);
    let name = model.reference();
    let is_virtual = |name: &ModelRef| catalogue.virtual_model(name).is_some();
    of_branch.as_ref() != Some(&name) && (is_virtual(&name) || of_branch.as_ref().is_some_and(is_virtual))
}

/// The tools of the program with those that extensions bring.
pub(super) fn all_tools(extensions: &ExtensionRegistry) -> ToolSet {
    let mut tools: ToolSet = ToolSet::builtin().iter().cloned().chain(tools::siblings::tools()).collect();
    for tool in extensions.tools() {
        tools.remove(&tool.declaration().name);
        tools.add(tool);
    }
    tools
}

/// The active tools: the command line's, or those that the resumed branch had or the settings name with those that
/// extensions bring.
fn active_tools(
    args: &HiArgs,
    settings: &Settings,
    tools: &ToolSet,
    of_extensions: &[String],
    chosen: &ChosenSession,
    before: &BranchState,
) -> Result<Vec<String>, StartError> {
    let of_branch = before.system.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    let resumed = !chosen.is_new && !args.tools.selects() && before.system != Default::default();
    let defaults = if resumed { of_branch } else { settings.default_tools() };
    let flags = ToolFlags {
        tools: args.tools.tools.clone(),
        exclude: args.tools.exclude.clone(),
        no_tools: args.tools.no_tools,
        no_builtin_tools: args.tools.no_builtin_tools,
    };
    let names: Vec<&str> = tools.names().collect();
    let selected = select(&names, &defaults, of_extensions, &flags).map_err(StartError::of)?;
    for name in &selected.unknown {
        warn(&format!("There is no tool named {name}."));
    }
    Ok(selected.active)
}

/// The model and level to begin with.
struct Choice {
    model: Arc<Model>,
    thinking: ThinkingLevel,
    scope: Vec<(Arc<Model>, Option<ThinkingLevel>)>,
}

/// None when there is no model at all.
fn choose_model(
    args: &HiArgs,
    settings: &Settings,
    catalogue: &Catalogue,
    chosen: &ChosenSession,
    before: &BranchState,
    deck: &Deck,
) -> Result<Option<Choice>, StartError> {
    let wanted = &args.model;
    let cli = CliModel {
        provider: wanted.provider.as_deref(),
        model: wanted.pattern.as_deref(),
        thinking: wanted.thinking,
        has_api_key: wanted.api_key.is_some(),
    };
    let cli = match deck.named(wanted) {
        Some(recorded) => Some(recorded),
        None => selection::resolve_cli(catalogue, &cli).map_err(StartError::of)?,
    };
    if let Some(cli) = &cli {
        cli.warnings.iter().for_each(|warning| warn(warning));
    }
    let patterns = wanted.scope.clone().or_else(|| settings.enabled_models());
    let scope = patterns.map(|patterns| selection::scope(catalogue, &patterns)).unwrap_or_default();
    scope.warnings.iter().for_each(|warning| warn(warning));
    let session = || {
        if chosen.is_new {
            return SessionState::New;
        }
        SessionState::Existing {
            model: model_of(&before.selection, catalogue),
            thinking: before.selection.thinking_level.as_deref().and_then(ThinkingLevel::parse),
            has_messages: before.has_messages,
        }
    };
    let input =
        InitialInput { cli: cli.as_ref(), scope: &scope.models, session: session(), default: settings.default_model() };
    let recorded = deck.start().filter(|_| cli.is_none());
    let initial = match recorded {
        Some((model, thinking)) => InitialModel { model: Some(model), thinking: Some(thinking), warning: None },
        None => selection::initial(catalogue, &input),
    };
    if let Some(warning) = &initial.warning {
        warn(warning);
    }
    let Some(model) = initial.model else { return Ok(None) };
    let model = if model.provider == TROUPE { model } else { deck.described(&model.reference(), model)? };
    if let Some(key) = &wanted.api_key {
        catalogue.credentials().set_own_key(&model.provider, Secret::new(key.expose()));
    }
    let thinking = selection::initial_thinking(
        Some(&model),
        &ThinkingInput {
            flag: wanted.thinking,
            with_model: initial.thinking,
            session: session(),
            of_model: settings.model_thinking_level(&model.reference()),
            default: settings.default_thinking_level(),
        },
    );
    let scope = scope.models.into_iter().map(|scoped| (scoped.model, scoped.thinking)).collect();
    Ok(Some(Choice { model, thinking, scope }))
}

/// The wires: those of the network, those that extensions registered, and the two models inside the program.
struct Wires {
    offline: Arc<dyn Provider>,
    script: Option<Arc<dyn Provider>>,
    catalogue: LiveCatalogue,
    transport: Transport,
}

/// The wire of the script that the command line names.
pub(super) fn script_wire(args: &HiArgs, catalogue: &mut Catalogue) -> Result<Option<Arc<dyn Provider>>, StartError> {
    let Some(file) = &args.script else { return Ok(None) };
    let scripted = Scripted::from_file(file).map_err(StartError::of)?;
    if let Some(fields) = scripted.model_fields() {
        catalogue
            .override_script_model(fields)
            .map_err(|fault| StartError::Failed(format!("{}: model: {}", file.display(), fault.describe())))?;
    }
    Ok(Some(Arc::new(scripted)))
}

impl ProviderSource for Wires {
    fn provider_for(&self, model: &Model) -> Option<Arc<dyn Provider>> {
        match (model.provider.as_str(), model.id.as_str()) {
            (TROUPE, OFFLINE) => Some(self.offline.clone()),
            (TROUPE, SCRIPT) => self.script.clone(),
            _ if !self.needs_auth() => providers::provider_over(&model.api, &self.transport),
            _ => {
                let registered = self.catalogue.now().registered_wire(model);
                registered.or_else(|| providers::provider_over(&model.api, &self.transport))
            }
        }
    }

    fn needs_auth(&self) -> bool {
        !matches!(self.transport, Transport::Replayed(_))
    }
}

/// The user's settings, as commands change them.
struct Stored(Mutex<Settings>);

impl SettingsSink for Stored {
    fn all(&self) -> Value {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).effective()
    }

    fn compaction(&self, model: Option<&ModelRef>) -> CompactionSettings {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).compaction(model)
    }

    fn branch_summary_reserve(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).branch_summary().0
    }

    fn set(&self, path: &[&str], value: Value) -> Result<(), String> {
        let change = {
            let mut settings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            settings.set(Scope::Global, path, Some(value))
        };
        change.write().map_err(|error| error.to_string())
    }

    fn thinking_for(&self, model: &Model) -> Option<ThinkingLevel> {
        let settings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        settings.model_thinking_level(&model.reference()).or_else(|| settings.default_thinking_level())
    }
}
