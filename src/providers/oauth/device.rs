//! Logging in with a code on any device (RFC 8628).

use std::time::Duration;

use reqwest::Url;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::{
    flow::{Encoding, Flow},
    login::{LoginError, LoginUi, Notice},
    token_call::{TokenError, post},
    tokens::{seconds, secret},
};
use crate::providers::Secret;

/// Between two questions when the server does not say (RFC 8628, 3.2).
const INTERVAL: Duration = Duration::from_secs(5);
/// No server is asked more often.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
/// What `slow_down` adds when the server names no interval, and what a failed question adds (RFC 8628, 3.5).
const SLOWER: Duration = Duration::from_secs(5);
/// How long a code lasts when the server does not say.
const LIFETIME: Duration = Duration::from_secs(900);

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// A code that waits for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    device_code: Secret,
    user_code: String,
    page: Url,
    page_with_code: Option<Url>,
    interval: Duration,
    lifetime: Duration,
}

impl Pending {
    fn read(answer: &Value) -> Result<Self, TokenError> {
        let page = |names: &[&str]| {
            let text = names.iter().find_map(|name| answer[*name].as_str())?;
            // Only pages: another scheme could start a program.
            Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
        };
        let duration = |name: &str, default| seconds(&answer[name]).map_or(default, Duration::from_secs);
        Ok(Self {
            device_code: secret(answer, "device_code").ok_or(TokenError::Lacks("device_code"))?,
            user_code: answer["user_code"].as_str().ok_or(TokenError::Lacks("user_code"))?.to_owned(),
            page: page(&["verification_uri", "verification_url"]).ok_or(TokenError::Lacks("verification_uri"))?,
            page_with_code: page(&["verification_uri_complete"]),
            interval: duration("interval", INTERVAL).max(SHORTEST_INTERVAL),
            lifetime: duration("expires_in", LIFETIME),
        })
    }
}

/// Shows the user a code and waits until it was typed.
///
/// # Errors
/// The user says no, or nothing in time; see [`LoginError`].
pub(super) async fn log_in(flow: &Flow, url: &Url, ui: &dyn LoginUi) -> Result<Value, LoginError> {
    let scope = flow.scope();
    let mut fields: Vec<(&str, &str)> = flow.own_fields().collect();
    if !scope.is_empty() {
        fields.push(("scope", &scope));
    }
    let pending = Pending::read(&post(url, &fields, Encoding::Form).await?)?;
    ui.tell(Notice::EnterCode {
        code: pending.user_code.clone(),
        page: pending.page.clone(),
        page_with_code: pending.page_with_code.clone(),
    });
    wait(&pending, async || {
        let mut fields = vec![("grant_type", GRANT), ("device_code", pending.device_code.expose())];
        fields.extend(flow.own_fields());
        post(&flow.token_url, &fields, flow.encoding).await
    })
    .await
}

/// Asks until there is an answer or the code has expired.
async fn wait(pending: &Pending, mut ask: impl AsyncFnMut() -> Result<Value, TokenError>) -> Result<Value, LoginError> {
    let until = Instant::now() + pending.lifetime;
    let mut interval = pending.interval;
    let mut slowed = false;
    while Instant::now() + interval < until {
        sleep(interval).await;
        let error = match ask().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        match (error.code(), &error) {
            (Some("authorization_pending"), _) => {}
            (Some("slow_down"), TokenError::Refused { interval: asked, .. }) => {
                slowed = true;
                interval = asked.map_or(interval + SLOWER, Duration::from_secs).max(SHORTEST_INTERVAL);
            }
            (Some("access_denied" | "authorization_declined"), _) => {
                return Err(LoginError::Denied(error.to_string()));
            }
            (Some("expired_token"), _) => break,
            // A server that is down for a moment: the code is still good.
            (None, TokenError::Network(_) | TokenError::Status { status: 500.., .. }) => interval += SLOWER,
            _ => return Err(error.into()),
        }
    }
    Err(LoginError::Expired { slowed })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pending(interval: u64, lifetime: u64) -> Pending {
        let answer = json!({"device_code": "d", "user_code": "AB-12", "verification_uri": "https://v.example/d",
            "interval": interval, "expires_in": lifetime});
        Pending::read(&answer).unwrap()
    }

    fn refused(code: &str, interval: Option<u64>) -> Result<Value, TokenError> {
        Err(TokenError::Refused { code: code.into(), description: String::new(), interval })
    }

    /// Plays answers; returns the outcome and the seconds at which the server was asked.
    async fn play(pending: &Pending, answers: Vec<Result<Value, TokenError>>) -> (Result<Value, LoginError>, Vec<u64>) {
        let start = Instant::now();
        let mut asked = Vec::new();
        let mut answers = answers.into_iter();
        let outcome = wait(pending, async || {
            asked.push(start.elapsed().as_secs());
            answers.next().unwrap_or_else(|| refused("authorization_pending", None))
        })
        .await;
        (outcome, asked)
    }

    #[tokio::test(start_paused = true)]
    async fn the_server_decides_how_often_it_is_asked() {
        let done = || Ok(json!({"access_token": "t"}));
        let wait_more = || refused("authorization_pending", None);
        let network = || Err(TokenError::Network("down".into()));
        let busy = || Err(TokenError::Status { host: "h".into(), status: 503 });
        let table = [
            (5, vec![done()], vec![5]),
            (0, vec![wait_more(), done()], vec![1, 2]),
            (2, vec![wait_more(), refused("slow_down", None), done()], vec![2, 4, 11]),
            (2, vec![refused("slow_down", Some(9)), wait_more(), done()], vec![2, 11, 20]),
            (2, vec![network(), busy(), done()], vec![2, 9, 21]),
        ];
        for (interval, answers, times) in table {
            let (outcome, asked) = play(&pending(interval, 600), answers).await;
            assert!(outcome.is_ok());
            assert_eq!(asked, times);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_code_expires_and_a_refusal_ends_the_wait() {
        let (outcome, asked) = play(&pending(5, 12), vec![]).await;
        assert_eq!((outcome.unwrap_err().to_string().contains("clock"), asked), (false, vec![5, 10]));
        let (outcome, _) = play(&pending(5, 30), vec![refused("slow_down", None)]).await;
        let text = outcome.unwrap_err().to_string();
        assert!(text.contains("expired") && text.contains("clock"), "{text}");
        for code in ["access_denied", "expired_token", "invalid_client"] {
            let (outcome, asked) = play(&pending(5, 600), vec![refused(code, None)]).await;
            assert!(outcome.is_err() && asked == [5], "{code}");
        }
    }

    #[test]
    fn only_pages_are_opened_and_what_is_missing_is_named() {
        let base = json!({"device_code": "d", "user_code": "u", "verification_uri": "https://v.example/",
            "verification_uri_complete": "javascript:alert(1)", "interval": "7"});
        let read = Pending::read(&base).unwrap();
        assert_eq!((read.page_with_code, read.interval), (None, Duration::from_secs(7)));
        for field in ["device_code", "user_code", "verification_uri"] {
            let mut answer = base.clone();
            answer[field] = "file:///x".into();
            if field != "verification_uri" {
                answer[field] = Value::Null;
            }
            assert_eq!(Pending::read(&answer).unwrap_err().to_string(), format!("the server's answer has no {field}"));
        }
    }
}
