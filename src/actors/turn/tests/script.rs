//! Scripts: what happens to a machine, step by step, and the trace that must come of it.

use super::{render, world::World};
use crate::{
    actors::turn_io::{Effect, Input, NewEntry},
    protocol::{
        AssistantMessage, Block, EntryBody, Failure, FailureClass, StopReason, ToolCall, ToolOutput,
        ask::Verdict,
        command::{QueueKind, QueueMode},
    },
};

/// One step. The world answers stores, questions and preparations by itself unless it is told to stop.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "short lists in tests")]
pub enum Step {
    Prompt(&'static str),
    PromptOr(&'static str, QueueKind),
    Steer(&'static str),
    FollowUp(&'static str),
    Mode(QueueKind, QueueMode),
    Clear,
    Abort,
    AbortRetry,
    WaitIdle,
    Compact,
    Append(&'static str),
    /// The extensions' answer to the next question of its kind.
    Says(Verdict),
    /// The model answers with text.
    Text(&'static str),
    /// The model calls these tools; their ids are `c0`, `c1`, ….
    Calls(&'static [&'static str]),
    /// The same, cut off by the output limit.
    Cut(&'static [&'static str]),
    /// The model call fails before its start.
    Fails(FailureClass),
    /// It fails after some text.
    Breaks(FailureClass, &'static str),
    /// It ends by an abort, with what it has.
    Stops(&'static str),
    /// The answer is cut off although there was room: the context was too long.
    CutShort,
    /// The request cannot be made.
    Unready(FailureClass),
    /// The next request is of a virtual model whose state changes.
    Routes,
    /// When the next call fails, another model is free.
    Fallback,
    /// The next good answer took more than the window holds.
    Overflows,
    /// The next answer was cut off for want of room.
    Short,
    /// The context has grown into the reserve.
    Full,
    /// A compaction does not help.
    StaysFull,
    Begin(&'static [usize]),
    Done(usize, &'static str),
    /// A result that asks the loop to end.
    Ends(usize),
    BatchDone,
    /// All calls of the batch run and give this.
    Run(&'static str),
    TimeUp,
    Compacted,
    NotCompacted(&'static str),
    /// The worker that the machine waits for dies.
    Gone,
    /// Everything stops when the machine waits for this.
    StopAt(&'static str),
    /// The world goes on.
    Go,
    /// The disk refuses what is to be stored, and the world goes on.
    Refuse,
    /// Answers of older work come in.
    Late,
}

/// Runs a script in a fresh world and compares the trace.
pub fn check(script: &[Step], expected: &str) {
    check_in(World::default(), script, expected);
}

/// Runs a script and compares the trace, words separated by white space. At the end the machine is idle.
pub fn check_in(mut world: World, script: &[Step], expected: &str) -> World {
    world.pump();
    for step in script {
        run(&mut world, step);
    }
    let expected: Vec<&str> = expected.split_whitespace().collect();
    assert_eq!(world.trace.join("\n"), expected.join("\n"), "\n{}", world.trace.join(" "));
    let waits = world.pending.as_ref().map(render::label);
    assert_eq!(waits, None, "the machine is not idle");
    world
}

/// Carries out one step.
pub fn run(world: &mut World, step: &Step) {
    match step.clone() {
        Step::Prompt(text) => world.prompt(text, None),
        Step::PromptOr(text, kind) => world.prompt(text, Some(kind)),
        Step::Steer(text) => world.queue(text, QueueKind::Steer),
        Step::FollowUp(text) => world.queue(text, QueueKind::FollowUp),
        Step::Mode(kind, mode) => world.feed(Input::SetQueueMode(kind, mode)),
        Step::Clear => with_ticket(world, Input::ClearQueue),
        Step::Abort => {
            with_ticket(world, Input::Abort);
            world.late();
        }
        Step::AbortRetry => with_ticket(world, Input::AbortRetry),
        Step::WaitIdle => with_ticket(world, Input::WaitIdle),
        Step::Compact => with_ticket(world, |ticket| Input::Compact { instructions: None, ticket }),
        Step::Append(kind) => with_ticket(world, |ticket| {
            let reserved = Some(format!("held-{ticket}").into());
            Input::Append { entries: vec![NewEntry { body: custom(kind), reserved }], ticket }
        }),
        Step::Says(verdict) => world.verdicts.push(verdict),
        Step::Text(text) => world.answered(assistant(text, &[], StopReason::Stop), None, true),
        Step::Calls(names) => world.answered(assistant("", names, StopReason::ToolUse), None, true),
        Step::Cut(names) => world.answered(assistant("", names, StopReason::Length), None, true),
        Step::Fails(class) => fail(world, class, "", false),
        Step::Breaks(class, text) => fail(world, class, text, true),
        Step::Stops(text) => {
            let failure = Failure::new(FailureClass::Aborted, "Request was aborted");
            world.answered(assistant(text, &[], StopReason::Aborted), Some(failure), true);
        }
        Step::CutShort => {
            let failure = Failure::new(FailureClass::ContextOverflow, "no room");
            world.answered(assistant("", &[], StopReason::Length), Some(failure), true);
        }
        Step::Unready(class) => world.prepared(Err(Failure::new(class, class.name()))),
        Step::Routes => world.routes.push(custom("route")),
        Step::Fallback => world.fallback = true,
        Step::Overflows => world.overflow = true,
        Step::Short => world.short = true,
        Step::Full => world.turn.full = true,
        Step::StaysFull => world.stays_full = true,
        Step::Begin(places) => world.begin(places),
        Step::Done(place, text) => world.finish(place, ToolOutput::text(text)),
        Step::Ends(place) => world.finish(place, ToolOutput { terminate: true, ..ToolOutput::text("end") }),
        Step::BatchDone => world.batch_done(),
        Step::Run(text) => run_all(world, text),
        Step::TimeUp => world.time_up(),
        Step::Compacted => world.compacted(Ok(compaction())),
        Step::NotCompacted(text) => world.compacted(Err(text.into())),
        Step::Gone => world.gone(),
        Step::StopAt(label) => world.stop = Some(label),
        Step::Go => world.paused = false,
        Step::Refuse => {
            world.refused();
            world.paused = false;
        }
        Step::Late => world.late(),
    }
    world.pump();
}

fn with_ticket(world: &mut World, input: impl FnOnce(u64) -> Input) {
    let ticket = world.ticket();
    world.feed(input(ticket));
}

fn run_all(world: &mut World, text: &str) {
    let Some(Effect::RunTools { places, .. }) = world.pending.clone() else { panic!("no tools") };
    world.begin(&places);
    for place in places {
        world.finish(place, ToolOutput::text(text));
    }
    world.batch_done();
}

fn fail(world: &mut World, class: FailureClass, text: &str, started: bool) {
    let failure = Failure::new(class, class.name());
    let message =
        AssistantMessage { error_message: Some(failure.message.clone()), ..assistant(text, &[], StopReason::Error) };
    world.answered(message, Some(failure), started);
}

/// An answer with text and calls.
pub fn assistant(text: &str, calls: &[&str], stop_reason: StopReason) -> AssistantMessage {
    let text = (!text.is_empty()).then(|| Block::text(text));
    let calls = calls.iter().enumerate().map(|(place, name)| {
        Block::ToolCall(ToolCall { id: format!("c{place}"), name: (*name).to_owned(), ..ToolCall::default() })
    });
    AssistantMessage { content: text.into_iter().chain(calls).collect(), stop_reason, ..AssistantMessage::default() }
}

/// An entry of an extension.
pub fn custom(kind: &str) -> EntryBody {
    EntryBody::Custom { custom_type: kind.to_owned(), data: None }
}

/// A compaction's entry.
pub fn compaction() -> EntryBody {
    EntryBody::Compaction {
        summary: "before".into(),
        first_kept_entry_id: "e0".into(),
        tokens_before: 9,
        system_message: None,
        details: None,
        usage: None,
        from_hook: None,
    }
}
