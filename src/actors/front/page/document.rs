//! The page from head to foot.

use std::{
    collections::HashSet,
    io::{self, Write},
};

use super::{
    assets, entries, head, html,
    outline::{self, Stop},
    plan::Plan,
    system,
};
use crate::{
    protocol::{AgentMessage, Entry, EntryBody, message::ToolCall},
    store::tree::TreeView,
};

/// Writes a session as a page. Takes memory for one answer with its results at a time, and for a line of each entry.
///
/// # Errors
/// When `to` cannot be written.
pub fn write(view: &TreeView, to: &mut dyn Write) -> io::Result<()> {
    let plan = Plan::new(view);
    let title = head::title(view);
    let mut out = String::new();
    opening(&mut out, &title);
    top(&mut out, view, &title);
    out.push_str("<div class=\"page\"><main id=\"transcript\">");
    system::panel(&mut out, view);
    let mut stops = Vec::with_capacity(plan.nodes.len());
    // Results stand with their calls.
    let mut placed = HashSet::new();
    for at in 0..plan.nodes.len() {
        let entry = plan.entry(at).entry_once();
        stops.push(Stop::of(&entry));
        if placed.remove(&at) {
            continue;
        }
        let calls: Vec<&str> = calls_of(&entry).map(|call| call.id.as_str()).collect();
        let matched = plan.results(at, &calls);
        placed.extend(matched.iter().map(|matched| matched.entry));
        entries::entry(&mut out, &plan, at, &entry, &matched);
        to.write_all(out.as_bytes())?;
        out.clear();
    }
    if plan.nodes.is_empty() {
        out.push_str("<p class=\"missing\">The session has no entries.</p>");
    }
    out.push_str("<p id=\"nothing\" hidden>Nothing here matches the search.</p></main>");
    out.push_str("<nav id=\"tree\" aria-label=\"Session tree\"><h2>Session</h2><div class=\"nodes\">");
    outline::tree(&mut out, &plan, &stops);
    out.push_str("</div></nav></div>");
    closing(&mut out, &plan);
    to.write_all(out.as_bytes())
}

fn calls_of(entry: &Entry) -> impl Iterator<Item = &ToolCall> {
    let answer = match &entry.body {
        EntryBody::Message { message: AgentMessage::Assistant(answer) } => Some(answer),
        _ => None,
    };
    answer.into_iter().flat_map(|answer| answer.tool_calls())
}

fn opening(out: &mut String, title: &str) {
    out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta http-equiv=\"Content-Security-Policy\"");
    html::attribute(out, "content", &assets::policy());
    out.push_str(">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.push_str(
        "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n",
    );
    out.push_str(concat!("<meta name=\"generator\" content=\"troupe ", env!("CARGO_PKG_VERSION"), "\">\n<title>"));
    html::bare_text(out, title);
    out.push_str("</title>\n<style>");
    out.push_str(assets::STYLE);
    out.push_str("</style>\n</head>\n<body>\n");
}

fn top(out: &mut String, view: &TreeView, title: &str) {
    out.push_str("<header class=\"top\"><h1 dir=\"auto\">");
    html::text(out, title);
    out.push_str("</h1>");
    head::facts(out, view, &view.totals());
    out.push_str("</header>");
    out.push_str(concat!(
        "<div class=\"bar\" role=\"toolbar\" hidden>",
        "<button id=\"tree-open\" aria-controls=\"tree\">Tree</button>",
        "<input id=\"search\" type=\"search\" placeholder=\"Search (/)\" aria-label=\"Search\" autocomplete=\"off\">",
        "<span id=\"found\" aria-live=\"polite\"></span>",
        "<button id=\"previous\" title=\"Previous prompt (p)\">↑</button>",
        "<button id=\"next\" title=\"Next prompt (n)\">↓</button>",
        "<button id=\"expand\" title=\"Open everything (e)\">Expand</button>",
        "<button id=\"collapse\" title=\"Close everything (c)\">Collapse</button>",
        "<button id=\"theme\" title=\"Dark or light (t)\">◐</button>",
        "</div>"
    ));
}

fn closing(out: &mut String, plan: &Plan<'_>) {
    // Numbers only: where each entry hangs, so that the script can show another branch.
    out.push_str("\n<script type=\"application/json\" id=\"parents\">[");
    for at in 0..plan.nodes.len() {
        if at > 0 {
            out.push(',');
        }
        match plan.entry(at).parent() {
            Some(parent) => out.push_str(&parent.position().to_string()),
            None => out.push_str("-1"),
        }
    }
    out.push_str("]</script>\n<script>");
    out.push_str(assets::SCRIPT);
    out.push_str("</script>\n</body>\n</html>\n");
}
