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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        cli::runs::spec::with_ids,
        protocol::{AssistantMessage, ToolCall, command::Input},
        store::{NewEntry, NewSession},
    };

    fn user(id: &str, text: &str) -> NewEntry {
        NewEntry { body: EntryBody::Message { message: AgentMessage::user(text, 0) }, id: Some(id.into()) }
    }

    fn answer(id: &str, text: &str, command: Option<&str>) -> NewEntry {
        let call = command.map(|command| {
            let arguments = serde_json::json!({"command": command}).as_object().cloned().unwrap();
            Block::ToolCall(ToolCall { id: "c".into(), name: "bash".into(), arguments, ..ToolCall::default() })
        });
        let content = [Block::text(text)].into_iter().chain(call).collect();
        let message = AgentMessage::Assistant(Arc::new(AssistantMessage { content, ..AssistantMessage::default() }));
        NewEntry { body: EntryBody::Message { message }, id: Some(id.into()) }
    }

    fn session(entries: Vec<NewEntry>) -> SessionStore {
        let store = SessionStore::in_memory(NewSession::in_folder("/w".as_ref())).unwrap();
        store.append(None, entries).unwrap();
        store
    }

    #[test]
    fn a_turn_boundary_is_what_the_last_answer_was_given_to_and_never_before_the_run() {
        let before = || vec![user("u", "hi"), answer("x", "hello", None)];
        let table: Vec<(Vec<NewEntry>, Option<&str>)> = vec![
            (vec![user("o", "no run")], None),
            (vec![user("p", "go")], None),
            (vec![user("p", "go"), answer("a", "one", None)], Some("p")),
            (vec![user("p", "go"), answer("a", "one", None), user("q", "on"), answer("b", "two", None)], Some("q")),
            (vec![user("p", "go"), answer("a", "one", None), user("q", "on")], Some("p")),
        ];
        for (entries, wanted) in table {
            let store = session(before());
            store.append(None, entries).unwrap();
            assert_eq!(turn_boundary(&store.view(), &"p".into()), wanted.map(EntryId::from));
        }
    }

    #[test]
    fn going_back_leaves_the_answer_as_a_branch_and_tells_the_model_why() {
        let store = session(vec![user("p", "go"), answer("a", "one", Some("poison"))]);
        rewind(&store, &"p".into(), &["boom".to_owned()]).unwrap();
        let view = store.view();
        assert_eq!(view.len(), 3);
        let leaf = view.leaf().unwrap();
        assert_eq!(leaf.parent().unwrap().id().as_str(), "p");
        let EntryBody::CustomMessage { content, .. } = &leaf.entry().body else { panic!("no note") };
        assert!(content.text("").contains("boom"));
    }

    #[test]
    fn a_new_session_is_told_the_task_what_was_done_and_why_it_is_there() {
        let prompts = with_ids(vec![Input::text("the task"), Input::text("later")], "s");
        let spec = RunSpec { prompts, ..RunSpec::nothing("r") };
        let store = session(vec![user("sp0", "the task"), answer("a", "I look.", Some(&"x".repeat(1_000)))]);
        let told = first_words(&spec, 1, &store.view(), &["first".to_owned(), "boom".to_owned()]);
        for words in ["the task", "said: I look.", "called bash", "boom", "Go on with the task"] {
            assert!(told.contains(words), "{words}: {told}");
        }
        assert!(!told.contains("later") && told.len() < 2_000, "{told}");
    }
}
