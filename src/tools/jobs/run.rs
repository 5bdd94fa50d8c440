//! Following a job to its end.

use std::{collections::VecDeque, io, time::Duration};

use tokio::{io::AsyncWriteExt, sync::mpsc, time};

use super::job::{Job, JobEnd, JobState, Order};
use crate::tools::{
    Failure,
    bash::capture::Capture,
    operations::{InputWriter, Process, ProcessEvent},
};

/// Text that waits to be written to a job that does not read; more is refused.
const UNREAD_AT_MOST: usize = 1 << 20;
/// A job that is silent for this long is looked at: whether it waits for input. Each later look comes after twice the
/// time, since a look costs some milliseconds.
const FIRST_LOOK: Duration = Duration::from_millis(500);
/// The longest time between two looks.
const LATER_LOOKS: Duration = Duration::from_secs(32);
/// After a kill, what the pipe still holds is read for this long at most.
const REST: Duration = Duration::from_millis(80);

/// What a job's worker begins with.
#[derive(Debug)]
pub struct Orders {
    pub(super) inbox: mpsc::UnboundedReceiver<Order>,
    pub(super) capture: Capture,
}

/// The input of a job.
struct Feed {
    /// None when it is over.
    pipe: Option<InputWriter>,
    unread: VecDeque<u8>,
    /// Ends when all is written.
    closing: bool,
}

impl Feed {
    fn take(&mut self, text: &str, close: bool) -> Result<(), &'static str> {
        if self.pipe.is_none() || self.closing {
            return Err("Its input is closed.");
        }
        if self.unread.len() + text.len() > UNREAD_AT_MOST {
            return Err("It has not read what was written before: there is no room for more. Wait, or end the job.");
        }
        self.unread.extend(text.as_bytes());
        self.closing = close;
        self.close_if_done();
        Ok(())
    }

    fn close_if_done(&mut self) {
        if self.closing && self.unread.is_empty() {
            self.pipe = None;
        }
    }

    /// Writes some of what waits; waits for ever when nothing does. May be dropped without loss.
    async fn write(&mut self) {
        let (Some(pipe), false) = (&mut self.pipe, self.unread.is_empty()) else {
            return std::future::pending().await;
        };
        match pipe.write(self.unread.as_slices().0).await {
            Ok(written) => {
                self.unread.drain(..written);
                self.close_if_done();
            }
            // Nobody reads it any more.
            Err(_) => self.pipe = None,
        }
    }
}

/// Follows a job that was started until all its processes are gone or have closed its output. Dropping this kills it.
pub async fn run(mut process: Box<dyn Process>, job: &Job, orders: Orders) -> JobEnd {
    let Orders { mut inbox, mut capture } = orders;
    let mut feed = Feed { pipe: process.take_input(), unread: VecDeque::new(), closing: false };
    let end = follow(process.as_mut(), job, &mut feed, &mut inbox, &mut capture).await;
    match end {
        Ok(JobEnd::Killed) => {
            process.kill();
            let _ = time::timeout(REST, rest(process.as_mut(), &mut capture)).await;
        }
        Ok(_) => process.leave(),
        Err(_) => process.kill(),
    }
    capture.finish().await;
    end.unwrap_or_else(|error| JobEnd::Lost(format!("its output could not be read: {error}")))
}

async fn follow(
    process: &mut dyn Process,
    job: &Job,
    feed: &mut Feed,
    inbox: &mut mpsc::UnboundedReceiver<Order>,
    capture: &mut Capture,
) -> io::Result<JobEnd> {
    enum Next {
        Order(Option<Order>),
        Event(ProcessEvent),
        Written,
        Look,
    }
    let (mut shell, mut open) = (None, true);
    let mut buffer = Vec::new();
    let mut pause = FIRST_LOOK;
    let mut look = time::Instant::now() + pause;
    loop {
        if let (Some(code), false) = (shell, open) {
            return Ok(JobEnd::Exited(code));
        }
        let next = tokio::select! {
            biased;
            order = inbox.recv() => Next::Order(order),
            () = feed.write() => Next::Written,
            event = process.next(&mut buffer) => Next::Event(event?),
            () = time::sleep_until(look) => Next::Look,
        };
        pause = if matches!(next, Next::Look) { LATER_LOOKS.min(pause * 2) } else { FIRST_LOOK };
        look = time::Instant::now() + pause;
        match next {
            // Nobody can give orders when nobody knows of the job any more.
            Next::Order(None | Some(Order::Kill)) => return Ok(JobEnd::Killed),
            Next::Order(Some(Order::Write { text, close, done })) => {
                let taken = feed.take(&text, close).map_err(|why| Failure::new(format!("{}: {why}", job.id())));
                // It read nothing of this yet.
                job.now(JobState::Running { waits_for_input: false, shell });
                // The call that asked may be gone.
                let _ = done.send(taken);
            }
            Next::Written => {}
            Next::Event(ProcessEvent::Output) => {
                capture.push(&buffer).await;
                buffer.clear();
                job.printed();
            }
            Next::Event(ProcessEvent::Exited { code }) => {
                shell = Some(code);
                job.now(JobState::Running { waits_for_input: false, shell });
            }
            Next::Event(ProcessEvent::Closed) => open = false,
            Next::Look => {
                let can_wait = feed.pipe.is_some() && feed.unread.is_empty();
                let waits_for_input = can_wait && process.waits_for_input() == Some(true);
                job.now(JobState::Running { waits_for_input, shell });
            }
        }
    }
}

/// Takes what a killed job's pipe still holds.
async fn rest(process: &mut dyn Process, capture: &mut Capture) {
    let mut buffer = Vec::new();
    while let Ok(event) = process.next(&mut buffer).await {
        match event {
            ProcessEvent::Output => {
                capture.push(&buffer).await;
                buffer.clear();
            }
            ProcessEvent::Exited { .. } => {}
            ProcessEvent::Closed => return,
        }
    }
}
