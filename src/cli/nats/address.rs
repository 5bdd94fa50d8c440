//! From the words of a command to a connection.

use super::{
    error::OnError,
    flags::{NatsFlags, URL_VARIABLE, word},
};
use crate::{
    actors::nats::{DEFAULT_PREFIX, Hub, Limits, NatsAddress},
    cli::{env::Environment, paths, start::async_runtime},
};

/// Where the server is, by the flags, else by the variables.
///
/// # Errors
/// Nothing says so, or what does makes no sense.
pub fn address(environment: &Environment, flags: &NatsFlags) -> Result<NatsAddress, OnError> {
    let given = flags.on.as_ref().map(|servers| servers.0.as_str()).filter(|text| !text.is_empty());
    let Some(servers) = given.or_else(|| environment.variable(URL_VARIABLE)) else {
        let text = "say where the NATS server is: --on nats://host:4222, or TROUPE_NATS_URL";
        return Err(OnError::Usage(text.to_owned()));
    };
    let mut address = NatsAddress::parse(servers).map_err(OnError::Usage)?;
    let text = |flag: &Option<String>, name: &str| {
        flag.clone().or_else(|| environment.variable(name).map(str::to_owned)).filter(|text| !text.is_empty())
    };
    let file = |flag: &Option<String>, name: &str| {
        text(flag, name).map(|path| paths::absolute(&path, &environment.cwd, environment.home.as_deref()))
    };
    if let Some(prefix) = text(&flags.nats_prefix, "TROUPE_NATS_PREFIX") {
        address.prefix = word(&prefix).map_err(|error| OnError::Usage(format!("--nats-prefix: {error}")))?;
    }
    address.credentials = file(&flags.nats_creds, "TROUPE_NATS_CREDS");
    address.nkey = file(&flags.nats_nkey, "TROUPE_NATS_NKEY");
    address.tls_ca = file(&flags.nats_ca, "TROUPE_NATS_CA");
    address.tls_cert = file(&flags.nats_cert, "TROUPE_NATS_CERT");
    address.tls_key = file(&flags.nats_key, "TROUPE_NATS_KEY");
    Ok(address)
}

/// The server of a client: a person waits, so one that cannot be reached is an error at once.
pub struct Client {
    /// The connection.
    pub hub: Hub,
    /// The server as it may be shown.
    pub shown: String,
    /// What is typed behind `--on` to get there, in commands that people are told. Files with secrets are everybody's own.
    pub typed: String,
}

impl Client {
    /// A client with this connection to the server at `address`.
    #[must_use]
    pub fn new(hub: Hub, address: &NatsAddress) -> Self {
        Self { hub, shown: address.shown(), typed: typed(address) }
    }
}

/// Where the server is, as people type it.
fn typed(address: &NatsAddress) -> String {
    let servers = address.shown().replace(", ", ",");
    match address.prefix.as_str() {
        DEFAULT_PREFIX => servers,
        prefix => format!("{servers} --nats-prefix {prefix}"),
    }
}

/// Runs `work` with a connection to the server of these flags.
///
/// # Errors
/// There is no connection, or what `work` says.
pub fn with_client<T>(
    environment: &Environment,
    flags: &NatsFlags,
    work: impl AsyncFnOnce(Client) -> Result<T, OnError>,
) -> Result<T, OnError> {
    let address = address(environment, flags)?;
    let runtime = async_runtime().map_err(|error| OnError::System(error.to_string()))?;
    let done = runtime.block_on(async {
        let hub = Hub::connect(&address, "troupe", Limits::default()).await?;
        work(Client::new(hub, &address)).await
    });
    // A thread that writes to a pipe that nobody reads does not hold up the end.
    runtime.shutdown_background();
    done
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::cli::nats::flags::Servers;

    #[test]
    fn flags_come_before_variables_and_paths_are_absolute() {
        let environment = |variables: &[(&str, &str)]| {
            let variables: HashMap<String, String> =
                variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            Environment::new(Vec::new(), "/w".into(), Some("/h".into()), variables).unwrap()
        };
        let flags = NatsFlags {
            on: Some(Servers("nats://one:4222".into())),
            nats_creds: Some("c".into()),
            ..NatsFlags::default()
        };
        let with = environment(&[
            ("TROUPE_NATS_URL", "nats://two:4222"),
            ("TROUPE_NATS_CREDS", "/other"),
            ("TROUPE_NATS_PREFIX", "team"),
        ]);
        let found = address(&with, &flags).unwrap();
        assert_eq!((found.credentials, found.prefix.as_str()), (Some("/w/c".into()), "team"));
        assert!(found.servers[0].contains("one"), "{:?}", found.servers);
        let empty = NatsFlags { on: Some(Servers(String::new())), ..NatsFlags::default() };
        assert!(address(&with, &empty).unwrap().servers[0].contains("two"));
        assert!(address(&environment(&[]), &empty).unwrap_err().to_string().contains("TROUPE_NATS_URL"));
    }
}
