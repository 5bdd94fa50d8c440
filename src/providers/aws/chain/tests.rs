use std::{
    path::Path,
    sync::{Arc, Mutex as Lock},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;
use crate::protocol::time::iso;

/// A server that gives these answers, one for each request, and keeps the requests.
struct Server {
    url: String,
    seen: Arc<Lock<Vec<String>>>,
}

impl Server {
    async fn start(answers: &[(u16, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answers: Vec<(u16, String)> = answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect();
        let seen = Arc::new(Lock::new(Vec::new()));
        let server = Self { url, seen: seen.clone() };
        tokio::spawn(async move {
            for (status, body) in answers {
                let (mut socket, _) = listener.accept().await.unwrap();
                let mut request = Vec::new();
                while !is_whole(&request) && socket.read_buf(&mut request).await.unwrap() > 0 {}
                seen.lock().unwrap().push(String::from_utf8(request).unwrap());
                let head =
                    format!("HTTP/1.1 {status} Status\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                socket.write_all((head + &body).as_bytes()).await.unwrap();
            }
        });
        server
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
    body.len() >= length.parse::<usize>().unwrap()
}

fn environment(variables: &[(&str, &str)]) -> Environment {
    [("PATH", "/usr/bin:/bin")].iter().chain(variables).copied().collect()
}

fn in_minutes(minutes: Millis) -> String {
    iso(now_ms() + minutes * 60_000)
}

fn written(id: &str, expires: &str) -> String {
    format!(
        r#"{{"Version":1,"AccessKeyId":"{id}","SecretAccessKey":"s-{id}","Token":"t-{id}","Expiration":"{expires}"}}"#
    )
}

fn credentials(id: &str) -> AwsCredentials {
    AwsCredentials {
        access_key_id: id.into(),
        secret_access_key: Secret::new(&format!("s-{id}")),
        session_token: Some(Secret::new(&format!("t-{id}"))),
    }
}

fn xml(id: &str) -> String {
    format!(
        "<R xmlns=\"x\">\n <Credentials>\n  <AccessKeyId>{id}</AccessKeyId><SecretAccessKey>s-{id}</SecretAccessKey>\n  <SessionToken>t-{id}</SessionToken><Expiration>{}</Expiration></Credentials></R>",
        in_minutes(60)
    )
}

/// A config file whose profile `p` has these settings.
fn config(dir: &Path, settings: &str) -> String {
    let path = dir.join("config");
    std::fs::write(&path, format!("[profile p]\n{settings}\n")).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn variables_alone_tell_whether_credentials_are_configured() {
    let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
    let table: [(&[(&str, &str)], bool); 10] = [
        (&[], false),
        (&keys[..1], false),
        (&keys, true),
        (&[("AWS_PROFILE", "p")], true),
        (&[("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x")], true),
        (&[("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://x")], true),
        (&[("AWS_WEB_IDENTITY_TOKEN_FILE", "/x")], true),
        (&[("AWS_BEDROCK_SKIP_AUTH", "1")], true),
        (&[("AWS_BEDROCK_SKIP_AUTH", "0")], false),
        (&[("AWS_REGION", "eu-west-1"), ("HOME", "/nowhere")], false),
    ];
    for (variables, configured) in table {
        assert_eq!(is_configured(&environment(variables)), configured, "{variables:?}");
    }
}

#[tokio::test]
async fn a_command_runs_once_until_shortly_before_its_credentials_expire() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let runs = || std::fs::read_to_string(&log).unwrap_or_default().lines().count();
    let script = dir.path().join("give");
    let give = |expires: &str, id: &str| {
        std::fs::write(&script, format!("echo run >> '{}'\necho '{}'\n", log.display(), written(id, expires))).unwrap();
    };
    let path = config(dir.path(), &format!("credential_process = sh '{}'", script.display()));
    let environment = environment(&[("AWS_PROFILE", "p"), ("AWS_CONFIG_FILE", &path)]);

    give(&in_minutes(4), "one");
    let (first, second) = tokio::join!(resolve(&environment), resolve(&environment));
    assert_eq!((first, second), (Ok(credentials("one")), Ok(credentials("one"))));
    assert_eq!(runs(), 2, "four minutes are too little to keep");
    give(&in_minutes(6), "two");
    let (first, second) = tokio::join!(resolve(&environment), resolve(&environment));
    assert_eq!((first, second), (Ok(credentials("two")), Ok(credentials("two"))));
    assert_eq!(runs(), 3, "askers share an answer");
}

#[tokio::test]
async fn credentials_that_are_still_good_outlive_a_failed_renewal() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("give");
    std::fs::write(&script, format!("echo '{}'", written("old", &in_minutes(2)))).unwrap();
    let path = config(dir.path(), &format!("credential_process = sh '{}'", script.display()));
    let environment = environment(&[("AWS_PROFILE", "p"), ("AWS_CONFIG_FILE", &path)]);
    assert_eq!(resolve(&environment).await, Ok(credentials("old")));
    std::fs::write(&script, "exit 1").unwrap();
    assert_eq!(resolve(&environment).await, Ok(credentials("old")));
}

#[tokio::test]
async fn a_command_that_fails_is_explained_without_its_output() {
    let dir = tempfile::tempdir().unwrap();
    for (command, said) in [("echo secret-output", "no JSON"), ("echo secret-output; exit 3", "exit status: 3")] {
        let path = config(dir.path(), &format!("credential_process = {command}"));
        let error = resolve(&environment(&[("AWS_PROFILE", "p"), ("AWS_CONFIG_FILE", &path)])).await.unwrap_err();
        assert!(error.0.contains(said) && error.0.contains("\"p\"") && !error.0.contains("secret-output"), "{error}");
    }
}

#[tokio::test]
async fn a_container_is_asked_with_its_token() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("token");
    std::fs::write(&file, "from-file\n").unwrap();
    let body = written("container", &in_minutes(60));
    let server = Server::start(&[(200, &body), (403, "{\"message\":\"not you\"}")]).await;
    let uri = format!("{}/creds", server.url);
    let environment_of = |uri: &str| {
        environment(&[
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", uri),
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", file.to_str().unwrap()),
        ])
    };
    for _ in 0..2 {
        assert_eq!(resolve(&environment_of(&uri)).await, Ok(credentials("container")));
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 1, "the answer is kept");
    assert!(
        seen[0].starts_with("GET /creds HTTP/1.1\r\n") && seen[0].contains("authorization: from-file\r\n"),
        "{}",
        seen[0]
    );
    let refused = resolve(&environment_of(&format!("{uri}/other"))).await.unwrap_err();
    assert!(refused.0.contains("403") && refused.0.contains("not you"), "{refused}");
    let far = resolve(&environment_of("http://example.com/creds")).await.unwrap_err();
    assert!(far.0.contains("https"), "{far}");
}

#[tokio::test]
async fn a_role_is_taken_with_a_web_identity() {
    let dir = tempfile::tempdir().unwrap();
    let token = dir.path().join("token");
    std::fs::write(&token, "jwt.a+b\n").unwrap();
    let server = Server::start(&[(200, &xml("web")), (200, "<x/>")]).await;
    let environment_of = |role: &str| {
        environment(&[
            ("AWS_WEB_IDENTITY_TOKEN_FILE", token.to_str().unwrap()),
            ("AWS_ROLE_ARN", role),
            ("AWS_ENDPOINT_URL_STS", &server.url),
        ])
    };
    assert_eq!(resolve(&environment_of("arn:aws:iam::1:role/x")).await, Ok(credentials("web")));
    let seen = server.seen().remove(0);
    assert!(seen.starts_with("POST / HTTP/1.1\r\n") && !seen.contains("authorization:"), "{seen}");
    let form = "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fx&RoleSessionName=troupe&WebIdentityToken=jwt.a%2Bb";
    assert!(seen.ends_with(form), "{seen}");
    let odd = resolve(&environment_of("arn:other")).await.unwrap_err();
    assert!(odd.0.contains("Expiration"), "{odd}");
}

#[tokio::test]
async fn a_role_is_taken_with_other_credentials() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&[(200, &xml("role"))]).await;
    let settings = "role_arn = arn:r\ncredential_source = Environment\nexternal_id = word\nregion = eu-west-1";
    let path = config(dir.path(), settings);
    let environment = environment(&[
        ("AWS_PROFILE", "p"),
        ("AWS_CONFIG_FILE", &path),
        ("AWS_ENDPOINT_URL_STS", &server.url),
        ("AWS_ACCESS_KEY_ID", "base"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_SESSION_TOKEN", "session"),
    ]);
    assert_eq!(resolve(&environment).await, Ok(credentials("role")));
    let seen = server.seen().remove(0);
    assert!(
        seen.contains("authorization: AWS4-HMAC-SHA256 Credential=base/")
            && seen.contains("/eu-west-1/sts/aws4_request"),
        "{seen}"
    );
    assert!(seen.contains("x-amz-security-token: session\r\n") && seen.contains("x-amz-date: "), "{seen}");
    assert!(seen.ends_with("RoleArn=arn%3Ar&RoleSessionName=troupe&ExternalId=word"), "{seen}");
}

#[tokio::test]
async fn a_single_sign_on_uses_its_stored_login_until_it_is_over() {
    let home = tempfile::tempdir().unwrap();
    let cache = home.path().join(".aws/sso/cache");
    std::fs::create_dir_all(&cache).unwrap();
    let path =
        config(home.path(), "sso_start_url = u\nsso_region = eu-west-1\nsso_account_id = 12\nsso_role_name = a b");
    // SHA-1 of the start address.
    let file = cache.join("51e69892ab49df85c6230ccc57f8e1d1606caccc.json");
    let answer = format!(
        r#"{{"roleCredentials":{{"accessKeyId":"sso","secretAccessKey":"s-sso","sessionToken":"t-sso","expiration":{}}}}}"#,
        now_ms() + 3_600_000
    );
    let server = Server::start(&[(200, &answer)]).await;
    let environment = environment(&[
        ("AWS_PROFILE", "p"),
        ("AWS_CONFIG_FILE", &path),
        ("HOME", home.path().to_str().unwrap()),
        ("AWS_ENDPOINT_URL_SSO", &server.url),
    ]);
    let login = |expires: &str| {
        std::fs::write(&file, format!(r#"{{"accessToken":"login-token","expiresAt":"{expires}"}}"#)).unwrap()
    };
    let no_login = resolve(&environment).await.unwrap_err();
    assert!(no_login.0.contains("aws sso login --profile p"), "{no_login}");
    login(&in_minutes(-1));
    let over = resolve(&environment).await.unwrap_err();
    assert!(over.0.contains("is over") && !over.0.contains("login-token"), "{over}");
    login(&in_minutes(10).replace('Z', "UTC"));
    assert_eq!(resolve(&environment).await, Ok(credentials("sso")));
    let seen = server.seen().remove(0);
    assert!(seen.starts_with("GET /federation/credentials?role_name=a%20b&account_id=12 HTTP/1.1\r\n"), "{seen}");
    assert!(seen.contains("x-amz-sso_bearer_token: login-token\r\n"), "{seen}");
}
