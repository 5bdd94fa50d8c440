//! What people are told of a connection that is lost.

use std::time::{Duration, Instant};

use super::address::Client;
use crate::actors::front::complain;

/// A connection that is lost for so long is told.
const AWAY: Duration = Duration::from_secs(3);

/// An outage, as far as it is known.
#[derive(Debug, Default)]
pub struct Outage {
    /// Since when, and whether that was told.
    lost: Option<(Instant, bool)>,
}

impl Outage {
    /// Tells once that the connection is lost, and once that it is there again; `meanwhile` is what goes on without it.
    pub fn look(&mut self, client: &Client, meanwhile: &str) {
        let on = &client.shown;
        if client.hub.is_connected() {
            if let Some((_, true)) = self.lost.take() {
                complain(&format!("The connection to {on} is there again."));
            }
            return;
        }
        let (since, is_told) = self.lost.get_or_insert_with(|| (Instant::now(), false));
        if since.elapsed() >= AWAY && !std::mem::replace(is_told, true) {
            complain(&format!("The connection to {on} is lost; trying again. {meanwhile}"));
        }
    }
}
