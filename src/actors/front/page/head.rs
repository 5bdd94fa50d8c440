//! What the session is: name, folder, times, models, totals.

use super::{
    html,
    numbers::{cost, counted, grouped, time},
};
use crate::{
    protocol::{Usage, time::parse_iso},
    store::{
        jsonl::{EntryKind, Role},
        tree::{Totals, TreeView},
    },
};

/// Characters of a title that is taken from the first message.
const TITLE: usize = 100;

/// The page's title: the session's name, or how it begins.
pub fn title(view: &TreeView) -> String {
    let first = || {
        let mut users = view.entries().filter(|entry| entry.kind() == EntryKind::Message(Role::User));
        users.find_map(|entry| Some(html::preview(&entry.user_text()?, TITLE))).filter(|text| !text.is_empty())
    };
    view.name().or_else(first).unwrap_or_else(|| format!("Session {}", view.header().id))
}

/// Adds the facts below the title.
pub fn facts(out: &mut String, view: &TreeView, totals: &Totals) {
    let header = view.header();
    let begun = header.timestamp.as_str();
    let last = view.entries().next_back().map(|entry| entry.entry_once().timestamp.clone()).unwrap_or_default();
    let fact = |out: &mut String, name: &str, value: &str| {
        if !value.is_empty() {
            html::element(out, "dt", "", name);
            html::element(out, "dd", "", value);
        }
    };
    out.push_str("<dl class=\"facts\">");
    let models: Vec<&str> = totals.by_model.iter().map(|(model, _)| model.as_str()).collect();
    fact(out, if models.len() > 1 { "Models" } else { "Model" }, &models.join(", "));
    fact(out, "Folder", &header.cwd);
    fact(out, "Time", &span(begun, &last));
    let counts = [
        counted(totals.user_messages, "prompt"),
        counted(totals.assistant_messages, "answer"),
        counted(totals.tool_calls, "tool call"),
    ];
    fact(out, "Messages", &counts.join(", "));
    fact(out, "Tokens", &tokens(&totals.usage));
    fact(out, "Cost", &cost(totals.usage.cost.total));
    fact(out, "Session", &header.id);
    fact(out, "Forked from", header.parent_session.as_deref().unwrap_or_default());
    out.push_str("</dl>");
    if totals.by_model.len() > 1 || totals.tools_and_summaries.context_tokens() > 0 {
        let summary = |out: &mut String| out.push_str("Tokens and cost by model");
        html::details(out, "costs", false, summary, |out| by_model(out, totals));
    }
}

fn by_model(out: &mut String, totals: &Totals) {
    out.push_str("<div class=\"wide\"><table><thead><tr><th>Model</th>");
    for name in ["Input", "Cache read", "Cache write", "Output", "Cost"] {
        out.push_str(&format!("<th class=\"end\">{name}</th>"));
    }
    out.push_str("</tr></thead><tbody>");
    let others = ("Tools and summaries".to_owned(), totals.tools_and_summaries);
    let others = (others.1.context_tokens() > 0).then_some(&others);
    for (model, usage) in totals.by_model.iter().chain(others) {
        out.push_str("<tr>");
        html::element(out, "td", "", model);
        let numbers = [usage.input, usage.cache_read, usage.cache_write, usage.output].map(grouped);
        for number in numbers.iter().chain([&cost(usage.cost.total)]) {
            html::element(out, "td", "end", number);
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
}

fn tokens(usage: &Usage) -> String {
    if usage.context_tokens() == 0 {
        return String::new();
    }
    let [input, output, cached, written] =
        [usage.input, usage.output, usage.cache_read, usage.cache_write].map(grouped);
    format!("{input} in, {output} out, {cached} cache read, {written} cache write")
}

/// From the beginning to the last entry, in UTC.
fn span(begun: &str, last: &str) -> String {
    let (from, to) = (time(begun), time(last));
    let minutes = parse_iso(begun).zip(parse_iso(last)).map(|(begun, last)| (last - begun) / 60_000);
    match (to.strip_prefix(from.get(..10).unwrap_or("?")), minutes) {
        _ if from.is_empty() => to,
        (_, Some(..1)) => format!("{from} UTC"),
        (Some(same_day), _) => format!("{from} to{same_day} UTC"),
        (None, _) if to.is_empty() => format!("{from} UTC"),
        (None, _) => format!("{from} to {to} UTC"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_given_once_when_nothing_more_is_to_say() {
        for (begun, last, wanted) in [
            ("2026-01-02T03:04:05.000Z", "2026-01-02T03:04:55.000Z", "2026-01-02 03:04 UTC"),
            ("2026-01-02T03:04:05.000Z", "2026-01-02T04:05:00.000Z", "2026-01-02 03:04 to 04:05 UTC"),
            ("2026-01-02T03:04:05.000Z", "2026-01-03T04:05:00.000Z", "2026-01-02 03:04 to 2026-01-03 04:05 UTC"),
            ("2026-01-02T03:04:05.000Z", "", "2026-01-02 03:04 UTC"),
            ("", "", ""),
        ] {
            assert_eq!(span(begun, last), wanted);
        }
    }
}
