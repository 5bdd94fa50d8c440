//! Cassettes: what of a request is kept, and which exchange answers it.

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::{Value, json};
use troupe::{
    protocol::{FailureClass, ThinkingLevel},
    providers::{
        Secret,
        cassette::{Places, Recorder, Secrets},
    },
};

use crate::{
    server::{Server, Step, answer, chunk, delta, response, stream_head},
    shelf::{NOWHERE, Shelf, recorded, replayed, request, run},
};

#[tokio::test]
async fn fc_106_no_key_gets_into_the_file_whatever_carries_or_echoes_it() {
    let key = "sk-test/0123+456\"789";
    let shelf = Shelf::new();
    let own = Secrets::new(["other-provider-key-1".to_owned()]);
    let recorder = Recorder::create(&shelf.file, Places::new(), own).unwrap();
    let echo = json!({"error": {"message": format!("wrong key {key} or header-secret-1 or query-secret-1")}});
    let body = echo.to_string().replace('/', "\\/");
    let (first, second) = body.split_at(body.find("0123").unwrap());
    let head = response(401, &[("set-cookie", "sid=cookie-value-1"), ("x-echo", key)], "");
    let head = String::from_utf8(head).unwrap().replace("content-length: 0", "transfer-encoding: chunked");
    let pieces = vec![head.into_bytes(), chunk(first.as_bytes()), chunk(second.as_bytes()), b"0\r\n\r\n".to_vec()];
    let server = Server::start([Step::Slowly(pieces, Duration::from_millis(20))]).await;
    let base = server.url.replace("http://", "http://me:password-1@");
    let mut asked = request(
        &format!("{base}?token=query-secret-1&x="),
        &format!("my key is {key}, another is other-provider-key-1"),
    );
    asked.api_key = Some(Secret::new(key));
    asked.headers = json!({"X-Own-Token": "header-secret-1", "X-Note": "by-hand-1"}).as_object().unwrap().clone();
    let model = Arc::make_mut(&mut asked.model);
    model.headers = json!({"x-model-key": "model-secret-1"}).as_object().cloned();
    let (_, failure) = run(asked, &recorded(&recorder)).await;
    assert_eq!(failure.unwrap().class, FailureClass::Auth);

    let text = shelf.text();
    let hidden = [
        "0123+456",
        "0123%2B456",
        "query-secret-1",
        "456\\\"789",
        "other-provider-key-1",
        "header-secret-1",
        "model-secret-1",
        "by-hand-1",
        "password-1",
        "cookie-value-1",
    ];
    for secret in hidden {
        assert!(!text.contains(secret), "{secret} in\n{text}");
    }
    let bodies: String = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .fold(String::new(), |bodies, record| bodies + record["text"].as_str().unwrap_or_default());
    assert!(!bodies.contains("0123") && bodies.contains("wrong key [secret] or [secret] or [secret]"), "{bodies}");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&shelf.file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_request_that_differs_is_named_with_the_place_and_answered_all_the_same_unless_strict() {
    let shelf = Shelf::new();
    let recorder = shelf.recorder();
    let server = Server::start(["one", "two"].map(|text| Step::Answer(vec![answer(text)]))).await;
    for text in ["first", "second"] {
        run(request(&server.url, text), &recorded(&recorder)).await;
    }
    let player = shelf.player(|_| {});
    assert_eq!(run(request(NOWHERE, "second"), &replayed(&player)).await.0, "two");
    assert_eq!(run(request(NOWHERE, "fist"), &replayed(&player)).await.0, "one");
    let file = shelf.file.display();
    let diverged = format!(
        "The run diverges from the cassette {file}: request 2 is not what exchange 1 (openai/gpt-test) was asked. First \
         difference at messages[0].content: recorded \"first\", now \"fist\""
    );
    let name = fixtures_model();
    let diverged = diverged.replace("openai/gpt-test", &name);
    assert_eq!(shelf.notices(), [format!("{diverged}. The recorded answer is played all the same.")]);
    let (_, failure) = run(request(NOWHERE, "third"), &replayed(&player)).await;
    let failure = failure.unwrap();
    let text = format!(
        "The cassette {file} has 2 exchanges with {name}, all of them played already. Request 3 \
         ends with message 1, from the user: \"third\""
    );
    assert_eq!((failure.message.as_str(), failure.retryable), (text.as_str(), false));
    let played = player.played();
    assert_eq!((played.exchanges, played.played, played.differing), (2, 2, 1));

    let strict = shelf.player(|replay| replay.strict = true);
    let (_, failure) = run(request(NOWHERE, "fist"), &replayed(&strict)).await;
    let failure = failure.unwrap();
    assert!(failure.message.contains("First difference at messages[0].content") && !failure.retryable, "{failure}");
    assert_eq!(run(request(NOWHERE, "first"), &replayed(&strict)).await.0, "one", "a refused request uses nothing up");

    let mut other = request(NOWHERE, "first");
    Arc::make_mut(&mut other.model).id = "another".to_owned();
    let (_, failure) = run(other, &replayed(&shelf.player(|_| {}))).await;
    assert!(failure.unwrap().message.contains(&format!("; it was recorded with {name}. Request 1 ends with")));
}

fn fixtures_model() -> String {
    request(NOWHERE, "").model.reference().to_string()
}

#[tokio::test]
async fn agents_with_the_same_model_follow_their_own_recorded_sessions() {
    let shelf = Shelf::new();
    let recorder = shelf.recorder();
    let ask = |url: &str, session: &str, text: &str| {
        let mut asked = request(url, text);
        asked.session_id = Some(session.to_owned());
        asked
    };
    let turns = [("left", "l1"), ("right", "r1"), ("left", "l2"), ("right", "r2")];
    let server = Server::start(turns.map(|(_, text)| Step::Answer(vec![answer(text)]))).await;
    for (session, text) in turns {
        run(ask(&server.url, session, text), &recorded(&recorder)).await;
    }
    let player = replayed(&shelf.player(|_| {}));
    // The right one begins, and only its first request is what it was.
    let asked = [("R", "r1", "r1"), ("R", "changed", "r2"), ("L", "new", "l1"), ("L", "new", "l2")];
    for (session, text, expected) in asked {
        assert_eq!(run(ask(NOWHERE, session, text), &player).await.0, expected, "{session} {text}");
    }
    assert_eq!(shelf.notices().len(), 3);
}

#[tokio::test]
async fn parallel_requests_are_kept_apart() {
    let shelf = Shelf::new();
    let recorder = shelf.recorder();
    let texts: Vec<String> = (0..8).map(|n| format!("request {n}")).collect();
    let mut running = Vec::new();
    for text in &texts {
        let server = Server::start([Step::Slowly(
            [
                vec![stream_head()],
                text.split(' ').map(|word| chunk(&delta(word))).collect(),
                vec![
                    chunk(b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"),
                    b"0\r\n\r\n".to_vec(),
                ],
            ]
            .concat(),
            Duration::from_millis(5),
        )])
        .await;
        let (asked, transport) = (request(&server.url, text), recorded(&recorder));
        running.push(tokio::spawn(async move { run(asked, &transport).await }));
    }
    let mut live = Vec::new();
    for call in running {
        live.push(call.await.unwrap());
    }
    let player = replayed(&shelf.player(|_| {}));
    for (text, live) in texts.iter().zip(&live).rev() {
        assert_eq!(live.0, text.replace(' ', ""));
        assert_eq!(run(request(NOWHERE, text), &player).await, *live);
    }
    assert_eq!(shelf.notices(), [""; 0]);
}

#[tokio::test]
async fn nothing_but_an_empty_file_is_written_over() {
    let shelf = Shelf::new();
    let create = || Recorder::create(&shelf.file, Places::new(), Secrets::default()).map(|_| ());
    std::fs::write(&shelf.file, "").unwrap();
    create().unwrap();
    let error = create().unwrap_err().to_string();
    assert!(error.contains("exists already and is not overwritten"), "{error}");
    assert_eq!(shelf.text().lines().count(), 1);
    let missing = Recorder::create(Path::new("/nonexistent/x"), Places::new(), Secrets::default()).map(|_| ());
    assert!(missing.unwrap_err().to_string().starts_with("the cassette /nonexistent/x cannot be written: "));
}

#[tokio::test]
async fn a_replay_needs_neither_the_key_nor_the_level_of_the_run_that_it_repeats() {
    let shelf = Shelf::new();
    let recorder = shelf.recorder();
    let server = Server::start([Step::Answer(vec![response(401, &[], "no")])]).await;
    let live = run(request(&server.url, "hi"), &recorded(&recorder)).await;
    let player = shelf.player(|_| {});
    let (model, thinking) = player.cassette().start().unwrap();
    assert_eq!((model.reference().to_string(), thinking), (fixtures_model(), ThinkingLevel::Medium));
    let mut asked = request(NOWHERE, "hi");
    asked.api_key = None;
    assert_eq!(run(asked, &replayed(&player)).await, live);
}
