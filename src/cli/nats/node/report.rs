//! What a run tells goes to the server: its events, what its processes say, and where it stands.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    task::JoinHandle,
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use super::child::Outputs;
use crate::{
    actors::nats::EventSink,
    cli::{
        nats::{
            record::{Note, Standing},
            standing::StandingRecord,
        },
        runs::folder::RunFolder,
    },
};

/// Between two looks at the files of the run.
const LOOK: Duration = Duration::from_millis(500);
/// A pipe of a supervisor that has ended is empty when nothing came for so long.
const EMPTY: Duration = Duration::from_secs(2);

/// The report on a run, as long as its supervisor runs.
pub struct Report {
    /// Where lines go.
    pub sink: Arc<EventSink>,
    pipes: [JoinHandle<()>; 2],
    files: JoinHandle<StandingRecord>,
    /// The supervisor has ended.
    ended: CancellationToken,
    /// What it wrote into its pipes was sent.
    over: CancellationToken,
}

impl Report {
    /// Begins to report on the run in `folder`, which stands as `record` says.
    #[must_use]
    pub fn begin(folder: RunFolder, record: StandingRecord, sink: EventSink, outputs: Outputs) -> Self {
        let (sink, ended, over) = (Arc::new(sink), CancellationToken::new(), CancellationToken::new());
        let events = tokio::spawn(copy(outputs.events, sink.clone(), |line| line, ended.clone()));
        let words = |text: String| Note::Supervisor { text }.line();
        let words = tokio::spawn(copy(outputs.words, sink.clone(), words, ended.clone()));
        let files = Files { folder, record, is_ours: true, sink: sink.clone(), logged: 0 };
        let files = tokio::spawn(files.follow(over.clone()));
        Self { sink, pipes: [events, words], files, ended, over }
    }

    /// Reports the rest, after the supervisor has ended: where the run stands now. Waits while the server is away. None when
    /// that failed, or the run is `lost`.
    pub async fn finish(mut self, lost: &CancellationToken) -> Option<StandingRecord> {
        tokio::select! {
            record = self.rest() => record,
            () = lost.cancelled() => None,
        }
    }

    async fn rest(&mut self) -> Option<StandingRecord> {
        self.ended.cancel();
        for pipe in &mut self.pipes {
            // One that failed has nothing more to say.
            let _ = pipe.await;
        }
        self.over.cancel();
        (&mut self.files).await.ok()
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        self.files.abort();
        self.pipes.iter().for_each(JoinHandle::abort);
    }
}

/// Sends each line of a pipe. After the end of whoever writes into it, it is read until it is empty: somebody else may hold
/// its other end.
async fn copy(
    pipe: impl AsyncRead + Unpin,
    sink: Arc<EventSink>,
    note: impl Fn(String) -> String,
    ended: CancellationToken,
) {
    let mut lines = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        let silence = async {
            ended.cancelled().await;
            sleep(EMPTY).await;
        };
        let read = tokio::select! {
            read = lines.read_until(b'\n', &mut line) => read,
            () = silence => return,
        };
        if !read.is_ok_and(|count| count > 0) {
            return;
        }
        let text = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
        sink.line(&note(text)).await;
        line.clear();
    }
}

/// The files of a run that are looked at.
struct Files {
    folder: RunFolder,
    record: StandingRecord,
    /// Nobody else has written the record.
    is_ours: bool,
    sink: Arc<EventSink>,
    /// Bytes of the worker's log that were sent.
    logged: u64,
}

impl Files {
    async fn follow(mut self, over: CancellationToken) -> StandingRecord {
        loop {
            let is_over = over.is_cancelled();
            self.log().await;
            self.state().await;
            if is_over {
                return self.record;
            }
            tokio::select! {
                () = over.cancelled() => {}
                () = sleep(LOOK) => {}
            }
        }
    }

    /// Sends what workers have said since the last look.
    async fn log(&mut self) {
        loop {
            let lines = self.lines().unwrap_or_default();
            if lines.is_empty() {
                return;
            }
            for text in lines {
                self.sink.line(&Note::Worker { text }.line()).await;
            }
        }
    }

    /// The whole lines of the log behind those that were sent.
    fn lines(&mut self) -> std::io::Result<Vec<String>> {
        /// Bytes that are read at once.
        const MOST: u64 = 1 << 20;
        let mut file = File::open(self.folder.file("worker.log"))?;
        file.seek(SeekFrom::Start(self.logged))?;
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes)?;
        let end = match memchr::memrchr(b'\n', &bytes) {
            Some(end) => end + 1,
            // A line without an end is cut.
            None if bytes.len() as u64 == MOST => bytes.len(),
            None => return Ok(Vec::new()),
        };
        self.logged += end as u64;
        Ok(String::from_utf8_lossy(&bytes[..end]).lines().map(str::to_owned).collect())
    }

    /// Tells where the run stands, when that has changed.
    async fn state(&mut self) {
        // It is replaced as a whole; one that cannot be read is told with the next look.
        let Ok(state) = self.folder.state() else { return };
        if state == self.record.standing.state || !self.is_ours {
            return;
        }
        let before = self.record.standing.clone();
        self.record.standing = Standing { state, ..before.clone() };
        match self.record.write().await {
            Ok(is_ours) => self.is_ours = is_ours,
            Err(error) => {
                tracing::debug!(%error, "where the run stands could not be told");
                // It is told with the next look.
                self.record.standing = before;
            }
        }
    }
}
