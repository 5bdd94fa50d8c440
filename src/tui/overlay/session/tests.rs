use std::path::PathBuf;

use super::{work::SaidIn, *};
use crate::{
    protocol::Command,
    store::{sessions::SessionInfo, testing},
    tui::{
        effect::Purpose,
        overlay::testing::{World, told},
    },
};

const HOUR: Millis = 3_600_000;

fn session(path: &str, name: Option<&str>, first: &str, parent: Option<&str>) -> SessionInfo {
    SessionInfo {
        path: path.into(),
        cwd: "/srv/shop".into(),
        name: name.map(str::to_owned),
        first_message: first.to_owned(),
        parent_session: parent.map(str::to_owned),
        message_count: 4,
        modified: HOUR,
        ..SessionInfo::default()
    }
}

fn page(number: u64, more: bool) -> WorkDone {
    let mut lost = session("/s/lost", None, "cherry", None);
    lost.cwd = "/gone".into();
    let sessions = vec![
        session("/s/apple", None, "first topic apple", None),
        session("/s/banana", Some("Blue Whale"), "second topic banana", None),
        session("/s/fork", None, "taken from the second", Some("/s/banana")),
        lost,
    ];
    let (gone, problems) = (vec!["/gone".to_owned()], Vec::new());
    WorkDone::Sessions(SessionsDone::Page { number, sessions, gone, more, now: 4 * HOUR, problems })
}

fn world() -> World {
    let mut world = World::default();
    world.facts.session_file = Some("/s/fork".to_owned());
    world
}

fn selector() -> SessionSelector {
    let (mut selector, _) = SessionSelector::new();
    selector.on_worked(&page(1, false), &world().context());
    selector
}

fn outcome(pressed: &str) -> String {
    told(&world().press(&mut selector(), pressed))
}

fn work(work: SessionsWork) -> String {
    told(&Outcome::Stay(vec![Effect::Work(Work::Sessions(work))]))
}

#[test]
fn keys_choose_rename_and_delete() {
    let open = |path: &str| told(&opens(path.as_ref()));
    let name = |name: &str| SessionsWork::Rename { path: "/s/banana".into(), name: name.into() };
    let own = Command::SetSessionName("x".into());
    for (pressed, expected) in [
        ("enter", open("/s/apple")),
        ("down enter", open("/s/banana")),
        ("down down enter", "close".into()),
        ("b a n enter", open("/s/banana")),
        ("W h a l e enter", open("/s/banana")),
        ("r e : ^ s e c enter", open("/s/banana")),
        ("z z z enter", "stay".into()),
        ("escape", "close".into()),
        ("up enter", "stay".into()),
        ("up enter enter", work(SessionsWork::Copy("/s/lost".into()))),
        ("up enter escape escape", "close".into()),
        ("ctrl+d", "stay".into()),
        ("ctrl+d enter", work(SessionsWork::Delete("/s/apple".into()))),
        ("ctrl+d y", work(SessionsWork::Delete("/s/apple".into()))),
        ("ctrl+d n escape", "close".into()),
        ("down down ctrl+d enter", "close".into()),
        ("ctrl+backspace y", work(SessionsWork::Delete("/s/apple".into()))),
        ("down ctrl+r ! enter", work(name("Blue Whale!"))),
        ("down ctrl+r ctrl+u enter", work(name(""))),
        ("down down ctrl+r x enter", told(&Outcome::Stay(vec![Effect::Send(own, Purpose::Plain)]))),
        ("ctrl+n enter", open("/s/banana")),
        ("ctrl+s down down enter", "close".into()),
    ] {
        assert_eq!(outcome(pressed), expected, "{pressed}");
    }
}

#[test]
fn the_list_of_another_scope_takes_the_place_of_the_first() {
    let world = world();
    let mut selector = selector();
    let before = selector.stop.clone();
    let outcome = world.press(&mut selector, "tab");
    let list = SessionsWork::List { number: 2, scope: Scope::All, stop: selector.stop.clone() };
    assert_eq!(told(&outcome), work(list));
    assert!(before != selector.stop);
    selector.on_worked(&page(1, false), &world.context());
    assert!(selector.rows.is_empty(), "an old page comes too late");
    selector.on_worked(&page(2, true), &world.context());
    assert_eq!(selector.rows.len(), 4);
}

#[test]
fn what_was_said_is_searched_when_the_user_pauses() {
    let mut world = world();
    let mut selector = selector();
    world.press(&mut selector, "q u");
    assert!(selector.is_moving() && selector.rows.is_empty());
    world.now = PAUSE_MS - 1;
    assert_eq!(told(&selector.on_change(&world.context())), "stay");
    world.now = PAUSE_MS;
    let (stop, query) = (selector.stop.clone(), "qu".to_owned());
    let search = SessionsWork::Search { number: 1, scope: Scope::Project, query, stop };
    assert_eq!(told(&selector.on_change(&world.context())), work(search));
    assert!(!selector.is_moving());
    let said = |path: &str| SaidIn { path: path.into(), cwd: String::new(), gone: false, snippet: "a quince".into() };
    let hits = SessionsDone::Hits { number: 1, hits: vec![said("/s/apple"), said("/s/else")], more: false };
    selector.on_worked(&WorkDone::Sessions(hits), &world.context());
    assert_eq!(selector.rows, [Row::Heading, Row::Said(0), Row::Said(1)]);
    assert_eq!(told(&world.press(&mut selector, "enter")), told(&opens("/s/apple".as_ref())));
}

#[test]
fn what_was_done_shows_and_what_failed_is_said() {
    let world = world();
    let mut selector = selector();
    world.press(&mut selector, "up");
    let mut hear = |done| drop(selector.on_worked(&WorkDone::Sessions(done), &world.context()));
    hear(SessionsDone::Renamed("/s/apple".into(), Ok("Red".into())));
    hear(SessionsDone::Deleted("/s/banana".into(), Ok(())));
    hear(SessionsDone::Deleted("/s/lost".into(), Ok(())));
    hear(SessionsDone::Deleted("/s/fork".into(), Err("somebody has it open".into())));
    let picture = world.draw(&selector, 80, 24);
    assert!(picture.contains("Red — first") && !picture.contains("Whale") && picture.contains("somebody"), "{picture}");
    let copied = SessionsDone::Copied(Ok(PathBuf::from("/s/copy")));
    let outcome = selector.on_worked(&WorkDone::Sessions(copied), &world.context());
    assert_eq!(told(&outcome), told(&opens("/s/copy".as_ref())));
}

#[test]
fn a_bad_search_is_told() {
    let mut selector = selector();
    let world = world();
    world.press(&mut selector, "r e : (");
    assert!(world.draw(&selector, 80, 24).contains("unclosed group"));
}

#[test]
fn the_list_is_drawn_at_every_size() {
    let world = world();
    let mut selector = selector();
    insta::assert_snapshot!(world.draw(&selector, 40, 12), @r#"
    ────────────────────────────────────────
    Sessions  this folder · threaded  (1/4)
    > search, "a phrase", re:pattern
    → first topic apple          4 msgs   3h
      Blue Whale — second topic… 4 msgs   3h
      └ taken from the se… open  4 msgs   3h
      cherry



    enter open · tab folders · escape leave
    ────────────────────────────────────────
    "#);
    insta::assert_snapshot!(world.draw(&selector, 80, 24), @r#"
    ────────────────────────────────────────────────────────────────────────────────
    Sessions  this folder · threaded  (1/4)
    > search, "a phrase", re:pattern
    → first topic apple                                                  4 msgs   3h
      Blue Whale — second topic banana                                   4 msgs   3h
      └ taken from the second                                      open  4 msgs   3h
      cherry                                             folder is gone  4 msgs   3h




    enter open · tab folders · escape leave · ctrl+s sort · ctrl+r rename
    ────────────────────────────────────────────────────────────────────────────────
    "#);
    world.press(&mut selector, "ctrl+p down ctrl+d");
    insta::assert_snapshot!(world.draw(&selector, 80, 24), @r#"
    ────────────────────────────────────────────────────────────────────────────────
    Sessions  this folder · threaded  (2/4)
    > search, "a phrase", re:pattern
      first topic apple                                                        apple
    → Blue Whale — second topic banana                                        banana
      └ taken from the second                                             open  fork
      cherry                                                                    lost




    Put "Blue Whale" into the trash?
    enter delete · escape back
    ────────────────────────────────────────────────────────────────────────────────
    "#);
    let (empty, _) = SessionSelector::new();
    assert!(world.draw(&empty, 200, 60).contains("Looking for sessions"));
}

#[test]
fn the_open_session_shows_the_name_that_the_agent_gave_it() {
    let mut world = world();
    let mut selector = selector();
    let mut named = |name: &str| {
        let line = testing::line("session_info", "n1", "", serde_json::json!({ "name": name }));
        world.facts.tree = Some(testing::view(&[line]));
        assert_eq!(told(&selector.on_change(&world.context())), "stay");
        world.draw(&selector, 80, 24)
    };
    assert!(named("Green").contains("└ Green — taken from the second"));
    let picture = named("");
    assert!(picture.contains("└ taken from the second"), "{picture}");
}
