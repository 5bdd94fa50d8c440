//! Failed model calls.

use super::script::{Step::*, check};
use crate::protocol::FailureClass::{InvalidRequest, Overloaded, QuotaExhausted, StreamTruncated, ToolUseFailed};

/// From the prompt to the wait before the first retry.
const FIRST: &str = "=started agent_start turn_start user(hi) >call assistant!(overloaded) turn_end
                     agent_end[will_retry] auto_retry_start(1,2000) entry_appended(context_edit) >wait(2000)";
/// What follows when the retry works.
const WORKS: &str = "agent_start turn_start >call assistant(ok) auto_retry_end(1,ok) turn_end agent_end agent_settled";

#[test]
fn a_failure_that_may_pass_is_left_out_and_tried_again() {
    check(&[Prompt("hi"), Fails(Overloaded), TimeUp, Text("ok")], &format!("{FIRST} {WORKS}"));
}

#[test]
fn a_stream_that_breaks_off_keeps_its_part_and_is_tried_again() {
    check(
        &[Prompt("hi"), Breaks(StreamTruncated, "par"), TimeUp, Text("ok")],
        &format!("{} {WORKS}", FIRST.replace("!(overloaded)", "!(parstream_truncated)")),
    );
}

#[test]
fn a_request_that_cannot_be_made_is_a_failed_answer() {
    check(
        &[StopAt("prepare"), Prompt("hi"), Unready(Overloaded), Go, TimeUp, Text("ok")],
        &format!("{} {WORKS}", FIRST.replace(">call ", "")),
    );
}

#[test]
fn what_does_not_pass_settles_at_once() {
    for class in [InvalidRequest, QuotaExhausted] {
        check(
            &[Prompt("hi"), Fails(class)],
            &format!(
                "=started agent_start turn_start user(hi) >call assistant!({}) turn_end agent_end agent_settled",
                class.name()
            ),
        );
    }
}

#[test]
fn after_the_last_retry_the_failure_stays_and_what_was_queued_meanwhile_runs() {
    let failed = |attempt: u32, ms: u32| {
        format!(
            "agent_start turn_start >call assistant!(overloaded) turn_end agent_end[will_retry]
             auto_retry_start({attempt},{ms}) entry_appended(context_edit) >wait({ms})"
        )
    };
    check(
        &[
            Prompt("hi"),
            Fails(Overloaded),
            TimeUp,
            Fails(Overloaded),
            TimeUp,
            Fails(Overloaded),
            FollowUp("f"),
            TimeUp,
            Fails(Overloaded),
            Text("ok"),
        ],
        &format!(
            "{FIRST} {} {} queue[|f] =queued
             agent_start turn_start >call assistant!(overloaded) turn_end agent_end auto_retry_end(3,overloaded)
             agent_start turn_start queue[|] user(f) >call assistant(ok) turn_end agent_end agent_settled",
            failed(2, 4000),
            failed(3, 8000),
        ),
    );
}

#[test]
fn an_odd_tool_call_is_tried_again_once() {
    check(
        &[Prompt("hi"), Fails(ToolUseFailed), TimeUp, Fails(ToolUseFailed)],
        &format!(
            "{} agent_start turn_start >call assistant!(tool_use_failed) turn_end agent_end
             auto_retry_end(1,tool_use_failed) agent_settled",
            FIRST.replace("overloaded", "tool_use_failed")
        ),
    );
}

#[test]
fn a_success_begins_the_count_anew() {
    check(
        &[
            Prompt("hi"),
            Fails(Overloaded),
            TimeUp,
            Calls(&["read"]),
            Run("text"),
            Fails(Overloaded),
            TimeUp,
            Text("ok"),
        ],
        &format!(
            "{FIRST} agent_start turn_start >call assistant(call:read) auto_retry_end(1,ok) >tools[0] tool_start(0)
             tool_end(0) result(text) turn_end turn_start >call assistant!(overloaded) turn_end agent_end[will_retry]
             auto_retry_start(1,2000) entry_appended(context_edit) >wait(2000) {WORKS}"
        ),
    );
}

#[test]
fn the_wait_can_be_given_up_and_the_trace_settles() {
    check(
        &[Prompt("hi"), Fails(Overloaded), AbortRetry, Late],
        &format!("{FIRST} auto_retry_end(1,Retry_cancelled) =done agent_settled"),
    );
}

#[test]
fn what_was_queued_runs_when_the_wait_is_given_up() {
    check(
        &[Prompt("hi"), Fails(Overloaded), Steer("s"), AbortRetry, Text("ok")],
        &format!(
            "{FIRST} queue[s|] =queued auto_retry_end(1,Retry_cancelled) =done
             agent_start turn_start queue[|] user(s) >call assistant(ok) turn_end agent_end agent_settled"
        ),
    );
}

#[test]
fn a_retry_can_be_given_up_as_soon_as_it_is_announced() {
    let announced = FIRST.split(" entry_appended").next().unwrap();
    check(
        &[Prompt("hi"), StopAt("store(context_edit)"), Fails(Overloaded), AbortRetry, Go],
        &format!("{announced} auto_retry_end(1,Retry_cancelled) =done entry_appended(context_edit) agent_settled"),
    );
    check(
        &[Prompt("hi"), StopAt("store(context_edit)"), Fails(Overloaded), AbortRetry, Abort, Go],
        &format!(
            "{announced} auto_retry_end(1,Retry_cancelled) =done entry_appended(context_edit)
             agent_settled[aborted] =done"
        ),
    );
}

#[test]
fn giving_up_a_retry_that_does_not_wait_changes_nothing() {
    check(
        &[AbortRetry, Prompt("hi"), AbortRetry, Text("ok")],
        "=done =started agent_start turn_start user(hi) >call =done assistant(ok) turn_end agent_end agent_settled",
    );
}

#[test]
fn an_abort_ends_the_wait() {
    check(
        &[Prompt("hi"), Fails(Overloaded), Abort, Late],
        &format!("{FIRST} auto_retry_end(1,Retry_cancelled) agent_settled[aborted] =done"),
    );
}

#[test]
fn an_abort_while_the_failure_is_left_out_ends_the_retry_before_its_wait() {
    let before = FIRST.split(" >wait").next().unwrap();
    check(
        &[Prompt("hi"), StopAt("store(context_edit)"), Fails(Overloaded), Abort, Go],
        &format!("{before} auto_retry_end(1,Retry_cancelled) agent_settled[aborted] =done"),
    );
}

#[test]
fn an_abort_of_the_retried_call_ends_the_retry_too() {
    check(
        &[Prompt("hi"), Fails(Overloaded), TimeUp, Abort, Stops("par")],
        &format!(
            "{FIRST} agent_start turn_start >call >cancel aborted(par) turn_end agent_end
             auto_retry_end(1,Retry_cancelled) agent_settled[aborted] =done"
        ),
    );
}

#[test]
fn steering_that_comes_during_the_wait_is_delivered_with_the_retry() {
    check(
        &[Prompt("hi"), Fails(Overloaded), Steer("s"), TimeUp, Text("ok")],
        &format!(
            "{FIRST} queue[s|] =queued agent_start turn_start queue[|] user(s) >call assistant(ok)
             auto_retry_end(1,ok) turn_end agent_end agent_settled"
        ),
    );
}

#[test]
fn a_failure_in_a_later_turn_leaves_out_that_answer_only() {
    check(
        &[Prompt("hi"), Calls(&["read"]), Run("text"), Fails(Overloaded), TimeUp, Text("ok")],
        &format!(
            "=started agent_start turn_start user(hi) >call assistant(call:read) >tools[0] tool_start(0) tool_end(0)
             result(text) turn_end turn_start >call assistant!(overloaded) turn_end agent_end[will_retry]
             auto_retry_start(1,2000) entry_appended(context_edit) >wait(2000) {WORKS}"
        ),
    );
}
