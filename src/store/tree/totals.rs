//! Tokens and cost of a session, over all branches.

use std::{borrow::Cow, sync::PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{EntryRef, TreeView};
use crate::{
    protocol::Usage,
    store::jsonl::{EntryKind, Role},
};

/// Sums over all entries of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Everything.
    pub usage: Usage,
    /// By model, in the order in which they came: `provider/model`, where the model is the one that answered.
    pub by_model: Vec<(String, Usage)>,
    /// Spent by tools, compactions and branch summaries.
    pub tools_and_summaries: Usage,
    /// Messages of users.
    pub user_messages: usize,
    /// Answers.
    pub assistant_messages: usize,
    /// Calls of tools in the answers.
    pub tool_calls: usize,
    /// Results of tools.
    pub tool_results: usize,
    /// All messages.
    pub messages: usize,
}

impl TreeView {
    /// The sums over all entries. What was summed once is not summed again: a call costs time in what was added since
    /// the last one.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let (mut known, mut totals) = {
            let carried = self.log.totals.lock().unwrap_or_else(PoisonError::into_inner);
            // An older view than the one that asked last.
            if carried.0 <= self.len() { carried.clone() } else { Default::default() }
        };
        for entry in self.entries_from(known) {
            totals.add(&entry);
        }
        known = self.len();
        let mut carried = self.log.totals.lock().unwrap_or_else(PoisonError::into_inner);
        if carried.0 < known {
            *carried = (known, totals.clone());
        }
        totals
    }
}

impl Totals {
    fn add(&mut self, entry: &EntryRef<'_>) {
        if let EntryKind::Message(role) = entry.kind() {
            self.messages += 1;
            match role {
                Role::User => self.user_messages += 1,
                Role::Assistant => self.assistant_messages += 1,
                Role::ToolResult => self.tool_results += 1,
                _ => {}
            }
        }
        if !spends(entry.kind()) {
            return;
        }
        // Only the numbers are read: content of megabytes is skipped, and not kept.
        let Ok(line) = entry.text() else { return };
        let Some(spent) = spent(entry.kind(), &line) else { return };
        self.tool_calls += spent.tool_calls;
        let Some(usage) = spent.usage else { return };
        self.usage.add(&usage);
        match spent.model {
            None => self.tools_and_summaries.add(&usage),
            Some(model) => match self.by_model.iter_mut().find(|(known, _)| *known == model) {
                Some((_, sum)) => sum.add(&usage),
                None => self.by_model.push((model, usage)),
            },
        }
    }
}

fn spends(kind: EntryKind) -> bool {
    matches!(
        kind,
        EntryKind::Message(Role::Assistant | Role::ToolResult)
            | EntryKind::Usage
            | EntryKind::Compaction
            | EntryKind::BranchSummary
    )
}

/// What an entry adds to the sums.
struct Spent {
    usage: Option<Usage>,
    /// The model that it is counted for; none for tools and summaries.
    model: Option<String>,
    tool_calls: usize,
}

fn spent(kind: EntryKind, line: &str) -> Option<Spent> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        message: Spender<'a>,
    }
    let (spender, of_a_model) = match kind {
        EntryKind::Message(role) => {
            let Message { message } = serde_json::from_str(line).ok()?;
            (message, role == Role::Assistant)
        }
        _ => (serde_json::from_str::<Spender<'_>>(line).ok()?, kind == EntryKind::Usage),
    };
    Some(Spent {
        model: of_a_model.then(|| spender.model()),
        tool_calls: if of_a_model { spender.tool_calls() } else { 0 },
        usage: spender.usage,
    })
}

/// The fields that tell who spent how much.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spender<'a> {
    usage: Option<Usage>,
    #[serde(borrow, default)]
    provider: Cow<'a, str>,
    #[serde(borrow, default)]
    model: Cow<'a, str>,
    #[serde(default)]
    response_model: Option<String>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

impl Spender<'_> {
    fn model(&self) -> String {
        format!("{}/{}", self.provider, self.response_model.as_deref().unwrap_or(&self.model))
    }

    fn tool_calls(&self) -> usize {
        #[derive(Deserialize)]
        struct Block<'a> {
            #[serde(borrow, rename = "type")]
            kind: Cow<'a, str>,
        }
        // Content that is a plain text, or damaged, calls nothing.
        let blocks = self.content.and_then(|raw| serde_json::from_str::<Vec<Block<'_>>>(raw.get()).ok());
        blocks.map_or(0, |blocks| blocks.iter().filter(|block| block.kind == "toolCall").count())
    }
}
