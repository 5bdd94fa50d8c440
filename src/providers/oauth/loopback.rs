//! The server that the browser comes back to. It lives for one login and answers one path.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::callback::{Expected, Heard, Stray, hear};
use crate::providers::Secret;

/// The variable that names the host to listen on, for browsers outside of a container.
pub const HOST_VARIABLE: &str = "TROUPE_OAUTH_CALLBACK_HOST";
/// The host to listen on otherwise.
pub const HOST: &str = "127.0.0.1";

/// Bytes of a request's head that are read.
const MAX_HEAD: usize = 16 * 1024;
/// How long a request's head may take; browsers open connections that they do not use.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);

/// A listening server.
#[derive(Debug)]
pub struct Loopback {
    listener: TcpListener,
    port: u16,
}

impl Loopback {
    /// Listens on `port`, on any free one when it is taken and `any_port` allows, or on any free one at once. None when
    /// the port is taken and no other will do.
    ///
    /// # Errors
    /// The system refuses for another reason.
    pub async fn bind(host: &str, port: Option<u16>, any_port: bool) -> io::Result<Option<Self>> {
        let listener = match port {
            None => TcpListener::bind((host, 0)).await?,
            Some(port) => match TcpListener::bind((host, port)).await {
                Ok(listener) => listener,
                Err(error) if error.kind() == io::ErrorKind::AddrInUse && any_port => {
                    TcpListener::bind((host, 0)).await?
                }
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Ok(None),
                Err(error) => return Err(error),
            },
        };
        let port = listener.local_addr()?.port();
        Ok(Some(Self { listener, port }))
    }

    /// The port that it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Serves until the answer comes: the code, or why the answer is no. Everything else gets an error page. At the
    /// end all connections are closed, so that a later login is never answered by this one.
    pub async fn answer(self, expected: Expected) -> Result<Secret, String> {
        let (heard, mut answers) = mpsc::channel(1);
        // Dropping the set ends the connections.
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                answer = answers.recv() => {
                    if let Some(answer) = answer {
                        return answer;
                    }
                }
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(serve(stream, expected.clone(), heard.clone()));
                    }
                    // Too many open files, say: it may pass.
                    Err(_) => sleep(Duration::from_millis(100)).await,
                },
                Some(_) = connections.join_next() => {}
            }
        }
    }
}

async fn serve(mut stream: TcpStream, expected: Expected, heard: mpsc::Sender<Result<Secret, String>>) {
    let Ok(Some(target)) = timeout(HEAD_PATIENCE, read_target(&mut stream)).await else { return };
    let outcome = hear(&target, &expected);
    // The page is written before the answer is passed on: then this connection is closed.
    let page = response(&outcome);
    let _ = stream.write_all(page.as_bytes()).await;
    let _ = stream.shutdown().await;
    let answer = match outcome {
        Heard::Code(code) => Ok(code),
        Heard::Denied(why) => Err(why),
        Heard::Stray(_) => return,
    };
    // Only the first answer counts; when there was one, nobody listens.
    let _ = heard.send(answer).await;
}

/// The target of a GET request; none for anything else.
async fn read_target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut chunk = [0; 2048];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        head.extend_from_slice(&chunk[..count]);
        if head.len() > MAX_HEAD {
            return None;
        }
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.lines().next()?.split(' ');
    (words.next()? == "GET").then(|| words.next().map(str::to_owned))?
}

/// The page that the browser shows. Nothing of the request is in it.
fn response(heard: &Heard) -> String {
    let (status, title, text) = match heard {
        Heard::Code(_) => ("200 OK", "Logged in", "You can close this page and go back to the terminal.".to_owned()),
        Heard::Denied(_) => ("200 OK", "Not logged in", "The terminal says why.".to_owned()),
        Heard::Stray(Stray::Path) => ("404 Not Found", "Not found", Stray::Path.to_string()),
        Heard::Stray(stray) => ("400 Bad Request", "Not logged in", stray.to_string()),
    };
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <body style=\"font-family:sans-serif;margin:4em auto;max-width:32em\"><h1>{title}</h1><p>{text}</p></body></html>"
    );
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\ncache-control: no-store\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use tokio::{net::TcpListener, spawn};

    use super::*;

    fn expected() -> Expected {
        Expected { path: "/callback".into(), state: Some("s1".into()) }
    }

    async fn get(port: u16, target: &str) -> String {
        let mut stream = TcpStream::connect((HOST, port)).await.unwrap();
        stream.write_all(format!("GET {target} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn one_answer_ends_the_server_and_everything_else_gets_an_error_page() {
        let server = Loopback::bind(HOST, None, true).await.unwrap().unwrap();
        let port = server.port();
        let waiting = spawn(server.answer(expected()));
        let mut idle = TcpStream::connect((HOST, port)).await.unwrap();
        assert!(get(port, "/favicon.ico").await.starts_with("HTTP/1.1 404 "));
        assert!(get(port, "/callback?code=x&state=<other>").await.starts_with("HTTP/1.1 400 "));
        let page = get(port, "/callback?code=c-17&state=s1").await;
        assert!(page.starts_with("HTTP/1.1 200 ") && page.contains("connection: close"), "{page}");
        assert!(!page.contains("c-17"));
        assert_eq!(waiting.await.unwrap(), Ok(Secret::new("c-17")));
        assert_eq!(idle.read(&mut [0; 8]).await.unwrap_or(0), 0, "a connection that was kept open is closed");
        assert!(TcpStream::connect((HOST, port)).await.is_err(), "nothing listens any more");
    }

    #[tokio::test]
    async fn a_refusal_is_an_answer_too() {
        let server = Loopback::bind(HOST, None, true).await.unwrap().unwrap();
        let port = server.port();
        let waiting = spawn(server.answer(expected()));
        get(port, "/callback?error=access_denied&state=s1").await;
        assert_eq!(waiting.await.unwrap(), Err("access_denied".to_owned()));
    }

    #[tokio::test]
    async fn a_taken_port_is_replaced_where_the_provider_allows() {
        let taken = TcpListener::bind((HOST, 0)).await.unwrap();
        let port = taken.local_addr().unwrap().port();
        let other = Loopback::bind(HOST, Some(port), true).await.unwrap().unwrap();
        assert_ne!(other.port(), port);
        assert!(Loopback::bind(HOST, Some(port), false).await.unwrap().is_none());
    }
}
