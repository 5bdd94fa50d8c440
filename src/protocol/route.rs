//! Virtual models: names that stand for a choice among physical ones. What is asked before each request, and answered.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    entry::EntryBody,
    message::{AgentMessage, AssistantMessage},
    model::{InputKind, Model, ModelCost, ModelRef, ThinkingLevel},
};

/// The pseudo API of virtual models, by pi's name: no adapter speaks it.
pub const VIRTUAL_API: &str = "pi-virtual";

/// The `customType` of entries that hold a router's state, by pi's name.
pub const STATE_TYPE: &str = "pi.virtual-model-state";

/// Why a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RouteReason {
    /// The first one after a message that a user wrote, steering and follow-ups included.
    User,
    /// Any other one of the loop.
    Continuation,
    /// The request before failed and is tried again.
    Retry,
    /// Outside the loop: a summary, a call of an extension. It has no state.
    Direct,
}

impl RouteReason {
    /// The reason's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Continuation => "continuation",
            Self::Retry => "retry",
            Self::Direct => "direct",
        }
    }
}

/// A physical model and the level that it was asked with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dispatch {
    /// The model.
    pub model: ModelRef,
    /// The level.
    pub thinking_level: ThinkingLevel,
}

impl Dispatch {
    /// What an answer was made with.
    #[must_use]
    pub fn of(answer: &AssistantMessage) -> Self {
        Self {
            model: ModelRef { provider: answer.provider.clone(), model_id: answer.model.clone() },
            thinking_level: answer.thinking_level.as_deref().and_then(ThinkingLevel::parse).unwrap_or_default(),
        }
    }
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedDispatch {
    /// What was asked.
    pub dispatch: Dispatch,
    /// The failed answer.
    pub message: Arc<AssistantMessage>,
}

/// Which physical model should this request of a virtual model go to?
#[derive(Clone, Debug, PartialEq)]
pub struct RouteAsk {
    /// The virtual model.
    pub model: ModelRef,
    /// The level that was chosen for it.
    pub thinking_level: ThinkingLevel,
    /// Why the request is made.
    pub reason: RouteReason,
    /// Who makes it: `main` for the main agent, the role of a sibling.
    pub role: Arc<str>,
    /// What the last good answer was made with.
    pub previous: Option<Dispatch>,
    /// What is tried again; none when the routing itself failed.
    pub failed: Option<FailedDispatch>,
    /// The router's state on this branch.
    pub state: Option<Value>,
    /// The conversation.
    pub messages: Arc<Vec<AgentMessage>>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteVerdict {
    /// A physical model with credentials.
    pub model: ModelRef,
    /// The level; it is clamped to the model.
    pub thinking_level: ThinkingLevel,
    /// The new state; none keeps what is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
}

/// The entry that keeps a router's state.
#[must_use]
pub fn state_entry(model: &ModelRef, state: Value) -> EntryBody {
    let data = json!({"provider": model.provider, "modelId": model.model_id, "state": state});
    EntryBody::Custom { custom_type: STATE_TYPE.to_owned(), data: Some(data) }
}

/// The state that an entry keeps for a virtual model; none when it is another kind of entry, or another model's.
#[must_use]
pub fn state_in<'a>(body: &'a EntryBody, model: &ModelRef) -> Option<&'a Value> {
    let EntryBody::Custom { custom_type, data: Some(data) } = body else { return None };
    let of_model =
        custom_type == STATE_TYPE && data["provider"] == *model.provider && data["modelId"] == *model.model_id;
    data.get("state").filter(|_| of_model)
}

/// A virtual model as lists and clients see it.
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualDescription {
    /// The provider's id. It may be one that has models of its own, or a new one.
    pub provider: String,
    /// The id.
    pub id: String,
    /// The name that people see.
    pub name: String,
    /// The levels that people may choose.
    pub thinking_levels: Vec<ThinkingLevel>,
    /// Tokens of input and output together, as long as no answer says which model is behind it; none = unknown.
    pub context_window: Option<u64>,
    /// Tokens of output; likewise.
    pub max_tokens: Option<u64>,
    /// What it takes.
    pub input: Vec<InputKind>,
}

impl VirtualDescription {
    /// A virtual model with pi's defaults: no thinking, unknown limits, text and pictures.
    #[must_use]
    pub fn new(provider: &str, id: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            id: id.to_owned(),
            name: id.to_owned(),
            thinking_levels: vec![ThinkingLevel::Off],
            context_window: None,
            max_tokens: None,
            input: vec![InputKind::Text, InputKind::Image],
        }
    }

    /// Its name as `provider/id`.
    #[must_use]
    pub fn reference(&self) -> ModelRef {
        ModelRef { provider: self.provider.clone(), model_id: self.id.clone() }
    }

    /// The model that lists show. It reasons when there is a level to choose; unknown limits are 0.
    #[must_use]
    pub fn to_model(&self) -> Model {
        let reasoning = self.thinking_levels.iter().any(|level| *level != ThinkingLevel::Off);
        let level = |level: ThinkingLevel| {
            let word = if self.thinking_levels.contains(&level) { json!(level.as_str()) } else { Value::Null };
            (level.as_str().to_owned(), word)
        };
        let map: Map<String, Value> = ThinkingLevel::ALL.into_iter().map(level).collect();
        Model {
            id: self.id.clone(),
            name: self.name.clone(),
            api: VIRTUAL_API.to_owned(),
            provider: self.provider.clone(),
            base_url: String::new(),
            reasoning,
            thinking_level_map: reasoning.then_some(map),
            input: self.input.clone(),
            input_limits: None,
            cost: ModelCost::default(),
            prompt_cache: None,
            context_window: self.context_window.unwrap_or(0),
            max_tokens: self.max_tokens.unwrap_or(0),
            sampling_params: None,
            sampling_params_by_thinking_level: None,
            headers: None,
            compat: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_model_has_pi_s_shape() {
        use ThinkingLevel::{High, Low, Off};
        let team = VirtualDescription {
            name: "Team auto".into(),
            thinking_levels: vec![Off, Low, High],
            ..VirtualDescription::new("team", "auto")
        };
        let expected = json!({
            "id": "auto", "name": "Team auto", "api": "pi-virtual", "provider": "team", "baseUrl": "", "reasoning": true,
            "thinkingLevelMap": {"off": "off", "minimal": null, "low": "low", "medium": null, "high": "high",
                "xhigh": null, "max": null},
            "input": ["text", "image"], "cost": {"input": 0.0, "output": 0.0, "cacheRead": 0.0, "cacheWrite": 0.0},
            "contextWindow": 0, "maxTokens": 0,
        });
        let model = team.to_model();
        assert_eq!(serde_json::to_value(&model).unwrap(), expected);
        assert_eq!(model.thinking_levels(), [Off, Low, High]);
        assert!(!VirtualDescription::new("team", "plain").to_model().reasoning);
    }

    #[test]
    fn a_state_entry_belongs_to_one_model() {
        let name = |id: &str| ModelRef { provider: "team".into(), model_id: id.into() };
        let entry = state_entry(&name("auto"), json!({"n": 1}));
        assert_eq!(state_in(&entry, &name("auto")), Some(&json!({"n": 1})));
        assert_eq!(state_in(&entry, &name("other")), None);
        let foreign = EntryBody::Custom { custom_type: "x".into(), data: Some(json!({"state": 1})) };
        assert_eq!(state_in(&foreign, &name("auto")), None);
    }
}
