//! Gemini over a connection: credentials of the surroundings, and a second wording after a refusal.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio_stream::StreamExt;
use troupe::{
    protocol::{AssistantMessage, Block, Message, StreamEvent, ToolCall},
    providers::{
        Request, Secret,
        credentials::ambient::{Ambient, Identity},
        environment::Environment,
        provider_for,
    },
};

use crate::{
    manifest::fixtures,
    server::{Server, Step, response},
};

const KEY: &str = include_str!("../../src/providers/google/adc/test_key.pem");

/// Credentials in a file that the environment names.
struct Setup {
    environment: Environment,
    _dir: tempfile::TempDir,
}

fn setup(file: &Value) -> Setup {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("credentials.json");
    std::fs::write(&path, file.to_string()).unwrap();
    let variables = [
        ("GOOGLE_APPLICATION_CREDENTIALS", path.to_str().unwrap()),
        ("GOOGLE_CLOUD_PROJECT", "p-1"),
        ("GOOGLE_CLOUD_LOCATION", "europe-west4"),
    ];
    Setup { environment: variables.into_iter().collect(), _dir: dir }
}

fn user_file(server: &Server) -> Value {
    json!({"type": "authorized_user", "client_id": "id-1", "client_secret": "hidden-secret", "refresh_token": "1//hidden/refresh",
        "token_uri": format!("{}/token", server.url)})
}

fn granted(token: &str, seconds: u64) -> Step {
    let body = json!({"access_token": token, "expires_in": seconds, "token_type": "Bearer"}).to_string();
    Step::Answer(vec![response(200, &[("content-type", "application/json")], &body)])
}

async fn token(environment: &Environment) -> Result<String, String> {
    match Ambient::Google.resolve(environment).await {
        Ok(Identity::Bearer(token)) => Ok(token.expose().to_owned()),
        Ok(Identity::Aws(_) | Identity::Unsigned) => panic!("another cloud"),
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test]
async fn a_login_is_exchanged_once_for_all_requests_and_again_shortly_before_its_end() {
    let server = Server::start([granted("short", 200), granted("t-1", 3600)]).await;
    let setup = setup(&user_file(&server));
    assert!(Ambient::Google.is_configured(&setup.environment));
    assert!(server.seen().is_empty(), "looking sends nothing");
    assert_eq!(token(&setup.environment).await.as_deref(), Ok("short"));
    let (one, two) = tokio::join!(token(&setup.environment), token(&setup.environment));
    assert_eq!((one.as_deref(), two.as_deref()), (Ok("t-1"), Ok("t-1")));
    assert_eq!(token(&setup.environment).await.as_deref(), Ok("t-1"));
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    assert!(seen[0].head.starts_with("POST /v1/token HTTP/1.1\r\n"));
    assert_eq!(seen[0].header("content-type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(
        String::from_utf8_lossy(&seen[0].body),
        "grant_type=refresh_token&client_id=id-1&client_secret=hidden-secret&refresh_token=1%2F%2Fhidden%2Frefresh"
    );
}

#[tokio::test]
async fn a_service_account_signs_for_its_token() {
    let server = Server::start([granted("s-1", 3600)]).await;
    let setup = setup(&json!({"type": "service_account", "client_email": "robot@p.iam", "private_key": KEY,
        "private_key_id": "k1", "token_uri": format!("{}/token", server.url)}));
    assert_eq!(token(&setup.environment).await.as_deref(), Ok("s-1"));
    let body = String::from_utf8(server.seen()[0].body.clone()).unwrap();
    let assertion =
        body.strip_prefix("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=").unwrap();
    assert_eq!(assertion.split('.').count(), 3, "{body}");
}

#[tokio::test]
async fn the_machine_is_asked_when_there_is_no_file() {
    let server = Server::start([granted("m-1", 3600)]).await;
    let host = server.url.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let environment: Environment =
        [("GCE_METADATA_HOST", host.as_str()), ("HOME", "/nonexistent")].into_iter().collect();
    assert_eq!(token(&environment).await.as_deref(), Ok("m-1"));
    let seen = server.seen().remove(0);
    assert!(seen.head.starts_with("GET /computeMetadata/v1/instance/service-accounts/default/token HTTP/1.1\r\n"));
    assert_eq!(seen.header("metadata-flavor"), Some("Google"));
    assert!(!Ambient::Google.is_configured(&environment), "without a project and a location there is nothing to ask");
}

#[tokio::test]
async fn what_goes_wrong_is_told_without_a_secret() {
    let body = r#"{"error":"invalid_grant","error_description":"Token has been expired or revoked."}"#;
    let refused = || Step::Answer(vec![response(400, &[], body)]);
    let server = Server::start([refused(), refused()]).await;
    let revoked = setup(&user_file(&server));
    let foreign = setup(&json!({"type": "external_account"}));
    let missing: Environment = [("GOOGLE_APPLICATION_CREDENTIALS", "/nonexistent/key.json")].into_iter().collect();
    let table = [
        (&revoked.environment, "expired or revoked"),
        (&revoked.environment, "gcloud auth application-default login"),
        (&foreign.environment, "\"external_account\" is not supported"),
        (&missing, "/nonexistent/key.json"),
    ];
    for (environment, text) in table {
        let problem = token(environment).await.unwrap_err();
        assert!(problem.contains(text) && !problem.contains("hidden"), "{problem}");
    }
}

fn request(file: &str, url: &str) -> Request {
    fixtures().into_iter().find(|fixture| fixture.file == file).unwrap().request(url)
}

async fn last_event(request: Request) -> StreamEvent {
    let api = request.model.api.clone();
    let batches: Vec<Vec<StreamEvent>> = provider_for(&api).unwrap().stream(request).collect().await;
    batches.into_iter().flatten().last().unwrap()
}

fn answered() -> Step {
    let body =
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"ok\"}]},\"finishReason\":\"STOP\"}]}\r\n\r\n";
    Step::Answer(vec![response(200, &[("content-type", "text/event-stream")], body)])
}

#[tokio::test]
async fn a_key_goes_out_as_a_header_and_a_token_names_its_project() {
    let server = Server::start([answered(), answered(), answered()]).await;
    assert!(matches!(last_event(request("google/text-basic.sse", &server.url)).await, StreamEvent::Done(_)));
    assert!(matches!(last_event(request("google/vertex-text.sse", &server.url)).await, StreamEvent::Done(_)));
    let mut by_token = request("google/vertex-text.sse", &server.url);
    by_token.api_key = Some(Secret::new("token-1"));
    by_token.headers.insert("Authorization".into(), "Bearer token-1".into());
    by_token.environment =
        [("GOOGLE_CLOUD_PROJECT", "p-1"), ("GOOGLE_CLOUD_LOCATION", "europe-west4")].into_iter().collect();
    assert!(matches!(last_event(by_token).await, StreamEvent::Done(_)));
    let seen = server.seen();
    let paths = [
        "/v1/models/gemini-3.8-flash",
        "/v1/publishers/google/models/gemini-3.8-flash",
        "/v1/projects/p-1/locations/europe-west4/publishers/google/models/gemini-3.8-flash",
    ];
    for (seen, path) in seen.iter().zip(paths) {
        let line = format!("POST {path}:streamGenerateContent?alt=sse HTTP/1.1\r\n");
        assert!(seen.head.starts_with(&line), "{}", seen.head);
    }
    let key = Some("test-key-0123");
    assert_eq!(seen.iter().map(|seen| seen.header("x-goog-api-key")).collect::<Vec<_>>(), [key, key, None]);
    assert_eq!(seen[2].header("authorization"), Some("Bearer token-1"));
}

#[tokio::test]
async fn broken_signatures_are_left_out_of_a_second_request() {
    let body = r#"{"error":{"code":400,"message":"Corrupted thought signature.","status":"INVALID_ARGUMENT"}}"#;
    let server = Server::start([Step::Answer(vec![response(400, &[], body)]), answered()]).await;
    let mut request = request("google/text-basic.sse", &server.url);
    let call =
        ToolCall { id: "c1".into(), name: "ls".into(), thought_signature: Some("abcd".into()), ..ToolCall::default() };
    let answer = AssistantMessage {
        api: request.model.api.clone(),
        provider: request.model.provider.clone(),
        model: request.model.id.clone(),
        content: vec![Block::ToolCall(call)],
        ..AssistantMessage::default()
    };
    request.messages.push(Message::Assistant(Arc::new(answer)));
    assert!(matches!(last_event(request).await, StreamEvent::Done(_)));
    let signatures = server.seen().into_iter().map(|seen| {
        let body: Value = serde_json::from_slice(&seen.body).unwrap();
        body["contents"][1]["parts"][0]["thoughtSignature"].clone()
    });
    assert_eq!(signatures.collect::<Vec<_>>(), ["abcd", "skip_thought_signature_validator"]);
}
