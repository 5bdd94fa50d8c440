//! What a user says about a virtual model: plain data, and when a rule applies.

use super::Query;
use crate::protocol::{ModelRef, ThinkingLevel, route::RouteReason};

/// How long a model rests that did not say when to come back, in milliseconds.
pub const COOL_DOWN: u64 = 60_000;

/// The rules of a virtual model. The first rule that applies and has a free model decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// In order.
    pub rules: Vec<Rule>,
    /// How long a model rests after a rate limit or an overload when the server did not say, in milliseconds.
    pub cool_down_ms: u64,
}

impl Rules {
    /// All models that some rule names, in order.
    pub fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        self.rules.iter().flat_map(|rule| &rule.candidates)
    }
}

/// A rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    /// Its name in the session and in errors; rules without one go by their number.
    pub name: Option<String>,
    /// When it applies.
    pub when: When,
    /// The models to choose from, in order of preference.
    pub candidates: Vec<Candidate>,
    /// How to choose.
    pub pick: Pick,
    /// How long to stay with the choice.
    pub keep: Keep,
    /// What a model may cost.
    pub max_price: MaxPrice,
}

/// A physical model that a rule may choose.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The model.
    pub model: ModelRef,
    /// Its level; without one, the level that was chosen for the virtual model.
    pub thinking: Option<ThinkingLevel>,
}

/// When a rule applies: when all that it says holds. One that says nothing always applies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct When {
    /// Who asks: `main`, the role of a sibling, `direct` for requests outside the loop.
    pub roles: Vec<String>,
    /// The chosen level is one of these.
    pub thinking: Vec<ThinkingLevel>,
    /// The conversation has more estimated tokens than this.
    pub input_above: Option<u64>,
    /// The conversation has pictures, or has none.
    pub images: Option<bool>,
}

impl When {
    /// Whether it holds.
    #[must_use]
    pub fn holds(&self, query: &Query) -> bool {
        let asks = if query.reason == RouteReason::Direct { "direct" } else { &*query.role };
        (self.roles.is_empty() || self.roles.iter().any(|role| role == asks))
            && (self.thinking.is_empty() || self.thinking.contains(&query.thinking))
            && self.input_above.is_none_or(|tokens| query.input_tokens > tokens)
            && self.images.is_none_or(|images| images == query.images)
    }
}

/// How a rule chooses among its free models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pick {
    /// The first one.
    #[default]
    First,
    /// The one that costs least for this conversation.
    Cheapest,
}

/// How long requests stay with the model that was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Each request is chosen for anew.
    Never,
    /// Until the next message of the user: its prompt cache stays warm, and its signatures stay valid.
    #[default]
    Trace,
    /// As long as it can answer.
    Session,
}

impl Keep {
    /// Whether a request for this reason stays with the model before it.
    #[must_use]
    pub fn stays(self, reason: RouteReason) -> bool {
        match reason {
            RouteReason::Direct => false,
            RouteReason::User => self == Self::Session,
            RouteReason::Continuation | RouteReason::Retry => self != Self::Never,
        }
    }
}

/// What a model may cost at most, in dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MaxPrice {
    /// Uncached input.
    pub input: Option<f64>,
    /// Output.
    pub output: Option<f64>,
}
