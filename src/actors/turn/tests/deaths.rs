//! Workers that die: what they did is done again where that is safe.

use super::script::{Step, Step::*, check};

const START: &str = "=started agent_start turn_start user(hi)";
const END: &str = "turn_end agent_end agent_settled";

#[test]
fn a_preparation_that_dies_is_made_again() {
    check(
        &[StopAt("prepare"), Prompt("hi"), Gone, Gone, Gone, Go, Text("ok")],
        &format!("{START} restarted(prepare) restarted(prepare) restarted(prepare) >call assistant(ok) {END}"),
    );
}

#[test]
fn a_model_call_that_dies_is_made_again() {
    check(
        &[Prompt("hi"), Gone, Late, Gone, Gone, Text("ok")],
        &format!(
            "{START} >call restarted(stream) >call restarted(stream) >call restarted(stream) >call assistant(ok) {END}"
        ),
    );
}

#[test]
fn the_fourth_death_fails_the_turn() {
    let spent =
        |actor: &str| format!("assistant!(the_worker_for_the_model_call_({actor})_failed_repeatedly:_boom) {END}");
    check(
        &[Prompt("hi"), Gone, Gone, Gone, Gone],
        &format!(
            "{START} >call restarted(stream) >call restarted(stream) >call restarted(stream) >call {}",
            spent("stream")
        ),
    );
    check(
        &[StopAt("prepare"), Prompt("hi"), Gone, Gone, Gone, Gone, Go],
        &format!("{START} restarted(prepare) restarted(prepare) restarted(prepare) {}", spent("prepare")),
    );
}

#[test]
fn deaths_of_all_workers_of_a_trace_count_together() {
    check(
        &[StopAt("prepare"), Prompt("hi"), Gone, Go, Gone, Calls(&["read"]), Gone, Run("text"), Gone],
        &format!(
            "{START} restarted(prepare) >call restarted(stream) >call assistant(call:read) >tools[0] restarted(batch)
             >tools[0] tool_start(0) tool_end(0) result(text) turn_end turn_start >call
             assistant!(the_worker_for_the_model_call_(stream)_failed_repeatedly:_boom) {END}"
        ),
    );
}

#[test]
fn of_a_batch_that_dies_only_what_may_have_had_effects_is_interrupted() {
    let tail = format!("turn_end turn_start >call assistant(ok) {END}");
    let table: [(Vec<Step>, &str); 4] = [
        (
            vec![Begin(&[0, 1, 2]), Done(2, "out"), Gone, Late, Run("again")],
            "tool_start(0) tool_start(1) tool_start(2) tool_end(2) restarted(batch) tool_end(1:interrupted)
             >tools[0,_3] tool_start(0) tool_start(3) tool_end(0) tool_end(3)
             result(again) result(interrupted) result(out) result(again)",
        ),
        (
            vec![Gone, Run("again")],
            "restarted(batch) >tools[0,_1,_2,_3] tool_start(0) tool_start(1) tool_start(2) tool_start(3)
             tool_end(0) tool_end(1) tool_end(2) tool_end(3) result(again) result(again) result(again) result(again)",
        ),
        (
            vec![Begin(&[0, 1, 2, 3]), Done(0, "text"), Gone],
            "tool_start(0) tool_start(1) tool_start(2) tool_start(3) tool_end(0) restarted(batch)
             tool_end(1:interrupted) tool_end(2:interrupted) tool_end(3:interrupted)
             result(text) result(interrupted) result(interrupted) result(interrupted)",
        ),
        (
            vec![Begin(&[0]), Gone, Begin(&[0, 1]), Gone, Begin(&[2]), Done(2, "out"), Gone, Run("last")],
            "tool_start(0) restarted(batch) >tools[0,_1,_2,_3] tool_start(0) tool_start(1) restarted(batch)
             tool_end(1:interrupted) >tools[0,_2,_3] tool_start(2) tool_end(2) restarted(batch)
             >tools[0,_3] tool_start(0) tool_start(3) tool_end(0) tool_end(3)
             result(last) result(interrupted) result(out) result(last)",
        ),
    ];
    for (steps, expected) in table {
        let script = [vec![Prompt("hi"), Calls(&["read", "bash", "bash", "bash"])], steps, vec![Text("ok")]].concat();
        check(
            &script,
            &format!("{START} >call assistant(call:read,bash,bash,bash) >tools[0,_1,_2,_3] {expected} {tail}"),
        );
    }
}

#[test]
fn a_batch_that_dies_four_times_is_given_up_and_the_loop_goes_on() {
    check(
        &[Prompt("hi"), Calls(&["read"]), Gone, Gone, Gone, Gone, Text("ok")],
        &format!(
            "{START} >call assistant(call:read) >tools[0] restarted(batch) >tools[0] restarted(batch) >tools[0]
             restarted(batch) >tools[0] tool_end(0:interrupted) result(interrupted) turn_end
             turn_start >call assistant(ok) {END}"
        ),
    );
}

#[test]
fn a_batch_that_ends_without_all_results_still_answers_every_call() {
    check(
        &[Prompt("hi"), Calls(&["bash", "bash"]), Begin(&[0, 1]), Done(1, "out"), BatchDone, Text("ok")],
        &format!(
            "{START} >call assistant(call:bash,bash) >tools[0,_1] tool_start(0) tool_start(1) tool_end(1)
             tool_end(0:interrupted) result(interrupted) result(out) turn_end turn_start >call assistant(ok) {END}"
        ),
    );
}

#[test]
fn a_question_whose_worker_dies_is_like_one_without_an_answer() {
    for stop in ["ask(before_agent_start)", "ask(turn_end)", "ask(agent_before_settle)"] {
        let (before, after) = if stop == "ask(before_agent_start)" {
            (vec![StopAt(stop), Prompt("hi"), Gone, Late, Go], vec![Text("ok")])
        } else {
            (vec![StopAt(stop), Prompt("hi"), Text("ok")], vec![Gone, Late, Go])
        };
        check(&[before, after].concat(), &format!("{START} >call assistant(ok) {END}"));
    }
    check(
        &[Prompt("hi"), Calls(&["read"]), StopAt("ask(before_turn)"), Run("text"), Gone, Go, Text("ok")],
        &format!(
            "{START} >call assistant(call:read) >tools[0] tool_start(0) tool_end(0) result(text) turn_end turn_start
             >call assistant(ok) {END}"
        ),
    );
}
