//! The binary, killed at random moments while a client talks to it: what it has answered is there.
//!
//! `TROUPE_TORTURE_ROUNDS=1000` plays longer.

use std::{collections::HashSet, path::Path};

use serde_json::{Value, json};
use troupe::{
    protocol::{AgentMessage, EntryBody},
    store::{Sidecar, session::open::read_view},
};

use super::{Dice, rounds};
use crate::support::*;

/// What a client was told.
#[derive(Default)]
struct Told {
    /// Words of prompts, steering messages and follow-ups that were accepted.
    words: Vec<String>,
    /// Names that were set.
    names: Vec<String>,
    /// Shell commands that have a result.
    commands: Vec<String>,
    /// Texts of messages whose end was told.
    messages: Vec<String>,
}

/// A request with a mark of its own, and what a success of it promises.
fn request(dice: &mut Dice, mark: &str) -> Value {
    match dice.below(8) {
        0 => json!({"type": "set_session_name", "name": mark}),
        1 => json!({"type": "bash", "command": format!("echo {mark}")}),
        2 => json!({"type": "steer", "message": mark}),
        3 => json!({"type": "follow_up", "message": mark}),
        4 | 5 => json!({"type": "prompt", "message": mark, "streamingBehavior": "followUp"}),
        _ => json!({"type": "prompt", "message": mark, "streamingBehavior": "steer"}),
    }
}

impl Told {
    fn take(&mut self, records: &[Value], sent: &[Value]) {
        for record in records {
            if record["type"] == "message_end" {
                self.messages.push(text_of(&record["message"]));
            }
            if record["type"] != "response" || record["success"] != true {
                continue;
            }
            let Some(request) = sent.iter().find(|request| request["id"] == record["id"]) else { continue };
            let text = |key: &str| request[key].as_str().unwrap().to_owned();
            match request["type"].as_str().unwrap() {
                "set_session_name" => self.names.push(text("name")),
                "bash" => self.commands.push(text("command")),
                "prompt" | "steer" | "follow_up" => self.words.push(text("message")),
                _ => {}
            }
        }
    }

    /// Looks whether all of that is in the session, or waits beside it.
    fn check(&self, file: &Path, settled: bool) {
        let view = read_view(file).unwrap();
        let waiting = Sidecar::open(file).unwrap().state();
        let bodies: Vec<EntryBody> = view.entries().map(|entry| entry.entry().body.clone()).collect();
        let held = waiting.held.iter().map(|held| &held.body);
        let all: Vec<&EntryBody> = bodies.iter().chain(held).collect();
        let mut texts: Vec<String> = Vec::new();
        let (mut names, mut commands) = (Vec::new(), Vec::new());
        for body in &all {
            match body {
                EntryBody::Message { message: AgentMessage::User(user) } => texts.push(user.content.text("")),
                EntryBody::Message { message: AgentMessage::BashExecution(run) } => commands.push(run.command.clone()),
                EntryBody::Message { message } => texts.push(text_of(&json!(message))),
                EntryBody::SessionInfo { name } => names.extend(name.clone()),
                _ => {}
            }
        }
        let delivered: HashSet<String> = texts.iter().cloned().collect();
        for text in &self.messages {
            assert!(delivered.contains(text), "a message was told and is not stored: {text}");
        }
        let in_queue = waiting.pending().map(|input| input.content.text(""));
        texts.extend(in_queue.filter(|text| !delivered.contains(text)));
        for (what, told, there) in
            [("words", &self.words, &texts), ("name", &self.names, &names), ("command", &self.commands, &commands)]
        {
            for mark in told {
                let count = there.iter().filter(|text| *text == mark).count();
                assert_eq!(count, 1, "{what} {mark}: of {there:?}");
            }
        }
        if settled {
            assert!(waiting.is_settled(), "{waiting:?}");
        }
    }
}

#[tokio::test]
async fn fc_009_what_the_binary_answered_survives_kill_9_at_any_moment() {
    let sandbox = Sandbox::new(replies([])).await;
    sandbox.write("note.txt", "a note");
    let read = json!({"calls": [{"name": "read", "arguments": {"path": "note.txt"}}, {"name": "bash", "arguments": {"command": "echo tool"}}]});
    let script = json!({"turns": [read, "an answer", {"text": {"repeat": "long ", "times": 400}}], "end": "loop"});
    let script = sandbox.write("script.json", script.to_string()).display().to_string();
    let file = sandbox.project.join("killed.jsonl");
    let path = file.display().to_string();
    let args = ["--mode", "rpc", "--session", &path, "--model", "troupe/script", "--script", &script];
    let mut dice = Dice(std::process::id().into());
    let mut told = Told::default();
    for round in 0..rounds(20) {
        let mut rpc = Rpc::start(sandbox.command(&args));
        let mut sent = Vec::new();
        for n in 0..1 + dice.below(6) {
            let mut request = request(&mut dice, &format!("mark-{round}-{n}"));
            request["id"] = json!(format!("{round}-{n}"));
            rpc.send(request.clone()).await;
            sent.push(request);
        }
        // Behind one of the next records, whatever that is: the program goes on meanwhile.
        rpc.some_records(dice.below(60)).await;
        rpc.kill().await;
        told.take(&rpc.rest().await, &sent);
        if file.exists() {
            told.check(&file, false);
        } else {
            // Without words of a user or a model a session leaves no file: what else was told went with the process.
            told.names.clear();
            told.commands.clear();
        }
    }
    // A last process brings what waits into the session, once.
    let mut rpc = Rpc::start(sandbox.command(&args));
    rpc.prompt("the end").await;
    rpc.prompt("the very end").await;
    assert_eq!(rpc.close().await, Some(0));
    told.check(&file, true);
    assert!(told.words.len() > 3 && told.messages.len() > 3, "nothing was promised: {:?}", told.words);
    let lines = readable(&file);
    linked(&lines);
    answered(&lines);
}

/// Panics unless each call of an answer has one result before the next answer.
fn answered(lines: &[Value]) {
    let (mut calls, mut results) = (0, 0);
    for message in lines.iter().map(|line| &line["message"]) {
        match message["role"].as_str() {
            Some("assistant") => {
                assert_eq!(calls, results, "before {message}");
                let blocks = message["content"].as_array().into_iter().flatten();
                let good = message["stopReason"] == "toolUse";
                (calls, results) = (blocks.filter(|block| good && block["type"] == "toolCall").count(), 0);
            }
            Some("toolResult") => results += 1,
            _ => {}
        }
    }
    assert_eq!(calls, results, "at the end");
}

/// The lines that are whole: kills leave fragments.
fn readable(file: &Path) -> Vec<Value> {
    let text = String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
