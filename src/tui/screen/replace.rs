//! Another session in the place of the one in front.

use super::{ScreenMsg, ScreenState, Wisher};
use crate::{
    actors::{
        address::Recipient,
        agent_factory::MadeAgent,
        front::client::AgentClient,
        replacing::{ReplaceWork, Replaced},
    },
    extensions::backstage::WantedSession,
    protocol::{Event, event::NoticeLevel, session_change::SessionChange},
    tui::model::Msg,
};

impl ScreenState {
    pub(super) async fn wanted(&mut self, WantedSession { agent, change, then }: WantedSession) {
        if agent != self.agent.shared.id {
            then(Err(format!("the agent {agent} is not in front of anybody any more")));
        } else if self.replacing.is_some() {
            then(Err("the session is being replaced already".to_owned()));
        } else {
            self.replace(change, Some(then)).await;
        }
    }

    pub(super) async fn replace(&mut self, change: SessionChange, wisher: Wisher) {
        if self.replacing.is_some() {
            return self.model.flash("The session is being replaced already");
        }
        let work = ReplaceWork {
            client: self.agent.clone(),
            parts: self.parts.clone(),
            factory: self.factory.clone(),
            change,
            to: Recipient::new(self.me.clone(), ScreenMsg::Replaced),
        };
        self.replacing = Some((work.begin(self.myself.get_cell()).await, wisher));
        self.model.replacing = true;
    }

    pub(super) async fn replaced(&mut self, replaced: Replaced) {
        let Some((_, wisher)) = self.replacing.take() else { return };
        let mut answer = Ok(None);
        let mut notices = Vec::new();
        match &replaced {
            Replaced::Done { agent: MadeAgent { shared }, notices: told, .. } => {
                self.agent = AgentClient { shared: shared.clone(), fleet: self.parts.fleet.clone() };
                self.memory.set_agent(shared.clone());
                answer = Ok(Some(shared.id.clone()));
                notices.clone_from(told);
            }
            Replaced::Cancelled => {}
            Replaced::Failed(cause) => answer = Err(cause.clone()),
        }
        let is_new = matches!(replaced, Replaced::Done { .. });
        self.update(Msg::Replaced(Box::new(replaced))).await;
        if is_new {
            let warnings = self.find_keys().into_iter().chain(self.find_themes());
            notices.extend(warnings.map(|text| Event::Notice { level: NoticeLevel::Warning, text }));
            self.retheme();
            self.watch();
            self.look().await;
            self.agent.shared.publish(notices);
            self.begin().await;
        }
        if let Some(wisher) = wisher {
            wisher(answer);
        }
        self.draw();
    }
}
