//! `troupe top --on` and `troupe attach --on`: looking at runs that work anywhere, and steering them.

use std::{
    io::{self, BufRead as _, IsTerminal as _},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{runtime::Handle, sync::mpsc, task::block_in_place};

use super::{
    address::{Client, with_client},
    error::OnError,
    manage::find,
    record::{Note, SPEC},
};
use crate::{
    actors::nats::{Events, NatsError},
    cli::{
        env::Environment,
        exit::Exit,
        live::{
            args::{AttachArgs, TopArgs},
            attach::{Typed, typed},
            top::show,
            words::words,
        },
        run::{fail, write_out, write_records},
    },
    protocol::supervision::Supervision,
    tui::text::one_line,
};

/// What a run may take to say how it is.
const PATIENCE: Duration = Duration::from_secs(3);
/// What it may take to answer a request: some wait for what it does.
const ANSWER: Duration = Duration::from_secs(60);

/// Shows the live supervision trees of the runs that the server has.
#[must_use]
pub fn top(environment: &Environment, args: &TopArgs) -> Exit {
    let shown = with_client(environment, &args.nats, async |client| {
        let which = match &args.which {
            Some(which) => Some(find(&client, which).await?),
            None => None,
        };
        let look = || Handle::current().block_on(look(&client, which.as_deref()));
        Ok(block_in_place(|| show(args, || look().map_err(|error| error.to_string()))))
    });
    told(shown)
}

fn told(done: Result<Exit, OnError>) -> Exit {
    done.unwrap_or_else(|error| {
        fail(&error.to_string());
        error.exit()
    })
}

/// The runs that work now, or the one that is meant.
async fn look(client: &Client, which: Option<&str>) -> Result<Vec<Supervision>, OnError> {
    let runs = match which {
        Some(which) => vec![which.to_owned()],
        None => client.hub.runs(SPEC).await?,
    };
    let mut all = Vec::new();
    for run in runs {
        match supervision(client, &run).await {
            Ok(supervision) => all.push(supervision),
            Err(error) if which.is_some() => return Err(error),
            // It works nowhere, or its agent begins just now.
            Err(error) => tracing::debug!(%error, run, "a run does not answer"),
        }
    }
    Ok(all)
}

async fn supervision(client: &Client, run: &str) -> Result<Supervision, OnError> {
    let request = json!({"id": "1", "type": "get_supervision_tree"}).to_string();
    let answer = client.hub.ask(run, request.as_bytes(), PATIENCE).await?;
    let unreadable =
        |error: serde_json::Error| OnError::System(format!("the answer of the run makes no sense: {error}"));
    let mut answer: Value = serde_json::from_slice(&answer).map_err(unreadable)?;
    match answer["success"] == true {
        true => serde_json::from_value(answer["data"].take()).map_err(unreadable),
        false => Err(OnError::System(answer["error"].as_str().unwrap_or_default().to_owned())),
    }
}

/// Shows what a run does, and sends it what is typed.
#[must_use]
pub fn attach(environment: &Environment, args: &AttachArgs) -> Exit {
    told(with_client(environment, &args.nats, async |client| {
        let run = match &args.which {
            Some(which) => find(&client, which).await?,
            None => only(&client).await?,
        };
        // Without a terminal, lines are requests and records.
        let attached = Attached { client: &client, run: &run, is_person: io::stdin().is_terminal() };
        attached.serve().await
    }))
}

/// The only run that works now.
async fn only(client: &Client) -> Result<String, OnError> {
    let all = look(client, None).await?;
    let names: Vec<String> = all.into_iter().filter_map(|supervision| supervision.run).collect();
    match names.as_slice() {
        [] => Err(OnError::System("no run works right now".to_owned())),
        [one] => Ok(one.clone()),
        several => Err(OnError::Usage(format!("there are several: say which one of {}", several.join(", ")))),
    }
}

/// A run that is looked at.
struct Attached<'a> {
    client: &'a Client,
    run: &'a str,
    is_person: bool,
}

impl Attached<'_> {
    async fn serve(&self) -> Result<Exit, OnError> {
        let hub = &self.client.hub;
        let mut events: Events = hub.events(self.run, false).await?;
        let mut is_subscribed = self.is_person;
        if self.is_person {
            let supervision = supervision(self.client, self.run).await?;
            self.write(&format!(
                "Attached to the run {}, in {}.\nWhat you type is read at its next step; /stop stops it, /quit leaves it at \
                 work.\n",
                one_line(self.run),
                one_line(&supervision.cwd)
            ))?;
        }
        let mut lines = typed_lines();
        loop {
            tokio::select! {
                line = lines.recv() => {
                    let Some(line) = line else { return Ok(Exit::Done) };
                    let request = match self.is_person {
                        true => match typed(&line) {
                            Typed::Nothing => continue,
                            Typed::Quit => return Ok(Exit::Done),
                            Typed::Request(request) => request.to_string(),
                        },
                        false => line,
                    };
                    match subscription(&request) {
                        // The events are here already.
                        Some((id, wanted)) => {
                            is_subscribed = wanted;
                            let response = json!({"id": id, "type": "response", "command": "subscribe", "success": true});
                            self.record(&response.to_string())?;
                        }
                        None => self.ask(&request).await?,
                    }
                }
                line = events.next() => {
                    let line = line?;
                    match Note::of(&line) {
                        Some(Note::Ended { .. }) if self.is_person => {
                            self.write("The run has ended.\n")?;
                            return Ok(Exit::Done);
                        }
                        Some(Note::Taken { node, .. }) if self.is_person => {
                            self.write(&format!("-- worker {} has it --\n", one_line(&node)))?;
                        }
                        Some(_) => {}
                        None if is_subscribed => self.record(&line)?,
                        None => {}
                    }
                }
            }
        }
    }

    async fn ask(&self, request: &str) -> Result<(), OnError> {
        match self.client.hub.ask(self.run, request.as_bytes(), ANSWER).await {
            Ok(answer) => self.record(String::from_utf8_lossy(&answer).trim_end()),
            Err(error @ NatsError::NoOne) => {
                let id = serde_json::from_str::<Value>(request).unwrap_or_default()["id"].take();
                let response = json!({"id": id, "type": "response", "success": false, "error": error.to_string()});
                self.record(&response.to_string())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A record: as it is, or what it says to a person.
    fn record(&self, line: &str) -> Result<(), OnError> {
        if !self.is_person {
            return written(block_in_place(|| write_records(format!("{line}\n").as_bytes())));
        }
        match words(&serde_json::from_str(line).unwrap_or_default()) {
            Some(words) => self.write(&format!("{words}\n")),
            None => Ok(()),
        }
    }

    fn write(&self, text: &str) -> Result<(), OnError> {
        written(block_in_place(|| write_out(text)))
    }
}

fn written(done: io::Result<()>) -> Result<(), OnError> {
    done.map_err(|error| OnError::System(format!("standard output cannot be written: {error}")))
}

/// Whether a request asks for events, or for no more of them, with its id.
fn subscription(request: &str) -> Option<(Value, bool)> {
    let mut request: Value = serde_json::from_str(request).ok()?;
    (request["type"] == "subscribe").then(|| (request["id"].take(), request["events"] != false))
}

/// The lines of standard input; closed at its end.
fn typed_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    // It ends with the process at the latest.
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_events_gets_them_from_the_server() {
        for (request, wanted) in [
            (r#"{"id":"1","type":"subscribe"}"#, Some((json!("1"), true))),
            (r#"{"type":"subscribe","events":false}"#, Some((Value::Null, false))),
            (r#"{"type":"get_state"}"#, None),
            ("no json", None),
        ] {
            assert_eq!(subscription(request), wanted, "{request}");
        }
    }
}
