//! What extensions add and decide.

use std::sync::Arc;

use super::{
    script::{Step, Step::*, check, custom, run},
    world::{World, work_of},
};
use crate::{
    actors::turn_io::Input,
    protocol::{
        AgentMessage, EntryBody, FailureClass, ModelRef, ThinkingLevel,
        ask::{
            Ask, BeforeAgentStartVerdict, BeforeSettleVerdict, BeforeTurnVerdict, InputVerdict, TurnDecision,
            TurnEndVerdict, Verdict,
        },
        message::CustomMessage,
    },
};

const START: &str = "=started agent_start turn_start user(hi)";
const END: &str = "turn_end agent_end agent_settled";

fn note(kind: &str) -> AgentMessage {
    AgentMessage::Custom(Arc::new(CustomMessage { custom_type: kind.into(), ..CustomMessage::default() }))
}

fn note_entry(kind: &str) -> EntryBody {
    EntryBody::CustomMessage { custom_type: kind.into(), content: "x".into(), display: true, details: None }
}

fn turn_end(decision: TurnDecision, entries: &[EntryBody]) -> Step {
    let entries = (!entries.is_empty()).then(|| entries.to_vec());
    Says(Verdict::TurnEnd(TurnEndVerdict { entries, decision }))
}

fn before_settle(continue_run: bool, entries: &[EntryBody]) -> Step {
    let entries = (!entries.is_empty()).then(|| entries.to_vec());
    Says(Verdict::BeforeSettle(BeforeSettleVerdict { entries, continue_run }))
}

#[test]
fn messages_for_the_start_stand_behind_the_prompt_and_before_what_steers() {
    let verdict = BeforeAgentStartVerdict { messages: vec![note("a"), note("b")], system_prompt: None };
    check(
        &[Steer("S"), Says(Verdict::BeforeAgentStart(verdict)), Prompt("hi"), Text("ok")],
        &format!("queue[S|] =queued {START} custom(a) custom(b) queue[|] user(S) >call assistant(ok) {END}"),
    );
}

#[test]
fn a_forced_system_prompt_holds_for_the_whole_trace_and_no_longer() {
    let verdict = BeforeAgentStartVerdict { messages: Vec::new(), system_prompt: Some("SYS".into()) };
    check(
        &[
            Says(Verdict::BeforeAgentStart(verdict)),
            Prompt("hi"),
            Calls(&["read"]),
            Run("text"),
            Fails(FailureClass::Overloaded),
            TimeUp,
            Text("ok"),
            Prompt("hi2"),
            Text("ok"),
        ],
        &format!(
            "{START} >prepare(SYS) >call assistant(call:read) >tools[0] tool_start(0) tool_end(0) result(text) turn_end
             turn_start >prepare(SYS) >call assistant!(overloaded) turn_end agent_end[will_retry]
             auto_retry_start(1,2000) entry_appended(context_edit) >wait(2000)
             agent_start turn_start >prepare(SYS) >call assistant(ok) auto_retry_end(1,ok) {END}
             =started agent_start turn_start user(hi2) >call assistant(ok) {END}"
        ),
    );
}

#[test]
fn before_a_turn_another_model_is_selected_and_messages_stand_before_what_steers() {
    let verdict = BeforeTurnVerdict {
        model: Some(ModelRef { provider: "acme".into(), model_id: "a".into() }),
        thinking_level: Some(ThinkingLevel::High),
        messages: vec![note("x")],
    };
    check(
        &[Says(Verdict::BeforeTurn(verdict)), Prompt("hi"), Calls(&["read"]), Steer("S"), Run("text"), Text("ok")],
        &format!(
            "{START} >call assistant(call:read) >tools[0] queue[S|] =queued tool_start(0) tool_end(0) result(text)
             turn_end >select(acme/a,high) turn_start custom(x) queue[|] user(S) >call assistant(ok) {END}"
        ),
    );
}

#[test]
fn entries_of_the_end_of_a_turn_are_told_before_it() {
    check(
        &[turn_end(TurnDecision::Default, &[custom("c"), note_entry("m")]), Prompt("hi"), Text("ok")],
        &format!("{START} >call assistant(ok) entry_appended(custom) custom(m) {END}"),
    );
}

#[test]
fn one_more_turn_when_an_extension_wants_it() {
    check(
        &[turn_end(TurnDecision::Continue, &[note_entry("m")]), Prompt("hi"), Text("ok"), Text("more")],
        &format!("{START} >call assistant(ok) custom(m) turn_end turn_start >call assistant(more) {END}"),
    );
}

#[test]
fn a_queued_message_is_the_one_more_turn() {
    check(
        &[turn_end(TurnDecision::Continue, &[]), Prompt("hi"), FollowUp("f"), Text("ok"), Text("more")],
        &format!(
            "{START} >call queue[|f] =queued assistant(ok) turn_end turn_start queue[|] user(f) >call
             assistant(more) {END}"
        ),
    );
}

#[test]
fn an_extension_can_end_the_loop_run_after_a_batch() {
    check(
        &[turn_end(TurnDecision::End, &[]), Prompt("hi"), Calls(&["read"]), Run("text")],
        &format!("{START} >call assistant(call:read) >tools[0] tool_start(0) tool_end(0) result(text) {END}"),
    );
    check(
        &[turn_end(TurnDecision::End, &[]), Prompt("hi"), Steer("S"), Text("ok"), Text("s")],
        &format!(
            "{START} >call queue[S|] =queued assistant(ok) turn_end agent_end
             agent_start turn_start queue[|] user(S) >call assistant(s) {END}"
        ),
    );
}

#[test]
fn what_extensions_want_after_a_failed_answer_is_not_heard() {
    for decision in [TurnDecision::Continue, TurnDecision::End] {
        check(
            &[turn_end(decision, &[custom("c")]), Prompt("hi"), Fails(FailureClass::Auth)],
            &format!("{START} >call assistant!(auth) entry_appended(custom) {END}"),
        );
    }
}

#[test]
fn before_settling_an_extension_can_ask_the_model_once_more() {
    check(
        &[before_settle(true, &[note_entry("m")]), Prompt("hi"), Text("ok"), Text("more")],
        &format!(
            "{START} >call assistant(ok) turn_end agent_end custom(m) agent_start turn_start >call assistant(more) {END}"
        ),
    );
    check(
        &[before_settle(false, &[custom("c")]), Prompt("hi"), Text("ok")],
        &format!("{START} >call assistant(ok) turn_end agent_end entry_appended(custom) agent_settled"),
    );
}

#[test]
fn what_is_queued_goes_before_what_an_extension_wants_before_settling() {
    check(
        &[
            before_settle(true, &[]),
            Prompt("hi"),
            StopAt("ask(agent_before_settle)"),
            Text("ok"),
            FollowUp("f"),
            Go,
            Text("more"),
        ],
        &format!(
            "{START} >call assistant(ok) turn_end agent_end queue[|f] =queued agent_start turn_start queue[|] user(f)
             >call assistant(more) {END}"
        ),
    );
}

#[test]
fn questions_say_which_turn_of_the_loop_run_it_is_and_what_came_of_it() {
    let words = |asks: &[Ask]| {
        let word = |ask: &Ask| match ask {
            Ask::BeforeAgentStart(ask) => format!("start({})", ask.prompt),
            Ask::TurnEnd(ask) => {
                let calls = ask.message.tool_calls().count();
                format!("end({},{calls}/{})", ask.turn, ask.tool_results.len())
            }
            Ask::BeforeTurn(ask) => format!("turn({},{})", ask.turn, ask.message.tool_calls().count()),
            Ask::BeforeSettle(ask) => format!("settle({})", if ask.failed { "failed" } else { "ok" }),
            other => format!("{other:?}"),
        };
        asks.iter().map(word).collect::<Vec<_>>().join(" ")
    };
    let mut world = World::default();
    for step in [Prompt("hi"), Calls(&["read", "read"]), Run("text"), Fails(FailureClass::Overloaded), TimeUp] {
        run(&mut world, &step);
    }
    for step in [Text("ok"), Prompt("more"), Fails(FailureClass::Auth)] {
        run(&mut world, &step);
    }
    assert_eq!(
        words(&world.asks),
        "start(hi) end(0,2/2) turn(1,2) end(1,0/0) end(0,0/0) settle(ok) start(more) end(0,0/0) settle(failed)"
    );
}

#[test]
fn an_answer_that_makes_no_sense_is_like_none() {
    let stops = ["ask(before_agent_start)", "ask(turn_end)", "ask(before_turn)", "ask(agent_before_settle)"];
    for stop in stops {
        let mut world = World::default();
        for step in [StopAt(stop), Prompt("hi")] {
            run(&mut world, &step);
        }
        let mut answers = vec![Text("ok"), Run("text"), Calls(&["read"])];
        while !world.turn.is_idle() {
            if world.paused {
                let work = world.pending.as_ref().and_then(work_of).unwrap();
                let verdict = Some(Verdict::Input(InputVerdict::Handled));
                world.feed(Input::Asked { work, verdict });
                run(&mut world, &Go);
            } else {
                run(&mut world, &answers.pop().unwrap());
            }
        }
        let plain = format!(
            "{START} >call assistant(call:read) >tools[0] tool_start(0) tool_end(0) result(text) turn_end turn_start
             >call assistant(ok) {END}"
        );
        assert_eq!(world.trace, plain.split_whitespace().collect::<Vec<_>>(), "{stop}");
    }
}
