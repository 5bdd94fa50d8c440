//! What must hold of a family when its story is over, whatever died.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde_json::Value;
use troupe::{
    actors::{family_notes::Note, shared::AgentShared},
    protocol::{
        AgentMessage, EntryBody,
        sibling::{Budget, SiblingId, SiblingStatus},
    },
    store::{session::open::read_view, tree::TreeView},
    tools::siblings::ends_in,
};

use crate::compare;

/// Tokens of the largest request of the script, and of a batch of its answer.
const REQUEST: u64 = 2_000;

/// Looks at a family's sessions and at its board. Budgets go by the keys of children.
pub fn family(root: &AgentShared, budgets: &BTreeMap<String, Budget>) -> Result<(), String> {
    let mut sessions = vec![("main".to_owned(), root.place.store.view())];
    let mut spawned = BTreeSet::new();
    while let Some((name, session)) = sessions.pop() {
        compare::lines(&session).map_err(|problem| format!("the session of {name}: {problem}"))?;
        answered(&session).map_err(|problem| format!("the session of {name}: {problem}"))?;
        let children = ends(&session).map_err(|problem| format!("the session of {name}: {problem}"))?;
        for (id, file) in children {
            if !spawned.insert(id.clone()) {
                return Err(format!("{id} was spawned twice"));
            }
            // One that was stopped before its first message has no file.
            if Path::new(&file).exists() {
                let session = read_view(Path::new(&file)).map_err(|error| error.to_string())?;
                sessions.push((id.to_string(), session));
            }
        }
    }
    let status = root.kin.board.below(&root.kin.id);
    let known: BTreeSet<SiblingId> = status.iter().map(|sibling| sibling.id.clone()).collect();
    if known != spawned {
        return Err(format!("the board knows {known:?}, the sessions {spawned:?}"));
    }
    status.iter().try_for_each(|sibling| {
        let key = root.kin.board.look(&sibling.id, |member| member.spec().key.clone()).flatten();
        let budget = key.and_then(|key| budgets.get(&key)).copied().unwrap_or_default();
        let spent = &sibling.spent;
        // Each agent that the budget is for may send a request that is larger than what is left, and one batch more.
        let agents = 1 + below(&status, &sibling.id);
        let holds = budget.turns.is_none_or(|limit| spent.turns <= limit)
            && budget.tokens.is_none_or(|limit| spent.tokens <= limit + agents * REQUEST)
            && budget.spawns.is_none_or(|limit| spent.spawns <= limit);
        if holds { Ok(()) } else { Err(format!("{} has spent {spent:?} of {budget:?}", sibling.id)) }
    })
}

/// How many there were below an agent.
fn below(status: &[SiblingStatus], above: &SiblingId) -> u64 {
    status.iter().filter(|sibling| sibling.id.is_below(above)).count() as u64
}

/// Every call has one result.
fn answered(session: &TreeView) -> Result<(), String> {
    let (mut owed, mut allowed, mut found) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for entry in session.path() {
        let entry = entry.entry();
        match entry.body.as_message() {
            Some(AgentMessage::Assistant(message)) => {
                for call in message.tool_calls() {
                    let counted = if message.is_failed() { &mut allowed } else { &mut owed };
                    *counted.entry(call.id.clone()).or_insert(0) += 1;
                }
            }
            Some(AgentMessage::ToolResult(result)) => *found.entry(result.tool_call_id.clone()).or_insert(0) += 1,
            _ => {}
        }
    }
    for (id, count) in &found {
        let (least, more) = (owed.get(id).unwrap_or(&0), allowed.get(id).unwrap_or(&0));
        if !(*least..=least + more).contains(count) {
            return Err(format!("{id} was called {least} times and has {count} results"));
        }
    }
    match owed.keys().find(|id| !found.contains_key(*id)) {
        Some(id) => Err(format!("{id} has no result")),
        None => Ok(()),
    }
}

/// Every task of every child has one end and counts once, and the model was told of none twice. The children, with
/// their files.
fn ends(session: &TreeView) -> Result<Vec<(SiblingId, String)>, String> {
    let (mut children, mut keys) = (Vec::new(), BTreeSet::new());
    let (mut begun, mut ended, mut counted, mut told) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut to_tell, mut gone) = (BTreeSet::new(), BTreeSet::new());
    let once = |set: &mut BTreeSet<(SiblingId, u32)>, id: SiblingId, task: u32, what: &str| match set
        .insert((id.clone(), task))
    {
        true => Ok(()),
        false => Err(format!("task {task} of {id} {what} twice")),
    };
    for entry in session.path() {
        let entry = entry.entry();
        match Note::of(&entry.body) {
            Some(Note::Spawn(note)) => {
                if note.spec.key.clone().is_some_and(|key| !keys.insert(key)) {
                    return Err(format!("the key of {} was spawned before", note.id));
                }
                if note.spec.tells_parent {
                    to_tell.insert(note.id.clone());
                }
                begun.insert((note.id.clone(), 1));
                children.push((note.id, note.session_file.unwrap_or_default()));
            }
            Some(Note::Task(note)) => drop(begun.insert((note.id, note.task))),
            Some(Note::End(end)) => once(&mut ended, end.id.clone(), end.task, "ends")?,
            Some(Note::Gone(note)) if !gone.insert(note.id.clone()) => {
                return Err(format!("{} is gone twice", note.id));
            }
            Some(Note::Gone(_)) | None => {}
        }
        if let EntryBody::Usage { kind, note: Some(note), .. } = &entry.body
            && kind == "agent"
            && !counted.insert(note.clone())
        {
            return Err(format!("{note} counts twice"));
        }
        for (id, task) in details(&entry.body).into_iter().flat_map(ends_in) {
            if to_tell.contains(&id) {
                once(&mut told, id, task, "is told")?;
            }
        }
    }
    if begun != ended {
        let missing: Vec<_> =
            begun.symmetric_difference(&ended).map(|(id, task)| format!("task {task} of {id}")).collect();
        return Err(format!("begun and ended differ in {}", missing.join(", ")));
    }
    Ok(children)
}

/// What tells a model of ends: results of the tools for siblings, and notices.
fn details(body: &EntryBody) -> Option<&Value> {
    match body {
        EntryBody::Message { message: AgentMessage::ToolResult(result) } => result.details.as_ref(),
        EntryBody::Message { message: AgentMessage::Custom(message) } => message.details.as_ref(),
        EntryBody::CustomMessage { details, .. } => details.as_ref(),
        _ => None,
    }
}
