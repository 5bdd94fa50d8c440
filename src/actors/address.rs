//! Addresses of actors: how to tell them something, and how to find the current one after a restart.

use std::{
    any::type_name,
    fmt,
    sync::{
        Arc, LazyLock, PoisonError, RwLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use dashmap::DashMap;
use ractor::{ActorCell, ActorId, ActorRef, ActorStatus, Message};
use tokio::sync::mpsc;

/// Counts of one actor. `sent - handled` is the depth of its mailbox.
#[derive(Debug)]
pub struct Gauge {
    /// The kind of actor, such as `TurnLoop`.
    pub kind: &'static str,
    /// Which one, in words (an agent's id, a tool's name).
    pub label: String,
    /// Messages sent to it.
    pub sent: AtomicU64,
    /// Messages that it has handled.
    pub handled: AtomicU64,
    /// When it began.
    pub began: Instant,
    actor: ActorCell,
}

/// Gauges of all actors of the process that were not seen to end: read by whoever shows the tree, never needed to run.
static GAUGES: LazyLock<DashMap<ActorId, Arc<Gauge>>> = LazyLock::new(DashMap::new);

/// How often actors were started again, by kind and label: of those that never were, nothing is kept.
static RESTARTS: LazyLock<DashMap<(String, String), u64>> = LazyLock::new(DashMap::new);

/// How many gauges there may be before those of dead actors are cleared away. Nobody sees the end of an actor whose
/// supervisor died with it.
static CLEAR_ABOVE: AtomicUsize = AtomicUsize::new(64);

impl Gauge {
    /// Begins to count for an actor.
    pub(super) fn open(actor: ActorCell, kind: &'static str, label: String) -> Arc<Self> {
        if GAUGES.len() > CLEAR_ABOVE.load(Ordering::Relaxed) {
            GAUGES.retain(|_, gauge| gauge.is_alive());
            CLEAR_ABOVE.store(64.max(2 * GAUGES.len()), Ordering::Relaxed);
        }
        let id = actor.get_id();
        let gauge = Arc::new(Self {
            kind,
            label,
            sent: AtomicU64::new(0),
            handled: AtomicU64::new(0),
            began: Instant::now(),
            actor,
        });
        GAUGES.insert(id, gauge.clone());
        gauge
    }

    /// Forgets an actor that is gone.
    pub(super) fn close(id: ActorId) {
        GAUGES.remove(&id);
    }

    /// Counts that an actor of this kind and label is started again.
    pub(super) fn count_restart(kind: &str, label: &str) {
        *RESTARTS.entry((kind.to_owned(), label.to_owned())).or_default() += 1;
    }

    /// How often actors of this label, of whatever kind, were started again: of an agent, all its parts.
    #[must_use]
    pub fn restarts_of(label: &str) -> u64 {
        RESTARTS.iter().filter(|entry| entry.key().1 == label).map(|entry| *entry.value()).sum()
    }

    /// How often one in its place was started again.
    #[must_use]
    pub fn restarts(&self) -> u64 {
        RESTARTS.get(&(self.kind.to_owned(), self.label.clone())).map_or(0, |count| *count)
    }

    /// Who supervises it.
    #[must_use]
    pub fn supervisor(&self) -> Option<ActorId> {
        self.actor.try_get_supervisor().map(|above| above.get_id())
    }

    /// The gauge of a living actor.
    #[must_use]
    pub fn of(id: ActorId) -> Option<Arc<Self>> {
        GAUGES.get(&id).map(|entry| entry.value().clone())
    }

    /// All living actors, in no order.
    #[must_use]
    pub fn all() -> Vec<(ActorId, Arc<Self>)> {
        let living = GAUGES.iter().filter(|entry| entry.is_alive());
        living.map(|entry| (*entry.key(), entry.value().clone())).collect()
    }

    /// Ends the actor at once: what it handles is dropped, nothing is drained, and its supervisor decides what follows.
    /// For operators who want to be rid of an actor that hangs, and for tests.
    pub fn kill(&self) {
        self.actor.kill();
    }

    fn is_alive(&self) -> bool {
        self.actor.get_status() < ActorStatus::Stopping
    }

    /// Messages that wait.
    #[must_use]
    pub fn depth(&self) -> u64 {
        self.sent.load(Ordering::Relaxed).saturating_sub(self.handled.load(Ordering::Relaxed))
    }
}

/// The address of one incarnation of an actor.
pub struct Addr<M> {
    actor: ActorRef<M>,
    gauge: Option<Arc<Gauge>>,
}

impl<M> Clone for Addr<M> {
    fn clone(&self) -> Self {
        Self { actor: self.actor.clone(), gauge: self.gauge.clone() }
    }
}

impl<M: Message> Addr<M> {
    /// The address of a living actor.
    #[must_use]
    pub fn of(actor: &ActorRef<M>) -> Self {
        Self { actor: actor.clone(), gauge: Gauge::of(actor.get_id()) }
    }

    /// Sends a message. A message to an actor that is gone is given back: the caller decides whether that matters; it
    /// never kills the sender, as a `?` on a failed cast would.
    ///
    /// # Errors
    /// The message, when the actor is gone.
    pub fn try_tell(&self, message: M) -> Result<(), M> {
        if let Some(gauge) = &self.gauge {
            gauge.sent.fetch_add(1, Ordering::Relaxed);
        }
        match self.actor.cast(message) {
            Ok(()) => Ok(()),
            Err(ractor::MessagingErr::SendErr(message)) => Err(message),
            // Cannot happen for a local actor of this message type; the message is gone either way.
            Err(_) => Ok(()),
        }
    }

    /// Sends a message and lets it go when the actor is gone.
    pub fn tell(&self, message: M) {
        if self.try_tell(message).is_err() {
            tracing::debug!(message = type_name::<M>(), "message to an actor that is gone");
        }
    }

    /// Ends the actor at once: what it handles is dropped, nothing is drained.
    pub fn kill(&self) {
        self.actor.kill();
    }

    /// The actor itself, for supervision.
    #[must_use]
    pub fn actor(&self) -> &ActorRef<M> {
        &self.actor
    }

    /// The actor's id.
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.actor.get_id()
    }
}

/// The place of an actor that may be restarted: holds its current incarnation.
///
/// Others keep the slot, never the address: after a restart they talk to the new incarnation without being told.
pub struct Slot<M>(Arc<RwLock<Option<Addr<M>>>>);

impl<M> Clone for Slot<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M> Default for Slot<M> {
    fn default() -> Self {
        Self(Arc::new(RwLock::new(None)))
    }
}

impl<M: Message> Slot<M> {
    /// Moves the next incarnation in.
    pub fn fill(&self, addr: Addr<M>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(addr);
    }

    /// Empties the place: nobody is there until the next incarnation.
    pub fn clear(&self) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The current incarnation.
    #[must_use]
    pub fn get(&self) -> Option<Addr<M>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether both are the same place.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Sends to the current incarnation.
    ///
    /// # Errors
    /// The message, when nobody is there.
    pub fn try_tell(&self, message: M) -> Result<(), M> {
        match self.get() {
            Some(addr) => addr.try_tell(message),
            None => Err(message),
        }
    }

    /// Sends to the current incarnation and lets the message go when nobody is there.
    pub fn tell(&self, message: M) {
        if self.try_tell(message).is_err() {
            tracing::debug!(message = type_name::<M>(), "message to an empty slot");
        }
    }
}

/// Where deliveries of one type go, whatever actor takes them.
pub struct Recipient<T>(Arc<dyn Fn(T) -> bool + Send + Sync>);

impl<T> Clone for Recipient<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Recipient<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recipient<{}>", type_name::<T>())
    }
}

impl<T: Send + 'static> Recipient<T> {
    /// Deliveries to `addr`, wrapped into its message type.
    pub fn new<M: Message>(addr: Addr<M>, wrap: impl Fn(T) -> M + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |item| addr.try_tell(wrap(item)).is_ok()))
    }

    /// Deliveries to a function, which must not wait. It says whether anybody is there.
    pub fn from_fn(take: impl Fn(T) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// Deliveries to whoever is in `slot`. What comes while it is empty is lost; the recipient is never gone.
    pub fn of_slot<M: Message>(slot: Slot<M>, wrap: impl Fn(T) -> M + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |item| {
            slot.tell(wrap(item));
            true
        }))
    }

    /// Deliveries into a channel, for whoever is no actor.
    #[must_use]
    pub fn of_channel(sender: mpsc::UnboundedSender<T>) -> Self {
        Self(Arc::new(move |item| sender.send(item).is_ok()))
    }

    /// Delivers; false when nobody is there any more.
    #[must_use]
    pub fn deliver(&self, item: T) -> bool {
        (self.0)(item)
    }
}
