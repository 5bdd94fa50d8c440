//! One conversation that moves from every wire API to every other one and back.
//!
//! Each prompt of it goes to another model than the one before, through the same session file. Each model thinks, speaks,
//! calls three tools in one answer (one of them fails, one returns a picture) and then answers; now and then an answer
//! breaks off. The servers are strict: they read the request back as a transcript and compare it with what was said.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // The helpers of tests may fail as tests do.

#[path = "../support/mod.rs"]
mod support;

mod transcript;
mod wires;

use std::sync::{Arc, Mutex};

use serde_json::json;
use support::{Reply, Request, Sandbox};

use crate::{
    transcript::{Said, Transcript, Turn},
    wires::{WIRES, Wire},
};

/// Every fifth answer to results breaks off.
const BREAKS: usize = 5;
/// Every third prompt brings a picture.
const PICTURES: usize = 3;

/// What all servers know.
#[derive(Default)]
struct World {
    transcript: Transcript,
    /// Which prompt is being answered, from 0.
    step: usize,
    complaints: Vec<String>,
}

impl World {
    /// Answers one request, after a look at it.
    fn answer(&mut self, request: &Request) -> Reply {
        let wire = WIRES.iter().copied().find(|wire| request.path.starts_with(&format!("/v1/{}/", wire.api())));
        let wire = wire.unwrap_or_else(|| panic!("an unknown path: {}", request.path));
        let asked = wire.read(&request.body);
        let step = self.step;
        match asked.last() {
            // What the prompt says around a picture, and what a result says, is not this test's business: it must only stay.
            Some(Turn::User { text, images }) => {
                let with_picture = usize::from(step.is_multiple_of(PICTURES));
                self.demand(*images == with_picture && text.ends_with(&format!("Prompt {step}.")), &asked);
                self.transcript.push(Turn::User { text: text.clone(), images: *images });
            }
            Some(Turn::Results(results)) => {
                let (texts, images): (Vec<_>, Vec<_>) = results.iter().map(|r| (r.text.as_str(), r.images)).unzip();
                let fits = texts.len() == 3 && texts[0].contains("The notes.") && texts[1].contains("missing.txt");
                self.demand(fits && images == [0, 0, 1], &asked);
                self.transcript.push(Turn::Results(results.clone()));
            }
            other => panic!("the model is asked to answer {other:?}"),
        }
        self.complaints.extend(self.transcript.compare(wire, &asked).map(|why| format!("step {step}: {why}")));
        let said = match asked.last() {
            Some(Turn::Results(_)) if step % BREAKS == BREAKS - 1 => return reply(wire.breaking("Half an ans")),
            Some(Turn::Results(_)) => Said::text(format!("Answer {step}.")),
            _ => self.calls(wire),
        };
        self.transcript.push(said.as_turn(wire.api()));
        reply(wire.answer(&said, step))
    }

    fn demand(&mut self, fits: bool, asked: &[Turn]) {
        if !fits {
            self.complaints.push(format!("step {}: the last turn is {:?}", self.step, asked.last()));
        }
    }

    fn calls(&self, wire: &dyn Wire) -> Said {
        let step = self.step;
        let call =
            |place: usize, path: &str| (wire.call_id(step * 3 + place), "read".to_owned(), json!({"path": path}));
        Said {
            thinking: Some(format!("Thoughts of {} in step {step}.", wire.api())),
            text: format!("Looking, step {step}."),
            calls: vec![call(0, "notes.txt"), call(1, "missing.txt"), call(2, "picture.png")],
        }
    }
}

fn reply(body: Vec<u8>) -> Reply {
    Reply::raw(&body)
}

/// An order of `count` places in which each ordered pair of different places follows each other at least once.
fn tour(count: usize) -> Vec<usize> {
    let round = |from: usize| (from + 1..count).flat_map(move |to| [to, from]);
    (0..count).flat_map(|from| std::iter::once(from).chain(round(from))).collect()
}

#[tokio::test]
async fn a_conversation_moves_between_all_apis_and_back() {
    let world = Arc::new(Mutex::new(World::default()));
    let asked = world.clone();
    let sandbox = Sandbox::new(move |request| asked.lock().unwrap().answer(request)).await;
    let providers: serde_json::Map<String, serde_json::Value> = WIRES
        .iter()
        .map(|wire| {
            let base = format!("{}/{}{}", sandbox.server.url(), wire.api(), wire.base_path());
            let model = json!({"id": wire.model(), "reasoning": true, "input": ["text", "image"], "contextWindow": 1_000_000, "maxTokens": 8000});
            let provider = json!({"baseUrl": base, "api": wire.api(), "apiKey": wire.key(), "models": [model]});
            (format!("at-{}", wire.api()), provider)
        })
        .collect();
    sandbox.write(sandbox.user_dir.join("models.json"), json!({"providers": providers}).to_string());
    sandbox.settings(json!({"retry": {"enabled": false}, "images": {"autoResize": false}}));
    sandbox.write("notes.txt", "The notes.\n");
    sandbox.write("picture.png", transcript::PICTURE);
    let session = sandbox.project.join("moving.jsonl");
    let session = session.to_str().unwrap();

    for (step, place) in tour(WIRES.len()).into_iter().enumerate() {
        let wire = WIRES[place];
        world.lock().unwrap().step = step;
        let model = format!("at-{}/{}", wire.api(), wire.model());
        let prompt = format!("Prompt {step}.");
        let mut args = vec!["-p", "--session", session, "--model", &model, "--thinking", "medium", &prompt];
        if step.is_multiple_of(PICTURES) {
            args.insert(1, "@picture.png");
        }
        let finished = sandbox.run(&args).await;
        let complaints = world.lock().unwrap().complaints.clone();
        assert!(complaints.is_empty(), "{} asked by {}:\n{}", wire.api(), model, complaints.join("\n"));
        let breaks = step % BREAKS == BREAKS - 1;
        let expected = if breaks { String::new() } else { format!("Answer {step}.\n") };
        assert_eq!(
            (finished.code, finished.stdout),
            (Some(i32::from(breaks)), expected),
            "{}: {}",
            wire.api(),
            finished.stderr
        );
    }
}
