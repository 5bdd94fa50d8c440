use std::sync::Mutex;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::*;
use crate::providers::oauth::{
    pkce,
    testing::{TokenServer, query},
};

/// A user who hands notices to the test and pastes what the test says.
struct User {
    told: mpsc::UnboundedSender<Notice>,
    pastes: tokio::sync::Mutex<mpsc::UnboundedReceiver<String>>,
}

struct Hands {
    told: Mutex<mpsc::UnboundedReceiver<Notice>>,
    paste: mpsc::UnboundedSender<String>,
}

fn user() -> (User, Hands) {
    let (told, notices) = mpsc::unbounded_channel();
    let (paste, pastes) = mpsc::unbounded_channel();
    (User { told, pastes: pastes.into() }, Hands { told: notices.into(), paste })
}

impl LoginUi for User {
    fn tell(&self, notice: Notice) {
        self.told.send(notice).unwrap();
    }

    fn pasted(&self) -> Pin<Box<dyn Future<Output = String> + Send + '_>> {
        Box::pin(async {
            match self.pastes.lock().await.recv().await {
                Some(text) => text,
                None => std::future::pending().await,
            }
        })
    }
}

impl Hands {
    #[expect(clippy::await_holding_lock, reason = "one test task alone uses it")]
    async fn notice(&self) -> Notice {
        self.told.lock().unwrap().recv().await.unwrap()
    }

    async fn page(&self) -> Url {
        match self.notice().await {
            Notice::OpenPage { url, .. } => url,
            other => panic!("{other:?}"),
        }
    }
}

fn flow(fields: &Value) -> Flow {
    Flow::of_layers([fields.as_object().unwrap()]).unwrap()
}

async fn visit(url: &str) {
    let url = Url::parse(url).unwrap();
    crate::providers::http::client_for(&url, None).unwrap().get(url).send().await.unwrap();
}

fn tokens(granted: &Granted) -> (&str, Option<&str>) {
    match granted {
        Granted::Tokens(tokens) => (tokens.access.expose(), tokens.refresh.as_ref().map(Secret::expose)),
        Granted::Key(key) => (key.expose(), None),
    }
}

#[tokio::test]
async fn a_browser_comes_back_with_a_code_that_only_this_login_can_trade() {
    for (encoding, send_state) in [("form", false), ("json", true)] {
        let server =
            TokenServer::start(|_, _| (200, json!({"access_token": "a1", "refresh_token": "r1", "expires_in": 60})))
                .await;
        let flow = flow(&json!({"authorizeUrl": "https://login.example/auth?tenant=7", "tokenUrl": server.url,
            "clientId": "troupe", "scopes": "models", "authorizeParams": {"prompt": "login"}, "encoding": encoding,
            "tokenParams": {"resource": "r"}, "sendState": send_state}));
        let (user, hands) = user();
        let options = LoginOptions::default();
        let answered = async {
            let page = query(hands.page().await.as_str());
            visit(&format!("{}?code=c1&state={}", page["redirect_uri"], page["state"])).await;
            page
        };
        let (granted, page) = tokio::join!(login(&flow, &user, &options), answered);
        assert_eq!(tokens(&granted.unwrap()), ("a1", Some("r1")));
        let asked = &server.asked()[0];
        let fields = &asked.fields;
        assert_eq!(
            (page["tenant"].as_str(), page["prompt"].as_str(), page["scope"].as_str()),
            ("7", "login", "models")
        );
        assert_eq!((page["response_type"].as_str(), page["code_challenge_method"].as_str()), ("code", "S256"));
        assert_eq!(pkce::challenge(&fields["code_verifier"]), page["code_challenge"]);
        assert_eq!((fields["grant_type"].as_str(), fields["code"].as_str()), ("authorization_code", "c1"));
        assert_eq!((fields["client_id"].as_str(), fields["resource"].as_str()), ("troupe", "r"));
        assert_eq!(fields["redirect_uri"], page["redirect_uri"]);
        assert_eq!(fields.get("state").is_some(), send_state);
        assert!(asked.headers["user-agent"].starts_with("troupe/"), "the program says who it is");
    }
}

#[tokio::test]
async fn what_the_user_pastes_does_as_well_and_nonsense_is_asked_again() {
    let server = TokenServer::start(|_, _| (200, json!({"access_token": "a1"}))).await;
    let flow = flow(&json!({"authorizeUrl": "https://login.example/", "tokenUrl": server.url, "clientId": "x",
        "copyCodeUrl": "https://login.example/shown"}));
    let (user, hands) = user();
    let options = LoginOptions { elsewhere: true, ..LoginOptions::default() };
    let answered = async {
        let page = query(hands.page().await.as_str());
        assert_eq!(page["redirect_uri"], "https://login.example/shown");
        hands.paste.send("c1#other-state".into()).unwrap();
        assert!(matches!(hands.notice().await, Notice::NotUnderstood { why } if why.contains("another login")));
        hands.paste.send(format!("c1#{}\n", page["state"])).unwrap();
    };
    let (granted, ()) = tokio::join!(login(&flow, &user, &options), answered);
    assert_eq!(tokens(&granted.unwrap()), ("a1", None));
    assert_eq!(server.asked()[0].fields["redirect_uri"], "https://login.example/shown");
}

#[tokio::test]
async fn openrouter_gives_a_key_to_an_address_that_nobody_can_guess() {
    let server = TokenServer::start(|_, _| (200, json!({"key": "sk-or-1"}))).await;
    let mut fields = Value::Object(crate::providers::oauth::builtin::flow("openrouter").unwrap().clone());
    fields["tokenUrl"] = server.url.as_str().into();
    fields["redirectHost"] = "127.0.0.1".into();
    let (user, hands) = user();
    let answered = async {
        let page = query(hands.page().await.as_str());
        assert!(!page.contains_key("client_id") && !page.contains_key("state"), "{page:?}");
        visit(&format!("{}?code=c1", page["callback_url"])).await;
        page
    };
    let flow = flow(&fields);
    let options = LoginOptions::default();
    let (granted, page) = tokio::join!(login(&flow, &user, &options), answered);
    assert_eq!(granted.unwrap(), Granted::Key(Secret::new("sk-or-1")));
    let asked = &server.asked()[0].fields;
    assert_eq!(pkce::challenge(&asked["code_verifier"]), page["code_challenge"]);
    assert_eq!((asked.len(), asked["code_challenge_method"].as_str()), (3, "S256"));
    assert!(page["callback_url"].len() > "http://127.0.0.1:1/callback/".len() + 42);
}

#[tokio::test]
async fn a_typed_code_gives_a_token_that_is_traded_for_short_lived_ones() {
    let server = TokenServer::start(|number, asked| match (number, asked.line.as_str()) {
        (0, "POST /device") => (
            200,
            json!({"device_code": "d1", "user_code": "AB-12", "verification_uri": "https://v.example/", "interval": 0}),
        ),
        (1, _) => (200, json!({"access_token": "long-lived"})),
        (_, "GET /short") => (200, json!({"token": "short", "expires_at": 1_900_000_000})),
        _ => (404, json!({})),
    })
    .await;
    let at = |path: &str| format!("{}{path}", server.url);
    let flow =
        flow(&json!({"deviceUrl": at("/device"), "tokenUrl": at("/token"), "clientId": "mine", "scopes": "read",
        "exchange": {"url": at("/short"), "tokenField": "token", "expiresField": "expires_at"}}));
    let (user, hands) = user();
    let granted = login(&flow, &user, &LoginOptions::default()).await.unwrap();
    let Granted::Tokens(tokens) = granted else { panic!("no tokens") };
    assert_eq!((tokens.access.expose(), tokens.expires), ("short", Some(1_900_000_000_000)));
    assert_eq!(tokens.refresh.unwrap().expose(), "long-lived");
    assert!(matches!(hands.notice().await, Notice::EnterCode { code, .. } if code == "AB-12"));
    let asked = server.asked();
    assert_eq!((asked[0].fields["scope"].as_str(), asked[0].fields["client_id"].as_str()), ("read", "mine"));
    assert_eq!((asked[1].fields["device_code"].as_str(), asked[1].fields.len()), ("d1", 3));
    assert_eq!(asked[2].headers["authorization"], "Bearer long-lived");
}

#[tokio::test]
async fn a_refusal_says_why_and_a_flow_without_a_client_does_not_begin() {
    let server =
        TokenServer::start(|_, _| (400, json!({"error": "invalid_grant", "error_description": "c1 is used"}))).await;
    let mut fields = json!({"authorizeUrl": "https://login.example/", "tokenUrl": server.url});
    let (user, hands) = user();
    let refused = login(&flow(&fields), &user, &LoginOptions::default()).await;
    assert_eq!(refused, Err(LoginError::NoClient));
    fields["clientId"] = "x".into();
    hands.paste.send("code-17".into()).unwrap();
    let text = login(&flow(&fields), &user, &LoginOptions::default()).await.unwrap_err().to_string();
    assert!(text.contains("invalid_grant") && !text.contains("code-17"), "{text}");
}
