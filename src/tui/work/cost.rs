//! What the session has cost, by model, and how often its prompt missed the cache.

use std::sync::Arc;

use crate::{
    protocol::{AgentMessage, AssistantMessage, Usage},
    store::{
        jsonl::{EntryKind, Role},
        tree::{Totals, TreeView},
    },
    tui::{
        cache_watch::CacheWatch,
        commands::info::tokens,
        view::numbers::{dollars, grouped},
    },
};

/// Requests whose prompt was in the cache and was paid again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misses {
    /// Requests.
    pub requests: usize,
    /// Tokens that the request before had sent, and that were not read from the cache.
    pub tokens: u64,
}

/// What `/cost` says about a session.
#[must_use]
pub fn text(tree: &TreeView) -> String {
    let totals = tree.totals();
    let answers = tree.path().into_iter().filter(|entry| entry.kind() == EntryKind::Message(Role::Assistant));
    let answers = answers.filter_map(|entry| match &entry.entry_once().body.as_message()? {
        AgentMessage::Assistant(answer) => Some(answer.clone()),
        _ => None,
    });
    told(&totals, misses(answers))
}

fn told(totals: &Totals, misses: Misses) -> String {
    let mut lines = vec![format!("Cost of the session, all branches: {}", dollars(totals.usage.cost.total))];
    let mut model = |name: &str, usage: &Usage| {
        lines.push(format!("  {name}: {}", dollars(usage.cost.total)));
        lines.push(format!("    {}", tokens(usage)));
    };
    totals.by_model.iter().for_each(|(name, usage)| model(name, usage));
    if totals.tools_and_summaries != Usage::default() {
        model("tools and summaries", &totals.tools_and_summaries);
    }
    lines.push(format!("Tokens: {}", tokens(&totals.usage)));
    if totals.usage.cache_read > 0 || misses.requests > 0 {
        lines.push(match misses.requests {
            0 => "Cache misses on this branch: none".to_owned(),
            count => format!("Cache misses on this branch: {count}, {} tokens were sent again", grouped(misses.tokens)),
        });
    }
    lines.join("\n")
}

/// Requests whose prompt was in the cache and was not read from there.
fn misses(answers: impl Iterator<Item = Arc<AssistantMessage>>) -> Misses {
    let mut watch = CacheWatch::default();
    answers.filter_map(|answer| watch.answered(&answer)).fold(Misses::default(), |misses, tokens| Misses {
        requests: misses.requests + 1,
        tokens: misses.tokens + tokens,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers in words: `MODEL:INPUT/READ/WRITE`.
    fn check(answers: &str, expected: (usize, u64)) {
        let answer = |word: &str| {
            let (model, numbers) = word.split_once(':').unwrap();
            let numbers: Vec<u64> = numbers.split('/').map(|number| number.parse().unwrap()).collect();
            let usage =
                Usage { input: numbers[0], cache_read: numbers[1], cache_write: numbers[2], ..Usage::default() };
            Arc::new(AssistantMessage { model: model.into(), usage, ..AssistantMessage::default() })
        };
        let found = misses(answers.split_whitespace().map(answer));
        assert_eq!((found.requests, found.tokens), expected, "{answers}");
    }

    #[test]
    fn a_prompt_that_was_cached_and_is_not_read_from_the_cache_is_a_miss() {
        check("a:10/0/5000 a:100/5000/50", (0, 0));
        check("a:10/0/5000 a:5100/0/0", (1, 5_010));
        check("a:10/0/5000 a:3000/2100/0", (1, 2_910));
        check("a:10/0/5000 a:5100/0/0 a:5200/0/0", (2, 5_010 + 5_100));
    }

    #[test]
    fn the_text_names_models_sums_and_misses() {
        let mut usage = Usage { input: 100, output: 5, cache_read: 300, ..Usage::default() };
        usage.cost.total = 0.5;
        let totals = Totals { usage, by_model: vec![("p/m".into(), usage)], ..Totals::default() };
        assert_eq!(
            told(&totals, Misses { requests: 2, tokens: 12_000 }),
            "Cost of the session, all branches: $0.500\n  p/m: $0.500\n    \
             100 input, 5 output, 300 read from the cache (75.0% cache hits)\n\
             Tokens: 100 input, 5 output, 300 read from the cache (75.0% cache hits)\n\
             Cache misses on this branch: 2, 12,000 tokens were sent again"
        );
    }
}
