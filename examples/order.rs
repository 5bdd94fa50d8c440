//! Troupe with an extension that is asked wherever it can be, changes nothing, and writes down what it is asked and
//! shown, in order.
//!
//! ```text
//! cargo run --example order -- --order /tmp/order.txt --model troupe/offline -p "read README.md"
//! ```
//!
//! With `--refuse TOOL` it denies calls of that tool.

use std::{
    fs::OpenOptions,
    io::Write,
    path::Path,
    process::ExitCode,
    sync::{Arc, Mutex, OnceLock},
};

use troupe::{
    cli,
    extensions::{
        AgentHandle, Control, Extension, ExtensionRegistry, Observed,
        contract::{Answer, Resources},
        flags::{FlagDeclaration, FlagValue},
    },
    protocol::{
        Event,
        ask::{
            AskPoint, BeforeAgentStartAsk, BeforeAgentStartVerdict, BeforeRequestAsk, BeforeRequestVerdict,
            BeforeSettleAsk, BeforeSettleVerdict, ContextAsk, ContextVerdict, InputAsk, InputVerdict, PayloadAsk,
            PayloadVerdict, ToolCallAsk, ToolCallVerdict, ToolResultAsk, ToolResultVerdict,
        },
        session_change::SessionShutdownAsk,
    },
};

#[derive(Default)]
struct Order {
    control: OnceLock<Control>,
    /// What came before the flags were known.
    early: Mutex<Vec<String>>,
}

impl Order {
    fn note(&self, line: impl Into<String>) {
        let mut early = self.early.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        early.push(line.into());
        let Some(FlagValue::Text(file)) = self.control.get().and_then(|control| control.flag("order")) else { return };
        let Ok(mut file) = OpenOptions::new().append(true).create(true).open(file) else { return };
        for line in early.drain(..) {
            // A file that cannot be written is no reason to hold up the agent.
            let _ = writeln!(file, "{line}");
        }
    }

    fn asked<'a, T: Default + Send + 'a>(&self, line: impl Into<String>) -> Answer<'a, T> {
        self.note(line);
        Box::pin(std::future::ready(Ok(T::default())))
    }

    fn denies(&self, tool: &str) -> bool {
        self.control.get().and_then(|control| control.flag("refuse")) == Some(FlagValue::Text(tool.to_owned()))
    }
}

impl Extension for Order {
    fn name(&self) -> &str {
        "order"
    }

    fn flags(&self) -> Vec<FlagDeclaration> {
        vec![
            FlagDeclaration::text("order", "The file that the order is written to", None),
            FlagDeclaration::text("refuse", "A tool whose calls are denied", None),
        ]
    }

    fn points(&self) -> &[AskPoint] {
        &[
            AskPoint::Input,
            AskPoint::BeforeAgentStart,
            AskPoint::Context,
            AskPoint::BeforeRequest,
            AskPoint::Payload,
            AskPoint::ToolCall,
            AskPoint::ToolResult,
            AskPoint::BeforeSettle,
            AskPoint::SessionShutdown,
        ]
    }

    fn observes(&self) -> bool {
        true
    }

    fn start(&self, control: &Control) {
        // A second start of the actor changes nothing.
        let _ = self.control.set(control.clone());
        self.note("start");
    }

    fn resources(&self, _: &Path) -> Resources {
        self.note("resources");
        Resources::default()
    }

    fn observe<'a>(&'a self, observed: Observed, _: AgentHandle) -> Answer<'a, ()> {
        for published in &observed.events {
            match &published.event {
                Event::SessionStart { .. } => self.note("session_start"),
                Event::AgentStart => self.note("agent_start"),
                Event::TurnStart => self.note("turn_start"),
                Event::MessageStart { message } => self.note(format!("message_start {}", message.role())),
                Event::MessageEnd { message, .. } => self.note(format!("message_end {}", message.role())),
                Event::ToolExecutionStart { call } => self.note(format!("tool_execution_start {}", call.tool_name)),
                Event::ToolExecutionEnd { call, .. } => self.note(format!("tool_execution_end {}", call.tool_name)),
                Event::ProviderResponse { status, .. } => self.note(format!("provider_response {status}")),
                Event::TurnEnd { .. } => self.note("turn_end"),
                Event::AgentEnd { .. } => self.note("agent_end"),
                Event::AgentSettled { .. } => self.note("agent_settled"),
                _ => {}
            }
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn input<'a>(&'a self, _: InputAsk, _: AgentHandle) -> Answer<'a, InputVerdict> {
        self.asked("input")
    }

    fn before_agent_start<'a>(&'a self, _: BeforeAgentStartAsk, _: AgentHandle) -> Answer<'a, BeforeAgentStartVerdict> {
        self.asked("before_agent_start")
    }

    fn context<'a>(&'a self, _: ContextAsk, _: AgentHandle) -> Answer<'a, ContextVerdict> {
        self.asked("context")
    }

    fn before_request<'a>(&'a self, _: BeforeRequestAsk, _: AgentHandle) -> Answer<'a, BeforeRequestVerdict> {
        self.asked("before_request")
    }

    fn payload<'a>(&'a self, _: PayloadAsk, _: AgentHandle) -> Answer<'a, PayloadVerdict> {
        self.asked("payload")
    }

    fn tool_call<'a>(&'a self, ask: ToolCallAsk, _: AgentHandle) -> Answer<'a, ToolCallVerdict> {
        if !self.denies(&ask.tool_name) {
            return self.asked(format!("tool_call {}", ask.tool_name));
        }
        self.note(format!("tool_call {} denied", ask.tool_name));
        let verdict = ToolCallVerdict::Deny { reason: "Not this one.".to_owned(), terminate: false };
        Box::pin(std::future::ready(Ok(verdict)))
    }

    fn tool_result<'a>(&'a self, ask: ToolResultAsk, _: AgentHandle) -> Answer<'a, ToolResultVerdict> {
        self.asked(format!("tool_result {}", ask.tool_name))
    }

    fn before_settle<'a>(&'a self, _: BeforeSettleAsk, _: AgentHandle) -> Answer<'a, BeforeSettleVerdict> {
        self.asked("before_settle")
    }

    fn session_shutdown<'a>(&'a self, _: SessionShutdownAsk, _: AgentHandle) -> Answer<'a, ()> {
        self.asked("session_shutdown")
    }
}

fn main() -> ExitCode {
    let mut extensions = ExtensionRegistry::default();
    if let Err(error) = extensions.register(Arc::new(Order::default())) {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    cli::run::main_with(extensions)
}
