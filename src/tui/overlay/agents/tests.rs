use serde_json::json;

use super::*;
use crate::{
    protocol::sibling::{Outcome as End, SiblingStatus},
    store::testing::{answer, line, user, view},
    tui::{
        overlay::testing::{World, told},
        settings::ScreenSettings,
        testing::sibling,
    },
};

fn info(status: SiblingStatus) -> AgentInfo {
    AgentInfo { status, waiting: 0, restarts: 0 }
}

fn family() -> Vec<AgentInfo> {
    let front = SiblingStatus {
        id: SiblingId::root(),
        depth: 0,
        role: "main".into(),
        title: "tidy the cellar".into(),
        ..sibling("agent-1")
    };
    let reads = SiblingStatus {
        name: Some("reader".into()),
        tool: Some("bash".into()),
        last_line: "half of it is \u{1b}[31mread".into(),
        ..sibling("agent-1")
    };
    let paused = SiblingStatus { state: SiblingState::Paused, ..sibling("agent-1.1") };
    let ended = SiblingStatus { state: SiblingState::Gone, outcome: Some(End::Done), ..sibling("agent-2") };
    vec![info(front), AgentInfo { restarts: 2, ..info(reads) }, AgentInfo { waiting: 1, ..info(paused) }, info(ended)]
}

fn settings() -> ScreenSettings {
    ScreenSettings::of(&crate::store::settings::Settings::from_value(serde_json::Map::new()))
}

fn listed(agents: Vec<AgentInfo>) -> WorkDone {
    WorkDone::Agents(AgentsDone::Listed(agents.into()))
}

fn selector() -> AgentSelector {
    let (mut selector, effects) = AgentSelector::new(&settings(), 0);
    assert_eq!(effects, list());
    selector.on_worked(&listed(family()), &World::default().context());
    selector
}

#[test]
fn keys_look_steer_stop_restart_and_hold() {
    let id = |text: &str| SiblingId::parse(text).unwrap();
    let does = |agent: &str, deed| told(&Outcome::Stay(act(&id(agent), deed)));
    let abort = told(&Outcome::Stay(vec![Effect::Send(Command::Abort, Purpose::Plain)]));
    let read = |agent: &str| {
        let works = [AgentsWork::List, AgentsWork::Read(id(agent))].map(|work| Effect::Work(Work::Agents(work)));
        works.iter().map(|effect| format!(" {effect:?}")).collect::<String>()
    };
    for (pressed, expected) in [
        // the agent in front
        ("enter", "close".to_owned()),
        ("ctrl+d enter", abort),
        ("ctrl+r", "stay".to_owned()),
        ("ctrl+p", "stay".to_owned()),
        ("ctrl+s", "open".to_owned()),
        // one that works
        ("down enter", format!("open{}", read("agent-1"))),
        ("down ctrl+s", "open".to_owned()),
        ("down ctrl+d", "stay".to_owned()),
        ("down ctrl+d enter", does("agent-1", Deed::Stop)),
        ("down ctrl+d escape", "stay".to_owned()),
        ("down ctrl+r", does("agent-1", Deed::Restart)),
        ("down ctrl+p", does("agent-1", Deed::Pause)),
        // one that is held, and one that is gone
        ("down down ctrl+p", does("agent-1.1", Deed::Resume)),
        ("down down down ctrl+d enter", format!("open{}", read("agent-2"))),
        ("escape", "close".to_owned()),
        ("reader enter", format!("open{}", read("agent-1"))),
    ] {
        assert_eq!(told(&World::default().press(&mut selector(), pressed)), expected, "{pressed}");
    }
}

#[test]
fn a_message_is_written_and_sent_to_a_sibling_or_to_the_agent_in_front() {
    let world = World::default();
    let [front, reads] = [0, 1].map(|at| family().remove(at).status);
    let mut line = SteerLine::new(&reads);
    assert_eq!(told(&world.press(&mut line, "enter")), "stay", "nothing is written");
    let sent = told(&world.press(&mut line, "be space quick enter"));
    assert_eq!(sent, told(&Outcome::Close(act(&reads.id, Deed::Steer("be quick".into())))));
    assert_eq!(told(&world.press(&mut SteerLine::new(&reads), "x escape")), "close");
    let sent = told(&world.press(&mut SteerLine::new(&front), "go enter"));
    assert!(sent.contains("Prompt") && sent.contains("Steer"), "{sent}");
}

#[test]
fn what_was_refused_is_said_and_the_list_is_looked_at_again() {
    let mut world = World::default();
    let mut selector = selector();
    let refused = WorkDone::Agents(AgentsDone::Did(Err("agent-1 is gone".into())));
    assert_eq!(told(&selector.on_worked(&refused, &world.context())), told(&Outcome::Stay(list())));
    assert!(world.draw(&selector, 60, 14).contains("agent-1 is gone"));
    assert_eq!(told(&selector.on_change(&world.context())), "stay");
    world.now = AGAIN_MS;
    assert_eq!(told(&selector.on_change(&world.context())), told(&Outcome::Stay(list())));
}

#[test]
fn fc_064_the_tree_of_agents_is_drawn_without_what_a_terminal_obeys() {
    let world = World::default();
    let mut selector = selector();
    world.press(&mut selector, "down");
    insta::assert_snapshot!("list", [40, 80, 200].map(|width| world.draw(&selector, width, 12)).join("\n"));
    world.press(&mut selector, "ctrl+d");
    insta::assert_snapshot!("stop", world.draw(&selector, 80, 12));
}

#[test]
fn the_conversation_of_an_agent_is_read_and_scrolled() {
    let mut world = World::default();
    let (mut reader, _) = AgentReader::new(family().remove(1), &settings(), 0);
    assert!(world.draw(&reader, 60, 10).contains("Reading …"));
    let long: Vec<String> = (1..=30).map(|number| format!("- item {number}")).collect();
    let tree = view(&[user("u1", "", "look around"), answer("a1", "u1", &long.join("\n"))]);
    let id = SiblingId::parse("agent-1").unwrap();
    reader.on_worked(&WorkDone::Agents(AgentsDone::Read(id.clone(), Ok(tree))), &world.context());
    assert!(world.draw(&reader, 60, 12).contains("item 30"));
    for (pressed, seen, unseen) in
        [("up", "item 29", "item 30"), ("home", "look around", "item 30"), ("end", "item 30", "look")]
    {
        world.press(&mut reader, pressed);
        let picture = world.draw(&reader, 60, 12);
        assert!(picture.contains(seen) && !picture.contains(unseen), "{pressed}\n{picture}");
    }
    let gone = WorkDone::Agents(AgentsDone::Read(id, Err("its session was in memory, and is gone".into())));
    reader.on_worked(&gone, &world.context());
    assert!(world.draw(&reader, 70, 12).contains("It cannot be read: its session was in memory, and is gone"));
    world.now = AGAIN_MS;
    assert_ne!(told(&reader.on_change(&world.context())), "stay");
    assert_eq!(told(&world.press(&mut reader, "ctrl+s")), "open");
    assert_eq!(told(&world.press(&mut reader, "escape")), "close");
}

#[test]
fn a_call_without_a_result_runs_for_as_long_as_its_agent_works() {
    let world = World::default();
    let call = json!({"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "make"}});
    let message = json!({"role": "assistant", "content": [call], "stopReason": "toolUse", "timestamp": 1});
    let tree = view(&[user("u1", "", "build it"), line("message", "a1", "u1", json!({"message": message}))]);
    let ended = |status: SiblingStatus| SiblingStatus { state: SiblingState::Idle, ..status };
    let (mut reader, _) = AgentReader::new(family().remove(1), &settings(), 0);
    let id = SiblingId::parse("agent-1").unwrap();
    reader.on_worked(&WorkDone::Agents(AgentsDone::Read(id, Ok(tree))), &world.context());
    let lost = "There is no result";
    assert!(!world.draw(&reader, 60, 12).contains(lost));
    let agents = family().into_iter().map(|info| AgentInfo { status: ended(info.status), ..info });
    reader.on_worked(&listed(agents.collect()), &world.context());
    assert!(world.draw(&reader, 60, 12).contains(lost));
}
