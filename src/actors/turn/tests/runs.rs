//! Prompts, answers and tools.

use super::{
    script::{Step::*, assistant, check, check_in, run},
    world::World,
};
use crate::protocol::{StopReason, ToolOutput};

#[test]
fn a_prompt_and_its_answer() {
    check(
        &[Prompt("hi"), Text("ok")],
        "=started agent_start turn_start user(hi) >call assistant(ok) turn_end agent_end agent_settled",
    );
}

#[test]
fn what_the_model_is_told_of_prompt_and_tools_stands_before_the_prompt() {
    check_in(
        World { declares: true, ..World::default() },
        &[Prompt("hi"), Text("ok"), Prompt("more"), Text("yes")],
        "=started agent_start turn_start system user(hi) >call assistant(ok) turn_end agent_end agent_settled
         =started agent_start turn_start user(more) >call assistant(yes) turn_end agent_end agent_settled",
    );
}

#[test]
fn three_calls_end_in_their_own_order_and_are_stored_in_the_order_of_the_message() {
    check(
        &[
            Prompt("hi"),
            Calls(&["bash", "bash", "nope"]),
            Begin(&[0, 1]),
            Done(2, "not_found"),
            Done(1, "fast"),
            Done(0, "slow"),
            BatchDone,
            Text("ok"),
        ],
        "=started agent_start turn_start user(hi) >call assistant(call:bash,bash,nope) >tools[0,_1,_2]
         tool_start(0) tool_start(1) tool_end(2) tool_end(1) tool_end(0) result(slow) result(fast) result(not_found)
         turn_end turn_start >call assistant(ok) turn_end agent_end agent_settled",
    );
}

#[test]
fn an_answer_that_hits_the_output_limit_runs_nothing_and_the_loop_goes_on() {
    check(
        &[Prompt("hi"), Cut(&["bash", "read"]), Text("ok")],
        "=started agent_start turn_start user(hi) >call length(call:bash,read)
         tool_start(0) tool_end(0:cut_off) tool_start(1) tool_end(1:cut_off) result(cut_off) result(cut_off)
         turn_end turn_start >call assistant(ok) turn_end agent_end agent_settled",
    );
}

#[test]
fn calls_run_whatever_the_provider_says_of_the_end() {
    let reasons = [StopReason::Stop, StopReason::ToolUse, StopReason::Deferred, StopReason::Unknown];
    for stop_reason in reasons {
        let mut world = World::default();
        run(&mut world, &Prompt("hi"));
        world.answered(assistant("", &["bash"], stop_reason), None, true);
        world.pump();
        assert_eq!(world.trace.last().map(String::as_str), Some(">tools[0]"), "{stop_reason:?}");
    }
    for stop_reason in [StopReason::Error, StopReason::Aborted] {
        let mut world = World::default();
        run(&mut world, &Prompt("hi"));
        world.answered(assistant("", &["bash"], stop_reason), None, true);
        world.pump();
        assert_eq!(world.trace.last().map(String::as_str), Some("agent_settled"), "{stop_reason:?}");
    }
}

#[test]
fn a_batch_ends_the_loop_only_when_every_result_says_so() {
    check(
        &[
            Prompt("hi"),
            Calls(&["bash", "bash"]),
            Begin(&[0, 1]),
            Ends(0),
            Done(1, "more"),
            BatchDone,
            Calls(&["bash"]),
            Begin(&[0]),
            Ends(0),
            BatchDone,
        ],
        "=started agent_start turn_start user(hi) >call assistant(call:bash,bash) >tools[0,_1] tool_start(0)
         tool_start(1) tool_end(0) tool_end(1) result(end) result(more) turn_end
         turn_start >call assistant(call:bash) >tools[0] tool_start(0) tool_end(0) result(end) turn_end
         agent_end agent_settled",
    );
}

#[test]
fn a_batch_that_ends_the_loop_does_not_end_what_is_queued() {
    check(
        &[Prompt("hi"), Calls(&["bash"]), FollowUp("f"), Begin(&[0]), Ends(0), BatchDone, Text("ok")],
        "=started agent_start turn_start user(hi) >call assistant(call:bash) >tools[0] queue[|f] =queued
         tool_start(0) tool_end(0) result(end) turn_end turn_start queue[|] user(f) >call assistant(ok) turn_end
         agent_end agent_settled",
    );
}

#[test]
fn the_first_result_of_a_call_counts_and_unknown_places_are_nothing() {
    let mut world = World::default();
    for step in [Prompt("hi"), Calls(&["bash"]), Begin(&[0]), Done(0, "first")] {
        run(&mut world, &step);
    }
    let Some(crate::actors::turn_io::Effect::RunTools { work, .. }) = world.pending else { panic!("no tools") };
    for place in [0, 7] {
        let finished = crate::actors::batch::Finished {
            output: std::sync::Arc::new(ToolOutput::text("second")),
            duration_ms: None,
            timestamp: 0,
        };
        world.feed(crate::actors::turn_io::Input::CallFinished { work, place, finished });
        world.feed(crate::actors::turn_io::Input::CallsStarted { work, places: vec![place] });
    }
    run(&mut world, &BatchDone);
    assert!(world.trace.contains(&"result(first)".to_owned()), "{:?}", world.trace);
}

#[test]
fn a_prompt_without_a_model_is_refused() {
    let mut world = World::default();
    world.turn.identity = None;
    check_in(world, &[Prompt("hi")], "=no_model");
}

#[test]
fn fc_081_a_model_that_makes_the_same_call_again_and_again_is_told_and_then_the_run_ends() {
    const ROUND: &str = "assistant(call:read) >tools[0] tool_start(0) tool_end(0) result(same) turn_end turn_start";
    let rounds = |count: usize| (0..count).flat_map(|_| [Calls(&["read"]), Run("same")]).collect::<Vec<_>>();
    let ended = format!(
        "=started agent_start turn_start user(hi) >call {} custom(loop) >call {}
         assistant!(The_run_was_ended:_the_model_made_the_same_calls_15_times_in_a_row_and_got_the_same_results.) turn_end
         agent_end agent_settled",
        [ROUND; 5].join(" >call "),
        [ROUND; 10].join(" >call "),
    );
    check(&[vec![Prompt("hi")], rounds(15)].concat(), &ended);
    // Words of the user in between are news.
    let steered = [vec![Prompt("hi")], rounds(4), vec![Calls(&["read"]), Steer("S"), Run("same")], vec![Text("ok")]];
    let mut world = World::default();
    steered.concat().iter().for_each(|step| run(&mut world, step));
    assert!(!world.trace.iter().any(|word| word.starts_with("custom")), "{:?}", world.trace);
}
