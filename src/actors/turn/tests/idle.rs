//! Entries of others, and what comes in while nothing runs: "idle" is never a lie.

use super::{
    script::{Step::*, check, check_in},
    world::World,
};
use crate::protocol::command::QueueKind;

const RUN: &str = "=started agent_start turn_start user(hi) >call assistant(ok) turn_end agent_end agent_settled";

#[test]
fn an_entry_is_stored_at_once_while_idle() {
    check(&[Append("x")], "entry_appended(custom) =entry");
}

/// A run during which entries come while the model answers: whoever sends them does not wait for its end.
fn run_with(answered: &str, appended: &str) -> String {
    RUN.replace(">call", &format!(">call {answered}")).replace("agent_settled", &format!("{appended} agent_settled"))
}

#[test]
fn an_entry_that_comes_while_a_trace_runs_is_taken_at_once_and_stored_before_it_settles() {
    check(
        &[Prompt("hi"), Append("x"), Append("y"), Text("ok")],
        &run_with("=done =done", "entry_appended(custom) entry_appended(custom)"),
    );
    check(
        &[Prompt("hi"), Append("x"), StopAt("store(custom)"), Text("ok"), Append("y"), Go],
        &run_with("=done", "=done entry_appended(custom) entry_appended(custom)"),
    );
}

#[test]
fn an_entry_that_comes_before_the_prompt_is_stored_stands_before_it() {
    check(
        &[StopAt("ask(before_agent_start)"), Prompt("hi"), Append("x"), Go, Text("ok")],
        &format!("=done {}", RUN.replace("user(hi)", "entry_appended(custom) user(hi)")),
    );
    check_in(
        World { declares: true, ..World::default() },
        &[StopAt("ask(before_agent_start)"), Steer("S"), Prompt("hi"), Append("x"), Go, Text("ok")],
        &format!(
            "queue[S|] =queued =done {}",
            RUN.replace("user(hi)", "system entry_appended(custom) user(hi) queue[|] user(S)")
        ),
    );
}

#[test]
fn a_prompt_right_behind_an_entry_is_not_refused() {
    for prompt in [Prompt("hi"), PromptOr("hi", QueueKind::FollowUp)] {
        check(
            &[StopAt("store(custom)"), Append("x"), prompt, Go, Text("ok")],
            &format!("entry_appended(custom) =entry {RUN}"),
        );
    }
    check(
        &[Prompt("hi"), StopAt("store(custom)"), Append("x"), Text("ok"), Go],
        &run_with("=done", "entry_appended(custom)"),
    );
}

#[test]
fn what_comes_while_an_entry_is_stored_is_taken_in_its_order() {
    check(
        &[
            StopAt("store(custom)"),
            Append("x"),
            Append("y"),
            Prompt("hi"),
            Prompt("two"),
            Steer("S"),
            Abort,
            WaitIdle,
            Go,
        ],
        "entry_appended(custom) =entry entry_appended(custom) =entry =busy queue[S|] =queued >cancel
         =started agent_start turn_start user(hi) aborted() turn_end agent_end agent_settled[aborted] =done =done",
    );
    check(
        &[StopAt("store(custom)"), Append("x"), Compact, Prompt("hi"), Abort, Go],
        "entry_appended(custom) =entry compaction_start(manual) >compact
         =refused(A_compaction_is_running._Wait_for_it,_or_abort_it,_before_sending_a_prompt.)
         >cancel compaction_end(aborted) =refused(Compaction_cancelled) =done",
    );
    check(&[StopAt("store(custom)"), Append("x"), Abort, WaitIdle, Go], "entry_appended(custom) =entry =done =done");
}

#[test]
fn who_waits_for_idle_is_answered_when_the_last_entry_is_stored() {
    check(
        &[Prompt("hi"), WaitIdle, Append("x"), StopAt("store(custom)"), Text("ok"), WaitIdle, Go],
        &format!("{} =done =done", run_with("=done", "entry_appended(custom)")),
    );
    check(&[WaitIdle], "=done");
}
