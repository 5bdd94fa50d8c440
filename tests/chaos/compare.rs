//! Whether a session is what the calm run's is, and whether every call ran as often as it may.

use std::collections::BTreeMap;

use serde_json::Value;
use troupe::{actors::batch::INTERRUPTED, store::tree::TreeView};

use crate::{
    killer::Kill,
    script::{TURNS, call_id, calls, turn_of},
};

/// A session without ids, times and usage: an entry names others by their place.
///
/// # Errors
/// When the session is not well formed: one branch, each entry below the one before it.
pub fn lines(view: &TreeView) -> Result<Vec<Value>, String> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut lines = Vec::new();
    for (place, entry) in view.entries().enumerate() {
        let mut line = serde_json::to_value(&*entry.entry()).map_err(|error| error.to_string())?;
        let object = line.as_object_mut().ok_or("an entry is no object")?;
        let id = object.remove("id").unwrap_or_default();
        let id = id.as_str().ok_or_else(|| format!("entry {place} has no id"))?.to_owned();
        let parent = object.remove("parentId").unwrap_or_default();
        let parent = parent.as_str().map(|id| places.get(id).copied().ok_or(format!("entry {place} hangs on {id}")));
        let parent = parent.transpose()?;
        if parent != place.checked_sub(1) {
            return Err(format!("entry {place} hangs on entry {parent:?}"));
        }
        if let Some(target) = object.get_mut("targetId") {
            let known = target.as_str().and_then(|id| places.get(id));
            *target = Value::from(*known.ok_or_else(|| format!("entry {place} is about an entry that is not there"))?);
        }
        if places.insert(id.clone(), place).is_some() {
            return Err(format!("two entries have the id {id}"));
        }
        object.remove("timestamp");
        if let Some(message) = object.get_mut("message").and_then(Value::as_object_mut) {
            message.retain(|name, _| !["timestamp", "usage", "durationMs"].contains(&name.as_str()));
        }
        lines.push(line);
    }
    let branch = view.path().len();
    if branch == lines.len() { Ok(lines) } else { Err(format!("{} entries, {branch} on the branch", lines.len())) }
}

/// Compares a session with the calm run's; a result may say that its call was cut off or denied where something died
/// meanwhile.
pub fn same_session(calm: &[Value], session: &[Value], kills: &[Kill]) -> Result<(), String> {
    for place in 0..calm.len().max(session.len()) {
        let (expected, found) = (calm.get(place), session.get(place));
        let same = expected == found
            || expected.zip(found).is_some_and(|(expected, found)| is_explained(expected, found, kills));
        if !same {
            let show = |line: Option<&Value>| line.map_or_else(|| "nothing".to_owned(), Value::to_string);
            return Err(format!("entry {place} differs:\n  expected {}\n  found    {}", show(expected), show(found)));
        }
    }
    Ok(())
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It ran to its end.
    Ran,
    /// It was cut off; it may have begun.
    Interrupted,
    /// A guard died before it decided: it did not run.
    Denied,
    /// The extension died; before or after the call.
    Unjudged,
}

fn fate(text: &str) -> Fate {
    if text.contains(INTERRUPTED) {
        Fate::Interrupted
    } else if text.starts_with("Denied: whether the call may run") {
        Fate::Denied
    } else if text.starts_with("Denied: the extension") {
        Fate::Unjudged
    } else {
        Fate::Ran
    }
}

/// The call's id and the text of a result.
fn result_of(line: &Value) -> Option<(&str, &str)> {
    let message = &line["message"];
    (message["role"] == "toolResult").then_some(())?;
    Some((message["toolCallId"].as_str()?, message["content"][0]["text"].as_str()?))
}

/// Whether the only difference is that the call of a result did not come to its end, and a death explains it.
fn is_explained(expected: &Value, found: &Value, kills: &[Kill]) -> bool {
    let (Some((id, _)), Some((same, text))) = (result_of(expected), result_of(found)) else { return false };
    let mut kills = kills.iter().filter(|kill| turn_of(id).is_some_and(|turn| kill.answers == turn + 1));
    let died = match fate(text) {
        Fate::Ran => false,
        Fate::Interrupted => kills.next().is_some(),
        Fate::Denied => kills.any(|kill| kill.kind == "CallGuard"),
        Fate::Unjudged => kills.any(|kill| ["Ask", "Extension", "Extensions"].contains(&kill.kind)),
    };
    id == same && found["message"]["isError"] == true && died
}

/// Checks how often each call of the script began: once when it has a result, never again after it was cut off. Calls
/// that only read may run again.
pub fn ran_once(session: &[Value], begun: &BTreeMap<String, usize>) -> Result<(), String> {
    let results: BTreeMap<&str, &str> = session.iter().filter_map(result_of).collect();
    let all = (0..TURNS).flat_map(|turn| calls(turn).iter().enumerate().map(move |(place, tool)| (turn, place, *tool)));
    let mut known = 0;
    for (turn, place, tool) in all {
        let id = call_id(turn, place);
        let text = results.get(id.as_str()).ok_or_else(|| format!("the call {id} has no result"))?;
        let count = begun.get(&id).copied().unwrap_or(0);
        known += usize::from(count > 0);
        let fine = match (fate(text), tool) {
            (Fate::Ran, "read") => count >= 1,
            (Fate::Interrupted | Fate::Unjudged, "read") => true,
            (Fate::Ran, _) => count == 1,
            (Fate::Interrupted | Fate::Unjudged, _) => count <= 1,
            (Fate::Denied, _) => count == 0,
        };
        if !fine {
            return Err(format!("the call {id} of {tool} began {count} times and its result is: {text}"));
        }
    }
    if known == begun.len() { Ok(()) } else { Err(format!("calls began that nobody made: {begun:?}")) }
}
