//! The worker that puts one of the loop's own questions to the extensions.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::{
    address::Recipient,
    chain::Asking,
    shared::AgentShared,
    turn_io::{Input, Work},
};
use crate::{
    protocol::{
        EntryBody,
        ask::{Ask, Verdict},
    },
    store::tree::TreeView,
};

/// What the worker needs.
pub struct AskWork {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// Who asks.
    pub asking: Asking,
    /// The question.
    pub ask: Ask,
    /// The loop that waits.
    pub to: Recipient<Input>,
    /// The work that it waits for.
    pub work: Work,
}

/// The worker.
pub struct Asker;

impl Actor for Asker {
    type Msg = AskWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<AskWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, myself: ActorRef<AskWork>, work: AskWork, (): &mut ()) -> Result<(), ActorProcessingErr> {
        let AskWork { shared, asking, ask, to, work } = work;
        let point = ask.point();
        let tree = shared.tree();
        let check = |drafts: &[EntryBody]| match &tree {
            Some(tree) => tree.check_drafts(drafts).map_err(|fault| fault.to_string()),
            None => Ok(()),
        };
        let walked = shared.config.chain.boundary(&asking, ask, &check).await;
        shared.report_failures(point, walked.failures);
        let mut verdict = walked.value;
        if let Some(entries) = verdict.as_mut().and_then(entries_of) {
            entries.iter_mut().for_each(|entry| complete(entry, tree.as_ref()));
        }
        // When the loop is gone, so is this worker: its death is under way.
        let _ = to.deliver(Input::Asked { work, verdict });
        myself.stop(None);
        Ok(())
    }
}

fn entries_of(verdict: &mut Verdict) -> Option<&mut Vec<EntryBody>> {
    match verdict {
        Verdict::TurnEnd(verdict) => verdict.entries.as_mut(),
        Verdict::BeforeSettle(verdict) => verdict.entries.as_mut(),
        _ => None,
    }
}

/// What an extension does not say of a compaction: that it is its own, and how long the context is before it.
fn complete(entry: &mut EntryBody, tree: Option<&TreeView>) {
    if let EntryBody::Compaction { from_hook, tokens_before, .. } = entry {
        *from_hook = Some(true);
        *tokens_before = tree.map_or(0, TreeView::context_tokens);
    }
}
