//! Steering and follow-ups.

use super::script::{Step::*, check};
use crate::protocol::command::{
    QueueKind::{FollowUp as Later, Steer as Now},
    QueueMode::{All, OneAtATime},
};

/// A prompt whose answer runs a tool.
const TOOL: &str = "=started agent_start turn_start user(hi) >call assistant(call:bash) >tools[0]";
/// The tool ends, and the turn with it.
const TOOL_ENDS: &str = "tool_start(0) tool_end(0) result(out) turn_end";

#[test]
fn steering_comes_first_and_each_message_has_a_turn_of_its_own() {
    check(
        &[
            Prompt("hi"),
            Calls(&["bash"]),
            Steer("A"),
            Steer("B"),
            FollowUp("C"),
            FollowUp("D"),
            Prompt("x"),
            Run("out"),
            Text("a"),
            Text("b"),
            Text("c"),
            Text("d"),
        ],
        &format!(
            "{TOOL} queue[A|] =queued queue[A,B|] =queued queue[A,B|C] =queued queue[A,B|C,D] =queued =busy
             {TOOL_ENDS} turn_start queue[B|C,D] user(A) >call assistant(a)
             turn_end turn_start queue[|C,D] user(B) >call assistant(b)
             turn_end turn_start queue[|D] user(C) >call assistant(c)
             turn_end turn_start queue[|] user(D) >call assistant(d) turn_end agent_end agent_settled"
        ),
    );
}

#[test]
fn all_at_once_each_message_still_leaves_the_queue_by_itself() {
    check(
        &[
            Mode(Now, All),
            Mode(Later, All),
            Prompt("hi"),
            Calls(&["bash"]),
            Steer("A"),
            Steer("B"),
            FollowUp("C"),
            FollowUp("D"),
            Run("out"),
            Text("ab"),
            Text("cd"),
        ],
        &format!(
            "{TOOL} queue[A|] =queued queue[A,B|] =queued queue[A,B|C] =queued queue[A,B|C,D] =queued {TOOL_ENDS}
             turn_start queue[B|C,D] user(A) queue[|C,D] user(B) >call assistant(ab)
             turn_end turn_start queue[|D] user(C) queue[|] user(D) >call assistant(cd)
             turn_end agent_end agent_settled"
        ),
    );
}

#[test]
fn modes_change_while_messages_wait() {
    check(
        &[
            Mode(Now, All),
            Prompt("hi"),
            Steer("A"),
            Steer("B"),
            Mode(Now, OneAtATime),
            Text("ok"),
            Text("a"),
            Text("b"),
        ],
        "=started agent_start turn_start user(hi) >call queue[A|] =queued queue[A,B|] =queued assistant(ok)
         turn_end turn_start queue[B|] user(A) >call assistant(a)
         turn_end turn_start queue[|] user(B) >call assistant(b) turn_end agent_end agent_settled",
    );
}

#[test]
fn steering_while_idle_waits_for_the_next_prompt_and_stands_behind_it() {
    check(
        &[Steer("A"), FollowUp("F"), Prompt("hi"), Text("ok"), Text("f")],
        "queue[A|] =queued queue[A|F] =queued =started agent_start turn_start user(hi) queue[|F] user(A) >call
         assistant(ok) turn_end turn_start queue[|] user(F) >call assistant(f) turn_end agent_end agent_settled",
    );
}

#[test]
fn fc_080_of_two_prompts_in_one_instant_the_second_is_refused_or_queued_as_it_says() {
    let one = "agent_start turn_start user(one) >call assistant(1) turn_end";
    for stop in ["ask(before_agent_start)", "store(user)"] {
        check(
            &[StopAt(stop), Prompt("one"), Prompt("two"), Go, Text("1")],
            &format!("=busy =started {one} agent_end agent_settled"),
        );
    }
    check(
        &[StopAt("ask(before_agent_start)"), Prompt("one"), PromptOr("two", Later), Go, Text("1"), Text("2")],
        &format!(
            "queue[|two] =queued =started {one} turn_start queue[|] user(two) >call assistant(2) turn_end
             agent_end agent_settled"
        ),
    );
    check(
        &[StopAt("ask(before_agent_start)"), Prompt("one"), PromptOr("two", Now), Go, Text("12")],
        "queue[two|] =queued =started agent_start turn_start user(one) queue[|] user(two) >call assistant(12)
         turn_end agent_end agent_settled",
    );
}

#[test]
fn a_prompt_that_may_queue_starts_when_nothing_runs() {
    check(
        &[PromptOr("hi", Later), Text("ok")],
        "=started agent_start turn_start user(hi) >call assistant(ok) turn_end agent_end agent_settled",
    );
}

#[test]
fn steering_that_comes_before_a_turn_is_taken_when_nothing_was() {
    check(
        &[Prompt("hi"), Calls(&["bash"]), StopAt("ask(before_turn)"), Run("out"), Steer("A"), Go, Text("a")],
        &format!(
            "{TOOL} {TOOL_ENDS} queue[A|] =queued turn_start queue[|] user(A) >call assistant(a) turn_end
             agent_end agent_settled"
        ),
    );
}

#[test]
fn what_is_about_to_be_delivered_still_counts_as_queued() {
    for stop in ["ask(before_turn)", "store(user)"] {
        let place = if stop == "store(user)" { ["turn_start", ""] } else { ["", "turn_start"] };
        check(
            &[
                Prompt("hi"),
                Calls(&["bash"]),
                Steer("A"),
                StopAt(stop),
                Run("out"),
                Steer("B"),
                FollowUp("F"),
                Go,
                Text("a"),
                Text("b"),
                Text("f"),
            ],
            &format!(
                "{TOOL} queue[A|] =queued {TOOL_ENDS} {} queue[A,B|] =queued queue[A,B|F] =queued {}
                 queue[B|F] user(A) >call assistant(a) turn_end turn_start queue[|F] user(B) >call assistant(b) turn_end
                 turn_start queue[|] user(F) >call assistant(f) turn_end agent_end agent_settled",
                place[0], place[1],
            ),
        );
    }
}

#[test]
fn clearing_takes_back_what_is_not_on_its_way() {
    check(
        &[Prompt("hi"), Steer("A"), FollowUp("F"), Clear, Clear, Text("ok")],
        "=started agent_start turn_start user(hi) >call queue[A|] =queued queue[A|F] =queued queue[|] =queue[A|F]
         =queue[|] assistant(ok) turn_end agent_end agent_settled",
    );
    check(
        &[Prompt("hi"), Steer("A"), Steer("B"), StopAt("store(user)"), Text("ok"), Clear, Go, Text("a")],
        "=started agent_start turn_start user(hi) >call queue[A|] =queued queue[A,B|] =queued assistant(ok) turn_end
         turn_start queue[A|] =queue[B|] queue[|] user(A) >call assistant(a) turn_end agent_end agent_settled",
    );
}

#[test]
fn what_comes_while_extensions_are_asked_before_settling_runs() {
    let before = "=started agent_start turn_start user(hi) >call assistant(ok) turn_end agent_end";
    let after = "agent_start turn_start queue[|] user(A) >call assistant(a) turn_end agent_end agent_settled";
    for (step, queue) in [(Steer("A"), "queue[A|]"), (FollowUp("A"), "queue[|A]")] {
        check(
            &[Prompt("hi"), StopAt("ask(agent_before_settle)"), Text("ok"), step, Go, Text("a")],
            &format!("{before} {queue} =queued {after}"),
        );
    }
}

#[test]
fn steering_goes_before_follow_ups_also_before_settling() {
    check(
        &[
            Prompt("hi"),
            StopAt("ask(agent_before_settle)"),
            Text("ok"),
            FollowUp("F"),
            Steer("S"),
            Go,
            Text("s"),
            Text("f"),
        ],
        "=started agent_start turn_start user(hi) >call assistant(ok) turn_end agent_end queue[|F] =queued
         queue[S|F] =queued agent_start turn_start queue[|F] user(S) >call assistant(s) turn_end
         turn_start queue[|] user(F) >call assistant(f) turn_end agent_end agent_settled",
    );
}

#[test]
fn what_is_queued_while_the_last_entries_are_stored_runs_too() {
    check(
        &[Prompt("hi"), Append("note"), StopAt("store(custom)"), Text("ok"), PromptOr("A", Later), Go, Text("a")],
        "=started agent_start turn_start user(hi) >call =done assistant(ok) turn_end agent_end queue[|A] =queued
         entry_appended(custom) agent_start turn_start queue[|] user(A) >call assistant(a) turn_end agent_end
         agent_settled",
    );
}
