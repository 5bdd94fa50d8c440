//! Runs the model against real files with stand-ins for the tools.

use std::{fs, path::Path, process::Command, sync::Arc};

use serde_json::Value;

use crate::{
    protocol::{
        AssistantMessage, Block, Content, Message, SystemMessage, ToolCall, ToolDeclaration, ToolResultMessage,
        UserMessage,
    },
    providers::offline::{Plan, blocks, reply},
};

/// A finished run.
pub(super) struct Run {
    /// The answer.
    pub answer: String,
    /// Calls by round, as `tool argument`.
    pub rounds: Vec<Vec<String>>,
    /// All results.
    pub results: String,
}

pub(super) fn tools(names: &[&str]) -> Message {
    let declared = names.iter().map(|name| ToolDeclaration { name: (*name).into(), ..ToolDeclaration::default() });
    let message = SystemMessage { tools_added: Some(declared.collect()), ..SystemMessage::default() };
    Message::System(Arc::new(message))
}

pub(super) fn user(text: &str) -> Message {
    Message::User(Arc::new(UserMessage { content: Content::from(text), timestamp: 0 }))
}

/// Does a task in a folder with these tools.
pub(super) fn run(folder: &Path, names: &[&str], task: &str) -> Run {
    let mut history = vec![tools(names), user(task)];
    let mut run = Run { answer: String::new(), rounds: Vec::new(), results: String::new() };
    for _ in 0..6 {
        let content: Vec<Block> = blocks(&history).into_iter().map(|(block, _)| block).collect();
        let calls: Vec<ToolCall> = content.iter().filter_map(Block::as_tool_call).cloned().collect();
        if calls.is_empty() {
            run.answer = content[0].as_text().unwrap().to_owned();
            return run;
        }
        let shown = |call: &ToolCall| {
            let main = ["command", "pattern", "path"].iter().find_map(|name| call.arguments.get(*name)?.as_str());
            format!("{} {}", call.name, main.unwrap_or_default())
        };
        run.rounds.push(calls.iter().map(shown).collect());
        history.push(Message::Assistant(Arc::new(AssistantMessage { content, ..AssistantMessage::default() })));
        for call in calls {
            assert!(names.contains(&call.name.as_str()), "{} is not declared", call.name);
            let (text, is_error) = match execute(folder, &call) {
                Ok(text) => (text, false),
                Err(text) => (text, true),
            };
            run.results.push_str(&text);
            run.results.push('\n');
            let content = vec![Block::text(text)];
            let result = ToolResultMessage { tool_call_id: call.id, content, is_error, ..ToolResultMessage::default() };
            history.push(Message::ToolResult(Arc::new(result)));
        }
    }
    panic!("no answer after six rounds: {:?}", run.rounds);
}

/// The plan for a bare task.
pub(super) fn first_plan(names: &[&str], task: &str) -> Plan {
    let declared: Vec<_> =
        names.iter().map(|name| ToolDeclaration { name: (*name).into(), ..ToolDeclaration::default() }).collect();
    reply(&[user(task)], &declared)
}

fn execute(folder: &Path, call: &ToolCall) -> Result<String, String> {
    let argument = |name: &str| call.arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let place = folder.join(argument("path"));
    match call.name.as_str() {
        "bash" => {
            let output = Command::new("sh").arg("-c").arg(argument("command")).current_dir(folder).output().unwrap();
            let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            let text = if text.is_empty() { "(no output)".to_owned() } else { text };
            if output.status.success() { Ok(text) } else { Err(format!("{text}\n\nCommand exited with code 1")) }
        }
        "read" => fs::read_to_string(&place).map_err(|error| format!("ENOENT: {error}")),
        "ls" => {
            let mut names: Vec<_> = fs::read_dir(&place)
                .map_err(|error| error.to_string())?
                .map(|entry| entry.unwrap())
                .map(|entry| {
                    let mark = if entry.path().is_dir() { "/" } else { "" };
                    format!("{}{mark}", entry.file_name().to_string_lossy())
                })
                .collect();
            names.sort();
            Ok(if names.is_empty() { "(empty directory)".into() } else { names.join("\n") })
        }
        "find" => {
            let glob = globset::Glob::new(argument("pattern")).unwrap().compile_matcher();
            let mut found = walk(&place);
            found.retain(|path| glob.is_match(path.rsplit('/').next().unwrap()));
            Ok(if found.is_empty() { "No files found matching pattern".into() } else { found.join("\n") })
        }
        "grep" => {
            let mut found = Vec::new();
            for path in walk(&place) {
                let text = fs::read_to_string(place.join(&path)).unwrap_or_default();
                let lines = text.lines().enumerate().filter(|(_, line)| line.contains(argument("pattern")));
                found.extend(lines.map(|(at, line)| format!("{path}:{}: {line}", at + 1)));
            }
            Ok(if found.is_empty() { "No matches found".into() } else { found.join("\n") })
        }
        other => panic!("no stand-in for {other}"),
    }
}

/// Files below a folder, sorted.
pub(super) fn walk(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                open.push(entry);
            } else {
                found.push(entry.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}
