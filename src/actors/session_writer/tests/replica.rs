//! A copy that is kept elsewhere: nobody learns of anything that it did not take, and nothing begins without it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    actors::{
        session_writer::SessionPlace,
        testing::{Bench, FnTool, Parts, moment, text_of, within},
    },
    protocol::{Event, ToolOutput, sibling::SiblingLimits},
    store::{
        NewSession, SessionStore, Sidecar,
        replica::{Committing, Lost, Replica},
        sidecar,
    },
    tools::Tool,
};

/// Keeps what it is given, until it is told that another process has the session.
#[derive(Debug)]
struct Copy {
    commits: AtomicUsize,
    /// How many commits it takes.
    takes: usize,
    lost: CancellationToken,
    files: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
}

impl Copy {
    fn taking(takes: usize) -> Arc<Self> {
        Arc::new(Self { commits: AtomicUsize::new(0), takes, lost: CancellationToken::new(), files: Mutex::default() })
    }

    fn text(&self, file: &Path) -> String {
        self.files
            .lock()
            .unwrap()
            .get(file)
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .unwrap_or_default()
    }
}

impl Replica for Copy {
    fn commit<'a>(&'a self, session: &'a Path) -> Committing<'a> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            if self.commits.fetch_add(1, Ordering::SeqCst) >= self.takes {
                self.lost.cancel();
                return Err(Lost("it is elsewhere".to_owned()));
            }
            for file in [session.to_owned(), sidecar::path_of(session)] {
                match fs::read(&file) {
                    Ok(bytes) => drop(self.files.lock().unwrap().insert(file, bytes)),
                    Err(_) => drop(self.files.lock().unwrap().remove(&file)),
                }
            }
            Ok(())
        })
    }

    fn lost(&self) -> &CancellationToken {
        &self.lost
    }
}

type Began = (&'static str, String, bool);

/// An agent that calls a tool with effects, then one that only reads, and then answers.
struct Scene {
    _dir: tempfile::TempDir,
    file: PathBuf,
    bench: Bench,
    copy: Arc<Copy>,
    /// The tools that began, what the copy had of the journal then, and whether the session was lost.
    began: Arc<Mutex<Vec<Began>>>,
}

impl Scene {
    async fn new(takes: usize) -> Self {
        Self::playing(takes, json!([{"calls": [{"name": "writes"}]}, {"calls": [{"name": "reads"}]}, "over"])).await
    }

    async fn playing(takes: usize, turns: Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("s.jsonl");
        let store = SessionStore::open(&file, NewSession::in_folder(dir.path())).unwrap().store;
        let journal = Sidecar::of(&store).unwrap();
        let copy = Copy::taking(takes);
        let began: Arc<Mutex<Vec<Began>>> = Arc::default();
        let tool = |name: &'static str| {
            let (began, copy, journal) = (began.clone(), copy.clone(), sidecar::path_of(&file));
            FnTool::new(name, move |_| {
                began.lock().unwrap().push((name, copy.text(&journal), copy.lost.is_cancelled()));
                async { ToolOutput::text("done") }
            })
        };
        let lost = copy.lost.clone();
        let loses = FnTool::new("loses", move |_| {
            lost.cancel();
            async { ToolOutput::text("done") }
        });
        let tools: Vec<Arc<dyn Tool>> =
            vec![Arc::new(tool("writes")), Arc::new(tool("reads").reading()), Arc::new(loses.sequential())];
        let parts = Parts { turns, tools, cwd: dir.path().to_owned(), ..Parts::default() };
        let place = SessionPlace::new(store, journal).with_replica(Some(copy.clone()));
        let bench = parts.start_in(place, SiblingLimits::default()).await;
        Self { file, _dir: dir, bench, copy, began }
    }

    /// Gives the prompt and waits until nothing more happens; why it was refused, if it was.
    async fn run(&mut self) -> Option<String> {
        match self.bench.prompt("go").await {
            Ok(_) => {
                self.bench.settled().await;
                None
            }
            Err(error) => Some(error.to_string()),
        }
    }

    /// Messages that others were shown.
    fn shown(&self) -> usize {
        self.bench.shared.tree().map_or(0, |tree| tree.context().messages.len())
    }

    /// Messages that the copy has.
    fn copied(&self) -> usize {
        self.copy.text(&self.file).lines().filter(|line| line.contains("\"type\":\"message\"")).count()
    }
}

#[tokio::test]
async fn calls_begin_when_the_copy_has_what_explains_them() {
    let mut scene = Scene::new(usize::MAX).await;
    assert_eq!(scene.run().await, None);
    let began = scene.began.lock().unwrap().clone();
    let names: Vec<_> = began.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, ["writes", "reads"]);
    assert!(began[0].1.contains("\"places\":[0]"), "marked before it began: {}", began[0].1);
    // The system prompt, the prompt, two calls with their results, the answer.
    assert_eq!((scene.shown(), scene.copied()), (7, 7));
    // The end of the trace is told before it is in the copy: nothing stands on it.
    let journal = sidecar::path_of(&scene.file);
    within("end of the trace in the copy", async {
        while !scene.copy.text(&journal).is_empty() {
            moment().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_session_that_is_lost_shows_nothing_more_and_starts_no_tool() {
    let mut whole = Scene::new(usize::MAX).await;
    whole.run().await;
    let commits = whole.copy.commits.load(Ordering::SeqCst);
    assert!(commits > 6, "{commits}");
    let mut refused = 0;
    for takes in 0..commits {
        let mut scene = Scene::new(takes).await;
        refused += usize::from(scene.run().await.is_some());
        assert!(scene.shown() <= scene.copied(), "{takes}: {} {}", scene.shown(), scene.copied());
        let began = scene.began.lock().unwrap().clone();
        assert!(began.iter().all(|(_, _, lost)| !lost), "{takes}: {began:?}");
        // Nothing comes of what is said to it later.
        let shown = scene.shown();
        let calls = began.len();
        assert!(scene.run().await.is_some_and(|error| error.contains("not ours")), "{takes}");
        assert_eq!((scene.shown(), scene.began.lock().unwrap().len()), (shown, calls), "{takes}");
    }
    assert!(refused > 0 && refused < commits, "{refused} of {commits}");
}

#[tokio::test]
async fn a_call_that_only_reads_does_not_begin_in_a_session_that_is_lost() {
    let mut scene =
        Scene::playing(usize::MAX, json!([{"calls": [{"name": "loses"}, {"name": "reads"}]}, "over"])).await;
    scene.bench.prompt("go").await.unwrap();
    let told = scene.bench.settled().await;
    assert!(scene.began.lock().unwrap().is_empty());
    let refused = |event: &&Event| match event {
        Event::ToolExecutionEnd { result, .. } => {
            text_of(&result.content).contains("was not executed: the session is not")
        }
        _ => false,
    };
    assert_eq!(told.iter().filter(refused).count(), 1, "{told:?}");
}
