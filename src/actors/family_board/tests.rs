use serde_json::json;

use super::*;
use crate::{
    actors::{family_notes::TaskNote, kin::FamilyStart},
    protocol::{
        EntryBody, EntryId, Usage,
        sibling::{Budget, Outcome, SiblingSpec, SiblingState},
    },
    store::{NewSession, SessionStore},
};

fn session() -> SessionStore {
    SessionStore::in_memory(NewSession { id: Some("root".into()), ..NewSession::default() }).unwrap()
}

fn root(limits: SiblingLimits) -> Kin {
    Kin::root(&"main".into(), FamilyStart { limits, ..FamilyStart::default() }, &session().view())
}

fn note(spec: SiblingSpec) -> SpawnNote {
    SpawnNote {
        id: SiblingId::root(),
        session: "root".into(),
        session_id: "s".into(),
        entry: EntryId::from("00000001"),
        session_file: None,
        spec,
    }
}

fn spawn(parent: &Kin, spec: SiblingSpec) -> Result<SiblingId, String> {
    match parent.board.admit(parent, note(spec), None) {
        Ok(Admission::New(id)) => Ok(id),
        Ok(Admission::Existing(receipt)) => {
            Err(format!("existing {} {:?}", receipt.id, receipt.end.map(|end| end.task)))
        }
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn sessions_of_children_are_found_where_that_of_their_parent_was_brought() {
    let check = |there: &str, expected: &str| {
        let kin = root(SiblingLimits::default());
        let spec = SiblingSpec { session_file: Some(there.into()), ..SiblingSpec::of_task("go") };
        let id = spawn(&kin, spec).unwrap();
        kin.board.beside(&kin.id, Path::new("/new/sessions/p.jsonl"));
        let found = kin.board.look(&id, |member| member.note().session_file.clone()).unwrap();
        assert_eq!(found.as_deref(), Some(expected), "{there}");
    };
    check("/old/sessions/p.agents/1_s.jsonl", "/new/sessions/p.agents/1_s.jsonl");
    check("/new/sessions/p.agents/1_s.jsonl", "/new/sessions/p.agents/1_s.jsonl");
    // Whoever spawned it chose the place.
    check("/old/elsewhere/1_s.jsonl", "/old/elsewhere/1_s.jsonl");
}

fn child_of(parent: &Kin, id: &SiblingId) -> Kin {
    let account = parent.board.look(id, |member| member.account.clone()).unwrap();
    Kin::child(parent, &"main".into(), id.clone(), account)
}

fn end(id: &SiblingId, task: u32) -> SiblingEnd {
    SiblingEnd {
        id: id.clone(),
        task,
        outcome: Outcome::Done,
        text: "ok".into(),
        truncated: false,
        usage: Usage { total_tokens: 10, ..Usage::default() },
        model: None,
        session_file: None,
        patch: None,
    }
}

fn plain() -> SiblingSpec {
    SiblingSpec::of_task("x")
}

#[test]
fn refusals_name_the_limit_and_what_to_do() {
    let root = root(SiblingLimits { running: 2, total: 3, depth: 1 });
    let first = spawn(&root, plain()).unwrap();
    let grandchild = spawn(&child_of(&root, &first), plain());
    assert_eq!(grandchild, Err("agents of generation 1 cannot spawn others: do the work yourself".into()));
    spawn(&root, plain()).unwrap();
    assert_eq!(spawn(&root, plain()), Err("2 of 2 run; wait for one of agent-1, agent-2, or stop one".into()));
    root.board.change(&first, |member| member.ended(end(&first, 1)));
    assert_eq!(spawn(&root, plain()).unwrap().to_string(), "agent-3", "one that has ended takes no place");
    for id in root.board.children(&root.id) {
        root.board.change(&id, |member| member.ended(end(&id, 1)));
    }
    assert!(spawn(&root, plain()).unwrap_err().starts_with("3 agents have been spawned"));
}

#[test]
fn a_budget_in_generations_and_spawns_holds_below_its_agent() {
    let root = root(SiblingLimits { depth: 5, ..SiblingLimits::default() });
    let no_more = Budget { depth: Some(0), ..Budget::default() };
    let one = Budget { spawns: Some(1), ..Budget::default() };
    let leaf = spawn(&root, SiblingSpec { budget: no_more, ..plain() }).unwrap();
    assert!(spawn(&child_of(&root, &leaf), plain()).unwrap_err().contains("cannot spawn others"));
    let above =
        spawn(&root, SiblingSpec { budget: Budget { depth: Some(1), ..Budget::default() }, ..plain() }).unwrap();
    let above = child_of(&root, &above);
    let below = spawn(&above, plain()).unwrap();
    assert!(spawn(&child_of(&above, &below), plain()).unwrap_err().contains("cannot spawn others"));
    let small = spawn(&root, SiblingSpec { budget: one, ..plain() }).unwrap();
    let small = child_of(&root, &small);
    spawn(&small, plain()).unwrap();
    let refused = spawn(&small, plain()).unwrap_err();
    assert_eq!(
        refused,
        "spawns: 0 spawns of agent-3 left, 1 spawns wanted. Give the agent less, or do the work yourself"
    );
}

#[test]
fn a_key_means_one_agent_and_a_name_too() {
    let root = root(SiblingLimits::default());
    let keyed =
        |task: &str| SiblingSpec { key: Some("k".into()), name: Some("n".into()), ..SiblingSpec::of_task(task) };
    let id = spawn(&root, keyed("x")).unwrap();
    assert_eq!(spawn(&root, keyed("x")), Err("existing agent-1 None".into()));
    root.board.change(&id, |member| member.ended(end(&id, 1)));
    assert_eq!(spawn(&root, keyed("x")), Err("existing agent-1 Some(1)".into()));
    assert!(spawn(&root, keyed("y")).unwrap_err().contains("belongs to agent-1, which was spawned with other words"));
    assert!(
        spawn(&root, SiblingSpec { key: None, ..keyed("x") }).unwrap_err().contains("the name n belongs to agent-1")
    );
    assert!(spawn(&root, SiblingSpec { name: Some("agent-1".into()), ..plain() }).is_err());
    assert_eq!(root.board.resolve(&root.id, "n").unwrap(), id);
    let unknown = root.board.resolve(&root.id, "m").unwrap_err().to_string();
    assert_eq!(unknown, "there is no agent m; the agents are agent-1");
}

#[test]
fn a_session_tells_again_what_the_family_is() {
    let session = session();
    let id = |n| SiblingId::root().child(n);
    let spawned =
        |n: u32, of: &str| Note::Spawn(Box::new(SpawnNote { id: id(n), session: of.into(), ..note(plain()) }));
    let task =
        |n, task| Note::Task(TaskNote { id: id(n), task, message: "more".into(), entry: EntryId::from("00000002") });
    let notes = [
        spawned(1, "root"),
        spawned(2, "root"),
        Note::End(Box::new(end(&id(1), 1))),
        Note::End(Box::new(end(&id(1), 1))),
        task(1, 2),
        spawned(3, "another session"),
        spawned(4, "root"),
        Note::End(Box::new(end(&id(4), 1))),
        spawned(5, "root"),
        Note::Gone(crate::actors::family_notes::GoneNote { id: id(5) }),
    ];
    let other = EntryBody::Custom { custom_type: "agent_spawn".into(), data: Some(json!({"id": "nonsense"})) };
    let entries = notes.iter().map(Note::entry).chain([other]).map(Into::into).collect();
    session.append(None, entries).unwrap();
    let root = Kin::root(&"main".into(), FamilyStart::default(), &session.view());
    let all: Vec<_> = root
        .board
        .below(&root.id)
        .into_iter()
        .map(|status| {
            let busy = root.board.look(&status.id, Member::is_busy).unwrap();
            (status.id.to_string(), status.state, status.task, busy, status.spent.tokens)
        })
        .collect();
    use SiblingState::{Gone, Idle, Starting};
    let wanted = [
        ("agent-1".to_owned(), Starting, 2, true, 10),
        ("agent-2".to_owned(), Starting, 1, true, 0),
        ("agent-3".to_owned(), Gone, 1, false, 0),
        ("agent-4".to_owned(), Idle, 1, false, 10),
        ("agent-5".to_owned(), Gone, 1, false, 0),
    ];
    assert_eq!(all, wanted);
    assert_eq!(root.account.spent().tokens, 0, "the root's own session counts what its children cost");
    assert_eq!(root.board.look(&id(1), |member| member.pending().map(|note| note.task)).flatten(), Some(2));
    assert_eq!(spawn(&root, plain()).unwrap().to_string(), "agent-6", "no id is given twice");
}
