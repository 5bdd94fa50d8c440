//! Workers and supervisors killed at places that a seed chooses, all through a run of several steps: whatever dies, each
//! step is done once, and the session is well formed. `TROUPE_CHAOS_SEED=N` plays one seed alone.

use rustix::process::{Signal, kill_process};

use crate::{stage::*, support::*};

/// Steps of a run.
const STEPS: u64 = 4;

/// Seeds that are played.
const SEEDS: u64 = 6;

/// Who dies in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Nobody,
    Worker,
    Supervisor,
    Both,
}

async fn play(seed: u64) {
    let victims = chosen(seed, STEPS, &[Victim::Nobody, Victim::Worker, Victim::Supervisor, Victim::Both]);
    let context = format!("seed {seed}, {victims:?}");
    let sandbox = Sandbox::new(steps(STEPS)).await;
    // Enough restarts for one in every step.
    let more = ["--max-restarts", "9"];
    let mut run = start(&sandbox, &[&more[..], &["go"]].concat());
    let mut last = None;
    for (n, victim) in (1..).zip(&victims) {
        let tool = pid_in(&sandbox, &format!("pid{n}")).await;
        match victim {
            Victim::Nobody => drop(sandbox.write(format!("go{n}"), "")),
            Victim::Worker => {
                let now = worker(&sandbox, last).await;
                kill(now);
                last = Some(now);
            }
            Victim::Supervisor | Victim::Both => {
                let now = worker(&sandbox, None).await;
                if *victim == Victim::Both {
                    // It must not settle meanwhile.
                    kill_process(now, Signal::STOP).unwrap();
                }
                kill(pid_of(&run));
                if *victim == Victim::Both {
                    kill(now);
                }
                within("end", run.wait()).await.unwrap();
                run = start(&sandbox, &more);
                last = Some(now);
            }
        }
        gone(tool).await;
    }
    let finished = end(run).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{context}: {}", finished.stderr);
    assert_eq!(results(&sandbox).len(), usize::try_from(STEPS).unwrap(), "{context}");
    assert_eq!(sandbox.read("effects"), "1\n2\n3\n4\n", "{context}: each step once");
    for request in sandbox.server.requests() {
        request.assert_strict();
    }
    assert!(events(&sandbox).len() > 4, "{context}");
    let left: Vec<_> = walk(&sandbox.user_dir).into_iter().filter(|name| is_left(name)).collect();
    assert!(left.is_empty(), "{context}: {left:?}");
    assert_eq!(std::fs::read_to_string(folder(&sandbox).join("lease")).unwrap(), "", "{context}: nobody owns it");
}

/// Whether a file is one that a killed process left in the middle of something.
fn is_left(name: &str) -> bool {
    name.ends_with(".state") || name.contains(".tmp")
}

fn walk(folder: &std::path::Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.path().is_dir() {
            true => names.extend(walk(&entry.path())),
            false => names.push(entry.file_name().to_string_lossy().into_owned()),
        }
    }
    names
}

#[tokio::test]
async fn whoever_is_killed_each_step_is_done_once_and_the_run_ends_well() {
    for seed in seeds(SEEDS) {
        play(seed).await;
    }
}
