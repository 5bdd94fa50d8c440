//! The bad days of a connection, and how requests look on the wire.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::sync::Notify;
use tokio_stream::StreamExt;
use troupe::{
    protocol::{AssistantMessage, Block, Failure, FailureClass, Message, StopReason, StreamEvent, ThinkingBlock},
    providers::{EventStream, Request, Secret, provider_for},
};

use crate::{
    manifest::fixtures,
    server::{Server, Step, answer, chunk, delta, head, response, stream_head},
};

fn request(url: &str) -> Request {
    let fixture = fixtures().into_iter().find(|fixture| fixture.file.ends_with("usage-absent.sse")).unwrap();
    fixture.request(url)
}

fn stream(request: Request) -> EventStream {
    provider_for("openai-completions").unwrap().stream(request)
}

async fn run(request: Request) -> (Arc<AssistantMessage>, Option<Failure>) {
    let batches: Vec<Vec<StreamEvent>> = stream(request).collect().await;
    match batches.into_iter().flatten().last() {
        Some(StreamEvent::Done(message)) => (message, None),
        Some(StreamEvent::Failed { message, failure }) => (message, Some(failure)),
        other => panic!("no terminal event: {other:?}"),
    }
}

async fn text_of(request: Request) -> String {
    let (message, failure) = run(request).await;
    assert_eq!(failure, None);
    troupe::protocol::message::text_of(&message.content, "")
}

async fn failure_of(request: Request) -> Failure {
    run(request).await.1.expect("a failure")
}

#[tokio::test]
async fn a_request_says_who_asks_and_with_which_key() {
    let server = Server::start([Step::Answer(vec![answer("ok")])]).await;
    let mut asked = request(&server.url);
    asked.api_key = Some(Secret::new("sk-test-123\n"));
    assert_eq!(text_of(asked).await, "ok");
    let seen = server.seen().remove(0);
    assert!(seen.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", seen.head);
    assert_eq!(seen.header("authorization"), Some("Bearer sk-test-123"));
    assert!(seen.header("user-agent").unwrap().starts_with("troupe/"));
    assert_eq!(
        (seen.header("content-type"), seen.header("accept-encoding")),
        (Some("application/json"), Some("identity"))
    );
    let body: serde_json::Value = serde_json::from_slice(&seen.body).unwrap();
    assert_eq!((&body["stream"], &body["messages"][0]["content"]), (&json!(true), &json!("hi")));
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let server = Server::start([]).await;
    drop(stream(request(&server.url)));
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn one_read_of_the_socket_is_one_batch() {
    let mut bytes = stream_head();
    for word in ["a", "b", "c", "d"] {
        bytes.extend(chunk(&delta(word)));
    }
    let server = Server::start([Step::Hold(bytes, Arc::new(Notify::new()))]).await;
    let mut stream = stream(request(&server.url));
    let batch = stream.next().await.unwrap();
    let deltas = batch.iter().filter(|event| matches!(event, StreamEvent::TextDelta { .. })).count();
    assert_eq!(deltas, 4, "{batch:?}");
}

#[tokio::test]
async fn fc_037_a_key_that_no_header_carries_fails_without_a_request_and_unseen() {
    let server = Server::start([]).await;
    let mut asked = request(&server.url);
    asked.api_key = Some(Secret::new("sk-tést-987654321"));
    let failure = failure_of(asked).await;
    assert_eq!(failure.class, FailureClass::Auth);
    assert!(failure.message.contains("API key") && !failure.message.contains("987654321"), "{failure}");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn fc_106_a_server_that_echoes_the_key_does_not_get_it_into_the_text() {
    let body = r#"{"error":{"message":"wrong key test-key-0123"}}"#;
    let server = Server::start([Step::Answer(vec![response(401, &[], body)])]).await;
    let (message, failure) = run(request(&server.url)).await;
    let text = "401: {\"error\":{\"message\":\"wrong key [secret]\"}}";
    assert_eq!((failure.unwrap().message.as_str(), message.error_message.as_deref()), (text, Some(text)));
}

#[tokio::test]
async fn fc_035_a_server_that_never_answers_ends_in_a_time_out() {
    let server = Server::start([Step::Hold(Vec::new(), Arc::new(Notify::new()))]).await;
    let mut asked = request(&server.url);
    asked.timeouts.first_byte = Some(Duration::from_millis(60));
    let failure = failure_of(asked).await;
    assert_eq!((failure.class, failure.retryable), (FailureClass::Network, true));
    assert!(failure.message.starts_with("Request timed out: no answer within 0.06 s"), "{failure}");
}

#[tokio::test]
async fn a_stream_that_falls_silent_ends_in_a_time_out_and_keeps_its_text() {
    let mut bytes = stream_head();
    bytes.extend(chunk(&delta("half")));
    let server = Server::start([Step::Hold(bytes, Arc::new(Notify::new()))]).await;
    let mut asked = request(&server.url);
    asked.timeouts.idle = Some(Duration::from_millis(60));
    let (message, failure) = run(asked).await;
    let failure = failure.unwrap();
    assert!(failure.message.starts_with("Stream timed out: nothing arrived for 0.06 s"), "{failure}");
    assert_eq!((message.stop_reason, message.content.len()), (StopReason::Error, 1));
}

#[tokio::test]
async fn comments_keep_a_silent_stream_alive() {
    let mut pieces = vec![stream_head()];
    pieces.extend((0..8).map(|_| chunk(b": keep-alive\n\n")));
    pieces.push(
        [
            chunk(&delta("late")),
            chunk(b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"),
            b"0\r\n\r\n".to_vec(),
        ]
        .concat(),
    );
    let server = Server::start([Step::Slowly(pieces, Duration::from_millis(60))]).await;
    let mut asked = request(&server.url);
    asked.timeouts.idle = Some(Duration::from_millis(300));
    assert_eq!(text_of(asked).await, "late");
}

#[tokio::test]
async fn a_refused_connection_names_the_url_and_the_cause() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let failure = failure_of(request(&url)).await;
    assert_eq!((failure.class, failure.retryable, failure.status), (FailureClass::Network, true, None));
    let start = format!("Connection error: cannot reach {url}/chat/completions: ");
    assert!(failure.message.starts_with(&start) && failure.message.contains("refused"), "{failure}");
}

#[tokio::test]
async fn fc_040_a_connection_that_was_closed_while_idle_is_replaced_unseen() {
    let closed = Arc::new(Notify::new());
    let server =
        Server::start([Step::AnswerAndClose(answer("one"), closed.clone()), Step::Answer(vec![answer("two")])]).await;
    assert_eq!(text_of(request(&server.url)).await, "one");
    closed.notified().await;
    assert_eq!(text_of(request(&server.url)).await, "two");
}

#[tokio::test]
async fn fc_040_a_connection_that_closes_just_when_the_request_is_sent_is_tried_once_more() {
    let server =
        Server::start([Step::Answer(vec![answer("one")]), Step::Close, Step::Answer(vec![answer("two")])]).await;
    assert_eq!(text_of(request(&server.url)).await, "one");
    assert_eq!(text_of(request(&server.url)).await, "two");
    assert_eq!(server.seen().iter().map(|seen| seen.connection).collect::<Vec<_>>(), [0, 0, 1]);
    let dead = Server::start([Step::Close, Step::Close, Step::Answer(vec![answer("three")])]).await;
    let failure = failure_of(request(&dead.url)).await;
    assert!(failure.retryable && failure.message.contains("before it answered"), "{failure}");
    assert_eq!(dead.seen().len(), 2, "once more, not for ever");
}

#[tokio::test]
async fn a_kept_connection_serves_the_next_request() {
    let server = Server::start([Step::Answer(vec![answer("one")]), Step::Answer(vec![answer("two")])]).await;
    assert_eq!(text_of(request(&server.url)).await, "one");
    assert_eq!(text_of(request(&server.url)).await, "two");
    assert_eq!(server.seen().iter().map(|seen| seen.connection).collect::<Vec<_>>(), [0, 0]);
}

#[tokio::test]
async fn cancelling_ends_a_call_at_every_stage_at_once() {
    let closed = Arc::new(Notify::new());
    let mut bytes = stream_head();
    bytes.extend(chunk(&delta("half")));
    let steps = [Step::Hold(Vec::new(), closed.clone()), Step::Hold(bytes, closed.clone())];
    let server = Server::start(steps).await;

    let before = request(&server.url);
    before.cancel.cancel();
    assert_eq!(failure_of(before).await.class, FailureClass::Aborted);
    assert!(server.seen().is_empty());

    let waiting = request(&server.url);
    let cancel = waiting.cancel.clone();
    let call = tokio::spawn(failure_of(waiting));
    while server.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    let asked = Instant::now();
    cancel.cancel();
    assert_eq!(call.await.unwrap().message, "Request was aborted");
    assert!(asked.elapsed() < Duration::from_millis(150));
    closed.notified().await;

    let reading = request(&server.url);
    let cancel = reading.cancel.clone();
    let mut stream = stream(reading);
    stream.next().await.unwrap();
    cancel.cancel();
    let last = stream.next().await.unwrap();
    let Some(StreamEvent::Failed { message, failure }) = last.last() else { panic!("{last:?}") };
    assert_eq!(
        (message.stop_reason, message.content.len(), failure.class),
        (StopReason::Aborted, 1, FailureClass::Aborted)
    );
    closed.notified().await;
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let closed = Arc::new(Notify::new());
    let mut bytes = stream_head();
    bytes.extend(chunk(&delta("half")));
    let server = Server::start([Step::Hold(bytes, closed.clone())]).await;
    let mut stream = stream(request(&server.url));
    stream.next().await.unwrap();
    drop(stream);
    closed.notified().await;
}

#[tokio::test]
async fn fc_032_retries_inside_a_call_wait_as_the_server_asks() {
    let date = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(1);
    let date = date.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let waits: [&[(&str, &str)]; 3] =
        [&[("retry-after", "0.03")], &[("retry-after-ms", "20")], &[("retry-after", &date)]];
    for headers in waits {
        let server =
            Server::start([Step::Answer(vec![response(429, headers, "slow")]), Step::Answer(vec![answer("ok")])]).await;
        let mut asked = request(&server.url);
        asked.retry.max_retries = 1;
        let begun = Instant::now();
        assert_eq!(text_of(asked).await, "ok", "{headers:?}");
        let least = if headers[0].1.len() > 10 { 0 } else { 19 };
        assert!(begun.elapsed() >= Duration::from_millis(least), "{headers:?}");
    }
}

#[tokio::test]
async fn retries_inside_a_call_end_where_they_should() {
    let run = async |retries: u32, replies: Vec<Vec<u8>>| {
        let server = Server::start(replies.into_iter().map(|reply| Step::Answer(vec![reply]))).await;
        let mut asked = request(&server.url);
        asked.retry.max_retries = retries;
        let (_, failure) = run(asked).await;
        (server.seen().len(), failure.map(|failure| failure.message))
    };
    let busy = || response(503, &[("retry-after", "0")], "busy");
    assert_eq!(run(0, vec![busy()]).await, (1, Some("503: busy".into())));
    assert_eq!(run(2, vec![busy(), busy(), busy()]).await, (3, Some("503: busy".into())));
    assert_eq!(run(2, vec![busy(), busy(), answer("ok")]).await, (3, None));
    assert_eq!(run(2, vec![response(400, &[], "bad")]).await, (1, Some("400: bad".into())));
    let no = response(503, &[("x-should-retry", "false")], "no");
    assert_eq!(run(2, vec![no]).await, (1, Some("503: no".into())));
    let yes = || response(400, &[("x-should-retry", "true"), ("retry-after", "0")], "again");
    assert_eq!(run(1, vec![yes(), answer("ok")]).await, (2, None));
    let (seen, text) = run(2, vec![response(429, &[("retry-after", "120")], "slow")]).await;
    assert_eq!(
        (seen, text.as_deref()),
        (1, Some("429: slow (the server asks for a retry delay of 120 s, above the limit of 60 s)"))
    );
}

#[tokio::test]
async fn old_thinking_that_is_refused_is_left_out_in_a_second_try_and_from_then_on() {
    let refusal = r#"{"error":{"message":"messages.1.content.0: Invalid `signature` in `thinking` block"}}"#;
    let done = "data: {\"type\":\"message_start\",\"message\":{}}\n\ndata: {\"type\":\"message_stop\"}\n\n";
    let reply = response(200, &[("content-type", "text/event-stream")], done);
    let steps = [response(400, &[], refusal), reply.clone(), reply].map(|answer| Step::Answer(vec![answer]));
    let server = Server::start(steps).await;
    let fixture = fixtures().into_iter().find(|fixture| fixture.file.ends_with("anthropic/text-basic.sse")).unwrap();
    let mut asked = fixture.request(&server.url);
    let thinking = ThinkingBlock { thinking: "old".into(), thinking_signature: Some("sig".into()), redacted: None };
    let model = &asked.model;
    let past = AssistantMessage {
        content: vec![Block::Thinking(thinking), Block::text("said")],
        api: model.api.clone(),
        provider: model.provider.clone(),
        model: model.id.clone(),
        ..AssistantMessage::default()
    };
    asked.messages = vec![asked.messages[0].clone(), Message::Assistant(Arc::new(past)), asked.messages[0].clone()];
    asked.session_id = Some("a session whose old thinking is refused".into());
    for _ in 0..2 {
        let batches: Vec<_> = provider_for("anthropic-messages").unwrap().stream(asked.clone()).collect().await;
        assert!(matches!(batches.concat().last(), Some(StreamEvent::Done(_))));
    }
    let bodies: Vec<_> = server.seen().iter().map(|seen| String::from_utf8_lossy(&seen.body).into_owned()).collect();
    assert!(
        bodies[0].contains("\"signature\":\"sig\"")
            && !bodies[1].contains("\"signature\"")
            && bodies[1].contains("said")
    );
    assert_eq!(bodies[2], bodies[1], "what was refused is not sent again");
    assert_eq!(bodies.len(), 3);
}

#[tokio::test]
async fn a_wait_between_retries_is_cancelled_at_once() {
    let server = Server::start([Step::Answer(vec![response(429, &[("retry-after", "30")], "slow")])]).await;
    let mut asked = request(&server.url);
    asked.retry.max_retries = 1;
    let cancel = asked.cancel.clone();
    let call = tokio::spawn(failure_of(asked));
    while server.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    cancel.cancel();
    assert_eq!(call.await.unwrap().class, FailureClass::Aborted);
}

#[tokio::test]
async fn a_wrong_content_type_over_a_right_stream_is_forgiven() {
    for kind in ["application/json", "text/html", "text/plain", ""] {
        let mut bytes = head(200, &[("content-type", kind), ("connection", "close")]);
        bytes.extend(delta("ok"));
        bytes.extend_from_slice(b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
        let server = Server::start([Step::Slowly(vec![bytes], Duration::ZERO)]).await;
        assert_eq!(text_of(request(&server.url)).await, "ok", "{kind}");
    }
}

#[tokio::test]
async fn a_page_instead_of_a_stream_is_named() {
    let page = response(200, &[("content-type", "text/html")], "<html><title>Log in</title></html>");
    let untyped = response(200, &[], "<!DOCTYPE html>\n<html><title>Log in</title></html>");
    let server = Server::start([Step::Answer(vec![page]), Step::Answer(vec![untyped])]).await;
    for kind in ["text/html", "a web page"] {
        let failure = failure_of(request(&server.url)).await;
        assert_eq!(failure.class, FailureClass::ProtocolError);
        assert_eq!(
            failure.message,
            format!("Expected an event stream, got {kind} (Log in): check the provider's baseUrl")
        );
    }
}

#[tokio::test]
async fn fc_101_a_redirect_to_another_host_is_not_followed_and_named() {
    let other = Server::start([]).await;
    let location = format!("{}/elsewhere?key=1", other.url);
    let server = Server::start([Step::Answer(vec![response(307, &[("location", &location)], "")])]).await;
    let failure = failure_of(request(&server.url)).await;
    assert!(failure.message.contains(&format!("redirected to {}/elsewhere;", other.url)), "{failure}");
    assert!(other.seen().is_empty(), "no key goes to another host");
    let same = Server::start([
        Step::Answer(vec![response(308, &[("location", "/v2/there")], "")]),
        Step::Answer(vec![answer("ok")]),
    ])
    .await;
    assert_eq!(text_of(request(&same.url)).await, "ok");
    assert!(same.seen()[1].head.starts_with("POST /v2/there "));
}

#[tokio::test]
async fn fc_101_a_redirect_that_is_not_followed_names_the_whole_place() {
    // A 302 would change the method, so that it is not followed.
    for (location, target) in
        [("/v2/there?key=1", "/v2/there"), ("there", "/chat/there"), ("../x", "/x"), ("?a=b", "/chat/completions")]
    {
        let server = Server::start([Step::Answer(vec![response(302, &[("location", location)], "")])]).await;
        let failure = failure_of(request(&server.url)).await;
        let expected = format!("{target};");
        assert!(failure.message.contains("redirected to http://127.0.0.1:"), "{location}: {failure}");
        assert!(failure.message.contains(&expected), "{location}: {failure}");
    }
    let server = Server::start([Step::Answer(vec![response(302, &[], "")])]).await;
    let failure = failure_of(request(&server.url)).await;
    assert!(failure.message.contains("redirects to no place that it names"), "{failure}");
}

#[tokio::test]
async fn a_base_url_that_is_none_is_named() {
    for url in ["", "not a url", "/v1"] {
        let failure = failure_of(request(url)).await;
        assert!(failure.message.contains("baseUrl") && failure.message.contains("custom"), "{failure}");
        assert!(!failure.retryable);
    }
}
