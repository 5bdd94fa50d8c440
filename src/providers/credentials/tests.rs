use serde_json::json;

use super::*;
use crate::{protocol::Model, providers::catalogue::tests::model};

struct Setup {
    dir: tempfile::TempDir,
    credentials: Credentials,
}

fn setup(auth: &str, environment: &[(&str, &str)], sources: KeySources) -> Setup {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("auth.json"), auth).unwrap();
    let environment = environment.iter().copied().chain([("PATH", "/usr/bin:/bin")]).collect();
    let credentials = Credentials::load(dir.path(), environment, HashMap::from([("p".to_owned(), sources)]));
    Setup { dir, credentials }
}

fn of_p() -> Model {
    model("p", "m")
}

fn api_key(text: &str) -> KeySources {
    KeySources { env: vec!["P_KEY".into()], api_key: Some(KeyText::parse(text)), ..KeySources::default() }
}

#[tokio::test]
async fn the_nearest_source_wins_and_a_stored_key_owns_its_provider() {
    let stored = r#"{"p":{"type":"api_key","key":"stored"}}"#;
    let unset = r#"{"p":{"type":"api_key","key":"$UNSET"}}"#;
    let login = r#"{"p":{"type":"oauth","access":"t"}}"#;
    let later = r#"{"p":{"type":"passkey"}}"#;
    let blank = r#"{"p":{"type":"api_key","key":" "}}"#;
    let env = [("P_KEY", "from-env"), ("X", "from-x")];
    let env_only = || KeySources { env: vec!["OTHER".into(), "P_KEY".into()], ..KeySources::default() };
    let table = [
        (stored, api_key("config"), Ok("stored"), true),
        ("{}", api_key("config"), Ok("config"), true),
        ("{}", api_key("$X"), Ok("from-x"), true),
        ("{}", env_only(), Ok("from-env"), true),
        (login, env_only(), Ok("t"), true),
        (later, env_only(), Err("of a kind that this version does not know"), false),
        (unset, api_key("config"), Err("auth.json: p names the variable UNSET, which is not set"), false),
        (blank, env_only(), Err("the key from auth.json: p is empty"), false),
        ("{}", api_key("$UNSET"), Err("models.json: p.apiKey names the variable UNSET"), false),
        (
            "{}",
            KeySources::default(),
            Err("no API key for provider p: troupe auth login p, or set providers.p.apiKey"),
            false,
        ),
        ("{", env_only(), Err("Mend the file"), true),
    ];
    for (auth, sources, expected, configured) in table {
        let setup = setup(auth, &env, sources);
        assert_eq!(setup.credentials.is_configured("p"), configured, "{auth} {expected:?}");
        if let (Err(expected), false) = (expected, configured) {
            let missing = setup.credentials.missing_key("p").unwrap().to_string();
            assert!(missing.contains(expected), "said before a run as in it: {missing}");
        }
        match (setup.credentials.key_for(&of_p()).await, expected) {
            (Ok(Some(key)), Ok(expected)) => assert_eq!(key.expose(), expected),
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
            (outcome, expected) => panic!("{auth}: {outcome:?} instead of {expected:?}"),
        }
        setup.credentials.set_own_key("p", Secret::new("own"));
        assert_eq!(setup.credentials.key_for(&of_p()).await.unwrap(), Some(Secret::new("own")));
    }
}

#[tokio::test]
async fn stored_variables_count_for_their_provider_alone() {
    let auth = r#"{"p":{"type":"api_key","key":"$ACCOUNT-key","env":{"ACCOUNT":"abc"}}}"#;
    let headers = json!({"x-account": "${ACCOUNT}", "x-gone": null}).as_object().cloned().unwrap();
    let setup = setup(auth, &[("ACCOUNT", "outer")], KeySources { headers, ..KeySources::default() });
    let auth = setup.credentials.auth_for(&of_p()).await.unwrap();
    assert_eq!(auth.key, Some(Secret::new("abc-key")));
    assert_eq!(Value::Object(auth.headers), json!({"x-account": "abc", "x-gone": null}));
}

#[tokio::test]
async fn keys_go_out_as_bearer_tokens_where_the_provider_says_so() {
    let sources = KeySources {
        env: vec!["TOKEN".into(), "KEY".into()],
        bearer_env: vec!["TOKEN".into()],
        ..KeySources::default()
    };
    let token = setup("{}", &[("TOKEN", "t1"), ("KEY", "k1")], sources.clone());
    let headers = token.credentials.headers_for(&of_p()).await.unwrap();
    assert_eq!(Value::Object(headers), json!({"Authorization": "Bearer t1", "x-api-key": null}));
    let key = setup("{}", &[("KEY", "k1")], sources.clone());
    assert!(key.credentials.headers_for(&of_p()).await.unwrap().is_empty());
    let header = setup("{}", &[("KEY", "k1")], KeySources { auth_header: true, ..sources });
    let auth = header.credentials.auth_for(&of_p()).await.unwrap();
    assert_eq!(auth.headers["Authorization"], "Bearer k1");
    assert!(!format!("{auth:?}").contains("k1"), "debug output shows no key");
}

#[tokio::test]
async fn fc_037_keys_are_trimmed_and_a_stray_character_is_named_without_the_key() {
    let trimmed =
        setup("{}", &[("P_KEY", "sk-test-123\n")], KeySources { env: vec!["P_KEY".into()], ..KeySources::default() });
    assert_eq!(trimmed.credentials.key_for(&of_p()).await.unwrap().unwrap().expose(), "sk-test-123");
    let odd = setup("{}", &[("P_KEY", "sk-tést")], KeySources { env: vec!["P_KEY".into()], ..KeySources::default() });
    let error = odd.credentials.key_for(&of_p()).await.unwrap_err().to_string();
    assert!(error.contains("P_KEY") && error.contains("the 5. one") && !error.contains("sk-t"), "{error}");
}

#[tokio::test]
async fn commands_in_models_json_run_each_time_and_those_in_auth_json_once() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let line = format!("!echo run >> '{}'; echo key", log.path().display());
    let runs = || std::fs::read_to_string(log.path()).unwrap().lines().count();
    let configured = setup("{}", &[], api_key(&line));
    assert!(configured.credentials.is_configured("p") && runs() == 0, "nothing runs before the key is needed");
    for expected in 1..=2 {
        assert_eq!(configured.credentials.key_for(&of_p()).await.unwrap(), Some(Secret::new("key")));
        assert_eq!(runs(), expected);
    }
    let auth = json!({"p": {"type": "api_key", "key": line}}).to_string();
    let stored = setup(&auth, &[], KeySources::default());
    let again = stored.credentials.reload(stored.dir.path(), HashMap::new());
    for credentials in [&stored.credentials, &stored.credentials, &again] {
        assert_eq!(credentials.key_for(&of_p()).await.unwrap(), Some(Secret::new("key")));
    }
    assert_eq!(runs(), 3);
    let failing = setup("{}", &[], api_key("!exit 2"));
    let error = failing.credentials.key_for(&of_p()).await.unwrap_err().to_string();
    assert!(error.contains("models.json: p.apiKey") && error.contains("exit status: 2"), "{error}");
}

#[test]
fn fc_105_every_variable_that_may_hold_a_key_is_named() {
    let headers = json!({"x": "a $HEADER_VAR $HOME"}).as_object().cloned().unwrap();
    let model_headers = HashMap::from([("m".to_owned(), json!({"y": "$MODEL_VAR"}).as_object().cloned().unwrap())]);
    let sources = KeySources { headers, model_headers, ..api_key("$CONFIG_VAR") };
    let setup = setup(r#"{"q":{"type":"api_key","key":"x${STORED_VAR}"}}"#, &[], sources);
    let names = setup.credentials.secret_variables();
    for name in ["P_KEY", "HEADER_VAR", "MODEL_VAR", "CONFIG_VAR", "STORED_VAR", "GEMINI_API_KEY"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    assert!(!names.iter().any(|name| name == "HOME"));
}

#[test]
fn debug_output_shows_no_key_that_a_file_has() {
    let hidden = json!({"x-key": "hush-1", "clientSecret": "hush-2"}).as_object().cloned().unwrap();
    let sources = KeySources { headers: hidden.clone(), oauth: Some(hidden), ..api_key("hush-3-${P_VAR}") };
    let text = format!("{sources:?}");
    assert!(text.contains("x-key") && text.contains("$P_VAR") && !text.contains("hush"), "{text}");
}
