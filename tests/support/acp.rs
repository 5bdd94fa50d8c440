//! A client of the Agent Client Protocol.

use std::{
    process::Stdio,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, Command},
    sync::mpsc,
};

use super::{DEADLINE, Sandbox, within};

/// A running `troupe acp`. It is killed when this is dropped.
pub struct Acp {
    child: Child,
    stdin: ChildStdin,
    messages: mpsc::UnboundedReceiver<Value>,
    stderr: Arc<Mutex<String>>,
    /// All messages so far, in the order in which they came.
    seen: Vec<Value>,
    requests: i64,
}

impl Acp {
    /// Starts it. Does not wait for anything.
    pub fn start(mut command: Command) -> Self {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let (sender, messages) = mpsc::unbounded_channel();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                // Stdout is for the protocol alone.
                let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({"no JSON": line}));
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let stderr = Arc::new(Mutex::new(String::new()));
        let mut errors = child.stderr.take().unwrap();
        let text = stderr.clone();
        tokio::spawn(async move {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = errors.read(&mut bytes).await {
                text.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        let stdin = child.stdin.take().unwrap();
        Self { child, stdin, messages, stderr, seen: Vec::new(), requests: 0 }
    }

    /// Starts it in a sandbox and introduces itself.
    pub async fn in_sandbox(sandbox: &Sandbox, flags: &[&str]) -> Self {
        let model: &[&str] = if flags.contains(&"--model") { &[] } else { &["--model", "mock/m1"] };
        let mut acp = Self::start(sandbox.command(&[&["acp"], model, flags].concat()));
        let hello = acp.call("initialize", json!({"protocolVersion": 1, "clientCapabilities": {}})).await;
        assert_eq!(hello["protocolVersion"], 1);
        acp
    }

    /// Sends a line as it is.
    pub async fn send_raw(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.stdin.write_all(line.as_bytes()).await.unwrap_or_else(|error| panic!("{error}; {}", self.situation()));
    }

    /// Says something.
    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send_raw(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()).await;
    }

    /// Sends a request without waiting for its answer; its number.
    pub async fn send(&mut self, method: &str, params: Value) -> i64 {
        self.requests += 1;
        let id = self.requests;
        self.send_raw(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await;
        id
    }

    /// The whole answer to a request.
    pub async fn answer(&mut self, id: i64) -> Value {
        let at = self.find(0, &format!("answer to {id}"), |message| is_answer(message) && message["id"] == id).await;
        self.seen[at].clone()
    }

    /// Whether a request has its answer.
    pub fn is_answered(&mut self, id: i64) -> bool {
        self.mark();
        self.seen.iter().any(|message| is_answer(message) && message["id"] == id)
    }

    /// Sends a request that must succeed and returns its result.
    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.result(id).await
    }

    /// The result of a request that must succeed.
    pub async fn result(&mut self, id: i64) -> Value {
        let mut answer = self.answer(id).await;
        assert!(answer.get("result").is_some(), "{answer}; {}", self.situation());
        answer["result"].take()
    }

    /// Sends a request that must fail and returns the error's code and text.
    pub async fn refused(&mut self, method: &str, params: Value) -> (i64, String) {
        let id = self.send(method, params).await;
        self.error(id).await
    }

    /// The code and text of the error of a request that must fail.
    pub async fn error(&mut self, id: i64) -> (i64, String) {
        let answer = self.answer(id).await;
        let error = &answer["error"];
        (error["code"].as_i64().expect("an error has a code"), error["message"].as_str().unwrap_or("").to_owned())
    }

    /// The next error without a request that it belongs to.
    pub async fn refusal(&mut self, from: usize) -> Value {
        let at = self.find(from, "refusal", |message| is_answer(message) && message["id"].is_null()).await;
        self.seen[at].clone()
    }

    /// A new session in the sandbox's project; its id.
    pub async fn new_session(&mut self, sandbox: &Sandbox) -> String {
        let session = self.call("session/new", json!({"cwd": sandbox.project, "mcpServers": []})).await;
        session["sessionId"].as_str().expect("a session has an id").to_owned()
    }

    /// Sends a prompt; its number.
    pub async fn prompt(&mut self, session: &str, text: &str) -> i64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.send("session/prompt", json!({"sessionId": session, "prompt": prompt})).await
    }

    /// Sends a prompt and waits for its end; how it ended.
    pub async fn prompted(&mut self, session: &str, text: &str) -> String {
        let id = self.prompt(session, text).await;
        self.result(id).await["stopReason"].as_str().expect("a prompt has an end").to_owned()
    }

    /// The next request of the agent, from `from` on.
    pub async fn asked(&mut self, from: usize, method: &str) -> Value {
        let is = |message: &Value| message["method"] == method && message.get("id").is_some();
        let at = self.find(from, method, is).await;
        self.seen[at].clone()
    }

    /// Answers a request of the agent.
    pub async fn reply(&mut self, request: &Value, result: Value) {
        self.send_raw(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string()).await;
    }

    /// The first update of a session from `from` on that `wanted` accepts.
    pub async fn update(&mut self, from: usize, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let is = |message: &Value| message["method"] == "session/update" && wanted(&message["params"]["update"]);
        let at = self.find(from, what, is).await;
        self.seen[at]["params"]["update"].clone()
    }

    /// The place behind all messages so far.
    pub fn mark(&mut self) -> usize {
        while let Ok(message) = self.messages.try_recv() {
            self.seen.push(message);
        }
        self.seen.len()
    }

    /// All updates of a session of one kind so far, from a place on.
    pub fn updates(&mut self, from: usize, session: &str, kind: &str) -> Vec<Value> {
        self.mark();
        let of = |message: &&Value| {
            message["params"]["sessionId"] == session && message["params"]["update"]["sessionUpdate"] == kind
        };
        self.seen[from..].iter().filter(of).map(|message| message["params"]["update"].clone()).collect()
    }

    /// The text of all chunks of a kind so far, from a place on.
    pub fn text(&mut self, from: usize, session: &str, kind: &str) -> String {
        let chunks = self.updates(from, session, kind);
        chunks.iter().filter_map(|update| update["content"]["text"].as_str()).collect()
    }

    /// The process's id.
    pub fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Closes stdin and returns the exit code.
    pub async fn close(mut self) -> Option<i32> {
        drop(self.stdin);
        within("exit after the end of input", self.child.wait()).await.unwrap().code()
    }

    /// Kills it, as a crash of the machine would.
    pub async fn kill(mut self) {
        within("the end", self.child.kill()).await.unwrap();
    }

    /// Waits for the end; the exit code.
    pub async fn wait(mut self) -> Option<i32> {
        within("the end", self.child.wait()).await.unwrap().code()
    }

    /// Closes all ends of the client's at once, as its death does; the process.
    pub fn vanish(self) -> Child {
        let Self { child, stdin, messages, .. } = self;
        drop((stdin, messages));
        child
    }

    /// What was written to stderr so far.
    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    /// Waits until stderr has this text: what it says comes beside the messages.
    pub async fn said(&self, text: &str) {
        within(&format!("{text:?} on stderr"), async {
            while !self.stderr().contains(text) {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        })
        .await;
    }

    /// The place of the first message from `from` on that `wanted` accepts.
    async fn find(&mut self, from: usize, what: &str, wanted: impl Fn(&Value) -> bool) -> usize {
        let end = tokio::time::Instant::now() + DEADLINE;
        let mut at = from;
        loop {
            while let Some(message) = self.seen.get(at) {
                assert!(message.get("no JSON").is_none(), "{message}");
                if wanted(message) {
                    return at;
                }
                at += 1;
            }
            match tokio::time::timeout_at(end, self.messages.recv()).await {
                Ok(Some(message)) => self.seen.push(message),
                Ok(None) => panic!("end of output instead of {what}; {}", self.situation()),
                Err(_) => panic!("no {what} within {} seconds; {}", DEADLINE.as_secs(), self.situation()),
            }
        }
    }

    fn situation(&self) -> String {
        let last: Vec<String> = self.seen.iter().rev().take(4).map(Value::to_string).collect();
        format!("last messages {last:#?}; stderr: {}", self.stderr())
    }
}

fn is_answer(message: &Value) -> bool {
    message.get("method").is_none()
}
