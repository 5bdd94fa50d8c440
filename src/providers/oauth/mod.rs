//! Logging in at a provider: OAuth 2.0 with a browser (RFC 6749, 7636, 8252) or with a code on another device (RFC
//! 8628), and renewing what a login gave.
//!
//! A provider's way to log in is data, a [`Flow`]: addresses, scopes, how the token is sent. Built-in flows stand in
//! `builtin.jsonc`; `models.json` has them for providers of the user's own, and `settings.json` adds what only the user
//! can know, above all the id under which Troupe is registered there. No program's id but the user's own is used.
//!
//! | module | what |
//! |---|---|
//! | [`flow`], [`builtin`] | flows and where they come from |
//! | [`pkce`], [`callback`] | secrets of one login; what comes back from the browser (pure) |
//! | [`loopback`] | the server that the browser comes back to |
//! | [`browser`], [`device`] | the two ways to log in |
//! | [`token_call`], [`tokens`] | asking a token endpoint, reading its answer |
//! | [`mod@login`], [`renew`] | a whole login; the next token of one |
//! | [`web_page`] | opening a page in the user's browser |

pub mod browser;
pub mod builtin;
pub mod callback;
pub mod device;
pub mod flow;
pub mod login;
pub mod loopback;
pub mod pkce;
pub mod renew;
#[cfg(test)]
pub(crate) mod testing;
pub mod token_call;
pub mod tokens;
pub mod web_page;

pub use flow::{Client, Flow, Start};
pub use login::{Granted, LoginError, LoginOptions, LoginUi, Notice, login};
pub use token_call::TokenError;
pub use tokens::Tokens;
