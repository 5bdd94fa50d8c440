//! The start of a team in the place of a front.

use std::sync::Arc;

use ractor::ActorCell;

use super::{Team, TeamArgs, TeamMsg, TeamRun};
use crate::actors::{
    address::Recipient,
    fleet::family::Family,
    front::client::AgentClient,
    reply::ReplyTo,
    runtime::{FrontFactory, FrontStart, Parts},
    shared::AgentShared,
    spawn::spawn,
};

/// Starts the team.
pub struct TeamFactory {
    /// The agent that the others are below.
    pub root: Arc<AgentShared>,
    /// The run.
    pub run: Arc<TeamRun>,
}

impl FrontFactory for TeamFactory {
    fn start(&self, parts: Parts, done: Recipient<i32>, supervisor: ActorCell) -> FrontStart<'_> {
        Box::pin(async move {
            let args = TeamArgs { run: self.run.clone(), family: Family::of(&self.root), done };
            let team = spawn("Team", self.run.team.name.clone(), Team, args, supervisor).await?;
            let to = team.clone();
            let client = AgentClient { shared: self.root.clone(), fleet: parts.fleet };
            client.open(ReplyTo::new(move |result| {
                let opened = result.map(drop).map_err(|error| error.to_string());
                to.tell(TeamMsg::Opened(opened));
            }));
            Ok(team.actor().get_cell())
        })
    }
}
