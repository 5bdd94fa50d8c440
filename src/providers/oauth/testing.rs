//! A token server for tests: answers by a script and records what it was asked.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use reqwest::Url;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// A request to the server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// Method and path.
    pub line: String,
    /// Headers by lower-case name.
    pub headers: HashMap<String, String>,
    /// The form's or the JSON object's fields.
    pub fields: HashMap<String, String>,
}

type Script = dyn Fn(usize, &Asked) -> (u16, Value) + Send + Sync;

/// A server on a free port. It ends with the test's runtime.
pub(crate) struct TokenServer {
    /// Where it is.
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl TokenServer {
    /// Starts a server; the script gets the request's number and the request.
    pub async fn start(script: impl Fn(usize, &Asked) -> (u16, Value) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (record, script): (_, Arc<Script>) = (asked.clone(), Arc::new(script));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, record.clone(), script.clone()));
            }
        });
        Self { url, asked }
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, record: Arc<Mutex<Vec<Asked>>>, script: Arc<Script>) {
    let mut bytes = Vec::new();
    let (head, length) = loop {
        let mut chunk = [0; 1024];
        let count = stream.read(&mut chunk).await.unwrap_or(0);
        if count == 0 {
            return;
        }
        bytes.extend_from_slice(&chunk[..count]);
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            bytes.drain(..end + 4);
            let asked = parse_head(&head);
            let length = asked.headers.get("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
            break (asked, length);
        }
    };
    while bytes.len() < length {
        let mut chunk = [0; 1024];
        let count = stream.read(&mut chunk).await.unwrap();
        bytes.extend_from_slice(&chunk[..count]);
    }
    let asked = Asked { fields: parse_fields(&String::from_utf8(bytes).unwrap()), ..head };
    let (status, answer) = {
        let mut all = record.lock().unwrap();
        all.push(asked.clone());
        script(all.len() - 1, &asked)
    };
    let body = answer.to_string();
    let text = format!(
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn parse_head(head: &str) -> Asked {
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    let line = first.rsplit_once(' ').map_or(first, |(line, _)| line).to_owned();
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    Asked { line, headers, ..Asked::default() }
}

fn parse_fields(body: &str) -> HashMap<String, String> {
    if let Ok(Value::Object(map)) = serde_json::from_str(body) {
        return map.into_iter().map(|(key, value)| (key, value.as_str().unwrap_or_default().to_owned())).collect();
    }
    query(&format!("http://x/?{body}"))
}

/// The query of a URL.
pub(crate) fn query(url: &str) -> HashMap<String, String> {
    Url::parse(url).unwrap().query_pairs().map(|(key, value)| (key.into_owned(), value.into_owned())).collect()
}
