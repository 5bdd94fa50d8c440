//! What tests on a server of their own need.

use std::time::Duration;

use tokio::time::sleep;

use super::{Hub, Limits, NatsAddress};
use crate::actors::testing::within;

#[path = "../../../tests/nats/server.rs"]
mod server;

pub(super) use server::{Nats as Server, Proxy};

/// Waits until `look` sees something.
pub(super) async fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    within(what, async {
        loop {
            match look() {
                Some(seen) => return seen,
                None => sleep(Duration::from_millis(5)).await,
            }
        }
    })
    .await
}

async fn hub_at(url: &str, limits: Limits) -> Hub {
    Hub::connect(&NatsAddress::parse(url).unwrap(), "test", limits).await.unwrap()
}

impl Proxy {
    /// A connection.
    pub(super) async fn hub_with(&self, limits: Limits) -> Hub {
        hub_at(&self.url, limits).await
    }
}

impl Server {
    /// A connection.
    pub(super) async fn hub(&self) -> Hub {
        self.hub_with(Limits::default()).await
    }

    /// The same with other limits.
    pub(super) async fn hub_with(&self, limits: Limits) -> Hub {
        hub_at(&self.url, limits).await
    }

    /// How many messages a stream has.
    pub(super) async fn messages(&self, hub: &Hub, stream: &str) -> u64 {
        hub.0.jetstream.get_stream(stream).await.unwrap().cached_info().state.messages
    }

    /// How many snapshots there are.
    pub(super) async fn objects(&self, hub: &Hub) -> usize {
        use futures_util::StreamExt as _;
        let listed: Vec<_> = hub.snapshots().await.unwrap().list().await.unwrap().collect().await;
        listed.len()
    }
}
