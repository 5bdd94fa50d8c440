//! Starting actors under supervision, and telling how they ended.
//!
//! ractor reports a child that dies in its `pre_start` to the spawner only, and any later death to the supervisor
//! only. Here both end in the same way: [`spawn`] returns an error for the first, [`ended`] reads the second, and the
//! caller sends itself the same `Gone` for both. Supervision events overtake messages that the child sent before; so
//! the handler only tells itself `Gone`, which queues behind the child's last words.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, SpawnErr, SupervisionEvent};

use super::{
    address::{Addr, Gauge},
    restart::Exit,
    trace,
};

/// A handler that takes longer is worth a line in the trace file.
const SLOW: Duration = Duration::from_millis(50);

/// An actor with its gauge: counts what it handles, notes slow handlers, and reports its start and end.
struct Watched<A> {
    inner: A,
    kind: &'static str,
    label: String,
    /// Workers spend their life in one handler: that is not slow.
    worker: bool,
}

impl<A: Actor> Actor for Watched<A> {
    type Msg = A::Msg;
    type State = (A::State, Arc<Gauge>);
    type Arguments = A::Arguments;

    async fn pre_start(
        &self,
        myself: ActorRef<Self::Msg>,
        args: Self::Arguments,
    ) -> Result<Self::State, ActorProcessingErr> {
        let id = myself.get_id();
        let gauge = Gauge::open(myself.get_cell(), self.kind, self.label.clone());
        trace::started(self.kind, &self.label, id);
        match self.inner.pre_start(myself, args).await {
            Ok(state) => Ok((state, gauge)),
            Err(error) => {
                Gauge::close(id);
                Err(error)
            }
        }
    }

    async fn post_start(&self, myself: ActorRef<Self::Msg>, state: &mut Self::State) -> Result<(), ActorProcessingErr> {
        self.inner.post_start(myself, &mut state.0).await
    }

    async fn post_stop(&self, myself: ActorRef<Self::Msg>, state: &mut Self::State) -> Result<(), ActorProcessingErr> {
        self.inner.post_stop(myself, &mut state.0).await
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        message: Self::Msg,
        state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        state.1.handled.fetch_add(1, Ordering::Relaxed);
        if self.worker || !trace::is_on() {
            return self.inner.handle(myself, message, &mut state.0).await;
        }
        let begun = Instant::now();
        let id = myself.get_id();
        let result = self.inner.handle(myself, message, &mut state.0).await;
        let took = begun.elapsed();
        if took > SLOW {
            trace::slow(self.kind, &self.label, id, took);
        }
        result
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<Self::Msg>,
        event: SupervisionEvent,
        state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        self.inner.handle_supervisor_evt(myself, event, &mut state.0).await
    }
}

async fn start<A: Actor>(
    watched: Watched<A>,
    args: A::Arguments,
    supervisor: Option<ActorCell>,
) -> Result<Addr<A::Msg>, Exit> {
    let (kind, label) = (watched.kind, watched.label.clone());
    let spawned = match supervisor {
        Some(supervisor) => Actor::spawn_linked(None, watched, args, supervisor).await,
        None => Actor::spawn(None, watched, args).await,
    };
    match spawned {
        Ok((actor, _)) => Ok(Addr::of(&actor)),
        Err(error) => {
            let cause = match error {
                SpawnErr::StartupFailed(cause) => cause.to_string(),
                other => other.to_string(),
            };
            tracing::error!(actor = kind, label, cause, "an actor did not start");
            Err(Exit::Failed(cause))
        }
    }
}

/// Starts an actor below `supervisor`.
///
/// # Errors
/// How its start failed; treat it like its death.
pub async fn spawn<A: Actor>(
    kind: &'static str,
    label: impl Into<String>,
    actor: A,
    args: A::Arguments,
    supervisor: ActorCell,
) -> Result<Addr<A::Msg>, Exit> {
    start(Watched { inner: actor, kind, label: label.into(), worker: false }, args, Some(supervisor)).await
}

/// Starts a one-shot worker below `supervisor` and gives it its one message.
///
/// # Errors
/// How its start failed; treat it like its death.
pub async fn spawn_worker<A: Actor>(
    kind: &'static str,
    label: impl Into<String>,
    actor: A,
    args: A::Arguments,
    work: A::Msg,
    supervisor: ActorCell,
) -> Result<Addr<A::Msg>, Exit> {
    let addr = start(Watched { inner: actor, kind, label: label.into(), worker: true }, args, Some(supervisor)).await?;
    addr.tell(work);
    Ok(addr)
}

/// Starts an actor without a supervisor: the root.
///
/// # Errors
/// How its start failed.
pub async fn spawn_root<A: Actor>(kind: &'static str, actor: A, args: A::Arguments) -> Result<Addr<A::Msg>, Exit> {
    start(Watched { inner: actor, kind, label: String::new(), worker: false }, args, None).await
}

/// The end that a supervision event reports; none for other events.
#[must_use]
pub fn ended(event: &SupervisionEvent) -> Option<(ActorId, Exit)> {
    let (cell, exit) = match event {
        SupervisionEvent::ActorTerminated(cell, _, reason) => {
            (cell, if reason.as_deref() == Some("killed") { Exit::Killed } else { Exit::Normal })
        }
        SupervisionEvent::ActorFailed(cell, error) => (cell, Exit::Failed(error.to_string())),
        _ => return None,
    };
    let id = cell.get_id();
    if let Some(gauge) = Gauge::of(id) {
        trace::ended(gauge.kind, &gauge.label, id, &exit);
        if let Exit::Failed(cause) = &exit {
            tracing::error!(actor = gauge.kind, label = gauge.label, cause, "an actor failed");
        }
    }
    Gauge::close(id);
    Some((id, exit))
}
