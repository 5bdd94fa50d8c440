//! Black-box tests of `troupe auth` (section 1.6): what it prints, what it stores, how it ends.

#![allow(clippy::unwrap_used)]

mod support;

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use support::*;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

/// A model that nobody asks.
async fn sandbox() -> Sandbox {
    Sandbox::new(replies([text("ok")])).await
}

/// Runs `troupe auth …` with `input` and variables.
async fn auth(sandbox: &Sandbox, args: &[&str], input: &str, variables: &[(&str, &str)]) -> Finished {
    let mut command = sandbox.command(&[&["auth"], args].concat());
    command.envs(variables.iter().copied());
    agent::finish(command, input).await
}

fn stored(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read(sandbox.user_dir.join("auth.json"))).unwrap()
}

#[tokio::test]
async fn a_key_is_stored_from_standard_input_listed_printed_and_forgotten_1_6() {
    let sandbox = sandbox().await;
    let login = auth(&sandbox, &["login", "groq", "--api-key"], "gsk-hush-1\n", &[]).await;
    assert_eq!(login.code, Some(0), "{}", login.stderr);
    assert!(!format!("{}{}", login.stdout, login.stderr).contains("hush"));
    assert_eq!(stored(&sandbox), json!({"groq": {"type": "api_key", "key": "gsk-hush-1"}}));
    let mode = std::fs::metadata(sandbox.user_dir.join("auth.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "FC-011");
    let list = auth(&sandbox, &["list"], "", &[("XAI_API_KEY", "xai-hush"), ("OPENROUTER_API_KEY", "or-hush")]).await;
    let rows: Vec<Vec<_>> = list.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    for row in [
        ["groq", "api_key", "auth.json"],
        ["openrouter", "api_key", "OPENROUTER_API_KEY"],
        ["mock", "api_key", "models.json"],
    ] {
        assert!(rows.iter().any(|found| found == &row), "{row:?} in\n{}", list.stdout);
    }
    assert!(!list.stdout.contains("hush"));
    let printed = auth(&sandbox, &["print-api-key", "--provider", "groq"], "", &[("GROQ_API_KEY", "other")]).await;
    assert_eq!((printed.code, printed.stdout.as_str()), (Some(0), "gsk-hush-1\n"));
    for text in ["Logged out of groq.\n", "Nothing was stored for groq.\n"] {
        let logout = auth(&sandbox, &["logout", "groq"], "", &[]).await;
        assert_eq!((logout.code, logout.stdout.as_str()), (Some(0), text), "{}", logout.stderr);
    }
    assert_eq!(stored(&sandbox), json!({}));
}

#[tokio::test]
async fn check_answers_in_a_word_or_in_json_1_6() {
    let sandbox = sandbox().await;
    let expired = json!({"type": "oauth", "access": "t0", "expires": 1});
    let entries = json!({"xai": expired, "groq": {"type": "api_key", "key": "$UNSET_KEY"}, "anthropic":
        {"type": "oauth", "access": "sk-ant-oat-1", "refresh": "r", "expires": 4_000_000_000_000_i64}});
    sandbox.write(sandbox.user_dir.join("auth.json"), entries.to_string());
    let not_ready =
        |provider: &str, reason: &str| json!({"status": "not_ready", "provider": provider, "reason": reason});
    let table = [
        (vec!["--provider", "mock"], 0, json!({"status": "ready", "provider": "mock", "authType": "api_key"})),
        (vec!["--model", "m2"], 0, json!({"status": "ready", "provider": "mock", "authType": "api_key"})),
        (vec!["--provider", "anthropic"], 0, json!({"status": "ready", "provider": "anthropic", "authType": "oauth"})),
        (
            vec!["--provider", "mock", "--credentials"],
            0,
            json!({"status": "ready", "provider": "mock", "authType": "api_key", "credentials": "mock-key"}),
        ),
        (vec!["--provider", "nosuch"], 1, not_ready("nosuch", "provider_not_found")),
        (vec!["--provider", "deepseek"], 1, not_ready("deepseek", "credentials_not_configured")),
        (vec!["--provider", "groq"], 1, not_ready("groq", "credential_not_available")),
    ];
    for (args, code, expected) in table {
        let finished = auth(&sandbox, &[&["check", "--json"], &args[..]].concat(), "", &[]).await;
        let answer: Value = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!((finished.code, answer), (Some(code), expected.clone()), "{args:?}: {}", finished.stderr);
        let plain = auth(&sandbox, &[&["check"], &args[..]].concat(), "", &[]).await;
        let word = expected.get("credentials").unwrap_or(&expected["status"]);
        assert_eq!(plain.stdout, format!("{}\n", word.as_str().unwrap()));
    }
    sandbox.write(sandbox.user_dir.join("auth.json"), "{\"groq\": ");
    let broken = auth(&sandbox, &["check", "--provider", "mock", "--json"], "", &[]).await;
    let answer: Value = serde_json::from_str(&broken.stdout).unwrap();
    assert_eq!(
        (broken.code, &answer["status"], &answer["reason"]),
        (Some(2), &"invalid".into(), &"invalid_state".into())
    );
    let login = auth(&sandbox, &["login", "groq", "--api-key"], "k", &[]).await;
    assert_eq!(login.code, Some(1));
    assert_eq!(sandbox.read(sandbox.user_dir.join("auth.json")), "{\"groq\": ", "a broken file is not written over");
}

#[tokio::test]
async fn an_oddity_in_models_json_spoils_no_check_and_a_virtual_model_stands_for_what_answers_1_6() {
    let sandbox = sandbox().await;
    let models = json!({"providers": {"box": {"baseUrl": "https://box.test", "api": "openai-completions",
        "apikey": "odd", "models": [{"id": "b"}]}},
        "virtualModels": {"team/auto": {"rules": [{"use": ["nosuch/m", "box/b", "groq/openai/gpt-oss-120b"]}]}}});
    sandbox.write(sandbox.user_dir.join("models.json"), models.to_string());
    let ready = |key: &str| json!({"status": "ready", "provider": "groq", "authType": "api_key", "credentials": key});
    let none = json!({"status": "not_ready", "provider": "box", "reason": "credentials_not_configured"});
    let broken = json!({"status": "not_ready", "provider": "groq", "reason": "credential_not_available"});
    let table = [
        (["--provider", "groq"], "gsk-1", 0, ready("gsk-1")),
        (["--model", "team/auto"], "gsk-2", 0, ready("gsk-2")),
        (["--model", "team/auto"], "", 1, none),
        (["--provider", "groq"], "two\nlines", 1, broken),
    ];
    for (args, key, code, expected) in table {
        let args = [&["check", "--json", "--credentials"], &args[..]].concat();
        let finished = auth(&sandbox, &args, "", &[("GROQ_API_KEY", key)]).await;
        let answer: Value = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!((finished.code, answer), (Some(code), expected), "{args:?}: {}", finished.stderr);
    }
}

/// A server that answers as Ollama does, with one model; returns its address.
async fn ollama() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 2048];
            let read = stream.read(&mut head).await.unwrap();
            let body = match String::from_utf8_lossy(&head[..read]).split(' ').nth(1) {
                Some("/api/tags") => json!({"models": [{"name": "q:1", "model": "q:1"}]}),
                Some("/api/show") => json!({"capabilities": ["completion"], "model_info": {}}),
                _ => json!({"models": []}),
            };
            let body = body.to_string();
            let length = body.len();
            let answer = format!("HTTP/1.1 200 x\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    address
}

#[tokio::test]
async fn a_server_on_this_machine_is_asked_when_a_check_names_it() {
    let sandbox = sandbox().await;
    let there = ollama().await;
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string();
    let table = [
        (["--model", "ollama/q:1"], &there, 0, "ready\n", ""),
        (["--provider", "ollama"], &there, 0, "ready\n", ""),
        (["--provider", "ollama"], &nobody, 1, "not_ready\n", "Ollama does not answer at"),
    ];
    for (args, host, code, answer, said) in table {
        let finished = auth(&sandbox, &[&["check"], &args[..]].concat(), "", &[("OLLAMA_HOST", host)]).await;
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(code), answer), "{}", finished.stderr);
        assert!(finished.stderr.contains(said), "{}", finished.stderr);
    }
}

#[tokio::test]
async fn a_login_without_terminal_or_client_says_what_to_do_1_6() {
    let sandbox = sandbox().await;
    for (provider, hints) in [
        ("openrouter", vec!["needs a terminal", "--api-key < FILE"]),
        ("anthropic", vec!["client id", "settings.json", "{\"oauth\": {\"anthropic\": {\"clientId\"", "--api-key"]),
        ("grok", vec!["not found", "Did you mean groq?"]),
    ] {
        let finished = auth(&sandbox, &["login", provider], "", &[]).await;
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
        for hint in hints {
            assert!(finished.stderr.contains(hint), "{hint} in {}", finished.stderr);
        }
    }
    assert!(!sandbox.exists(sandbox.user_dir.join("auth.json")));
    for (settings, said) in [
        (r#"{"oauth": {"xai": {"clientID": "x"}}}"#, "\"clientID\" that stands there is not known"),
        (r#"{"oauth": "#, "settings.json:1:"),
    ] {
        sandbox.write(sandbox.user_dir.join("settings.json"), settings);
        let finished = auth(&sandbox, &["login", "xai"], "", &[]).await;
        assert!(finished.code == Some(1) && finished.stderr.contains(said), "{}", finished.stderr);
    }
    let wrong = auth(&sandbox, &["print-bearer-token", "--provider", "mock"], "", &[]).await;
    assert!(wrong.code == Some(1) && wrong.stderr.contains("print-api-key --provider mock"), "{}", wrong.stderr);
}

/// A token endpoint that takes each refresh token once; returns its address and how often it was asked.
async fn token_server() -> (String, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/token", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = Vec::new();
            let mut chunk = [0; 2048];
            while !String::from_utf8_lossy(&request).contains("refresh_token=r0") {
                let read = stream.read(&mut chunk).await.unwrap();
                assert!(read > 0, "the request names the refresh token");
                request.extend_from_slice(&chunk[..read]);
            }
            let (status, body) = match count.fetch_add(1, Ordering::SeqCst) {
                0 => (200, json!({"access_token": "a1", "refresh_token": "r1", "expires_in": 7200})),
                _ => (400, json!({"error": "invalid_grant"})),
            };
            let body = body.to_string();
            let length = body.len();
            let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (url, asked)
}

#[tokio::test]
async fn fc_015_five_processes_renew_a_token_once() {
    let sandbox = sandbox().await;
    let (url, asked) = token_server().await;
    let models = json!({"providers": {"gateway": {"baseUrl": "https://ai.example/v1", "api": "openai-completions",
        "oauth": {"authorizeUrl": "https://sso.example/", "tokenUrl": url, "clientId": "troupe"}, "models": [{"id": "g1"}]}}});
    sandbox.write(sandbox.user_dir.join("models.json"), models.to_string());
    let entry = json!({"gateway": {"type": "oauth", "access": "a0", "refresh": "r0", "expires": 1, "account": "kept"}});
    sandbox.write(sandbox.user_dir.join("auth.json"), entry.to_string());
    let stale = auth(&sandbox, &["check", "--provider", "gateway", "--no-refresh"], "", &[]).await;
    assert_eq!((stale.code, stale.stdout.as_str()), (Some(1), "not_ready\n"));
    let print = || auth(&sandbox, &["print-bearer-token", "--provider", "gateway"], "", &[]);
    let (a, b, c, d, e) = tokio::join!(print(), print(), print(), print(), print());
    for finished in [a, b, c, d, e] {
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "a1\n"), "{}", finished.stderr);
    }
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 1);
    assert_eq!(
        (&stored(&sandbox)["gateway"]["refresh"], &stored(&sandbox)["gateway"]["account"]),
        (&"r1".into(), &"kept".into())
    );
    assert!(!sandbox.exists(sandbox.user_dir.join("auth.json.lock")));
}
