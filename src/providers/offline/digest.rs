//! Summaries of conversations: what a compaction asks a model for. This program lists what was said and done.

/// How much of a line is quoted.
const LINE: usize = 200;
/// How many lines are quoted.
const ITEMS: usize = 10;

/// The summary when `text` asks for one: it holds a conversation between tags.
pub(super) fn of_conversation(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("<conversation>")?;
    let (conversation, rest) = rest.split_once("</conversation>")?;
    let previous = rest.split_once("<previous-summary>").and_then(|(_, rest)| rest.split_once("</previous-summary>"));
    let previous = previous.map(|(summary, _)| summary.trim());
    let said = |who: &'static str| {
        let lines = conversation.lines().filter_map(move |line| line.strip_prefix(who));
        lines.map(str::trim).filter(|line| !line.is_empty())
    };
    let asked: Vec<_> = said("[User]:").collect();
    let calls: Vec<_> = said("[Assistant tool calls]:").collect();
    let answers: Vec<_> = said("[Assistant]:").collect();
    let goal = previous.and_then(|summary| section(summary, "## Goal")).or(asked.first().copied()).unwrap_or("(none)");
    let mut out =
        format!("## Goal\n{}\n\n## Constraints & Preferences\n(none)\n\n## Progress\n### Done\n", short(goal));
    let done: Vec<String> = calls.iter().take(ITEMS).map(|call| format!("- [x] {}\n", short(call))).collect();
    out.push_str(if done.is_empty() { "(none)\n" } else { "" });
    out.extend(done);
    if calls.len() > ITEMS {
        out.push_str(&format!("- [x] and {} more rounds of tool calls\n", calls.len() - ITEMS));
    }
    out.push_str("### In Progress\n(none)\n### Blocked\n(none)\n\n## Key Decisions\n(none)\n\n## Next Steps\n");
    out.push_str(&format!("1. Go on from the last request: {}\n", short(asked.last().copied().unwrap_or("(none)"))));
    out.push_str("\n## Critical Context\n");
    for line in asked.iter().rev().take(ITEMS).rev() {
        out.push_str(&format!("- The user said: {}\n", short(line)));
    }
    if let Some(answer) = answers.last() {
        out.push_str(&format!("- The last answer began: {}\n", short(answer)));
    }
    out.push_str("- This summary is a list made by troupe/offline, a small program without understanding.\n");
    Some(out)
}

/// The first line below a heading of an earlier summary.
fn section<'a>(summary: &'a str, heading: &str) -> Option<&'a str> {
    let below = summary.lines().skip_while(|line| line.trim() != heading).skip(1);
    below.map(str::trim).find(|line| !line.is_empty())
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LINE) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_listed_under_the_headings_that_a_compaction_wants() {
        let request = "<conversation>\n[User]: count it\n\n[Assistant tool calls]: bash(command=\"wc\")\n\n[Tool result]: 3\n\n[Assistant]: three\n\n[User]: again\n</conversation>\n\nWrite a summary.";
        let summary = of_conversation(request).unwrap();
        for part in [
            "## Goal\ncount it\n",
            "- [x] bash(command=\"wc\")\n",
            "1. Go on from the last request: again\n",
            "- The last answer began: three\n",
        ] {
            assert!(summary.contains(part), "{part}\n{summary}");
        }
        let headings =
            ["## Goal", "## Progress", "### Done", "## Key Decisions", "## Next Steps", "## Critical Context"];
        let places: Vec<_> = headings.iter().map(|heading| summary.find(heading).unwrap()).collect();
        assert!(places.is_sorted());
        let update = format!("{request}<previous-summary>\n{summary}</previous-summary>");
        assert!(of_conversation(&update.replace("count it", "other")).unwrap().starts_with("## Goal\nother\n"));
        assert_eq!(of_conversation("what is a <conversation>?"), None);
    }
}
