//! Tests of the fleet: agents that come, fail and go.
//!
//! `family`, `siblings`, `limits`, `stops`, `hung` and `restarts` are about families.

mod family;
#[cfg(target_os = "linux")]
mod hung;
mod limits;
mod restarts;
mod siblings;
mod stops;

use serde_json::json;

use super::*;
use crate::{
    actors::testing::{Bench, FnTool, Parts, find, moment, within},
    protocol::ToolOutput,
};

/// An agent whose model calls a tool that never ends.
async fn hanging() -> Bench {
    let hangs = FnTool::new("hangs", |_| std::future::pending::<ToolOutput>());
    let turns = json!([{"calls": [{"name": "hangs"}, {"name": "hangs"}]}, "done"]);
    Parts { turns, tools: vec![Arc::new(hangs)], ..Parts::default() }.start().await
}

async fn hung(bench: &mut Bench) {
    bench.prompt("go").await.unwrap();
    let second = |event: &Event| matches!(event, Event::ToolExecutionStart { call } if call.place == 1);
    bench.until("start of the second call", second).await;
}

/// Kills the loop whenever it lives, until the agent is parked. The number of deaths.
async fn kill_until_parked(bench: &mut Bench) -> usize {
    let fleet = bench.fleet.actor().get_cell();
    let parked = async {
        bench.until("parking", |event| matches!(event, Event::Parked { .. })).await;
    };
    let mut deaths = 0;
    let kill = async {
        loop {
            if let Some(cell) = find(&fleet, "TurnLoop") {
                deaths += 1;
                cell.kill();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        () = parked => {}
        () = kill => {}
    }
    deaths
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_dies_too_often_is_parked_and_says_so_to_everybody() {
    let mut bench = hanging().await;
    hung(&mut bench).await;
    let waiting = tokio::spawn({
        let client = bench.client.clone();
        async move { client.command(Command::WaitIdle).await }
    });
    moment().await;
    let deaths = kill_until_parked(&mut bench).await;
    // Three restarts of the loop, then one of the agent with three of its own, and so on.
    assert!((4..=16).contains(&deaths), "{deaths}");
    assert_eq!(within("answer", waiting).await.unwrap(), Err(CommandError::Lost), "nobody waits for ever");
    assert!(bench.find("Agent").is_none());
    let refused = bench.prompt("more").await.unwrap_err();
    assert!(matches!(refused, CommandError::Parked(_)), "{refused:?}");
    assert!(refused.to_string().contains("TurnLoop"), "the cause is named: {refused}");

    // Whoever opens it again gets another try.
    let (reply, opened) = ReplyTo::channel();
    bench.fleet.tell(FleetMsg::Open(Box::new(OpenAgent { shared: bench.shared.clone(), start: None, reply })));
    opened.await.unwrap().unwrap();
    bench.run("more").await;
    assert_eq!(bench.results().len(), 2, "through all of this, each call got one result");
}

#[tokio::test]
async fn a_command_for_an_agent_that_is_not_there_is_refused_by_name() {
    let bench = Parts::default().start().await;
    let (reply, answer) = ReplyTo::channel();
    bench.fleet.tell(FleetMsg::Command { agent: "nobody".into(), command: Command::Abort, reply });
    let refused = answer.await.unwrap().unwrap_err();
    assert!(refused.to_string().contains("nobody"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_the_trace_first_then_the_agent_and_then_answers() {
    let mut bench = hanging().await;
    hung(&mut bench).await;
    let (reply, down) = ReplyTo::channel();
    let begun = tokio::time::Instant::now();
    bench.fleet.tell(FleetMsg::ShutDown(reply));
    assert_eq!(within("answer", down).await.unwrap(), Ok(Reply::Done));
    assert!(begun.elapsed() < SETTLE, "the deadline is for what hangs");
    let events = bench.settled().await;
    assert!(matches!(events.last(), Some(Event::AgentSettled { aborted: true })));
    assert_eq!(bench.results().len(), 2);
    assert!(bench.find("Agent").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_does_not_wait_for_an_agent_that_is_down_nor_start_it_again() {
    let bench = Parts::default().start().await;
    // The first restart comes at once, the second after a wait.
    for _ in 0..2 {
        within("agent", async {
            while bench.find("TurnLoop").is_none() {
                moment().await;
            }
        })
        .await;
        let cell = bench.find("Agent").unwrap();
        cell.kill();
        within("end", async {
            while bench.find("Agent").is_some_and(|now| now.get_id() == cell.get_id()) {
                moment().await;
            }
        })
        .await;
    }
    let (reply, down) = ReplyTo::channel();
    bench.fleet.tell(FleetMsg::ShutDown(reply));
    assert_eq!(within("answer", down).await.unwrap(), Ok(Reply::Done));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(bench.find("Agent").is_none());
}
