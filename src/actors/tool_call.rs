//! The worker that runs one tool call. Its death is the call's: a kill drops the tool's future and with it everything
//! that the tool holds, process groups included.

use std::{sync::Arc, time::Instant};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tracing::{Instrument, Span, field::Empty};

use super::{address::Addr, chain::Chain, shared::AgentShared, tool_batch::BatchMsg};
use crate::{
    protocol::ask::{AskPoint, ToolResultAsk},
    tools::{Tool, ToolContext},
};

/// What the worker needs.
pub struct ToolWork {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// What it may use.
    pub context: ToolContext,
    /// Extensions that see the result.
    pub chain: Chain,
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// The call's place.
    pub place: usize,
    /// Who waits.
    pub batch: Addr<BatchMsg>,
    /// The span of the turn.
    pub span: Span,
}

/// The worker.
pub struct ToolCallWorker;

impl Actor for ToolCallWorker {
    type Msg = ToolWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<ToolWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, myself: ActorRef<ToolWork>, work: ToolWork, (): &mut ()) -> Result<(), ActorProcessingErr> {
        let parent = &work.span;
        let span = tracing::info_span!(
            parent: parent, "tool", tool = work.tool.declaration().name, place = work.place,
            call = work.context.tool_call_id, failed = Empty,
        );
        run(work).instrument(span).await;
        myself.stop(None);
        Ok(())
    }
}

async fn run(work: ToolWork) {
    let ToolWork { tool, context, chain, shared, place, batch, .. } = work;
    let begun = Instant::now();
    let asks = chain.has(AskPoint::ToolResult).then(|| (context.tool_call_id.clone(), context.arguments.clone()));
    let mut output = tool.execute(context).await;
    if let Some((tool_call_id, input)) = asks {
        let ask = ToolResultAsk { tool_name: tool.declaration().name.clone(), tool_call_id, input, output };
        let walked = chain.tool_result(&shared.asking(), ask).await;
        shared.report_failures(AskPoint::ToolResult, walked.failures);
        output = walked.value;
    }
    Span::current().record("failed", output.is_error);
    let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    batch.tell(BatchMsg::Finished { place, output: Box::new(output), duration_ms });
}
