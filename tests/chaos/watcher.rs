//! The extension of the script: it is asked at every point, takes a moment each time, and changes nothing.

use std::time::Duration;

use tokio::time::sleep;
use troupe::{
    extensions::{AgentHandle, Extension, Observed, contract::Answer},
    protocol::{
        ask::{
            AskPoint, BeforeAgentStartAsk, BeforeAgentStartVerdict, BeforeRequestAsk, BeforeRequestVerdict,
            BeforeSettleAsk, BeforeSettleVerdict, BeforeTurnAsk, BeforeTurnVerdict, ContextAsk, ContextVerdict,
            InputAsk, InputVerdict, MessageEndAsk, MessageEndVerdict, ToolCallAsk, ToolCallVerdict, ToolResultAsk,
            ToolResultVerdict, TurnEndAsk, TurnEndVerdict, UserBashAsk, UserBashVerdict,
        },
        command::BashResult,
    },
};

/// How long an answer takes.
const MOMENT: Duration = Duration::from_millis(200);

/// The extension.
pub struct Watcher {
    /// It also sees all events and every message before it is stored. Without, storing takes no time at all.
    pub curious: bool,
}

/// All points; the last only for a curious one.
const POINTS: [AskPoint; 11] = [
    AskPoint::Input,
    AskPoint::UserBash,
    AskPoint::BeforeAgentStart,
    AskPoint::BeforeTurn,
    AskPoint::Context,
    AskPoint::BeforeRequest,
    AskPoint::ToolCall,
    AskPoint::ToolResult,
    AskPoint::TurnEnd,
    AskPoint::BeforeSettle,
    AskPoint::MessageEnd,
];

fn after_a_moment<'a, T: Send + 'a>(value: T) -> Answer<'a, T> {
    Box::pin(async move {
        sleep(MOMENT).await;
        Ok(value)
    })
}

impl Extension for Watcher {
    fn name(&self) -> &str {
        "watcher"
    }

    fn points(&self) -> &[AskPoint] {
        if self.curious { &POINTS } else { &POINTS[..10] }
    }

    fn observes(&self) -> bool {
        self.curious
    }

    fn deadline(&self, _: AskPoint) -> Duration {
        Duration::from_secs(60)
    }

    fn observe<'a>(&'a self, _: Observed, _: AgentHandle) -> Answer<'a, ()> {
        after_a_moment(())
    }

    fn input<'a>(&'a self, _: InputAsk, _: AgentHandle) -> Answer<'a, InputVerdict> {
        after_a_moment(InputVerdict::Continue)
    }

    /// Stands in for the shell, so that no process runs beside the virtual clock.
    fn user_bash<'a>(&'a self, ask: UserBashAsk, _: AgentHandle) -> Answer<'a, UserBashVerdict> {
        let output = format!("output of {}", ask.command);
        after_a_moment(UserBashVerdict::Result(BashResult { output, exit_code: Some(0), ..BashResult::default() }))
    }

    fn before_agent_start<'a>(&'a self, _: BeforeAgentStartAsk, _: AgentHandle) -> Answer<'a, BeforeAgentStartVerdict> {
        after_a_moment(BeforeAgentStartVerdict::default())
    }

    fn before_turn<'a>(&'a self, _: BeforeTurnAsk, _: AgentHandle) -> Answer<'a, BeforeTurnVerdict> {
        after_a_moment(BeforeTurnVerdict::default())
    }

    fn context<'a>(&'a self, _: ContextAsk, _: AgentHandle) -> Answer<'a, ContextVerdict> {
        after_a_moment(ContextVerdict::default())
    }

    fn before_request<'a>(&'a self, _: BeforeRequestAsk, _: AgentHandle) -> Answer<'a, BeforeRequestVerdict> {
        after_a_moment(BeforeRequestVerdict::default())
    }

    fn message_end<'a>(&'a self, _: MessageEndAsk, _: AgentHandle) -> Answer<'a, MessageEndVerdict> {
        after_a_moment(MessageEndVerdict::default())
    }

    fn tool_call<'a>(&'a self, _: ToolCallAsk, _: AgentHandle) -> Answer<'a, ToolCallVerdict> {
        after_a_moment(ToolCallVerdict::default())
    }

    fn tool_result<'a>(&'a self, _: ToolResultAsk, _: AgentHandle) -> Answer<'a, ToolResultVerdict> {
        after_a_moment(ToolResultVerdict::default())
    }

    fn turn_end<'a>(&'a self, _: TurnEndAsk, _: AgentHandle) -> Answer<'a, TurnEndVerdict> {
        after_a_moment(TurnEndVerdict::default())
    }

    fn before_settle<'a>(&'a self, _: BeforeSettleAsk, _: AgentHandle) -> Answer<'a, BeforeSettleVerdict> {
        after_a_moment(BeforeSettleVerdict::default())
    }
}
