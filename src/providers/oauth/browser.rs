//! Logging in with a browser: authorization code with PKCE (RFC 7636) and a loopback address (RFC 8252).

use std::future::pending;

use reqwest::Url;
use serde_json::Value;

use super::{
    callback::{Expected, Heard, pasted},
    flow::{Browser, Dialect, Flow},
    login::{LoginError, LoginOptions, LoginUi, Notice},
    loopback::{HOST, Loopback},
    pkce::{challenge, random_text},
    token_call::{TokenError, post},
};
use crate::providers::Secret;

/// A user's yes, and what has to go along when it is traded for a token.
#[derive(Debug)]
struct Consent {
    code: Secret,
    redirect_uri: String,
    verifier: String,
    state: String,
}

/// Sends the user to the login page and trades the code that comes back.
///
/// # Errors
/// The user says no, or the provider; see [`LoginError`].
pub(super) async fn log_in(
    flow: &Flow,
    browser: &Browser,
    ui: &dyn LoginUi,
    options: &LoginOptions,
) -> Result<Value, LoginError> {
    let consent = ask(flow, browser, ui, options).await?;
    Ok(trade(flow, browser, &consent).await?)
}

async fn ask(flow: &Flow, browser: &Browser, ui: &dyn LoginUi, options: &LoginOptions) -> Result<Consent, LoginError> {
    let (verifier, state) = (random_text()?, random_text()?);
    let copy_code = browser.copy_code_url.as_ref().filter(|_| options.elsewhere);
    let server = match copy_code {
        Some(_) => None,
        None => {
            let host = options.callback_host.as_deref().unwrap_or(HOST);
            let bound = Loopback::bind(host, browser.redirect_port, browser.any_port).await;
            bound.map_err(|error| LoginError::Listen { host: host.to_owned(), message: error.to_string() })?
        }
    };
    // OpenRouter hands back nothing but the code: there the address itself is what nobody can guess.
    let (path, expected_state) = match browser.dialect {
        Dialect::OAuth => (browser.redirect_path.clone(), Some(state.clone())),
        Dialect::OpenRouterKey => (format!("{}/{state}", browser.redirect_path.trim_end_matches('/')), None),
    };
    let port = server.as_ref().map(Loopback::port).or(browser.redirect_port).unwrap_or_default();
    let redirect_uri = match (copy_code, &server, &browser.copy_code_url) {
        (Some(page), _, _) | (None, None, Some(page)) => page.to_string(),
        _ => format!("http://{}:{port}{path}", browser.redirect_host),
    };
    let url = page(flow, browser, &redirect_uri, &challenge(&verifier), &state);
    ui.tell(Notice::OpenPage { url, returns: server.is_some() });
    let expected = Expected { path, state: expected_state };
    let returned = async {
        match server {
            Some(server) => server.answer(expected.clone()).await,
            None => pending().await,
        }
    };
    let answer = tokio::select! {
        answer = returned => answer,
        answer = paste(ui, &expected) => answer,
    };
    Ok(Consent { code: answer.map_err(LoginError::Denied)?, redirect_uri, verifier, state })
}

/// Waits until the user pastes something that is an answer.
async fn paste(ui: &dyn LoginUi, expected: &Expected) -> Result<Secret, String> {
    loop {
        match pasted(&ui.pasted().await, expected) {
            Heard::Code(code) => return Ok(code),
            Heard::Denied(why) => return Err(why),
            Heard::Stray(stray) => ui.tell(Notice::NotUnderstood { why: stray.to_string() }),
        }
    }
}

/// The login page's address.
fn page(flow: &Flow, browser: &Browser, redirect_uri: &str, challenge: &str, state: &str) -> Url {
    let mut url = browser.authorize_url.clone();
    let mut query = url.query_pairs_mut();
    match browser.dialect {
        Dialect::OpenRouterKey => {
            query.append_pair("callback_url", redirect_uri);
        }
        Dialect::OAuth => {
            let id = flow.client.as_ref().map_or("", |client| client.id.as_str());
            query.append_pair("response_type", "code").append_pair("client_id", id);
            query.append_pair("redirect_uri", redirect_uri).append_pair("state", state);
            if !flow.scopes.is_empty() {
                query.append_pair("scope", &flow.scope());
            }
        }
    }
    query.append_pair("code_challenge", challenge).append_pair("code_challenge_method", "S256");
    query.extend_pairs(&browser.params);
    drop(query);
    url
}

async fn trade(flow: &Flow, browser: &Browser, consent: &Consent) -> Result<Value, TokenError> {
    let mut fields = match browser.dialect {
        Dialect::OpenRouterKey => vec![
            ("code", consent.code.expose()),
            ("code_verifier", consent.verifier.as_str()),
            ("code_challenge_method", "S256"),
        ],
        Dialect::OAuth => vec![
            ("grant_type", "authorization_code"),
            ("code", consent.code.expose()),
            ("redirect_uri", consent.redirect_uri.as_str()),
            ("code_verifier", consent.verifier.as_str()),
        ],
    };
    if flow.sends_state {
        fields.push(("state", &consent.state));
    }
    fields.extend(flow.own_fields());
    post(&flow.token_url, &fields, flow.encoding).await
}
