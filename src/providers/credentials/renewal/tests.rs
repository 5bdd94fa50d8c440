use std::collections::HashMap;

use serde_json::json;

use super::*;
use crate::providers::{
    catalogue::tests::model,
    credentials::KeySources,
    environment::Environment,
    oauth::testing::{Asked, TokenServer},
};

struct Setup {
    dir: tempfile::TempDir,
    server: TokenServer,
}

impl Setup {
    /// A login that ended long ago, and a server whose refresh tokens are good for one use.
    async fn new(more: Value) -> Self {
        Self::with(more, |number, asked| match asked.fields.get("refresh_token").map(String::as_str) {
            Some(token) if token == format!("r{number}") => {
                let next = number + 1;
                (200, json!({"access_token": format!("a{next}"), "refresh_token": format!("r{next}"), "expires_in": 3600}))
            }
            _ => (400, json!({"error": "invalid_grant", "error_description": "r0 was used"})),
        })
        .await
    }

    async fn with(more: Value, script: impl Fn(usize, &Asked) -> (u16, Value) + Send + Sync + 'static) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut entry = json!({"type": "oauth", "access": "a0", "refresh": "r0", "expires": 1, "clientId": "mine"});
        entry.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        let setup = Self { dir, server: TokenServer::start(script).await };
        setup.write(&json!({"p": entry, "other": {"type": "api_key", "key": "k"}}));
        setup
    }

    fn write(&self, entries: &Value) {
        std::fs::write(self.dir.path().join("auth.json"), entries.to_string()).unwrap();
    }

    fn entry(&self) -> Value {
        let text = std::fs::read_to_string(self.dir.path().join("auth.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["p"].clone()
    }

    /// What a process of its own has.
    fn process(&self) -> Credentials {
        let oauth = json!({"authorizeUrl": "https://x.example/", "tokenUrl": self.server.url});
        let sources =
            KeySources { env: vec!["P_KEY".into()], oauth: oauth.as_object().cloned(), ..KeySources::default() };
        let environment: Environment = [("P_KEY", "from-env")].into_iter().collect();
        Credentials::load(self.dir.path(), environment, HashMap::from([("p".to_owned(), sources)]))
    }
}

async fn bearer(credentials: &Credentials) -> Result<String, CredentialError> {
    let auth = credentials.auth_for(&model("p", "m")).await?;
    Ok(auth.headers["Authorization"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn fc_015_a_token_is_renewed_once_whoever_asks_and_all_get_the_new_one() {
    let setup = Setup::new(json!({"accountId": "acc"})).await;
    let processes: Vec<_> = (0..5).map(|_| setup.process()).collect();
    let asked = processes.iter().flat_map(|process| [bearer(process), bearer(process)]);
    for token in futures_util::future::join_all(asked).await {
        assert_eq!(token.unwrap(), "Bearer a1");
    }
    let requests = setup.server.asked();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].fields["client_id"], "mine");
    let mut entry = setup.entry();
    assert!(entry["expires"].take().as_i64().unwrap() > now_ms());
    let expected = json!({"type": "oauth", "access": "a1", "refresh": "r1", "expires": null, "clientId": "mine", "accountId": "acc"});
    assert_eq!(entry, expected);
    assert_eq!(bearer(&processes[0]).await.unwrap(), "Bearer a1", "a fresh token is used as it is");
    assert_eq!(setup.server.asked().len(), 1);
}

#[tokio::test]
async fn a_renewal_that_fails_is_an_error_and_neither_the_login_nor_another_key_takes_its_place() {
    let setup = Setup::with(json!({}), |_, _| {
        (400, json!({"error": "invalid_grant", "error_description": "refresh token r0-long-enough? r0"}))
    })
    .await;
    let before = setup.entry();
    let error = bearer(&setup.process()).await.unwrap_err().to_string();
    for expected in ["provider p", "invalid_grant", "troupe auth login p"] {
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(setup.entry(), before);
    assert!(!setup.dir.path().join("auth.json.lock").exists());
}

#[tokio::test]
async fn what_cannot_be_renewed_says_why() {
    let expired = |more: Value| {
        let mut entry = json!({"type": "oauth", "access": "a0", "expires": 1});
        entry.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        entry
    };
    let setup = Setup::new(json!({})).await;
    for (entry, expected) in [
        (expired(json!({})), "no refresh token"),
        (expired(json!({"refresh": "r0"})), "set oauth.p.clientId in settings.json"),
    ] {
        setup.write(&json!({"p": entry}));
        let error = bearer(&setup.process()).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let process = setup.process();
    setup.write(&json!({}));
    assert!(bearer(&process).await.unwrap_err().to_string().contains("no login for it any more"));
    assert_eq!(setup.server.asked().len(), 0);
}

#[tokio::test]
async fn a_client_id_in_the_settings_renews_a_login_that_another_program_made() {
    let setup = Setup::new(json!({"clientId": null})).await;
    let settings = json!({"oauth": {"p": {"clientId": "theirs", "scopes": "x"}}});
    std::fs::write(setup.dir.path().join("settings.json"), settings.to_string()).unwrap();
    assert_eq!(bearer(&setup.process()).await.unwrap(), "Bearer a1");
    assert_eq!(setup.server.asked()[0].fields["client_id"], "theirs");
}

// The server's script blocks its thread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renewal_that_has_begun_is_saved_even_when_nobody_waits_any_more() {
    let (begun, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let setup = Setup::with(json!({}), move |_, _| {
        begun.send(()).unwrap();
        wait.lock().unwrap().recv_timeout(Duration::from_secs(20)).unwrap();
        (200, json!({"access_token": "a1", "refresh_token": "r1", "expires_in": 3600}))
    })
    .await;
    let process = setup.process();
    let waiting = tokio::spawn(async move { bearer(&process).await });
    has_begun.recv().await.unwrap();
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    go.send(()).unwrap();
    settle().await;
    assert_eq!(setup.entry()["refresh"], "r1");
}

#[tokio::test]
async fn how_fresh_a_token_must_be_is_the_askers_choice() {
    let setup = Setup::new(json!({"expires": now_ms() + 600_000})).await;
    let process = setup.process();
    assert_eq!(bearer(&process).await.unwrap(), "Bearer a0", "ten minutes are enough for a request");
    let stored = process.access("p", Freshness::Stored).await.unwrap();
    assert_eq!(stored.secret.unwrap().expose(), "a0");
    let long = process.access("p", Freshness::Longer(Duration::from_secs(1800))).await.unwrap();
    assert_eq!(long.secret.unwrap().expose(), "a1");
    let expired = Setup::new(json!({})).await;
    let refused = expired.process().access("p", Freshness::Stored).await.unwrap_err();
    assert_eq!(refused, CredentialError::Expired { provider: "p".into() });
    assert_eq!(expired.server.asked().len(), 0);
}
