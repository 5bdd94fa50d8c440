use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    actors::testing::{Bench, Parts, within},
    protocol::{
        AgentMessage, Command, CommandError, Event, Reply,
        jobs::{JobList, JobOutput, JobsCommand},
    },
    tools::{bash::BashTool, jobs::JobsTool},
};

/// An agent whose model calls `jobs` with these arguments, one call a turn, and says "done" after each.
async fn agent(calls: &[Value]) -> Bench {
    let mut turns: Vec<Value> = Vec::new();
    for arguments in calls {
        turns.push(json!({"calls": [{"name": "jobs", "arguments": arguments}]}));
        turns.push("done".into());
    }
    turns.push("{{lastUser}}".into());
    let turns = json!({"turns": turns, "end": "repeat"});
    Parts { turns, tools: vec![Arc::new(JobsTool::new())], cwd: std::env::temp_dir(), ..Parts::default() }.start().await
}

async fn jobs(bench: &Bench) -> JobList {
    match bench.command(Command::Jobs(JobsCommand::List)).await {
        Ok(Reply::Jobs(list)) => list,
        other => panic!("{other:?}"),
    }
}

async fn until_none_runs(bench: &Bench) {
    within("end of the jobs", async {
        while jobs(bench).await.jobs.iter().any(|job| job.running) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// Notices to the model in the session.
fn notices(bench: &Bench) -> Vec<String> {
    let messages = bench.shared.tree().unwrap().context().messages;
    let custom = messages.iter().filter_map(|message| match message {
        AgentMessage::Custom(custom) => Some(custom.content.text("\n")),
        _ => None,
    });
    custom.collect()
}

#[tokio::test]
async fn a_job_outlives_its_turn_and_its_end_is_told_before_the_next_request() {
    let mut bench = agent(&[json!({"action": "start", "command": "read line; echo got $line; exit 4"})]).await;
    bench.run("start it").await;
    let list = jobs(&bench).await;
    assert_eq!((list.jobs.len(), list.jobs[0].id.as_str(), list.jobs[0].running), (1, "job-1", true));
    bench.run("nothing new").await;
    assert_eq!(notices(&bench), [""; 0]);
    // The input ends with a line of ours, as if the model had written it.
    bench.shared.job_board.find("job-1").unwrap().write("x\n".into(), true).await.unwrap();
    until_none_runs(&bench).await;
    let events = bench.run("and now?").await;
    let told = notices(&bench);
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("\njob-1 exited with code 4 after ") && told[0].contains(": read line; echo"), "{told:?}");
    let is_custom = |event: &&Event| matches!(event, Event::MessageEnd { message: AgentMessage::Custom(_), .. });
    assert_eq!(events.iter().filter(is_custom).count(), 1, "whoever watches is told too");
    bench.run("again").await;
    assert_eq!(notices(&bench).len(), 1, "once");
    let read = bench.command(Command::Jobs(JobsCommand::Read { id: "job-1".into(), from: 0 })).await;
    let Ok(Reply::JobOutput(JobOutput { output, next, job, .. })) = read else { panic!("{read:?}") };
    assert_eq!((output.as_str(), next, job.exit_code), ("got x\n", 6, Some(4)));
}

#[tokio::test]
async fn a_job_that_the_user_ends_is_told_to_the_model() {
    let mut bench = agent(&[json!({"action": "start", "command": "cat"})]).await;
    bench.run("start it").await;
    let unknown = bench.command(Command::Jobs(JobsCommand::Kill { id: "job-9".into() })).await;
    assert_eq!(unknown, Err(CommandError::Refused("There is no job job-9. There are job-1.".into())));
    bench.command(Command::Jobs(JobsCommand::Kill { id: "job-1".into() })).await.unwrap();
    until_none_runs(&bench).await;
    bench.run("and now?").await;
    assert!(notices(&bench)[0].contains("\njob-1 was killed after "), "{:?}", notices(&bench));
}

#[tokio::test]
async fn jobs_that_a_crash_took_along_are_told_and_their_processes_are_gone() {
    for (kind, cause) in [("Job", "its worker died"), ("Jobs", "the actor that ran it was restarted")] {
        let mut bench = agent(&[json!({"action": "start", "command": "echo $$; cat"})]).await;
        bench.run("start it").await;
        let mut watch = bench.shared.job_board.find("job-1").unwrap().watch();
        within("output", watch.wait_for(|status| status.pieces > 0)).await.unwrap();
        let pid = bench.shared.job_board.find("job-1").unwrap().output().since(0).text.trim().to_owned();
        bench.find(kind).unwrap().kill();
        within("news of the crash", async {
            while bench.shared.job_board.find("job-1").unwrap().is_running() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        })
        .await;
        if cfg!(target_os = "linux") {
            within("end of the process", async {
                while std::path::Path::new(&format!("/proc/{pid}")).exists() {
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                }
            })
            .await;
        }
        bench.run("and now?").await;
        assert!(notices(&bench)[0].contains(&format!(": {cause}: echo $$; cat")), "{:?}", notices(&bench));
    }
}

#[tokio::test]
async fn a_job_that_cannot_be_started_is_no_job() {
    let call = json!({"action": "start", "command": "true"});
    let parts = Parts {
        turns: json!([{"calls": [{"name": "jobs", "arguments": call}]}, "done"]),
        tools: vec![Arc::new(JobsTool::new()), Arc::new(BashTool::new())],
        cwd: "/nonexistent-folder".into(),
        ..Parts::default()
    };
    let mut bench = parts.start().await;
    bench.run("start it").await;
    let results = bench.results();
    assert!(results[0].0 && results[0].1.contains("/nonexistent-folder does not exist"), "{results:?}");
    assert_eq!(jobs(&bench).await, JobList::default());
}
