//! Lines in order, each once, whatever happens on the way.

use super::super::{
    Events, Limits,
    testing::{Proxy, Server},
};
use crate::actors::testing::within;

async fn read(events: &mut Events, count: usize) -> Vec<String> {
    let mut lines = Vec::new();
    while lines.len() < count {
        lines.push(within("line", events.next()).await.unwrap());
    }
    lines
}

async fn stored(events: &mut Events) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(line) = within("line", events.next_stored()).await.unwrap() {
        lines.push(line);
    }
    lines
}

fn lines(from: usize, to: usize) -> Vec<String> {
    (from..to).map(|at| format!("{{\"line\":{at},\"text\":\"äöü\"}}")).collect()
}

#[tokio::test]
async fn lines_come_in_order_to_who_was_there_and_to_who_comes_later() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    let mut none = hub.events("run", true).await.unwrap();
    assert!(stored(&mut none).await.is_empty());
    let mut live = hub.events("run", false).await.unwrap();
    let sink = hub.publish_events("run", 1).unwrap();
    let all = lines(0, 5000);
    for line in &all {
        sink.line(line).await;
    }
    within("flush", sink.flush()).await;
    assert_eq!(read(&mut live, 5000).await, all);
    assert_eq!(read(&mut none, 5000).await, all);
    let mut late = hub.events("run", true).await.unwrap();
    assert_eq!(stored(&mut late).await, all);
    let messages = server.messages(&hub, "troupe_events").await;
    assert!(messages < 2500, "{messages} messages for 5000 lines");
    let mut tail = hub.events("run", false).await.unwrap();
    sink.line("more").await;
    assert_eq!(read(&mut tail, 1).await, ["more"]);
    assert_eq!(read(&mut late, 1).await, ["more"]);
}

#[tokio::test]
async fn a_line_that_is_larger_than_a_message_arrives_whole() {
    let Some(server) = Server::with("max_payload: 65536").await else { return };
    let hub = server.hub().await;
    let sink = hub.publish_events("run", 1).unwrap();
    let all: Vec<String> = [0, 1, 65_000, 65_536, 300_000, 2].iter().map(|size| "x".repeat(*size)).collect();
    for line in &all {
        sink.line(line).await;
    }
    within("flush", sink.flush()).await;
    let mut events = hub.events("run", true).await.unwrap();
    assert_eq!(stored(&mut events).await, all);
}

#[tokio::test]
async fn nothing_is_lost_or_doubled_while_answers_are_lost_and_servers_die() {
    let Some(mut server) = Server::start().await else { return };
    let proxy = Proxy::to(&server).await;
    let hub = proxy.hub_with(Limits::default()).await;
    let mut live = hub.events("run", true).await.unwrap();
    let sink = hub.publish_events("run", 1).unwrap();
    let all = lines(0, 3000);
    for (at, line) in all.iter().enumerate() {
        if at % 500 == 100 {
            proxy.lose_next_answer();
        }
        if at % 1000 == 300 {
            server.kill();
            server.start_again().await;
        }
        sink.line(line).await;
    }
    within("flush", sink.flush()).await;
    assert_eq!(read(&mut live, 3000).await, all);
    let direct = server.hub().await;
    assert_eq!(stored(&mut direct.events("run", true).await.unwrap()).await, all);
}

#[tokio::test]
async fn lines_of_an_owner_that_was_overtaken_are_not_shown() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    let (old, new) = (hub.publish_events("run", 1).unwrap(), hub.publish_events("run", 2).unwrap());
    for (sink, line) in [(&old, "a"), (&new, "b"), (&old, "too late"), (&new, "c")] {
        sink.line(line).await;
        within("flush", sink.flush()).await;
    }
    let mut events = hub.events("run", true).await.unwrap();
    assert_eq!(stored(&mut events).await, ["a", "b", "c"]);
    // Another run has lines of its own.
    assert!(stored(&mut hub.events("another", true).await.unwrap()).await.is_empty());
}

#[tokio::test]
async fn the_last_lines_are_stored_though_nobody_waits_for_them() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    let sink = hub.publish_events("run", 1).unwrap();
    let mut events = hub.events("run", true).await.unwrap();
    let all = lines(0, 300);
    for line in &all {
        sink.line(line).await;
    }
    drop(sink);
    assert_eq!(read(&mut events, 300).await, all);
}

#[tokio::test]
async fn what_was_stored_since_the_reading_began_can_be_read_to_its_end() {
    let Some(mut server) = Server::start().await else { return };
    let hub = server.hub().await;
    let sink = hub.publish_events("run", 1).unwrap();
    let mut events = hub.events("run", true).await.unwrap();
    let mut tail = hub.events("run", false).await.unwrap();
    let all = lines(0, 3000);
    for (at, line) in all.iter().enumerate() {
        sink.line(line).await;
        if at == 1500 {
            assert_eq!(read(&mut events, 10).await, all[..10]);
        }
    }
    within("flush", sink.flush()).await;
    assert!(stored(&mut tail).await.is_empty(), "nobody asked for more");
    // Also over a connection that breaks.
    server.kill();
    server.start_again().await;
    for events in [&mut events, &mut tail] {
        within("end", events.to_end()).await.unwrap();
    }
    assert_eq!(stored(&mut events).await, all[10..]);
    assert_eq!(stored(&mut tail).await, all);
    within("end", events.to_end()).await.unwrap();
    assert!(stored(&mut events).await.is_empty());
    // The first two were the last ones when they were sent to the reader.
    for line in ["a", "b", "c"] {
        sink.line(line).await;
        within("flush", sink.flush()).await;
    }
    within("end", events.to_end()).await.unwrap();
    assert_eq!(stored(&mut events).await, ["a", "b", "c"]);
}
