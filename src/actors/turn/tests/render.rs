//! One word for everything that the outside sees, so that a trace reads as a line of words.

use crate::{
    actors::{
        batch::{ABORTED, CUT_OFF, INTERRUPTED},
        turn_io::Effect,
    },
    protocol::{
        AgentMessage, AssistantMessage, CommandError, EntryBody, Event, Reply, StopReason, command::Disposition,
        event::CompactionReason, message::text_of,
    },
};

/// Adds an effect's word to a trace; a message's end joins its start when nothing stands between them.
pub fn log(trace: &mut Vec<String>, effect: &Effect) {
    let word = match effect {
        // Extensions alone are told of these, right beside `compaction_end`.
        Effect::Publish(Event::SessionCompact { .. } | Event::SessionCompactFailed { .. }) => return,
        Effect::Publish(event) => event_word(event),
        Effect::Reply(_, result) => reply_word(result),
        Effect::Call { .. } => ">call".into(),
        Effect::RunTools { places, .. } => format!(">tools{places:?}"),
        Effect::Compact { .. } => ">compact".into(),
        Effect::Wait { ms, .. } => format!(">wait({ms})"),
        Effect::Cancel => ">cancel".into(),
        Effect::Select { model, thinking_level } => {
            let model = model.as_ref().map(ToString::to_string);
            let level = thinking_level.map(|level| level.to_string());
            format!(">select({})", model.into_iter().chain(level).collect::<Vec<_>>().join(","))
        }
        Effect::Prepare { system_prompt: Some(prompt), .. } => format!(">prepare({prompt})"),
        Effect::Prepare { .. } | Effect::Store { .. } | Effect::Ask { .. } | Effect::Journal(_) | Effect::Settle => {
            return;
        }
    };
    if let Event::MessageEnd { message, .. } = as_event(effect)
        && trace.last().is_some_and(|last| *last == format!("start:{}", message.role()))
    {
        trace.pop();
    }
    trace.push(word.replace(' ', "_"));
}

fn as_event(effect: &Effect) -> &Event {
    match effect {
        Effect::Publish(event) => event,
        _ => &Event::AgentStart,
    }
}

fn event_word(event: &Event) -> String {
    match event {
        Event::AgentStart => "agent_start".into(),
        Event::TurnStart => "turn_start".into(),
        Event::MessageStart { message } => format!("start:{}", message.role()),
        Event::MessageEnd { message, .. } => message_word(message),
        Event::ToolExecutionStart { call } => format!("tool_start({})", call.place),
        Event::ToolExecutionEnd { call, result, .. } if result.is_error => {
            format!("tool_end({}:{})", call.place, short(&text_of(&result.content, "")))
        }
        Event::ToolExecutionEnd { call, .. } => format!("tool_end({})", call.place),
        Event::TurnEnd { .. } => "turn_end".into(),
        Event::AgentEnd { will_retry: true, .. } => "agent_end[will_retry]".into(),
        Event::AgentEnd { .. } => "agent_end".into(),
        Event::AgentSettled { aborted: true } => "agent_settled[aborted]".into(),
        Event::AgentSettled { .. } => "agent_settled".into(),
        Event::QueueUpdate { steering, follow_up } => queue("queue", steering, follow_up),
        Event::EntryAppended { entry } => format!("entry_appended({})", entry.body.kind()),
        Event::CompactionStart { reason } => format!("compaction_start({})", reason_word(*reason)),
        Event::CompactionEnd { aborted: true, .. } => "compaction_end(aborted)".into(),
        Event::CompactionEnd { error_message: Some(text), .. } => format!("compaction_end({text})"),
        Event::CompactionEnd { will_retry: true, .. } => "compaction_end(will_retry)".into(),
        Event::CompactionEnd { .. } => "compaction_end".into(),
        Event::AutoRetryStart { attempt, delay_ms, .. } => format!("auto_retry_start({attempt},{delay_ms})"),
        Event::AutoRetryEnd { success: true, attempt, .. } => format!("auto_retry_end({attempt},ok)"),
        Event::AutoRetryEnd { attempt, final_error, .. } => {
            format!("auto_retry_end({attempt},{})", final_error.as_deref().unwrap_or("?"))
        }
        Event::Notice { .. } => "notice".into(),
        Event::Restarted { actor, .. } => format!("restarted({actor})"),
        other => format!("{other:?}"),
    }
}

fn message_word(message: &AgentMessage) -> String {
    match message {
        AgentMessage::User(user) => format!("user({})", user.content.text("")),
        AgentMessage::Assistant(message) => assistant_word(message),
        AgentMessage::ToolResult(result) => format!("result({})", short(&text_of(&result.content, ""))),
        AgentMessage::Custom(custom) => format!("custom({})", custom.custom_type),
        other => other.role().to_owned(),
    }
}

fn assistant_word(message: &AssistantMessage) -> String {
    let calls: Vec<_> = message.tool_calls().map(|call| call.name.as_str()).collect();
    let text = text_of(&message.content, "");
    let body = if calls.is_empty() { text } else { format!("{text}call:{}", calls.join(",")) };
    match message.stop_reason {
        StopReason::Error => format!("assistant!({body}{})", message.error_message.as_deref().unwrap_or("?")),
        StopReason::Aborted => format!("aborted({body})"),
        StopReason::Length => format!("length({body})"),
        _ => format!("assistant({body})"),
    }
}

/// The texts of the machine's own results by name.
fn short(text: &str) -> &str {
    match text {
        ABORTED => "aborted",
        CUT_OFF => "cut_off",
        INTERRUPTED => "interrupted",
        text => text,
    }
}

fn reply_word(result: &Result<Reply, CommandError>) -> String {
    match result {
        Ok(Reply::Input(Disposition::Started)) => "=started".into(),
        Ok(Reply::Input(Disposition::Queued)) => "=queued".into(),
        Ok(Reply::Queue { steering, follow_up }) => queue("=queue", steering, follow_up),
        Ok(Reply::Compaction(_)) => "=compaction".into(),
        Ok(Reply::Entry(_)) => "=entry".into(),
        Ok(Reply::Done) => "=done".into(),
        Ok(other) => format!("={other:?}"),
        Err(CommandError::Busy) => "=busy".into(),
        Err(CommandError::NoModel) => "=no_model".into(),
        Err(CommandError::Store(_)) => "=store_error".into(),
        Err(error) => format!("=refused({error})"),
    }
}

fn queue(name: &str, steering: &[String], follow_up: &[String]) -> String {
    format!("{name}[{}|{}]", steering.join(","), follow_up.join(","))
}

fn reason_word(reason: CompactionReason) -> &'static str {
    match reason {
        CompactionReason::Manual => "manual",
        CompactionReason::Threshold => "threshold",
        CompactionReason::Overflow => "overflow",
    }
}

/// What the machine waits for, in a word: where a script may stop.
pub fn label(pending: &Effect) -> String {
    match pending {
        Effect::Store { entries, .. } => format!("store({})", entries.first().map_or("", |entry| body(&entry.body))),
        Effect::Ask { ask, .. } => format!("ask({})", ask.point().name()),
        Effect::Prepare { .. } => "prepare".into(),
        Effect::Call { .. } => "call".into(),
        Effect::RunTools { .. } => "tools".into(),
        Effect::Wait { .. } => "wait".into(),
        Effect::Compact { .. } => "compact".into(),
        other => format!("{other:?}"),
    }
}

fn body(body: &EntryBody) -> &str {
    body.as_message().map_or_else(|| body.kind(), AgentMessage::role)
}
