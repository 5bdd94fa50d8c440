//! Commands: each ends in an input of the machine, a change of the selection, or another actor's mailbox.

use std::{mem, sync::Arc};

use ractor::ActorRef;
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::{LoopMsg, LoopState, intake::Aim};
use crate::{
    actors::{
        address::Recipient,
        jobs::JobsMsg,
        queues::Pending,
        reply::{CommandResult, ReplyTo},
        session_writer::WriterMsg,
        shared::AgentShared,
        turn_io::{Input, NewEntry},
    },
    protocol::{
        AgentMessage, Command, CommandError, Entry, EntryBody, EntryId, Event, Model, Reply, ThinkingLevel,
        command::{ModelChoice, QueueKind, QueueMode},
        event::SelectSource,
        message::CustomMessage,
    },
    store::tree::labels::normal_name,
    tools::permissions::plan,
};

impl LoopState {
    pub(super) async fn command(&mut self, myself: &ActorRef<LoopMsg>, command: Command, reply: ReplyTo) {
        if let Some(refusal) = self.read_only_refusal(&command) {
            return reply.send(Err(CommandError::Refused(refusal)));
        }
        match command {
            Command::Prompt { input, behavior } => self.take_in(myself, input, Aim::Prompt(behavior), reply).await,
            Command::Queue { kind, input } => self.take_in(myself, input, Aim::Queue(kind), reply).await,
            Command::Abort => {
                // The writer may wait for a disk that refuses.
                self.shared.writer.tell(WriterMsg::GiveUp);
                let ticket = self.ticket(reply);
                self.feed(myself, Input::Abort(ticket)).await;
            }
            Command::AbortRetry => {
                let ticket = self.ticket(reply);
                self.feed(myself, Input::AbortRetry(ticket)).await;
            }
            Command::ClearQueue => {
                let ticket = self.ticket(reply);
                self.feed(myself, Input::ClearQueue(ticket)).await;
            }
            Command::WaitIdle if !self.intake.is_empty() => self.idle_waiters.push(reply),
            Command::WaitIdle => {
                let ticket = self.ticket(reply);
                self.feed(myself, Input::WaitIdle(ticket)).await;
            }
            Command::Compact { instructions } => {
                let ticket = self.ticket(reply);
                self.feed(myself, Input::Compact { instructions, ticket }).await;
            }
            Command::Undo(ask) => self.undo(myself, ask, reply).await,
            Command::Checkpoints => self.list_checkpoints(myself, reply).await,
            Command::AppendEntry(body) => self.append_entry(myself, *body, reply).await,
            Command::Navigate(ask) => self.navigate(ask, reply),
            Command::SetLabel { target, label } => self.set_label(myself, target, label.as_deref(), reply).await,
            Command::SendMessage { message, trigger_turn, deliver_as } => {
                let (pending, ticket) = (pending_message(*message), self.ticket(reply));
                self.feed(myself, Input::Message { pending, trigger_turn, deliver_as, ticket }).await;
            }
            Command::SetActiveTools(names) => {
                let known = self.shared.config.tools.now();
                let is_known = |name: &String| known.iter().any(|tool| tool.declaration().name == *name);
                self.shared.selection().active_tools = names.into_iter().filter(is_known).collect();
                reply.send(Ok(Reply::Done));
            }
            Command::SetQueueMode { kind, mode } => {
                self.set_queue_mode(myself, kind, mode).await;
                reply.send(Ok(Reply::Done));
            }
            Command::SetAutoRetry(enabled) => {
                self.shared.selection().retry.enabled = enabled;
                self.selection_changed();
                self.keep_setting(&["retry", "enabled"], Value::Bool(enabled));
                reply.send(Ok(Reply::Done));
            }
            Command::SetAutoCompaction(enabled) => {
                self.shared.selection().auto_compaction = enabled;
                self.selection_changed();
                self.keep_setting(&["compaction", "enabled"], Value::Bool(enabled));
                reply.send(Ok(Reply::Done));
            }
            Command::SetModel(name) => match self.available(&name) {
                Some(model) => {
                    self.set_model(myself, model, None, false, SelectSource::Set, reply).await;
                }
                None => reply.send(Err(CommandError::ModelNotFound(name))),
            },
            Command::CycleModel => self.cycle_model(myself, reply).await,
            Command::SetThinkingLevel(level) => {
                self.set_thinking(myself, level, reply, |_| Reply::Done).await;
            }
            Command::CycleThinkingLevel => self.cycle_thinking(myself, reply).await,
            Command::SetSessionName(name) => self.set_session_name(myself, &name, reply).await,
            Command::Jobs(command) => {
                // Dropping what could not be delivered answers that it is lost.
                drop(self.shared.jobs.try_tell(JobsMsg::Look { command, reply }));
            }
            Command::Bash { id, command, exclude_from_context } => {
                let run = JobsMsg::Run { id, command, exclude_from_context, asking: self.shared.asking(), reply };
                if let Err(JobsMsg::Run { reply, .. }) = self.shared.jobs.try_tell(run) {
                    reply.send(Err(CommandError::Lost));
                }
            }
            Command::Answer { id, answer } => {
                self.shared.config.questions.answer(&id, answer);
                reply.send(Ok(Reply::Done));
            }
            Command::SetPermissionMode(mode) => {
                self.shared.config.permissions.set_mode(mode);
                reply.send(Ok(Reply::Done));
            }
            Command::SetPlanMode(enabled) => self.set_plan_mode(myself, enabled, reply).await,
            Command::AbortBash => {
                self.shared.jobs.tell(JobsMsg::AbortAll);
                reply.send(Ok(Reply::Done));
            }
        }
    }

    /// Why a command that would write is not carried out in a session that is open for reading; none for others.
    fn read_only_refusal(&self, command: &Command) -> Option<String> {
        let reads = matches!(
            command,
            Command::Abort
                | Command::AbortRetry
                | Command::AbortBash
                | Command::ClearQueue
                | Command::WaitIdle
                | Command::Checkpoints
                | Command::SetQueueMode { .. }
                | Command::SetAutoRetry(_)
                | Command::SetAutoCompaction(_)
                | Command::SetPermissionMode(_)
                | Command::Jobs(_)
                | Command::Answer { .. }
        );
        if reads { None } else { self.shared.place.read_only.clone() }
    }

    /// Stores an entry, if it makes sense at the leaf. State of an extension and labels are no part of the conversation:
    /// they need not wait for the end of a trace.
    pub(super) async fn append_entry(&mut self, myself: &ActorRef<LoopMsg>, body: EntryBody, reply: ReplyTo) {
        if let Err(fault) = self.shared.tree().map_or(Ok(()), |tree| tree.check(&body)) {
            return reply.send(Err(CommandError::Refused(fault.to_string())));
        }
        let is_aside = matches!(body, EntryBody::Custom { .. } | EntryBody::Label { .. });
        if !is_aside || self.turn.as_ref().is_none_or(|turn| !turn.is_running()) {
            return self.add(myself, vec![body], reply).await;
        }
        let (shared, reply) = (self.shared.clone(), std::sync::Mutex::new(Some(reply)));
        let to = Recipient::from_fn(move |input: Input| {
            let reply = reply.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
            if let (Some(reply), Input::Stored { result, .. }) = (reply, input) {
                reply.send(aside_stored(&shared, result));
            }
            true
        });
        let append = WriterMsg::Append { work: 0, entries: vec![body.into()], to };
        // Dropping what could not be delivered answers that it is lost.
        drop(self.shared.writer.try_tell(append));
    }

    pub(super) async fn add(&mut self, myself: &ActorRef<LoopMsg>, bodies: Vec<EntryBody>, reply: ReplyTo) {
        let ticket = self.ticket(reply);
        let entry = |body| NewEntry { body, reserved: Some(self.fresh_id()) };
        let entries = bodies.into_iter().map(entry).collect();
        self.feed(myself, Input::Append { entries, ticket }).await;
    }

    /// Stores entries; when they are stored (or wait for the end of the trace), answers with `value`.
    pub(super) async fn append_then(
        &mut self,
        myself: &ActorRef<LoopMsg>,
        bodies: Vec<EntryBody>,
        reply: ReplyTo,
        value: Reply,
    ) {
        let then = ReplyTo::new(move |result| reply.send(result.map(|_| value)));
        self.add(myself, bodies, then).await;
    }

    async fn set_queue_mode(&mut self, myself: &ActorRef<LoopMsg>, kind: QueueKind, mode: QueueMode) {
        let setting = {
            let mut selection = self.shared.selection();
            match kind {
                QueueKind::Steer => {
                    selection.steering_mode = mode;
                    "steeringMode"
                }
                QueueKind::FollowUp => {
                    selection.follow_up_mode = mode;
                    "followUpMode"
                }
            }
        };
        self.feed(myself, Input::SetQueueMode(kind, mode)).await;
        let word = match mode {
            QueueMode::All => "all",
            QueueMode::OneAtATime => "one-at-a-time",
        };
        self.keep_setting(&[setting], Value::String(word.into()));
    }

    /// A model that can be used: known, with a key. Those inside the program need none.
    pub(super) fn available(&self, name: &crate::protocol::ModelRef) -> Option<Arc<Model>> {
        let catalogue = self.shared.config.catalogue.now();
        catalogue.find(name).filter(|model| catalogue.is_available(model))
    }

    /// Selects a model: the level goes with it, as the scope or the settings say.
    async fn set_model(
        &mut self,
        myself: &ActorRef<LoopMsg>,
        model: Arc<Model>,
        scoped_level: Option<ThinkingLevel>,
        scoped: bool,
        source: SelectSource,
        reply: ReplyTo,
    ) {
        let name = model.reference();
        let preferred = scoped_level.or_else(|| self.shared.config.settings.thinking_for(&model));
        let (level, changed, previous) = {
            let mut selection = self.shared.selection();
            let level = model.clamp_thinking(preferred.unwrap_or(selection.thinking));
            let changed = mem::replace(&mut selection.thinking, level) != level;
            (level, changed, selection.model.replace(model).map(|model| model.reference()))
        };
        self.selection_changed();
        let mut events = vec![Event::ModelChanged { model: name.clone(), previous, source }];
        if changed {
            events.push(Event::ThinkingLevelChanged { level });
        }
        self.shared.publish(events);
        let body = EntryBody::ModelChange { provider: name.provider.clone(), model_id: name.model_id.clone() };
        let value = Reply::Model(Some(ModelChoice { model: name, level, scoped }));
        let mut bodies = vec![body];
        bodies.extend(changed.then(|| EntryBody::thinking(level)));
        self.append_then(myself, bodies, reply, value).await;
    }

    async fn cycle_model(&mut self, myself: &ActorRef<LoopMsg>, reply: ReplyTo) {
        let (scope, current) = {
            let selection = self.shared.selection();
            (selection.scope.clone(), selection.model.clone())
        };
        let scoped = !scope.is_empty();
        let catalogue = self.shared.config.catalogue.now();
        let list: Vec<(Arc<Model>, Option<ThinkingLevel>)> = if scoped {
            scope.into_iter().filter(|(model, _)| catalogue.is_available(model)).collect()
        } else {
            catalogue.available().into_iter().map(|model| (model, None)).collect()
        };
        if list.len() < 2 {
            return reply.send(Ok(Reply::Model(None)));
        }
        let at = current
            .and_then(|current| list.iter().position(|(model, _)| model.reference() == current.reference()))
            .map_or(0, |at| (at + 1) % list.len());
        let (model, level) = list[at].clone();
        self.set_model(myself, model, level, scoped, SelectSource::Cycle, reply).await;
    }

    async fn set_thinking(
        &mut self,
        myself: &ActorRef<LoopMsg>,
        wanted: ThinkingLevel,
        reply: ReplyTo,
        value: impl FnOnce(ThinkingLevel) -> Reply,
    ) {
        let (level, changed) = {
            let mut selection = self.shared.selection();
            let level = selection.model.as_ref().map_or(wanted, |model| model.clamp_thinking(wanted));
            (level, mem::replace(&mut selection.thinking, level) != level)
        };
        let value = value(level);
        if !changed {
            return reply.send(Ok(value));
        }
        self.selection_changed();
        self.shared.publish(vec![Event::ThinkingLevelChanged { level }]);
        self.append_then(myself, vec![EntryBody::thinking(level)], reply, value).await;
    }

    async fn cycle_thinking(&mut self, myself: &ActorRef<LoopMsg>, reply: ReplyTo) {
        let (levels, current) = {
            let selection = self.shared.selection();
            (selection.model.as_ref().map(|model| model.thinking_levels()).unwrap_or_default(), selection.thinking)
        };
        if levels.len() < 2 {
            return reply.send(Ok(Reply::Thinking(None)));
        }
        let at = levels.iter().position(|level| *level == current).map_or(0, |at| (at + 1) % levels.len());
        self.set_thinking(myself, levels[at], reply, |level| Reply::Thinking(Some(level))).await;
    }

    /// Plan mode counts from the next call on; the session remembers it.
    async fn set_plan_mode(&mut self, myself: &ActorRef<LoopMsg>, enabled: bool, reply: ReplyTo) {
        if mem::replace(&mut self.shared.selection().plan_mode, enabled) == enabled {
            return reply.send(Ok(Reply::Done));
        }
        if enabled {
            // Until they are there, commands run only when they are known to read.
            let operations = self.shared.config.plan_operations.clone();
            drop(spawn_blocking(move || operations.prepare()));
        }
        self.shared.publish(vec![Event::PlanModeChanged { enabled }]);
        self.append_then(myself, vec![plan::entry(enabled)], reply, Reply::Done).await;
    }

    async fn set_session_name(&mut self, myself: &ActorRef<LoopMsg>, name: &str, reply: ReplyTo) {
        let name = normal_name(name);
        if name.is_empty() {
            let text = "The session's name is empty. Give it at least one character.";
            return reply.send(Err(CommandError::Refused(text.into())));
        }
        let body = EntryBody::SessionInfo { name: Some(name.clone()) };
        let shared = self.shared.clone();
        let then = ReplyTo::new(move |result| {
            if result.is_ok() {
                shared.publish(vec![Event::SessionInfoChanged { name: Some(name) }]);
            }
            reply.send(result.map(|_| Reply::Done));
        });
        self.add(myself, vec![body], then).await;
    }
}

/// What a message of an extension becomes on its way in.
pub(super) fn pending_message(message: CustomMessage) -> Pending {
    Pending {
        op: uuid::Uuid::now_v7().to_string(),
        entry_id: EntryId::from(uuid::Uuid::new_v4().simple().to_string()[..8].to_owned()),
        text: message.content.text("\n"),
        message: AgentMessage::Custom(Arc::new(message)),
    }
}

/// Tells of an entry that was stored beside a running trace; the answer to whoever wanted it.
fn aside_stored(shared: &AgentShared, result: Result<Vec<Arc<Entry>>, String>) -> CommandResult {
    let entry = result.map_err(CommandError::Store)?.into_iter().next();
    let Some(entry) = entry else { return Ok(Reply::Done) };
    shared.publish(vec![Event::EntryAppended { entry: entry.clone() }]);
    Ok(Reply::Entry(entry.id.clone()))
}
