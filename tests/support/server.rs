//! A chat-completions endpoint that answers by a script and records what it was asked.

use std::{
    io,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

use super::{
    Reply, Request,
    reply::{Body, Step},
    within,
};

type Script = Box<dyn FnMut(&Request) -> Reply + Send>;

/// A model server on a free port. It ends with the test's runtime.
pub struct Server {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    script: Mutex<Script>,
    requests: watch::Sender<Vec<Arc<Request>>>,
}

impl Server {
    /// Starts a server that answers each request with what `script` says.
    pub async fn start(script: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared =
            Arc::new(Shared { script: Mutex::new(Box::new(script)), requests: watch::Sender::new(Vec::new()) });
        let accepting = shared.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A client that goes away in the middle is part of the game: `Request::closed` tells.
                tokio::spawn(serve(stream, accepting.clone()));
            }
        });
        Self { port, shared }
    }

    /// Where the API begins.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Arc<Request>> {
        self.shared.requests.borrow().clone()
    }

    /// How many requests there were.
    pub fn count(&self) -> usize {
        self.shared.requests.borrow().len()
    }

    /// Request `n`, counted from 0; waits until it is there.
    pub async fn request(&self, n: usize) -> Arc<Request> {
        let mut requests = self.shared.requests.subscribe();
        let found = within("further request", requests.wait_for(|requests| requests.len() > n)).await.unwrap();
        found[n].clone()
    }

    /// The latest request.
    pub fn last(&self) -> Arc<Request> {
        self.shared.requests.borrow().last().cloned().expect("the model was asked")
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let head = Head::read(&mut reader).await?;
    if head.method != "POST" {
        let model = json!({"id": "listed", "object": "model", "max_model_len": 65_536});
        let models = Body::Whole(json!({"object": "list", "data": [model]}).to_string());
        let reply = Reply { status: 200, headers: Vec::new(), body: models, chunked: false };
        return send(&mut writer, &reply, &Value::Null, 0).await;
    }
    let body = head.body(&mut reader).await?;
    let (request, reply) = shared.record(head, &body);
    let model = request.body["model"].clone();
    tokio::select! {
        sent = send(&mut writer, &reply, &model, request.n) => sent?,
        () = gone(&mut reader) => {}
    }
    request.closed.send_replace(true);
    Ok(())
}

/// Returns when the client has closed its side.
async fn gone(reader: &mut BufReader<OwnedReadHalf>) {
    let mut bytes = [0; 64];
    while matches!(reader.read(&mut bytes).await, Ok(count) if count > 0) {}
}

impl Shared {
    fn record(&self, head: Head, body: &[u8]) -> (Arc<Request>, Reply) {
        let mut script = self.script.lock().unwrap();
        let request = Arc::new(Request {
            n: self.requests.borrow().len(),
            path: head.path,
            headers: head.headers,
            body: serde_json::from_slice(body).expect("requests are JSON"),
            closed: watch::Sender::new(false),
        });
        let reply = script(&request);
        self.requests.send_modify(|requests| requests.push(request.clone()));
        (request, reply)
    }
}

/// A request's first line and headers.
struct Head {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
}

impl Head {
    async fn read(reader: &mut BufReader<OwnedReadHalf>) -> io::Result<Self> {
        let first = line(reader).await?;
        let mut words = first.split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut headers = Vec::new();
        loop {
            let line = line(reader).await?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        Ok(Self { method, path, headers })
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    async fn body(&self, reader: &mut BufReader<OwnedReadHalf>) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if self.header("transfer-encoding") == Some("chunked") {
            loop {
                let size = usize::from_str_radix(&line(reader).await?, 16).map_err(io::Error::other)?;
                reader.take(size as u64).read_to_end(&mut body).await?;
                line(reader).await?;
                if size == 0 {
                    return Ok(body);
                }
            }
        }
        let size: u64 = self.header("content-length").and_then(|size| size.parse().ok()).unwrap_or(0);
        reader.take(size).read_to_end(&mut body).await?;
        Ok(body)
    }
}

/// One line without its end; empty at the end of the input.
async fn line(reader: &mut BufReader<OwnedReadHalf>) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

async fn send(writer: &mut OwnedWriteHalf, reply: &Reply, model: &Value, n: usize) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Scripted\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    match &reply.body {
        Body::Whole(body) => {
            let length = body.len();
            head.push_str(&format!("content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"));
            writer.write_all(head.as_bytes()).await?;
        }
        Body::Stream(steps) => {
            let framing = if reply.chunked { "transfer-encoding: chunked\r\n" } else { "" };
            head.push_str(&format!("content-type: text/event-stream\r\n{framing}\r\n"));
            writer.write_all(head.as_bytes()).await?;
            let mut stream = EventWriter { writer, chunked: reply.chunked, model, n };
            for step in steps {
                stream.step(step).await?;
            }
            if reply.chunked {
                stream.writer.write_all(b"0\r\n\r\n").await?;
            }
        }
    }
    writer.shutdown().await
}

/// A streamed body.
struct EventWriter<'a> {
    writer: &'a mut OwnedWriteHalf,
    chunked: bool,
    model: &'a Value,
    n: usize,
}

impl EventWriter<'_> {
    async fn step(&mut self, step: &Step) -> io::Result<()> {
        match step {
            Step::Delta(delta) => self.event(delta, Value::Null, None).await,
            Step::Finish { reason, usage } => {
                self.event(&json!({}), reason.as_str().into(), Some(usage)).await?;
                self.bytes(b"data: [DONE]\n\n").await
            }
            Step::Raw(bytes) => self.bytes(bytes).await,
            Step::Pause(pause) => {
                tokio::time::sleep(*pause).await;
                Ok(())
            }
            Step::Wait(gate) => {
                gate.opened().await;
                Ok(())
            }
            Step::Hang => std::future::pending().await,
        }
    }

    async fn event(&mut self, delta: &Value, finish: Value, usage: Option<&Value>) -> io::Result<()> {
        let mut chunk = json!({"id": format!("resp-{}", self.n), "object": "chat.completion.chunk",
            "created": 1_700_000_000, "model": self.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        if let Some(usage) = usage {
            chunk["usage"] = usage.clone();
        }
        self.bytes(format!("data: {chunk}\n\n").as_bytes()).await
    }

    async fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.chunked {
            return self.writer.write_all(bytes).await;
        }
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.writer.write_all(&chunk).await
    }
}
