//! What siblings cost while they stream.

use serde_json::json;
use tempfile::TempDir;
use tokio_stream::StreamExt as _;
use tokio_util::sync::CancellationToken;
use troupe::{
    actors::{
        front::{client::AgentClient, watch::Events},
        subscriber::SubscriberKind,
    },
    cli::embed::Session,
    protocol::{Event, StreamEvent, sibling::WaitMode},
};

use super::{
    measure::{Watch, resident, tell},
    world::{scripted, spawned},
};

const STREAMING: usize = 200;
/// Deltas of each: ten seconds of fifty a second.
const DELTAS: usize = 500;
/// One of so many is watched event by event.
const WATCHED: usize = 20;

/// Two hundred stream at once. Of all, the texts are whole at the end; of some, every event was seen.
pub async fn streaming(root: &TempDir) {
    let text = json!({"repeat": "four", "times": DELTAS});
    let pace = json!({"deltaChars": 4, "deltaDelayMs": 20});
    let session = scripted(root, &json!({"turns": [{"text": text, "pace": pace}], "end": "repeat"})).await;
    spawned(&session, STREAMING).await;
    let watchers: Vec<_> =
        (1..=STREAMING).step_by(WATCHED).map(|id| tokio::spawn(gapless(watch(&session, id)))).collect();
    let (watch, before) = (Watch::start(), resident());
    let waited = session.family().wait(&[], WaitMode::All, None).await.expect("ends");
    let lost = waited.ends.iter().filter(|end| end.text.len() != 4 * DELTAS).count();
    let (share, seconds, more) = (watch.share(), watch.wall().as_secs_f64(), resident().saturating_sub(before));
    for watcher in watchers {
        assert!(watcher.await.expect("what was seen") > DELTAS / 2, "its events were seen");
    }
    let figure = format!("{share:.1} % of a core for {seconds:.1} s, {lost} with text lost, {more} KiB more");
    tell("200 that stream 50 deltas a second", &figure);
    session.close().await.expect("the end");
}

fn watch(session: &Session, id: usize) -> Events {
    let family = session.family();
    let kin = &family.agent().kin;
    let agents = kin.board.below(&kin.id);
    let shared = kin.board.look(&agents[id - 1].id, |member| member.live().cloned()).flatten().expect("an agent");
    Events::of(&AgentClient { shared, fleet: kin.fleet.clone() }, SubscriberKind::Lossless, CancellationToken::new())
}

/// Reads events to the end of the trace; the number of deltas. None may be missing.
async fn gapless(mut events: Events) -> usize {
    let (mut last, mut deltas) = (None, 0);
    while let Some(published) = events.next().await {
        assert!(last.is_none_or(|last| published.seq.n == last + 1), "an event is missing");
        last = Some(published.seq.n);
        match &published.event {
            Event::MessageUpdate { events } => {
                deltas += events.iter().filter(|event| matches!(event, StreamEvent::TextDelta { .. })).count();
            }
            Event::AgentSettled { .. } => break,
            _ => {}
        }
    }
    deltas
}
