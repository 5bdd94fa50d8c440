use std::time::Duration;

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::*;

/// How the server of a test behaves.
#[derive(Clone, Copy)]
enum Manner {
    /// Answers with a document for each path it knows, else with 404.
    Documents(&'static [(&'static str, &'static str)]),
    /// Answers everything with this.
    Raw(&'static str),
    /// Sends zeros for ever.
    Endless,
    /// Takes the connection and says nothing.
    Silent,
}

async fn server(manner: Manner) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, manner));
        }
    });
    url
}

async fn serve(mut stream: TcpStream, manner: Manner) {
    let mut request = Vec::new();
    let mut chunk = [0; 4096];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut chunk).await {
            Ok(read @ 1..) => request.extend_from_slice(&chunk[..read]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&request).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default();
    let answer = match manner {
        Manner::Documents(known) => match known.iter().find(|(at, _)| *at == path) {
            Some((_, body)) => format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()),
            None => "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned(),
        },
        Manner::Raw(answer) => answer.to_owned(),
        Manner::Endless => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            while stream.write_all(&[b'0'; 65536]).await.is_ok() {}
            return;
        }
        Manner::Silent => return std::future::pending().await,
    };
    let _ = stream.write_all(answer.as_bytes()).await;
}

/// An address where nobody listens.
async fn nobody() -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap()
}

/// More than any answer takes, so that a busy machine fails no test.
const AMPLE: Duration = Duration::from_secs(60);

const OLLAMA: Manner = Manner::Documents(&[
    ("/api/tags", r#"{"models": [{"model": "qwen3:8b"}, {"model": "old:1b"}]}"#),
    ("/api/ps", r#"{"models": [{"model": "qwen3:8b", "context_length": 16384}]}"#),
    (
        "/api/show",
        r#"{"model_info": {"q.context_length": 40960}, "capabilities": ["completion", "tools", "thinking"]}"#,
    ),
]);
const VLLM: Manner =
    Manner::Documents(&[("/v1/models", r#"{"object": "list", "data": [{"id": "org/m", "max_model_len": 8192}]}"#)]);

#[tokio::test]
async fn servers_that_answer_are_listed_with_the_window_that_they_have() {
    let servers =
        vec![(Server::Ollama, vec![server(OLLAMA).await]), (Server::Vllm, vec![nobody().await, server(VLLM).await])];
    let found = find_among(&servers, &Environment::default(), AMPLE).await;
    let summary: Vec<_> = found
        .iter()
        .flat_map(|found| &found.provider.models)
        .map(|model| (model.reference().to_string(), model.context_window, model.max_tokens, model.reasoning))
        .collect();
    let expected = [
        ("ollama/qwen3:8b".to_owned(), 16384, 8192, true),
        ("ollama/old:1b".to_owned(), 32768, 16384, true),
        ("vllm/org/m".to_owned(), 8192, 4096, false),
    ];
    assert_eq!(summary, expected);
    let ollama = &found[0];
    assert_eq!(ollama.guessed, ["old:1b"], "a model that is not loaded has no window yet");
    let model = &ollama.provider.models[0];
    assert_eq!(model.base_url, format!("{}v1", ollama.address), "the address without what must not be shown");
    assert_eq!((model.cost.input, model.cost.output), (0.0, 0.0));
    assert!(crate::providers::models_json::compat_faults(&model.api, model.compat.as_ref()).is_empty());
    assert!(ollama.provider.keys.keyless && ollama.provider.keys.api_key.is_none());
    assert_eq!(guess_note(&found, model), None);
    let note = guess_note(&found, &ollama.provider.models[1]).unwrap();
    assert!(note.contains("ollama/old:1b") && note.contains("OLLAMA_CONTEXT_LENGTH"), "{note}");
    let how = how_to_use(&found).unwrap();
    assert!(how.ends_with("To use one: troupe --model ollama/qwen3:8b"), "{how}");
    assert_eq!(how_to_use(&[]), None);
}

#[tokio::test]
async fn what_is_no_model_server_is_no_server_and_hides_no_real_one() {
    let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 13\r\n\r\n<html></html>";
    let elsewhere = "HTTP/1.1 302 Found\r\nlocation: https://example.invalid/\r\ncontent-length: 0\r\n\r\n";
    let other_json = "HTTP/1.1 200 OK\r\ncontent-length: 16\r\n\r\n{\"status\": \"ok\"}";
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"data\": [";
    let manners = [page, elsewhere, other_json, cut, "SSH-2.0-OpenSSH_9\r\n"].map(Manner::Raw);
    let mut servers = Vec::new();
    for manner in manners {
        for kind in Server::ALL {
            servers.push((kind, vec![server(manner).await]));
        }
    }
    servers.push((Server::LlamaCpp, vec![server(Manner::Endless).await]));
    servers.push((Server::Vllm, vec![server(VLLM).await]));
    let found = find_among(&servers, &Environment::default(), AMPLE).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].provider.models[0].reference().to_string(), "vllm/org/m");
}

#[tokio::test]
async fn a_server_that_says_nothing_costs_no_more_than_the_time_for_all() {
    let mut servers = Vec::new();
    for kind in Server::ALL {
        servers.push((kind, vec![server(Manner::Silent).await]));
    }
    assert!(find_among(&servers, &Environment::default(), Duration::from_millis(20)).await.is_empty());
}

#[tokio::test]
async fn a_named_server_that_is_not_there_says_where_it_was_looked_for() {
    let (first, second) = (nobody().await, server(Manner::Raw("HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n")).await);
    let urls = [first.clone(), second.clone()];
    let error = find_at(Server::LlamaCpp, &urls, &Environment::default()).await.unwrap_err().to_string();
    for part in [first.as_str(), second.as_str(), "HTTP status 503", "LLAMA_BASE_URL", "provider \"llama.cpp\""] {
        assert!(error.contains(part), "{part} in {error}");
    }
}

#[tokio::test]
async fn an_old_lm_studio_has_the_common_list_alone() {
    let url = server(VLLM).await;
    let found = find_at(Server::LmStudio, &[url], &Environment::default()).await.unwrap();
    assert_eq!(found.provider.models[0].reference().to_string(), "lmstudio/org/m");
}

#[test]
fn names_begin_with_the_server_s_id() {
    let table = [
        ("ollama/qwen3:8b", Some(Server::Ollama)),
        ("Ollama", Some(Server::Ollama)),
        ("llama.cpp/x", Some(Server::LlamaCpp)),
        ("openrouter/ollama/x", None),
        ("ollamax/y", None),
        ("", None),
    ];
    for (name, expected) in table {
        assert_eq!(Server::named_by(name), expected, "{name}");
    }
}

#[test]
fn a_window_that_nobody_tells_is_never_above_the_model_s_own() {
    let listed = |largest| Listed { id: "m".into(), largest_window: largest, ..Listed::default() };
    for (largest, expected) in [(None, UNTOLD_WINDOW), (Some(4096), 4096), (Some(1 << 20), UNTOLD_WINDOW)] {
        assert_eq!(model(Server::Ollama, "u", listed(largest)).context_window, expected);
    }
    assert_eq!(model(Server::Ollama, "u", Listed { window: Some(1), ..listed(None) }).max_tokens, 1);
    assert_eq!(json!(model(Server::Vllm, "u", listed(None)).compat)["maxTokensField"], "max_tokens");
}
