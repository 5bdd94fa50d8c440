//! Stopping, pausing and aborting siblings.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use ractor::ActorRef;

use super::{
    FleetMsg, FleetState,
    family_msg::{Answer, FamilyMsg, Noted},
    household::{Who, Work},
    worktree::{self, Clearing},
};
use crate::{
    actors::{
        address::Addr,
        family_board::Member,
        family_notes::{GoneNote, Note},
        reply::ReplyTo,
        spawn::spawn_worker,
    },
    protocol::{
        Command, Event,
        session_change::{SessionEndReason, SessionShutdownAsk},
        sibling::{Receipt, SiblingEnd, SiblingError, SiblingId, SiblingState, SiblingStatus, WorktreeFate},
    },
};

/// A stop that is under way.
struct Stop {
    root: Arc<str>,
    asked: Vec<SiblingId>,
    /// Those that are not gone yet.
    left: BTreeSet<SiblingId>,
    fate: WorktreeFate,
    reply: Option<Answer<Vec<SiblingEnd>>>,
}

/// All stops that are under way.
#[derive(Default)]
pub(super) struct Stops(Vec<Stop>);

impl Stops {
    /// An agent is gone.
    pub fn gone(&mut self, root: &str, id: &SiblingId) {
        for stop in self.0.iter_mut().filter(|stop| &*stop.root == root) {
            stop.left.remove(id);
        }
    }

    fn fate(&self, who: &Who) -> WorktreeFate {
        let of = |stop: &&Stop| stop.root == who.0 && stop.left.contains(&who.1);
        self.0.iter().find(of).map_or(WorktreeFate::default(), |stop| stop.fate)
    }
}

impl FleetState {
    /// Ends siblings with all below them.
    pub(super) async fn stop_siblings(
        &mut self,
        myself: &ActorRef<FleetMsg>,
        parent: &str,
        names: &[String],
        (reason, grace, fate): (&str, Duration, WorktreeFate),
        reply: Answer<Vec<SiblingEnd>>,
    ) {
        let Some(parent) = self.agent(parent) else { return drop(reply.send(Err(SiblingError::Lost))) };
        let board = parent.kin.board.clone();
        let asked = match board.resolve_all(&parent.kin.id, names) {
            Ok(asked) => asked,
            Err(error) => return drop(reply.send(Err(error))),
        };
        let below = asked.iter().flat_map(|id| board.ids_below(id));
        let here = |id: &SiblingId| board.look(id, Member::state).is_some_and(|state| state != SiblingState::Gone);
        let left: BTreeSet<_> = asked.iter().cloned().chain(below).filter(here).collect();
        let root = parent.kin.root.clone();
        self.households.stops.0.push(Stop { root: root.clone(), asked, left: left.clone(), fate, reply: Some(reply) });
        for id in left {
            let who = (root.clone(), id);
            let before = board.look(&who.1, Member::state);
            board.change(&who.1, |member| member.stop(reason, true));
            self.publish(&who, |status| Event::SiblingUpdate { sibling: Arc::new(status) });
            let Some(agent) = self.live(&who) else {
                // One that is being made sees it when it is made.
                if before != Some(SiblingState::Starting) {
                    self.clear_away(myself, &who).await;
                }
                continue;
            };
            let works = matches!(before, Some(SiblingState::Running));
            agent.kin.gate.set_closed(true);
            if !works || grace.is_zero() || agent.kin.gate.holds() {
                self.close_child(myself, &who);
            } else {
                let (root, id) = who;
                myself.send_after(grace, || FleetMsg::Family(Box::new(FamilyMsg::GraceOver(root, id))));
            }
        }
        self.look_at_stops();
    }

    /// Closes an agent that is to go; its trace is aborted first.
    pub(super) fn close_child(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        if self.look(who, Member::state) != Some(SiblingState::Stopping) {
            return;
        }
        let name = self.name(who);
        if !self.members.has(&name) {
            // It is gone when its worktree is.
            if !self.is_being_cleared(who) {
                self.note_gone(myself, who);
            }
            return;
        }
        if !self.leaving.contains_key(&name) {
            let farewell = SessionShutdownAsk { reason: SessionEndReason::Quit, target_session_file: None };
            self.leave(myself, &name, farewell, None);
        }
    }

    /// An agent waits at its gate.
    pub(super) fn held(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        self.close_child(myself, who);
    }

    /// The actors of a child are gone.
    pub(super) async fn child_closed(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        self.unwatch(who);
        if self.look(who, Member::state) != Some(SiblingState::Stopping) {
            // It goes with its parent, and comes back with it.
            self.change(who, Member::closed);
            return;
        }
        self.clear_away(myself, who).await;
    }

    fn is_being_cleared(&self, who: &Who) -> bool {
        self.households.workers.values().any(|(of, work)| of == who && *work == Work::Clearing)
    }

    /// The actors of a child that was stopped are not there: its worktree goes, and then it is gone.
    async fn clear_away(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        if self.is_being_cleared(who) {
            return;
        }
        let note = self.look(who, |member| member.is_apart().then(|| member.note().clone())).flatten();
        let Some(note) = note else { return self.note_gone(myself, who) };
        let fate = self.households.stops.fate(who);
        let into = self.parent_of(who).map(|parent| parent.config.cwd.clone());
        let to = Addr::of(myself);
        let (root, id) = who.clone();
        let work = Clearing { note, root: root.clone(), into, fate, to, then: FamilyMsg::Cleared(root, id) };
        match spawn_worker("ClearWorktree", who.1.to_string(), worktree::Clear, (), work, myself.get_cell()).await {
            Ok(worker) => drop(self.households.workers.insert(worker.id(), (who.clone(), Work::Clearing))),
            Err(_) => self.note_gone(myself, who),
        }
    }

    /// The worktree of a child is away. Its worker has nothing more to say.
    pub(super) fn cleared(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        self.households.workers.retain(|_, (of, work)| of != who || *work != Work::Clearing);
        self.note_gone(myself, who);
    }

    /// Notes in the parent's session that an agent is gone for good.
    pub(super) fn note_gone(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        let note = Note::Gone(GoneNote { id: who.1.clone() });
        self.note(myself, who, vec![note.entry().into()], Noted::Gone);
    }

    pub(super) fn gone_for_good(&mut self, who: &Who) {
        if let Some(agent) = self.live(who) {
            agent.config.questions.forget(&agent.id);
        }
        self.change(who, Member::gone);
        if let Some(reply) = self.households.spawning.remove(who) {
            drop(reply.send(Err(SiblingError::NotMade("it was stopped".to_owned()))));
        }
        if let Some(reply) = self.households.sending.remove(who) {
            drop(reply.send(Ok(Receipt::Dead)));
        }
        for (_, _, reply) in self.households.deferred.remove(who).unwrap_or_default() {
            drop(reply.send(Ok(Receipt::Dead)));
        }
        self.publish(who, |status| Event::SiblingUpdate { sibling: Arc::new(status) });
        self.households.stops.gone(&who.0, &who.1);
        self.look_at_stops();
        self.look_at_waits();
    }

    /// Answers those who stopped agents that are all gone.
    pub(super) fn look_at_stops(&mut self) {
        let done: Vec<_> = self.households.stops.0.extract_if(.., |stop| stop.left.is_empty()).collect();
        for mut stop in done {
            let board = self.board(&stop.root);
            let ends = stop.asked.iter().filter_map(|id| board.as_ref()?.last_end(id)).collect();
            if let Some(reply) = stop.reply.take() {
                drop(reply.send(Ok(ends)));
            }
        }
    }

    /// Holds agents at their next turn boundary, or lets them go on.
    pub(super) fn hold(
        &self,
        parent: &str,
        names: &[String],
        paused: bool,
    ) -> Result<Vec<SiblingStatus>, SiblingError> {
        let parent = self.agent(parent).ok_or(SiblingError::Lost)?;
        let board = &parent.kin.board;
        let ids = board.resolve_all(&parent.kin.id, names)?;
        for id in &ids {
            let live =
                board.look(id, |member| member.live().filter(|_| member.state() != SiblingState::Stopping).cloned());
            let Some(agent) = live.flatten() else { continue };
            agent.kin.gate.set_closed(paused);
            board.change(id, |member| member.hold(paused));
            let who = (parent.kin.root.clone(), id.clone());
            self.publish(&who, |status| Event::SiblingUpdate { sibling: Arc::new(status) });
        }
        Ok(ids.iter().filter_map(|id| board.status(id)).collect())
    }

    /// The trace of an agent is aborted: all below it end what they do. They stay open.
    pub(super) fn abort_below(&mut self, agent: &str) {
        let Some(agent) = self.agent(agent) else { return };
        for id in agent.kin.board.ids_below(&agent.kin.id) {
            let who = (agent.kin.root.clone(), id);
            if !self.look(&who, Member::is_busy).unwrap_or(false) {
                continue;
            }
            let reason = format!("{} was aborted", agent.kin.id);
            self.change(&who, |member| member.stop(&reason, false));
            if let Some(child) = self.live(&who) {
                self.command(&child.id, Command::Abort, ReplyTo::nobody());
            }
        }
    }

    /// The end of an agent's task is stored: one that is to go need not wait for that any more.
    pub(super) fn end_noted(&mut self, myself: &ActorRef<FleetMsg>, name: &Arc<str>) {
        if self.leaving.contains_key(name) {
            Addr::of(myself).tell(FleetMsg::Idle(name.clone()));
        }
    }

    /// All below an agent that is closed are closed before it: what they did is stored in its session.
    pub(super) fn leave_below(&mut self, myself: &ActorRef<FleetMsg>, agent: &str, farewell: &SessionShutdownAsk) {
        let Some(agent) = self.agent(agent) else { return };
        for id in agent.kin.board.ids_below(&agent.kin.id) {
            let name = agent.kin.agent(&id);
            if self.members.has(&name) && !self.leaving.contains_key(&name) {
                agent.kin.board.change(&id, |member| member.stop("its session was closed", false));
                self.leave(myself, &name, farewell.clone(), None);
            }
        }
    }

    /// Whether agents that were spawned by this one still run.
    pub(super) fn has_open_children(&self, agent: &str) -> bool {
        self.agent(agent).is_some_and(|agent| {
            let children = agent.kin.board.children(&agent.kin.id);
            children.iter().any(|id| self.members.has(&agent.kin.agent(id)))
        })
    }

    /// Whether the end of an agent that is leaving is not stored yet.
    pub(super) fn owes_end(&self, name: &str) -> bool {
        let Some(agent) = self.agent(name) else { return false };
        let who = (agent.kin.root.clone(), agent.kin.id.clone());
        agent.kin.parent.is_some() && self.look(&who, Member::is_busy).unwrap_or(false)
    }
}
