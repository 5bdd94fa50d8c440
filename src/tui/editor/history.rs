//! The prompts that were sent.

use std::collections::VecDeque;

use super::Fragment;

/// Prompts that are kept.
pub const MAX_HISTORY: usize = 100;

/// The prompts that were sent, and which of them is looked at.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The latest first.
    prompts: VecDeque<String>,
    looking: Option<Looking>,
}

/// A prompt of the history is in the editor.
#[derive(Clone, Debug)]
struct Looking {
    /// Which.
    at: usize,
    /// What was being written before.
    draft: Fragment,
}

impl History {
    /// Adds a prompt that was sent; not when it is empty or the same as the latest.
    pub fn push(&mut self, prompt: &str) {
        let prompt = prompt.trim();
        if prompt.is_empty() || self.prompts.front().is_some_and(|latest| latest == prompt) {
            return;
        }
        self.prompts.push_front(prompt.to_owned());
        self.prompts.truncate(MAX_HISTORY);
    }

    /// The prompts, the latest first.
    pub fn prompts(&self) -> impl Iterator<Item = &str> {
        self.prompts.iter().map(String::as_str)
    }

    /// The prompts that hold `query`, the latest first, each once. Without capital letters in `query` case does not
    /// matter. An empty one finds nothing.
    pub fn search<'a>(&'a self, query: &str) -> Vec<&'a str> {
        let ignores_case = !query.chars().any(char::is_uppercase);
        let holds = |prompt: &str| match ignores_case {
            true => prompt.to_lowercase().contains(query),
            false => prompt.contains(query),
        };
        let mut found: Vec<&str> = Vec::new();
        for prompt in self.prompts().filter(|prompt| !query.is_empty() && holds(prompt)) {
            if !found.contains(&prompt) {
                found.push(prompt);
            }
        }
        found
    }

    /// Whether a prompt is looked at.
    #[must_use]
    pub fn is_looking(&self) -> bool {
        self.looking.is_some()
    }

    /// The next older prompt. `draft`: what is in the editor, for the way back.
    pub fn older(&mut self, draft: impl FnOnce() -> Fragment) -> Option<Fragment> {
        let at = self.looking.as_ref().map_or(0, |looking| looking.at + 1);
        let prompt = Fragment::from(self.prompts.get(at)?.as_str());
        match &mut self.looking {
            Some(looking) => looking.at = at,
            None => self.looking = Some(Looking { at, draft: draft() }),
        }
        Some(prompt)
    }

    /// The next newer prompt, or the draft behind the newest.
    pub fn newer(&mut self) -> Option<Fragment> {
        let looking = self.looking.as_mut()?;
        match looking.at.checked_sub(1) {
            Some(at) => {
                looking.at = at;
                self.prompts.get(at).map(|prompt| Fragment::from(prompt.as_str()))
            }
            None => self.looking.take().map(|looking| looking.draft),
        }
    }

    /// What is in the editor is the draft now.
    pub fn leave(&mut self) {
        self.looking = None;
    }
}
