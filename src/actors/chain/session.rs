//! What extensions say before the session's history is compacted, and before its conversation goes elsewhere.

use super::{Asking, Chain, Walked, failure, put};
use crate::protocol::{
    ask::{Ask, AskPoint, Verdict},
    compaction::{BeforeCompactAsk, BeforeCompactVerdict, CompactionDraft},
    navigation::{BeforeTreeAsk, BeforeTreeVerdict, TreeChanges},
};

impl Chain {
    /// Asks about a compaction. The last replacement counts, and a cancellation ends the chain; whoever gives no answer,
    /// or a replacement that `check` refuses, is passed over.
    pub async fn before_compact(
        &self,
        by: &Asking,
        ask: BeforeCompactAsk,
        check: impl Fn(&CompactionDraft) -> Result<(), String>,
    ) -> Walked<BeforeCompactVerdict> {
        let mut failures = Vec::new();
        let mut value = BeforeCompactVerdict::Continue;
        for link in self.at(AskPoint::BeforeCompact) {
            match put(link, by, Ask::BeforeCompact(Box::new(ask.clone()))).await {
                Ok(Verdict::BeforeCompact(BeforeCompactVerdict::Continue)) => {}
                Ok(Verdict::BeforeCompact(BeforeCompactVerdict::Cancel)) => {
                    return Walked { value: BeforeCompactVerdict::Cancel, failures };
                }
                Ok(Verdict::BeforeCompact(BeforeCompactVerdict::Replace(draft))) => match check(&draft) {
                    Ok(()) => value = BeforeCompactVerdict::Replace(draft),
                    Err(why) => failures
                        .push((link.extension.name().to_owned(), format!("its compaction was not taken: {why}"))),
                },
                other => failures.push(failure(link, other)),
            }
        }
        Walked { value, failures }
    }

    /// Asks about a move of the conversation. Each sees the instructions and the name that the one before wants; a
    /// cancellation ends the chain, and whoever gives no answer is passed over.
    pub async fn before_tree(&self, by: &Asking, mut ask: BeforeTreeAsk) -> Walked<BeforeTreeVerdict> {
        let mut failures = Vec::new();
        let mut changes = TreeChanges::default();
        for link in self.at(AskPoint::BeforeTree) {
            match put(link, by, Ask::BeforeTree(Box::new(ask.clone()))).await {
                Ok(Verdict::BeforeTree(BeforeTreeVerdict::Cancel)) => {
                    return Walked { value: BeforeTreeVerdict::Cancel, failures };
                }
                Ok(Verdict::BeforeTree(BeforeTreeVerdict::Continue(wanted))) => {
                    changes = TreeChanges {
                        summary: wanted.summary.or(changes.summary),
                        custom_instructions: wanted.custom_instructions.or(changes.custom_instructions),
                        replace_instructions: wanted.replace_instructions.or(changes.replace_instructions),
                        label: wanted.label.or(changes.label),
                    };
                    ask.ask = ask.ask.changed(&changes);
                }
                other => failures.push(failure(link, other)),
            }
        }
        Walked { value: BeforeTreeVerdict::Continue(changes), failures }
    }
}
