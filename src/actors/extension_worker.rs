//! The worker that runs one piece of an extension's code. It may wait; its death is a failure of that piece alone.

use std::{sync::Arc, time::Duration};

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::{extension::Waiting, reply::ReplyTo};
use crate::{
    extensions::{AgentHandle, Control, Extension, Observed, bus::BusMessage, commands::CommandCall, contract},
    protocol::{Reply, command::Disposition},
};

/// How long an extension may look at events: as long as it does, it is not asked.
const OBSERVING: Duration = Duration::from_secs(30);
/// How long an extension may take for a message of the bus.
const HEARING: Duration = Duration::from_secs(30);

/// The one message of the worker.
pub(super) enum Work {
    /// A question.
    Ask(Box<Waiting>, AgentHandle),
    /// Events.
    Observe(Observed, AgentHandle),
    /// A message of the bus.
    Hear(BusMessage, Control),
    /// A command.
    Command {
        /// The agent that it was given to.
        agent: AgentHandle,
        /// The command.
        call: CommandCall,
        /// Who waits for its end.
        given: Given,
    },
}

impl Work {
    /// The kind of actor that does it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Ask(..) => "Ask",
            Self::Observe(..) => "Observe",
            Self::Hear(..) => "Hear",
            Self::Command { .. } => "ExtensionCommand",
        }
    }
}

/// The duty to say that a command has been dealt with. How it went is told, not answered: it was given to the extension.
/// Dropped, it says that the extension died.
#[derive(Debug)]
pub struct Given(Option<(ReplyTo, AgentReport)>);

/// Where a failure of a command is told.
struct AgentReport(AgentHandle);

impl std::fmt::Debug for AgentReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.id())
    }
}

impl Given {
    /// A command whose end `reply` waits for.
    #[must_use]
    pub fn new(reply: ReplyTo, agent: AgentHandle) -> Self {
        agent.control().backstage().command_begins();
        Self(Some((reply, AgentReport(agent))))
    }

    fn done(mut self, result: Result<(), String>) {
        self.end(result);
    }

    fn end(&mut self, result: Result<(), String>) {
        let Some((reply, AgentReport(agent))) = self.0.take() else { return };
        if let Err(error) = result {
            agent.report("command", error);
        }
        reply.send(Ok(Reply::Input(Disposition::Handled)));
        agent.control().backstage().command_over();
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        self.end(Err("the extension died before the command was done".to_owned()));
    }
}

/// The worker.
pub(super) struct ExtensionWorker;

impl Actor for ExtensionWorker {
    type Msg = Work;
    type State = Arc<dyn Extension>;
    type Arguments = Arc<dyn Extension>;

    async fn pre_start(
        &self,
        _: ActorRef<Work>,
        extension: Arc<dyn Extension>,
    ) -> Result<Arc<dyn Extension>, ActorProcessingErr> {
        Ok(extension)
    }

    async fn handle(
        &self,
        myself: ActorRef<Work>,
        work: Work,
        extension: &mut Arc<dyn Extension>,
    ) -> Result<(), ActorProcessingErr> {
        let late = |limit: Duration| format!("it took longer than {} s", limit.as_secs());
        match work {
            Work::Ask(waiting, agent) => answer(&**extension, *waiting, agent).await,
            Work::Observe(observed, agent) => {
                let _panics = Panics(agent.clone());
                let pause = agent.pause().clone();
                let done = pause.within(OBSERVING, extension.observe(observed, agent.clone())).await;
                match done {
                    Some(Ok(())) => {}
                    Some(Err(error)) => agent.report("event", error.to_string()),
                    None => agent.report("event", late(OBSERVING)),
                }
            }
            Work::Hear(message, control) => {
                let channel = &*message.channel.clone();
                match tokio::time::timeout(HEARING, extension.heard(message, &control)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => control.report(channel, error.to_string()),
                    Err(_) => control.report(channel, late(HEARING)),
                }
            }
            Work::Command { agent, call, given } => {
                let result = extension.command(call, agent).await;
                given.done(result.map_err(|error| error.to_string()));
            }
        }
        myself.stop(None);
        Ok(())
    }
}

/// Tells of a panic of an observer. One that is killed is not: then somebody wanted its end.
struct Panics(AgentHandle);

impl Drop for Panics {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.report("event", "it died");
        }
    }
}

async fn answer(extension: &dyn Extension, waiting: Waiting, agent: AgentHandle) {
    let Waiting { ask, deadline, pause, mut reply, .. } = waiting;
    // Who asked may have gone away: then nobody needs the answer.
    let answer = tokio::select! {
        answer = pause.within(deadline, contract::answer(extension, ask, agent)) => answer,
        () = reply.closed() => return,
    };
    let answer = match answer {
        Some(answer) => answer.map_err(|error| error.to_string()),
        None => Err(format!("no answer within {} ms", deadline.as_millis())),
    };
    // Nobody waits any more: nothing to do.
    let _ = reply.send(answer);
}
