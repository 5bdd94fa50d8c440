//! The test harness itself: a fault in it would show as a fault of the program, or hide one.

#![allow(clippy::unwrap_used)]

mod support;

use serde_json::{Value, json};
use support::*;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

#[test]
fn conversations_that_vendors_refuse_are_told_from_good_ones() {
    let assistant = |ids: &[&str]| {
        let calls: Vec<_> = ids.iter().map(|id| json!({"id": id, "function": {"arguments": "{}"}})).collect();
        json!({"role": "assistant", "content": "", "tool_calls": calls})
    };
    let tool = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});
    let user = |content: Value| json!({"role": "user", "content": content});
    let broken = json!({"role": "assistant", "tool_calls": [{"id": "a", "function": {"arguments": "{"}}]});
    let table = [
        (true, vec![user(json!("hi")), assistant(&["a", "b"]), tool("b"), tool("a"), user(json!("more"))]),
        (true, vec![user(json!([{"type": "image_url"}])), assistant(&[])]),
        (false, vec![tool("a")]),
        (false, vec![assistant(&["a"])]),
        (false, vec![assistant(&["a"]), user(json!("x")), tool("a")]),
        (false, vec![assistant(&["a", "b"]), tool("a"), tool("a")]),
        (false, vec![assistant(&["a"]), tool("a"), tool("a")]),
        (false, vec![assistant(&["a", "a"]), tool("a"), tool("a")]),
        (false, vec![broken, tool("a")]),
        (false, vec![user(json!(""))]),
        (false, vec![user(json!([{"type": "text", "text": ""}]))]),
    ];
    for (good, messages) in table {
        assert_eq!(strict(&messages).is_ok(), good, "{messages:?}");
    }
}

/// Sends a request with these headers and this body.
async fn post(server: &Server, headers: &str, body: &str) -> TcpStream {
    let url = server.url();
    let address = url.trim_start_matches("http://").trim_end_matches("/v1");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("POST /v1/chat/completions HTTP/1.1\r\n{headers}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    within("end of the answer", stream.read_to_string(&mut text)).await.unwrap();
    text
}

#[tokio::test]
async fn answers_come_in_pieces_with_either_framing() {
    let server = Server::start(replies([text("abc").split(2), text("abc").chunked(), http(503, "busy")])).await;
    let got = answer(post(&server, "Content-Length: 13", r#"{"model":"m"}"#).await).await;
    let deltas: Vec<_> = got.lines().filter(|line| line.contains("\"content\"")).collect();
    assert_eq!(deltas.len(), 2, "{got}");
    assert!(got.contains("\"finish_reason\":\"stop\"") && got.ends_with("data: [DONE]\n\n"), "{got}");
    assert_eq!(server.last().body, json!({"model": "m"}));

    let got = answer(post(&server, "Transfer-Encoding: chunked", "5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n").await).await;
    assert!(got.contains("transfer-encoding: chunked") && got.ends_with("0\r\n\r\n"), "{got}");
    assert_eq!(server.last().body, json!({"a": 1}));

    let got = answer(post(&server, "Content-Length: 2", "{}").await).await;
    assert!(got.starts_with("HTTP/1.1 503 ") && got.contains("busy"), "{got}");
    assert_eq!(server.count(), 3);
}

#[tokio::test]
async fn a_client_that_leaves_is_noticed_while_the_model_says_nothing() {
    let server = Server::start(replies([hang("first")])).await;
    let mut stream = post(&server, "Content-Length: 2", "{}").await;
    let mut seen = String::new();
    while !seen.contains("first") {
        let mut bytes = [0; 1024];
        let count = within("first words", stream.read(&mut bytes)).await.unwrap();
        seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    drop(stream);
    server.request(0).await.closed().await;
}
