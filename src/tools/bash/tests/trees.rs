//! Whatever a command's processes do to get away, they end with it. Only Linux shows enough of them.

use std::{future::Future, time::Duration};

use serde_json::json;

use super::{is_running, processes, unique};
use crate::tools::testing::{Bench, eventually, text};

/// Commands whose processes get away, with `MARK` for what to sleep, and how many processes that are.
const ESCAPES: [(&str, usize); 8] = [
    ("sleep MARK & sleep MARK", 2),
    ("setsid sleep MARK & wait", 1),
    ("(setsid sleep MARK &); sleep MARK", 2),
    ("(env -i setsid sleep MARK > /dev/null 2>&1 &); sleep MARK", 2),
    ("(env -i setsid sh -c '(env -i setsid sleep MARK &) ; exec sleep MARK' &); sleep MARK", 3),
    ("(trap '' TERM HUP INT; nohup setsid sleep MARK > /dev/null 2>&1 &); exec sleep MARK", 2),
    ("bash -c 'ulimit -S -x 7; env -i setsid sleep MARK & wait'", 1),
    ("(env -i setsid sh -c 'while :; do sleep MARK & sleep 0.01; done' &); sleep MARK", 5),
];

/// Runs `command` until `count` processes of it run; then `end` is awaited beside it.
async fn with_running<T>(bench: &Bench, command: &str, count: usize, end: impl Future<Output = T>) -> String {
    let mark = unique();
    let call = bench.call("bash", json!({"command": command.replace("MARK", &mark)}));
    let end = async {
        eventually("the processes run", || processes(&mark).len() >= count).await;
        end.await
    };
    let (output, _) = tokio::join!(call, end);
    eventually("all processes end", || !is_running(&mark)).await;
    text(&output)
}

#[tokio::test]
async fn an_abort_ends_what_left_group_session_parent_and_environment_fc_042() {
    for (command, count) in ESCAPES {
        let bench = Bench::new();
        let ended = with_running(&bench, command, count, async { bench.cancel.cancel() }).await;
        assert_eq!(ended, "Command aborted", "{command}");
    }
}

#[tokio::test]
async fn a_timeout_and_the_death_of_the_worker_end_it_too_fc_042() {
    for (command, count) in [ESCAPES[3], ESCAPES[4]] {
        let (bench, mark) = (Bench::new(), unique());
        let command = command.replace("MARK", &mark);
        let output = bench.call("bash", json!({"command": command, "timeout": 0.3})).await;
        assert_eq!(text(&output), "Command timed out after 0.3 seconds");
        eventually("all processes end", || !is_running(&mark)).await;
        {
            let mut call = std::pin::pin!(bench.call("bash", json!({"command": command})));
            tokio::select! {
                _ = &mut call => panic!("the command does not end"),
                () = eventually("the command runs", || processes(&mark).len() >= count) => {}
            }
        }
        eventually("all processes end", || !is_running(&mark)).await;
    }
}

#[tokio::test]
async fn processes_of_another_command_live_on() {
    let (first, second, mark) = (Bench::new(), Bench::new(), unique());
    let other = format!("(env -i setsid sleep {mark} &); sleep {mark}");
    let other = second.call("bash", json!({"command": other}));
    let kill_first = async {
        eventually("the other command runs", || processes(&mark).len() == 2).await;
        with_running(&first, ESCAPES[3].0, 2, async { first.cancel.cancel() }).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(processes(&mark).len(), 2);
        second.cancel.cancel();
    };
    tokio::join!(other, kill_first);
    eventually("all processes end", || !is_running(&mark)).await;
}
