//! Whether a provider's server can be reached. Nothing is asked of it, no key is sent, no token is spent.

use std::time::Duration;

use reqwest::{StatusCode, Url};
use tokio::time::timeout;

use super::http::{client_for, deepest_cause, shown};

/// How long a server may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks for the head of an address: any answer shows that the server is there. Returns its status.
///
/// # Errors
/// Why it cannot be reached, in words for people.
pub async fn reach(address: &str) -> Result<StatusCode, String> {
    let url = Url::parse(address).map_err(|error| format!("{address} is no address: {error}"))?;
    let client = client_for(&url, Some(PATIENCE)).map_err(|failure| failure.message)?;
    match timeout(PATIENCE, client.head(url.clone()).send()).await {
        Err(_) => Err(format!("{} does not answer within {} seconds", shown(&url), PATIENCE.as_secs())),
        Ok(Err(error)) => Err(format!("{}: {}", shown(&url), deepest_cause(&error))),
        Ok(Ok(response)) => Ok(response.status()),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
    };

    use super::*;

    #[tokio::test]
    async fn any_answer_shows_that_a_server_is_there_and_nobody_there_is_told() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            assert!(stream.read(&mut request).unwrap() > 0);
            stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
        });
        assert_eq!(reach(&address).await, Ok(StatusCode::NOT_FOUND));
        server.join().unwrap();
        assert!(reach(&address).await.unwrap_err().contains("127.0.0.1"));
        assert!(reach("nonsense").await.unwrap_err().contains("no address"));
    }
}
