//! One turn: the model call, its batch of tools, and what comes next.

use std::{mem, sync::Arc};

use super::{After, Leaving, Phase, Then, Turn, opening};
use crate::{
    actors::{
        batch::{self, Batch},
        rounds::{self, Round, Rounds},
        turn_io::{Effect, NewEntry},
    },
    protocol::{
        AgentMessage, AssistantMessage, Entry, EntryBody, Event, Failure, FailureClass, StopReason, ToolOutput,
        ask::{Ask, BeforeTurnAsk, TurnDecision, TurnEndAsk},
        command::QueueKind,
        event::CallLabel,
    },
};

impl Turn {
    pub(super) fn call_model(&mut self) {
        if self.is_aborted() {
            return self.answer_aborted();
        }
        let work = self.next_work();
        self.phase = Phase::Preparing;
        self.trace().fallback = false;
        let system_prompt = self.trace().system_prompt.clone();
        self.out.push(Effect::Prepare { work, system_prompt });
    }

    /// The request is ready; what explains where it goes is stored first.
    pub(super) fn prepared(&mut self, entries: Vec<EntryBody>) {
        if entries.is_empty() {
            return self.call();
        }
        self.store(entries.into_iter().map(NewEntry::from).collect(), false, Then::Route);
    }

    pub(super) fn call(&mut self) {
        let work = self.next_work();
        self.phase = Phase::Streaming;
        self.out.push(Effect::Call { work });
    }

    pub(super) fn failed_before_start(&mut self, failure: Failure) {
        let message = self.empty_answer(StopReason::Error, &failure.message);
        self.answered(message, Some(failure), false);
    }

    /// The turn that shows an abort: an answer without content.
    pub(super) fn answer_aborted(&mut self) {
        let text = "This operation was aborted";
        let message = self.empty_answer(StopReason::Aborted, text);
        self.answered(message, Some(Failure::new(FailureClass::Aborted, text)), false);
    }

    pub(super) fn empty_answer(&self, stop_reason: StopReason, text: &str) -> Arc<AssistantMessage> {
        Arc::new(AssistantMessage {
            stop_reason,
            error_message: Some(text.to_owned()),
            timestamp: self.now,
            ..self.identity.clone().unwrap_or_default()
        })
    }

    pub(super) fn answered(&mut self, message: Arc<AssistantMessage>, failure: Option<Failure>, started: bool) {
        let body = EntryBody::Message { message: AgentMessage::Assistant(message) };
        self.store(vec![body.into()], false, Then::Answer { started, failure });
    }

    pub(super) fn answer_stored(&mut self, entry: &Arc<Entry>, started: bool, failure: Option<Failure>) {
        let Some(AgentMessage::Assistant(message)) = opening::message_of(entry) else { return self.before_settle() };
        let whole = AgentMessage::Assistant(message.clone());
        if started {
            self.publish(Event::MessageEnd { message: whole, entry_id: Some(entry.id.clone()) });
            self.trace().messages.push(entry.id.clone());
        } else {
            self.publish_message(whole, entry.id.clone());
        }
        if !message.is_failed() {
            self.retry_worked();
            if message.stop_reason != StopReason::Length {
                self.trace().overflow_tried = false;
            }
        }
        let batch = Batch::new(entry.id.clone(), &message);
        let trace = self.trace();
        trace.answer = Some((entry.id.clone(), message.clone()));
        trace.failure = failure;
        trace.results.clear();
        trace.batch = None;
        if message.is_failed() || batch.calls.is_empty() {
            return self.turn_over();
        }
        match batch::refusal(&message).or_else(|| self.is_aborted().then_some(batch::ABORTED)) {
            Some(text) => self.refuse(batch, text),
            None => {
                let places = (0..batch.calls.len()).collect();
                self.run_tools(batch, places);
            }
        }
    }

    /// Answers the calls of a message that have no result with an error instead of running them.
    pub(super) fn refuse(&mut self, mut batch: Batch, text: &str) {
        let output = Arc::new(ToolOutput::error(text));
        for place in batch.fail_rest(text, self.now) {
            let call = label(&batch, place);
            self.publish(Event::ToolExecutionStart { call: call.clone() });
            self.publish(Event::ToolExecutionEnd { call, result: output.clone(), duration_ms: None });
        }
        self.trace().batch = Some(batch);
        self.store_results();
    }

    fn run_tools(&mut self, batch: Batch, places: Vec<usize>) {
        let work = self.next_work();
        self.phase = Phase::RunningTools;
        self.out.push(Effect::RunTools { work, entry: batch.entry.clone(), calls: batch.calls.clone(), places });
        self.trace().batch = Some(batch);
    }

    /// Goes on with a batch that a crash cut off.
    pub(super) fn recover(&mut self, mut batch: Batch) {
        let (runnable, interrupted) = batch.recover(&self.read_only, self.now);
        let result = Arc::new(ToolOutput::error(batch::INTERRUPTED));
        for place in interrupted {
            let call = label(&batch, place);
            self.publish(Event::ToolExecutionEnd { call, result: result.clone(), duration_ms: None });
        }
        if runnable.is_empty() {
            self.trace().batch = Some(batch);
            self.store_results();
        } else {
            self.run_tools(batch, runnable);
        }
    }

    pub(super) fn batch_done(&mut self) {
        let text = if self.is_aborted() { batch::ABORTED } else { batch::INTERRUPTED };
        let now = self.now;
        let missing = self.batch().map_or_else(Vec::new, |batch| batch.fail_rest(text, now));
        let result = Arc::new(ToolOutput::error(text));
        for place in missing {
            if let Some(call) = self.batch().map(|batch| label(batch, place)) {
                self.publish(Event::ToolExecutionEnd { call, result: result.clone(), duration_ms: None });
            }
        }
        self.store_results();
    }

    pub(super) fn store_results(&mut self) {
        let entries = self.batch().map_or_else(Vec::new, |batch| {
            batch
                .unstored_messages()
                .map(|message| {
                    NewEntry::from(EntryBody::Message { message: AgentMessage::ToolResult(Arc::new(message)) })
                })
                .collect()
        });
        self.store(entries, false, Then::Results);
    }

    pub(super) fn results_stored(&mut self, entries: &[Arc<Entry>]) {
        for entry in entries {
            if let Some(AgentMessage::ToolResult(result)) = opening::message_of(entry) {
                self.trace().results.push((entry.id.clone(), result));
            }
        }
        self.publish_entries(entries);
        // Results that an earlier process owed come before the prompt that found them missing.
        if self.trace().prompt.is_some() { self.begin_trace() } else { self.turn_over() }
    }

    pub(super) fn turn_over(&mut self) {
        let trace = self.trace();
        let Some((_, message)) = trace.answer.clone() else { return self.before_settle() };
        if trace.mute {
            return self.after_turn(TurnDecision::Default);
        }
        let ask = TurnEndAsk {
            turn: trace.turn,
            message,
            tool_results: trace.results.iter().map(|(_, result)| result.clone()).collect(),
            entries: Vec::new(),
        };
        self.ask(Ask::TurnEnd(ask));
    }

    pub(super) fn after_turn(&mut self, decision: TurnDecision) {
        let trace = self.trace();
        let Some((_, message)) = trace.answer.clone() else { return self.before_settle() };
        let tool_results = trace.results.iter().map(|(_, result)| result.clone()).collect();
        trace.in_turn = false;
        self.publish(Event::TurnEnd { message, tool_results });
        let said = mem::take(&mut self.after_turn);
        if said.is_empty() {
            return self.behind_turn(decision);
        }
        self.store(said.into_iter().map(NewEntry::from).collect(), false, Then::AfterTurn(decision));
    }

    /// What follows a turn that has been told.
    pub(super) fn behind_turn(&mut self, decision: TurnDecision) {
        let trace = self.trace();
        let Some((_, message)) = trace.answer.clone() else { return self.before_settle() };
        let terminates = trace.batch.as_ref().map(Batch::terminates);
        if message.is_failed() || decision == TurnDecision::End {
            return self.run_over();
        }
        if self.is_aborted() {
            // An abort while tools ran shows as one more turn with an empty, aborted answer.
            return if terminates.is_some() { self.next_turn((Vec::new(), QueueKind::Steer)) } else { self.run_over() };
        }
        let steering = self.queues.poll(QueueKind::Steer);
        if !steering.is_empty() {
            // Words of the user are news.
            self.trace().rounds = Rounds::default();
        } else if terminates == Some(false) {
            let trace = self.trace();
            let results: Vec<_> = trace.results.iter().map(|(_, result)| result.clone()).collect();
            match trace.rounds.note(&message, &results) {
                Round::GoOn => {}
                Round::Tell => trace.tell_of_rounds = true,
                Round::End => return self.end_loop(),
            }
        }
        if terminates == Some(false) || !steering.is_empty() {
            return self.next_turn((steering, QueueKind::Steer));
        }
        let follow_up = self.queues.poll(QueueKind::FollowUp);
        if !follow_up.is_empty() || decision == TurnDecision::Continue {
            return self.next_turn((follow_up, QueueKind::FollowUp));
        }
        self.run_over();
    }

    /// The model makes the same calls again and again: one more turn shows why the run ends.
    fn end_loop(&mut self) {
        let trace = self.trace();
        trace.turn += 1;
        trace.rounds = Rounds::default();
        self.publish_turn_start();
        self.failed_before_start(Failure::new(FailureClass::Internal, rounds::end_text()));
    }

    fn next_turn(&mut self, leaving: Leaving) {
        self.trace().next = Some(leaving);
        if self.should_compact() {
            return self.compact_first(After::NextTurn);
        }
        self.go_to_next_turn();
    }

    pub(super) fn go_to_next_turn(&mut self) {
        let aborted = self.is_aborted();
        let trace = self.trace();
        trace.turn += 1;
        match trace.answer.clone() {
            Some((_, message)) if !aborted => {
                let ask = BeforeTurnAsk { turn: trace.turn, message };
                self.ask(Ask::BeforeTurn(ask));
            }
            _ => self.begin_turn(Vec::new()),
        }
    }
}

fn label(batch: &Batch, place: usize) -> CallLabel {
    let call = &batch.calls[place];
    CallLabel {
        place,
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        args: Arc::new(call.arguments.clone()),
    }
}
