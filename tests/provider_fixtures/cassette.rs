//! Cassettes: what a recorded run received, a replay receives again, the bad days included.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::{sync::Notify, time::Instant};
use tokio_stream::StreamExt;
use troupe::{
    protocol::{FailureClass, StreamEvent},
    providers::cassette::Pace,
};

use crate::{
    compare::check,
    http::response as recorded_response,
    manifest::{End, fixtures},
    server::{Server, Step, answer, chunk, delta, response, stream_head},
    shelf::{NOWHERE, Shelf, end, events, recorded, replayed, request, run, stream},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_recorded_body_gives_the_same_again_without_a_server() {
    for fixture in fixtures() {
        let shelf = Shelf::new();
        let recorder = shelf.recorder();
        let pieces: Vec<&[u8]> = fixture.delivered().chunks(700).collect();
        let writes = recorded_response(&fixture, &pieces);
        let told = Arc::new(Notify::new());
        let step = match fixture.end {
            End::Eof => Step::Answer(writes),
            End::Reset(_) => Step::Reset(writes.concat(), told.clone()),
            End::Abort(_) => Step::Hold(writes.concat(), told.clone()),
        };
        let server = Server::start([step]).await;
        let asked = fixture.request(&server.url);
        let cancel = asked.cancel.clone();
        let text = |events: &[StreamEvent]| -> usize {
            let of =
                |event: &StreamEvent| if let StreamEvent::TextDelta { delta, .. } = event { delta.len() } else { 0 };
            events.iter().map(of).sum()
        };
        let blocks = fixture.expect["message"]["content"].as_array().unwrap();
        let expected: usize = blocks.iter().map(|block| block["text"].as_str().unwrap_or_default().len()).sum();
        let mut live = Vec::new();
        let mut streaming = stream(asked, &recorded(&recorder));
        while let Some(batch) = streaming.next().await {
            live.extend(batch);
            if text(&live) == expected {
                match fixture.end {
                    End::Reset(_) => told.notify_one(),
                    End::Abort(_) => cancel.cancel(),
                    End::Eof => {}
                }
            }
        }
        drop(streaming);
        check(&fixture, "recorded", &live);
        let player = shelf.player(|_| {});
        let again = events(fixture.request(NOWHERE), &replayed(&player)).await;
        check(&fixture, "replayed", &again);
        assert_eq!(end(&again).1, end(&live).1, "{}", fixture.file);
        assert_eq!(shelf.notices(), [""; 0], "{}", fixture.file);
    }
}

#[tokio::test]
async fn bodies_that_are_no_text_are_kept_byte_by_byte() {
    let shelf = Shelf::new();
    let recorder = shelf.recorder();
    let mut bytes = stream_head();
    let umlaut = "data: {\"choices\":[{\"delta\":{\"content\":\"ü\"}}]}\n\n".as_bytes();
    let cut = umlaut.iter().position(|byte| *byte == 0xc3).unwrap() + 1;
    bytes.extend(chunk(&umlaut[..cut]));
    let rest = [
        umlaut[cut..].to_vec(),
        b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\xfe\"},\"finish_reason\":\"stop\"}]}\n\n".to_vec(),
    ]
    .concat();
    let server =
        Server::start([Step::Slowly(vec![bytes, chunk(&rest), b"0\r\n\r\n".to_vec()], Duration::from_millis(20))])
            .await;
    let live = run(request(&server.url, "hi"), &recorded(&recorder)).await;
    assert!(live.0.starts_with('ü'), "{live:?}");
    assert!(shelf.text().contains("\"base64\":"), "{}", shelf.text());
    assert_eq!(run(request(NOWHERE, "hi"), &replayed(&shelf.player(|_| {}))).await, live);
}

#[tokio::test]
async fn faults_of_the_transport_happen_again() {
    let shelf = Shelf::new();
    let recorder = shelf.recorder();
    let half = [stream_head(), chunk(&delta("half"))].concat();
    let steps = [
        Step::Close,
        Step::Close,
        Step::Hold(Vec::new(), Arc::new(Notify::new())),
        Step::Hold(half, Arc::new(Notify::new())),
        Step::Answer(vec![response(429, &[("retry-after", "7")], r#"{"error":{"message":"slow down"}}"#)]),
        Step::Answer(vec![response(200, &[("content-type", "text/html")], "<title>Login</title>")]),
    ];
    let server = Server::start(steps).await;
    let refused = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}/v1", refused.local_addr().unwrap());
    drop(refused);
    let ask = |url: &str, text: &str| {
        let mut asked = request(url, text);
        asked.timeouts.first_byte = Some(Duration::from_millis(80));
        asked.timeouts.idle = Some(Duration::from_millis(80));
        asked
    };
    let texts = ["nobody", "closed", "silent", "stalled", "limited", "page"];
    let mut live = Vec::new();
    for text in texts {
        let url = if text == "nobody" { &nobody } else { &server.url };
        live.push(run(ask(url, text), &recorded(&recorder)).await);
    }
    let classes: Vec<_> = live.iter().map(|(_, failure)| failure.as_ref().unwrap().class).collect();
    use FailureClass::{Network, ProtocolError, RateLimited};
    assert_eq!(classes, [Network, Network, Network, Network, RateLimited, ProtocolError]);
    assert_eq!((live[3].0.as_str(), live[4].1.as_ref().unwrap().retry_after_ms), ("half", Some(7000)));
    let player = shelf.player(|_| {});
    // Whatever order they are asked in.
    for (text, live) in texts.iter().zip(&live).rev() {
        assert_eq!(run(request(NOWHERE, text), &replayed(&player)).await, *live, "{text}");
    }
    assert_eq!(shelf.notices(), [""; 0]);
}

#[tokio::test]
async fn an_answer_that_nobody_waited_for_is_an_abort() {
    let shelf = Shelf::new();
    let recorder = shelf.recorder();
    let half = [stream_head(), chunk(&delta("half"))].concat();
    let server = Server::start([Step::Hold(half, Arc::new(Notify::new()))]).await;
    let mut streaming = stream(request(&server.url, "hi"), &recorded(&recorder));
    streaming.next().await.unwrap();
    drop(streaming);
    let (text, failure) = run(request(NOWHERE, "hi"), &replayed(&shelf.player(|_| {}))).await;
    assert_eq!((text.as_str(), failure.unwrap().class), ("half", FailureClass::Aborted));
}

#[tokio::test]
async fn a_retried_request_is_two_exchanges_and_a_replay_does_not_wait_between_them() {
    let shelf = Shelf::new();
    let recorder = shelf.recorder();
    let refusal = response(429, &[("retry-after-ms", "300")], "slow");
    let server = Server::start([Step::Answer(vec![refusal]), Step::Answer(vec![answer("ok")])]).await;
    let ask = |url| {
        let mut asked = request(url, "hi");
        asked.retry.max_retries = 1;
        asked
    };
    assert_eq!(run(ask(&server.url), &recorded(&recorder)).await, ("ok".to_owned(), None));
    assert_eq!(recorder.exchanges(), 2);
    let (player, begun) = (shelf.player(|_| {}), Instant::now());
    assert_eq!(run(ask(NOWHERE), &replayed(&player)).await, ("ok".to_owned(), None));
    assert!(begun.elapsed() < Duration::from_millis(250));
    assert_eq!((player.played().played, shelf.notices().len()), (2, 0));
}

#[tokio::test]
async fn a_cassette_that_was_cut_off_plays_to_the_cut() {
    let shelf = Shelf::new();
    let recorder = shelf.recorder();
    let pieces: Vec<_> = ["a", "b", "c"].iter().map(|text| chunk(&delta(text))).collect();
    let server = Server::start([Step::Slowly([vec![stream_head()], pieces].concat(), Duration::from_millis(30))]).await;
    run(request(&server.url, "hi"), &recorded(&recorder)).await;
    let text = shelf.text();
    let lines: Vec<_> = text.lines().collect();
    let cut = |keep: usize| {
        std::fs::write(&shelf.file, format!("{}\n{{\"type\":\"chu", lines[..keep].join("\n"))).unwrap();
        shelf.player(|_| {})
    };
    let place = |kind: &str| lines.iter().position(|line| line.contains(&format!("\"type\":\"{kind}\""))).unwrap();

    let (text, failure) = run(request(NOWHERE, "hi"), &replayed(&cut(place("chunk") + 1))).await;
    assert_eq!((text.as_str(), failure.unwrap().class), ("a", FailureClass::StreamTruncated));
    assert!(shelf.notices()[0].contains("ends within a line"), "{:?}", shelf.notices());
    assert!(shelf.notices()[1].starts_with("Exchange 1 of the cassette"), "{:?}", shelf.notices());

    let (_, failure) = run(request(NOWHERE, "hi"), &replayed(&cut(place("request") + 1))).await;
    let failure = failure.unwrap();
    assert_eq!(failure.class, FailureClass::StreamTruncated);
    assert!(failure.message.contains("was cut off before exchange 1 was answered"), "{failure}");
}

#[tokio::test(start_paused = true)]
async fn at_the_recorded_speed_every_piece_comes_when_it_came() {
    let shelf = Shelf::new();
    let model = serde_json::to_value(&*request(NOWHERE, "").model).unwrap();
    let asked = json!({"type": "request", "exchange": 1, "at": "", "api": "openai-completions",
        "provider": model["provider"], "model": model["id"], "thinking": "medium", "access": "key", "method": "POST",
        "url": "", "headers": {}, "body": {}});
    let text = |text: &str| String::from_utf8(delta(text)).unwrap();
    let records = [
        json!({"type": "cassette", "version": 1, "program": "", "created": ""}),
        json!({"type": "model", "model": model}),
        asked,
        json!({"type": "response", "exchange": 1, "ms": 2000, "status": 200, "headers": {}}),
        json!({"type": "chunk", "exchange": 1, "ms": 5000, "text": text("a")}),
        json!({"type": "chunk", "exchange": 1, "ms": 90_000, "text": text("b")}),
        json!({"type": "end", "exchange": 1, "ms": 400_000}),
    ];
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(&shelf.file, lines).unwrap();
    for (pace, expected) in [(Pace::Recorded, vec![5, 90, 400]), (Pace::Full, vec![0])] {
        let player = shelf.player(|replay| replay.pace = pace);
        let mut asked = request(NOWHERE, "hi");
        // The limits of this run are not those of the recorded one.
        asked.timeouts.idle = Some(Duration::from_secs(1));
        let (begun, mut times) = (Instant::now(), Vec::new());
        let mut streaming = stream(asked, &replayed(&player));
        while streaming.next().await.is_some() {
            times.push(begun.elapsed().as_secs());
        }
        assert_eq!(times, expected, "{pace:?}");
    }
}
