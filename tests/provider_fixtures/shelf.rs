//! What the tests of cassettes share.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use tempfile::TempDir;
use tokio_stream::StreamExt;
use troupe::{
    protocol::{AssistantMessage, Failure, Message, StreamEvent, UserMessage},
    providers::{
        EventStream, Request,
        cassette::{Cassette, Pace, Places, Player, Recorder, Replay, Secrets},
        provider_over,
        transport::Transport,
    },
};

use crate::manifest::fixtures;

/// A place for a cassette, and the notices of its replays.
pub struct Shelf {
    _dir: TempDir,
    pub file: PathBuf,
    notices: Arc<Mutex<Vec<String>>>,
}

impl Shelf {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("run.jsonl");
        Self { _dir: dir, file, notices: Arc::default() }
    }

    pub fn recorder(&self) -> Recorder {
        Recorder::create(&self.file, Places::new(), Secrets::default()).unwrap()
    }

    pub fn player(&self, change: impl FnOnce(&mut Replay)) -> Player {
        let notices = self.notices.clone();
        let mut replay = Replay {
            pace: Pace::Full,
            strict: false,
            places: Places::new(),
            secrets: Secrets::default(),
            notice: Arc::new(move |text: &str| notices.lock().unwrap().push(text.to_owned())),
        };
        change(&mut replay);
        Player::new(Cassette::read(&self.file).unwrap(), replay)
    }

    pub fn text(&self) -> String {
        std::fs::read_to_string(&self.file).unwrap()
    }

    pub fn notices(&self) -> Vec<String> {
        self.notices.lock().unwrap().clone()
    }
}

pub fn recorded(recorder: &Recorder) -> Transport {
    Transport::Recorded(recorder.clone())
}

pub fn replayed(player: &Player) -> Transport {
    Transport::Replayed(player.clone())
}

pub fn stream(request: Request, transport: &Transport) -> EventStream {
    provider_over(&request.model.api.clone(), transport).unwrap().stream(request)
}

pub async fn events(request: Request, transport: &Transport) -> Vec<StreamEvent> {
    let batches: Vec<_> = stream(request, transport).collect().await;
    batches.into_iter().flatten().collect()
}

pub fn end(events: &[StreamEvent]) -> (Arc<AssistantMessage>, Option<Failure>) {
    match events.last() {
        Some(StreamEvent::Done(message)) => (message.clone(), None),
        Some(StreamEvent::Failed { message, failure }) => (message.clone(), Some(failure.clone())),
        other => panic!("no terminal event: {other:?}"),
    }
}

pub async fn run(request: Request, transport: &Transport) -> (String, Option<Failure>) {
    let (message, failure) = end(&events(request, transport).await);
    (troupe::protocol::message::text_of(&message.content, ""), failure)
}

/// A request that says `text`.
pub fn request(url: &str, text: &str) -> Request {
    let fixture = fixtures().into_iter().find(|fixture| fixture.file.ends_with("usage-absent.sse")).unwrap();
    let mut request = fixture.request(url);
    request.messages = vec![Message::User(Arc::new(UserMessage { content: text.into(), timestamp: 1 }))];
    request
}

/// Nobody is there: a replay must not ask.
pub const NOWHERE: &str = "http://127.0.0.1:9/v1";
