//! Random scripts: whatever happens in whatever phase, the laws hold and the machine can be brought to rest.

use proptest::prelude::*;

use super::{
    script::{Step, assistant, compaction, custom, run},
    world::World,
};
use crate::{
    actors::turn_io::Effect,
    protocol::{
        AgentMessage, AssistantMessage, EntryBody, Failure, FailureClass, StopReason, ThinkingLevel, ToolOutput,
        ask::{
            AskPoint, BeforeAgentStartVerdict, BeforeSettleVerdict, BeforeTurnVerdict, TurnDecision, TurnEndVerdict,
            Verdict,
        },
        command::{QueueKind, QueueMode},
    },
};

/// What happens next.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "short lists in tests")]
enum Op {
    Prompt(Option<QueueKind>),
    Queue(QueueKind),
    /// Anything that needs no text.
    Command(Step),
    /// What the machine waits for happens, in one of its ways.
    Respond(u16),
    /// The process dies; the disk has or has not got what was being stored.
    Crash(bool),
}

/// Mostly answers, now and then a command. Small numbers are what shrinking likes best.
fn op(code: u16) -> Op {
    let way = code / 50;
    let kind = if way.is_multiple_of(2) { QueueKind::Steer } else { QueueKind::FollowUp };
    let mode = if (way / 2).is_multiple_of(2) { QueueMode::OneAtATime } else { QueueMode::All };
    match code % 50 {
        0..=35 => Op::Respond(way),
        36..=39 => Op::Prompt(way.is_multiple_of(3).then_some(kind)),
        40..=42 => Op::Queue(kind),
        43 => Op::Command(Step::Abort),
        44 => Op::Command(Step::Append("x")),
        45 => Op::Command([Step::AbortRetry, Step::WaitIdle, Step::Compact][usize::from(way) % 3].clone()),
        46 => Op::Command(Step::Clear),
        47 => Op::Command(Step::Late),
        48 => Op::Command(Step::Mode(kind, mode)),
        _ => Op::Crash(way.is_multiple_of(2)),
    }
}

fn ops(most: usize) -> impl Strategy<Value = Vec<Op>> {
    proptest::collection::vec(any::<u16>(), 0..most).prop_map(|codes| codes.into_iter().map(op).collect())
}

fn carry_out(world: &mut World, op: &Op, count: usize) {
    let text = format!("m{count}");
    match op {
        Op::Prompt(behavior) => world.prompt(&text, *behavior),
        Op::Queue(kind) => world.queue(&text, *kind),
        Op::Command(step) => run(world, step),
        Op::Respond(way) => respond(world, usize::from(*way)),
        Op::Crash(written) => world.crash(*written),
    }
}

/// One of the ways in which what the machine waits for can end; most ways are the usual one.
fn respond(world: &mut World, way: usize) {
    let Some(pending) = world.pending.clone() else { return };
    match pending {
        Effect::Store { .. } if way.is_multiple_of(16) => world.refused(),
        Effect::Store { .. } => world.stored(),
        Effect::Ask { .. } if way.is_multiple_of(8) => world.gone(),
        Effect::Ask { ask, .. } => {
            if way.is_multiple_of(2) {
                world.verdicts = vec![verdict(ask.point(), way / 2)];
            }
            world.asked();
        }
        Effect::Prepare { .. } => match way % 8 {
            0 => world.gone(),
            1 => world.prepared(Err(Failure::new(FailureClass::Network, "network"))),
            2 => world.prepared(Err(Failure::new(FailureClass::Auth, "auth"))),
            3 => world.prepared(Ok(vec![custom("route")])),
            _ => world.prepared(Ok(Vec::new())),
        },
        Effect::Call { .. } => match way % 6 {
            0 => world.gone(),
            _ => {
                world.fallback = way.is_multiple_of(5);
                world.short = way.is_multiple_of(11);
                world.turn.full = way.is_multiple_of(3);
                world.stays_full = way.is_multiple_of(9);
                answer(world, way / 6);
            }
        },
        Effect::RunTools { places, .. } => tools(world, &places, way),
        Effect::Wait { .. } => world.time_up(),
        Effect::Compact { .. } => match way % 4 {
            0 => world.gone(),
            1 => world.compacted(Err("too small".into())),
            _ => world.compacted(Ok(compaction())),
        },
        other => panic!("waits for {other:?}"),
    }
}

fn verdict(point: AskPoint, way: usize) -> Verdict {
    let note = EntryBody::CustomMessage { custom_type: "n".into(), content: "n".into(), display: true, details: None };
    let entries = (!way.is_multiple_of(3)).then(|| vec![if way % 3 == 1 { custom("e") } else { note }]);
    let messages = (way.is_multiple_of(2)).then(|| AgentMessage::user("added", 0)).into_iter().collect();
    match point {
        AskPoint::BeforeAgentStart => {
            Verdict::BeforeAgentStart(BeforeAgentStartVerdict { messages, system_prompt: Some("S".into()) })
        }
        AskPoint::BeforeTurn => {
            Verdict::BeforeTurn(BeforeTurnVerdict { model: None, thinking_level: Some(ThinkingLevel::Low), messages })
        }
        AskPoint::TurnEnd => {
            let decision = [TurnDecision::Default, TurnDecision::Continue, TurnDecision::End][way % 3];
            Verdict::TurnEnd(TurnEndVerdict { entries, decision })
        }
        _ => Verdict::BeforeSettle(BeforeSettleVerdict { entries, continue_run: way.is_multiple_of(4) }),
    }
}

fn answer(world: &mut World, way: usize) {
    let calls: [&[&str]; 4] = [&["bash"], &["read", "bash"], &["bash", "read", "bash"], &[]];
    let calls = calls[way % 4];
    let (stop_reason, failure) = match way / 4 % 8 {
        0 => (StopReason::Length, None),
        1 => (StopReason::Error, Some(FailureClass::Overloaded)),
        2 => (StopReason::Error, Some(FailureClass::Auth)),
        3 => (StopReason::Error, Some(FailureClass::ContextOverflow)),
        4 => (StopReason::Aborted, Some(FailureClass::Aborted)),
        5 => (StopReason::Length, Some(FailureClass::ContextOverflow)),
        _ => (StopReason::ToolUse, None),
    };
    let mut message = assistant("t", calls, stop_reason);
    if way.is_multiple_of(5) {
        same_ids(&mut message);
    }
    if failure.is_some() {
        message.error_message = Some("failed".into());
    }
    world.answered(message, failure.map(|class| Failure::new(class, "failed")), way.is_multiple_of(2));
}

fn same_ids(message: &mut AssistantMessage) {
    for block in &mut message.content {
        if let crate::protocol::Block::ToolCall(call) = block {
            call.id = "same".into();
        }
    }
}

fn tools(world: &mut World, places: &[usize], way: usize) {
    let place = places[way / 8 % places.len()];
    match way % 8 {
        0 => world.gone(),
        1 => world.batch_done(),
        2 | 3 if world.has_finished(place) => {}
        2 => world.begin(&[place]),
        3 => world.finish(place, ToolOutput { terminate: true, ..ToolOutput::text("end") }),
        _ => {
            for place in places.iter().filter(|place| way % 8 > 4 || **place > 0) {
                if !world.has_finished(*place) {
                    world.finish(*place, ToolOutput::text(format!("out{place}")));
                }
            }
            world.batch_done();
        }
    }
}

/// Answers everything in the usual way until the machine is idle.
fn settle(world: &mut World) {
    let steps = 30 + 10 * world.turn.queues().len();
    for _ in 0..steps {
        let Some(pending) = world.pending.clone() else { break };
        match pending {
            Effect::Call { .. } => world.answered(assistant("end", &[], StopReason::Stop), None, true),
            Effect::RunTools { .. } => world.batch_done(),
            _ => respond(world, 15),
        }
    }
    assert!(world.turn.is_idle(), "not idle after {steps} steps but {}", world.turn.phase());
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_laws_hold_whatever_happens(ops in ops(150)) {
        let mut world = World { paused: true, declares: true, ..World::default() };
        for (count, op) in ops.iter().enumerate() {
            carry_out(&mut world, op, count);
        }
        run(&mut world, &Step::Abort);
        settle(&mut world);
        // What an abort left in the queues is delivered by the next prompt; nothing is left over in the end.
        world.prompt("last", None);
        settle(&mut world);
        prop_assert!(world.turn.queues().is_empty());
    }

    #[test]
    fn an_agent_that_is_left_alone_comes_to_rest_by_itself(ops in ops(60)) {
        let mut world = World { paused: true, ..World::default() };
        for (count, op) in ops.iter().enumerate() {
            carry_out(&mut world, op, count);
        }
        settle(&mut world);
    }
}
