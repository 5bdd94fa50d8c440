//! What a summary of a branch that is left is made of.

use super::FileOps;
use crate::{
    protocol::{AgentMessage, EntryBody, tokens},
    store::{jsonl::EntryKind, tree::LeftEntry},
};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BranchPlan {
    /// The messages that are summarised.
    pub messages: Vec<AgentMessage>,
    /// Files that were read and changed on the branch.
    pub files: FileOps,
}

/// Chooses of the entries that are left, the newest first, what about `budget` tokens hold: results of tools and prompts
/// are left out, and the newest entry counts in any case. An old summary that does not fit comes along while a tenth of
/// the budget is free, since it stands for much; then nothing more.
#[must_use]
pub fn branch(left: &[LeftEntry<'_>], budget: u64) -> BranchPlan {
    let mut plan = BranchPlan::default();
    let mut chosen: Vec<Vec<AgentMessage>> = Vec::new();
    let (mut used, mut full) = (0u64, false);
    for LeftEntry { entry, messages } in left {
        let is_summary = matches!(entry.kind(), EntryKind::Compaction | EntryKind::BranchSummary);
        if is_summary {
            note_summary(&mut plan.files, &entry.entry().body);
        }
        plan.files.note(messages);
        let shown: Vec<_> = messages.iter().filter(|message| is_shown(message)).cloned().collect();
        if full || shown.is_empty() {
            continue;
        }
        let size: u64 = shown.iter().map(tokens::of_message).sum();
        if !chosen.is_empty() && used.saturating_add(size) > budget {
            full = true;
            if !is_summary || used >= budget / 10 * 9 {
                continue;
            }
        }
        used = used.saturating_add(size);
        chosen.push(shown);
    }
    plan.messages = chosen.into_iter().rev().flatten().collect();
    plan
}

fn is_shown(message: &AgentMessage) -> bool {
    !matches!(message, AgentMessage::System(_) | AgentMessage::ToolResult(_) | AgentMessage::Unknown(_))
}

/// Adds the files that an earlier summary of our own tells of; an extension's details are its own.
fn note_summary(files: &mut FileOps, body: &EntryBody) {
    match body {
        EntryBody::Compaction { details, from_hook, .. } | EntryBody::BranchSummary { details, from_hook, .. }
            if *from_hook != Some(true) =>
        {
            files.add(FileOps::from_details(details.as_ref()));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        protocol::message::text_of,
        store::{
            testing::{answer, line, system, user, view},
            tree::with_messages,
        },
    };

    /// A text of so many tokens that begins with a name of two letters.
    fn long(name: &str, tokens: usize) -> String {
        format!("{name}{}", "x".repeat(tokens * 4 - 2))
    }

    fn summary(kind: &str, id: &str, parent: &str, tokens: usize, hook: bool) -> String {
        let mut fields = json!({"summary": long("SU", tokens), "fromId": "root", "firstKeptEntryId": id,
            "details": {"readFiles": [format!("{id}.r")], "modifiedFiles": [format!("{id}.m")]}});
        if hook {
            fields["fromHook"] = true.into();
        }
        line(kind, id, parent, fields)
    }

    /// The first two letters of what is chosen.
    fn chosen(lines: &[String], budget: u64) -> (String, FileOps) {
        let view = view(lines);
        let plan = branch(&with_messages(&view.left_for(None)), budget);
        let text = |message: &AgentMessage| match message {
            AgentMessage::User(user) => user.content.text(""),
            AgentMessage::Assistant(answer) => text_of(&answer.content, ""),
            AgentMessage::CompactionSummary(summary) => summary.summary.clone(),
            AgentMessage::BranchSummary(summary) => summary.summary.clone(),
            other => other.role().to_owned(),
        };
        let names: Vec<String> = plan.messages.iter().map(|message| text(message).chars().take(2).collect()).collect();
        (names.join(" "), plan.files)
    }

    #[test]
    fn the_newest_messages_that_fit_are_chosen_without_prompts_and_results_6_7() {
        let call = json!({"message": {"role": "assistant",
            "content": [{"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "old.rs"}}]}});
        let result = json!({"message": {"role": "toolResult", "toolCallId": "c", "content": "R".repeat(4_000)}});
        let lines = [
            system("s", "", json!({"prompt": "P"})),
            user("u1", "s", &long("U1", 10)),
            line("message", "a1", "u1", call),
            line("message", "r1", "a1", result),
            answer("a2", "r1", &long("A2", 10)),
            user("u2", "a2", &long("U2", 10)),
        ];
        for (budget, wanted) in [(100, "U1  A2 U2"), (29, " A2 U2"), (20, "A2 U2"), (19, "U2"), (5, "U2")] {
            let (names, files) = chosen(&lines, budget);
            assert_eq!(names, wanted, "{budget}");
            assert_eq!(files.details()["readFiles"], json!(["old.rs"]), "what does not fit counts, too");
        }
        assert_eq!(chosen(&lines[..1], 100).0, "");
    }

    #[test]
    fn an_old_summary_that_does_not_fit_comes_along_while_there_is_some_room_and_then_nothing_more_6_7() {
        let lines = |kind: &str| {
            [
                user("u0", "", &long("U0", 1)),
                summary(kind, "k", "u0", 50, false),
                summary("branch_summary", "h", "k", 5, true),
                user("u1", "h", &long("U1", 40)),
            ]
        };
        for kind in ["compaction", "branch_summary"] {
            assert_eq!(chosen(&lines(kind), 60).0, "SU SU U1", "{kind}");
            assert_eq!(chosen(&lines(kind), 50).0, "SU U1", "{kind}");
            assert_eq!(chosen(&lines(kind), 200).0, "U0 SU SU U1", "{kind}");
        }
        let files = chosen(&lines("compaction"), 60).1.details();
        assert_eq!(files, json!({"readFiles": ["k.r"], "modifiedFiles": ["k.m"]}), "not those of an extension");
    }
}
