//! The worker that makes a request: waits until slow subscribers have caught up, builds the context, has extensions
//! look at it, and finds the key.

use std::{collections::HashMap, sync::Arc};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::{
    account::Reserved,
    address::Recipient,
    call_watch::AgentWatch,
    chain::Asking,
    dispatch::{self, Routed, dispatch},
    route_facts::RouteFacts,
    shared::{AgentConfig, AgentShared},
    turn_io::Work,
};
use crate::{
    protocol::{
        AgentMessage, Content, EntryBody, Failure, FailureClass, Message, Model, ThinkingLevel,
        ask::{AskPoint, BeforeRequestAsk},
        context::{convert_to_llm, without_pictures},
        system::SystemState,
        time::now_ms,
    },
    providers::{Provider, Request, credentials::Auth},
    store::tree::TreeView,
    tools::arguments,
};

/// A request that is ready to be sent.
pub struct ReadyRequest {
    /// The wire.
    pub provider: Arc<dyn Provider>,
    /// The request.
    pub request: Request,
    /// What must be stored before it is sent.
    pub entries: Vec<EntryBody>,
    /// How rules chose the model, when a virtual one is selected.
    pub routed: Option<Routed>,
    /// The right to send it.
    pub call: Reserved,
}

/// The outcome of a preparation.
pub struct Prepared {
    /// The work that waits for it.
    pub work: Work,
    /// The request, or why it cannot be made.
    pub result: Result<Box<ReadyRequest>, Failure>,
}

/// What the worker needs.
pub struct PrepareWork {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// The session at this moment.
    pub tree: TreeView,
    /// The selected model.
    pub model: Arc<Model>,
    /// The selected level.
    pub thinking: ThinkingLevel,
    /// Replaces the system prompt.
    pub system_prompt: Option<String>,
    /// Ends the model call.
    pub cancel: CancellationToken,
    /// Who asks extensions.
    pub asking: Asking,
    /// The loop that waits.
    pub to: Recipient<Prepared>,
    /// The work that it waits for.
    pub work: Work,
}

/// The worker.
pub struct Prepare;

impl Actor for Prepare {
    type Msg = PrepareWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<PrepareWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<PrepareWork>,
        work: PrepareWork,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let (to, number) = (work.to.clone(), work.work);
        let result = prepare(work).await.map(Box::new);
        // When the loop is gone, so is this worker: its death is under way.
        let _ = to.deliver(Prepared { work: number, result });
        myself.stop(None);
        Ok(())
    }
}

async fn prepare(work: PrepareWork) -> Result<ReadyRequest, Failure> {
    let PrepareWork { shared, tree, mut model, mut thinking, system_prompt, cancel, asking, .. } = work;
    let config = &shared.config;
    shared.subscribers.wait_low().await;
    shared.kin.gate.pass(|| shared.kin.tell_held()).await;
    let call = shared.kin.account.reserve();
    let call = call.map_err(|exhausted| Failure::new(FailureClass::Budget, exhausted.text()))?;
    // What was registered, or read again, since the model was selected counts. Ids that only the user knows stay.
    model = config.catalogue.now().find(&model.reference()).unwrap_or(model);
    let mut messages = tree.context().messages;
    if config.chain.has(AskPoint::Context) {
        let walked = config.chain.context(&asking, messages).await;
        shared.report_failures(AskPoint::Context, walked.failures);
        messages = walked.value;
    }
    if let Some(prompt) = system_prompt {
        messages = with_prompt(messages, prompt);
    }
    let messages = Arc::new(messages);
    let mut llm = convert_to_llm(&messages);
    if config.facts.block_images {
        llm = without_pictures(llm);
    }
    let mut entries = Vec::new();
    let mut routed = None;
    if let Some(virtual_model) = config.catalogue.now().virtual_model(&model.reference()) {
        let facts = RouteFacts::at_leaf(&tree, &model.reference());
        let request = dispatch::Request { thinking, facts, messages: &messages, llm: &llm };
        let dispatched = dispatch(&shared, &asking, virtual_model, request, now_ms()).await?;
        model = dispatched.model;
        thinking = dispatched.thinking;
        entries.extend(dispatched.entry);
        routed = dispatched.routed;
    }
    let mut headers = serde_json::Map::new();
    if config.chain.has(AskPoint::BeforeRequest) {
        let ask = BeforeRequestAsk { model: model.reference(), thinking_level: thinking, headers: headers.clone() };
        let walked = config.chain.before_request(&asking, ask).await;
        shared.report_failures(AskPoint::BeforeRequest, walked.failures);
        headers = walked.value.headers.unwrap_or_default();
        if let Some(name) = walked.value.model {
            model = config.catalogue.now().find(&name).ok_or_else(|| {
                Failure::new(FailureClass::NotFound, format!("an extension chose the model {name}, which is unknown"))
            })?;
            routed = None;
        }
        thinking = walked.value.thinking_level.unwrap_or(thinking);
    }
    let equipped = equip(config, model).await?;
    let mut request = Request {
        thinking: equipped.model.clamp_thinking(thinking),
        session_id: Some(tree.header().id.clone()),
        cache: config.cache,
        cancel,
        ..equipped.request(config, llm)
    };
    request.headers.extend(headers);
    request.watch = AgentWatch::over(&shared, &asking, &request.model);
    let provider = equipped.provider;
    let mut tools = shared.active_tools();
    tools.retain(|tool| !arguments::is_compiled(&**tool));
    if !tools.is_empty() {
        // Beside the call, so that the first batch does not wait for it. Nobody needs to hear of its end.
        drop(spawn_blocking(move || tools.iter().for_each(|tool| arguments::compile(&**tool))));
    }
    Ok(ReadyRequest { provider, request, entries, routed, call })
}

/// A physical model with what a request to it needs.
pub(super) struct Equipped {
    /// The wire.
    pub provider: Arc<dyn Provider>,
    /// The model, at the address that its credentials belong to.
    pub model: Arc<Model>,
    auth: Auth,
}

impl Equipped {
    /// A request with the agent's limits.
    pub fn request(&self, config: &AgentConfig, messages: Vec<Message>) -> Request {
        let auth = self.auth.clone();
        Request {
            api_key: auth.key,
            aws: auth.aws,
            environment: auth.environment,
            headers: auth.headers,
            timeouts: config.timeouts,
            thinking_budgets: config.thinking_budgets.clone(),
            retry: config.request_retry,
            ..Request::new(self.model.clone(), messages)
        }
    }
}

/// Finds the wire and the credentials of a physical model.
pub(super) async fn equip(config: &AgentConfig, mut model: Arc<Model>) -> Result<Equipped, Failure> {
    let Some(provider) = config.providers.provider_for(&model) else {
        let text = format!("No adapter for the API {} of the model {}", model.api, model.reference());
        return Err(Failure::new(FailureClass::NotFound, text));
    };
    let auth = match config.providers.needs_auth() {
        true => config.catalogue.now().credentials().auth_for(&model).await,
        false => Ok(Auth::default()),
    };
    let mut auth = auth.map_err(|error| Failure::new(FailureClass::Auth, error.to_string()))?;
    if let Some(base_url) = auth.base_url.take() {
        model = Arc::new(Model { base_url, ..(*model).clone() });
    }
    Ok(Equipped { provider, model, auth })
}

/// The conversation with another system prompt: one leading message with that text and the tools in force.
fn with_prompt(messages: Vec<AgentMessage>, prompt: String) -> Vec<AgentMessage> {
    let mut state = SystemState::default();
    let mut rest = Vec::with_capacity(messages.len());
    for message in messages {
        match message {
            AgentMessage::System(system) => state.apply(&system),
            other => rest.push(other),
        }
    }
    state.texts = vec![prompt];
    state.sections.clear();
    let mut system = state.to_message(now_ms());
    system.sections = None;
    system.content = Content::Text(state.render());
    rest.insert(0, AgentMessage::System(Arc::new(system)));
    rest
}

/// Variables that shell commands get.
#[must_use]
pub fn command_environment(
    tree: Option<&TreeView>,
    file: Option<String>,
    model: Option<&Model>,
    thinking: ThinkingLevel,
) -> HashMap<String, String> {
    let mut variables = HashMap::new();
    let mut set = |name: &str, value: String| drop(variables.insert(name.to_owned(), value));
    if let Some(tree) = tree {
        set("TROUPE_SESSION_ID", tree.header().id.clone());
    }
    if let Some(file) = file {
        set("TROUPE_SESSION_FILE", file);
    }
    if let Some(model) = model {
        set("TROUPE_PROVIDER", model.provider.clone());
        set("TROUPE_MODEL", model.id.clone());
    }
    set("TROUPE_REASONING_LEVEL", thinking.as_str().to_owned());
    variables
}
