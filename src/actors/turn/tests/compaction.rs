//! Compaction: asked for, and after an overflow.

use super::{
    script::{Step::*, check, check_in},
    world::World,
};
use crate::protocol::FailureClass::ContextOverflow;

/// From the prompt to the compaction.
const OVERFLOW: &str = "=started agent_start turn_start user(hi) >call assistant!(context_overflow) turn_end agent_end
                        entry_appended(context_edit) compaction_start(overflow) >compact";
const AGAIN: &str = "compaction_end(will_retry) agent_start turn_start >call";
const SECOND: &str = "assistant!(context_overflow) turn_end agent_end
                      compaction_end(Context_overflow_recovery_failed_after_one_compact-and-retry_attempt:_context_overflow)";

#[test]
fn a_compaction_that_is_asked_for_is_answered_with_its_result() {
    check(&[Compact, Compacted], "compaction_start(manual) >compact compaction_end =compaction");
}

#[test]
fn the_event_of_a_failed_compaction_says_what_failed_and_the_answer_only_why() {
    check(
        &[Compact, NotCompacted("Nothing to compact (session too small)")],
        "compaction_start(manual) >compact
         compaction_end(Compaction_failed:_Nothing_to_compact_(session_too_small))
         =refused(Nothing_to_compact_(session_too_small))",
    );
}

#[test]
fn the_death_of_the_compactor_is_a_failed_compaction() {
    check(
        &[Compact, Gone, Late],
        "compaction_start(manual) >compact compaction_end(Compaction_failed:_the_compactor_failed:_boom)
         =refused(the_compactor_failed:_boom)",
    );
}

#[test]
fn a_compaction_waits_for_nobody_and_nobody_starts_beside_it() {
    let busy = "=refused(A_compaction_is_running._Wait_for_it,_or_abort_it,_before_sending_a_prompt.)";
    for prompt in [Prompt("hi"), PromptOr("hi", crate::protocol::command::QueueKind::FollowUp)] {
        check(
            &[Compact, prompt.clone(), Compacted],
            &format!("compaction_start(manual) >compact {busy} compaction_end =compaction"),
        );
        check(
            &[StopAt("store(compaction)"), Compact, Compacted, prompt, Go],
            &format!("compaction_start(manual) >compact {busy} compaction_end =compaction"),
        );
    }
}

#[test]
fn what_is_queued_or_added_during_a_compaction_waits() {
    check(
        &[Compact, Steer("S"), Append("x"), WaitIdle, Compacted, Prompt("hi"), Text("ok")],
        "compaction_start(manual) >compact queue[S|] =queued =done compaction_end =compaction entry_appended(custom)
         =done =started agent_start turn_start user(hi) queue[|] user(S) >call assistant(ok) turn_end agent_end
         agent_settled",
    );
}

#[test]
fn after_an_overflow_the_history_is_compacted_and_the_call_made_once_more() {
    check(
        &[Prompt("hi"), Fails(ContextOverflow), Compacted, Text("ok")],
        &format!("{OVERFLOW} {AGAIN} assistant(ok) turn_end agent_end agent_settled"),
    );
}

#[test]
fn an_answer_cut_short_for_want_of_room_is_an_overflow() {
    check(
        &[Prompt("hi"), CutShort, Compacted, Text("ok")],
        &format!(
            "{} {AGAIN} assistant(ok) turn_end agent_end agent_settled",
            OVERFLOW.replace("assistant!(context_overflow)", "length()")
        ),
    );
}

#[test]
fn a_good_answer_that_hides_an_overflow_stands_and_the_history_is_compacted_behind_it() {
    const HIDDEN: &str = "=started agent_start turn_start user(hi) >call assistant(ok) turn_end agent_end
                          compaction_start(overflow) >compact";
    check(&[Prompt("hi"), Overflows, Text("ok"), Compacted], &format!("{HIDDEN} compaction_end agent_settled"));
    check(
        &[Prompt("hi"), Overflows, Text("ok"), NotCompacted("why"), Prompt("more"), Text("ok")],
        &format!(
            "{HIDDEN} compaction_end(Context_overflow_recovery_failed:_why) agent_settled =started agent_start
             turn_start user(more) >call assistant(ok) turn_end agent_end agent_settled"
        ),
    );
    check(
        &[Prompt("hi"), Overflows, Calls(&["read"]), Run("text"), Text("ok")],
        "=started agent_start turn_start user(hi) >call assistant(call:read) >tools[0] tool_start(0) tool_end(0)
         result(text) turn_end turn_start >call assistant(ok) turn_end agent_end agent_settled",
    );
}

#[test]
fn without_automatic_compaction_an_overflow_is_a_failure_and_a_hidden_one_is_nothing() {
    const FAILED: &str =
        "=started agent_start turn_start user(hi) >call assistant!(context_overflow) turn_end agent_end
                          agent_settled";
    let world = || {
        let mut world = World::default();
        world.turn.auto_compaction = false;
        world
    };
    check_in(world(), &[Prompt("hi"), Fails(ContextOverflow)], FAILED);
    let answered = FAILED.replace("assistant!(context_overflow)", "assistant(ok)");
    check_in(world(), &[Prompt("hi"), Overflows, Text("ok")], &answered);
}

#[test]
fn a_second_overflow_in_a_row_is_told_and_settles() {
    check(
        &[Prompt("hi"), Fails(ContextOverflow), Compacted, Fails(ContextOverflow)],
        &format!("{OVERFLOW} {AGAIN} {SECOND} agent_settled"),
    );
}

#[test]
fn after_a_success_an_overflow_is_recovered_from_again() {
    check(
        &[
            Prompt("hi"),
            Fails(ContextOverflow),
            Compacted,
            Calls(&["read"]),
            Run("text"),
            Fails(ContextOverflow),
            Compacted,
            Text("ok"),
        ],
        &format!(
            "{OVERFLOW} {AGAIN} assistant(call:read) >tools[0] tool_start(0) tool_end(0) result(text) turn_end
             turn_start >call assistant!(context_overflow) turn_end agent_end entry_appended(context_edit)
             compaction_start(overflow) >compact {AGAIN} assistant(ok) turn_end agent_end agent_settled"
        ),
    );
}

#[test]
fn after_another_message_of_the_user_an_overflow_is_recovered_from_again() {
    check(
        &[
            Prompt("hi"),
            Fails(ContextOverflow),
            Compacted,
            FollowUp("f"),
            Fails(ContextOverflow),
            Fails(ContextOverflow),
            Compacted,
            Text("ok"),
        ],
        &format!(
            "{OVERFLOW} {AGAIN} queue[|f] =queued {SECOND}
             agent_start turn_start queue[|] user(f) >call assistant!(context_overflow) turn_end agent_end
             entry_appended(context_edit) compaction_start(overflow) >compact {AGAIN} assistant(ok) turn_end agent_end
             agent_settled"
        ),
    );
}

#[test]
fn when_the_compaction_fails_the_omission_stays_and_the_trace_settles() {
    check(
        &[Prompt("hi"), Fails(ContextOverflow), NotCompacted("no_model")],
        &format!("{OVERFLOW} compaction_end(Context_overflow_recovery_failed:_no_model) agent_settled"),
    );
    check(
        &[Prompt("hi"), Fails(ContextOverflow), Gone],
        &format!(
            "{OVERFLOW} compaction_end(Context_overflow_recovery_failed:_the_compactor_failed:_boom) agent_settled"
        ),
    );
}

#[test]
fn when_the_compaction_fails_what_is_queued_still_runs() {
    check(
        &[Prompt("hi"), Fails(ContextOverflow), Steer("S"), NotCompacted("no_model"), Text("ok")],
        &format!(
            "{OVERFLOW} queue[S|] =queued compaction_end(Context_overflow_recovery_failed:_no_model)
             agent_start turn_start queue[|] user(S) >call assistant(ok) turn_end agent_end agent_settled"
        ),
    );
}

#[test]
fn a_retry_that_runs_into_an_overflow_ends_with_what_comes_of_that() {
    let retried = "=started agent_start turn_start user(hi) >call assistant!(overloaded) turn_end
                   agent_end[will_retry] auto_retry_start(1,2000) entry_appended(context_edit) >wait(2000)
                   agent_start turn_start >call assistant!(context_overflow) turn_end agent_end
                   entry_appended(context_edit) compaction_start(overflow) >compact";
    let script = [Prompt("hi"), Fails(crate::protocol::FailureClass::Overloaded), TimeUp, Fails(ContextOverflow)];
    check(
        &[&script[..], &[Compacted, Text("ok")]].concat(),
        &format!("{retried} {AGAIN} assistant(ok) auto_retry_end(1,ok) turn_end agent_end agent_settled"),
    );
    check(
        &[&script[..], &[NotCompacted("no_model")]].concat(),
        &format!(
            "{retried} compaction_end(Context_overflow_recovery_failed:_no_model) auto_retry_end(1,context_overflow)
             agent_settled"
        ),
    );
}

/// From the prompt to a full context behind a turn with a call.
const FULL_TURN: &str = "=started agent_start turn_start user(hi) >call assistant(call:read) >tools[0] tool_start(0)
                         tool_end(0) result(text) turn_end compaction_start(threshold) >compact";

#[test]
fn fc_073_a_context_that_fills_up_within_a_run_is_compacted_between_its_turns() {
    let begin = [Prompt("hi"), Full, Calls(&["read"]), Run("text")];
    check(
        &[&begin[..], &[Compacted, Text("ok")]].concat(),
        &format!("{FULL_TURN} compaction_end turn_start >call assistant(ok) turn_end agent_end agent_settled"),
    );
    // Steering that was taken from its queue for the next turn is delivered behind it.
    check(
        &[&begin[..3], &[Steer("S"), Run("text"), Compacted, Text("ok")]].concat(),
        &format!(
            "{} compaction_end turn_start queue[|] user(S) >call assistant(ok) turn_end agent_end agent_settled",
            FULL_TURN.replace("tool_start(0)", "queue[S|] =queued tool_start(0)")
        ),
    );
}

#[test]
fn fc_074_a_compaction_that_fails_or_does_not_help_is_not_made_again_and_again() {
    let turn = [Calls(&["read"]), Run("text")];
    let goes_on = "turn_start >call assistant(call:read) >tools[0] tool_start(0) tool_end(0) result(text) turn_end
                   turn_start >call assistant(ok) turn_end agent_end agent_settled";
    check(
        &[&[Prompt("hi"), Full], &turn[..], &[NotCompacted("no_model")], &turn[..], &[Text("ok")]].concat(),
        &format!("{FULL_TURN} compaction_end(Auto-compaction_failed:_no_model) {goes_on}"),
    );
    check(
        &[&[Prompt("hi"), Full, StaysFull], &turn[..], &[Compacted], &turn[..], &[Text("ok")]].concat(),
        &format!("{FULL_TURN} compaction_end notice {goes_on}"),
    );
}

#[test]
fn a_context_that_is_full_behind_a_run_is_compacted_before_it_settles() {
    const ENDED: &str = "=started agent_start turn_start user(hi) >call assistant(ok) turn_end agent_end
                         compaction_start(threshold) >compact";
    check(&[Prompt("hi"), Full, Text("ok"), Compacted], &format!("{ENDED} compaction_end agent_settled"));
    check(
        &[Prompt("hi"), Full, Text("ok"), FollowUp("f"), Compacted, Text("ok")],
        &format!(
            "{ENDED} queue[|f] =queued compaction_end agent_start turn_start queue[|] user(f) >call assistant(ok)
             turn_end agent_end agent_settled"
        ),
    );
    check(
        &[Prompt("hi"), Full, Text("ok"), Abort],
        &format!("{ENDED} >cancel compaction_end(aborted) agent_settled[aborted] =done"),
    );
}

#[test]
fn a_context_that_is_full_before_a_prompt_is_compacted_first() {
    let begun = "compaction_start(threshold) >compact";
    let runs = "=started agent_start turn_start user(hi) >call assistant(ok) turn_end agent_end";
    check(&[Full, Prompt("hi"), Compacted, Text("ok")], &format!("{begun} compaction_end {runs} agent_settled"));
    // It is tried once; the prompt is answered all the same.
    check(
        &[Full, Prompt("hi"), NotCompacted("no_model"), Text("ok")],
        &format!("{begun} compaction_end(Auto-compaction_failed:_no_model) {runs} agent_settled"),
    );
    check(
        &[Full, Prompt("hi"), Abort],
        &format!(
            "{begun} >cancel compaction_end(aborted) =started agent_start turn_start user(hi)
             aborted() turn_end agent_end agent_settled[aborted] =done"
        ),
    );
}

#[test]
fn an_answer_that_was_cut_off_for_want_of_room_is_made_again_behind_a_compaction_once() {
    let cut = OVERFLOW.replace("assistant!(context_overflow)", "length()");
    check(
        &[Prompt("hi"), Short, Cut(&[]), Compacted, Text("ok")],
        &format!("{cut} {AGAIN} assistant(ok) turn_end agent_end agent_settled"),
    );
    check(
        &[Prompt("hi"), Short, Cut(&[]), Compacted, Short, Cut(&[])],
        &format!(
            "{cut} {AGAIN} length() turn_end agent_end
             compaction_end(Context_overflow_recovery_failed_after_one_compact-and-retry_attempt:_the_answer_was_cut_off_again)
             agent_settled"
        ),
    );
}

#[test]
fn fc_077_a_compaction_that_is_asked_for_ends_the_run_first_and_does_not_go_on_with_it() {
    check(
        &[Prompt("hi"), Calls(&["bash"]), Begin(&[0]), Compact, Done(0, "part"), BatchDone, Compacted],
        "=started agent_start turn_start user(hi) >call assistant(call:bash) >tools[0] tool_start(0) >cancel tool_end(0)
         result(part) turn_end turn_start aborted() turn_end agent_end agent_settled[aborted]
         compaction_start(manual) >compact compaction_end =compaction",
    );
    check(
        &[Prompt("hi"), Compact, Compact, Stops(""), Compacted],
        "=started agent_start turn_start user(hi) >call >cancel
         =refused(A_compaction_is_running_already._Wait_for_it,_or_abort_it.)
         aborted() turn_end agent_end agent_settled[aborted]
         compaction_start(manual) >compact compaction_end =compaction",
    );
    // An abort meanwhile is the end of both.
    check(
        &[Prompt("hi"), Compact, Abort, Stops("")],
        "=started agent_start turn_start user(hi) >call >cancel =refused(Compaction_cancelled)
         aborted() turn_end agent_end agent_settled[aborted] =done",
    );
}
