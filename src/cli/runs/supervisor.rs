//! The process that supervises: it starts workers, hears them, and decides what their ends mean. It waits for three
//! things, all in one place: words of the worker, signals, and the next of its deadlines.

use std::time::{Duration, Instant};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::WaitStatus,
};

use super::{
    classify::{Killed, Verdict, WorkerEnd, classify},
    descendants,
    folder::{FolderError, RunFolder},
    ladder::{self, Attempt},
    node::{self, Node, Stop, Wish},
    orders::{Begin, Order},
    output::{EventCopy, restart_line},
    signals::Signals,
    spec::RunSpec,
    state::{RunState, Start, Status},
    worker_process::Worker,
};
use crate::{
    actors::{
        front::{
            complain,
            unattended::{
                outcome::Outcome,
                words::{Report, Settle, Word},
            },
        },
        restart::{Exit as ActorExit, RestartDecision},
    },
    cli::exit::Exit,
    protocol::time::now_ms,
};

/// The state is written at least so often: what a killed supervisor has not written of its time does not count.
const SAVE: Duration = Duration::from_secs(30);

/// Supervises one run.
pub struct Supervisor<'a> {
    folder: &'a RunFolder,
    spec: &'a RunSpec,
    state: RunState,
    signals: Signals,
    events: Option<EventCopy>,
    api_key: Option<String>,
    /// The node that it works for.
    node: Option<Node>,
    begun: Instant,
    /// Milliseconds that earlier supervisors had it.
    elapsed_before: u64,
    saved: Instant,
    /// Restarts, for the policy.
    history: Vec<Duration>,
    /// Why the run ends before it is done.
    stopped: Option<Stop>,
}

/// What a worker has said and had done to it.
struct Watched {
    /// When the last event came, or the time is over that something had.
    quiet_since: Instant,
    /// When it is killed, and why, unless it ends before.
    settles: Option<(Instant, Killed)>,
    killed: Option<Killed>,
    last_word: Option<WorkerEnd>,
    ended: Option<WaitStatus>,
}

impl<'a> Supervisor<'a> {
    /// Supervises the run in `folder`, which stands as `state` says.
    #[must_use]
    pub fn new(
        folder: &'a RunFolder,
        spec: &'a RunSpec,
        state: RunState,
        signals: Signals,
        events: Option<EventCopy>,
        api_key: Option<String>,
        node: Option<Node>,
    ) -> Self {
        let (begun, elapsed_before) = (Instant::now(), state.elapsed_ms);
        let (history, stopped) = (Vec::new(), None);
        Self {
            folder,
            spec,
            state,
            signals,
            events,
            api_key,
            node,
            begun,
            elapsed_before,
            saved: begun,
            history,
            stopped,
        }
    }

    /// Supervises to the end: what came of it, and the exit code of the signal that stopped it.
    ///
    /// # Errors
    /// The run's folder cannot be written.
    pub fn run(mut self) -> Result<(RunState, Report, Option<Exit>), FolderError> {
        loop {
            let end = self.work()?;
            descendants::end_all();
            self.folder.end_torn_line("events.jsonl")?;
            let report = match classify(end) {
                Verdict::Over(report) => {
                    self.note_end(None);
                    Some(*report)
                }
                Verdict::Crash(cause) => self.crashed(cause)?,
            };
            self.copy_events();
            if let Some(report) = report {
                if let Some(events) = self.events.take() {
                    events.finish();
                }
                self.save()?;
                let signal = match self.stopped {
                    Some(Stop::By(signal)) => Some(signal),
                    _ => None,
                };
                return Ok((self.state, report, signal));
            }
        }
    }

    /// A worker from its start to its end.
    fn work(&mut self) -> Result<WorkerEnd, FolderError> {
        let crashes = self.crashes();
        let rung = ladder::rung(&crashes).unwrap_or_default();
        let causes = self.counted().filter_map(|start| start.cause.clone()).collect();
        let log = self.node.as_ref().map(|node| node.log.clone());
        let begin = Begin { rung, causes, api_key: self.api_key.clone(), log };
        self.state.status = Status::Running;
        self.state.starts.push(Start {
            at: now_ms(),
            rung,
            ended: None,
            cause: None,
            turns_at_start: None,
            turns_at_end: None,
        });
        self.save()?;
        let mut worker = match Worker::start(self.folder, self.spec, &Order::Begin(begin)) {
            Ok(worker) => worker,
            Err(error) => return Ok(WorkerEnd::NotStarted(error.to_string())),
        };
        self.state.worker = Some(worker.process);
        self.try_save();
        let end = self.watch(&mut worker);
        self.state.worker = None;
        Ok(end)
    }

    fn watch(&mut self, worker: &mut Worker) -> WorkerEnd {
        let mut watched =
            Watched { quiet_since: Instant::now(), settles: None, killed: None, last_word: None, ended: None };
        loop {
            self.keep_deadlines(worker, &mut watched);
            self.wait_until(self.next_deadline(&watched), Some(worker));
            for wish in self.wishes() {
                self.stop(wish, worker, &mut watched);
            }
            let mut words = Vec::new();
            worker.hear(|word| words.push(word));
            descendants::reap(|pid, status| {
                if pid == worker.pid {
                    watched.ended = Some(status);
                }
            });
            if watched.ended.is_some() {
                worker.hear(|word| words.push(word));
            }
            for word in words {
                self.heard(word, &mut watched);
            }
            if let Some(status) = watched.ended {
                let (code, signal) = (status.exit_status(), status.terminating_signal());
                return end_of(code, signal, watched.killed, watched.last_word);
            }
            if self.saved.elapsed() >= SAVE {
                self.try_save();
            }
        }
    }

    fn heard(&mut self, word: Word, watched: &mut Watched) {
        let now = Instant::now();
        watched.quiet_since = watched.quiet_since.max(now);
        match word {
            Word::Open { session, turns, .. } => {
                if let Some(start) = self.state.starts.last_mut() {
                    start.turns_at_start = Some(turns);
                    start.turns_at_end = Some(turns);
                }
                if let Some(session) = session
                    && self.state.sessions.last() != Some(&session)
                {
                    self.note_session(session);
                }
                self.try_save();
            }
            Word::Beat { turns, quiet_ms } => {
                if let Some(start) = self.state.starts.last_mut() {
                    start.turns_at_end = Some(turns);
                }
                match quiet_ms {
                    Some(0) => watched.quiet_since = now,
                    Some(ms) => watched.quiet_since = watched.quiet_since.max(now + Duration::from_millis(ms)),
                    None => {}
                }
                self.copy_events();
            }
            Word::End(report) => {
                watched.last_word = Some(WorkerEnd::Reported(report));
                self.expect_end(watched);
            }
            Word::Broken { cause } => {
                watched.last_word = Some(WorkerEnd::Broken(cause));
                self.expect_end(watched);
            }
        }
    }

    /// A session that did not come so far that it has a file is replaced by the one that took its place.
    fn note_session(&mut self, session: std::path::PathBuf) {
        if self.state.sessions.last().is_some_and(|last| !last.exists()) {
            self.state.sessions.pop();
        }
        self.state.sessions.push(session);
    }

    fn expect_end(&self, watched: &mut Watched) {
        watched.settles.get_or_insert((Instant::now() + self.spec.supervision.grace, Killed::Stopped));
    }

    fn keep_deadlines(&self, worker: &mut Worker, watched: &mut Watched) {
        let now = Instant::now();
        if watched.killed.is_some() {
            return;
        }
        match watched.settles {
            Some((by, why)) if now >= by => {
                watched.killed = Some(why);
                worker.kill();
            }
            Some(_) => {}
            None if self.time_is_over() => {
                worker.order(&Order::Settle { cause: Settle::TimeOver });
                watched.settles = Some((now + self.spec.supervision.grace, Killed::TimeOver));
            }
            None if now >= watched.quiet_since + self.spec.supervision.stall => {
                watched.killed = Some(Killed::Stalled);
                worker.kill();
            }
            None => {}
        }
    }

    fn next_deadline(&self, watched: &Watched) -> Instant {
        let saves = self.saved + SAVE;
        let next = match watched.settles {
            _ if watched.killed.is_some() => saves,
            Some((by, _)) => by,
            None => {
                let stalls = watched.quiet_since + self.spec.supervision.stall;
                self.deadline().map_or(stalls, |over| over.min(stalls))
            }
        };
        next.min(saves)
    }

    /// What signals and the node ask for.
    fn wishes(&mut self) -> Vec<Wish> {
        let (under_node, is_ending) = (self.node.is_some(), self.stopped.is_some());
        let signal = self.signals.take().map(|signal| node::of_signal(signal, under_node, is_ending));
        let orders = self.node.as_mut().map(Node::wishes).unwrap_or_default();
        orders.into_iter().chain(signal).collect()
    }

    /// Settles the worker, or ends it.
    fn stop(&mut self, wish: Wish, worker: &mut Worker, watched: &mut Watched) {
        match wish {
            Wish::AtOnce(stop) => {
                // Who lost the run does not say how it ended.
                if stop == Stop::HandedOn {
                    self.stopped = Some(stop);
                }
                watched.killed.get_or_insert(self.stopped.unwrap_or(stop).killed());
                worker.kill();
            }
            Wish::Settle(_) if self.stopped.is_some() => {}
            Wish::Settle(stop) => {
                self.stopped = Some(stop);
                worker.order(&Order::Settle { cause: stop.settle() });
                watched.settles = Some((Instant::now() + self.spec.supervision.grace, stop.killed()));
                complain(match stop {
                    Stop::By(_) if self.node.is_none() => {
                        "Stopping: the agent settles. A second signal ends it at once."
                    }
                    Stop::By(_) => "Stopping: the agent settles.",
                    Stop::HandedOn => "Handing the run on: the agent settles.",
                });
            }
        }
    }

    /// Waits for a word, a signal, an order, or this moment.
    fn wait_until(&self, moment: Instant, worker: Option<&Worker>) {
        let words = worker.and_then(Worker::words);
        let orders = self.node.as_ref().and_then(Node::orders);
        let mut all = vec![PollFd::new(&self.signals, PollFlags::IN)];
        all.extend(words.iter().chain(&orders).map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let left = moment.saturating_duration_since(Instant::now());
        // Interrupted by a signal, or nothing happened: the caller looks at everything anyway.
        let _ = poll(&mut all, Timespec::try_from(left).ok().as_ref());
    }

    /// After a crash: the report when the run is over for it, none when another worker follows.
    fn crashed(&mut self, cause: String) -> Result<Option<Report>, FolderError> {
        self.note_end(Some(cause.clone()));
        if let Some(stop) = self.stopped {
            return Ok(Some(Report::bare(stop.outcome(), cause)));
        }
        if self.time_is_over() {
            return Ok(Some(Report::bare(Outcome::TimeLimit, cause)));
        }
        let policy = self.spec.supervision.policy();
        let decision = policy.decide(&mut self.history, self.begun.elapsed(), &ActorExit::Killed);
        let wait = match (decision, ladder::rung(&self.crashes())) {
            (RestartDecision::Restart(wait), Some(_)) => wait,
            _ => return Ok(Some(Report::bare(Outcome::GaveUp, cause))),
        };
        complain(&format!("The worker is started again ({cause})."));
        self.append_restart(&cause);
        self.state.status = Status::Restarting;
        self.save()?;
        Ok(self.wait_before_restart(wait).map(|stop| Report::bare(stop.outcome(), cause)))
    }

    /// Waits; says when the run was stopped meanwhile.
    fn wait_before_restart(&mut self, wait: Duration) -> Option<Stop> {
        let until = Instant::now() + wait;
        while Instant::now() < until {
            self.wait_until(until, None);
            if let Some(Wish::Settle(stop) | Wish::AtOnce(stop)) = self.wishes().first() {
                self.stopped = Some(*stop);
                return self.stopped;
            }
        }
        None
    }

    /// Tells those who read events that another worker follows.
    fn append_restart(&self, cause: &str) {
        use std::io::Write as _;
        let line = restart_line(cause);
        let written = self.folder.lines("events.jsonl").map(|mut file| file.write_all(&line));
        if !matches!(written, Ok(Ok(()))) {
            tracing::warn!(run = self.spec.id, "the events do not tell of the restart");
        }
    }

    fn counted(&self) -> impl Iterator<Item = &Start> {
        self.state.starts.iter().skip(self.state.counted_from)
    }

    /// The crashes under this supervisor.
    fn crashes(&self) -> Vec<Attempt> {
        self.counted().filter(|start| start.cause.is_some()).map(Start::attempt).collect()
    }

    fn note_end(&mut self, cause: Option<String>) {
        if let Some(start) = self.state.starts.last_mut() {
            start.ended = Some(now_ms());
            start.cause = cause;
        }
    }

    fn copy_events(&self) {
        if let Some(events) = &self.events {
            events.wake();
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let left = self.spec.timeout?.saturating_sub(Duration::from_millis(self.elapsed_before));
        Some(self.begun + left)
    }

    fn time_is_over(&self) -> bool {
        self.deadline().is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn save(&mut self) -> Result<(), FolderError> {
        let elapsed = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.state.elapsed_ms = self.elapsed_before.saturating_add(elapsed);
        self.state.updated = now_ms();
        self.saved = Instant::now();
        self.folder.write_state(&self.state)
    }

    /// The same while a worker runs: a full disk is no reason to leave it alone.
    fn try_save(&mut self) {
        if let Err(error) = self.save() {
            complain(&format!("Warning: {error}. The run goes on."));
        }
    }
}

/// How a worker ended, by its last word if it had one. One that learned that another owner has the run says so by its code:
/// what it said of the run before does not count.
fn end_of(code: Option<i32>, signal: Option<i32>, by_us: Option<Killed>, last_word: Option<WorkerEnd>) -> WorkerEnd {
    const TAKEN_OVER: i32 = Exit::TakenOver.code() as i32;
    match (code, signal, last_word) {
        (_, _, Some(WorkerEnd::Reported(report))) if report.outcome == Outcome::TakenOver => {
            WorkerEnd::Reported(report)
        }
        (Some(TAKEN_OVER), ..) => WorkerEnd::Exited(TAKEN_OVER),
        (_, _, Some(word)) => word,
        (_, Some(signal), None) => WorkerEnd::Signalled { signal, by_us },
        (Some(code), None, None) => WorkerEnd::Exited(code),
        (None, None, None) => WorkerEnd::Exited(-1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_lost_the_log_of_its_run_says_so_by_its_code_whatever_it_said_before() {
        let said = |outcome| Some(WorkerEnd::Reported(Box::new(Report::bare(outcome, "x"))));
        let (exited, killed) = (|code| (Some(code), None), (None, Some(9)));
        let handed_on = said(Outcome::TakenOver).unwrap();
        for ((code, signal), word, wanted) in [
            (exited(16), said(Outcome::NotSaved), WorkerEnd::Exited(16)),
            (exited(16), Some(WorkerEnd::Broken("x".into())), WorkerEnd::Exited(16)),
            (exited(16), None, WorkerEnd::Exited(16)),
            (exited(16), said(Outcome::TakenOver), handed_on),
            (exited(0), said(Outcome::Done), said(Outcome::Done).unwrap()),
            (killed, said(Outcome::NotSaved), said(Outcome::NotSaved).unwrap()),
            (killed, None, WorkerEnd::Signalled { signal: 9, by_us: Some(Killed::Stopped) }),
            (exited(1), None, WorkerEnd::Exited(1)),
        ] {
            let end = end_of(code, signal, Some(Killed::Stopped), word.clone());
            assert_eq!(end, wanted, "{code:?} {signal:?} {word:?}");
        }
    }
}
