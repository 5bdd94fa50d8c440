//! What was said, apart from any wire, and what a request may say of it.

use serde_json::Value;

use crate::wires::Wire;

/// A picture of one pixel.
pub const PICTURE: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0, 1, 8,
    0, 0, 0, 0, 0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 0x0a, b'I', b'D', b'A', b'T', 0x78, 0x9c, 0x63, 0x60, 0, 0, 0, 2, 0,
    1, 0x48, 0xaf, 0xa4, 0x71, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

/// What a model says in one answer.
pub struct Said {
    /// Its reasoning.
    pub thinking: Option<String>,
    /// Its text.
    pub text: String,
    /// Its calls: id, tool, arguments.
    pub calls: Vec<(String, String, Value)>,
}

impl Said {
    pub fn text(text: String) -> Self {
        Self { thinking: None, text, calls: Vec::new() }
    }

    /// The turn that a later request must hold.
    pub fn as_turn(&self, api: &str) -> Turn {
        let calls = self.calls.iter().map(|(id, name, arguments)| Call {
            id: id.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
        });
        let thinking = self.thinking.iter().map(|text| Thought { text: text.clone(), by: api.to_owned() }).collect();
        Turn::Assistant { thinking, text: self.text.clone(), calls: calls.collect() }
    }
}

/// Reasoning, and the API whose model it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Thought {
    pub text: String,
    pub by: String,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub id: String,
    pub name: String,
    pub arguments: Value,
}

/// A tool's result.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    pub id: String,
    pub text: String,
    pub images: usize,
}

/// A turn of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    User { text: String, images: usize },
    Assistant { thinking: Vec<Thought>, text: String, calls: Vec<Call> },
    Results(Vec<CallResult>),
}

/// The conversation so far, as the servers know it.
#[derive(Default)]
pub struct Transcript(Vec<Turn>);

impl Transcript {
    pub fn push(&mut self, turn: Turn) {
        self.0.push(turn);
    }

    /// What is wrong with a request that should hold all of this.
    pub fn compare<'a>(&'a self, wire: &'a dyn Wire, asked: &'a [Turn]) -> impl Iterator<Item = String> + 'a {
        let count = (asked.len() != self.0.len())
            .then(|| format!("{} turns instead of {}: {asked:#?}", asked.len(), self.0.len()));
        let turns = self.0.iter().zip(asked).enumerate().filter_map(|(place, (expected, found))| {
            let expected = as_seen(expected, wire);
            let found = without_ids(found);
            (expected != found).then(|| format!("turn {place}: expected {expected:?}, found {found:?}"))
        });
        count.into_iter().chain(turns).chain(ids(wire, asked))
    }
}

/// A turn as a request to `wire` must show it: thoughts of others are not its business.
fn as_seen(turn: &Turn, wire: &dyn Wire) -> Turn {
    let mut turn = without_ids(turn);
    if let Turn::Assistant { thinking, .. } = &mut turn {
        thinking.retain(|thought| thought.by == wire.api());
    }
    turn
}

fn without_ids(turn: &Turn) -> Turn {
    let mut turn = turn.clone();
    match &mut turn {
        Turn::User { .. } => {}
        Turn::Assistant { calls, .. } => calls.iter_mut().for_each(|call| call.id.clear()),
        Turn::Results(results) => results.iter_mut().for_each(|result| result.id.clear()),
    }
    turn
}

/// Every call has one result, in the next turn and in the same order, and every id is one that the API takes.
fn ids<'a>(wire: &'a dyn Wire, asked: &'a [Turn]) -> impl Iterator<Item = String> + 'a {
    let pairs = asked.iter().enumerate().filter_map(|(place, turn)| match turn {
        Turn::Assistant { calls, .. } if !calls.is_empty() => {
            let called: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
            let answered: Vec<&str> = match asked.get(place + 1) {
                Some(Turn::Results(results)) => results.iter().map(|result| result.id.as_str()).collect(),
                _ => Vec::new(),
            };
            (called != answered).then(|| format!("turn {place}: calls {called:?} have the results {answered:?}"))
        }
        _ => None,
    });
    let all = asked.iter().flat_map(|turn| match turn {
        Turn::Assistant { calls, .. } => calls.iter().map(|call| call.id.as_str()).collect(),
        _ => Vec::new(),
    });
    let mut seen = std::collections::HashSet::new();
    let odd = all.filter_map(move |id| match (wire.is_call_id(id), seen.insert(id)) {
        (true, true) => None,
        (false, _) => Some(format!("\"{id}\" is no id for a call")),
        (true, false) => Some(format!("two calls have the id \"{id}\"")),
    });
    pairs.chain(odd)
}
