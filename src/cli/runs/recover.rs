//! How a worker begins after those before it crashed at the same place: a turn further back, or anew.

use super::spec::RunSpec;
use crate::{
    protocol::{AgentMessage, Block, EntryBody, EntryId},
    store::{SessionStore, StoreError, TreeView},
};

/// The kind of the notes that a run leaves in its session.
pub const NOTE: &str = "run";

/// Characters of an answer, and of a call's arguments, that a new session is told.
const TOLD: usize = 400;

/// Answers and calls that a new session is told, the last ones.
const TOLD_AT_MOST: usize = 40;

/// Where the conversation goes back to: to what the last answer was given to. None when the run has no answer yet.
#[must_use]
pub fn turn_boundary(tree: &TreeView, first: &EntryId) -> Option<EntryId> {
    let from = tree.find(first)?.position();
    let answer = tree
        .ancestors()
        .take_while(|entry| entry.position() > from)
        .find(|entry| matches!(entry.entry().body.as_message(), Some(AgentMessage::Assistant(_))))?;
    answer.parent().map(|parent| parent.id().clone())
}

/// Goes back to the last turn boundary, and says why; what was left stays in the session as a branch.
///
/// # Errors
/// The session cannot be written.
pub fn rewind(store: &SessionStore, first: &EntryId, causes: &[String]) -> Result<(), StoreError> {
    let Some(target) = turn_boundary(&store.view(), first) else { return Ok(()) };
    let text = format!(
        "The program that runs you crashed more than once at this point ({}). Your last answer, and what it called, is \
         left out; calls may have had effects. Look at what is there before you repeat anything, and take another way \
         if you can.",
        last(causes)
    );
    let note = EntryBody::CustomMessage {
        custom_type: NOTE.to_owned(),
        content: crate::protocol::Content::Text(text),
        display: true,
        details: None,
    };
    store.branch(Some(&target), vec![note.into()]).map(drop)
}

fn last(causes: &[String]) -> &str {
    causes.last().map_or("no cause is known", String::as_str)
}

/// The first words of a session that takes the place of one in which the worker keeps crashing: the task, what was done,
/// and what happened. Made without a model, which may be what crashes.
#[must_use]
pub fn first_words(spec: &RunSpec, delivered: usize, old: &TreeView, causes: &[String]) -> String {
    let mut text = format!(
        "This conversation takes the place of another one, in which the program that runs you kept crashing ({}).\n\n\
         # What you were asked\n",
        last(causes)
    );
    for prompt in spec.prompts.iter().take(delivered.max(1)) {
        text.push_str(&format!("\n{}\n", prompt.text));
    }
    let mut done = Vec::new();
    for entry in old.path() {
        if let Some(AgentMessage::Assistant(message)) = entry.entry_once().body.as_message() {
            done.extend(message.content.iter().filter_map(told));
        }
    }
    text.push_str("\n# What you said and called there, the last at the end\n\n");
    let skipped = done.len().saturating_sub(TOLD_AT_MOST);
    if done.is_empty() {
        text.push_str("Nothing.\n");
    }
    done.iter().skip(skipped).for_each(|line| text.push_str(&format!("- {line}\n")));
    text.push_str(
        "\nThe last calls may have had effects or not. Look at what is there before you repeat anything, and take another \
         way than the one that crashed if you can. Go on with the task.",
    );
    text
}

fn told(block: &Block) -> Option<String> {
    let text = match block.as_tool_call() {
        Some(call) => format!("called {}: {}", call.name, serde_json::Value::Object(call.arguments.clone())),
        None => format!("said: {}", block.as_text().filter(|text| !text.trim().is_empty())?),
    };
    let line = text.replace('\n', " ");
    Some(match line.char_indices().nth(TOLD) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    })
}
