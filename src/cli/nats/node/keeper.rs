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
        front::{complain, unattended::words::Report},
        nats::{Delivery, Lease, NatsError, SessionLog, Taking},
    },
    cli::{
        nats::{
            decide::{Decision, Facts, decide, place},
            ending,
            record::{Ended, Leaving, RESULT, Refusal, SPEC, Submitted, Term},
            standing::StandingRecord,
        },
        runs::{folder::RunFolder, result::RunResult},
    },
    protocol::time::now_ms,
};

/// Before others are asked whether they can take a run that this node cannot.
const OTHERS: Duration = Duration::from_secs(2);
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
    drain: watch::Receiver<Drain>,
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
    let epoch = lease.epoch;
    let delivery: Arc<Delivery> = Arc::from(delivery);
    let heart = Heart::begin(lease, delivery.clone());
    let submitted: Option<Submitted> = hub.get(&run, SPEC).await?.map(|record| record.value);
    let ended: Option<Ended> = hub.get(&run, RESULT).await?.map(|record| record.value);
    let mut record = StandingRecord::read(hub, &run).await?;
    let here = submitted.as_ref().map_or_else(|| Err(String::new()), |submitted| place(shared.dir.as_ref(), submitted));
    let facts =
        Facts { number, submitted: submitted.as_ref(), ended: ended.as_ref(), standing: &record.standing, place: here };
    let decision = decide(facts);
    let desk = RunFolder::of(&shared.folder, &run).map_err(|error| NatsError::BadName(error.to_string()))?;
    let (work, submitted) = match (decision, submitted) {
        (Decision::Work(folder), Some(submitted)) => (folder, submitted),
        (Decision::LeaveToOthers(reason), _) => {
            return leave_to_others(&shared, &delivery, heart, record, reason).await;
        }
        (Decision::End(outcome, reason), Some(submitted)) => {
            let result =
                RunResult::new(&submitted.spec, &record.standing.state, Report::bare(outcome, reason.clone()), None);
            let ended = Ended { number, epoch, node: Some(shared.owner.name.clone()), result };
            ending::store(hub, &run, &ended).await?;
            close(&delivery, heart, None).await?;
            return Ok(Kept::Left(format!("{}: {reason}", outcome.told())));
        }
        _ => {
            close(&delivery, heart, None).await?;
            return Ok(Kept::Silent);
        }
    };
    // What an earlier term left here is in the way, and may take a while to end.
    let cleared = desk.clone();
    if let Err(error) = spawn_blocking(move || desk::clear(&cleared)).await.unwrap_or(Ok(())) {
        return leave_to_others(&shared, &delivery, heart, record, error.to_string()).await;
    }
    SessionLog::restore(hub, &run, &desk.sessions()).await?;
    record.standing.begin(Term {
        number,
        node: shared.owner.name.clone(),
        epoch,
        folder: work.clone(),
        since: now_ms(),
        end: None,
    });
    // From here on it counts, whatever happens to this node.
    if !record.write().await? {
        return Ok(Kept::Left(LOST.to_owned()));
    }
    if let Err(error) = desk::lay_out(&desk, &submitted, &record.standing, work.clone(), &shared.owner.name) {
        record.standing.leave(Leaving::Broke);
        record.write().await?;
        close(&delivery, heart, Some(OTHERS)).await?;
        return Ok(Kept::Left(error.to_string()));
    }
    complain(&format!("Run {run}: taken, works in {}.", work.display()));
    let term = TermOf { shared: &shared, desk: &desk, submitted: &submitted, work: &work, number, epoch };
    let left = term::serve(&term, record, &heart, drain).await?;
    let text = finish(&shared, &delivery, heart, &term, left).await;
    desk::leave(&desk);
    Ok(Kept::Left(text?))
}

/// Leaves a run to others, and says why where all can read it.
async fn leave_to_others(
    shared: &NodeShared,
    delivery: &Delivery,
    heart: Heart,
    mut record: StandingRecord,
    reason: String,
) -> Result<Kept, NatsError> {
    let number = delivery.job.number;
    record.standing.refusals.push(Refusal { number, node: shared.owner.name.clone(), reason: reason.clone() });
    record.write().await?;
    close(delivery, heart, Some(OTHERS)).await?;
    Ok(Kept::Left(format!("left to others: {reason}")))
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
        term::End::HandedOn => (Leaving::HandedOn, Some(Duration::ZERO), "handed on".to_owned()),
        term::End::Broke(cause) => (Leaving::Broke, Some(OTHERS), format!("left to others: {cause}")),
    };
    record.standing.leave(leaving);
    record.write().await?;
    give_up(delivery, lease, again).await?;
    Ok(text)
}
