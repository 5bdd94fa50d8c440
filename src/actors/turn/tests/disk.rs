//! A disk that refuses: the trace ends there, visibly, and nothing that was queued is lost.

use super::{
    script::{Step, Step::*, check, check_in, custom, run},
    world::World,
};
use crate::{
    actors::resume::Resume,
    protocol::{
        FailureClass::{ContextOverflow, Overloaded},
        ask::{BeforeSettleVerdict, TurnEndVerdict, Verdict},
    },
};

const START: &str = "=started agent_start turn_start user(hi)";
const END: &str = "turn_end agent_end agent_settled";

fn turn_entries() -> Step {
    Says(Verdict::TurnEnd(TurnEndVerdict { entries: Some(vec![custom("x")]), ..TurnEndVerdict::default() }))
}

fn settle_entries() -> Step {
    Says(Verdict::BeforeSettle(BeforeSettleVerdict { entries: Some(vec![custom("x")]), continue_run: true }))
}

#[test]
fn whatever_cannot_be_stored_ends_the_trace_visibly() {
    let failed = "assistant!(overloaded) turn_end agent_end[will_retry] auto_retry_start(1,2000)";
    let too_long = "assistant!(context_overflow) turn_end agent_end";
    let recovery = format!("{too_long} entry_appended(context_edit) compaction_start(overflow) >compact");
    let table = [
        (vec![StopAt("store(user)"), Prompt("hi"), Refuse], "notice =store_error agent_settled".into()),
        (
            vec![Prompt("hi"), StopAt("store(assistant)"), Fails(Overloaded), Refuse],
            format!("{START} >call notice {END}"),
        ),
        (
            vec![Prompt("hi"), StopAt("store(assistant)"), Text("ok"), Refuse],
            format!("{START} >call start:assistant notice {END}"),
        ),
        (
            vec![turn_entries(), Prompt("hi"), StopAt("store(custom)"), Text("ok"), Refuse],
            format!("{START} >call assistant(ok) notice {END}"),
        ),
        (
            vec![settle_entries(), Prompt("hi"), StopAt("store(custom)"), Text("ok"), Refuse],
            format!("{START} >call assistant(ok) turn_end agent_end notice agent_settled"),
        ),
        (
            vec![Prompt("hi"), StopAt("store(context_edit)"), Fails(Overloaded), Refuse],
            format!("{START} >call {failed} notice auto_retry_end(1,no_space_left) agent_settled"),
        ),
        (
            vec![Prompt("hi"), StopAt("store(context_edit)"), Fails(ContextOverflow), Refuse],
            format!("{START} >call {too_long} notice agent_settled"),
        ),
        (
            vec![Prompt("hi"), Fails(ContextOverflow), StopAt("store(compaction)"), Compacted, Refuse],
            format!(
                "{START} >call {recovery} notice compaction_end(Context_overflow_recovery_failed:_no_space_left)
                 agent_settled"
            ),
        ),
        (
            vec![Prompt("hi"), Append("x"), StopAt("store(custom)"), Text("ok"), Refuse],
            format!("{START} >call =done assistant(ok) turn_end agent_end notice agent_settled"),
        ),
        (vec![StopAt("store(custom)"), Append("x"), Refuse], "notice =store_error".into()),
        (
            vec![Compact, StopAt("store(compaction)"), Compacted, Refuse],
            "compaction_start(manual) >compact notice compaction_end(Compaction_failed:_no_space_left) =store_error"
                .into(),
        ),
    ];
    for (script, expected) in table {
        let shown = format!("{script:?}");
        assert!(std::panic::catch_unwind(|| check(&script, &expected)).is_ok(), "{shown}");
    }
}

#[test]
fn results_that_could_not_be_stored_are_not_lost_and_calls_are_not_repeated() {
    check(
        &[
            Prompt("hi"),
            Calls(&["bash", "read"]),
            StopAt("store(toolResult)"),
            Run("out"),
            Refuse,
            Prompt("more"),
            Text("ok"),
        ],
        &format!(
            "{START} >call assistant(call:bash,read) >tools[0,_1] tool_start(0) tool_start(1) tool_end(0) tool_end(1)
             notice {END}
             agent_start turn_start result(out) result(out) =started user(more) >call assistant(ok) {END}"
        ),
    );
}

#[test]
fn a_prompt_is_answered_also_when_what_stands_before_it_cannot_be_stored() {
    check(
        &[
            Prompt("hi"),
            Calls(&["bash"]),
            StopAt("store(toolResult)"),
            Run("out"),
            Refuse,
            StopAt("store(toolResult)"),
            Prompt("more"),
            Refuse,
            Prompt("again"),
            Text("ok"),
        ],
        &format!(
            "{START} >call assistant(call:bash) >tools[0] tool_start(0) tool_end(0) notice {END}
             agent_start turn_start notice =store_error {END}
             agent_start turn_start result(out) =started user(again) >call assistant(ok) {END}"
        ),
    );
}

#[test]
fn what_was_taken_from_a_queue_goes_back_in_its_order() {
    let world = check_in(
        World::default(),
        &[Prompt("hi"), Steer("A"), Steer("B"), FollowUp("F"), StopAt("store(user)"), Text("ok"), Refuse],
        &format!(
            "{START} >call queue[A|] =queued queue[A,B|] =queued queue[A,B|F] =queued assistant(ok) turn_end
             turn_start notice {END}"
        ),
    );
    assert_eq!(world.turn.queues().texts().0, ["A", "B"]);
    let world = check_in(
        World::default(),
        &[Steer("A"), StopAt("store(user)"), Prompt("hi"), Refuse],
        "queue[A|] =queued notice =store_error agent_settled",
    );
    assert_eq!(world.turn.queues().texts().0, ["A"]);
}

#[test]
fn a_prompt_of_an_earlier_process_goes_into_the_queue() {
    let prompt = crate::actors::queues::pending("hi");
    let mut world = World::resume(Resume { active: true, prompt: Some(prompt), ..Resume::default() }, Vec::new());
    for step in [StopAt("store(user)"), Refuse] {
        run(&mut world, &step);
    }
    check_in(
        world,
        &[Prompt("more"), Text("ok")],
        &format!(
            "notice queue[hi|] agent_settled =started agent_start turn_start user(more) queue[|] user(hi) >call
             assistant(ok) {END}"
        ),
    );
}

#[test]
fn every_store_of_a_long_run_can_fail() {
    let script = [
        FollowUp("f"),
        Prompt("hi"),
        Calls(&["bash", "read"]),
        Steer("s"),
        Run("out"),
        Fails(Overloaded),
        Append("x"),
        TimeUp,
        Fails(ContextOverflow),
        Compacted,
        Cut(&["bash"]),
        Text("ok"),
        Text("ok"),
    ];
    for failing in 1..40 {
        let mut world = World { paused: true, ..World::default() };
        let mut stores = 0;
        let mut steps = script.iter();
        loop {
            match world.pending.as_ref().map(super::render::label) {
                Some(label) if label.starts_with("store") => {
                    stores += 1;
                    if stores == failing { world.refused() } else { world.stored() }
                }
                Some(label) if label.starts_with("ask") => world.asked(),
                Some(label) if label == "prepare" => world.prepared(Ok(Vec::new())),
                _ => match steps.next() {
                    // What waits for a worker has nothing to say to a machine that has settled.
                    Some(step) if world.turn.is_idle() && !matches!(step, FollowUp(_) | Prompt(_)) => break,
                    Some(step) => run(&mut world, step),
                    None => break,
                },
            }
        }
        assert!(world.turn.is_idle(), "store {failing}");
        run(&mut world, &Prompt("again"));
        while !world.turn.is_idle() {
            match world.pending.as_ref().map(super::render::label) {
                Some(label) if label.starts_with("store") => world.stored(),
                Some(label) if label.starts_with("ask") => world.asked(),
                Some(label) if label == "prepare" => world.prepared(Ok(Vec::new())),
                _ => run(&mut world, &Text("ok")),
            }
        }
        assert!(world.turn.queues().is_empty(), "store {failing}");
    }
}

#[test]
fn fc_010_entries_that_wait_for_the_end_of_a_trace_outlive_a_refusing_disk_and_a_crash() {
    let stored = |world: &World| {
        let ids = world.entries.iter().map(|entry| entry.id.to_string());
        ids.filter(|id| id.starts_with("held-")).count()
    };
    let begin = [Prompt("hi"), Append("x"), Append("y"), StopAt("store(custom)"), Text("ok")];
    // Refused, and stored with the next prompt, before it.
    let mut world = World::default();
    begin.iter().chain(&[Refuse]).for_each(|step| run(&mut world, step));
    assert_eq!(stored(&world), 0);
    [Prompt("more"), Text("ok")].iter().for_each(|step| run(&mut world, step));
    assert_eq!(stored(&world), 2);
    // Killed before or behind the write: the next process stores what is missing, once.
    for written in [false, true] {
        let mut world = World::default();
        begin.iter().for_each(|step| run(&mut world, step));
        world.crash(written);
        world.paused = false;
        world.pump();
        assert_eq!(stored(&world), 2, "written: {written}");
        assert_eq!(world.pending, None);
    }
}
