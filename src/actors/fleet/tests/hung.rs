//! A family whose commands do not want to end: real processes, real time.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc, time::Duration};

use serde_json::json;

use super::family::{call, family, script};
use crate::{
    actors::{
        family_notes::Note,
        fleet::family::STOP_GRACE,
        testing::{Bench, Parts, within},
    },
    protocol::sibling::{Outcome, SiblingLimits, SiblingSpec, SiblingState, WorktreeFate},
    tools::bash::BashTool,
};

const HUNG: usize = 100;

/// The shells that noted their numbers in this folder, and what each of them started, as far as they live.
fn living(folder: &Path) -> Vec<String> {
    let noted = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let lives = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // One that has ended is a zombie until the runtime has asked how.
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    };
    noted.filter(lives).collect()
}

/// How often each child's task has ended, by the parent's session.
fn ends(bench: &Bench) -> BTreeMap<String, usize> {
    let mut ends = BTreeMap::new();
    for entry in bench.shared.place.store.view().entries() {
        if let Some(Note::End(end)) = Note::of(&entry.entry().body) {
            *ends.entry(end.id.to_string()).or_default() += 1;
        }
    }
    ends
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_hundred_whose_commands_ignore_that_they_are_asked_to_end_no_process_is_left_and_each_ends_once() {
    let root = tempfile::tempdir().unwrap();
    let pids = root.path().join("pids");
    fs::create_dir(&pids).unwrap();
    // The shell waits for a child in a session of its own, which knows nothing of the shell's end.
    let command = format!(
        "trap '' TERM INT HUP; note() {{ touch {0}/$1; }}; note $$; setsid sh -c 'trap \"\" TERM; touch {0}/$$; sleep 600' & wait; sleep 600",
        pids.display()
    );
    let hangs = json!([{"calls": [call("bash", json!({"command": command}))]}, "never"]);
    let bench = Parts {
        turns: script(json!(["x"]), hangs),
        tools: vec![Arc::new(BashTool::new())],
        cwd: root.path().to_owned(),
        ..Parts::default()
    };
    let bench = bench.start_with(SiblingLimits { running: HUNG, total: HUNG, depth: 1 }).await;
    let family = family(&bench);
    for _ in 0..HUNG {
        let child = SiblingSpec { prompt: Some("You are a child".into()), ..SiblingSpec::of_task("go") };
        family.spawn(child).await.unwrap();
    }
    within("processes", async {
        while living(&pids).len() < 2 * HUNG {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;

    let stop = family.stop(&[], "enough", STOP_GRACE, WorktreeFate::Patch);
    let told = within("end of all", stop).await.unwrap();
    assert_eq!(living(&pids), [""; 0], "nothing is left when the stop is answered");
    assert_eq!(told.len(), HUNG);
    assert!(told.iter().all(|end| end.outcome == Outcome::Stopped { message: "enough".into() }));
    assert!(family.status().iter().all(|sibling| sibling.state == SiblingState::Gone));
    let ends = ends(&bench);
    assert_eq!((ends.len(), ends.values().sum::<usize>()), (HUNG, HUNG), "once each");
}
