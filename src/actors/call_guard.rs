//! The worker that has guards decide about one tool call.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use serde_json::json;

use super::{
    address::Addr,
    chain::{Asking, Chain},
    tool_batch::BatchMsg,
};
use crate::{
    protocol::{
        ToolCall, ToolOutput,
        ask::{ToolCallAsk, ToolCallVerdict},
    },
    tools::{self, Tool},
};

/// What the worker needs.
pub struct GuardWork {
    /// The guards.
    pub chain: Chain,
    /// Who asks.
    pub asking: Asking,
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// The call, with validated arguments.
    pub call: ToolCall,
    /// Its place.
    pub place: usize,
    /// Who waits.
    pub batch: Addr<BatchMsg>,
}

/// The worker.
pub struct CallGuard;

impl Actor for CallGuard {
    type Msg = GuardWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<GuardWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<GuardWork>,
        work: GuardWork,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let GuardWork { chain, asking, tool, call, place, batch } = work;
        let ask = ToolCallAsk {
            agent: asking.agent.clone(),
            tool_name: call.name.clone(),
            tool_call_id: call.id.clone(),
            input: call.arguments.clone(),
        };
        let result = match chain.tool_call(&asking, ask).await {
            ToolCallVerdict::Allow { input: None } => Ok(call.arguments),
            // A guard that rewrites a call must not be able to produce an invalid one.
            ToolCallVerdict::Allow { input: Some(input) } => {
                tools::validate(&*tool, &ToolCall { arguments: input, ..call })
                    .map_err(|failure| Box::new(failure.into()))
            }
            ToolCallVerdict::Deny { reason, terminate } => {
                let reason = if reason.is_empty() { "Tool execution was blocked".to_owned() } else { reason };
                // Whoever reads the record sees that it was no failure of the tool.
                let details = Some(json!({"denied": true}));
                Err(Box::new(ToolOutput { terminate, details, ..ToolOutput::error(reason) }))
            }
        };
        batch.tell(BatchMsg::Guarded { place, result });
        myself.stop(None);
        Ok(())
    }
}
