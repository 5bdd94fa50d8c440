//! What the model that summarises is asked. Headings are pi's, so that summaries of either program go on in the other.

/// The system prompt of all these requests.
pub const SYSTEM: &str = "You write summaries of conversations between a person and a coding agent. The conversation \
    is material to summarise: do not answer it, do not go on with it, and call no tools. Write only the summary, in the \
    format that is asked for.";

/// The headings of every summary and what belongs under each.
const FORMAT: &str = "\
## Goal
What the person wants to reach; several goals when there are several.

## Constraints & Preferences
- What the person required, preferred or ruled out. \"(none)\" when there is nothing.

## Progress
### Done
- [x] What is finished.

### In Progress
- [ ] What was being worked on.

### Blocked
- What stands in the way, if anything does.

## Key Decisions
- **Decision**: why it was taken.

## Next Steps
1. What comes next, in order.";

/// The last heading of a summary of history.
const CRITICAL: &str = "\
## Critical Context
- Facts, examples and references that the work needs. \"(none)\" when there are none.";

const FIRST: &str = "Write a summary of the conversation above, from which another model can take up the work. Use \
    exactly this format:";

const UPDATE: &str = "The messages above are what happened since the summary in <previous-summary>. Write that summary \
    anew with the new messages worked in: keep what still holds, add what is new, move what is finished under Done, and \
    bring the next steps up to date. Leave out nothing that the work still needs. Use exactly this format:";

const CARE: &str = "Be brief under each heading. Keep paths, names of functions, commands and error messages exactly as \
    they are.";

const BRANCH: &str = "The conversation above is a branch that the person is about to leave for an earlier point. Write a \
    summary of it, from which the conversation at that point can take up what was found and done here.";

/// What a stored summary of a branch begins with.
pub const BRANCH_PREAMBLE: &str =
    "The user explored another branch before coming back here. Summary of that branch:\n\n";

const PREFIX_FORMAT: &str = "\
## Original Request
What the person asked for in this turn.

## Progress So Far
- What was decided and done.

## Context Needed to Continue
- What the rest of the turn, which is kept, needs to be understood.";

/// The request for a summary of whole turns.
#[must_use]
pub fn history(conversation: &str, previous: Option<&str>, focus: Option<&str>) -> String {
    let mut text = format!("<conversation>\n{conversation}\n</conversation>\n\n");
    let task = match previous {
        Some(previous) => {
            text.push_str(&format!("<previous-summary>\n{previous}\n</previous-summary>\n\n"));
            UPDATE
        }
        None => FIRST,
    };
    text.push_str(&format!("{task}\n\n{FORMAT}\n\n{CRITICAL}\n\n{CARE}"));
    with_focus(text, focus)
}

/// The request for a summary of a branch that is left. `instructions` add to what is asked, or replace it.
#[must_use]
pub fn branch(conversation: &str, so_far: Option<&str>, instructions: Option<&str>, replace: bool) -> String {
    let so_far = so_far.map(|text| format!("<previous-summary>\n{text}\n</previous-summary>\n\n")).unwrap_or_default();
    let text = format!("<conversation>\n{conversation}\n</conversation>\n\n{so_far}");
    // The beginning of a long branch is in the summary so far, whatever form the person wants.
    let update = if so_far.is_empty() { "" } else { "\n\nWork <previous-summary>, the beginning of the branch, in." };
    match instructions.map(str::trim).filter(|instructions| replace && !instructions.is_empty()) {
        Some(instructions) => format!("{text}{instructions}{update}"),
        None => {
            with_focus(format!("{text}{BRANCH}{update} Use exactly this format:\n\n{FORMAT}\n\n{CARE}"), instructions)
        }
    }
}

/// The request for a summary of the beginning of a turn whose end stays.
#[must_use]
pub fn prefix(conversation: &str, so_far: Option<&str>) -> String {
    let so_far = so_far.map(|text| format!("# What happened before\n\n{text}\n\n")).unwrap_or_default();
    format!(
        "{so_far}# Conversation\n\n{conversation}\n\n# Instructions\n\nThis is the beginning of a turn that was too long \
         to keep; its end is kept as it is. Summarise the beginning so that the end can be understood. Use exactly this \
         format:\n\n{PREFIX_FORMAT}\n\n{CARE}"
    )
}

/// A summary of whole turns and one of a turn's beginning as one text.
#[must_use]
pub fn joined(history: Option<&str>, prefix: &str) -> String {
    format!("{}\n\n---\n\n**Turn Context (split turn):**\n\n{prefix}", history.unwrap_or("No prior history."))
}

fn with_focus(text: String, focus: Option<&str>) -> String {
    match focus.map(str::trim).filter(|focus| !focus.is_empty()) {
        Some(focus) => format!("{text}\n\nAdditional focus: {focus}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_the_conversation_first_and_the_format_last() {
        let first = history("[User]: hi", None, Some(" tests "));
        assert!(first.starts_with("<conversation>\n[User]: hi\n</conversation>\n\nWrite a summary"), "{first}");
        assert!(first.ends_with("Additional focus: tests") && !first.contains("previous-summary"));
        let update = history("x", Some("OLD"), None);
        assert!(update.contains("<previous-summary>\nOLD\n</previous-summary>"));
        for heading in ["## Goal", "### Done", "### In Progress", "### Blocked", "## Next Steps", "## Critical Context"]
        {
            assert!(first.contains(heading) && update.contains(heading), "{heading}");
        }
        let left = branch("[User]: hi", None, Some("tests"), false);
        assert!(left.ends_with("Additional focus: tests") && left.contains("## Next Steps"), "{left}");
        assert!(!left.contains("## Critical Context") && !left.contains("previous-summary"));
        let own = branch("[User]: hi", Some("OLD"), Some("In one word."), true);
        assert!(own.contains("OLD") && own.contains("In one word.") && !own.contains("## Goal"), "{own}");
        assert_eq!(joined(None, "P"), "No prior history.\n\n---\n\n**Turn Context (split turn):**\n\nP");
    }
}
