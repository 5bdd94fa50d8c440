//! The one who kills: looks at the living actors whenever the loop's phase changes and as time passes, and ends one.

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use ractor::ActorId;
use tokio::{
    task::yield_now,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;
use troupe::{
    actors::{address::Gauge, shared::AgentShared},
    store::session::SessionStore,
};

use crate::script::answers;

/// A kind of actor, and the loop's phase in which it lives or dies.
pub type Target = (&'static str, &'static str);

/// Actors whose end is the end of the process, or of the test's own part in it.
const SPARED: [&str; 3] = ["Runtime", "Fleet", "Front"];

/// Workers that the machine starts again three times in a trace, and then no more.
const REPEATED: [&str; 3] = ["Prepare", "ProviderStream", "ToolBatch"];

/// Between two kills. A supervisor takes three deaths in a minute.
const SPACING: Duration = Duration::from_secs(25);

/// Between two looks while the phase stays.
const LOOK: Duration = Duration::from_millis(100);

/// One death.
#[derive(Clone, Debug)]
pub struct Kill {
    pub at: Duration,
    pub kind: &'static str,
    pub label: String,
    pub phase: &'static str,
    /// Answers that the session had.
    pub answers: usize,
}

impl fmt::Display for Kill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, kind, label, phase, answers } = self;
        write!(f, "{:>8.3} s: {kind} ({label}) while {phase}, after answer {answers}", at.as_secs_f64())
    }
}

/// Numbers that follow from a seed (SplitMix64).
pub struct Dice(pub u64);

impl Dice {
    /// The next number below `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % sides as u64).unwrap()
    }
}

/// Whether an actor of this kind is never killed.
pub fn is_spared(kind: &str) -> bool {
    SPARED.contains(&kind)
}

/// What a killer wants and what it has done.
pub struct Killer {
    dice: Dice,
    /// Still to be killed, before anything else.
    wanted: Vec<Target>,
    pub kills: Vec<Kill>,
    /// Every kind in every phase that it saw alive.
    pub seen: BTreeSet<Target>,
    last: Instant,
    begun: Instant,
    workers_in_trace: usize,
}

impl Killer {
    /// A killer who wants these first and then goes by the dice.
    pub fn new(dice: Dice, wanted: Vec<Target>) -> Self {
        let now = Instant::now();
        Self { dice, wanted, kills: Vec::new(), seen: BTreeSet::new(), last: now, begun: now, workers_in_trace: 0 }
    }

    /// Kills until it is told to stop. It is to be a task like any actor: then it gets its turn between theirs.
    pub async fn run(mut self, shared: Arc<AgentShared>, store: SessionStore, stop: CancellationToken) -> Self {
        let mut phases = shared.phase.subscribe();
        while !stop.is_cancelled() {
            let changed = timeout(LOOK, phases.changed()).await.is_ok();
            let phase = *phases.borrow_and_update();
            if phase == "idle" {
                self.workers_in_trace = 0;
            }
            let Some(target) = self.choose(phase) else { continue };
            if changed {
                // The moment within the phase: so many steps of other tasks from its beginning. A compaction of
                // nothing is over with the next one.
                let moments = if phase == "compacting" { 1 } else { 6 };
                for _ in 0..self.dice.roll(moments) {
                    yield_now().await;
                }
            }
            self.kill(target, *phases.borrow(), &store);
        }
        self
    }

    /// Whom to kill now, if anybody.
    fn choose(&mut self, phase: &'static str) -> Option<ActorId> {
        let living = self.living();
        self.seen.extend(living.iter().map(|(_, gauge)| (gauge.kind, phase)));
        if self.last.elapsed() < SPACING || living.is_empty() {
            return None;
        }
        let wanted: Vec<_> = living.iter().filter(|(_, gauge)| self.wanted.contains(&(gauge.kind, phase))).collect();
        let (one_in, from) = match (wanted.is_empty(), phase) {
            (false, "streaming" | "running_tools") => (40, wanted),
            (false, "compacting") => (1, wanted),
            (false, _) => (2, wanted),
            (true, _) if self.wanted.is_empty() => (200, living.iter().collect()),
            (true, _) => return None,
        };
        let hit = self.dice.roll(one_in) == 0;
        hit.then(|| from[self.dice.roll(from.len())].0)
    }

    fn living(&self) -> Vec<(ActorId, Arc<Gauge>)> {
        let spent = self.workers_in_trace >= 3;
        let mut living = Gauge::all();
        living.retain(|(_, gauge)| !(is_spared(gauge.kind) || spent && REPEATED.contains(&gauge.kind)));
        living.sort_by_key(|(id, _)| id.pid());
        living
    }

    fn kill(&mut self, id: ActorId, phase: &'static str, store: &SessionStore) {
        // It may have ended by itself meanwhile.
        let Some((_, gauge)) = Gauge::all().into_iter().find(|(living, _)| *living == id) else { return };
        gauge.kill();
        self.last = Instant::now();
        self.wanted.retain(|target| *target != (gauge.kind, phase));
        self.workers_in_trace += usize::from(REPEATED.contains(&gauge.kind));
        self.kills.push(Kill {
            at: self.begun.elapsed(),
            kind: gauge.kind,
            label: gauge.label.clone(),
            phase,
            answers: answers(store),
        });
    }
}
