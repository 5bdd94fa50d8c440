//! Bedrock requests as a server sees them.

use serde_json::{Value, json};
use tokio_stream::StreamExt;
use troupe::{
    protocol::{Failure, FailureClass, Message, StreamEvent},
    providers::{Request, Secret, aws::AwsCredentials, provider_for},
};

use crate::{
    manifest::{Fixture, fixtures},
    server::{Server, Step, head, response},
};

fn fixture(name: &str) -> Fixture {
    fixtures().into_iter().find(|fixture| fixture.file == format!("bedrock/{name}")).unwrap()
}

/// A whole answer, under a content type or none.
fn answer(content_type: Option<&str>) -> Vec<u8> {
    let body = fixture("text-basic.bin").body;
    let length = body.len().to_string();
    let kind = content_type.map(|kind| ("content-type", kind));
    let headers: Vec<_> = kind.into_iter().chain([("content-length", length.as_str())]).collect();
    [head(200, &headers), body].concat()
}

async fn run(request: Request) -> Result<String, Failure> {
    let batches: Vec<Vec<StreamEvent>> =
        provider_for("bedrock-converse-stream").unwrap().stream(request).collect().await;
    match batches.into_iter().flatten().last() {
        Some(StreamEvent::Done(message)) => Ok(troupe::protocol::message::text_of(&message.content, "")),
        Some(StreamEvent::Failed { failure, .. }) => Err(failure),
        other => panic!("no terminal event: {other:?}"),
    }
}

#[tokio::test]
async fn a_foreign_address_is_used_as_it_is_and_the_key_is_a_bearer_token() {
    let kind = "application/vnd.amazon.eventstream";
    let server = Server::start([Step::Answer(vec![answer(Some(kind))]), Step::Answer(vec![answer(None)])]).await;
    let mut request = fixture("text-basic.bin").request(&server.url);
    request.environment = [("AWS_REGION", "eu-west-1")].into_iter().collect();
    for _ in 0..2 {
        assert!(run(request.clone()).await.is_ok_and(|text| text.contains("ferry")));
    }
    let seen = server.seen().remove(0);
    let line = "POST /v1/model/us.anthropic.claude-sonnet-5-v1%3A0/converse-stream HTTP/1.1\r\n";
    assert!(seen.head.starts_with(line), "{}", seen.head);
    assert_eq!(seen.header("authorization"), Some("Bearer test-key-0123"));
    assert_eq!(seen.header("accept"), Some(kind));
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    assert_eq!(body["messages"][0]["content"][0]["text"], "hi");
    assert_eq!(body["additionalModelRequestFields"]["thinking"]["type"], "adaptive");
}

#[tokio::test]
async fn a_signature_names_the_host_that_is_asked() {
    let server = Server::start([Step::Answer(vec![answer(None)])]).await;
    let mut request = fixture("text-basic.bin").request(&server.url);
    request.api_key = None;
    request.aws = Some(AwsCredentials {
        access_key_id: "AKIDEXAMPLE".into(),
        secret_access_key: Secret::new("secret"),
        session_token: Some(Secret::new("session")),
    });
    run(request).await.unwrap();
    let seen = server.seen().remove(0);
    let host = server.url.trim_start_matches("http://").trim_end_matches("/v1");
    assert_eq!(seen.header("host"), Some(host), "the signed host is the one that is sent");
    let authorization = seen.header("authorization").unwrap();
    assert!(
        authorization.contains(
            "/us-east-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, "
        ),
        "{authorization}"
    );
    assert_eq!(seen.header("x-amz-security-token"), Some("session"));
}

#[tokio::test]
async fn refusals_say_what_amazon_says_and_thinking_that_is_refused_is_left_out_once() {
    let kind = ("content-type", "application/json");
    let bad_signature = json!({"message": "The model returned the following errors: messages.1.content.0: Invalid `signature` in `thinking` block"});
    let on_demand = json!({"message": "Invocation of model ID x with on-demand throughput isn\u{2019}t supported."});
    let error_type = ("x-amzn-errortype", "ValidationException:http://internal.amazon.com/x/");
    let server = Server::start([
        Step::Answer(vec![response(400, &[kind, error_type], &bad_signature.to_string())]),
        Step::Answer(vec![answer(None)]),
        Step::Answer(vec![response(400, &[kind, error_type, ("x-amzn-requestid", "77c0")], &on_demand.to_string())]),
        Step::Answer(vec![response(200, &[kind], "{\"error\":{\"message\":\"Too many requests\"}}")]),
        Step::Answer(vec![response(200, &[("content-type", "text/html")], "<html><title>Portal</title></html>")]),
    ])
    .await;
    let mut request = fixture("text-basic.bin").request(&server.url);
    let thought = json!({"role": "assistant", "api": "bedrock-converse-stream", "provider": "amazon-bedrock",
        "model": "us.anthropic.claude-sonnet-5-v1:0", "stopReason": "stop", "timestamp": 2, "content": [
            {"type": "thinking", "thinking": "old", "thinkingSignature": "stale"}, {"type": "text", "text": "said"}]});
    let user = request.messages[0].clone();
    request.messages.extend([serde_json::from_value::<Message>(thought).unwrap(), user]);
    run(request.clone()).await.unwrap();
    let content =
        |at: usize| serde_json::from_slice::<Value>(&server.seen()[at].body).unwrap()["messages"][1]["content"].take();
    assert_eq!(content(0)[0]["reasoningContent"]["reasoningText"]["signature"], "stale");
    assert_eq!(content(1), json!([{"text": "said"}]));

    let failure = run(request.clone()).await.unwrap_err();
    assert_eq!((failure.class, failure.status), (FailureClass::InvalidRequest, Some(400)));
    for part in ["ValidationException", "77c0", "inference profile"] {
        assert!(failure.message.contains(part), "{failure}");
    }
    assert_eq!(run(request.clone()).await.unwrap_err().class, FailureClass::RateLimited);
    let page = run(request).await.unwrap_err();
    assert!(page.class == FailureClass::ProtocolError && page.message.contains("text/html"), "{page}");
}
