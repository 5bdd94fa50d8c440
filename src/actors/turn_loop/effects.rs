//! Carrying out the machine's effects.

use std::{collections::VecDeque, mem, sync::Arc, time::Duration};

use ractor::ActorRef;
use serde_json::Value;

use super::{LoopMsg, LoopState};
use crate::{
    actors::{
        branch_news::BranchNews,
        compactor::CompactorMsg,
        session_writer::WriterMsg,
        turn::message_of,
        turn_io::{Effect, Input, NewEntry, Work},
    },
    protocol::{
        AgentMessage, EntryBody, EntryId, Event, Failure, FailureClass,
        ask::{Ask, AskPoint},
        event::NoticeLevel,
        run_messages::StoredMessages,
        time::now_ms,
    },
    store::tree::TreeView,
};

/// The session, as those see it who want the messages of a run.
struct Stored(TreeView);

impl StoredMessages for Stored {
    fn message(&self, entry: &EntryId) -> Option<AgentMessage> {
        message_of(&self.0.find(entry)?.entry_once())
    }
}

impl LoopState {
    pub(super) async fn perform(&mut self, myself: &ActorRef<LoopMsg>, effects: Vec<Effect>) {
        let mut todo: VecDeque<Effect> = effects.into();
        let mut events = Vec::new();
        while let Some(effect) = todo.pop_front() {
            if let Effect::Publish(mut event) = effect {
                if let Event::AgentEnd { messages, .. } = &mut event
                    && let Some(tree) = self.shared.tree()
                {
                    *messages = mem::take(messages).read_from(Arc::new(Stored(tree)));
                }
                self.spans.note(&self.shared.id, &event);
                self.note_rest(&event);
                events.push(event);
                continue;
            }
            if !events.is_empty() {
                self.shared.publish(mem::take(&mut events));
            }
            if let Effect::Journal(note) = effect {
                // Notes that belong together are written in one piece: half of them would be another truth.
                let mut notes = vec![note];
                while let Some(Effect::Journal(note)) = todo.pop_front_if(|next| matches!(next, Effect::Journal(_))) {
                    notes.push(note);
                }
                self.shared.writer.tell(WriterMsg::Notes(notes));
                continue;
            }
            // Some effects are answered on the spot; what follows from that comes after what is already wanted.
            if let Some(input) = self.carry_out(myself, effect).await
                && let Some(more) = self.step(input)
            {
                todo.extend(more);
            }
        }
        if !events.is_empty() {
            self.shared.publish(events);
        }
    }

    async fn carry_out(&mut self, myself: &ActorRef<LoopMsg>, effect: Effect) -> Option<Input> {
        match effect {
            Effect::Publish(event) => self.shared.publish(vec![event]),
            Effect::Reply(ticket, result) => {
                if let Some(reply) = self.tickets.remove(&ticket) {
                    self.answer(reply, result);
                }
            }
            Effect::Journal(note) => self.shared.writer.tell(WriterMsg::Notes(vec![note])),
            Effect::Store { work, entries, declare } => return self.store(myself, work, entries, declare).await,
            Effect::Ask { work, ask } => return self.ask(myself, work, ask).await,
            Effect::Select { model, thinking_level } => self.select(model, thinking_level),
            Effect::Prepare { work, system_prompt } => return self.prepare(myself, work, system_prompt).await,
            Effect::Call { work } => return self.call(myself, work).await,
            Effect::RunTools { work, entry, calls, places } => {
                return self.run_tools(myself, work, entry, calls, places).await;
            }
            Effect::Compact { work, reason, instructions, will_retry } => {
                let to = self.inputs();
                let ask = CompactorMsg::Compact { reason, instructions, will_retry, to, work };
                if self.shared.compactor.try_tell(ask).is_err() {
                    return Some(Input::Compacted { work, result: Err("the compactor is not running".into()) });
                }
            }
            Effect::Wait { work, ms } => {
                myself.send_after(Duration::from_millis(ms), move || LoopMsg::Input(Input::TimeUp { work }));
            }
            Effect::Cancel => self.cancel(myself),
            Effect::Settle => {
                self.shared.writer.tell(WriterMsg::Settled);
                self.settled();
            }
        }
        None
    }

    /// Stores entries; before them the change of prompt and tools, and news of jobs. Extensions look at messages first.
    async fn store(
        &mut self,
        myself: &ActorRef<LoopMsg>,
        work: Work,
        mut entries: Vec<NewEntry>,
        declare: bool,
    ) -> Option<Input> {
        if declare {
            let kin = &self.shared.kin;
            // What wakes the model tells the ends itself.
            let mut told = self.sibling_news.clone();
            entries.iter().for_each(|entry| told.read(&entry.body));
            let siblings = told.news(&kin.board, &kin.id);
            let news = self.job_news.news(&self.shared.job_board).into_iter().chain(siblings).map(NewEntry::from);
            entries.splice(0..0, self.declaration().into_iter().chain(news));
        }
        if entries.is_empty() {
            return Some(Input::Stored { work, result: Ok(Vec::new()) });
        }
        if self.shared.config.chain.has(AskPoint::MessageEnd)
            && entries.iter().any(|entry| entry.body.as_message().is_some())
        {
            return self.check(myself, work, entries).await;
        }
        self.append(work, entries);
        None
    }

    pub(super) fn append(&mut self, work: Work, entries: Vec<NewEntry>) {
        let to = self.inputs();
        if self.shared.writer.try_tell(WriterMsg::Append { work, entries, to }).is_err() {
            // The writer's end is this loop's end too: the supervisor starts both again.
            tracing::warn!("the session's writer is not running");
        }
    }

    /// The system message that declares what changed in the prompt and the tools.
    fn declaration(&mut self) -> Option<NewEntry> {
        let tools = self.shared.active_tools();
        let sections = self.shared.prompt_sections();
        let tools: Vec<_> = tools.iter().map(|tool| tool.declaration()).collect();
        let tree = self.shared.tree();
        let declared = self.declared.get_or_insert_with(|| tree.map(|tree| tree.system()).unwrap_or_default());
        let delta = declared.delta(&sections, &tools, now_ms())?;
        Some(EntryBody::Message { message: AgentMessage::System(delta.into()) }.into())
    }

    async fn ask(&mut self, myself: &ActorRef<LoopMsg>, work: Work, ask: Ask) -> Option<Input> {
        if !self.shared.config.chain.has(ask.point()) {
            let verdict = self.settle_verdict(&ask);
            return Some(Input::Asked { work, verdict });
        }
        let ask = match ask {
            Ask::BeforeAgentStart(mut ask) => {
                let sections = self.shared.prompt_sections();
                ask.system_prompt = sections.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n\n");
                Ask::BeforeAgentStart(ask)
            }
            ask => ask,
        };
        self.spawn_asker(myself, work, ask).await
    }

    async fn prepare(
        &mut self,
        myself: &ActorRef<LoopMsg>,
        work: Work,
        system_prompt: Option<String>,
    ) -> Option<Input> {
        let (model, thinking) = self.selected();
        let (Some(model), Some(tree)) = (model, self.shared.tree()) else {
            let text = "No model is selected. Choose one with --model, or set a key for a provider.";
            let failure = Failure::new(FailureClass::NotFound, text);
            return Some(Input::Prepared { work, result: Err(failure) });
        };
        self.spawn_prepare(myself, work, tree, model, thinking, system_prompt).await
    }

    /// Asks the current worker to end; what cannot be asked is killed, and what does not listen, too.
    fn cancel(&mut self, myself: &ActorRef<LoopMsg>) {
        /// Workers that end by themselves get this long, a little more than a batch gives its calls.
        const GRACE: Duration = Duration::from_millis(400);
        // It has a worker of its own, and does not mind when it has none.
        drop(self.shared.compactor.try_tell(CompactorMsg::Cancel));
        let Some(worker) = &self.worker else { return };
        match &worker.cancel {
            Some(cancel) => {
                cancel();
                let work = worker.work;
                myself.send_after(GRACE, move || LoopMsg::GraceOver(work));
            }
            None => (worker.kill)(),
        }
    }

    fn select(
        &mut self,
        model: Option<crate::protocol::ModelRef>,
        thinking_level: Option<crate::protocol::ThinkingLevel>,
    ) {
        if let Some(name) = model {
            match self.shared.config.catalogue.now().find(&name) {
                Some(model) => self.shared.selection().model = Some(model),
                None => {
                    let text = format!("An extension chose the model {name}, which is unknown; the model stays.");
                    self.shared.publish(vec![Event::Notice { level: NoticeLevel::Warning, text }]);
                }
            }
        }
        let level = {
            let mut selection = self.shared.selection();
            let wanted = thinking_level.unwrap_or(selection.thinking);
            let level = selection.model.as_ref().map_or(wanted, |model| model.clamp_thinking(wanted));
            (mem::replace(&mut selection.thinking, level) != level).then_some(level)
        };
        if let Some(level) = level {
            self.shared.publish(vec![Event::ThinkingLevelChanged { level }]);
        }
        self.selection_changed();
    }

    /// The machine must know what the next answer is made with.
    pub(super) fn selection_changed(&mut self) {
        let identity = self.identity();
        let (retry, auto_compaction) = {
            let selection = self.shared.selection();
            (selection.retry, selection.auto_compaction)
        };
        let full = auto_compaction && self.is_full();
        if let Some(turn) = self.turn.as_mut() {
            turn.full = full;
            turn.stays_full = false;
            turn.identity = identity;
            turn.retry = retry;
            turn.auto_compaction = auto_compaction;
        }
    }

    /// Keeps a setting that a command changed; a failure is told, and the command stands for this process.
    pub(super) fn keep_setting(&self, path: &[&str], value: Value) {
        if let Err(cause) = self.shared.config.settings.set(path, value) {
            let text = format!("The setting {} could not be saved: {cause}", path.join("."));
            self.shared.publish(vec![Event::Notice { level: NoticeLevel::Warning, text }]);
        }
    }
}
