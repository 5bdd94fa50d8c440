//! Where a request of a virtual model goes: asks the rules, or the extension that chooses for it. For workers.

use std::sync::Arc;

use super::{chain::Asking, route_facts::RouteFacts, shared::AgentShared};
use crate::{
    protocol::{
        AgentMessage, EntryBody, Failure, FailureClass, Message, Model, ModelRef, ThinkingLevel,
        route::{Dispatch, RouteAsk, RouteReason, state_entry},
        time::Millis,
    },
    providers::{
        catalogue::LiveCatalogue,
        limits,
        routing::{self, Physical, Query, Router, Rules, VirtualModel, decide},
    },
};

/// Where a request goes.
#[derive(Debug)]
pub struct Dispatched {
    /// The physical model.
    pub model: Arc<Model>,
    /// The level; it is clamped to the model.
    pub thinking: ThinkingLevel,
    /// What must be stored before the request is sent.
    pub entry: Option<EntryBody>,
    /// How it was chosen, where rules did that.
    pub routed: Option<Routed>,
}

/// A choice that was made by rules.
#[derive(Clone, Debug)]
pub struct Routed {
    name: ModelRef,
    rules: Rules,
    query: Query,
}

impl Routed {
    /// Whether the same request, tried again after `failed` had enough, would go to another model at once.
    #[must_use]
    pub fn falls_back(&self, catalogue: &LiveCatalogue, failed: &ModelRef, now: Millis) -> bool {
        let dispatch = Dispatch { model: failed.clone(), thinking_level: self.query.thinking };
        let query = Query { reason: RouteReason::Retry, failed: Some(dispatch), ..self.query.clone() };
        let snapshot = catalogue.now();
        let physical = |name: &ModelRef| snapshot.physical(name);
        let route = decide(&self.name, &self.rules, &query, &physical, &catalogue.cool_downs(), now);
        route.is_ok_and(|route| route.model.reference() != *failed)
    }
}

/// A request that needs a physical model.
pub struct Request<'a> {
    /// The level that was chosen for the virtual model.
    pub thinking: ThinkingLevel,
    /// Why it is made, and what was before.
    pub facts: RouteFacts,
    /// The conversation.
    pub messages: &'a Arc<Vec<AgentMessage>>,
    /// The same as a model sees it.
    pub llm: &'a [Message],
}

/// Finds the physical model for a request of a virtual one.
///
/// # Errors
/// Nobody can answer, or the extension that should choose gave no answer that can be used.
pub async fn dispatch(
    shared: &AgentShared,
    asking: &Asking,
    virtual_model: &VirtualModel,
    request: Request<'_>,
    now: Millis,
) -> Result<Dispatched, Failure> {
    match &virtual_model.router {
        Router::Rules(rules) => by_rules(shared, virtual_model.model.reference(), rules, request, now),
        Router::Extension(owner) => by_extension(shared, asking, virtual_model.model.reference(), owner, request).await,
    }
}

fn by_rules(
    shared: &AgentShared,
    name: ModelRef,
    rules: &Rules,
    request: Request<'_>,
    now: Millis,
) -> Result<Dispatched, Failure> {
    let RouteFacts { reason, previous, failed, state } = request.facts;
    let query = Query {
        reason,
        role: shared.config.role.clone(),
        thinking: request.thinking,
        previous,
        failed: failed.map(|failed| failed.dispatch),
        state,
        input_tokens: limits::estimate_input(request.llm),
        images: routing::has_images(request.llm),
    };
    let snapshot = shared.config.catalogue.now();
    let physical = |name: &ModelRef| snapshot.physical(name);
    let route = decide(&name, rules, &query, &physical, &shared.config.catalogue.cool_downs(), now)
        .map_err(|error| error.failure())?;
    Ok(Dispatched {
        model: route.model,
        thinking: route.thinking,
        entry: route.state.map(|state| state_entry(&name, state)),
        routed: Some(Routed { name, rules: rules.clone(), query }),
    })
}

async fn by_extension(
    shared: &AgentShared,
    asking: &Asking,
    name: ModelRef,
    owner: &str,
    request: Request<'_>,
) -> Result<Dispatched, Failure> {
    let RouteFacts { reason, previous, failed, state } = request.facts;
    let ask = RouteAsk {
        model: name.clone(),
        thinking_level: request.thinking,
        reason,
        role: shared.config.role.clone(),
        previous,
        failed,
        state,
        messages: request.messages.clone(),
    };
    let failure = |class, text: String| Failure::new(class, text);
    let verdict = shared.config.chain.route(asking, owner, ask).await.map_err(|cause| {
        failure(FailureClass::Internal, format!("The extension {owner} did not choose a model for {name}: {cause}"))
    })?;
    let model = match shared.config.catalogue.now().physical(&verdict.model) {
        Physical::Usable(model) => model,
        Physical::Unusable(why) => {
            let text = format!("The extension {owner} chose {} for {name}, which cannot be used: {why}", verdict.model);
            return Err(failure(FailureClass::NotFound, text));
        }
    };
    let state = verdict.state.filter(|_| reason != RouteReason::Direct);
    Ok(Dispatched {
        model,
        thinking: verdict.thinking_level,
        entry: state.map(|state| state_entry(&name, state)),
        routed: None,
    })
}

#[cfg(test)]
mod tests;
