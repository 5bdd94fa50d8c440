//! The recorded bodies.

use std::{path::PathBuf, sync::Arc};

use serde_json::{Map, Value};
use troupe::{
    protocol::{
        Message, Model, ThinkingLevel, UserMessage,
        model::{InputKind, ModelCost},
    },
    providers::{Request, Secret},
};

/// APIs that are spoken so far.
pub const APIS: [&str; 9] = [
    "openai-completions",
    "anthropic-messages",
    "openai-responses",
    "azure-openai-responses",
    "openai-codex-responses",
    "google-generative-ai",
    "google-vertex",
    "bedrock-converse-stream",
    "mistral-conversations",
];

/// How a recorded body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Cleanly.
    Eof,
    /// The connection breaks after so many bytes.
    Reset(usize),
    /// The caller cancels after so many bytes.
    Abort(usize),
}

/// A recorded body and what must come of it.
pub struct Fixture {
    pub file: String,
    pub api: String,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub end: End,
    pub expect: Value,
    pub context_window: u64,
    entry: Value,
}

/// All fixtures of the spoken APIs.
pub fn fixtures() -> Vec<Fixture> {
    let manifest: Value = serde_json::from_slice(&read("manifest.json")).unwrap();
    let entries = manifest["entries"].as_array().unwrap();
    let spoken = entries.iter().filter(|entry| APIS.contains(&entry["api"].as_str().unwrap()));
    let fixtures: Vec<_> = spoken.map(Fixture::load).collect();
    assert_eq!(fixtures.len(), 153, "no fixture may get lost");
    fixtures
}

fn read(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/providers").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Fixture {
    fn load(entry: &Value) -> Self {
        let text = |key: &str| entry[key].as_str().unwrap().to_owned();
        let after = || usize::try_from(entry["end"]["afterBytes"].as_u64().unwrap()).unwrap();
        let body = read(&text("file"));
        assert_eq!(body.len() as u64, entry["bytes"].as_u64().unwrap(), "{}", text("file"));
        let headers = entry["headers"].as_object().unwrap().iter();
        Self {
            file: text("file"),
            api: text("api"),
            status: u16::try_from(entry["status"].as_u64().unwrap()).unwrap(),
            headers: headers.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect(),
            body,
            end: match entry["end"]["kind"].as_str() {
                Some("reset") => End::Reset(after()),
                Some("abort") => End::Abort(after()),
                _ => End::Eof,
            },
            expect: serde_json::from_slice(&read(&text("expect"))).unwrap(),
            context_window: entry["contextWindow"].as_u64().unwrap_or(200_000),
            entry: entry.clone(),
        }
    }

    /// The bytes that are delivered.
    pub fn delivered(&self) -> &[u8] {
        match self.end {
            End::Eof => &self.body,
            End::Reset(after) | End::Abort(after) => &self.body[..after],
        }
    }

    /// The ways to cut the body, each as a name and the pieces.
    pub fn chunkings(&self) -> Vec<(String, Vec<&[u8]>)> {
        let body = self.delivered();
        let mut ways = vec![("whole".to_owned(), vec![body]), ("one-byte".to_owned(), body.chunks(1).collect())];
        let chunking = &self.entry["chunking"];
        if let Some(size) = chunking["fixed"].as_u64() {
            ways.push((format!("fixed {size}"), body.chunks(usize::try_from(size).unwrap()).collect()));
        }
        if let Some(splits) = chunking["splits"].as_array() {
            let mut cuts = vec![0];
            cuts.extend(splits.iter().map(|cut| usize::try_from(cut.as_u64().unwrap()).unwrap().min(body.len())));
            cuts.push(body.len());
            ways.push(("splits".to_owned(), cuts.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect()));
        }
        ways
    }

    /// The request that the body answers.
    pub fn request(&self, base_url: &str) -> Request {
        let text = |key: &str| self.entry[key].as_str().unwrap().to_owned();
        let cost = match self.expect.get("pricing") {
            Some(pricing) => serde_json::from_value(pricing.clone()).unwrap(),
            None => ModelCost { input: 1.0, output: 1.0, cache_read: 1.0, cache_write: 1.0, tiers: Vec::new() },
        };
        let model = Model {
            id: text("model"),
            name: text("model"),
            api: self.api.clone(),
            provider: text("provider"),
            base_url: base_url.to_owned(),
            reasoning: true,
            thinking_level_map: None,
            input: vec![InputKind::Text],
            input_limits: None,
            cost,
            prompt_cache: None,
            context_window: self.context_window,
            max_tokens: 8000,
            sampling_params: None,
            sampling_params_by_thinking_level: None,
            headers: None,
            compat: self.entry["compat"].as_object().cloned(),
        };
        let user = UserMessage { content: "hi".into(), timestamp: 1 };
        let mut request = Request::new(Arc::new(model), vec![Message::User(Arc::new(user))]);
        request.thinking = ThinkingLevel::Medium;
        request.api_key = Some(Secret::new("test-key-0123"));
        request.headers = Map::new();
        request
    }
}
