//! Ends of tasks: looked at by a worker, stored in the parent's session, and only then told.

use std::sync::Arc;

use ractor::ActorRef;

use super::{
    FleetMsg, FleetState,
    ending::{EndWork, Ending, unread},
    family_msg::{FamilyMsg, Noted},
    household::{StoredEnd, Who, Work},
};
use crate::{
    actors::{
        account::Exhausted,
        address::Addr,
        family_notes::{END_CHARS, Note, usage_entry},
        reply::ReplyTo,
        spawn::spawn_worker,
        turn_io::NewEntry,
        turn_loop::LoopMsg,
    },
    protocol::{
        Command, EntryId, Event,
        sibling::{Outcome, SiblingEnd, SiblingState},
    },
    store::tree::ids::fresh_id,
    tools::truncate::cut_to_units,
};

/// So many workers may die at one end.
const LOOKS: u8 = 3;

impl FleetState {
    /// No trace of a child runs: its task has ended, unless it waits for children of its own.
    pub(super) async fn child_settled(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        let Some(board) = self.board(&who.0) else { return };
        let found = board.look(&who.1, |member| {
            let working =
                matches!(member.state(), SiblingState::Running | SiblingState::Paused | SiblingState::Stopping);
            let ready = working && member.is_busy() && member.pending().is_none();
            let isolation = member.spec().isolation;
            member
                .live()
                .filter(|_| ready)
                .map(|live| (live.clone(), member.task(), isolation, member.stopping().map(str::to_owned)))
        });
        let Some((agent, task, isolation, stopping)) = found.flatten() else { return };
        let is_idle = *agent.phase.borrow() == "idle";
        let waits = stopping.is_none() && board.awaits_news(&who.1);
        if !is_idle || waits || self.households.ending.contains_key(who) {
            return;
        }
        self.households.ending.insert(who.clone(), None);
        let work = EndWork { agent, task, isolation, stopping, to: Addr::of(myself) };
        self.look_at_end(myself, who, work, 1).await;
    }

    async fn look_at_end(&mut self, myself: &ActorRef<FleetMsg>, who: &Who, work: EndWork, attempt: u8) {
        let (agent, task) = (work.agent.clone(), work.task);
        match spawn_worker("EndSibling", who.1.to_string(), Ending, (), work, myself.get_cell()).await {
            Ok(worker) => drop(self.households.workers.insert(worker.id(), (who.clone(), Work::Ending { attempt }))),
            Err(exit) => self.looked(myself, &who.0, Box::new(unread(&agent, task, exit.cause()))),
        }
    }

    /// The worker that looked at an end died without a word. A look changes nothing, so it is taken again.
    pub(super) async fn look_lost(&mut self, myself: &ActorRef<FleetMsg>, who: &Who, attempt: u8) {
        let (Some(None), Some(agent)) = (self.households.ending.get(who), self.live(who)) else { return };
        let found =
            self.look(who, |member| (member.task(), member.spec().isolation, member.stopping().map(str::to_owned)));
        let Some((task, isolation, stopping)) = found else { return };
        if attempt >= LOOKS {
            let end = unread(&agent, task, "the worker that looked at it died");
            return self.looked(myself, &who.0, Box::new(end));
        }
        let work = EndWork { agent, task, isolation, stopping, to: Addr::of(myself) };
        self.look_at_end(myself, who, work, attempt + 1).await;
    }

    /// An agent cannot go on: its task has ended in failure.
    pub(super) fn fail(&mut self, myself: &ActorRef<FleetMsg>, who: &Who, cause: &str) {
        let Some((task, busy, file)) =
            self.look(who, |member| (member.task(), member.is_busy(), member.note().session_file.clone()))
        else {
            return;
        };
        if !busy || self.households.ending.contains_key(who) {
            return;
        }
        let outcome = match Exhausted::parse(cause) {
            Some(Exhausted { what, message }) => Outcome::Budget { what, message },
            None if self.is_stopping(who) => Outcome::Stopped { message: cause.to_owned() },
            None => Outcome::Failed { message: cause.to_owned(), may_pass: false },
        };
        let end = SiblingEnd {
            id: who.1.clone(),
            task,
            outcome,
            text: String::new(),
            truncated: false,
            usage: Default::default(),
            model: None,
            session_file: file,
            patch: None,
        };
        self.households.ending.insert(who.clone(), None);
        self.looked(myself, &who.0, Box::new(end));
    }

    pub(super) fn looked(&mut self, myself: &ActorRef<FleetMsg>, root: &Arc<str>, end: Box<SiblingEnd>) {
        let who = (root.clone(), end.id.clone());
        let Some(place) = self.households.ending.get_mut(&who) else { return };
        if place.is_none() {
            *place = Some(StoredEnd { end, ids: Vec::new() });
            self.note_end(myself, &who);
        }
    }

    pub(super) fn note_end(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        let tree = self.parent_of(who).and_then(|parent| parent.tree());
        let Some(Some(stored)) = self.households.ending.get_mut(who) else { return };
        let mut short = (*stored.end).clone();
        if let Some(cut) = cut_to_units(&short.text, END_CHARS) {
            short = SiblingEnd { text: cut.to_owned(), truncated: true, ..short };
        }
        let usage = usage_entry(&short);
        let bodies = [Some(Note::End(Box::new(short)).entry()), usage].into_iter().flatten();
        let mut entries: Vec<NewEntry> = bodies.map(NewEntry::from).collect();
        let taken = |id: &EntryId| tree.as_ref().is_some_and(|tree| tree.find(id).is_some());
        while stored.ids.len() < entries.len() {
            stored.ids.push(fresh_id(taken));
        }
        for (entry, id) in entries.iter_mut().zip(&stored.ids) {
            entry.reserved = Some(id.clone());
        }
        let then = Noted::Ended(stored.end.clone());
        self.note(myself, who, entries, then);
    }

    /// Whether an end whose storing was not acknowledged is there all the same.
    pub(super) fn is_end_stored(&self, who: &Who) -> bool {
        let Some(Some(stored)) = self.households.ending.get(who) else { return false };
        let tree = self.parent_of(who).and_then(|parent| parent.tree());
        stored.ids.first().is_some_and(|id| tree.is_some_and(|tree| tree.find(id).is_some()))
    }

    /// An end is stored: whoever waits for it is told.
    pub(super) async fn told(&mut self, myself: &ActorRef<FleetMsg>, who: &Who, end: SiblingEnd) {
        self.households.ending.remove(who);
        self.change(who, |member| member.ended(end.clone()));
        let end = Arc::new(end);
        self.publish(who, |status| Event::SiblingEnd { end: end.clone(), sibling: Arc::new(status) });
        self.look_at_waits();
        let name = self.name(who);
        self.end_noted(myself, &name);
        let wakes = end.wakes();
        let tells = self.look(who, |member| member.spec().tells_parent).unwrap_or(false);
        if let Some(parent) = self.parent_of(who) {
            let above = (who.0.clone(), parent.kin.id.clone());
            match tells && wakes {
                true => parent.turn_loop.tell(LoopMsg::News),
                false => Box::pin(self.child_settled(myself, &above)).await,
            }
        }
        self.send_deferred(myself, who).await;
    }

    pub(super) fn time_over(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        let Some((account, live)) = self.look(who, |member| (member.account.clone(), member.live().cloned())) else {
            return;
        };
        let Some(agent) = live else { return };
        match (account.exhausted(), account.time_left()) {
            (Some(exhausted), _) => {
                self.change(who, |member| member.stop(&exhausted.text(), false));
                self.command(&agent.id, Command::Abort, ReplyTo::nobody());
            }
            (None, Some(left)) => {
                let (root, id) = who.clone();
                myself.send_after(left, || FleetMsg::Family(Box::new(FamilyMsg::TimeOver(root, id))));
            }
            (None, None) => {}
        }
    }
}
