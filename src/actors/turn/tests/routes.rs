//! Requests of virtual models: their state is stored before they are sent, and another model answers a retry at once.

use super::script::{Step::*, check, check_in};
use crate::protocol::FailureClass::{InvalidRequest, Overloaded, QuotaExhausted, RateLimited};

const ROUTED: &str = "=started agent_start turn_start user(hi) entry_appended(custom)";
const OK: &str = ">call assistant(ok) turn_end agent_end agent_settled";

#[test]
fn the_state_is_stored_and_told_before_the_request_is_sent() {
    check(&[Routes, Prompt("hi"), Text("ok")], &format!("{ROUTED} {OK}"));
    check(&[StopAt("store(custom)"), Routes, Prompt("hi"), Go, Text("ok")], &format!("{ROUTED} {OK}"));
}

#[test]
fn each_turn_may_have_a_state_of_its_own() {
    check(
        &[Routes, Prompt("hi"), Routes, Calls(&["read"]), Run("text"), Text("ok")],
        &format!(
            "{ROUTED} >call assistant(call:read) >tools[0] tool_start(0) tool_end(0) result(text) turn_end turn_start
             entry_appended(custom) {OK}"
        ),
    );
}

#[test]
fn a_disk_that_refuses_the_state_ends_the_trace_before_anything_is_sent() {
    check(
        &[StopAt("store(custom)"), Routes, Prompt("hi"), Refuse],
        "=started agent_start turn_start user(hi) notice turn_end agent_end agent_settled",
    );
}

#[test]
fn an_abort_while_the_state_is_stored_sends_nothing() {
    check(
        &[StopAt("store(custom)"), Routes, Prompt("hi"), Abort, Go],
        &format!("{ROUTED} aborted() turn_end agent_end agent_settled[aborted] =done"),
    );
}

#[test]
fn a_crash_between_state_and_request_routes_again() {
    for written in [false, true] {
        let mut world = super::world::World { stop: Some("store(custom)"), ..Default::default() };
        world.routes.push(super::script::custom("route"));
        world.prompt("hi", None);
        world.pump();
        world.trace.clear();
        world.crash(written);
        world.paused = false;
        check_in(world, &[Text("ok")], &format!("agent_start turn_start {OK}"));
    }
}

#[test]
fn a_model_that_had_enough_is_left_at_once_when_another_is_free() {
    for class in [RateLimited, Overloaded, QuotaExhausted] {
        check(
            &[Prompt("hi"), Fallback, Fails(class), Routes, TimeUp, Text("ok")],
            &format!(
                "=started agent_start turn_start user(hi) >call assistant!({}) turn_end agent_end[will_retry]
                 auto_retry_start(1,0) entry_appended(context_edit) >wait(0) agent_start turn_start
                 entry_appended(custom) >call assistant(ok) auto_retry_end(1,ok) turn_end agent_end agent_settled",
                class.name()
            ),
        );
    }
}

#[test]
fn what_was_free_for_one_failure_says_nothing_about_the_next() {
    check(
        &[Prompt("hi"), Fallback, Fails(RateLimited), TimeUp, Fails(QuotaExhausted)],
        "=started agent_start turn_start user(hi) >call assistant!(rate_limited) turn_end agent_end[will_retry]
         auto_retry_start(1,0) entry_appended(context_edit) >wait(0) agent_start turn_start >call
         assistant!(quota_exhausted) turn_end agent_end auto_retry_end(1,quota_exhausted) agent_settled",
    );
    check(
        &[Prompt("hi"), Fallback, Fails(RateLimited), StopAt("prepare"), TimeUp, Unready(InvalidRequest), Go],
        "=started agent_start turn_start user(hi) >call assistant!(rate_limited) turn_end agent_end[will_retry]
         auto_retry_start(1,0) entry_appended(context_edit) >wait(0) agent_start turn_start
         assistant!(invalid_request) turn_end agent_end auto_retry_end(1,invalid_request) agent_settled",
    );
}
