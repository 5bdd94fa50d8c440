//! Following a run that works elsewhere, as if it worked here: its output, its end, and signals that stop it.

use std::time::{Duration, Instant};

use tokio::{sync::oneshot, task::block_in_place, time::sleep};

use super::{
    address::Client,
    error::OnError,
    followed::Followed,
    outage::Outage,
    record::{Ended, Holder, Note, RESULT, STATE, Standing, Submitted},
    request::Requested,
    stop::stop,
};
use crate::{
    actors::{
        front::complain,
        nats::{Events, Hub, NatsError},
    },
    cli::{
        exit::Exit,
        run::write_records,
        runs::{args::OutputForm, output::print_result},
        signals,
    },
};

/// A request that nobody has taken for so long is told of.
const PATIENCE: Duration = Duration::from_secs(5);
/// It is told of again after so long.
const REMINDER: Duration = Duration::from_secs(60);
/// Between two looks at the connection, and before something that broke off is tried again.
const LOOK: Duration = Duration::from_secs(1);

/// Follows a request to its end.
///
/// # Errors
/// The server cannot be used.
pub async fn follow(client: &Client, request: Requested, form: OutputForm) -> Result<Exit, OnError> {
    let Requested { submitted, is_fresh, .. } = request;
    let (hub, run, number) = (&client.hub, submitted.spec.id.clone(), submitted.number);
    let on = &client.typed;
    complain(&format!(
        "Run {run}: `troupe runs logs -f {run} --on {on}` shows it, `troupe runs stop {run} --on {on}` stops it."
    ));
    let (finish, finished) = oneshot::channel();
    let from = if is_fresh { number } else { 0 };
    let printing = tokio::spawn(print(Printed { hub: hub.clone(), run: run.clone(), from, form }, finished));
    let mut results: Followed<Ended> = Followed::of(hub, &run, RESULT);
    let mut standings: Followed<Standing> = Followed::of(hub, &run, STATE);
    let mut signals = signals::Watch::begin();
    let mut waiting = Waiting::new(&submitted);
    let mut is_stopped = false;
    let ended = loop {
        tokio::select! {
            ended = results.next() => match ended {
                Some(ended) if ended.number >= number => break ended,
                _ => {}
            },
            standing = standings.next() => waiting.tell(&standing.unwrap_or_default()),
            signal = signals.next() => {
                if is_stopped {
                    complain(&format!("The run settles there. `troupe runs show {run} --on {on}` tells how it ended."));
                    return Ok(signal);
                }
                is_stopped = true;
                complain("Stopping: the agent settles. A second signal does not wait for it.");
                if let Err(error) = stop(client, &submitted, signal).await {
                    complain(&format!("Error: the run cannot be stopped: {error}"));
                }
            }
            () = sleep(LOOK) => waiting.look(client),
        }
    };
    // What was told before the result is stored by now. It ends by itself.
    let _ = finish.send(());
    let _ = printing.await;
    Ok(print_result(&ended.result, form))
}

/// What is told about nodes, and the way to them.
struct Waiting<'a> {
    submitted: &'a Submitted,
    /// The node that has the run.
    holder: Holder,
    refusals: usize,
    /// When it is told again that nobody has taken it.
    reminder: Instant,
    outage: Outage,
}

impl<'a> Waiting<'a> {
    fn new(submitted: &'a Submitted) -> Self {
        let reminder = Instant::now() + PATIENCE;
        Self { submitted, holder: Holder::default(), refusals: 0, reminder, outage: Outage::default() }
    }

    fn tell(&mut self, standing: &Standing) {
        for refusal in standing.refusals.iter().skip(self.refusals) {
            complain(&format!("Worker {} leaves the run to others: {}.", refusal.node, refusal.reason));
        }
        self.refusals = standing.refusals.len();
        if let Some((term, was_taken)) = self.holder.news(standing, self.submitted.number) {
            let again = if was_taken { " over" } else { "" };
            complain(&format!("Worker {} takes it{again}, in {}.", term.node, term.folder.display()));
        }
    }

    /// Looks whether there is something to tell.
    fn look(&mut self, client: &Client) {
        self.outage.look(client, "The run goes on.");
        if !self.holder.is_known() && Instant::now() >= self.reminder {
            self.reminder = Instant::now() + REMINDER;
            complain(&format!(
                "The run {} waits for a worker of the pool {}.",
                self.submitted.spec.id, self.submitted.pool
            ));
        }
    }
}

/// What is printed of a run.
struct Printed {
    hub: Hub,
    run: String,
    /// Nothing from before this request.
    from: u32,
    form: OutputForm,
}

/// Prints events until the end was told and all of them are out.
async fn print(what: Printed, mut finished: oneshot::Receiver<()>) {
    let Printed { hub, run, from, form } = what;
    let mut printer = Printer { from, form, is_read: true, number: 0 };
    let mut events = events_of(&hub, &run).await;
    loop {
        let next = tokio::select! {
            next = events.next() => next,
            _ = &mut finished => break,
        };
        match next {
            Ok(line) => printer.line(&line),
            Err(error) => {
                tracing::debug!(%error, "the events are followed anew");
                sleep(LOOK).await;
            }
        }
    }
    if let Err(error) = printer.rest(&mut events).await {
        complain(&format!("Warning: the last events of the run are not shown: {error}"));
    }
}

/// The events of a run from the first one.
async fn events_of(hub: &Hub, run: &str) -> Events {
    loop {
        match hub.events(run, true).await {
            Ok(events) => return events,
            Err(error) => {
                tracing::debug!(%error, "the events cannot be followed");
                sleep(LOOK).await;
            }
        }
    }
}

/// Prints what a run told before it ended.
///
/// # Errors
/// The server cannot be used.
pub async fn print_stored(events: &mut Events) -> Result<(), OnError> {
    let mut printer = Printer { from: 0, form: OutputForm::Events, is_read: true, number: 0 };
    Ok(printer.rest(events).await?)
}

/// Where lines go.
struct Printer {
    from: u32,
    form: OutputForm,
    is_read: bool,
    /// The request that the lines belong to.
    number: u32,
}

impl Printer {
    /// Prints what is stored by now and was not printed yet.
    async fn rest(&mut self, events: &mut Events) -> Result<(), NatsError> {
        events.to_end().await?;
        while let Some(line) = events.next_stored().await? {
            self.line(&line);
        }
        Ok(())
    }

    fn line(&mut self, line: &str) {
        match Note::of(line) {
            Some(Note::Taken { number, .. }) => self.number = number,
            _ if self.number < self.from => {}
            Some(Note::Supervisor { text }) => complain(&text),
            Some(Note::Worker { .. } | Note::Ended { .. }) => {}
            None if self.form == OutputForm::Events && self.is_read => {
                // A reader that does not read holds up nothing but this.
                let written = block_in_place(|| write_records(format!("{line}\n").as_bytes()));
                self.is_read = written.is_ok();
            }
            None => {}
        }
    }
}
