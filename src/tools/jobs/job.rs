//! A job: what everybody who knows of it can see and do.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};

use super::run::Orders;
use crate::tools::{
    BoxFuture, Failure,
    bash::{
        capture::{Capture, SharedOutput},
        output::Retention,
    },
    operations::{Operations, ShellCommand},
};

/// Jobs of an agent that may run at the same time.
pub const MAX_RUNNING: usize = 16;
/// Jobs that are over and still known.
const MAX_ENDED: usize = 32;
/// Bytes of a job's output that stay in memory, at least; twice as many at most. All of it is in its file.
const KEPT: usize = 256 << 10;

/// Keeps the jobs of an agent. They live as long as it does, whatever becomes of the call that started them.
pub trait JobHost: Send + Sync + fmt::Debug {
    /// Starts a job; it runs when this returns.
    fn start(&self, spec: JobSpec) -> BoxFuture<'_, Result<Arc<Job>, Failure>>;

    /// The jobs that there are.
    fn board(&self) -> Arc<JobBoard>;
}

/// A job to start.
#[derive(Clone)]
pub struct JobSpec {
    /// The command as it was given.
    pub command: String,
    /// The command as it is run.
    pub shell: ShellCommand,
    /// Where it is run.
    pub operations: Arc<dyn Operations>,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// By itself, with this exit code.
    Exited(i32),
    /// It was killed.
    Killed,
    /// It is gone, and nobody saw how.
    Lost(String),
}

/// Where a job stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// It runs.
    Running {
        /// It waits for input that was not given.
        waits_for_input: bool,
        /// The exit code of the shell, when what it left in the background runs on.
        shell: Option<i32>,
    },
    /// It is over.
    Ended {
        /// How.
        end: JobEnd,
        /// How long it ran.
        after: Duration,
    },
}

/// What changes while a job runs.
#[derive(Clone, Debug)]
pub struct JobStatus {
    /// Where it stands.
    pub state: JobState,
    /// Counts pieces of output.
    pub pieces: u64,
}

/// What a job is told.
pub(super) enum Order {
    /// Write to its input, and end the input then or not.
    Write { text: String, close: bool, done: oneshot::Sender<Result<(), Failure>> },
    /// End it.
    Kill,
}

/// A job.
pub struct Job {
    id: String,
    command: String,
    begun: Instant,
    output: Arc<SharedOutput>,
    status: watch::Sender<JobStatus>,
    orders: mpsc::UnboundedSender<Order>,
    /// How far the model has read.
    cursor: AtomicUsize,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("id", &self.id).field("state", &self.state()).finish_non_exhaustive()
    }
}

impl Job {
    fn new(number: usize, command: String) -> (Arc<Self>, Orders) {
        let capture = Capture::new(Retention { head: 0, tail: KEPT });
        let (orders, inbox) = mpsc::unbounded_channel();
        let state = JobState::Running { waits_for_input: false, shell: None };
        let job = Arc::new(Self {
            id: format!("job-{number}"),
            command,
            begun: Instant::now(),
            output: capture.shared(),
            status: watch::Sender::new(JobStatus { state, pieces: 0 }),
            orders,
            cursor: AtomicUsize::new(0),
        });
        (job, Orders { inbox, capture })
    }

    /// Its id, such as `job-1`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The command as it was given.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Where it stands.
    #[must_use]
    pub fn state(&self) -> JobState {
        self.status.borrow().state.clone()
    }

    /// Whether it runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self.status.borrow().state, JobState::Running { .. })
    }

    /// How long it has run, or ran.
    #[must_use]
    pub fn age(&self) -> Duration {
        match self.state() {
            JobState::Running { .. } => self.begun.elapsed(),
            JobState::Ended { after, .. } => after,
        }
    }

    /// Its output.
    pub(crate) fn output(&self) -> Arc<SharedOutput> {
        self.output.clone()
    }

    /// Hears of changes of its state and of its output.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<JobStatus> {
        self.status.subscribe()
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor.load(Ordering::Relaxed)
    }

    pub(super) fn read_to(&self, place: usize) {
        self.cursor.store(place, Ordering::Relaxed);
    }

    pub(super) fn printed(&self) {
        self.status.send_modify(|status| {
            status.pieces += 1;
            if let JobState::Running { waits_for_input, .. } = &mut status.state {
                *waits_for_input = false;
            }
        });
    }

    pub(super) fn now(&self, state: JobState) {
        self.status.send_if_modified(|status| {
            let news = status.state != state && matches!(status.state, JobState::Running { .. });
            if news {
                status.state = state;
            }
            news
        });
    }

    /// Notes how it ended, unless that is known.
    pub fn ended(&self, end: JobEnd) {
        self.now(JobState::Ended { end, after: self.begun.elapsed() });
    }

    /// Ends it, with all processes that it started. That takes a moment.
    pub fn kill(&self) {
        // One that is over takes no orders.
        let _ = self.orders.send(Order::Kill);
    }

    /// Writes to its input: returns when the text is on its way.
    ///
    /// # Errors
    /// The job is over, or its input is.
    pub async fn write(&self, text: String, close: bool) -> Result<(), Failure> {
        let (done, answer) = oneshot::channel();
        let over = || Failure::new(format!("{} has ended: nothing can be written to it.", self.id));
        self.orders.send(Order::Write { text, close, done }).map_err(|_| over())?;
        answer.await.map_err(|_| over())?
    }
}

/// The jobs of an agent: those that run, and the last ones that ended. It outlives those who run them.
#[derive(Debug, Default)]
pub struct JobBoard {
    state: Mutex<Jobs>,
}

#[derive(Debug, Default)]
struct Jobs {
    last_number: usize,
    jobs: Vec<Arc<Job>>,
    /// Commands that live on by themselves: what is told of them.
    kept: Vec<String>,
}

impl JobBoard {
    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for a job, and what its worker needs. Only who runs it may do this.
    ///
    /// # Errors
    /// Too many run.
    pub fn add(&self, command: String) -> Result<(Arc<Job>, Orders), Failure> {
        let mut state = self.lock();
        if state.jobs.iter().filter(|job| job.is_running()).count() >= MAX_RUNNING {
            let text = format!("{MAX_RUNNING} jobs run already, and no more may: end one with the action kill.");
            return Err(Failure::new(text));
        }
        while state.jobs.iter().filter(|job| !job.is_running()).count() > MAX_ENDED {
            let oldest = state.jobs.iter().position(|job| !job.is_running());
            oldest.map(|place| state.jobs.remove(place));
        }
        state.last_number += 1;
        let (job, orders) = Job::new(state.last_number, command);
        state.jobs.push(job.clone());
        Ok((job, orders))
    }

    /// Takes a job off that never ran.
    pub fn remove(&self, job: &Job) {
        self.lock().jobs.retain(|known| known.id != job.id);
    }

    /// Numbers of later jobs are higher: those up to this one were used before.
    pub fn number_after(&self, last: usize) {
        let mut state = self.lock();
        state.last_number = state.last_number.max(last);
    }

    /// All jobs, oldest first.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Job>> {
        self.lock().jobs.clone()
    }

    /// The jobs that run.
    #[must_use]
    pub fn running(&self) -> Vec<Arc<Job>> {
        self.lock().jobs.iter().filter(|job| job.is_running()).cloned().collect()
    }

    /// The job of that id.
    ///
    /// # Errors
    /// There is none; says which there are.
    pub fn find(&self, id: &str) -> Result<Arc<Job>, Failure> {
        let jobs = self.all();
        if let Some(job) = jobs.iter().find(|job| job.id == id) {
            return Ok(job.clone());
        }
        let known: Vec<&str> = jobs.iter().map(|job| job.id()).collect();
        Err(Failure::new(match known.is_empty() {
            true => format!("There is no job {id}: none was started yet."),
            false => format!("There is no job {id}. There are {}.", known.join(", ")),
        }))
    }

    /// Notes a command that lives on by itself.
    pub(super) fn note_kept(&self, text: String) {
        self.lock().kept.push(text);
    }

    /// What is told of commands that live on by themselves.
    #[must_use]
    pub fn kept(&self) -> Vec<String> {
        self.lock().kept.clone()
    }
}
