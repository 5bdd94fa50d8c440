//! An entry of the session.

use std::collections::HashMap;

use super::{
    blocks, calls, code,
    html::{self, details},
    numbers::{cost, duration, grouped, time},
    plan::{Matched, Plan},
    prose, results, system,
};
use crate::protocol::{
    AgentMessage, Entry, EntryBody, StopReason,
    message::{AssistantMessage, BashExecution, Block, Content, ThinkingBlock, text_of},
};

/// Adds the beginning of the element that is an entry: it can be addressed, and hidden with its branch.
pub fn anchor(out: &mut String, plan: &Plan<'_>, at: usize, tag: &str, class: &str) {
    let off = if plan.on_branch[at] { "" } else { " off" };
    out.push_str(&format!("<{tag} id=\"e{at}\" data-e=\"{at}\" class=\"entry {class}{off}\">"));
}

/// Adds an entry. `matched` are the results of its calls.
pub fn entry(out: &mut String, plan: &Plan<'_>, at: usize, entry: &Entry, matched: &[Matched]) {
    let card = |out: &mut String, class: &str, who: &str| {
        anchor(out, plan, at, "article", class);
        out.push_str("<header>");
        html::element(out, "b", "who", who);
        notes(out, plan, at, &entry.timestamp);
        out.push_str("</header>");
    };
    match &entry.body {
        EntryBody::Message { message } => match message {
            AgentMessage::User(user) => {
                card(out, "user", "User");
                blocks::content(out, &user.content);
            }
            AgentMessage::Assistant(answer) => {
                card(out, "assistant", "Assistant");
                assistant(out, plan, answer, matched);
            }
            AgentMessage::ToolResult(result) => {
                card(out, "orphan", &format!("Result of {} without its call", result.tool_name));
                results::body(out, result, None);
            }
            AgentMessage::BashExecution(bash) => {
                card(out, "shell", "Command of the user");
                shell(out, bash);
            }
            AgentMessage::System(message) => {
                anchor(out, plan, at, "article", "mark system");
                system::change(out, message);
            }
            AgentMessage::Custom(custom) => {
                card(out, "custom", &custom.custom_type);
                custom_content(out, &custom.content, custom.display, custom.details.as_ref());
            }
            AgentMessage::BranchSummary(summary) => {
                card(out, "summary", "Summary of a branch");
                prose::markdown(out, &summary.summary);
            }
            AgentMessage::CompactionSummary(summary) => {
                card(out, "summary", "Summary");
                prose::markdown(out, &summary.summary);
            }
            AgentMessage::Unknown(value) => {
                card(out, "custom", &format!("A message of the unknown role {}", message.role()));
                blocks::json(out, "message", value);
            }
        },
        EntryBody::CustomMessage { custom_type, content, display, details } => {
            card(out, "custom", custom_type);
            custom_content(out, content, *display, details.as_ref());
        }
        EntryBody::Compaction { summary, tokens_before, first_kept_entry_id, system_message, details, .. } => {
            card(out, "summary", "Compaction");
            let text =
                format!("{} tokens of context before this were folded into a summary. ", grouped(*tokens_before));
            out.push_str("<p>");
            html::text(out, &text);
            match plan.find(first_kept_entry_id).filter(|kept| *kept != at) {
                Some(kept) => {
                    out.push_str(&format!("Kept as it was: everything from <a href=\"#e{kept}\">here</a> on."))
                }
                None => out.push_str("Nothing was kept as it was."),
            }
            out.push_str("</p>");
            fold_markdown(out, "summary", summary);
            if let Some(message) = system_message {
                system::change(out, message);
            }
            if let Some(value) = details {
                blocks::json(out, "details", value);
            }
        }
        EntryBody::BranchSummary { summary, from_id, details, .. } => {
            card(out, "summary", "Summary of a branch that was left");
            if let Some(from) = plan.find(&from_id.as_str().into()) {
                out.push_str(&format!("<p><a href=\"#e{from}\">Where it was left</a></p>"));
            }
            fold_markdown(out, "summary", summary);
            if let Some(value) = details {
                blocks::json(out, "details", value);
            }
        }
        other => mark(out, plan, at, other, &entry.timestamp),
    }
    out.push_str("</article>");
}

/// The right side of an entry's head: its name, its branch, its time.
fn notes(out: &mut String, plan: &Plan<'_>, at: usize, timestamp: &str) {
    if let Some(label) = plan.label(at) {
        html::element(out, "span", "label", &label.text);
    }
    if let Some((which, of)) = plan.alternative(at) {
        html::element(out, "span", "fork", &format!("branch {which} of {of}"));
    }
    out.push_str("<time");
    html::attribute(out, "datetime", timestamp);
    out.push('>');
    html::text(out, &time(timestamp));
    out.push_str(&format!("</time><a class=\"here\" href=\"#e{at}\" title=\"Link to this entry\">#</a>"));
}

fn assistant(out: &mut String, plan: &Plan<'_>, answer: &AssistantMessage, matched: &[Matched]) {
    let mut results: HashMap<usize, Vec<&Matched>> = HashMap::new();
    matched.iter().for_each(|matched| results.entry(matched.call).or_default().push(matched));
    let mut calls = 0;
    for block in &answer.content {
        match block {
            Block::Thinking(thinking) => self::thinking(out, thinking),
            Block::ToolCall(call) => {
                calls::call(out, plan, call, results.get(&calls).map_or(&[], Vec::as_slice));
                calls += 1;
            }
            other => blocks::block(out, other),
        }
    }
    match answer.stop_reason {
        StopReason::Error => fault(out, "The model call failed", answer.error_message.as_deref()),
        StopReason::Aborted => fault(out, "Cancelled", answer.error_message.as_deref()),
        StopReason::Length => fault(out, "The answer was cut at the output limit", None),
        _ => {}
    }
    out.push_str("<footer>");
    let model = answer.response_model.as_deref().unwrap_or(&answer.model);
    let mut facts = vec![format!("{}/{model}", answer.provider)];
    facts.extend(
        answer.thinking_level.as_ref().filter(|level| *level != "off").map(|level| format!("thinking {level}")),
    );
    let usage = &answer.usage;
    if usage.context_tokens() > 0 {
        let (read, cached) = (usage.input.saturating_add(usage.cache_write), usage.cache_read);
        facts.push(format!("{} in, {} cached, {} out", grouped(read), grouped(cached), grouped(usage.output)));
    }
    facts.extend((usage.cost.total != 0.0).then(|| cost(usage.cost.total)));
    facts.extend(answer.duration_ms.map(duration));
    html::text(out, &facts.join(" · "));
    out.push_str("</footer>");
}

fn thinking(out: &mut String, thinking: &ThinkingBlock) {
    if thinking.thinking.trim().is_empty() {
        let text = if thinking.redacted == Some(true) { "thinking, withheld by the provider" } else { "thinking" };
        return html::element(out, "p", "missing", text);
    }
    let summary = |out: &mut String| {
        out.push_str("thinking");
        html::element(out, "span", "size", &html::preview(&thinking.thinking, 90));
    };
    details(out, "think", false, summary, |out| prose::markdown(out, &thinking.thinking));
}

fn fault(out: &mut String, what: &str, message: Option<&str>) {
    let text = message.map_or_else(|| format!("{what}."), |message| format!("{what}: {message}"));
    html::element(out, "p", "fault", &text);
}

fn shell(out: &mut String, bash: &BashExecution) {
    out.push_str("<pre class=\"code command\"><code>");
    code::inline(out, &bash.command, crate::resources::markup::Language::named("bash"));
    out.push_str("</code></pre>");
    let mut facts = Vec::new();
    match bash.exit_code {
        Some(0) | None => {}
        Some(code) => facts.push(format!("exit code {code}")),
    }
    facts.extend(bash.cancelled.then(|| "cancelled".to_owned()));
    facts.extend((bash.exclude_from_context == Some(true)).then(|| "not shown to the model".to_owned()));
    facts.extend(bash.truncated.then(|| match &bash.full_output_path {
        Some(path) => format!("cut; all of it was in {path}"),
        None => "cut".to_owned(),
    }));
    if !bash.output.is_empty() {
        code::folded(out, "output", &bash.output, None, true);
    }
    if !facts.is_empty() {
        html::element(out, "footer", "", &facts.join(" · "));
    }
}

fn custom_content(out: &mut String, content: &Content, display: bool, facts: Option<&serde_json::Value>) {
    if display {
        blocks::content(out, content);
    } else {
        let preview = html::preview(&text_of(&content.blocks(), " "), 90);
        let summary = |out: &mut String| {
            out.push_str("for the model");
            html::element(out, "span", "size", &preview);
        };
        details(out, "fold", false, summary, |out| blocks::content(out, content));
    }
    if let Some(facts) = facts {
        blocks::json(out, "details", facts);
    }
}

fn fold_markdown(out: &mut String, name: &str, text: &str) {
    let summary = |out: &mut String| {
        html::text(out, name);
        html::element(out, "span", "size", &html::preview(text, 90));
    };
    details(out, "fold", false, summary, |out| prose::markdown(out, text));
}

/// An entry that is no message: one line, with more behind it where there is more.
fn mark(out: &mut String, plan: &Plan<'_>, at: usize, body: &EntryBody, timestamp: &str) {
    anchor(out, plan, at, "article", &format!("mark {}", known_kind(body)));
    let line = |out: &mut String, text: &str| {
        html::element(out, "span", "says", text);
        notes(out, plan, at, timestamp);
    };
    match body {
        EntryBody::ModelChange { provider, model_id } => line(out, &format!("Model: {provider}/{model_id}")),
        EntryBody::ThinkingLevelChange { thinking_level } => line(out, &format!("Thinking level: {thinking_level}")),
        EntryBody::Usage { kind, provider, model, usage, note } => {
            let note = note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
            let tokens = grouped(usage.context_tokens());
            line(out, &format!("{kind}: {tokens} tokens of {provider}/{model}, {}{note}", cost(usage.cost.total)));
        }
        EntryBody::ContextEdit { target_id, replacement } => {
            let what = match replacement {
                None => "From here on the model does not see",
                Some(_) => "From here on the model sees other content for",
            };
            line(out, &format!("{what} the entry {target_id}"));
            if let Some(target) = plan.find(target_id) {
                out.push_str(&format!(" <a href=\"#e{target}\">this one</a>"));
            }
            if let Some(replacement) = replacement {
                let inside = |out: &mut String| blocks::content(out, &replacement.content);
                details(out, "fold", false, |out| out.push_str("other content"), inside);
            }
        }
        EntryBody::Label { target_id, label } => match label.as_deref().filter(|label| !label.is_empty()) {
            Some(label) => line(out, &format!("Label of {target_id}: {label}")),
            None => line(out, &format!("Label of {target_id} removed")),
        },
        EntryBody::SessionInfo { name } => match name.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => line(out, &format!("Name of the session: {name}")),
            None => line(out, "Name of the session removed"),
        },
        EntryBody::Custom { custom_type, data } => {
            line(out, &format!("State of {custom_type}"));
            if let Some(data) = data {
                blocks::json(out, "state", data);
            }
        }
        EntryBody::Unknown(value) => {
            line(out, &format!("An entry of the unknown kind {}", body.kind()));
            blocks::json(out, "entry", value);
        }
        // They have cards.
        EntryBody::Message { .. }
        | EntryBody::CustomMessage { .. }
        | EntryBody::Compaction { .. }
        | EntryBody::BranchSummary { .. } => {}
    }
}

/// The class of an entry's kind; kinds that this version does not know are one.
fn known_kind(body: &EntryBody) -> &str {
    match body {
        EntryBody::Unknown(_) => "unknown",
        known => known.kind(),
    }
}
