//! How a user's words come in: past the input guards, one at a time and in order, with pictures that fit the model, then
//! with skills and templates expanded.

use std::sync::Arc;

use ractor::ActorRef;

use super::{LoopMsg, LoopState};
use crate::{
    actors::{
        address::Recipient,
        extension_commands,
        input_guard::{Admission, InputGuard, InputWork},
        queues::Pending,
        reply::ReplyTo,
        spawn::spawn_worker,
        turn::Turn,
        turn_io,
    },
    protocol::{
        AgentMessage, CommandError, Reply, UserMessage,
        ask::{AskPoint, InputAsk, InputVerdict},
        command::{Disposition, Input, QueueKind},
        time::now_ms,
    },
};

/// Where an input goes when it is let in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Aim {
    /// It starts a trace, or is queued while one runs.
    Prompt(Option<QueueKind>),
    /// A queue.
    Queue(QueueKind),
}

/// An input that waits for the guards.
pub(super) struct Waiting {
    input: Input,
    aim: Aim,
    reply: ReplyTo,
}

impl LoopState {
    pub(super) async fn take_in(&mut self, myself: &ActorRef<LoopMsg>, input: Input, aim: Aim, reply: ReplyTo) {
        if !input.verbatim
            && let Some(command) = extension_commands::meant(&self.shared, &input.text)
        {
            return match aim {
                Aim::Prompt(_) => command.run(&self.shared, reply),
                Aim::Queue(_) => reply.send(Err(command.refuse_queue())),
            };
        }
        let is_plain = input.images.is_empty() && !self.shared.config.chain.has(AskPoint::Input);
        self.intake.push_back(Waiting { input, aim, reply });
        match (is_plain, self.intake.len()) {
            (true, 1) => self.admitted(myself, InputVerdict::Continue.into()).await,
            (false, 1) => self.ask_guards(myself).await,
            // Behind one that a worker has.
            _ => {}
        }
    }

    /// Has a worker ask the guards and make pictures fit.
    async fn ask_guards(&mut self, myself: &ActorRef<LoopMsg>) {
        let Some(waiting) = self.intake.front() else { return };
        let behavior = match waiting.aim {
            Aim::Prompt(behavior) => behavior,
            Aim::Queue(kind) => Some(kind),
        };
        let ask = InputAsk {
            text: waiting.input.text.clone(),
            images: waiting.input.images.clone(),
            source: waiting.input.source,
            behavior,
        };
        let to = Recipient::new(self.me.clone(), LoopMsg::Admitted);
        let pictures = self.shared.config.facts.pictures;
        let work = InputWork {
            chain: self.shared.config.chain.clone(),
            asking: self.shared.asking(),
            ask,
            pictures: self.selected().0.map_or(pictures, |model| pictures.for_model(&model)),
            to: to.clone(),
        };
        if let Err(exit) = spawn_worker("InputGuard", "", InputGuard, (), work, myself.get_cell()).await {
            let reason = format!("Denied: the input guards could not be asked ({})", exit.cause());
            let _ = to.deliver(InputVerdict::Deny { reason }.into());
        }
    }

    pub(super) async fn admitted(&mut self, myself: &ActorRef<LoopMsg>, Admission { verdict, notes }: Admission) {
        let Some(Waiting { mut input, aim, reply }) = self.intake.pop_front() else { return };
        match verdict {
            InputVerdict::Continue => self.let_in(myself, input, &notes, aim, reply).await,
            InputVerdict::Transform { text, images } => {
                input.text = text;
                input.images = images.unwrap_or(input.images);
                self.let_in(myself, input, &notes, aim, reply).await;
            }
            InputVerdict::Handled => reply.send(Ok(Reply::Input(Disposition::Handled))),
            InputVerdict::Deny { reason } => reply.send(Err(CommandError::Refused(reason))),
        }
        if !self.intake.is_empty() {
            return self.ask_guards(myself).await;
        }
        for reply in std::mem::take(&mut self.idle_waiters) {
            let ticket = self.ticket(reply);
            self.feed(myself, turn_io::Input::WaitIdle(ticket)).await;
        }
    }

    async fn let_in(
        &mut self,
        myself: &ActorRef<LoopMsg>,
        mut input: Input,
        notes: &[String],
        aim: Aim,
        reply: ReplyTo,
    ) {
        if let Some(disposition) = self.taken.get(&input.op) {
            // The same request again: it was carried out, and only its answer was lost.
            return reply.send(Ok(Reply::Input(*disposition)));
        }
        if input.entry_id.as_ref().is_some_and(|id| self.shared.tree().is_some_and(|tree| tree.find(id).is_some())) {
            // The same of a request that an earlier process carried out.
            return reply.send(Ok(Reply::Input(Disposition::Started)));
        }
        if let Aim::Prompt(_) = aim
            && self.turn.as_ref().is_some_and(Turn::is_idle)
            && let Some(model) = self.selected().0
            && let Some(error) = self.shared.config.catalogue.now().missing_key(&model)
        {
            // Refused before anything of it is stored.
            return reply.send(Err(CommandError::Refused(error.to_string())));
        }
        let text = match input.verbatim {
            true => input.text.clone(),
            false => self.shared.config.resources.expand(&input.text),
        };
        // The model reads the notes; they are no words of the user's for extensions and the view of the queue.
        let notes = (!notes.is_empty()).then(|| notes.join("\n"));
        input.text = [Some(text.clone()).filter(|text| !text.is_empty()), notes]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("\n\n");
        let message = UserMessage { content: input.content(), timestamp: now_ms() };
        let entry_id = input.entry_id.unwrap_or_else(|| self.fresh_id());
        let pending = Pending { op: input.op, entry_id, text, message: AgentMessage::User(Arc::new(message)) };
        let ticket = self.ticket(reply);
        let input = match aim {
            Aim::Prompt(behavior) => turn_io::Input::Prompt { pending, behavior, ticket },
            Aim::Queue(kind) => turn_io::Input::Queue { kind, pending, ticket },
        };
        self.feed(myself, input).await;
    }
}
