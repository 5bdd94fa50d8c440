//! What the scripted model answers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::watch;

use super::Request;

/// An answer of the model server.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Body,
    /// Sent in HTTP chunks; otherwise the end of the connection ends the body.
    pub chunked: bool,
}

/// An answer's body.
#[derive(Clone, Debug)]
pub enum Body {
    /// One JSON text: errors.
    Whole(String),
    /// A stream of events.
    Stream(Vec<Step>),
}

/// A step of a streamed answer.
#[derive(Clone, Debug)]
pub enum Step {
    /// A chunk with this delta.
    Delta(Value),
    /// Bytes as they are.
    Raw(Vec<u8>),
    /// Nothing for a while.
    Pause(Duration),
    /// Nothing until the test opens the gate.
    Wait(Gate),
    /// Nothing until the client is gone.
    Hang,
    /// The chunk with the finish reason and the usage, and the end mark.
    Finish { reason: String, usage: Value },
}

/// Holds an answer up until a test opens it.
#[derive(Clone, Debug)]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    pub fn closed() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    pub fn open(&self) {
        self.0.send_replace(true);
    }

    pub async fn opened(&self) {
        // The sender lives as long as this gate: the wait cannot fail.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}

/// A tool call of an answer.
#[derive(Clone, Debug)]
pub struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Call {
    pub fn id(mut self, id: &str) -> Self {
        self.id = id.to_owned();
        self
    }
}

/// A call with arguments, and an id that no other call of the process has.
pub fn call(name: &str, arguments: Value) -> Call {
    raw_call(name, &arguments.to_string())
}

/// A call whose argument text is not necessarily JSON.
pub fn raw_call(name: &str, arguments: &str) -> Call {
    static COUNT: AtomicUsize = AtomicUsize::new(1);
    let id = format!("call_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    Call { id, name: name.to_owned(), arguments: arguments.to_owned() }
}

/// An answer of plain text.
pub fn text(text: &str) -> Reply {
    Reply::stream(vec![json!({"content": text})]).finish("stop")
}

/// An answer with reasoning before its text, one delta a piece.
pub fn thinking(thoughts: &[&str], words: &[&str]) -> Reply {
    let thoughts = thoughts.iter().map(|piece| json!({"reasoning_content": piece}));
    let words = words.iter().map(|piece| json!({"content": piece}));
    Reply::stream(thoughts.chain(words).collect()).finish("stop")
}

/// An answer that calls tools.
pub fn calls(calls: impl IntoIterator<Item = Call>) -> Reply {
    let deltas = calls.into_iter().enumerate().map(|(index, call)| {
        json!({"tool_calls": [{"index": index, "id": call.id, "type": "function",
            "function": {"name": call.name, "arguments": call.arguments}}]})
    });
    Reply::stream(deltas.collect()).finish("tool_calls")
}

/// An HTTP error with a JSON body.
pub fn http(status: u16, message: &str) -> Reply {
    let kind = if status < 500 { "invalid_request_error" } else { "server_error" };
    let body = json!({"error": {"message": message, "type": kind}}).to_string();
    Reply { status, headers: Vec::new(), body: Body::Whole(body), chunked: false }
}

/// An answer that begins with `first` and then never goes on.
pub fn hang(first: &str) -> Reply {
    let mut reply = Reply::stream(vec![json!({"content": first})]);
    reply.steps().push(Step::Hang);
    reply
}

/// A script: the n-th request gets the n-th reply, later ones the last.
pub fn replies(replies: impl Into<Vec<Reply>>) -> impl FnMut(&Request) -> Reply + Send + 'static {
    let replies = replies.into();
    move |request| replies[request.n.min(replies.len() - 1)].clone()
}

/// Tokens as a provider reports them.
fn usage(input: u64, output: u64) -> Value {
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
}

impl Reply {
    fn stream(deltas: Vec<Value>) -> Self {
        let steps = deltas.into_iter().map(Step::Delta).collect();
        Self { status: 200, headers: Vec::new(), body: Body::Stream(steps), chunked: false }
    }

    /// Bytes as they are instead of well-formed events.
    pub fn raw(bytes: &[u8]) -> Self {
        let body = Body::Stream(vec![Step::Raw(bytes.to_vec())]);
        Self { status: 200, headers: Vec::new(), body, chunked: false }
    }

    fn steps(&mut self) -> &mut Vec<Step> {
        match &mut self.body {
            Body::Stream(steps) => steps,
            Body::Whole(_) => panic!("an HTTP error has no steps"),
        }
    }

    /// Ends with this finish reason instead.
    pub fn finish(mut self, reason: &str) -> Self {
        self = self.disconnect();
        self.steps().push(Step::Finish { reason: reason.to_owned(), usage: usage(100, 10) });
        self
    }

    /// Ends without a finish reason, as a connection that breaks does.
    pub fn disconnect(mut self) -> Self {
        self.steps().retain(|step| !matches!(step, Step::Finish { .. }));
        self
    }

    /// Reports these tokens instead.
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        for step in self.steps() {
            if let Step::Finish { usage: reported, .. } = step {
                *reported = usage(input, output);
            }
        }
        self
    }

    /// Says this before everything else.
    pub fn after_text(mut self, text: &str) -> Self {
        self.steps().insert(0, Step::Delta(json!({"content": text})));
        self
    }

    /// Sends texts and arguments in pieces of `size` characters.
    pub fn split(mut self, size: usize) -> Self {
        let steps = std::mem::take(self.steps());
        *self.steps() = steps.into_iter().flat_map(|step| split(step, size)).collect();
        self
    }

    /// Pauses after each delta.
    pub fn pace(mut self, pause: Duration) -> Self {
        let steps = std::mem::take(self.steps());
        for step in steps {
            let is_delta = matches!(step, Step::Delta(_));
            self.steps().push(step);
            if is_delta {
                self.steps().push(Step::Pause(pause));
            }
        }
        self
    }

    /// Sends everything but the end, and that only when the gate opens.
    pub fn hold(mut self, gate: &Gate) -> Self {
        let steps = self.steps();
        let end = steps.iter().position(|step| matches!(step, Step::Finish { .. })).unwrap_or(steps.len());
        steps.insert(end, Step::Wait(gate.clone()));
        self
    }

    /// Sends nothing before the gate opens.
    pub fn begin_at(mut self, gate: &Gate) -> Self {
        self.steps().insert(0, Step::Wait(gate.clone()));
        self
    }

    /// Says this last.
    pub fn before_end(mut self, text: &str) -> Self {
        let steps = self.steps();
        let end = steps.iter().position(|step| matches!(step, Step::Finish { .. })).unwrap_or(steps.len());
        steps.insert(end, Step::Delta(json!({"content": text})));
        self
    }

    /// Sends an HTTP header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends the body in HTTP chunks.
    pub fn chunked(mut self) -> Self {
        self.chunked = true;
        self
    }
}

fn split(step: Step, size: usize) -> Vec<Step> {
    let Step::Delta(delta) = &step else { return vec![step] };
    if let Some(text) = delta["content"].as_str() {
        return pieces(text, size).map(|piece| Step::Delta(json!({"content": piece}))).collect();
    }
    let Some(arguments) = delta["tool_calls"][0]["function"]["arguments"].as_str() else { return vec![step] };
    let index = &delta["tool_calls"][0]["index"];
    let mut first = delta.clone();
    first["tool_calls"][0]["function"]["arguments"] = "".into();
    let rest = pieces(arguments, size)
        .map(|piece| json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}));
    std::iter::once(first).chain(rest).map(Step::Delta).collect()
}

fn pieces(text: &str, size: usize) -> impl Iterator<Item = String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size).map(String::from_iter).collect::<Vec<_>>().into_iter()
}
