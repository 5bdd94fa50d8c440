//! A new process, or a new incarnation of the loop, goes on where the session and the run state say.

use std::sync::Arc;

use super::{
    script::{Step::*, assistant, check_in},
    world::World,
};
use crate::{
    actors::{
        queues::pending,
        resume::{Position, Resume, position},
    },
    protocol::{
        AgentMessage, Entry, EntryBody, Failure, FailureClass, StopReason, ToolResultMessage, command::QueueKind,
    },
};

fn entry(id: &str, body: EntryBody) -> Arc<Entry> {
    Arc::new(Entry { body, id: id.into(), parent_id: None, timestamp: String::new() })
}

fn user(id: &str) -> Arc<Entry> {
    entry(id, EntryBody::Message { message: AgentMessage::user("hi", 0) })
}

fn answer(id: &str, calls: &[&str], stop_reason: StopReason) -> Arc<Entry> {
    let message = AgentMessage::Assistant(Arc::new(assistant("", calls, stop_reason)));
    entry(id, EntryBody::Message { message })
}

fn result(id: &str, call: &str) -> Arc<Entry> {
    let message = ToolResultMessage { tool_call_id: call.into(), ..ToolResultMessage::default() };
    entry(id, EntryBody::Message { message: AgentMessage::ToolResult(Arc::new(message)) })
}

fn omit(id: &str, target: &str) -> Arc<Entry> {
    entry(id, EntryBody::ContextEdit { target_id: target.into(), replacement: None })
}

/// What a process finds: the branch, and which calls had begun.
fn found(branch: &[Arc<Entry>], begun: &[usize]) -> Resume {
    let (mut position, attempt) = position(
        || branch.iter().rev().cloned(),
        |message| {
            let aborted = message.stop_reason == StopReason::Aborted;
            Failure::new(if aborted { FailureClass::Aborted } else { FailureClass::Overloaded }, "overloaded")
        },
    );
    if let Position::Calls { batch, .. } = &mut position {
        batch.start(begun);
    }
    Resume { position, attempt, ..Resume::default() }
}

fn active(branch: &[Arc<Entry>], begun: &[usize]) -> World {
    World::resume(Resume { active: true, ..found(branch, begun) }, branch.to_vec())
}

fn idle(branch: &[Arc<Entry>], begun: &[usize]) -> World {
    World::resume(found(branch, begun), branch.to_vec())
}

const RUN: &str = "agent_start turn_start";
const END: &str = "turn_end agent_end agent_settled";
const NEXT: &str = "turn_end turn_start >call assistant(ok) turn_end agent_end agent_settled";

#[test]
fn a_trace_with_nothing_to_go_on_with_settles() {
    check_in(active(&[], &[]), &[], "agent_settled");
}

#[test]
fn an_idle_session_stays_idle() {
    use StopReason::{Error, Stop, ToolUse};
    let branches = [
        vec![],
        vec![user("u")],
        vec![user("u"), answer("a", &[], Stop)],
        vec![user("u"), answer("a", &[], Error)],
        vec![user("u"), answer("a", &["bash"], ToolUse)],
        vec![user("u"), answer("a", &["bash"], ToolUse), result("r", "c0")],
    ];
    for branch in branches {
        check_in(idle(&branch, &[0]), &[], "");
    }
}

#[test]
fn a_prompt_that_was_accepted_but_not_stored_is_not_lost() {
    let resume = Resume { active: true, prompt: Some(pending("p")), ..Resume::default() };
    check_in(World::resume(resume, Vec::new()), &[Text("ok")], &format!("{RUN} user(p) >call assistant(ok) {END}"));
}

#[test]
fn the_answer_that_the_model_owes_is_asked_for() {
    check_in(active(&[user("u")], &[]), &[Text("ok")], &format!("{RUN} >call assistant(ok) {END}"));
}

#[test]
fn a_retry_goes_on_with_its_number() {
    let branch = [user("u"), answer("a", &[], StopReason::Error), omit("o", "a")];
    check_in(active(&branch, &[]), &[Text("ok")], &format!("{RUN} >call assistant(ok) auto_retry_end(1,ok) {END}"));
    check_in(
        active(&branch, &[]),
        &[Fails(FailureClass::Overloaded), TimeUp, Text("ok")],
        &format!(
            "{RUN} >call assistant!(overloaded) turn_end agent_end[will_retry] auto_retry_start(2,4000)
             entry_appended(context_edit) >wait(4000) {RUN} >call assistant(ok) auto_retry_end(2,ok) {END}"
        ),
    );
}

#[test]
fn what_waited_is_shown_and_delivered_by_the_next_prompt_or_the_running_trace() {
    let with_queues = |resume: Resume, branch: &[Arc<Entry>]| {
        let mut resume = resume;
        resume.queues.push(QueueKind::Steer, pending("S"));
        resume.queues.push(QueueKind::FollowUp, pending("F"));
        World::resume(resume, branch.to_vec())
    };
    let rest = format!("turn_end turn_start queue[|] user(F) >call assistant(f) {END}");
    check_in(
        with_queues(Resume::default(), &[]),
        &[Prompt("hi"), Text("ok"), Text("f")],
        &format!("queue[S|F] =started {RUN} user(hi) queue[|F] user(S) >call assistant(ok) {rest}"),
    );
    let branch = [user("u")];
    check_in(
        with_queues(Resume { active: true, ..found(&branch, &[]) }, &branch),
        // The answer that the trace owes comes before what waited for the turn after it.
        &[Text("owed"), Text("ok"), Text("f")],
        &format!(
            "queue[S|F] {RUN} >call assistant(owed) turn_end turn_start queue[|F] user(S) >call assistant(ok) {rest}"
        ),
    );
}

#[test]
fn of_calls_without_results_those_that_had_begun_are_interrupted_unless_they_only_read() {
    let branch = [user("u"), answer("a", &["read", "bash", "bash"], StopReason::ToolUse)];
    let calls = |begun: &[usize], expected: &str| {
        check_in(active(&branch, begun), &[Run("out"), Text("ok")], &format!("{RUN} {expected} {NEXT}"));
    };
    calls(
        &[],
        ">tools[0,_1,_2] tool_start(0) tool_start(1) tool_start(2) tool_end(0) tool_end(1) tool_end(2)
         result(out) result(out) result(out)",
    );
    calls(
        &[0, 1],
        "tool_end(1:interrupted) >tools[0,_2] tool_start(0) tool_start(2) tool_end(0) tool_end(2)
         result(out) result(interrupted) result(out)",
    );
    calls(
        &[0, 1, 2],
        "tool_end(1:interrupted) tool_end(2:interrupted) >tools[0] tool_start(0) tool_end(0)
         result(out) result(interrupted) result(interrupted)",
    );
}

#[test]
fn results_that_are_stored_are_not_made_again() {
    let calls = ["bash", "bash"];
    let branch = [user("u"), answer("a", &calls, StopReason::ToolUse), result("r", "c0")];
    check_in(
        active(&branch, &[0, 1]),
        &[Text("ok")],
        &format!("{RUN} tool_end(1:interrupted) result(interrupted) {NEXT}"),
    );
    let whole = [&branch[..], &[result("s", "c1")]].concat();
    check_in(active(&whole, &[0, 1]), &[Text("ok")], &format!("{RUN} {NEXT}"));
}

#[test]
fn calls_that_were_cut_off_by_the_output_limit_do_not_run_in_the_next_process_either() {
    let branch = [user("u"), answer("a", &["bash", "bash"], StopReason::Length)];
    let refused = "tool_start(0) tool_end(0:cut_off) tool_start(1) tool_end(1:cut_off) result(cut_off) result(cut_off)";
    check_in(active(&branch, &[]), &[Text("ok")], &format!("{RUN} {refused} {NEXT}"));
    check_in(
        idle(&branch, &[]),
        &[Prompt("hi"), Text("ok")],
        &format!("{RUN} {refused} =started user(hi) >call assistant(ok) {END}"),
    );
    let torn = [&branch[..], &[result("r", "c0")]].concat();
    check_in(
        active(&torn, &[]),
        &[Text("ok")],
        &format!("{RUN} tool_start(1) tool_end(1:cut_off) result(cut_off) {NEXT}"),
    );
}

#[test]
fn the_next_prompt_of_an_idle_session_finds_every_call_answered() {
    let branch = [user("u"), answer("a", &["bash", "read"], StopReason::ToolUse)];
    check_in(
        idle(&branch, &[0, 1]),
        &[Prompt("hi"), Run("text"), Text("ok"), Prompt("more"), Text("ok")],
        &format!(
            "{RUN} tool_end(0:interrupted) >tools[1] tool_start(1) tool_end(1) result(interrupted) result(text)
             =started user(hi) >call assistant(ok) {END} =started {RUN} user(more) >call assistant(ok) {END}"
        ),
    );
    check_in(
        idle(&branch, &[0, 1]),
        &[Prompt("hi"), Abort, BatchDone],
        &format!(
            "{RUN} tool_end(0:interrupted) >tools[1] >cancel tool_end(1:aborted) result(interrupted) result(aborted)
             =started user(hi) aborted() turn_end agent_end agent_settled[aborted] =done"
        ),
    );
}

#[test]
fn an_answer_that_was_stored_is_not_asked_for_again() {
    let branch = [user("u"), answer("a", &[], StopReason::Stop)];
    check_in(active(&branch, &[]), &[], &format!("{RUN} {END}"));
}

#[test]
fn a_failed_answer_at_the_end_of_a_running_trace_is_retried_with_the_next_number() {
    let mut branch = vec![user("u"), answer("a", &[], StopReason::Error)];
    let retry = |attempt: u32, ms: u32| {
        format!(
            "{RUN} turn_end agent_end[will_retry] auto_retry_start({attempt},{ms}) entry_appended(context_edit)
             >wait({ms}) {RUN} >call assistant(ok) auto_retry_end({attempt},ok) {END}"
        )
    };
    check_in(active(&branch, &[]), &[TimeUp, Text("ok")], &retry(1, 2000));
    branch.extend([omit("o", "a"), answer("b", &[], StopReason::Error), omit("p", "b")]);
    branch.push(answer("c", &[], StopReason::Error));
    check_in(active(&branch, &[]), &[TimeUp, Text("ok")], &retry(3, 8000));
    branch.extend([omit("q", "c"), answer("d", &[], StopReason::Error)]);
    check_in(
        active(&branch, &[]),
        &[],
        &format!("{RUN} turn_end agent_end auto_retry_end(3,overloaded) agent_settled"),
    );
}

#[test]
fn failed_attempts_of_an_earlier_prompt_do_not_count() {
    let branch = [
        user("u"),
        answer("a", &[], StopReason::Error),
        omit("o", "a"),
        user("v"),
        answer("b", &[], StopReason::Error),
    ];
    let (_, attempt) = position(|| branch.iter().rev().cloned(), |_| Failure::new(FailureClass::Overloaded, "busy"));
    assert_eq!(attempt, 0);
    let branch = [&branch[..3], &[answer("c", &[], StopReason::Stop)]].concat();
    let (_, attempt) = position(|| branch.iter().rev().cloned(), |_| Failure::new(FailureClass::Overloaded, "busy"));
    assert_eq!(attempt, 0, "a success ends the count");
    let (_, attempt) =
        position(|| branch[..3].iter().rev().cloned(), |_| Failure::new(FailureClass::ContextOverflow, "too long"));
    assert_eq!(attempt, 0, "an overflow is no retry");
}

#[test]
fn a_trace_that_was_aborted_stays_aborted_and_keeps_its_queue() {
    let branch = [user("u"), answer("a", &[], StopReason::Aborted)];
    let mut resume = Resume { active: true, ..found(&branch, &[]) };
    resume.queues.push(QueueKind::Steer, pending("S"));
    let world = check_in(
        World::resume(resume, branch.to_vec()),
        &[],
        &format!("queue[S|] {RUN} turn_end agent_end agent_settled[aborted]"),
    );
    assert_eq!(world.turn.queues().texts().0, ["S"]);
}
