//! The client: gives the agent its work, and repeats what got no answer, as clients do.

use std::time::Duration;

use tokio::time::sleep;
use troupe::{
    actors::front::client::AgentClient,
    protocol::{
        AgentMessage, Command, CommandError, Reply,
        command::{Input, QueueKind},
    },
    store::session::SessionStore,
};

use crate::script::{TURNS, answers};

/// A client that gives up after so many repetitions of one command.
const REPETITIONS: usize = 100;
/// How long it waits before it repeats one.
const PAUSE: Duration = Duration::from_millis(20);

/// Plays the whole script. All that waits in queues is put there while the agent is idle: then the place in the session
/// where it is delivered does not depend on when something dies.
pub async fn play(client: &AgentClient, store: &SessionStore) -> Result<(), String> {
    for round in 0..TURNS {
        let queued: &[(&str, QueueKind)] = match round % 3 {
            1 => &[("first", QueueKind::Steer), ("second", QueueKind::Steer)],
            2 => &[("later", QueueKind::FollowUp)],
            _ => &[],
        };
        for (name, kind) in queued {
            persist(client, Command::Queue { kind: *kind, input: input(round, name) }).await?;
        }
        user_command(client, store, round).await?;
        compact(client).await?;
        persist(client, Command::Prompt { input: input(round, "prompt"), behavior: None }).await?;
        persist(client, Command::WaitIdle).await?;
        if answers(store) >= TURNS {
            return Ok(());
        }
    }
    Err(format!("the script is at answer {} when it should be over", answers(store)))
}

/// A user's words with an operation number that tells a repetition from a second message.
fn input(round: usize, name: &str) -> Input {
    Input { op: format!("{name}-{round}"), text: format!("{name} {round}"), ..Input::default() }
}

/// Sends a command until it is answered. One that guards could not decide about is sent again, too.
async fn persist(client: &AgentClient, command: Command) -> Result<Reply, String> {
    for _ in 0..REPETITIONS {
        match client.command(command.clone()).await {
            Ok(reply) => return Ok(reply),
            Err(error) if is_passing(&error) => sleep(PAUSE).await,
            Err(error) => return Err(format!("{command:?} is answered: {error}")),
        }
    }
    Err(format!("{command:?} is never answered"))
}

fn is_passing(error: &CommandError) -> bool {
    match error {
        CommandError::Lost => true,
        CommandError::Refused(text) => text.starts_with("Denied:"),
        _ => false,
    }
}

/// There is never anything to compact; only a lost answer is a reason to ask again.
async fn compact(client: &AgentClient) -> Result<(), String> {
    for _ in 0..REPETITIONS {
        match client.command(Command::Compact { instructions: None }).await {
            Err(CommandError::Lost) => sleep(PAUSE).await,
            Err(CommandError::Refused(_)) => return Ok(()),
            other => return Err(format!("a compaction of nothing is answered: {other:?}")),
        }
    }
    Err("a compaction is never answered".to_owned())
}

/// Runs a shell command of the user. A command has no operation number: whoever got no answer looks at the session.
async fn user_command(client: &AgentClient, store: &SessionStore, round: usize) -> Result<(), String> {
    let command = format!("command {round}");
    for _ in 0..REPETITIONS {
        let bash = Command::Bash { id: None, command: command.clone(), exclude_from_context: false };
        match client.command(bash).await {
            Ok(_) => return Ok(()),
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(format!("{command} is answered: {error}")),
        }
        sleep(PAUSE).await;
        persist(client, Command::WaitIdle).await?;
        if is_recorded(store, &command) {
            return Ok(());
        }
    }
    Err(format!("{command} is never answered"))
}

fn is_recorded(store: &SessionStore, command: &str) -> bool {
    store.view().entries().any(|entry| {
        matches!(entry.entry().body.as_message(), Some(AgentMessage::BashExecution(bash)) if bash.command == command)
    })
}
