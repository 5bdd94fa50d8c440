//! Whether the connection stands, and what the server complained of.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use async_nats::{Event, ServerError};
use tokio::sync::watch;

/// Refusals that are kept.
const KEPT: usize = 32;

/// State of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LinkState {
    /// It stands.
    pub(super) up: bool,
    /// How often it came up.
    pub(super) times: u64,
}

/// See the module. Clones are handles of the same one.
#[derive(Clone, Debug)]
pub(super) struct Link {
    state: Arc<watch::Sender<LinkState>>,
    /// What the server forbade and nobody asked for yet, the latest last. It says so beside the request, which then waits for
    /// an answer in vain: what they have in common is the subject.
    forbidden: Arc<Mutex<VecDeque<String>>>,
}

impl Link {
    pub(super) fn new() -> Self {
        Self { state: Arc::new(watch::Sender::new(LinkState::default())), forbidden: Arc::default() }
    }

    /// Notes what the client tells.
    pub(super) fn note(&self, event: Event) {
        match event {
            Event::Connected => {
                tracing::debug!("connected to the NATS server");
                self.state.send_modify(|state| *state = LinkState { up: true, times: state.times + 1 });
            }
            Event::Disconnected | Event::Closed => {
                tracing::debug!("the connection to the NATS server broke");
                self.state.send_modify(|state| state.up = false);
            }
            Event::ServerError(ServerError::Other(text)) if is_refusal(&text) => {
                tracing::debug!(%text, "the NATS server refuses something");
                let mut forbidden = self.forbidden.lock().unwrap_or_else(PoisonError::into_inner);
                if forbidden.len() == KEPT {
                    forbidden.pop_front();
                }
                forbidden.push_back(text);
            }
            other => tracing::debug!(%other, "the NATS server"),
        }
    }

    /// How it stands now.
    pub(super) fn now(&self) -> LinkState {
        *self.state.borrow()
    }

    /// Returns when the connection stands.
    pub(super) async fn up(&self) {
        // The sender lives as long as we do.
        let _ = self.state.subscribe().wait_for(|state| state.up).await;
    }

    /// Returns when the connection came up after `then`: what was asked before it is not answered any longer.
    pub(super) async fn renewed(&self, then: LinkState) {
        let _ = self.state.subscribe().wait_for(|state| state.up && state.times > then.times).await;
    }

    /// What the server forbade of a subject, or of all that have these words in them, told once.
    pub(super) fn take_refusal(&self, about: &str) -> Option<String> {
        let mut forbidden = self.forbidden.lock().unwrap_or_else(PoisonError::into_inner);
        let found = forbidden.iter().rev().find(|text| text.contains(about)).cloned();
        forbidden.retain(|text| !text.contains(about));
        found
    }
}

/// Whether a text of the server says that something is forbidden.
pub(super) fn is_refusal(text: &str) -> bool {
    text.to_ascii_lowercase().contains("permissions violation")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_waits_for_an_answer_hears_that_the_connection_is_a_new_one() {
        let link = Link::new();
        assert!(!link.now().up);
        link.note(Event::Connected);
        link.up().await;
        let then = link.now();
        link.note(Event::Disconnected);
        assert!(!link.now().up);
        link.note(Event::Connected);
        link.renewed(then).await;
        assert_eq!(link.now(), LinkState { up: true, times: 2 });
    }

    #[test]
    fn a_refusal_is_told_once_and_only_to_whom_it_concerns() {
        let link = Link::new();
        let text = |subject: &str| format!("Permissions Violation for Publish to \"{subject}\"");
        let refuse = |subject: &str| link.note(Event::ServerError(ServerError::Other(text(subject))));
        ["x.a", "x.b", "y.a", "x.c"].into_iter().for_each(refuse);
        assert_eq!((link.take_refusal("y"), link.take_refusal("y")), (Some(text("y.a")), None));
        assert_eq!((link.take_refusal("x."), link.take_refusal("x.")), (Some(text("x.c")), None));
        (0..100).for_each(|number| refuse(&number.to_string()));
        assert_eq!(link.forbidden.lock().unwrap().len(), KEPT);
    }
}
