//! The bus that extensions of a process talk over, by channels that they agree on.

use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

/// A message to whoever listens on a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct BusMessage {
    /// The channel.
    pub channel: Arc<str>,
    /// What it says.
    pub data: Arc<Value>,
}

type Listener = Arc<dyn Fn(&BusMessage) -> bool + Send + Sync>;

/// The bus. Clones are handles of the same one.
#[derive(Clone, Default)]
pub struct Bus(Arc<RwLock<Vec<Listener>>>);

impl Bus {
    /// Passes every message to `listener`, in the order in which they are sent, until it says false: it has left. It must
    /// not wait.
    pub fn join(&self, listener: impl Fn(&BusMessage) -> bool + Send + Sync + 'static) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(listener));
    }

    /// Sends a message.
    pub fn emit(&self, channel: &str, data: Value) {
        let message = BusMessage { channel: channel.into(), data: Arc::new(data) };
        let listeners = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        let gone: Vec<_> = listeners.into_iter().filter(|listener| !listener(&message)).collect();
        if !gone.is_empty() {
            let mut listeners = self.0.write().unwrap_or_else(PoisonError::into_inner);
            listeners.retain(|listener| !gone.iter().any(|left| Arc::ptr_eq(left, listener)));
        }
    }
}
