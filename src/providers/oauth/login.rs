//! A whole login.

use std::{future::Future, pin::Pin};

use reqwest::Url;

use super::{
    browser, device,
    flow::{Dialect, Flow, Start},
    loopback::HOST_VARIABLE,
    pkce::NoRandomness,
    renew::exchange_token,
    token_call::TokenError,
    tokens::{Tokens, secret},
};
use crate::{protocol::time::now_ms, providers::Secret};

/// What the user is told during a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Open this page and say yes.
    OpenPage {
        /// The page.
        url: Url,
        /// The browser comes back to this program by itself when it runs on this machine.
        returns: bool,
    },
    /// Open this page and type the code.
    EnterCode {
        /// The code.
        code: String,
        /// The page.
        page: Url,
        /// The same page with the code filled in.
        page_with_code: Option<Url>,
    },
    /// What was pasted is no answer.
    NotUnderstood {
        /// Why.
        why: String,
    },
}

/// Whoever talks with the user during a login: a terminal, a screen, another program.
pub trait LoginUi: Send + Sync {
    /// Tells the user something.
    fn tell(&self, notice: Notice);

    /// The next text that the user pastes: the address that the browser ended at, or the code. Never ready where
    /// nothing can be pasted.
    fn pasted(&self) -> Pin<Box<dyn Future<Output = String> + Send + '_>>;
}

/// What is known about the place of a login.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginOptions {
    /// The browser runs on another machine, where it cannot come back to this one.
    pub elsewhere: bool,
    /// The host to listen on for the browser, in place of 127.0.0.1.
    pub callback_host: Option<String>,
}

/// What a login gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Granted {
    /// Tokens that end and are renewed.
    Tokens(Tokens),
    /// An API key that lasts.
    Key(Secret),
}

/// Why a login failed. No text here holds a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// The flow needs the id of a client.
    #[error("the login has no client id")]
    NoClient,
    /// No random numbers.
    #[error(transparent)]
    Random(#[from] NoRandomness),
    /// The user or the provider said no.
    #[error("the login was refused: {0}")]
    Denied(String),
    /// Nobody typed the code in time.
    #[error("the code has expired; log in again{}", if *slowed { ". If you were quick, check that this machine's clock is right" } else { "" })]
    Expired {
        /// The server asked for fewer questions: a clock that is off makes codes look old.
        slowed: bool,
    },
    /// No server for the browser to come back to.
    #[error("cannot listen on {host} for the browser ({message}); {HOST_VARIABLE} names another host")]
    Listen {
        /// The host.
        host: String,
        /// Why.
        message: String,
    },
    /// The token endpoint gave no token.
    #[error(transparent)]
    Token(#[from] TokenError),
}

/// Logs in. Dropping the future ends the login.
///
/// # Errors
/// See [`LoginError`].
pub async fn login(flow: &Flow, ui: &dyn LoginUi, options: &LoginOptions) -> Result<Granted, LoginError> {
    if !flow.is_complete() {
        return Err(LoginError::NoClient);
    }
    let answer = match &flow.start {
        Start::Browser(browser) => browser::log_in(flow, browser, ui, options).await?,
        Start::Device { url } => device::log_in(flow, url, ui).await?,
    };
    if matches!(&flow.start, Start::Browser(browser) if browser.dialect == Dialect::OpenRouterKey) {
        return Ok(Granted::Key(secret(&answer, "key").ok_or(TokenError::Lacks("key"))?));
    }
    let tokens = Tokens::read(&answer, now_ms())?;
    Ok(Granted::Tokens(match &flow.exchange {
        Some(exchange) => exchange_token(exchange, &tokens.access).await?,
        None => tokens,
    }))
}

#[cfg(test)]
mod tests;
