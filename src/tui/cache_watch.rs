//! Whether prompts are read from the provider's cache.

use crate::{
    protocol::{AgentMessage, AssistantMessage, Usage},
    store::{
        jsonl::{EntryKind, Role},
        tree::TreeView,
    },
};

/// Tokens below which nobody's cache keeps a prompt.
const SMALLEST: u64 = 1_024;
/// Answers of a session that are looked at to know whether its provider has a cache.
const LOOKED_AT: usize = 2;

/// What is known from the answers so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheWatch {
    /// Provider, model, and tokens of the last prompt.
    last: Option<(String, String, u64)>,
    /// The provider uses a cache for that model.
    has_cache: bool,
}

impl CacheWatch {
    /// What the last answers of a session say. Reads them.
    #[must_use]
    pub fn of(tree: &TreeView) -> Self {
        let answers = tree.ancestors().filter(|entry| entry.kind() == EntryKind::Message(Role::Assistant));
        let entries: Vec<_> = answers.take(LOOKED_AT).map(|entry| entry.entry_once()).collect();
        let mut watch = Self::default();
        for entry in entries.iter().rev() {
            if let Some(AgentMessage::Assistant(answer)) = entry.body.as_message() {
                watch.answered(answer);
            }
        }
        watch
    }

    /// Takes the next answer. Gives the tokens that the prompt before had sent and that were not read from the cache,
    /// when that is more than half of them.
    pub fn answered(&mut self, answer: &AssistantMessage) -> Option<u64> {
        if answer.is_failed() {
            return None;
        }
        let usage = &answer.usage;
        let before =
            self.last.take().filter(|(provider, model, _)| (provider, model) == (&answer.provider, &answer.model));
        let had_cache = self.has_cache && before.is_some();
        self.has_cache = had_cache || usage.cache_read + usage.cache_write > 0;
        self.last = Some((answer.provider.clone(), answer.model.clone(), prompt(usage)));
        let (_, _, sent) = before?;
        let is_miss = had_cache && sent >= SMALLEST && usage.cache_read < sent / 2;
        is_miss.then(|| sent - usage.cache_read)
    }
}

fn prompt(usage: &Usage) -> u64 {
    usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers in words, `MODEL:INPUT/READ/WRITE`, and what is said of the last.
    fn check(answers: &str, expected: Option<u64>) {
        let mut watch = CacheWatch::default();
        let mut last = None;
        for word in answers.split_whitespace() {
            let (model, numbers) = word.split_once(':').unwrap();
            let numbers: Vec<u64> = numbers.split('/').map(|number| number.parse().unwrap()).collect();
            let usage =
                Usage { input: numbers[0], cache_read: numbers[1], cache_write: numbers[2], ..Usage::default() };
            last = watch.answered(&AssistantMessage { model: model.into(), usage, ..AssistantMessage::default() });
        }
        assert_eq!(last, expected, "{answers}");
    }

    #[test]
    fn a_prompt_that_was_cached_and_is_sent_again_is_a_miss() {
        check("a:10/0/5000", None);
        check("a:10/0/5000 a:100/5000/50", None);
        check("a:10/0/5000 a:5100/0/0", Some(5_010));
        check("a:10/0/5000 a:3000/2100/0", Some(2_910));
        // Another model has another cache.
        check("a:10/0/5000 b:5100/0/0", None);
        check("a:10/0/5000 b:5100/0/0 a:5200/0/0", None);
        // A provider that has no cache misses nothing.
        check("a:5000/0/0 a:6000/0/0", None);
        // Too small to be kept.
        check("a:10/0/900 a:1000/0/0", None);
    }
}
