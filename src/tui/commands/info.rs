//! What the session is, and what it has cost.

use super::SlashCommand;
use crate::{
    protocol::{Usage, event::NoticeLevel},
    tui::{
        effect::Effect,
        gauges::hit_rate,
        model::Model,
        view::numbers::{counted, dollars, grouped, percent},
        work::Work,
    },
};

/// See the module.
pub(super) const COMMANDS: &[SlashCommand] = &[
    SlashCommand {
        name: "session",
        argument: "",
        description: "Show the session's file, messages, tokens, cost",
        run: session,
    },
    SlashCommand { name: "cost", argument: "", description: "Show tokens, cost and cache hits by model", run: cost },
];

fn session(model: &mut Model, _: &str) -> Vec<Effect> {
    let text = session_text(model);
    model.transcript.notice(NoticeLevel::Info, text);
    Vec::new()
}

fn cost(_: &mut Model, _: &str) -> Vec<Effect> {
    vec![Effect::Work(Work::Cost)]
}

fn session_text(model: &Model) -> String {
    let facts = &model.facts;
    let gauges = &model.gauges;
    let mut lines = vec!["Session".to_owned()];
    let mut field = |name: &str, value: String| lines.push(format!("  {name:9} {value}"));
    if let Some(name) = facts.name() {
        field("Name:", name);
    }
    field("File:", facts.session_file.clone().unwrap_or_else(|| "none: it is kept in memory only".to_owned()));
    if let Some(tree) = &facts.tree {
        field("Id:", tree.header().id.clone());
        if let Some(parent) = &tree.header().parent_session {
            field("Parent:", parent.clone());
        }
    }
    field("Folder:", model.surroundings.short(&facts.cwd));
    let totals = &gauges.totals;
    field(
        "Messages:",
        format!(
            "{} ({} of yours, {}, {}, {})",
            grouped(totals.messages as u64),
            grouped(totals.user_messages as u64),
            counted(totals.assistant_messages, "answer", "answers"),
            counted(totals.tool_calls, "tool call", "tool calls"),
            counted(totals.tool_results, "result", "results"),
        ),
    );
    field("Tokens:", tokens(&totals.usage));
    field("Cost:", dollars(totals.usage.cost.total));
    field("Context:", context(gauges.context, facts.window));
    for (name, usage) in &totals.by_model {
        lines.push(format!("  {name}: {}, {}", dollars(usage.cost.total), tokens(usage)));
    }
    if totals.tools_and_summaries.total_tokens > 0 {
        let usage = &totals.tools_and_summaries;
        lines.push(format!("  tools and summaries: {}, {}", dollars(usage.cost.total), tokens(usage)));
    }
    lines.join("\n")
}

/// The parts of a usage that there are.
pub(in crate::tui) fn tokens(usage: &Usage) -> String {
    let parts = [
        (usage.input, "input"),
        (usage.output, "output"),
        (usage.cache_read, "read from the cache"),
        (usage.cache_write, "written to the cache"),
    ];
    let parts: Vec<_> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", grouped(*count)))
        .collect();
    let hit = hit_rate(usage).filter(|_| usage.cache_read > 0);
    let hit = hit.map_or(String::new(), |hit| format!(" ({hit:.1}% cache hits)"));
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") + &hit }
}

fn context(known: Option<u64>, window: u64) -> String {
    let Some(known) = known else { return "not known until the next answer".to_owned() };
    match percent(known, window) {
        Some(part) => format!("{} of {} tokens ({part:.1}%)", grouped(known), grouped(window)),
        None => format!("{} tokens", grouped(known)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usage_is_told_by_its_parts() {
        let usage = Usage { input: 1_000, output: 20, ..Usage::default() };
        assert_eq!(tokens(&usage), "1,000 input, 20 output");
        let usage = Usage { input: 250, cache_read: 750, ..Usage::default() };
        assert_eq!(tokens(&usage), "250 input, 750 read from the cache (75.0% cache hits)");
        assert_eq!(tokens(&Usage::default()), "none");
    }

    #[test]
    fn the_context_is_told_as_far_as_it_is_known() {
        assert_eq!(context(Some(50_000), 200_000), "50,000 of 200,000 tokens (25.0%)");
        assert_eq!(context(Some(5), 0), "5 tokens");
        assert_eq!(context(None, 9), "not known until the next answer");
    }
}
