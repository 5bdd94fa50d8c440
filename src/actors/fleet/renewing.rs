//! Starting an agent again because somebody wants that: it goes on from its session's leaf.

use std::sync::Arc;

use ractor::ActorRef;

use super::{FleetMsg, FleetState, family::Family};
use crate::{
    actors::{
        family_board::Member,
        reply::{CommandResult, ReplyTo},
        shared::AgentShared,
    },
    protocol::{
        CommandError, Reply,
        sibling::{SiblingError, SiblingState},
    },
};

/// Ends the actors of an agent at once and starts them again: it goes on from its session's leaf, as after a crash. One
/// that was given up on gets another try. It does not count as one of the restarts after which an agent is given up.
///
/// # Errors
/// There is no such agent, or no fleet.
pub async fn renew(agent: &AgentShared) -> CommandResult {
    let (reply, answer) = ReplyTo::channel();
    // Dropping what could not be delivered answers that it is lost.
    drop(agent.kin.fleet.try_tell(FleetMsg::Renew { agent: agent.id.clone(), reply }));
    answer.await.unwrap_or(Err(CommandError::Lost))
}

impl Family {
    /// Starts a sibling again; see [`renew`].
    ///
    /// # Errors
    /// There is no such sibling, it is gone, or nobody has opened it since the program began.
    pub async fn restart(&self, id: &str) -> Result<(), SiblingError> {
        let kin = &self.agent().kin;
        let id = kin.board.resolve(&kin.id, id)?;
        let found = kin.board.look(&id, |member| (member.state(), member.live().cloned()));
        let refused = |why: &str| Err(SiblingError::Refused(format!("{id} cannot be started again: {why}")));
        match found {
            Some((SiblingState::Gone, _)) | None => refused("it is gone; spawn another one"),
            Some((SiblingState::Stopping, _)) => refused("it is being stopped"),
            Some((_, None)) => refused("it is not open; a message opens it"),
            Some((_, Some(agent))) => match renew(&agent).await {
                Ok(_) => Ok(()),
                Err(CommandError::Lost) => Err(SiblingError::Lost),
                Err(error) => Err(SiblingError::Refused(error.to_string())),
            },
        }
    }
}

impl FleetState {
    pub(super) async fn renew(&mut self, myself: &ActorRef<FleetMsg>, agent: &Arc<str>, reply: ReplyTo) {
        self.histories.remove(agent);
        if self.leaving.contains_key(agent) {
            return reply.send(Err(CommandError::Refused(format!("{agent} is being closed"))));
        }
        if let Some(member) = self.members.named(agent) {
            // What follows is what follows any death.
            member.addr.kill();
            return reply.send(Ok(Reply::Done));
        }
        let was_parked = self.parked.remove(agent).is_some();
        match self.agent(agent) {
            Some(shared) if was_parked => {
                self.start(myself, shared.clone()).await;
                let who = (shared.kin.root.clone(), shared.kin.id.clone());
                self.change(&who, Member::forget_stop);
                self.take_up_children(myself, &shared).await;
                reply.send(Ok(Reply::Done));
            }
            // Its restart is on its way.
            Some(_) => reply.send(Ok(Reply::Done)),
            None => reply.send(Err(CommandError::Refused(format!("There is no agent {agent}")))),
        }
    }
}
