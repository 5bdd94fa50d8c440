//! Makes the connection that an address describes.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use async_nats::{Client, ConnectErrorKind, ConnectOptions};

use super::{NatsAddress, NatsError, address::UrlSecret, link::Link};

/// How long the server may take for the first hello.
const CONNECT: Duration = Duration::from_secs(5);
/// How often a silent connection is asked whether it still stands.
const PING: Duration = Duration::from_secs(5);
/// The longest pause between two attempts to connect again.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Connects. What happens to the connection later is told to `link`.
pub(super) async fn connect(address: &NatsAddress, name: &str, link: &Link) -> Result<Client, NatsError> {
    let told = link.clone();
    let mut options = ConnectOptions::new()
        .name(name)
        .connection_timeout(CONNECT)
        .ping_interval(PING)
        .reconnect_delay_callback(pause)
        .event_callback(move |event| {
            told.note(event);
            async {}
        });
    match address.secret() {
        Some(UrlSecret::User(user, password)) => options = options.user_and_password(user, password),
        Some(UrlSecret::Token(token)) => options = options.token(token),
        None => {}
    }
    if let Some(file) = &address.credentials {
        options = options.credentials(&read(file)?).map_err(|_| bad(file, "it is no file of credentials"))?;
    }
    if let Some(file) = &address.nkey {
        let seed = read(file)?;
        let seed = seed.lines().map(str::trim).find(|line| line.starts_with('S'));
        options = options.nkey(seed.ok_or_else(|| bad(file, "it has no seed of an nkey (SU…)"))?.to_owned());
    }
    if let Some(file) = &address.tls_ca {
        read(file)?;
        options = options.add_root_certificates(file.clone()).require_tls(true);
    }
    match (&address.tls_cert, &address.tls_key) {
        (Some(cert), Some(key)) => {
            for file in [cert, key] {
                read(file)?;
            }
            options = options.add_client_certificate(cert.clone(), key.clone()).require_tls(true);
        }
        (None, None) => {}
        (Some(file), None) => return Err(bad(file, "a certificate needs its key: give both")),
        (None, Some(file)) => return Err(bad(file, "a key needs its certificate: give both")),
    }
    options.connect(address.plain_servers()).await.map_err(|error| failed(address, &error))
}

/// Short pauses at first, so that a server that restarts is used again at once.
fn pause(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX).min(10);
    LONGEST_PAUSE.min(Duration::from_millis(10) * 2u32.pow(doublings))
}

fn failed(address: &NatsAddress, error: &async_nats::ConnectError) -> NatsError {
    let servers = address.shown();
    let source = std::error::Error::source(error).map(ToString::to_string);
    let cause = source.unwrap_or_else(|| error.kind().to_string());
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
            NatsError::Refused { servers, cause: error.kind().to_string() }
        }
        ConnectErrorKind::Tls => NatsError::Tls { servers, cause },
        _ if is_tls(&cause) => NatsError::Tls { servers, cause },
        ConnectErrorKind::TimedOut => NatsError::Unreachable { servers, cause: "no answer in 5 s".to_owned() },
        _ => NatsError::Unreachable { servers, cause },
    }
}

/// Troubles of a handshake come as troubles of input and output.
fn is_tls(cause: &str) -> bool {
    let cause = cause.to_ascii_lowercase();
    ["certificate", "tls", "handshake", "corrupt message"].iter().any(|word| cause.contains(word))
}

fn read(file: &Path) -> Result<String, NatsError> {
    fs::read_to_string(file).map_err(|error| bad(file, &error.to_string()))
}

fn bad(file: &Path, cause: &str) -> NatsError {
    NatsError::File { file: PathBuf::from(file).display().to_string(), cause: cause.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_two_seconds() {
        let pauses: Vec<u128> = (0..=9).map(|attempt| pause(attempt).as_millis()).collect();
        assert_eq!(pauses, [10, 10, 20, 40, 80, 160, 320, 640, 1280, 2000]);
        assert_eq!(pause(usize::MAX), LONGEST_PAUSE);
    }
}
