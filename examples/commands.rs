//! Troupe with an extension that acts: a slash command that asks people, a tool that it brings along, a message that it
//! puts into the conversation, and a flag.
//!
//! ```text
//! cargo run --example commands -- --mode rpc --team red
//! {"type":"prompt","message":"/standup"}
//! ```
//!
//! `/standup` asks what was done, gives the model a tool for the team's calendar, and has it write the report. In print
//! mode nobody can be asked: the command says so, and does nothing. `/fresh` begins a new session. Before another session
//! takes the place of one with a report, it asks.

use std::{
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::json;
use troupe::{
    cli,
    extensions::{
        AgentHandle, Extension, ExtensionError, ExtensionRegistry,
        commands::{CommandCall, CommandDeclaration},
        contract::Answer,
        control::MessageToSend,
        flags::{FlagDeclaration, FlagValue},
    },
    protocol::{
        Block, Content, ToolDeclaration, ToolOutput,
        ask::AskPoint,
        command::DeliverAs,
        event::NoticeLevel,
        session_change::{BeforeSwitchAsk, ReplaceVerdict, SessionChange},
    },
    tools::{BoxFuture, Tool, ToolContext},
};

/// The tool: what is in the team's calendar.
struct Calendar {
    declaration: ToolDeclaration,
    team: String,
}

impl Calendar {
    fn of(team: String) -> Self {
        let declaration = ToolDeclaration {
            name: "calendar".into(),
            description: "Says what the team meets for today.".into(),
            parameters: json!({"type": "object", "properties": {}}),
            ..ToolDeclaration::default()
        };
        Self { declaration, team }
    }
}

impl Tool for Calendar {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn execute(&self, _: ToolContext) -> BoxFuture<'_, ToolOutput> {
        let text = format!("10:00 planning of the team {}", self.team);
        let output = ToolOutput { content: vec![Block::text(text)], ..ToolOutput::default() };
        Box::pin(std::future::ready(output))
    }
}

/// Whether the session has a report.
#[derive(Default)]
struct Standup(AtomicBool);

impl Standup {
    /// A new session. The handle of the old one is stale then.
    async fn fresh(&self, agent: AgentHandle) -> Result<(), ExtensionError> {
        let new = agent.change_session(SessionChange::New { parent_session: None }).await;
        if let Some(agent) = new.map_err(|error| ExtensionError(error.to_string()))? {
            agent.ui().notify("A new session.", NoticeLevel::Info);
        }
        Ok(())
    }

    async fn report(&self, agent: AgentHandle) -> Result<(), ExtensionError> {
        let failed = |error: &dyn std::fmt::Display| ExtensionError(error.to_string());
        let ui = agent.ui();
        if !ui.has_people() {
            return Err(ExtensionError("nobody can be asked here; use --mode rpc".into()));
        }
        let Some(done) = ui.input("What was done?", Some("fixed the build"), None).await else {
            ui.notify("No report, then.", NoticeLevel::Info);
            return Ok(());
        };
        let team = match agent.control().flag("team") {
            Some(FlagValue::Text(team)) => team,
            _ => "nameless".into(),
        };
        agent.control().register_tool(Arc::new(Calendar::of(team))).map_err(|error| failed(&error))?;
        self.0.store(true, Ordering::Relaxed);
        // State of the extension: the model does not see it, and the session keeps it.
        agent.append_entry("standup", Some(json!({"done": done}))).await.map_err(|error| failed(&error))?;
        ui.set_status("standup", Some("the report is being written".into()));
        let message = MessageToSend {
            custom_type: "standup".into(),
            content: Content::from(
                format!("Write a report of three lines. Done: {done}. Look into the calendar.").as_str(),
            ),
            display: true,
            details: None,
        };
        agent.send_message(message, Some(true), DeliverAs::Steer).map_err(|error| failed(&error))
    }
}

impl Extension for Standup {
    fn name(&self) -> &str {
        "standup"
    }

    fn flags(&self) -> Vec<FlagDeclaration> {
        vec![FlagDeclaration::text("team", "Whose calendar the report looks at", Some("blue"))]
    }

    fn commands(&self) -> Vec<CommandDeclaration> {
        vec![
            CommandDeclaration::new("standup", "Write the report for the stand-up meeting"),
            CommandDeclaration::new("fresh", "Begin a new session"),
        ]
    }

    fn points(&self) -> &[AskPoint] {
        &[AskPoint::BeforeSwitch]
    }

    fn before_switch<'a>(&'a self, _: BeforeSwitchAsk, agent: AgentHandle) -> Answer<'a, ReplaceVerdict> {
        Box::pin(async move {
            let leave = !self.0.load(Ordering::Relaxed)
                || agent.ui().confirm("Leave the report?", "It stays in this session.", None).await;
            self.0.store(!leave, Ordering::Relaxed);
            Ok(ReplaceVerdict { cancel: !leave })
        })
    }

    fn command<'a>(&'a self, call: CommandCall, agent: AgentHandle) -> Answer<'a, ()> {
        Box::pin(async move {
            match call.name.as_str() {
                "fresh" => self.fresh(agent).await,
                _ => self.report(agent).await,
            }
        })
    }
}

fn main() -> ExitCode {
    let mut extensions = ExtensionRegistry::default();
    if let Err(error) = extensions.register(Arc::new(Standup::default())) {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    cli::run::main_with(extensions)
}
