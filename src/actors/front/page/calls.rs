//! A call of a tool, with its result.

use super::{
    arguments,
    entries::anchor,
    html,
    plan::{Matched, Plan},
    results,
};
use crate::protocol::message::ToolCall;

/// Adds a call with the results that it has on one branch or another; the page shows those of the branch in view.
pub fn call(out: &mut String, plan: &Plan<'_>, call: &ToolCall, matched: &[&Matched]) {
    let failed = matched.iter().any(|matched| plan.on_branch[matched.entry] && matched.result.is_error);
    out.push_str(if failed { "<section class=\"call failed\">" } else { "<section class=\"call\">" });
    out.push_str("<header>");
    html::element(out, "b", "tool", &call.name);
    // A command stands in full below.
    if call.name != "bash" {
        html::element(out, "code", "line", &arguments::line(call));
    }
    out.push_str("</header>");
    let shows_diff = matched.iter().any(|matched| results::diff(&matched.result).is_some());
    arguments::body(out, call, shows_diff);
    for matched in matched {
        anchor(out, plan, matched.entry, "div", if matched.result.is_error { "result error" } else { "result" });
        results::body(out, &matched.result, Some(call));
        out.push_str("</div>");
    }
    if matched.is_empty() {
        html::element(out, "p", "missing", "The session has no result of this call.");
    }
    out.push_str("</section>");
}
