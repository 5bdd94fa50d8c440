//! Spawning: from what is asked for to an agent that works, and again after a restart.

use std::{sync::Arc, time::Duration};

use ractor::ActorRef;

use super::{
    FleetMsg, FleetState,
    family_msg::{Answer, FamilyMsg, Noted},
    household::{Who, Work},
    making::{MakeWork, Making},
};
use crate::{
    actors::{
        address::Addr,
        family_board::{Admission, Member},
        family_notes::{Note, SpawnNote},
        reply::{CommandResult, ReplyTo},
        shared::AgentShared,
        spawn::spawn_worker,
    },
    protocol::{
        Command, CommandError, EntryId, Event,
        command::Input,
        sibling::{Receipt, SiblingError, SiblingId, SiblingSpec, SiblingState, SpawnReceipt},
    },
    store::session::session_id,
};

/// How long the fleet waits before it tries again what an actor that was just restarted did not take.
const AGAIN: Duration = Duration::from_millis(100);

impl FleetState {
    pub(super) async fn spawn_child(
        &mut self,
        myself: &ActorRef<FleetMsg>,
        parent: &Arc<str>,
        spec: SiblingSpec,
        reply: Answer<SpawnReceipt>,
    ) {
        let ending = self.closing.is_some() || self.leaving.contains_key(parent);
        let Some(parent) = self.agent(parent).filter(|_| !ending) else {
            return drop(reply.send(Err(SiblingError::Lost)));
        };
        if let Some(reason) = &parent.place.read_only {
            return drop(reply.send(Err(SiblingError::Refused(reason.clone()))));
        }
        if let Err(error) = spec.check() {
            return drop(reply.send(Err(error)));
        }
        let session_id = session_id();
        let note = SpawnNote {
            id: SiblingId::root(),
            session: parent.place.store.view().header().id.clone(),
            entry: EntryId::from(session_id.get(session_id.len() - 8..).unwrap_or("00000001")),
            session_file: None,
            session_id,
            spec,
        };
        let file = parent.place.store.path();
        let board = &parent.kin.board;
        match board.admit(&parent.kin, note, file.as_deref()) {
            Ok(Admission::New(id)) => {
                let who = (parent.kin.root.clone(), id);
                self.households.spawning.insert(who.clone(), reply);
                self.make(myself, parent, &who).await;
            }
            Ok(Admission::Existing(receipt)) => drop(reply.send(Ok(*receipt))),
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    /// Has a worker make an agent that has its place on the board.
    pub(super) async fn make(&mut self, myself: &ActorRef<FleetMsg>, parent: Arc<AgentShared>, who: &Who) {
        let Some((note, account)) = self.look(who, |member| (member.note().clone(), member.account.clone())) else {
            return;
        };
        if !self.households.making.insert(who.clone()) {
            return;
        }
        let first = self.households.spawning.contains_key(who);
        let work = MakeWork { parent, note, account, first, to: Addr::of(myself) };
        match spawn_worker("MakeSibling", who.1.to_string(), Making, (), work, myself.get_cell()).await {
            Ok(worker) => drop(self.households.workers.insert(worker.id(), (who.clone(), Work::Making))),
            Err(exit) => self.made(myself, who.clone(), Err(exit.cause().to_owned())).await,
        }
    }

    pub(super) async fn made(
        &mut self,
        myself: &ActorRef<FleetMsg>,
        who: Who,
        result: Result<Arc<AgentShared>, String>,
    ) {
        if !self.households.making.remove(&who) {
            return;
        }
        let stopped = self.look(&who, |member| member.stopping().map(str::to_owned)).flatten();
        let result = match stopped {
            Some(reason) => Err(format!("it was stopped: {reason}")),
            None => result,
        };
        match result {
            Ok(agent) => {
                self.change(&who, |member| member.made(agent.clone()));
                if !self.households.spawning.contains_key(&who) {
                    return self.begin(myself, &who).await;
                }
                let Some(note) = self.look(&who, |member| member.note().clone()) else { return };
                self.note(myself, &who, vec![Note::Spawn(Box::new(note)).entry().into()], Noted::Spawned);
            }
            Err(cause) => match self.households.spawning.remove(&who) {
                // Nobody but the one who spawned it knows of it.
                Some(reply) => {
                    self.withdraw(&who);
                    drop(reply.send(Err(SiblingError::NotMade(cause))));
                }
                None => self.fail(myself, &who, &cause),
            },
        }
    }

    pub(super) fn withdraw(&mut self, who: &Who) {
        if let Some(board) = self.board(&who.0) {
            board.withdraw(&who.1);
        }
        self.households.stops.gone(&who.0, &who.1);
        self.look_at_stops();
    }

    /// An agent of an earlier process, or one that was closed in this one, is needed.
    pub(super) async fn make_again(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        if let Some(parent) = self.parent_of(who) {
            self.make(myself, parent, who).await;
        }
    }

    /// Starts the actors of an agent that is made, and gives it its task.
    pub(super) async fn begin(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        let Some(agent) = self.live(who) else { return };
        if let Some(reason) = self.look(who, |member| member.stopping().map(str::to_owned)).flatten() {
            // It was aborted before it had begun.
            self.answer_spawn(who);
            return self.fail(myself, who, &reason);
        }
        if let Err(exit) = self.try_start(myself, agent.clone()).await {
            return self.fail(myself, who, exit.cause());
        }
        self.agents.insert(agent.id.clone(), agent.clone());
        self.watch(myself, &agent).await;
        if let Some(left) = agent.kin.account.time_left() {
            let (root, id) = who.clone();
            myself.send_after(left, || FleetMsg::Family(Box::new(FamilyMsg::TimeOver(root, id))));
        }
        if self.look(who, Member::task) == Some(0) {
            self.change(who, Member::idle);
            self.answer_spawn(who);
            self.publish(who, |status| Event::SiblingStart { sibling: Arc::new(status) });
            return;
        }
        self.give_task(myself, who);
    }

    /// Gives an agent the message of its task. It is stored under an id of its own, so that it is taken once.
    pub(super) fn give_task(&self, myself: &ActorRef<FleetMsg>, who: &Who) {
        let Some((agent, task, text, entry)) = self.look(who, |member| {
            let (text, entry) = match member.pending() {
                Some(note) => (note.message.clone(), note.entry.clone()),
                None => (member.spec().task.clone(), member.note().entry.clone()),
            };
            (member.live().cloned(), member.task(), text, entry)
        }) else {
            return;
        };
        let Some(agent) = agent else { return };
        let (me, (root, id)) = (Addr::of(myself), who.clone());
        let reply = ReplyTo::new(move |result| {
            me.tell(FleetMsg::Family(Box::new(FamilyMsg::Begun { root, id, task, result })));
        });
        let op = format!("{}#{task}", who.1);
        let input = Input { op, entry_id: Some(entry), verbatim: true, ..Input::text(text) };
        self.command(&agent.id, Command::Prompt { input, behavior: None }, reply);
    }

    pub(super) async fn begun(&mut self, myself: &ActorRef<FleetMsg>, who: Who, task: u32, result: CommandResult) {
        if self.look(&who, |member| member.task() != task || member.state() == SiblingState::Gone).unwrap_or(true) {
            return;
        }
        match result {
            Ok(_) => {
                self.change(&who, Member::begun);
                let first = self.households.spawning.contains_key(&who);
                self.answer_spawn(&who);
                if let Some(reply) = self.households.sending.remove(&who) {
                    drop(reply.send(Ok(Receipt::Delivered { task })));
                }
                self.publish(&who, |status| match first {
                    true => Event::SiblingStart { sibling: Arc::new(status) },
                    false => Event::SiblingUpdate { sibling: Arc::new(status) },
                });
                if let Some(agent) = self.live(&who).filter(|_| self.is_stopping(&who)) {
                    // The abort was faster than its first message.
                    self.command(&agent.id, Command::Abort, ReplyTo::nobody());
                }
                self.send_deferred(myself, &who).await;
                self.child_settled(myself, &who).await;
            }
            // The loop was restarted meanwhile; the next one knows whether it has the message.
            Err(CommandError::Lost) => {
                let (root, id) = who;
                let again = move || FamilyMsg::Begun { root, id, task, result: Err(CommandError::Busy) };
                myself.send_after(AGAIN, || FleetMsg::Family(Box::new(again())));
            }
            Err(CommandError::Busy) => self.give_task(myself, &who),
            Err(error) => {
                self.answer_spawn(&who);
                self.fail(myself, &who, &error.to_string());
            }
        }
    }

    pub(super) fn answer_spawn(&mut self, who: &Who) {
        if let Some(reply) = self.households.spawning.remove(who) {
            drop(reply.send(Ok(SpawnReceipt { id: who.1.clone(), existing: false, end: None })));
        }
    }

    /// Children of an agent that was just opened, whose tasks have not ended, go on.
    pub(super) async fn take_up_children(&mut self, myself: &ActorRef<FleetMsg>, parent: &Arc<AgentShared>) {
        if parent.place.read_only.is_some() {
            return;
        }
        for id in parent.kin.board.children(&parent.kin.id) {
            let who = (parent.kin.root.clone(), id);
            let Some((busy, live)) = self.look(&who, |member| (member.is_busy(), member.live().cloned())) else {
                continue;
            };
            match live {
                None if busy => self.make(myself, parent.clone(), &who).await,
                // The fleet was restarted; it knows nothing of what was under way.
                Some(live) if self.agents.contains_key(&live.id) => {
                    self.watch(myself, &live).await;
                    match self.look(&who, Member::state) {
                        Some(SiblingState::Starting) => self.give_task(myself, &who),
                        Some(SiblingState::Stopping) => self.close_child(myself, &who),
                        _ => self.child_settled(myself, &who).await,
                    }
                }
                Some(_) if busy => self.begin(myself, &who).await,
                _ => {}
            }
        }
    }
}
