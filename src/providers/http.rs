//! The HTTP clients of the process: pooled, and built when they are first needed.
//!
//! Plain `http://` and `https://` have clients of their own: loading the system's certificates costs milliseconds of
//! start-up that a local server does not need.

use std::{
    error::Error as _,
    io,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use reqwest::{Client, NoProxy, Proxy, StatusCode, Url, redirect};

use super::tls::{extra_roots, install_crypto_provider};
use crate::protocol::{Failure, FailureClass};

/// What requests call themselves.
pub const USER_AGENT: &str = concat!("troupe/", env!("CARGO_PKG_VERSION"));

/// Redirects that one request follows.
const MAX_REDIRECTS: usize = 5;

/// The kinds of proxies that requests can go through.
const PROXY_SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// What decides which client serves a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    tls: bool,
    connect: Option<Duration>,
    /// Past the proxies that the environment names.
    direct: bool,
}

static CLIENTS: Mutex<Vec<(Kind, Client)>> = Mutex::new(Vec::new());
static PROXY: Mutex<Option<String>> = Mutex::new(None);

/// Sends all requests of the process through a proxy, instead of the one that the environment names. Call it before
/// the first request; hosts in `NO_PROXY` are still reached directly.
pub fn set_proxy(url: Option<String>) {
    *PROXY.lock().unwrap_or_else(PoisonError::into_inner) = url.filter(|url| !url.trim().is_empty());
}

/// The client for a URL.
///
/// # Errors
/// When the client cannot be set up: certificates that cannot be read, a proxy address that is none.
pub(crate) fn client_for(url: &Url, connect: Option<Duration>) -> Result<Client, Failure> {
    let (kind, proxy) = kind_for(url, connect);
    let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, client)) = clients.iter().find(|(known, _)| *known == kind) {
        return Ok(client.clone());
    }
    let client = build(kind, proxy.as_deref())?;
    clients.push((kind, client.clone()));
    Ok(client)
}

/// A client for a URL that nobody else has: for a runtime that ends before others do, or after them.
///
/// # Errors
/// See [`client_for`].
#[cfg(feature = "otlp")]
pub(crate) fn fresh_client(url: &Url, connect: Option<Duration>) -> Result<Client, Failure> {
    let (kind, proxy) = kind_for(url, connect);
    build(kind, proxy.as_deref())
}

/// What a client for a URL must be able to do, and the proxy that it goes through.
fn kind_for(url: &Url, connect: Option<Duration>) -> (Kind, Option<String>) {
    let proxy = PROXY.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // A proxy in the environment is there to reach other machines; one that the user chose here counts for all.
    let direct = proxy.is_none() && is_this_machine(host(url));
    let tls = url.scheme() != "http" || (!direct && proxy_needs_tls(proxy.as_deref()));
    (Kind { tls, connect, direct }, proxy)
}

/// The host of a URL, an IPv6 address without its brackets; empty when there is none.
pub(crate) fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default().trim_matches(['[', ']'])
}

/// Whether a host is this machine by its loopback name or address.
pub(crate) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether a server that is reached by this host runs on this machine: also where it listens on all addresses.
pub(crate) fn is_this_machine(host: &str) -> bool {
    is_loopback(host) || host.parse::<IpAddr>().is_ok_and(|address| address.is_unspecified())
}

fn proxy_needs_tls(proxy: Option<&str>) -> bool {
    let environment = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    let is_https = |url: &str| url.starts_with("https:");
    proxy.map_or_else(|| environment.iter().any(|name| std::env::var(name).is_ok_and(|url| is_https(&url))), is_https)
}

fn build(kind: Kind, proxy: Option<&str>) -> Result<Client, Failure> {
    install_crypto_provider();
    let mut builder = Client::builder()
        .redirect(redirect_policy())
        .tcp_keepalive(Duration::from_secs(60))
        // A connection that died unseen (sleep, another network) must not swallow the next request.
        .http2_keep_alive_interval(Duration::from_secs(30))
        .http2_keep_alive_timeout(Duration::from_secs(15));
    if let Some(connect) = kind.connect {
        builder = builder.connect_timeout(connect);
    }
    if kind.direct {
        builder = builder.no_proxy();
    }
    if let Some(address) = proxy {
        builder = builder.proxy(proxy_at(address)?.no_proxy(NoProxy::from_env()));
    }
    builder = match kind.tls {
        true => builder.tls_certs_merge(extra_roots(|name| std::env::var_os(name))?),
        false => builder.tls_certs_only([]),
    };
    builder.build().map_err(|error| {
        let text = format!("The HTTP client cannot be set up: {}; check SSL_CERT_FILE", deepest_cause(&error));
        Failure::new(FailureClass::InvalidRequest, text)
    })
}

/// The proxy at an address. The HTTP client goes past a proxy of a kind that it does not know, without a word; who set
/// one wants no request to leave any other way.
fn proxy_at(address: &str) -> Result<Proxy, Failure> {
    let known = address
        .split_once("://")
        .is_none_or(|(scheme, _)| PROXY_SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)));
    known.then(|| Proxy::all(address).ok()).flatten().ok_or_else(|| {
        let text = format!(
            "The proxy in the settings (httpProxy) cannot be used: write it as http://HOST:PORT, or with one of {}",
            PROXY_SCHEMES.join(", ")
        );
        Failure::new(FailureClass::InvalidRequest, text)
    })
}

/// Follows a redirect only to the same host and without changing the method: keys stay where they belong.
fn redirect_policy() -> redirect::Policy {
    redirect::Policy::custom(|attempt| {
        let keeps_method = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let same_host = attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
        match keeps_method && same_host && attempt.previous().len() <= MAX_REDIRECTS {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    })
}

/// A URL without what must not be shown: user, password, query.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for URLs that have no host, and then there is nothing to hide.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// The failure of a request that got no answer.
pub(crate) fn send_failure(error: &reqwest::Error, url: &Url, connect: Option<Duration>) -> Failure {
    let to = shown(url);
    if is_certificate_fault(error) {
        let text = format!(
            "The TLS certificate of {to} is not trusted ({}): set SSL_CERT_FILE or NODE_EXTRA_CA_CERTS to a PEM file with your certificate authority",
            deepest_cause(error)
        );
        // No later try will find the certificate better.
        return Failure { retryable: false, ..Failure::new(FailureClass::Network, text) };
    }
    let text = match (error.is_timeout(), connect) {
        (true, Some(limit)) => format!("Connection timed out: {to} did not answer within {}", seconds(limit)),
        (true, None) => format!("Connection timed out: {to} did not answer"),
        _ if error.is_connect() => {
            format!("Connection error: cannot reach {to}: {}{}", deepest_cause(error), proxy_note(url))
        }
        _ => format!("Connection error: {to} closed the connection before it answered: {}", deepest_cause(error)),
    };
    Failure::new(FailureClass::Network, text)
}

/// What to look at when a connection fails and a proxy is set: it may be the proxy that does not answer.
fn proxy_note(url: &Url) -> String {
    let setting = PROXY.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let of_environment = || {
        let names = match url.scheme() {
            "https" => ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
            _ => ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
        };
        let set = names.into_iter().filter(|_| !is_this_machine(host(url)));
        set.filter_map(|name| Some((name, std::env::var(name).ok().filter(|value| !value.is_empty())?))).next()
    };
    match setting.map(|address| ("httpProxy", address)).or_else(of_environment) {
        Some((name, address)) => match Url::parse(&address) {
            Ok(proxy) => format!(" (the proxy {} is set by {name})", shown(&proxy).trim_end_matches('/')),
            Err(_) => format!(" (a proxy is set by {name})"),
        },
        None => String::new(),
    }
}

/// The failure of a body that broke off.
pub(crate) fn read_failure(error: &reqwest::Error, url: &Url) -> Failure {
    let text = format!("Connection error: the answer of {} broke off: {}", shown(url), deepest_cause(error));
    Failure::new(FailureClass::Network, text)
}

/// Whether a pooled connection may have been closed by the other side just when it was used (FC-040).
pub(crate) fn may_be_stale(error: &reqwest::Error) -> bool {
    error.is_request() && !error.is_connect() && !error.is_timeout() && !is_certificate_fault(error)
}

/// A time limit in words.
pub(crate) fn seconds(limit: Duration) -> String {
    format!("{} s", limit.as_secs_f64())
}

/// The last error of the chain, which names the cause.
pub(crate) fn deepest_cause(error: &reqwest::Error) -> String {
    let mut deepest: &(dyn std::error::Error + 'static) = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    match deepest.downcast_ref::<reqwest::Error>() {
        Some(_) if error.is_timeout() => "timed out".to_owned(),
        _ => deepest.to_string(),
    }
}

fn is_certificate_fault(error: &reqwest::Error) -> bool {
    error.source().is_some_and(refuses_certificate)
}

fn refuses_certificate(cause: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(rustls::Error::InvalidCertificate(_)) = cause.downcast_ref() {
        return true;
    }
    // An I/O error shows the source of what it wraps, not the wrapped error itself.
    let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    wrapped.is_some_and(|wrapped| refuses_certificate(wrapped)) || cause.source().is_some_and(refuses_certificate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_url_hides_user_password_and_query() {
        let url = Url::parse("https://me:secret@host:8443/v1/x?key=secret#secret").unwrap();
        assert_eq!(shown(&url), "https://host:8443/v1/x");
    }

    #[test]
    fn a_proxy_that_the_client_would_go_past_is_refused() {
        for address in ["http://host:1", "HTTP://host:1", "https://host", "socks5h://host:1", "host:8080", "host"] {
            assert!(proxy_at(address).is_ok(), "{address}");
        }
        for address in ["ftp://host:1", "socks9://host:1", "http://", "http://[::1"] {
            let failure = proxy_at(address).unwrap_err();
            assert!(!failure.retryable && failure.message.contains("httpProxy"), "{address}: {failure:?}");
        }
    }

    #[test]
    fn requests_of_one_kind_share_a_client() {
        let url = Url::parse("http://localhost:1/").unwrap();
        let limit = Some(Duration::from_millis(1234));
        client_for(&url, limit).unwrap();
        client_for(&Url::parse("http://another/").unwrap(), limit).unwrap();
        client_for(&Url::parse("http://other/").unwrap(), limit).unwrap();
        let clients = CLIENTS.lock().unwrap();
        let kind = Kind { tls: false, connect: limit, direct: false };
        assert_eq!(clients.iter().filter(|(known, _)| *known == kind).count(), 1);
    }
}
