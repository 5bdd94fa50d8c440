//! What may come.

use std::{path::PathBuf, sync::Arc};

use proptest::prelude::*;
use serde_json::json;

use super::{answers, happening};
use crate::{
    actors::reply::CommandResult,
    protocol::{
        Event,
        event::NoticeLevel,
        view::View,
        wire::{CommandInfo, CommandSource, SourceInfo},
    },
    store::testing::{answer, compaction, line, view as tree_of},
    tui::{
        facts::AgentFacts,
        keys::{Action, Key, KeyCode, Keymap, Modifiers},
        terminal::{InputEvent, Mouse, MouseButton, MouseKind, Report},
        testing::facts_of,
        work::{WorkDone, clipboard::Pasted, diff::DiffOf},
    },
};

/// Something that comes.
#[derive(Clone, Debug)]
pub enum Step {
    Key(Key),
    Type(String),
    Input(InputEvent),
    Slash(usize),
    Happened(Event),
    Snapshot(Box<View>),
    Facts(Box<AgentFacts>),
    Answer(usize, CommandResult),
    Worked(WorkDone),
    Edited(Result<String, String>),
    /// The session is not replaced, and why, when it failed.
    Kept(Option<String>),
    Time(u64),
}

/// Pieces of texts that are hard to show.
const PIECES: &[&str] = &[
    "word ",
    "a",
    "日本語",
    "👩\u{200d}👩\u{200d}👧",
    "🇨🇭",
    "e\u{301}",
    "\u{301}",
    "\u{1b}[2J",
    "\u{1b}]0;x\u{7}",
    "\u{1b}P1$r\u{1b}\\",
    "\u{9b}31m",
    "\u{202e}",
    "\u{2066}",
    "\u{2028}",
    "\0",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "\u{8}",
    "\u{200b}",
    "\u{feff}",
    "\u{7f}",
    "```\n",
    "```rust\n",
    "| a | 日 |\n|--|--|\n| b | c |\n",
    "# ",
    "**",
    "`",
    "[l](http://a/\u{1b}[1m)",
    "<b>",
    "- ",
    "1. ",
    "> ",
    "/",
    "@",
    "!",
    "~/",
    "❤\u{fe0f}",
    "ﷺ",
    "a_very_long_word_without_any_place_to_break_it",
];

/// A text of them.
pub fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..8).prop_map(|pieces| pieces.concat())
}

/// A session of that many turns, with a branch, calls and all kinds of entries.
pub fn session(turns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut parent = String::new();
    for turn in 0..turns {
        let piece = |by: usize| PIECES[(turn * 7 + by) % PIECES.len()].repeat(1 + turn % 3);
        let ids = ["u", "a", "r", "n", "b"].map(|kind| format!("{kind}{turn}"));
        let image = json!({"type": "image", "data": "AAAA", "mimeType": piece(12)});
        let content = json!([{"type": "text", "text": format!("{}{}", piece(0), piece(1))}, image]);
        let message = json!({"role": "user", "content": content, "timestamp": 5});
        lines.push(line("message", &ids[0], &parent, json!({ "message": message })));
        let call = json!({"type": "toolCall", "id": piece(2), "name": piece(3), "arguments": {piece(4): piece(5)}});
        let content = json!([{"type": "thinking", "thinking": piece(6)}, {"type": "text", "text": piece(7)}, call]);
        let message =
            json!({"role": "assistant", "content": content, "provider": "acme", "model": "alpha", "timestamp": 6});
        lines.push(line("message", &ids[1], &ids[0], json!({ "message": message })));
        let content = json!([{"type": "text", "text": piece(8)}]);
        let result = json!({"role": "toolResult", "toolCallId": piece(2), "toolName": piece(3), "content": content});
        lines.push(line("message", &ids[2], &ids[1], json!({ "message": result })));
        let bash =
            json!({"role": "bashExecution", "command": piece(9), "output": piece(10), "exitCode": 1, "timestamp": 1});
        lines.push(line("message", &ids[3], &ids[2], json!({ "message": bash })));
        parent = match turn % 3 {
            0 => answer(&ids[4], &ids[3], &piece(11)),
            1 => compaction(&ids[4], &ids[3], &piece(11), &ids[0]),
            _ => line("session_info", &ids[4], &ids[3], json!({"name": piece(11)})),
        };
        lines.push(std::mem::replace(&mut parent, ids[4].clone()));
    }
    lines
}

/// A life of a screen.
pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..40)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => key().prop_map(Step::Key),
        4 => text().prop_map(Step::Type),
        4 => input().prop_map(Step::Input),
        3 => any::<usize>().prop_map(Step::Slash),
        8 => happening::event().prop_map(Step::Happened),
        1 => happening::view().prop_map(|view| Step::Snapshot(Box::new(view))),
        2 => facts().prop_map(|facts| Step::Facts(Box::new(facts))),
        3 => (any::<usize>(), answers()).prop_map(|(at, result)| Step::Answer(at, result)),
        3 => done().prop_map(Step::Worked),
        1 => prop_oneof![text().prop_map(Ok), text().prop_map(Err)].prop_map(Step::Edited),
        1 => prop::option::of(text()).prop_map(Step::Kept),
        2 => prop_oneof![Just(1_u64), Just(100), Just(900), Just(5_000)].prop_map(Step::Time),
    ]
}

/// Keys that mean something, and any others.
fn key() -> impl Strategy<Value = Key> {
    let keymap = Keymap::default();
    let known: Vec<Key> = Action::ALL.iter().flat_map(|action| keymap.keys_of(*action).to_vec()).collect();
    let plain = [KeyCode::Enter, KeyCode::Escape, KeyCode::Tab, KeyCode::Down, KeyCode::Up, KeyCode::PageUp];
    prop_oneof![
        prop::sample::select(known),
        prop::sample::select(plain.to_vec()).prop_map(Key::plain),
        any::<char>().prop_map(|c| Key { code: KeyCode::Char(c), modifiers: Modifiers::ALT }),
    ]
}

fn input() -> impl Strategy<Value = InputEvent> {
    let small = 0..70_u16;
    let kinds = [
        MouseKind::Down(MouseButton::Left),
        MouseKind::Drag(MouseButton::Left),
        MouseKind::Up(MouseButton::Left),
        MouseKind::Down(MouseButton::Right),
        MouseKind::WheelUp,
        MouseKind::WheelDown,
    ];
    let mouse = (prop::sample::select(kinds.to_vec()), prop_oneof![small.clone(), Just(u16::MAX)], small);
    let sizes = prop_oneof![
        (1..8_u16, 1..8_u16),
        (1..200_u16, 1..60_u16),
        Just((1, 1)),
        Just((2, 60)),
        Just((200, 2)),
        Just((80, 24))
    ];
    let reports = vec![
        Report::Background([255; 3]),
        Report::Foreground([0; 3]),
        Report::Palette(255, [1; 3]),
        Report::Appearance(false),
        Report::Version("\u{1b}[2J".into()),
        Report::CellSize(0, 0),
    ];
    prop_oneof![
        text().prop_map(InputEvent::Paste),
        text().prop_map(|text| InputEvent::Paste(text.repeat(200))),
        mouse.prop_map(|(kind, column, row)| InputEvent::Mouse(Mouse {
            kind,
            column,
            row,
            modifiers: Modifiers::NONE
        })),
        sizes.prop_map(|(columns, rows)| InputEvent::Resize { columns, rows }),
        any::<bool>().prop_map(InputEvent::Focus),
        prop::sample::select(reports).prop_map(InputEvent::Report),
        Just(InputEvent::Resumed),
    ]
}

fn facts() -> impl Strategy<Value = AgentFacts> {
    let turns = prop_oneof![Just(None), (0..4_usize).prop_map(Some), Just(Some(60))];
    (turns, prop::sample::select(&["main", "other"][..]), text(), any::<bool>()).prop_map(
        |(turns, agent, cwd, model)| {
            let mut facts = facts_of(turns.map(|turns| tree_of(&session(turns))));
            facts.agent = agent.into();
            facts.cwd = PathBuf::from(format!("/srv/{}", cwd.replace('\0', "")));
            facts.model = facts.model.filter(|_| model);
            facts.commands = [command(cwd)].into();
            facts
        },
    )
}

fn command(name: String) -> CommandInfo {
    let [path, source, scope, origin] = [&name, "local", "user", "top-level"].map(str::to_owned);
    let source_info = SourceInfo { path, source, scope, origin, base_dir: None };
    CommandInfo { description: Some(name.clone()), name, source: CommandSource::Skill, source_info }
}

fn done() -> impl Strategy<Value = WorkDone> {
    let places = prop::collection::vec(0..400_usize, 0..5);
    let diff = prop::sample::select(vec![DiffOf::WorkingTree, DiffOf::Session]);
    prop_oneof![
        text().prop_map(|text| WorkDone::Branch(Some(text))),
        text().prop_map(|text| WorkDone::Commands([command(text)].into())),
        text().prop_map(|text| WorkDone::Pasted(Pasted::Text(text))),
        text().prop_map(|text| WorkDone::Pasted(Pasted::Nothing(text))),
        text().prop_map(|text| WorkDone::Pasted(Pasted::Picture(text.into()))),
        (text(), places).prop_map(|(query, found)| WorkDone::Searched(query.to_lowercase(), found.into())),
        text().prop_map(|text| WorkDone::Told(NoticeLevel::Error, text)),
        text().prop_map(|text| WorkDone::Imported(text.into())),
        (diff, text()).prop_map(|(of, text)| WorkDone::Diff(
            of,
            format!("diff --git a/x b/x\n@@ -1 +1 @@\n-{text}\n+{text}").into()
        )),
        text().prop_map(|text| WorkDone::Forks(Arc::new([(text.clone().into(), text)]))),
    ]
}
