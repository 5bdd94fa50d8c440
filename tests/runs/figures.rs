//! The figures of the supervisor: how soon another worker asks the model, and what the supervisor weighs. Run with
//! `cargo test --release --test runs -- --ignored --nocapture figures`.

use std::{fs, time::Instant};

use crate::{stage::*, support::*};

#[tokio::test]
#[ignore = "prints figures of this machine"]
async fn figures_of_a_restart_and_of_the_supervisor() {
    let mut times = Vec::new();
    for _ in 0..10 {
        let sandbox = Sandbox::new(replies([hang("a"), text("done")])).await;
        let child = start(&sandbox, &["go"]);
        sandbox.server.request(0).await;
        let first = worker(&sandbox, None).await;
        let begun = Instant::now();
        kill(first);
        sandbox.server.request(1).await;
        times.push(begun.elapsed());
        let status = fs::read_to_string(format!("/proc/{}/status", pid_of(&child).as_raw_nonzero())).unwrap();
        let weight: Vec<_> =
            status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("RssAnon")).collect();
        eprintln!("{:?} {weight:?}", times.last().unwrap());
        assert_eq!(end(child).await.code, Some(0));
    }
    times.sort();
    eprintln!("kill -9 to the next request: median {:?}, worst {:?}", times[5], times[9]);
}
