//! A client of RPC mode.

use std::{
    process::Stdio,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, Command},
    sync::mpsc,
    task::JoinHandle,
};

use super::{DEADLINE, shape, within};

/// A running program in RPC mode. It is killed when this is dropped.
pub struct Rpc {
    child: Child,
    stdin: ChildStdin,
    records: mpsc::UnboundedReceiver<Value>,
    stderr: Arc<Mutex<String>>,
    /// Reads it to its end.
    errors: JoinHandle<()>,
    /// All records so far, in the order in which they came.
    seen: Vec<Value>,
    /// The record behind the last one that [`Rpc::until`] found.
    cursor: usize,
    requests: usize,
}

impl Rpc {
    /// Starts it. Does not wait for anything.
    pub fn start(mut command: Command) -> Self {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let (sender, records) = mpsc::unbounded_channel();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                // Stdout is for records alone; a line that is none fails the wait that meets it.
                let record = serde_json::from_str(&line).unwrap_or_else(|_| json!({"type": "no JSON", "line": line}));
                if sender.send(record).is_err() {
                    break;
                }
            }
        });
        let stderr = Arc::new(Mutex::new(String::new()));
        let mut from = child.stderr.take().unwrap();
        let text = stderr.clone();
        let errors = tokio::spawn(async move {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut bytes).await {
                text.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        let stdin = child.stdin.take().unwrap();
        Self { child, stdin, records, stderr, errors, seen: Vec::new(), cursor: 0, requests: 0 }
    }

    /// Sends bytes as they are.
    pub async fn send_raw(&mut self, bytes: &[u8]) {
        self.stdin.write_all(bytes).await.unwrap_or_else(|error| panic!("{error}; {}", self.situation()));
    }

    /// Sends a request without waiting for its response.
    pub async fn send(&mut self, request: Value) {
        self.send_raw(format!("{request}\n").as_bytes()).await;
    }

    /// Sends a request with a fresh id (unless it has one) and returns the whole response.
    pub async fn request(&mut self, mut request: Value) -> Value {
        let from = self.mark();
        self.requests += 1;
        let fields = request.as_object_mut().expect("a request is an object");
        let id = fields.entry("id").or_insert_with(|| format!("q{}", self.requests).into()).clone();
        self.send(request.clone()).await;
        let what = format!("response to {request}");
        let at = self.find(from, &what, |record| record["type"] == "response" && record["id"] == id).await;
        self.seen[at].clone()
    }

    /// Sends a request that must succeed and returns its data; null when there is none.
    pub async fn call(&mut self, request: Value) -> Value {
        let mut response = self.request(request).await;
        assert_eq!(response["success"], true, "{response}");
        response["data"].take()
    }

    /// Sends a request that must fail and returns the error.
    pub async fn refused(&mut self, request: Value) -> String {
        let response = self.request(request).await;
        assert_eq!(response["success"], false, "{response}");
        response["error"].as_str().expect("an error has a text").to_owned()
    }

    /// Prompts and returns all records until the agent has settled.
    pub async fn prompt(&mut self, message: &str) -> Vec<Value> {
        let from = self.mark();
        self.call(json!({"type": "prompt", "message": message})).await;
        self.settled(from).await
    }

    /// All records from `from` until the agent has settled.
    pub async fn settled(&mut self, from: usize) -> Vec<Value> {
        let at = self.find(from, "agent_settled", |record| record["type"] == "agent_settled").await;
        self.seen[from..=at].to_vec()
    }

    /// The messages of the context.
    pub async fn messages(&mut self) -> Vec<Value> {
        let data = self.call(json!({"type": "get_messages"})).await;
        data["messages"].as_array().cloned().expect("messages are a list")
    }

    /// The next record of a type, after the one that was found last.
    pub async fn until(&mut self, kind: &str) -> Value {
        self.until_that(kind, |record| record["type"] == kind).await
    }

    /// The next record that `wanted` accepts, after the one that was found last.
    pub async fn until_that(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let at = self.find(self.cursor, what, wanted).await;
        self.cursor = at + 1;
        self.seen[at].clone()
    }

    /// The place behind all records so far.
    pub fn mark(&mut self) -> usize {
        while let Ok(record) = self.records.try_recv() {
            self.seen.push(record);
        }
        self.seen.len()
    }

    /// The records from a place on.
    pub fn since(&self, from: usize) -> &[Value] {
        &self.seen[from..]
    }

    /// Sends a request; its data, or none when the program ends instead of answering.
    pub async fn try_call(&mut self, request: Value) -> Option<Value> {
        // The program may be gone already.
        let _ = self.stdin.write_all(format!("{request}\n").as_bytes()).await;
        while let Some(record) = within("response or end", self.records.recv()).await {
            self.seen.push(record.clone());
            if record["type"] == "response" {
                return Some(record["data"].clone());
            }
        }
        None
    }

    /// Waits for so many more records, or for the end of the output.
    pub async fn some_records(&mut self, count: usize) {
        for _ in 0..count {
            let record = if self.seen.is_empty() {
                // A start takes as long as it takes: killed before it, no program would ever answer on a busy machine.
                within("the first record", self.records.recv()).await
            } else {
                // A program that has nothing more to say is as good a moment as any other.
                let patience = std::time::Duration::from_millis(150);
                tokio::time::timeout(patience, self.records.recv()).await.unwrap_or_default()
            };
            let Some(record) = record else { return };
            self.seen.push(record);
        }
    }

    /// All records of a program that has ended. The last line may have been cut off.
    pub async fn rest(mut self) -> Vec<Value> {
        while let Some(record) = within("end of output", self.records.recv()).await {
            self.seen.push(record);
        }
        self.seen.retain(|record| record["type"] != "no JSON");
        self.seen
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.id().expect("a running process")
    }

    /// Kills the program; nothing of it is left when this returns.
    pub async fn kill(&mut self) {
        within("end after a kill", self.child.kill()).await.unwrap();
    }

    /// Closes stdin; the exit code, and all that was written to stderr.
    pub async fn finish(self) -> (Option<i32>, String) {
        let Self { mut child, stdin, stderr, errors, .. } = self;
        drop(stdin);
        let code = within("exit after the end of input", child.wait()).await.unwrap().code();
        within("end of stderr", errors).await.unwrap();
        (code, stderr.lock().unwrap().clone())
    }

    /// Closes stdin and returns the exit code.
    pub async fn close(mut self) -> Option<i32> {
        drop(self.stdin);
        within("exit after the end of input", self.child.wait()).await.unwrap().code()
    }

    /// What was written to stderr so far.
    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    /// The place of the first record from `from` on that `wanted` accepts.
    async fn find(&mut self, from: usize, what: &str, wanted: impl Fn(&Value) -> bool) -> usize {
        let end = tokio::time::Instant::now() + DEADLINE;
        let mut at = from;
        loop {
            while let Some(record) = self.seen.get(at) {
                assert_ne!(record["type"], "no JSON", "{record}");
                if wanted(record) {
                    return at;
                }
                at += 1;
            }
            match tokio::time::timeout_at(end, self.records.recv()).await {
                Ok(Some(record)) => self.seen.push(record),
                Ok(None) => panic!("end of output instead of {what}; {}", self.situation()),
                Err(_) => panic!("no {what} within {} seconds; {}", DEADLINE.as_secs(), self.situation()),
            }
        }
    }

    fn situation(&self) -> String {
        let names = shape(&self.seen);
        format!("last events {:?}; stderr: {}", &names[names.len().saturating_sub(8)..], self.stderr())
    }
}
