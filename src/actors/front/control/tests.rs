use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};

use super::*;
use crate::actors::{
    address::Gauge,
    spawn::spawn,
    testing::{Bench, Parts, inbox, moment, within},
};

/// A client of the control socket of an agent.
struct Client {
    lines: Lines<BufReader<OwnedReadHalf>>,
    out: OwnedWriteHalf,
}

impl Client {
    async fn say(&mut self, request: Value) {
        self.out.write_all(format!("{request}\n").as_bytes()).await.unwrap();
    }

    /// The next record; none at the end.
    async fn record(&mut self) -> Option<Value> {
        let line = within("record", self.lines.next_line()).await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// The next record of this type.
    async fn record_of(&mut self, kind: &str) -> Value {
        loop {
            let record = self.record().await.unwrap_or_else(|| panic!("the connection ended before {kind}"));
            if record["type"] == kind {
                return record;
            }
        }
    }

    /// The response to a request.
    async fn ask(&mut self, request: Value) -> Value {
        self.say(request).await;
        self.record_of("response").await
    }
}

/// An agent with a control socket.
struct Offering {
    bench: Bench,
    control: crate::actors::address::Addr<ControlMsg>,
    agents: watch::Sender<Arc<AgentShared>>,
    file: socket::SocketFile,
    _dir: tempfile::TempDir,
}

async fn offering(parts: Parts) -> Offering {
    offering_with(parts, None).await
}

async fn offering_with(parts: Parts, end: Option<Recipient<()>>) -> Offering {
    let bench = parts.start().await;
    let dir = tempfile::tempdir().unwrap();
    let (file, listener) = socket::listen(dir.path()).unwrap();
    let (agents, agent) = watch::channel(bench.shared.clone());
    let offered = Offered { front: "test", run: Some("nightly".into()), agent, end };
    let (root, _told) = inbox::<()>().await;
    let control = spawn("Control", "", Control, (listener, offered), root.actor().get_cell()).await.unwrap();
    Offering { bench, control, agents, file, _dir: dir }
}

impl Offering {
    async fn connect(&self) -> Client {
        let (input, out) = UnixStream::connect(self.file.path()).await.unwrap().into_split();
        Client { lines: BufReader::new(input).lines(), out }
    }
}

fn answering() -> Parts {
    Parts { turns: json!("the answer"), ..Parts::default() }
}

#[tokio::test]
async fn a_client_prompts_and_is_told_of_events_before_the_answer_that_follows_them() {
    let offering = offering(answering()).await;
    let mut client = offering.connect().await;
    assert_eq!(client.ask(json!({"id": 1, "type": "subscribe"})).await["success"], true);
    client.say(json!({"id": 2, "type": "prompt", "message": "hello"})).await;
    let mut kinds = Vec::new();
    loop {
        let record = client.record().await.unwrap();
        let kind = record["type"].as_str().unwrap().to_owned();
        kinds.push(kind.clone());
        if kind == "agent_settled" {
            break;
        }
    }
    for kind in ["agent_start", "response", "message_end", "agent_end"] {
        assert!(kinds.iter().any(|known| known == kind), "{kind} in {kinds:?}");
    }
    let text = client.ask(json!({"type": "get_last_assistant_text"})).await;
    assert_eq!(text["data"]["text"], "the answer");
    let messages = client.ask(json!({"type": "get_messages"})).await;
    assert_eq!(messages["data"]["messages"].as_array().unwrap().len(), 2, "{messages}");
    // No events any more, but answers.
    client.ask(json!({"type": "subscribe", "events": false})).await;
    client.say(json!({"id": 3, "type": "prompt", "message": "again"})).await;
    assert_eq!(client.record().await.unwrap()["id"], 3);
}

#[tokio::test]
async fn where_nobody_works_with_the_agent_in_front_it_takes_no_messages_and_a_stop_ends_all() {
    let (ends, mut ended) = tokio::sync::mpsc::unbounded_channel();
    let offering = offering_with(answering(), Some(Recipient::from_fn(move |()| ends.send(()).is_ok()))).await;
    let mut client = offering.connect().await;
    for kind in ["prompt", "steer", "follow_up"] {
        let refused = client.ask(json!({"type": kind, "message": "hello"})).await;
        assert!(refused["error"].as_str().unwrap().contains("write to one below it"), "{refused}");
    }
    assert_eq!(client.ask(json!({"type": "get_state"})).await["success"], true);
    assert_eq!(client.ask(json!({"type": "abort"})).await["success"], true);
    within("end", ended.recv()).await.unwrap();
}

#[tokio::test]
async fn the_tree_names_process_agents_and_actors() {
    let offering = offering(answering()).await;
    let tree = offering.connect().await.ask(json!({"type": "get_supervision_tree"})).await["data"].take();
    let read: Supervision = serde_json::from_value(tree.clone()).unwrap();
    assert_eq!((read.pid, read.front.as_str(), read.run.as_deref()), (std::process::id(), "test", Some("nightly")));
    assert_eq!(read.agents[0].status.id.to_string(), "main");
    assert!(tree["actors"].to_string().contains("TurnLoop"), "{tree}");
}

#[tokio::test]
async fn what_would_widen_an_agents_reach_is_refused_and_so_is_nonsense() {
    let offering = offering(answering()).await;
    let mut client = offering.connect().await;
    for request in [
        json!({"type": "bash", "command": "touch x"}),
        json!({"type": "set_permission_mode", "mode": "off"}),
        json!({"type": "set_plan_mode", "enabled": false}),
        json!({"type": "new_session"}),
        json!({"type": "switch_session", "sessionPath": "/x"}),
        json!({"type": "export_html"}),
        json!({"type": "no_such_command"}),
    ] {
        let response = client.ask(request.clone()).await;
        assert_eq!(response["success"], false, "{request}");
    }
    // An answer to a question counts for nothing, and is not answered either.
    client.say(json!({"type": "extension_ui_response", "id": "x", "confirmed": true})).await;
    client.out.write_all(b"no json\n").await.unwrap();
    assert_eq!(client.record().await.unwrap()["command"], "parse");
}

#[tokio::test]
async fn a_client_that_hangs_up_or_breaks_off_leaves_the_agent_alone() {
    let mut offering = offering(answering()).await;
    let mut client = offering.connect().await;
    client.ask(json!({"type": "subscribe"})).await;
    drop(client);
    let mut client = offering.connect().await;
    client.say(json!({"id": 1, "type": "get_state"})).await;
    client.out.write_all(br#"{"id": 2, "type": "get_state"}"#).await.unwrap();
    client.out.shutdown().await.unwrap();
    // What was asked for is answered, also a last line without an end; then the connection ends.
    assert_eq!([client.record().await.unwrap()["id"].take(), client.record().await.unwrap()["id"].take()], [1, 2]);
    assert_eq!(client.record().await, None);
    offering.bench.run("hello").await;
}

#[tokio::test]
async fn the_death_of_the_socket_s_actor_harms_nothing() {
    let mut offering = offering(answering()).await;
    let mut client = offering.connect().await;
    client.ask(json!({"type": "subscribe"})).await;
    offering.control.kill();
    while client.record().await.is_some() {}
    within("no actor", async {
        while Gauge::of(offering.control.id()).is_some() {
            moment().await;
        }
    })
    .await;
    offering.bench.run("hello").await;
}

#[tokio::test]
async fn a_client_goes_on_with_the_agent_that_takes_the_place_of_another() {
    let offering = offering(answering()).await;
    let mut client = offering.connect().await;
    client.ask(json!({"type": "subscribe"})).await;
    let mut other = Parts { turns: json!("the other"), ..Parts::default() }.start().await;
    offering.agents.send_replace(other.shared.clone());
    let id = other.shared.place.store.view().header().id.clone();
    // Both ways are seen: commands go to the other one, and its events come.
    within("other agent", async {
        while client.ask(json!({"type": "get_state"})).await["data"]["sessionId"] != id.as_str() {}
    })
    .await;
    other.run("hello").await;
    assert_eq!(client.record_of("agent_settled").await["aborted"], false);
}
