//! `troupe sessions show`.

use std::{collections::HashSet, fmt::Write as _};

use serde_json::{Value, json};

use super::{
    Place,
    words::{count, folder, on_one_line, one_line},
};
use crate::{
    cli::{
        exit::Exit,
        run::{print, warn},
        start::StartError,
    },
    protocol::{Usage, hidden, time::iso},
    store::{
        SessionStore, TreeView,
        jsonl::{EntryKind, Role},
        sessions::dir::SessionFileHead,
        tree::Totals,
    },
};

/// Characters of a line of text.
const LINE: usize = 100;

/// Prints everything about a session.
pub fn run(place: &Place<'_>, id: &str, as_json: bool) -> Result<Exit, StartError> {
    let head = place.session(id)?;
    let opened = SessionStore::open_read_only(&head.path).map_err(StartError::of)?;
    if let Some(notice) = opened.damage_notice() {
        warn(&notice);
    }
    let facts = Facts::of(head, &opened.store.view());
    let text = if as_json {
        let text = serde_json::to_string_pretty(&facts.for_programs()).unwrap_or_default() + "\n";
        hidden::for_terminal_json(&text).into_owned()
    } else {
        facts.for_people(place)
    };
    Ok(print(&text))
}

struct Facts {
    head: SessionFileHead,
    name: Option<String>,
    entries: usize,
    branches: usize,
    modified: String,
    first_message: Option<String>,
    labels: Vec<String>,
    totals: Totals,
}

impl Facts {
    fn of(head: SessionFileHead, view: &TreeView) -> Self {
        let parents: HashSet<_> =
            view.entries().filter_map(|entry| entry.parent()).map(|parent| parent.position()).collect();
        let last = view.entries().rev().find(|entry| entry.kind().is_conversation());
        let mut labels: Vec<_> = view.labels().into_values().map(|label| label.text).collect();
        labels.sort();
        let is_user = |kind| kind == EntryKind::Message(Role::User);
        Self {
            name: view.name(),
            entries: view.len(),
            branches: view.len() - parents.len(),
            modified: last.map_or_else(|| head.header.timestamp.clone(), |entry| entry.entry().timestamp.clone()),
            first_message: view.entries().find(|entry| is_user(entry.kind())).and_then(|entry| entry.user_text()),
            labels,
            totals: view.totals(),
            head,
        }
    }

    fn for_people(&self, place: &Place<'_>) -> String {
        let home = place.environment.home.as_deref();
        let Self { head, totals, .. } = self;
        let header = &head.header;
        let title = self.name.as_deref().or(self.first_message.as_deref());
        let mut text = one_line(title.unwrap_or("(no messages)"), LINE) + "\n";
        let mut row = |name: &str, value: &str| {
            let _ = writeln!(text, "  {name:9} {}", on_one_line(value));
        };
        row("id", &header.id);
        row("file", &head.path.display().to_string());
        row("folder", &folder(&header.cwd, home));
        if let Some(parent) = &header.parent_session {
            row("from", parent);
        }
        row("made", &header.timestamp);
        row("changed", &self.modified);
        if let (Some(_), Some(first)) = (&self.name, &self.first_message) {
            row("first", &one_line(first, LINE));
        }
        let said = [
            format!("{} of the user", totals.user_messages),
            count(totals.assistant_messages, "answer"),
            count(totals.tool_results, "tool result"),
        ];
        row("messages", &format!("{}: {}", totals.messages, said.join(", ")));
        let entries = if self.entries == 1 { "1 entry".to_owned() } else { format!("{} entries", self.entries) };
        let branches = if self.branches == 1 { "1 branch".to_owned() } else { format!("{} branches", self.branches) };
        row("holds", &format!("{entries} on {branches}, {}", count(totals.tool_calls, "tool call")));
        if !self.labels.is_empty() {
            row("labels", &one_line(&self.labels.join(", "), LINE));
        }
        row("spent", &spent(&totals.usage));
        for (model, usage) in &totals.by_model {
            row("", &format!("{model}: {}", spent(usage)));
        }
        text
    }

    fn for_programs(&self) -> Value {
        let Self { head, totals, .. } = self;
        let by_model: serde_json::Map<_, _> =
            totals.by_model.iter().map(|(model, usage)| (model.clone(), json!(usage))).collect();
        let mut value = json!({
            "path": head.path.to_string_lossy(),
            "id": head.header.id,
            "cwd": head.header.cwd,
            "name": self.name,
            "parentSession": head.header.parent_session,
            "created": crate::protocol::time::parse_iso(&head.header.timestamp).map(iso),
            "modified": self.modified,
            "messageCount": totals.messages,
            "firstMessage": self.first_message,
            "userMessages": totals.user_messages,
            "assistantMessages": totals.assistant_messages,
            "toolCalls": totals.tool_calls,
            "toolResults": totals.tool_results,
            "entries": self.entries,
            "branches": self.branches,
            "labels": self.labels,
            "usage": totals.usage,
            "usageByModel": by_model,
        });
        if let Some(fields) = value.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        value
    }
}

fn spent(usage: &Usage) -> String {
    let Usage { input, output, cache_read, cache_write, cost, .. } = usage;
    let mut parts = vec![format!("{input} tokens in"), format!("{output} out")];
    if *cache_read > 0 || *cache_write > 0 {
        parts.push(format!("{cache_read} from caches, {cache_write} into caches"));
    }
    format!("{}; ${:.4}", parts.join(", "), cost.total)
}
