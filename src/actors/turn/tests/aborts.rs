//! Aborts, in every phase. After each, answers of older work come in and change nothing.

use super::{
    script::{Step, Step::*, check, check_in, custom},
    world::World,
};
use crate::protocol::{
    FailureClass::{ContextOverflow, Overloaded},
    ask::{BeforeSettleVerdict, TurnEndVerdict, Verdict},
};

const START: &str = "=started agent_start turn_start user(hi)";
const TOOL: &str = "=started agent_start turn_start user(hi) >call assistant(call:bash) >tools[0]";
/// An empty, aborted answer and the end of the trace.
const SHOWN: &str = "aborted() turn_end agent_end agent_settled[aborted] =done";

fn table(rows: &[(&str, Vec<Step>, String)]) {
    for (what, script, expected) in rows {
        let outcome = std::panic::catch_unwind(|| check(script, expected));
        assert!(outcome.is_ok(), "{what}");
    }
}

#[test]
fn an_abort_while_idle_is_answered_at_once() {
    check(&[Abort], "=done");
}

#[test]
fn an_abort_before_the_model_is_called_shows_as_an_empty_answer() {
    table(&[
        (
            "asking before the start",
            vec![StopAt("ask(before_agent_start)"), Prompt("hi"), Abort, Late, Go],
            format!(">cancel {START} {SHOWN}"),
        ),
        ("storing the prompt", vec![StopAt("store(user)"), Prompt("hi"), Abort, Late, Go], format!("{START} {SHOWN}")),
        ("preparing", vec![StopAt("prepare"), Prompt("hi"), Abort, Late, Go], format!("{START} >cancel {SHOWN}")),
    ]);
}

#[test]
fn an_abort_while_the_answer_streams_keeps_what_arrived() {
    table(&[
        (
            "the worker ends by itself",
            vec![Prompt("hi"), Abort, Stops("par"), Late],
            format!("{START} >call >cancel aborted(par) turn_end agent_end agent_settled[aborted] =done"),
        ),
        ("the worker is killed", vec![Prompt("hi"), Abort, Gone, Late], format!("{START} >call >cancel {SHOWN}")),
        (
            "the worker had died too often already",
            vec![Prompt("hi"), Gone, Gone, Gone, Abort, Gone],
            format!(
                "{START} >call restarted(stream) >call restarted(stream) >call restarted(stream) >call >cancel {SHOWN}"
            ),
        ),
        (
            "the answer was complete already",
            vec![Prompt("hi"), Abort, Text("ok")],
            format!("{START} >call >cancel assistant(ok) turn_end agent_end agent_settled[aborted] =done"),
        ),
        (
            "it failed in the same moment: no retry",
            vec![Prompt("hi"), Abort, Fails(Overloaded)],
            format!("{START} >call >cancel assistant!(overloaded) turn_end agent_end agent_settled[aborted] =done"),
        ),
        (
            "it overflowed in the same moment: no recovery",
            vec![Prompt("hi"), Abort, Fails(ContextOverflow)],
            format!(
                "{START} >call >cancel assistant!(context_overflow) turn_end agent_end agent_settled[aborted] =done"
            ),
        ),
        (
            "it calls tools: none runs",
            vec![Prompt("hi"), Abort, Calls(&["bash"])],
            format!(
                "{START} >call >cancel assistant(call:bash) tool_start(0) tool_end(0:aborted) result(aborted) turn_end
                 turn_start {SHOWN}"
            ),
        ),
    ]);
}

#[test]
fn an_abort_of_tools_ends_their_turn_and_shows_as_one_more() {
    table(&[
        (
            "the answer is being stored",
            vec![Prompt("hi"), StopAt("store(assistant)"), Calls(&["bash"]), Abort, Late, Go],
            format!(
                "{START} >call assistant(call:bash) tool_start(0) tool_end(0:aborted) result(aborted) turn_end
                 turn_start {SHOWN}"
            ),
        ),
        (
            "one runs, one has not begun",
            vec![
                Prompt("hi"),
                Calls(&["bash", "bash"]),
                Begin(&[0]),
                Abort,
                Done(0, "Command_aborted"),
                BatchDone,
                Late,
            ],
            format!(
                "{START} >call assistant(call:bash,bash) >tools[0,_1] tool_start(0) >cancel tool_end(0)
                 tool_end(1:aborted) result(Command_aborted) result(aborted) turn_end turn_start {SHOWN}"
            ),
        ),
        (
            "the batch is killed",
            vec![Prompt("hi"), Calls(&["bash"]), Begin(&[0]), Abort, Gone, Late],
            format!("{TOOL} tool_start(0) >cancel tool_end(0:aborted) result(aborted) turn_end turn_start {SHOWN}"),
        ),
        (
            "the results are being stored",
            vec![Prompt("hi"), Calls(&["bash"]), StopAt("store(toolResult)"), Run("out"), Abort, Late, Go],
            format!("{TOOL} tool_start(0) tool_end(0) result(out) turn_end turn_start {SHOWN}"),
        ),
        (
            "all results ask the loop to end",
            vec![Prompt("hi"), Calls(&["bash"]), Begin(&[0]), Abort, Ends(0), BatchDone],
            format!("{TOOL} tool_start(0) >cancel tool_end(0) result(end) turn_end turn_start {SHOWN}"),
        ),
    ]);
}

#[test]
fn an_abort_between_turns() {
    table(&[
        (
            "asking at the end of the last turn",
            vec![Prompt("hi"), StopAt("ask(turn_end)"), Text("ok"), Abort, Late, Go],
            format!("{START} >call assistant(ok) >cancel turn_end agent_end agent_settled[aborted] =done"),
        ),
        (
            "asking at the end of a turn with tools",
            vec![Prompt("hi"), Calls(&["bash"]), StopAt("ask(turn_end)"), Run("out"), Abort, Late, Go],
            format!("{TOOL} tool_start(0) tool_end(0) result(out) >cancel turn_end turn_start {SHOWN}"),
        ),
        (
            "storing what extensions add",
            vec![
                Says(Verdict::TurnEnd(TurnEndVerdict { entries: Some(vec![custom("x")]), ..Default::default() })),
                Prompt("hi"),
                StopAt("store(custom)"),
                Text("ok"),
                Abort,
                Late,
                Go,
            ],
            format!(
                "{START} >call assistant(ok) entry_appended(custom) turn_end agent_end agent_settled[aborted] =done"
            ),
        ),
        (
            "asking before the next turn",
            vec![Prompt("hi"), Calls(&["bash"]), StopAt("ask(before_turn)"), Run("out"), Abort, Late, Go],
            format!("{TOOL} tool_start(0) tool_end(0) result(out) turn_end >cancel turn_start {SHOWN}"),
        ),
        (
            "storing what steers",
            vec![Prompt("hi"), Steer("A"), StopAt("store(user)"), Text("ok"), Abort, Late, Go],
            format!("{START} >call queue[A|] =queued assistant(ok) turn_end turn_start queue[|] user(A) {SHOWN}"),
        ),
    ]);
}

#[test]
fn an_abort_after_the_last_turn() {
    let recovery = "assistant!(context_overflow) turn_end agent_end entry_appended(context_edit)";
    table(&[
        (
            "before settling",
            vec![Prompt("hi"), StopAt("ask(agent_before_settle)"), Text("ok"), Abort, Late, Go],
            format!("{START} >call assistant(ok) turn_end agent_end >cancel agent_settled[aborted] =done"),
        ),
        (
            "storing what extensions add before they go on",
            vec![
                Says(Verdict::BeforeSettle(BeforeSettleVerdict {
                    entries: Some(vec![custom("x")]),
                    continue_run: true,
                })),
                Prompt("hi"),
                StopAt("store(custom)"),
                Text("ok"),
                Abort,
                Late,
                Go,
            ],
            format!(
                "{START} >call assistant(ok) turn_end agent_end entry_appended(custom) agent_settled[aborted] =done"
            ),
        ),
        (
            "storing what was held",
            vec![Prompt("hi"), Append("x"), StopAt("store(custom)"), Text("ok"), Abort, Late, Go],
            format!(
                "{START} >call =done assistant(ok) turn_end agent_end entry_appended(custom) agent_settled[aborted] =done"
            ),
        ),
        (
            "leaving out what overflowed",
            vec![Prompt("hi"), StopAt("store(context_edit)"), Fails(ContextOverflow), Abort, Late, Go],
            format!("{START} >call {recovery} agent_settled[aborted] =done"),
        ),
        (
            "compacting",
            vec![Prompt("hi"), Fails(ContextOverflow), Abort, Late],
            format!(
                "{START} >call {recovery} compaction_start(overflow) >compact >cancel compaction_end(aborted)
                 agent_settled[aborted] =done"
            ),
        ),
        (
            "storing the compaction",
            vec![Prompt("hi"), Fails(ContextOverflow), StopAt("store(compaction)"), Compacted, Abort, Late, Go],
            format!(
                "{START} >call {recovery} compaction_start(overflow) >compact compaction_end
                 agent_settled[aborted] =done"
            ),
        ),
    ]);
}

#[test]
fn everybody_who_aborts_or_waits_is_answered_when_the_agent_is_idle() {
    check(
        &[Prompt("hi"), WaitIdle, Abort, Abort, Stops(""), WaitIdle],
        &format!("{START} >call >cancel {SHOWN} =done =done =done"),
    );
}

#[test]
fn fc_078_what_is_queued_survives_an_abort_in_every_phase() {
    let queued = "queue[S|] =queued queue[S|F] =queued";
    let cases = [
        (vec![StopAt("ask(before_agent_start)"), Prompt("hi")], vec![Go]),
        (vec![Prompt("hi")], vec![Stops("")]),
        (vec![Prompt("hi"), Calls(&["bash"])], vec![BatchDone]),
        (vec![Prompt("hi"), Calls(&["bash"]), StopAt("ask(before_turn)"), Run("out")], vec![Go]),
        (vec![Prompt("hi"), StopAt("ask(turn_end)"), Text("ok")], vec![Go]),
        (vec![Prompt("hi"), StopAt("ask(agent_before_settle)"), Text("ok")], vec![Go]),
        (vec![Prompt("hi"), Fails(Overloaded)], vec![]),
        (vec![Prompt("hi"), Fails(ContextOverflow)], vec![]),
        (vec![Prompt("hi"), Fails(ContextOverflow), StopAt("store(compaction)"), Compacted], vec![Go]),
    ];
    for (before, after) in cases {
        let shown = format!("{before:?}");
        let script: Vec<Step> = before.into_iter().chain([Steer("S"), FollowUp("F"), Abort]).chain(after).collect();
        let mut world = World::default();
        for step in &script {
            super::script::run(&mut world, step);
        }
        let trace = world.trace.join(" ");
        assert!(trace.contains(queued), "{shown}: {trace}");
        assert!(trace.ends_with("agent_settled[aborted] =done"), "{shown}: {trace}");
        assert_eq!(world.turn.queues().texts(), (vec!["S".to_owned()], vec!["F".to_owned()]), "{shown}: {trace}");
    }
}

#[test]
fn steering_that_was_taken_for_the_next_turn_goes_back_when_that_turn_is_aborted() {
    let world = check_in(
        World::default(),
        &[Prompt("hi"), Steer("A"), Steer("B"), StopAt("ask(before_turn)"), Text("ok"), Abort, Go, Clear],
        &format!(
            "{START} >call queue[A|] =queued queue[A,B|] =queued assistant(ok) turn_end >cancel turn_start {SHOWN}
             queue[|] =queue[A,B|]"
        ),
    );
    assert!(world.turn.queues().is_empty());
}

#[test]
fn an_abort_of_a_manual_compaction_answers_both() {
    check(
        &[Compact, Abort, Late],
        "compaction_start(manual) >compact >cancel compaction_end(aborted) =refused(Compaction_cancelled) =done",
    );
    check(
        &[StopAt("store(compaction)"), Compact, Compacted, Abort, Late, Go],
        "compaction_start(manual) >compact compaction_end =compaction =done",
    );
}
