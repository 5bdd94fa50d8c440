//! Every recorded body through a real connection.

use std::sync::Arc;

use tokio::sync::Notify;
use tokio_stream::StreamExt;
use troupe::{protocol::StreamEvent, providers::provider_for};

use crate::{
    compare::check,
    manifest::{End, Fixture, fixtures},
    server::{Server, Step, chunk, head},
};

/// Pieces are HTTP chunks of their own; at most so many writes carry them.
const WRITES: usize = 300;

/// The response as one piece for each write.
pub fn response(fixture: &Fixture, pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut headers: Vec<(&str, &str)> = fixture.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    headers.retain(|(name, _)| *name != "content-length");
    headers.push(("connection", "close"));
    let length = fixture.body.len().to_string();
    let whole = pieces.len() == 1 && fixture.end == End::Eof;
    headers.push(if whole { ("content-length", &length) } else { ("transfer-encoding", "chunked") });
    let mut writes = vec![head(fixture.status, &headers)];
    if whole {
        writes.push(pieces.concat());
        return writes;
    }
    let together = pieces.len().div_ceil(WRITES).max(1);
    writes.extend(pieces.chunks(together).map(|pieces| pieces.iter().flat_map(|piece| chunk(piece)).collect()));
    if fixture.end == End::Eof {
        writes.push(b"0\r\n\r\n".to_vec());
    }
    writes
}

/// Serves the body and gives all events, after checking how they came.
async fn play(fixture: &Fixture, pieces: &[&[u8]]) -> Vec<StreamEvent> {
    let writes = response(fixture, pieces);
    let told = Arc::new(Notify::new());
    let step = match fixture.end {
        End::Eof => Step::Answer(writes),
        End::Reset(_) => Step::Reset(writes.concat(), told.clone()),
        End::Abort(_) => Step::Hold(writes.concat(), told.clone()),
    };
    let server = Server::start([step]).await;
    let request = fixture.request(&server.url);
    let cancel = request.cancel.clone();
    let expected: usize = fixture.expect["message"]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["text"].as_str().unwrap_or_default().len())
        .sum();
    let mut stream = provider_for(&fixture.api).unwrap().stream(request);
    let mut events: Vec<StreamEvent> = Vec::new();
    let mut text = 0;
    while let Some(batch) = stream.next().await {
        assert!(!batch.is_empty(), "an empty batch");
        assert!(!events.last().is_some_and(StreamEvent::is_terminal), "a batch after the terminal event");
        text += batch
            .iter()
            .map(|event| if let StreamEvent::TextDelta { delta, .. } = event { delta.len() } else { 0 })
            .sum::<usize>();
        events.extend(batch);
        // What was sent has arrived: now the bad thing happens.
        if text == expected {
            match fixture.end {
                End::Reset(_) => told.notify_one(),
                End::Abort(_) => cancel.cancel(),
                End::Eof => {}
            }
        }
    }
    assert!(fixture.end == End::Eof || text == expected, "{}", fixture.file);
    if let End::Abort(_) = fixture.end {
        drop(stream);
        told.notified().await;
    }
    assert_eq!(server.seen().len(), 1, "{}", fixture.file);
    events
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_recorded_body_gives_what_it_must_over_http() {
    for fixture in fixtures() {
        for (way, pieces) in fixture.chunkings() {
            check(&fixture, &way, &play(&fixture, &pieces).await);
        }
    }
}
