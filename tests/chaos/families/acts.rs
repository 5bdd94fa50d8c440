//! What happens in a family: one act after the other, chosen by dice.

use std::{collections::BTreeMap, time::Duration};

use ractor::ActorId;
use tokio::time::{Instant, sleep, timeout};
use troupe::{
    actors::{address::Gauge, fleet::Family, front::client::AgentClient, reply::ReplyTo},
    protocol::{
        Command, CommandError,
        command::Input,
        sibling::{Budget, SendMode, SiblingError, SiblingSpec, SiblingState, WaitMode, WorktreeFate},
    },
};

use super::script::ROLES;
use crate::killer::Dice;

/// Acts of a story.
const ACTS: usize = 150;
/// Between two deaths. A supervisor takes three in a minute.
const SPACING: Duration = Duration::from_secs(6);
/// So long an act may take, and so long a family takes at most to come to rest: whoever waits longer waits for ever.
const PATIENCE: Duration = Duration::from_secs(3600);
/// Before something is said again that got no answer.
const AGAIN: Duration = Duration::from_millis(50);

/// Whose end is the end of the test's own part in it.
const SPARED: [&str; 2] = ["Runtime", "Front"];

/// A family and what happens to it.
pub struct Stage<'a> {
    client: &'a AgentClient,
    family: Family,
    dice: Dice,
    begun: Instant,
    last_death: Instant,
    spawned: usize,
    /// What happened.
    pub story: Vec<String>,
    /// Budgets of the test's own children, by their keys.
    pub budgets: BTreeMap<String, Budget>,
}

impl<'a> Stage<'a> {
    pub fn new(client: &'a AgentClient, dice: Dice) -> Self {
        let now = Instant::now();
        let family = Family::of(&client.shared);
        Self {
            client,
            family,
            dice,
            begun: now,
            last_death: now,
            spawned: 0,
            story: Vec::new(),
            budgets: BTreeMap::new(),
        }
    }

    /// Plays the story to its end: everybody has come to rest, the model was told of all, and all are gone.
    pub async fn play(&mut self) -> Result<(), String> {
        for _ in 0..ACTS {
            self.act().await?;
            self.maybe_kill();
            let pause = self.dice.roll(1_500) as u64;
            sleep(Duration::from_millis(pause)).await;
        }
        self.come_to_rest().await
    }

    fn note(&mut self, line: impl std::fmt::Display) {
        self.story.push(format!("{:>8.3} s: {line}", self.begun.elapsed().as_secs_f64()));
    }

    async fn act(&mut self) -> Result<(), String> {
        match self.dice.roll(16) {
            0..=4 => self.spawn().await,
            5..=7 => self.send().await,
            8 => self.hold(true).await,
            9 | 10 => self.hold(false).await,
            11 | 12 => self.stop().await,
            13 => {
                if let Some(id) = self.anybody() {
                    self.note(format!("abort of {id}"));
                    let agent = format!("{}/{id}", self.client.shared.id).into();
                    self.client.fleet.tell(troupe::actors::fleet::FleetMsg::Command {
                        agent,
                        command: Command::Abort,
                        reply: ReplyTo::nobody(),
                    });
                }
                Ok(())
            }
            14 if self.dice.roll(4) == 0 => {
                self.note("abort of main");
                self.client.send(Command::Abort, ReplyTo::nobody());
                Ok(())
            }
            _ => {
                self.note("prompt to main");
                let input = Input::text("What is going on?");
                self.client.send(Command::Prompt { input, behavior: None }, ReplyTo::nobody());
                Ok(())
            }
        }
    }

    /// Anybody who is not gone.
    fn anybody(&mut self) -> Option<String> {
        let mut there = self.family.status();
        there.retain(|sibling| sibling.state != SiblingState::Gone);
        (!there.is_empty()).then(|| there[self.dice.roll(there.len())].id.to_string())
    }

    async fn spawn(&mut self) -> Result<(), String> {
        self.spawned += 1;
        let role = ROLES[self.dice.roll(ROLES.len())];
        let key = format!("{role}-{}", self.spawned);
        let budget = match self.dice.roll(8) {
            0 => Budget { turns: Some(2), ..Budget::default() },
            1 => Budget { tokens: Some(3_000), ..Budget::default() },
            2 => Budget { seconds: Some(7.5), ..Budget::default() },
            3 => Budget { spawns: Some(1), turns: Some(6), ..Budget::default() },
            _ => Budget::default(),
        };
        let spec = SiblingSpec {
            key: Some(key.clone()),
            prompt: Some(format!("You are a {role}.")),
            tells_parent: self.dice.roll(2) == 0,
            budget,
            ..SiblingSpec::of_task("go")
        };
        self.budgets.insert(key.clone(), budget);
        let known = patient("answer to a spawn", async {
            loop {
                match self.family.spawn(spec.clone()).await {
                    // The key says whether there is one already.
                    Err(SiblingError::Lost) => sleep(AGAIN).await,
                    answer => return answer,
                }
            }
        })
        .await?;
        match known {
            Ok(receipt) => self.note(format!("spawn of {} as {key}, {budget:?}", receipt.id)),
            Err(error) => self.note(format!("no spawn of {key}: {error}")),
        }
        Ok(())
    }

    async fn send(&mut self) -> Result<(), String> {
        let Some(id) = self.anybody() else { return Ok(()) };
        let mode = if self.dice.roll(2) == 0 { SendMode::Steer } else { SendMode::FollowUp };
        let receipt = patient("receipt", self.family.send(&id, "And another thing.", mode)).await?;
        self.note(format!("message to {id}: {receipt:?}"));
        Ok(())
    }

    async fn hold(&mut self, paused: bool) -> Result<(), String> {
        let Some(id) = self.anybody() else { return Ok(()) };
        let held = match paused {
            true => patient("pause", self.family.pause(&[&id])).await?,
            false => patient("resumption", self.family.resume(&[&id])).await?,
        };
        let word = if paused { "pause" } else { "resumption" };
        self.note(format!(
            "{word} of {id}: {:?}",
            held.map(|all| all.into_iter().map(|one| one.state).collect::<Vec<_>>())
        ));
        Ok(())
    }

    /// Stops one; nobody waits for that here.
    async fn stop(&mut self) -> Result<(), String> {
        let Some(id) = self.anybody() else { return Ok(()) };
        let grace = Duration::from_millis([0, 250, 3_000][self.dice.roll(3)]);
        self.note(format!("stop of {id} with {grace:?}"));
        let family = self.family.clone();
        tokio::spawn(async move { family.stop(&[&id], "the story wants it", grace, WorktreeFate::Patch).await });
        Ok(())
    }

    /// Kills one of the living actors, of each kind as often as of the others.
    fn maybe_kill(&mut self) {
        if self.last_death.elapsed() < SPACING || self.dice.roll(3) > 0 {
            return;
        }
        let mut living = Gauge::all();
        living.retain(|(_, gauge)| !SPARED.contains(&gauge.kind));
        living.sort_by_key(|(id, _): &(ActorId, _)| id.pid());
        let mut kinds: Vec<_> = living.iter().map(|(_, gauge)| gauge.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        if kinds.is_empty() {
            return;
        }
        let kind = kinds[self.dice.roll(kinds.len())];
        living.retain(|(_, gauge)| gauge.kind == kind);
        let (_, gauge) = &living[self.dice.roll(living.len())];
        gauge.kill();
        self.last_death = Instant::now();
        self.note(format!("death of {kind} ({})", gauge.label));
    }

    /// Lets everybody come to an end, has the model told of all, and stops all.
    async fn come_to_rest(&mut self) -> Result<(), String> {
        self.note("the end begins");
        let family = self.family.clone();
        persist("resumption of all", || async { family.resume(&[]).await }).await?;
        for sibling in family.status() {
            let id = sibling.id.to_string();
            persist("resumption", || async { family.resume(&[&id]).await }).await?;
        }
        // Whoever hangs is freed by an abort: its task ends, and it stays.
        let hangers: Vec<_> =
            family.status().into_iter().filter(|sibling| sibling.tool.as_deref() == Some("hangs")).collect();
        self.note(format!("{} hang", hangers.len()));
        persist("abort of main", || abort(self.client)).await?;
        let rest = persist("rest", || async { family.wait(&[], WaitMode::All, Some(PATIENCE / 2)).await }).await?;
        if rest.timed_out {
            return Err(format!("these never end: {:?}", rest.running));
        }
        self.note("everybody rests");
        let grace = Duration::from_millis(250);
        let stop = || async { family.stop(&[], "the story is over", grace, WorktreeFate::Patch).await };
        persist("stop of all", stop).await?;
        let left: Vec<_> = family.status().into_iter().filter(|sibling| sibling.state != SiblingState::Gone).collect();
        if !left.is_empty() {
            return Err(format!("these are not gone: {left:?}"));
        }
        // Whatever the model was not told yet comes with the next request.
        self.prompt_to_the_end().await
    }

    async fn prompt_to_the_end(&mut self) -> Result<(), String> {
        let op = "the last prompt".to_owned();
        persist("end of the main agent's trace", || self.command(Command::WaitIdle)).await?;
        let input = Input { op, ..Input::text("What was going on?") };
        persist("last prompt", || self.command(Command::Prompt { input: input.clone(), behavior: None })).await?;
        persist("end of the last trace", || self.command(Command::WaitIdle)).await?;
        Ok(())
    }

    async fn command(&self, command: Command) -> Result<(), SiblingError> {
        said(self.client.command(command).await)
    }
}

async fn abort(client: &AgentClient) -> Result<(), SiblingError> {
    said(client.command(Command::Abort).await)
}

/// A command that got no answer is said again, as a request of the family would be.
fn said<T>(answer: Result<T, CommandError>) -> Result<(), SiblingError> {
    match answer {
        Ok(_) => Ok(()),
        Err(CommandError::Lost | CommandError::Busy) => Err(SiblingError::Lost),
        Err(error) => Err(SiblingError::Refused(error.to_string())),
    }
}

/// What comes of it before patience is over.
async fn patient<T>(what: &str, future: impl Future<Output = T>) -> Result<T, String> {
    timeout(PATIENCE, future).await.map_err(|_| format!("there is no {what}"))
}

/// Asks until there is an answer.
async fn persist<T, F: Future<Output = Result<T, SiblingError>>>(
    what: &str,
    mut ask: impl FnMut() -> F,
) -> Result<T, String> {
    patient(what, async {
        loop {
            match ask().await {
                Err(SiblingError::Lost) => sleep(AGAIN).await,
                Err(error) => return Err(format!("no {what}: {error}")),
                Ok(answer) => return Ok(answer),
            }
        }
    })
    .await?
}
