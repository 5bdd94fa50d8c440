//! The time in which a node has a run: its supervisor runs, is told what to do, and ends.

use std::{
    path::Path,
    process::ExitStatus,
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::{
    sync::watch,
    time::{sleep_until, timeout},
};

use super::{
    actor::{Drain, NodeShared},
    child::Supervisor,
    control,
    heart::Heart,
    report::Report,
};
use crate::{
    actors::{
        front::unattended::outcome::Outcome,
        nats::{NatsError, RunRequest},
    },
    cli::{
        exit::Exit,
        nats::{
            followed::Followed,
            place::LogPlace,
            record::{Note, STOP, Standing, StopWish, Submitted},
            standing::StandingRecord,
        },
        runs::{folder::RunFolder, node::NodeOrder, output::restart_line, result::RunResult},
    },
    protocol::time::now_ms,
};

/// What a supervisor that is to end at once may take to do so.
const AT_ONCE: Duration = Duration::from_secs(5);
/// What it may take beyond the grace of its run.
const BEYOND: Duration = Duration::from_secs(10);

/// What a term is about.
pub struct TermOf<'a> {
    /// The node.
    pub shared: &'a NodeShared,
    /// The run's folder on this machine.
    pub desk: &'a RunFolder,
    /// What is to be run.
    pub submitted: &'a Submitted,
    /// Where the run works.
    pub work: &'a Path,
    /// The number of the request.
    pub number: u32,
    /// The epoch of the lease.
    pub epoch: u64,
}

/// How a term ended.
pub struct Left {
    /// Where the run stands.
    pub record: StandingRecord,
    /// How it ended.
    pub end: End,
}

/// How the supervisor ended.
#[derive(Debug, PartialEq)]
pub enum End {
    /// With a result.
    Result(Box<RunResult>),
    /// The run goes on elsewhere, for this reason.
    HandedOn(Option<String>),
    /// With neither.
    Broke(String),
}

/// Has a supervisor work on the run until it ends, or is ended.
///
/// # Errors
/// The server cannot be used, before the supervisor runs.
pub async fn serve(
    term: &TermOf<'_>,
    record: StandingRecord,
    heart: &Heart,
    drain: watch::Receiver<Drain>,
) -> Result<Left, NatsError> {
    let TermOf { shared, desk, submitted, work, number, epoch } = *term;
    let (hub, run) = (&shared.hub, &submitted.spec.id);
    let sink = hub.publish_events(run, epoch)?;
    sink.line(&Note::Taken { number, node: shared.owner.name.clone(), at: now_ms() }.line()).await;
    if let Some(cause) = taken_over(&record.standing) {
        sink.line(String::from_utf8_lossy(restart_line(&cause).trim_ascii_end()).as_ref()).await;
    }
    let mut requests = hub.serve(run).await?;
    let log = LogPlace { address: shared.address.clone(), run: run.clone(), epoch, folder: desk.sessions() };
    // Neither maps with odd keys nor numbers that are none are in it.
    let begin = NodeOrder::Begin { log: serde_json::to_value(log).unwrap_or(Value::Null) };
    let (mut supervisor, outputs) = match Supervisor::start(shared, desk, work, &begin).await {
        Ok(started) => started,
        Err(error) => {
            let end = End::Broke(format!("the supervisor could not be started: {error}"));
            return Ok(Left { record, end });
        }
    };
    let report = Report::begin(desk.clone(), record, sink, outputs);
    let answer = |request: RunRequest| {
        let (desk, user_dir) = (desk.clone(), shared.user_dir.clone());
        tokio::spawn(async move { control::answer(request, desk, &user_dir).await });
    };
    let mut told = Told { grace: submitted.spec.supervision.grace, ..Told::default() };
    let mut wishes: Followed<StopWish> = Followed::of(hub, run, STOP);
    let mut drain = drain;
    // The node may be ending by now.
    let order = of_drain(*drain.borrow_and_update());
    told.tell(&mut supervisor, order).await;
    let status = loop {
        tokio::select! {
            status = supervisor.process.wait() => break status,
            () = heart.lost.cancelled(), if !told.at_once => told.tell(&mut supervisor, Some(NodeOrder::Lost)).await,
            wish = wishes.next() => {
                if let Some(wish) = wish.filter(|wish| wish.number == number) {
                    told.tell(&mut supervisor, Some(NodeOrder::Stop { exit: wish.exit })).await;
                }
            }
            Ok(()) = drain.changed() => {
                let order = of_drain(*drain.borrow_and_update());
                told.tell(&mut supervisor, order).await;
            }
            Some(request) = requests.next() => answer(request),
            () = sleep_until(told.until()), if told.deadline.is_some() => {
                told.deadline = None;
                // Its worker sees that, and ends too.
                if let Err(error) = supervisor.process.start_kill() {
                    tracing::warn!(%error, "a supervisor cannot be killed");
                }
            }
        }
    };
    drop(requests);
    let end = end_of(status.ok(), desk.result().ok().flatten());
    let sink = report.sink.clone();
    let record = match report.finish(&heart.lost).await {
        Some(record) => record,
        // What it knew is on the server.
        None => StandingRecord::read(hub, run).await?,
    };
    let last_words = async {
        if matches!(end, End::Result(_)) {
            sink.line(&Note::Ended { number }.line()).await;
        }
        sink.flush().await;
    };
    // Without the server nothing is stored any more once the lease is over.
    tokio::select! {
        () = last_words => {}
        () = heart.lost.cancelled() => {}
    }
    Ok(Left { record, end })
}

/// Why the request, which a node has just taken, is not new; none of one that is.
fn taken_over(standing: &Standing) -> Option<String> {
    let [.., before, now] = standing.terms.as_slice() else { return None };
    let end = before.end.filter(|_| before.number == now.number)?;
    Some(format!("{} had it: {}", before.node, end.how.told()))
}

fn of_drain(drain: Drain) -> Option<NodeOrder> {
    match drain {
        Drain::No => None,
        Drain::Settle => Some(NodeOrder::HandOn),
        Drain::AtOnce => Some(NodeOrder::Lost),
    }
}

/// What the supervisor was told.
#[derive(Default)]
struct Told {
    grace: Duration,
    at_once: bool,
    /// When it is killed.
    deadline: Option<Instant>,
}

impl Told {
    async fn tell(&mut self, supervisor: &mut Supervisor, order: Option<NodeOrder>) {
        let Some(order) = order else { return };
        let now = Instant::now();
        if order == NodeOrder::Lost {
            self.at_once = true;
            self.deadline = Some(now + AT_ONCE);
        } else if self.deadline.is_none() {
            self.deadline = Some(now + self.grace + BEYOND);
        }
        // One that does not read its orders is killed when its time is over.
        let _ = timeout(AT_ONCE, supervisor.order(&order)).await;
    }

    fn until(&self) -> tokio::time::Instant {
        self.deadline.unwrap_or_else(Instant::now).into()
    }
}

/// What the end of a supervisor means.
fn end_of(status: Option<ExitStatus>, result: Option<RunResult>) -> End {
    const TAKEN_OVER: i32 = Exit::TakenOver.code() as i32;
    match (status.and_then(|status| status.code()), result) {
        (Some(TAKEN_OVER), result) => End::HandedOn(result.and_then(|result| result.reason)),
        (_, Some(result)) if result.outcome == Outcome::TakenOver => End::HandedOn(result.reason),
        // Written before it ended, however it ended.
        (_, Some(result)) => End::Result(Box::new(result)),
        (Some(code), None) => End::Broke(format!("its supervisor ended with code {code} and without a result")),
        (None, None) => End::Broke("its supervisor was killed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;
    use crate::cli::nats::record::{Leaving, Term};

    #[test]
    fn a_request_that_another_node_had_is_no_new_one() {
        let term = |number, node: &str| Term {
            number,
            node: node.to_owned(),
            epoch: 1,
            folder: "/w".into(),
            since: 0,
            end: None,
        };
        let mut standing = Standing::default();
        standing.begin(term(1, "a"));
        assert_eq!(taken_over(&standing), None);
        standing.begin(term(1, "b"));
        assert_eq!(taken_over(&standing).as_deref(), Some("a had it: not heard of any more"));
        standing.leave(Leaving::Ended);
        standing.begin(term(2, "a"));
        assert_eq!(taken_over(&standing), None, "another request");
    }

    #[test]
    fn a_supervisor_ends_with_a_result_or_the_run_goes_on() {
        let exited = |code: i32| Some(ExitStatus::from_raw(code << 8));
        let result = |outcome| Some(RunResult::nothing(outcome));
        let table = [
            (exited(0), result(Outcome::Done), "Result"),
            (exited(143), result(Outcome::Cancelled), "Result"),
            (Some(ExitStatus::from_raw(9)), result(Outcome::Done), "Result"),
            (exited(16), result(Outcome::TakenOver), "HandedOn"),
            (Some(ExitStatus::from_raw(9)), result(Outcome::TakenOver), "HandedOn"),
            (exited(16), None, "HandedOn"),
            (exited(15), None, "Broke(\"its supervisor ended with code 15"),
            (Some(ExitStatus::from_raw(9)), None, "Broke(\"its supervisor was killed"),
        ];
        for (status, result, wanted) in table {
            let end = format!("{:?}", end_of(status, result.clone()));
            assert!(end.starts_with(wanted), "{status:?} {result:?}: {end}");
        }
    }
}
