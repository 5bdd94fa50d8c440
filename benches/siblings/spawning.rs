//! What a sibling costs until its provider is asked, and what it keeps when it has answered.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::{StreamExt as _, stream};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Notify;
use troupe::{
    cli::embed::Session,
    protocol::sibling::SiblingSpec,
    providers::{EventStream, Provider, Request},
};

use super::{
    measure::{Watch, resident, spread, tell},
    world::{builder, ended, scripted, spawned},
};

const MANY: usize = 1_000;

/// A provider that notes that it is asked, and answers nothing until the call is cancelled.
#[derive(Clone, Default)]
struct Asked(Arc<(AtomicUsize, Notify)>);

impl Asked {
    async fn times(&self, count: usize) {
        while self.0.0.load(Ordering::Relaxed) < count {
            self.0.1.notified().await;
        }
    }
}

impl Provider for Asked {
    fn api(&self) -> &str {
        "asked"
    }

    fn stream(&self, request: Request) -> EventStream {
        self.0.0.fetch_add(1, Ordering::Relaxed);
        self.0.1.notify_one();
        Box::pin(stream::once(async move { request.cancel.cancelled_owned().await }).map(|()| Vec::new()))
    }
}

/// From the wish for a sibling to its request: one after the other, then a thousand as fast as they come. The provider
/// holds all of them, so they are there at once.
pub async fn asked(root: &TempDir) {
    let provider = Asked::default();
    let cost = json!({"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0});
    let config = json!({"name": "Asked", "models": [{"id": "m", "contextWindow": 100_000, "cost": cost}]});
    let session = builder(root).provider("asked", config, provider.clone()).model("asked/m").start().await;
    let session = session.expect("a session");
    // What the first ones bring with them is not theirs.
    spawned(&session, 10).await;
    provider.times(10).await;

    let mut times = Vec::new();
    for count in 11..=210 {
        let watch = Watch::start();
        spawned(&session, 1).await;
        provider.times(count).await;
        times.push(watch.wall());
    }
    tell("spawn until the provider is asked, one by one", &spread(times));

    let (watch, before) = (Watch::start(), resident());
    together(&session, MANY).await;
    provider.times(210 + MANY).await;
    tell("the same, 1,000 at once", &watch.each(MANY));
    tell("memory of one that waits for its answer", &per_one(before));

    let watch = Watch::start();
    session.family().kill(&[], "enough").await.expect("ends");
    tell("stop of 1,210 that wait for their answers", &format!("{:.0} ms", watch.wall().as_secs_f64() * 1e3));
    session.close().await.expect("the end");
}

async fn together(session: &Session, count: usize) {
    let family = session.family();
    let spawns = (0..count).map(|_| family.spawn(SiblingSpec::of_task("go")));
    let receipts = futures_util::future::join_all(spawns).await;
    receipts.into_iter().for_each(|receipt| drop(receipt.expect("a sibling")));
}

fn per_one(before: usize) -> String {
    format!("{:.1} KiB", resident().saturating_sub(before) as f64 / MANY as f64)
}

/// A thousand that have answered and are idle.
pub async fn idle(root: &TempDir) {
    let session = scripted(root, &json!({"turns": ["ok"], "end": "repeat"})).await;
    spawned(&session, 10).await;
    ended(&session).await;
    let (watch, before) = (Watch::start(), resident());
    spawned(&session, MANY).await;
    ended(&session).await;
    tell("spawn, request, answer, end stored", &watch.each(MANY));
    tell("memory of an idle one", &per_one(before));

    let watch = Watch::start();
    session.family().kill(&[], "enough").await.expect("ends");
    tell("stop of 1,010 idle ones", &format!("{:.0} ms", watch.wall().as_secs_f64() * 1e3));
    session.close().await.expect("the end");
}
