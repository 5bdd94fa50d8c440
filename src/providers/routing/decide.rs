//! The choice itself: pure, without a clock of its own.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Query,
    cool_downs::CoolDowns,
    rules::{Candidate, MaxPrice, Pick, Rule, Rules},
};
use crate::{
    protocol::{Failure, FailureClass, Model, ModelRef, ThinkingLevel, Usage, route::RouteReason, time::Millis},
    providers::cost::price,
};

/// Room that an answer needs beside the conversation, in tokens: what a request keeps free of its window.
const ROOM: u64 = 4_096;

/// The answer's length when models are compared by what they cost, in tokens. Most answers of an agent are short.
const ANSWER: u64 = 1_000;

/// What is known of a physical model.
#[derive(Clone, Debug, PartialEq)]
pub enum Physical {
    /// It has what a request needs.
    Usable(Arc<Model>),
    /// It cannot be asked: why.
    Unusable(String),
}

/// Where a request goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The physical model.
    pub model: Arc<Model>,
    /// The level, clamped to the model.
    pub thinking: ThinkingLevel,
    /// The new state; none keeps what is.
    pub state: Option<Value>,
}

/// Why a request goes nowhere.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RouteError {
    /// All models that could answer rest.
    #[error(
        "All models of {name} that could answer are cooling down. {model} is free first, in {} s ({})",
        wait_ms.div_ceil(1000),
        words(*class)
    )]
    Cooling {
        /// The virtual model.
        name: ModelRef,
        /// The one that is free first.
        model: ModelRef,
        /// In how many milliseconds.
        wait_ms: u64,
        /// Why it rests.
        class: FailureClass,
    },
    /// No rule applies.
    #[error("No rule of {0} applies to this request. Add a rule without \"when\" at the end of its rules")]
    NoRule(ModelRef),
    /// No model of the rules that apply can answer.
    #[error("{name} has no model for this request: {}", reasons.join("; "))]
    Nobody {
        /// The virtual model.
        name: ModelRef,
        /// Why not, a candidate each.
        reasons: Vec<String>,
    },
}

impl RouteError {
    /// The failure of the request. Cooling down passes, and says when.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let text = self.to_string();
        match self {
            Self::Cooling { wait_ms, class, .. } => {
                Failure { retry_after_ms: Some(*wait_ms), ..Failure::new(*class, text) }
            }
            Self::NoRule(_) | Self::Nobody { .. } => Failure::new(FailureClass::NotFound, text),
        }
    }
}

/// Why a model rests, in the words that classify the text again when only the text is left.
fn words(class: FailureClass) -> &'static str {
    match class {
        FailureClass::RateLimited => "rate limit",
        FailureClass::QuotaExhausted => "quota exceeded",
        _ => "overloaded",
    }
}

/// A candidate that can answer now.
#[derive(Clone)]
struct Free<'a> {
    candidate: &'a Candidate,
    model: Arc<Model>,
}

impl Free<'_> {
    fn level(&self, query: &Query) -> ThinkingLevel {
        self.model.clamp_thinking(self.candidate.thinking.unwrap_or(query.thinking))
    }

    /// Whether the conversation and an answer fit its window; an unknown window fits everything.
    fn has_room(&self, query: &Query) -> bool {
        self.model.context_window == 0 || query.input_tokens.saturating_add(ROOM) < self.model.context_window
    }

    /// Whether it thinks as much as it should.
    fn thinks_enough(&self, query: &Query) -> bool {
        self.level(query) >= self.candidate.thinking.unwrap_or(query.thinking)
    }

    fn cost(&self, query: &Query) -> f64 {
        let usage = Usage { input: query.input_tokens, output: ANSWER, ..Usage::default() };
        price(&self.model.cost, &usage).total
    }
}

/// Candidates that cannot answer now.
#[derive(Default)]
struct Passed {
    reasons: Vec<String>,
    cooling: Vec<(ModelRef, FailureClass, Millis)>,
}

/// Chooses the model for a request of the virtual model `name`.
///
/// # Errors
/// Nobody can answer; see [`RouteError`].
pub fn decide(
    name: &ModelRef,
    rules: &Rules,
    query: &Query,
    physical: &dyn Fn(&ModelRef) -> Physical,
    cool_downs: &CoolDowns,
    now: Millis,
) -> Result<Route, RouteError> {
    let mut passed = Passed::default();
    let applying: Vec<(usize, &Rule, Vec<Free<'_>>)> = rules
        .rules
        .iter()
        .enumerate()
        .filter(|(_, rule)| rule.when.holds(query))
        .map(|(at, rule)| {
            let free = rule.candidates.iter().filter_map(|candidate| {
                let cools = cool_downs.of(&candidate.model, rules.cool_down_ms, now);
                passed.take(candidate, rule.max_price, query, physical(&candidate.model), cools)
            });
            (at, rule, free.collect())
        })
        .collect();
    let Some((_, first, _)) = applying.first() else { return Err(RouteError::NoRule(name.clone())) };
    let before = match query.reason {
        RouteReason::Retry => query.failed.as_ref(),
        _ => query.previous.as_ref(),
    };
    // The choice before stands where it can: another model would have to read everything anew.
    let before = before.filter(|_| first.keep.stays(query.reason));
    let same = |free: &&Free<'_>| before.is_some_and(|before| before.model == free.candidate.model);
    let kept = applying.iter().find_map(|(at, rule, free)| {
        Some((*at, *rule, free.iter().filter(|free| free.has_room(query)).find(same)?.clone()))
    });
    let picked = || applying.iter().find_map(|(at, rule, free)| Some((*at, *rule, pick(rule.pick, free, query)?)));
    // Where nobody has room, the largest window is the best chance: an overflow is compacted and tried again.
    let largest = || {
        let all = applying.iter().flat_map(|(at, rule, free)| free.iter().map(|free| (*at, *rule, free.clone())));
        all.rev().max_by_key(|(_, _, free)| free.model.context_window)
    };
    match kept.or_else(picked).or_else(largest) {
        Some((at, rule, free)) => Ok(route(at, rule, &free, query)),
        None => Err(passed.error(name, now)),
    }
}

fn route(at: usize, rule: &Rule, free: &Free<'_>, query: &Query) -> Route {
    let thinking = free.level(query);
    let state = json!({
        "rule": rule.name.clone().unwrap_or_else(|| (at + 1).to_string()),
        "model": free.candidate.model.to_string(),
        "thinkingLevel": thinking.as_str(),
    });
    let news = query.reason != RouteReason::Direct && query.state.as_ref() != Some(&state);
    Route { model: free.model.clone(), thinking, state: news.then_some(state) }
}

/// Picks one of the free candidates that have room for the conversation.
fn pick<'a>(pick: Pick, free: &[Free<'a>], query: &Query) -> Option<Free<'a>> {
    let roomy: Vec<_> = free.iter().filter(|free| free.has_room(query)).collect();
    let chosen = match pick {
        Pick::First => roomy.first().copied(),
        Pick::Cheapest => {
            let thinking: Vec<_> = roomy.iter().copied().filter(|free| free.thinks_enough(query)).collect();
            let pool = if thinking.is_empty() { roomy } else { thinking };
            pool.into_iter().min_by(|a, b| a.cost(query).total_cmp(&b.cost(query)))
        }
    };
    chosen.cloned()
}

impl Passed {
    /// The candidate when it can answer now; otherwise why not is noted.
    fn take<'a>(
        &mut self,
        candidate: &'a Candidate,
        max: MaxPrice,
        query: &Query,
        physical: Physical,
        cools: Option<(FailureClass, Millis)>,
    ) -> Option<Free<'a>> {
        let name = &candidate.model;
        let model = match physical {
            Physical::Usable(model) => model,
            Physical::Unusable(why) => {
                self.reasons.push(format!("{name}: {why}"));
                return None;
            }
        };
        let above = |price: f64, max: Option<f64>| max.is_some_and(|max| price > max);
        if query.images && !model.takes_images() {
            self.reasons.push(format!("{name} takes no pictures"));
        } else if above(model.cost.input, max.input) || above(model.cost.output, max.output) {
            self.reasons.push(format!("{name} costs more than the rule's maxPrice"));
        } else if let Some((class, until)) = cools {
            self.cooling.push((name.clone(), class, until));
        } else {
            return Some(Free { candidate, model });
        }
        None
    }

    fn error(self, name: &ModelRef, now: Millis) -> RouteError {
        match self.cooling.into_iter().min_by_key(|(_, _, until)| *until) {
            Some((model, class, until)) => {
                let wait_ms = u64::try_from(until.saturating_sub(now)).unwrap_or(0);
                RouteError::Cooling { name: name.clone(), model, wait_ms, class }
            }
            None => RouteError::Nobody { name: name.clone(), reasons: self.reasons },
        }
    }
}
