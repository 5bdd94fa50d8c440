//! Where servers listen: the address that a variable names, else the usual ports of this machine.

use std::net::IpAddr;

use reqwest::Url;

use super::Server;
use crate::providers::{environment::Environment, http};

/// The variable that names the server's address: the server's own where it has one.
pub(super) fn variable(server: Server) -> &'static str {
    match server {
        Server::Ollama => "OLLAMA_HOST",
        Server::LmStudio => "LMSTUDIO_BASE_URL",
        Server::LlamaCpp => "LLAMA_BASE_URL",
        Server::Vllm => "VLLM_BASE_URL",
        Server::Sglang => "SGLANG_BASE_URL",
    }
}

/// The ports of a server that nobody configured.
fn ports(server: Server) -> &'static [u16] {
    match server {
        Server::Ollama => &[11434],
        Server::LmStudio => &[1234],
        // The second one is where its router for several models is expected.
        Server::LlamaCpp => &[8080, 9931],
        Server::Vllm => &[8000],
        Server::Sglang => &[30000],
    }
}

/// Where a server may be.
pub(super) fn candidates(server: Server, environment: &Environment) -> Vec<Url> {
    if let Some(url) = environment.get(variable(server)).and_then(|text| parse(text, ports(server)[0])) {
        return vec![url];
    }
    ports(server).iter().filter_map(|port| Url::parse(&format!("http://127.0.0.1:{port}")).ok()).collect()
}

/// Where all servers may be; offline, only on this machine.
pub(super) fn all(environment: &Environment, offline: bool) -> Vec<(Server, Vec<Url>)> {
    let mut all = Server::ALL.map(|server| (server, candidates(server, environment))).to_vec();
    for (_, urls) in &mut all {
        urls.retain(|url| !offline || is_this_machine(url));
    }
    all
}

/// Reads an address as servers' own variables have it: `host`, `:port`, `host:port` or a URL. An address to listen on
/// (`0.0.0.0`) is reached at the loopback; the `/v1` of a base URL is left out.
fn parse(text: &str, default_port: u16) -> Option<Url> {
    let text = text.trim();
    let has_scheme = text.contains("://");
    let mut url = match has_scheme {
        true => Url::parse(text).ok()?,
        false if text.starts_with(':') => Url::parse(&format!("http://127.0.0.1{text}")).ok()?,
        false => Url::parse(&format!("http://{text}")).ok()?,
    };
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    if !has_scheme && url.port().is_none() {
        url.set_port(Some(default_port)).ok()?;
    }
    if http::host(&url).parse::<IpAddr>().is_ok_and(|ip| ip.is_unspecified()) {
        url.set_host(Some("127.0.0.1")).ok()?;
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/v1").unwrap_or(path).to_owned();
    url.set_path(&path);
    url.set_query(None);
    url.set_fragment(None);
    Some(url)
}

/// Whether an address is this machine.
pub(super) fn is_this_machine(url: &Url) -> bool {
    http::is_loopback(http::host(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_the_servers_read_them() {
        let table = [
            ("0.0.0.0", Some("http://127.0.0.1:11434/")),
            ("0.0.0.0:1", Some("http://127.0.0.1:1/")),
            ("[::]:5", Some("http://127.0.0.1:5/")),
            (":9", Some("http://127.0.0.1:9/")),
            ("box", Some("http://box:11434/")),
            ("box:7", Some("http://box:7/")),
            ("http://box", Some("http://box/")),
            ("https://box/ollama/", Some("https://box/ollama")),
            ("http://box:8080/v1/?x#y", Some("http://box:8080/")),
            ("ftp://box", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text, 11434).map(String::from).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_variable_takes_the_place_of_the_usual_ports_and_offline_stays_on_this_machine() {
        let environment =
            Environment::from_iter([("OLLAMA_HOST", "box"), ("LLAMA_BASE_URL", "http://localhost:9931/v1")]);
        let text = |server| candidates(server, &environment).iter().map(Url::to_string).collect::<Vec<_>>();
        assert_eq!(text(Server::Ollama), ["http://box:11434/"]);
        assert_eq!(text(Server::LlamaCpp), ["http://localhost:9931/"]);
        assert_eq!(text(Server::Vllm), ["http://127.0.0.1:8000/"]);
        assert_eq!(candidates(Server::LlamaCpp, &Environment::default()).len(), 2);
        let count = |offline| all(&environment, offline).iter().map(|(_, urls)| urls.len()).sum::<usize>();
        assert_eq!((count(false), count(true)), (5, 4));
    }
}
