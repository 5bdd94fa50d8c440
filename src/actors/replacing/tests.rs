use std::sync::{Arc, Mutex};

use super::*;
use crate::{
    actors::{
        address::Slot,
        agent_factory::{Making, Retiring},
        extensions::{Extensions, RunningExtensions},
        fleet::{Agents, Fleet},
        reply::ReplyTo,
        session_writer::SessionPlace,
        shared::Observer,
        spawn::{spawn_root, spawn_worker},
        testing::{self, Ext, Reaction, inbox, within},
    },
    extensions::Extension,
    protocol::{ask::Verdict, session_change::ReplaceVerdict, sibling::SiblingLimits},
};

/// What extensions and the factory were told, in order.
type Log = Arc<Mutex<Vec<String>>>;

/// Makes agents that ask one extension, which all of them share.
struct Factory {
    extension: Arc<dyn Extension>,
    observer: Mutex<Option<Observer>>,
    works: bool,
    log: Log,
}

impl Factory {
    fn agent(&self) -> Arc<AgentShared> {
        let parts = testing::Parts {
            extensions: vec![self.extension.clone()],
            cwd: std::env::temp_dir(),
            ..Default::default()
        };
        let shared = self.observer.lock().unwrap().clone();
        let (agent, observers) = match shared {
            Some(observer) => {
                let store = SessionStore::in_memory(NewSession::in_folder(&std::env::temp_dir())).unwrap();
                parts.build_with(
                    SessionPlace::new(store, Sidecar::in_memory()),
                    Some(vec![observer]),
                    SiblingLimits::default(),
                )
            }
            None => parts.build(),
        };
        *self.observer.lock().unwrap() = observers.first().cloned();
        agent
    }
}

impl AgentFactory for Factory {
    fn make(&self, _: OpenSession, reload: bool) -> Making<'_> {
        self.log.lock().unwrap().push(format!("make, reload {reload}"));
        Box::pin(async move {
            match self.works {
                true => Ok(MadeAgent { shared: self.agent() }),
                false => Err("no model".to_owned()),
            }
        })
    }

    fn retire<'a>(&'a self, agent: &'a AgentShared) -> Retiring<'a> {
        let asked = self.observer.lock().unwrap().as_ref().is_some_and(|observer| observer.slot.get().is_some());
        let closed = agent.place.store.writable().is_err();
        self.log.lock().unwrap().push(format!("retire, closed {closed}, extension runs {asked}"));
        Box::pin(std::future::ready(()))
    }
}

/// Replaces the session of a fresh agent; what came of it, and what was told.
async fn replace(change: SessionChange, objects: bool, works: bool) -> (Replaced, Vec<String>) {
    let log = Log::default();
    let told = log.clone();
    let points = [AskPoint::BeforeSwitch, AskPoint::BeforeFork, AskPoint::SessionShutdown];
    let extension = Ext::new("keeper", &points, move |ask| {
        told.lock().unwrap().push(match &ask {
            Ask::BeforeSwitch(ask) => format!("switch, new {}", ask.is_new),
            Ask::BeforeFork(ask) => format!("fork, {:?}", ask.position),
            Ask::SessionShutdown(ask) => format!("shutdown, {:?}", ask.reason),
            other => format!("{other:?}"),
        });
        Reaction::Say(match ask {
            Ask::BeforeSwitch(_) => Verdict::BeforeSwitch(ReplaceVerdict { cancel: objects }),
            Ask::BeforeFork(_) => Verdict::BeforeFork(ReplaceVerdict { cancel: objects }),
            _ => Verdict::SessionShutdown,
        })
    });
    let factory = Factory { extension: Arc::new(extension), observer: Mutex::default(), works, log: log.clone() };
    let shared = factory.agent();
    let parts = Parts { fleet: Slot::default(), extensions: Slot::default() };
    let running = RunningExtensions::new(shared.config.observers.clone());
    parts.extensions.fill(spawn_root("Extensions", Extensions, running).await.unwrap());
    let fleet = spawn_root("Fleet", Fleet, Agents::default()).await.unwrap();
    parts.fleet.fill(fleet.clone());
    let client = AgentClient { shared, fleet: parts.fleet.clone() };
    let (reply, opened) = ReplyTo::channel();
    client.open(reply);
    within("opening", opened).await.unwrap().unwrap();
    let (front, mut outcome) = inbox().await;
    let to = Recipient::new(front, |replaced| replaced);
    let work = ReplaceWork { client, parts, factory: Arc::new(factory), change, to };
    spawn_worker("Replacing", "", Replacing, (), work, fleet.actor().get_cell()).await.unwrap();
    let replaced = within("the outcome", outcome.recv()).await.unwrap();
    let log = log.lock().unwrap().clone();
    (replaced, log)
}

#[tokio::test]
async fn extensions_are_asked_then_told_and_go_on_with_the_next_agent() {
    let new = SessionChange::New { parent_session: None };
    let (replaced, log) = replace(new, false, true).await;
    assert!(matches!(replaced, Replaced::Done { .. }));
    let retired = "retire, closed false, extension runs true";
    assert_eq!(log, ["switch, new true", "make, reload false", "shutdown, New", retired]);
    let (_, log) = replace(SessionChange::Clone, false, true).await;
    assert_eq!(log, ["fork, At", "make, reload false", "shutdown, Fork", retired]);
    let (_, log) = replace(SessionChange::Reload, true, true).await;
    assert_eq!(log, ["make, reload true", "shutdown, Reload", retired], "a reload is no replacement");
}

#[tokio::test]
async fn an_objection_or_a_failure_leaves_everything_as_it_was() {
    let new = || SessionChange::New { parent_session: None };
    let (replaced, log) = replace(new(), true, true).await;
    assert!(matches!(replaced, Replaced::Cancelled));
    assert_eq!(log, ["switch, new true"]);
    let (replaced, log) = replace(new(), false, false).await;
    assert!(matches!(replaced, Replaced::Failed(cause) if cause == "no model"));
    assert_eq!(log, ["switch, new true", "make, reload false"], "nobody was told of an end");
    let (replaced, log) = replace(SessionChange::Fork("nope".into()), false, true).await;
    assert!(matches!(replaced, Replaced::Failed(cause) if cause.contains("nope")));
    assert_eq!(log, ["fork, Before"]);
}
