//! A small HTTP server on a free port that does exactly what a test says, byte by byte.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

/// What is done after a request was read.
pub enum Step {
    /// Writes the pieces one by one and leaves the connection open for the next request.
    Answer(Vec<Vec<u8>>),
    /// Writes the pieces with a pause after each, then closes.
    Slowly(Vec<Vec<u8>>, Duration),
    /// Closes without a word.
    Close,
    /// Writes, waits to be told, and resets the connection.
    Reset(Vec<u8>, Arc<Notify>),
    /// Writes and keeps silent until the client closes, and says so.
    Hold(Vec<u8>, Arc<Notify>),
    /// Writes one answer, then closes as soon as the client is silent, and says so.
    AnswerAndClose(Vec<u8>, Arc<Notify>),
}

/// A request as it came in.
#[derive(Clone, Debug)]
pub struct Seen {
    pub head: String,
    pub body: Vec<u8>,
    /// Which connection it came on.
    pub connection: usize,
}

impl Seen {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    }
}

/// A running server; its tasks end with the test's runtime.
pub struct Server {
    pub url: String,
    pub seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Serves the steps in order, one for each request, over however many connections.
    pub async fn start(steps: impl IntoIterator<Item = Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let steps = Arc::new(Mutex::new(steps.into_iter().collect::<VecDeque<_>>()));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let server = Self { url, seen: seen.clone() };
        tokio::spawn(async move {
            let mut connection = 0;
            while let Ok((socket, _)) = listener.accept().await {
                socket.set_nodelay(true).unwrap();
                tokio::spawn(serve(socket, steps.clone(), seen.clone(), connection));
                connection += 1;
            }
        });
        server
    }

    /// What was seen so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(
    mut socket: TcpStream,
    steps: Arc<Mutex<VecDeque<Step>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
    connection: usize,
) {
    while let Some((head, body)) = read_request(&mut socket).await {
        seen.lock().unwrap().push(Seen { head, body, connection });
        let Some(step) = steps.lock().unwrap().pop_front() else { return };
        match step {
            Step::Answer(pieces) => {
                for piece in pieces {
                    if socket.write_all(&piece).await.is_err() {
                        return;
                    }
                }
            }
            Step::Slowly(pieces, pause) => {
                for piece in pieces {
                    if socket.write_all(&piece).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(pause).await;
                }
                return;
            }
            Step::Close => return,
            Step::Reset(bytes, told) => {
                socket.write_all(&bytes).await.unwrap();
                told.notified().await;
                socket.set_zero_linger().unwrap();
                return;
            }
            Step::Hold(bytes, closed) => {
                socket.write_all(&bytes).await.unwrap();
                let mut rest = Vec::new();
                let _ = socket.read_to_end(&mut rest).await;
                closed.notify_one();
                return;
            }
            Step::AnswerAndClose(bytes, closed) => {
                socket.write_all(&bytes).await.unwrap();
                socket.shutdown().await.unwrap();
                let mut rest = Vec::new();
                let _ = socket.read_to_end(&mut rest).await;
                closed.notify_one();
                return;
            }
        }
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let seen = Seen { head: head.clone(), body: Vec::new(), connection: 0 };
    let length: usize = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
    while bytes.len() < end + length {
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    Some((head, bytes[end..end + length].to_vec()))
}

/// A response head.
pub fn head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} Status\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    head.into_bytes()
}

/// A whole response with a length.
pub fn response(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let length = body.len().to_string();
    let mut all = headers.to_vec();
    all.push(("content-length", &length));
    let mut bytes = head(status, &all);
    bytes.extend_from_slice(body.as_bytes());
    bytes
}

/// The head of a stream in HTTP chunks.
pub fn stream_head() -> Vec<u8> {
    head(200, &[("content-type", "text/event-stream"), ("transfer-encoding", "chunked")])
}

/// One HTTP chunk.
pub fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// A whole answer of Chat Completions that says `text`.
pub fn answer(text: &str) -> Vec<u8> {
    let mut bytes = stream_head();
    bytes.extend(chunk(&delta(text)));
    bytes.extend(chunk(b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"));
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

/// One event of Chat Completions with a text delta.
pub fn delta(text: &str) -> Vec<u8> {
    format!("data: {}\n\n", serde_json::json!({"choices": [{"delta": {"content": text}}]})).into_bytes()
}
