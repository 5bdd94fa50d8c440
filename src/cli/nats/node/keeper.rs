//! One run on this node, from its job to its result: a worker that may wait, as nobody mails it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::{
    sync::{OwnedSemaphorePermit, watch},
    task::spawn_blocking,
};

use super::{
    actor::{Drain, NodeShared},
    desk,
    heart::Heart,
    term::{self, TermOf},
};
use crate::{
    actors::{
        front::{
            complain,
            unattended::{outcome::Outcome, words::Report},
        },
        nats::{Delivery, Job, Lease, NatsError, SessionLog, Taking},
    },
    cli::{
        nats::{
            decide::{Decision, Facts, decide, place, refused},
            ending,
            record::{Ended, Leaving, RESULT, SPEC, Submitted, Term},
            standing::StandingRecord,
        },
        runs::{folder::RunFolder, result::RunResult, spec::RunSpec, state::RunState},
    },
    protocol::time::now_ms,
};

/// Before others are asked whether they can take a run that this node cannot.
const OTHERS: Duration = Duration::from_secs(2);
/// Deliveries of a job after which a run that nobody can take is over, where refusals cannot be counted. Some are of times
/// when somebody had the run.
const DELIVERIES: u64 = 20;
/// What is said of a run that somebody else may have.
const LOST: &str = "lost: another worker may have it by now";

/// What the worker needs.
pub struct KeeperWork {
    /// The node.
    pub shared: Arc<NodeShared>,
    /// The job.
    pub delivery: Box<Delivery>,
    /// The slot.
    pub permit: OwnedSemaphorePermit,
    /// How the node ends.
    pub drain: watch::Receiver<Drain>,
}

/// The worker.
pub struct Keeper;

impl Actor for Keeper {
    type Msg = KeeperWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<KeeperWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<KeeperWork>,
        work: KeeperWork,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let KeeperWork { shared, delivery, permit, drain } = work;
        let (run, begun) = (delivery.job.run.clone(), Instant::now());
        match keep(shared, delivery, drain).await {
            Ok(Kept::Silent) => {}
            Ok(Kept::Left(text)) => complain(&format!("Run {run}: {text} ({}).", span(begun.elapsed()))),
            // The job is delivered again, here or elsewhere.
            Err(error) => complain(&format!("Warning: run {run}: {error}")),
        }
        drop(permit);
        myself.stop(None);
        Ok(())
    }
}

/// What came of a job.
enum Kept {
    /// Nothing that is worth a line.
    Silent,
    /// How the node leaves the run.
    Left(String),
}

fn span(time: Duration) -> String {
    match time.as_secs() {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

async fn keep(
    shared: Arc<NodeShared>,
    delivery: Box<Delivery>,
    mut drain: watch::Receiver<Drain>,
) -> Result<Kept, NatsError> {
    let hub = &shared.hub;
    let (run, number) = (delivery.job.run.clone(), delivery.job.number);
    let lease = match hub.take_lease(&run, &shared.owner).await? {
        Taking::Taken(lease) => lease,
        Taking::Owned(_) => {
            // It works elsewhere, or its owner is dead and its lease not over yet.
            delivery.give_back(hub.lease_time() / 5).await?;
            return Ok(Kept::Silent);
        }
    };
    let revision = lease.epoch;
    let delivery: Arc<Delivery> = Arc::from(delivery);
    let heart = Heart::begin(lease, delivery.clone());
    let record = match StandingRecord::read(hub, &run).await {
        Err(error) if error.lasts() => return unrecorded(&shared, &delivery, heart, revision, error).await,
        read => read?,
    };
    // Also when the bucket of leases was lost, and counts from the beginning.
    let logged = SessionLog::last_epoch(hub, &run).await?;
    let known = record.standing.terms.iter().map(|term| term.epoch).chain(logged).max();
    let epoch = known.map_or(revision, |known| revision.max(known + 1));
    let mut taken = Taken { shared: &shared, delivery, heart, record, epoch };
    let submitted: Option<Submitted> = match hub.get(&run, SPEC).await {
        Err(error) if error.lasts() => return taken.refuse(None, error.to_string()).await,
        read => read?.map(|record| record.value),
    };
    let ended: Option<Ended> = match hub.get(&run, RESULT).await {
        Err(error) if error.lasts() => return taken.refuse(submitted.as_ref(), error.to_string()).await,
        read => read?.map(|record| record.value),
    };
    let here = submitted.as_ref().map_or_else(|| Err(String::new()), |submitted| place(shared.dir.as_ref(), submitted));
    let standing = &taken.record.standing;
    let facts = Facts { number, submitted: submitted.as_ref(), ended: ended.as_ref(), standing, place: here };
    let (work, submitted) = match (decide(facts), submitted) {
        (Decision::Work(folder), Some(submitted)) => (folder, submitted),
        (Decision::Drop, _) | (_, None) => {
            close(&taken.delivery, taken.heart, None).await?;
            return Ok(Kept::Silent);
        }
        (decision, submitted) => return taken.follow(decision, submitted.as_ref()).await,
    };
    let desk = RunFolder::of(&shared.folder, &run).map_err(|error| NatsError::BadName(error.to_string()))?;
    // What an earlier term left here is in the way, and may take a while to end.
    let cleared = desk.clone();
    let cleared = tokio::select! {
        cleared = spawn_blocking(move || desk::clear(&cleared)) => cleared.unwrap_or(Ok(())),
        // Nothing was begun: others can have it at once.
        () = is_ending(&mut drain) => {
            close(&taken.delivery, taken.heart, Some(Duration::ZERO)).await?;
            return Ok(Kept::Left("handed on".to_owned()));
        }
    };
    if let Err(error) = cleared {
        return taken.refuse(Some(&submitted), error.to_string()).await;
    }
    match SessionLog::restore(hub, &run, &desk.sessions()).await {
        Err(error) if error.lasts() => {
            desk::leave(&desk);
            return taken.refuse(Some(&submitted), error.to_string()).await;
        }
        restored => drop(restored?),
    }
    taken.record.standing.begin(Term {
        number,
        node: shared.owner.name.clone(),
        epoch,
        folder: work.clone(),
        since: now_ms(),
        end: None,
    });
    let Taken { delivery, heart, mut record, .. } = taken;
    // From here on it counts, whatever happens to this node.
    match record.write().await {
        Err(error) if error.lasts() => {
            desk::leave(&desk);
            return unrecorded(&shared, &delivery, heart, revision, error).await;
        }
        Ok(false) => {
            desk::leave(&desk);
            return Ok(Kept::Left(LOST.to_owned()));
        }
        written => drop(written?),
    }
    if let Err(error) = desk::lay_out(&desk, &submitted, &record.standing, work.clone(), &shared.owner.name) {
        desk::leave(&desk);
        record.standing.leave(Leaving::Broke);
        record.write().await?;
        close(&delivery, heart, Some(OTHERS)).await?;
        return Ok(Kept::Left(error.to_string()));
    }
    complain(&format!("Run {run}: taken, works in {}.", work.display()));
    let term = TermOf { shared: &shared, desk: &desk, submitted: &submitted, work: &work, number, epoch };
    let text = match term::serve(&term, record, &heart, drain.clone()).await {
        Ok(left) => {
            let drain = *drain.borrow();
            finish(&shared, &delivery, heart, &term, left, drain).await
        }
        Err(error) => Err(error),
    };
    desk::leave(&desk);
    Ok(Kept::Left(text?))
}

/// Returns when the node is to end.
async fn is_ending(drain: &mut watch::Receiver<Drain>) {
    // A node that is gone ends too.
    let _ = drain.wait_for(|drain| *drain != Drain::No).await.map(drop);
}

/// A run whose lease is ours, before anything of it is begun.
struct Taken<'a> {
    shared: &'a NodeShared,
    delivery: Arc<Delivery>,
    heart: Heart,
    record: StandingRecord,
    epoch: u64,
}

impl Taken<'_> {
    /// Does not take it, for this reason.
    async fn refuse(self, submitted: Option<&Submitted>, reason: String) -> Result<Kept, NatsError> {
        let number = self.delivery.job.number;
        let decision = refused(&self.record.standing, number, &self.shared.pool, reason);
        self.follow(decision, submitted).await
    }

    /// Leaves it to others and says why where all can read it, or ends it.
    async fn follow(self, decision: Decision, submitted: Option<&Submitted>) -> Result<Kept, NatsError> {
        let Self { shared, delivery, heart, mut record, epoch } = self;
        let number = delivery.job.number;
        match decision {
            Decision::LeaveToOthers(reason) => {
                record.standing.refuse(number, &shared.owner.name, &reason);
                record.write().await?;
                close(&delivery, heart, Some(OTHERS)).await?;
                Ok(Kept::Left(format!("left to others: {reason}")))
            }
            Decision::End(outcome, reason) => {
                let state = &record.standing.state;
                end(shared, &delivery, heart, submitted, state, (epoch, outcome, reason)).await
            }
            // There is nothing to do.
            Decision::Drop | Decision::Work(_) => close(&delivery, heart, None).await.map(|()| Kept::Silent),
        }
    }
}

/// Ends a request on which nobody works any more.
async fn end(
    shared: &NodeShared,
    delivery: &Delivery,
    heart: Heart,
    submitted: Option<&Submitted>,
    state: &RunState,
    (epoch, outcome, reason): (u64, Outcome, String),
) -> Result<Kept, NatsError> {
    let Job { run, number } = delivery.job.clone();
    let unreadable = || RunSpec { on: Some(shared.address.shown()), ..RunSpec::nothing(&run) };
    let spec = submitted.map_or_else(unreadable, |submitted| submitted.spec.clone());
    let result = RunResult::new(&spec, state, Report::bare(outcome, reason.clone()), None);
    let ended = Ended { number, epoch, node: Some(shared.owner.name.clone()), result };
    ending::store(&shared.hub, &run, &ended).await?;
    close(delivery, heart, None).await?;
    Ok(Kept::Left(format!("{}: {reason}", outcome.told())))
}

/// Does not take a run of which nobody can note that: what is known of it cannot be read, or is too large. How often its job
/// was delivered is all that can be counted.
async fn unrecorded(
    shared: &NodeShared,
    delivery: &Delivery,
    heart: Heart,
    epoch: u64,
    error: NatsError,
) -> Result<Kept, NatsError> {
    let reason = error.to_string();
    if delivery.deliveries < DELIVERIES {
        close(delivery, heart, Some(OTHERS)).await?;
        return Ok(Kept::Left(format!("left to others: {reason}")));
    }
    let submitted: Option<Submitted> =
        shared.hub.get(&delivery.job.run, SPEC).await.ok().flatten().map(|spec| spec.value);
    let how = (epoch, Outcome::Failed, format!("no worker can take it: {reason}"));
    end(shared, delivery, heart, submitted.as_ref(), &RunState::default(), how).await
}

/// Gives up the lease, and the job: for good, or so that others take it after a while.
async fn close(delivery: &Delivery, heart: Heart, again: Option<Duration>) -> Result<(), NatsError> {
    match heart.end().await {
        Some(lease) => give_up(delivery, lease, again).await,
        None => Ok(()),
    }
}

/// The same with a lease that is ours.
async fn give_up(delivery: &Delivery, lease: Lease, again: Option<Duration>) -> Result<(), NatsError> {
    if again.is_none() {
        delivery.done().await?;
    }
    lease.give_back().await?;
    match again {
        // Whoever gets it finds the lease free.
        Some(after) => delivery.give_back(after).await,
        None => Ok(()),
    }
}

/// What follows the end of a supervisor; the words for people.
async fn finish(
    shared: &NodeShared,
    delivery: &Delivery,
    heart: Heart,
    term: &TermOf<'_>,
    left: term::Left,
    drain: Drain,
) -> Result<String, NatsError> {
    let (hub, run, number) = (&shared.hub, &term.submitted.spec.id, term.number);
    let term::Left { mut record, end } = left;
    // Asked for once more: who stood still may believe that it is theirs.
    let Some(lease) = heart.end().await else { return Ok(LOST.to_owned()) };
    let (leaving, again, text) = match end {
        term::End::Result(result) => {
            let text = format!("{} (exit {})", result.outcome.told(), result.exit);
            let ended = Ended { number, epoch: term.epoch, node: Some(shared.owner.name.clone()), result: *result };
            ending::store(hub, run, &ended).await?;
            (Leaving::Ended, None, text)
        }
        term::End::HandedOn(_) if drain != Drain::No => {
            (Leaving::HandedOn, Some(Duration::ZERO), "handed on".to_owned())
        }
        // The lease is ours: what its processes take for another owner is trouble that the next one may have too.
        term::End::HandedOn(reason) => {
            let cause = reason.unwrap_or_else(|| "its processes handed it on".to_owned());
            (Leaving::Broke, Some(OTHERS), format!("left to others: {cause}, and no other worker has it"))
        }
        term::End::Broke(cause) => (Leaving::Broke, Some(OTHERS), format!("left to others: {cause}")),
    };
    record.standing.leave(leaving);
    record.write().await?;
    give_up(delivery, lease, again).await?;
    Ok(text)
}
