//! The next token of a login.

use serde_json::Value;

use super::{
    flow::{Exchange, Flow},
    token_call::{TokenError, post, with_bearer},
    tokens::{Tokens, later, seconds, secret},
};
use crate::{protocol::time::now_ms, providers::Secret};

/// Trades a login's refresh token for new tokens. A server that gives no new refresh token lets the old one stand.
///
/// # Errors
/// See [`TokenError`].
pub async fn renew(flow: &Flow, refresh: &Secret) -> Result<Tokens, TokenError> {
    if let Some(exchange) = &flow.exchange {
        return exchange_token(exchange, refresh).await;
    }
    let mut fields = vec![("grant_type", "refresh_token"), ("refresh_token", refresh.expose())];
    fields.extend(flow.own_fields());
    let answer = post(&flow.token_url, &fields, flow.encoding).await?;
    let tokens = Tokens::read(&answer, now_ms())?;
    Ok(Tokens { refresh: tokens.refresh.or_else(|| Some(refresh.clone())), ..tokens })
}

/// Trades the token of a login for a short-lived one; the login's own stays as the refresh token.
///
/// # Errors
/// See [`TokenError`].
pub(super) async fn exchange_token(exchange: &Exchange, token: &Secret) -> Result<Tokens, TokenError> {
    let answer = with_bearer(&exchange.url, token, exchange.post).await?;
    read_exchange(exchange, token, &answer)
}

fn read_exchange(exchange: &Exchange, token: &Secret, answer: &Value) -> Result<Tokens, TokenError> {
    let ends = exchange.expires_field.as_ref().and_then(|field| seconds(&answer[field]));
    Ok(Tokens {
        access: secret(answer, &exchange.token_field).ok_or(TokenError::Lacks("token"))?,
        refresh: Some(token.clone()),
        expires: Some(match ends {
            Some(seconds) => later(0, seconds),
            None => later(now_ms(), exchange.lifetime),
        }),
    })
}
