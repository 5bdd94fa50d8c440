//! FC-036: a company's own certificate authority.

use std::{
    io::{Read, Write},
    net::TcpListener,
    path::PathBuf,
    process::Command,
    sync::Arc,
};

use rustls::{
    ServerConfig, ServerConnection, Stream,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_stream::StreamExt;
use troupe::{
    protocol::StreamEvent,
    providers::{provider_for, tls::install_crypto_provider},
};

use crate::{manifest::fixtures, server::answer};

const CHILD_URL: &str = "TROUPE_TEST_TLS_URL";

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls").join(name)
}

/// Serves one answer over TLS on a free port.
fn serve_once() -> u16 {
    install_crypto_provider();
    let certificate = CertificateDer::from_pem_file(file("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept()?;
        let mut connection = ServerConnection::new(Arc::new(config)).map_err(std::io::Error::other)?;
        let mut tls = Stream::new(&mut connection, &mut socket);
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        // The request's body ends with the messages.
        while !request.ends_with(b"}]}") {
            let read = tls.read(&mut buffer)?;
            if read == 0 {
                return Ok(());
            }
            request.extend_from_slice(&buffer[..read]);
        }
        tls.write_all(&answer("over tls"))
    });
    port
}

/// Runs the child test below in a process of its own, because the client reads the environment once.
fn ask(variables: &[(&str, PathBuf)]) -> String {
    let url = format!("https://localhost:{}/v1", serve_once());
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "tls::child_asks_over_tls", "--ignored", "--nocapture"]).env(CHILD_URL, url);
    for name in
        ["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
    {
        child.env_remove(name);
    }
    let output = child.envs(variables.iter().map(|(name, path)| (*name, path))).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn fc_036_a_named_authority_is_trusted_and_an_unknown_one_is_explained() {
    for name in ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"] {
        let said = ask(&[(name, file("ca.pem"))]);
        assert!(said.contains("text: over tls"), "{name}: {said}");
    }
    let said = ask(&[]);
    assert!(
        said.contains("certificate") && said.contains("SSL_CERT_FILE") && said.contains("retryable: false"),
        "{said}"
    );
}

#[tokio::test]
#[ignore = "run by the test above in a process of its own"]
async fn child_asks_over_tls() {
    let url = std::env::var(CHILD_URL).unwrap();
    let fixture = fixtures().into_iter().find(|fixture| fixture.file.ends_with("usage-absent.sse")).unwrap();
    let batches: Vec<_> = provider_for("openai-completions").unwrap().stream(fixture.request(&url)).collect().await;
    match batches.into_iter().flatten().last() {
        Some(StreamEvent::Done(message)) => {
            println!("text: {}", troupe::protocol::message::text_of(&message.content, ""))
        }
        Some(StreamEvent::Failed { failure, .. }) => println!("{failure} retryable: {}", failure.retryable),
        other => println!("{other:?}"),
    }
}
