//! What people and models read about a call that does not simply run.

use serde_json::{Map, Value};

pub(super) use super::answers::*;
use crate::{
    extensions::questions::NoAnswer,
    tools::permissions::{Reason, shell::quote},
};

/// What is asked then.
pub(super) const WHY: &str = "What should the model do instead?";
/// Shown while nothing is typed.
pub(super) const WHY_PLACEHOLDER: &str = "a reason for the model";

/// Characters of a call that a question shows.
const SHOWN: usize = 2_000;

/// The question about a call.
pub(super) fn question(tool: &str, input: &Map<String, Value>, reason: &Reason, remembers: bool) -> String {
    let detail = match (input.get("command").and_then(Value::as_str), input.get("path").and_then(Value::as_str)) {
        (Some(command), _) => command.to_owned(),
        (None, Some(path)) => path.to_owned(),
        _ => Value::Object(input.clone()).to_string(),
    };
    let mut text =
        format!("Allow {tool}?\n\n{}\n\n{}: {}.", visible(&detail), visible(&reason.part), visible(&reason.why));
    if remembers {
        text += &format!("\n\"{ALWAYS}\" remembers: {}", visible(&reason.remedies.join(", ")));
    }
    text
}

/// A text in which nothing hides: what has no shape of its own, or changes the order of others, is written as its
/// number. Long ones are cut, and say so.
fn visible(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().take(SHOWN) {
        match c {
            '\n' => shown.push(c),
            c if c.is_control() || is_hidden(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    let more = text.chars().count().saturating_sub(SHOWN);
    if more > 0 { format!("{shown}… and {more} more characters") } else { shown }
}

fn is_hidden(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Why a call does not run, for the model, with what the user can do.
pub(super) fn denied(reason: &Reason, no_answer: Option<NoAnswer>) -> String {
    let asked = no_answer.map(|cause| format!(", and {cause}")).unwrap_or_default();
    let remedy = match (reason.by_rule, reason.remedies.as_slice()) {
        (true, _) => "The user can change that rule.".to_owned(),
        (false, []) => "The user can run it, or allow the tool as a whole.".to_owned(),
        (false, rules) => {
            let flags: Vec<String> = rules.iter().map(|rule| format!("--allow {}", quote(rule))).collect();
            format!("The user can allow it with {}, or below permissions.allow in settings.json.", flags.join(" "))
        }
    };
    format!(
        "Denied by permissions: {}: {}{asked}. Do not try to get around it: do without, or tell the user what you need and \
         why. {remedy}",
        visible(&reason.part),
        visible(&reason.why)
    )
}

/// Why a call does not run that a person denied.
pub(super) fn denied_by_user(reason: &Reason, why: Option<&str>) -> String {
    match why {
        Some(why) => format!("The user denied the call ({}) and says: {why}", reason.part),
        None => format!(
            "The user denied the call ({}). Do not repeat it: do without, or ask the user how to go on.",
            reason.part
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reason(by_rule: bool, remedies: &[&str]) -> Reason {
        let remedies = remedies.iter().map(|text| (*text).to_owned()).collect();
        Reason { part: "bash(git push)".into(), why: "no rule allows it (mode `ask`)".into(), remedies, by_rule }
    }

    #[test]
    fn a_denial_says_what_why_and_how_it_could_be_allowed() {
        let text = denied(&reason(false, &["bash(git push)", "write(./it's)"]), Some(NoAnswer::Nobody));
        for part in [
            "bash(git push): no rule allows it",
            "nobody can be asked",
            "--allow 'bash(git push)' --allow 'write(./it'\\''s)'",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert!(denied(&reason(true, &["bash(x)"]), None).ends_with("The user can change that rule."));
        assert!(denied(&reason(false, &[]), None).contains("allow the tool as a whole"));
        assert!(denied_by_user(&reason(false, &[]), Some("use make")).ends_with("says: use make"));
    }

    #[test]
    fn nothing_hides_in_a_question() {
        let command = format!("echo \u{202e}x\u{1b}[2K\n{}", "y".repeat(3_000));
        let input = json!({"command": command});
        let text = question("bash", input.as_object().unwrap(), &reason(false, &["bash(git push)"]), true);
        assert!(text.contains("echo \\u{202e}x\\u{1b}[2K\nyyy") && text.contains("more characters"), "{text}");
        assert!(text.ends_with("remembers: bash(git push)"), "{text}");
    }
}
