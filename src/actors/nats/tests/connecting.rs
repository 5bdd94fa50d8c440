//! Ways to a server, and what is said when there is none.

use std::{fs, path::PathBuf, process::Command};

use super::super::{Hub, Limits, NatsAddress, NatsError, testing::Server};
use crate::actors::testing::within;

async fn connect(address: &NatsAddress) -> Result<Hub, NatsError> {
    within("connection", Hub::connect(address, "test", Limits::default())).await
}

fn at(server: &Server, who: &str) -> NatsAddress {
    NatsAddress::parse(&format!("nats://{who}127.0.0.1:{}", server.port())).unwrap()
}

/// An address where nobody listens.
fn nowhere() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("nats://s3cret:s3cret@{}", listener.local_addr().unwrap())
}

#[tokio::test]
async fn users_tokens_and_nkeys_open_the_door() {
    for (authorization, who, nkey) in [
        ("user: ada, password: \"s3c/ret\"", "ada:s3c%2Fret@", None),
        ("token: s3cret", "s3cret@", None),
        (&*format!("users: [{{nkey: {}}}]", USER[0]), "", Some(USER[1])),
    ] {
        let Some(server) = Server::with(&format!("authorization {{ {authorization} }}")).await else { return };
        let mut address = at(&server, who);
        if let Some(seed) = nkey {
            let file = server.dir.path().join("seed");
            fs::write(&file, format!("# mine\n{seed}\n")).unwrap();
            address.nkey = Some(file);
        }
        let hub = connect(&address).await.unwrap();
        hub.put("run", "spec", &1).await.unwrap();
        assert!(!format!("{hub:?} {address:?}").contains("s3c"), "{hub:?}");
        let error = connect(&at(&server, "ada:wrong-s3cret@")).await.unwrap_err();
        assert!(matches!(error, NatsError::Refused { .. }) && !error.to_string().contains("s3cret"), "{error}");
        assert!(error.to_string().contains("Give a credentials file"), "{error}");
    }
}

/// The public key and the seed of a user who exists nowhere but here.
const USER: [&str; 2] = [
    "UCFGBVED6QRQ3IM3PKADHZAWLEY44CF4LRYOM6LL752Y3DZ7RQDPG35L",
    "SUAGWHPJ6A2BLS7QJVOWHCEJLAZM4J7JUG32HMRYJ7ABZLKNOQGY3SA6BI",
];

#[tokio::test]
async fn a_file_of_credentials_opens_the_door_of_an_operators_server() {
    // An operator, an account and a user who exist nowhere but here.
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/nats");
    let operator = fs::read_to_string(fixtures.join("operator.conf")).unwrap();
    let Some(server) = Server::with(&operator).await else { return };
    let address = NatsAddress { credentials: Some(fixtures.join("worker.creds")), ..at(&server, "") };
    connect(&address).await.unwrap().put("run", "spec", &1).await.unwrap();
    let error = connect(&at(&server, "")).await.unwrap_err();
    assert!(matches!(error, NatsError::Refused { .. }), "{error}");
}

#[tokio::test]
async fn a_server_that_is_nowhere_and_files_that_are_not_there_are_named() {
    let Some(server) = Server::start().await else { return };
    let error = connect(&NatsAddress::parse(&nowhere()).unwrap()).await.unwrap_err().to_string();
    assert!(error.starts_with("nats://127.0.0.1:") && error.contains("cannot be reached: "), "{error}");
    assert!(!error.contains("s3cret"), "{error}");
    let missing = || Some(PathBuf::from("/nowhere/file"));
    let address = at(&server, "");
    for address in [
        NatsAddress { credentials: missing(), ..address.clone() },
        NatsAddress { nkey: missing(), ..address.clone() },
        NatsAddress { tls_ca: missing(), ..address.clone() },
        NatsAddress { tls_cert: missing(), ..address.clone() },
        NatsAddress { tls_key: missing(), ..address.clone() },
    ] {
        let error = connect(&address).await.unwrap_err().to_string();
        assert!(error.starts_with("cannot use /nowhere/file: "), "{error}");
    }
    let file = server.dir.path().join("no credentials");
    fs::write(&file, "s3cret").unwrap();
    for address in [
        NatsAddress { credentials: Some(file.clone()), ..address.clone() },
        NatsAddress { nkey: Some(file.clone()), ..address.clone() },
    ] {
        let error = connect(&address).await.unwrap_err().to_string();
        assert!(error.contains("no credentials: it ") && !error.contains("s3cret"), "{error}");
    }
    let bad = NatsAddress { prefix: "a.b".to_owned(), ..address };
    assert!(matches!(connect(&bad).await, Err(NatsError::BadName(_))));
}

#[tokio::test]
async fn of_several_servers_one_that_is_there_is_enough() {
    let Some(server) = Server::start().await else { return };
    let address = NatsAddress::parse(&format!("{},{}", nowhere(), server.url)).unwrap();
    let hub = connect(&address).await.unwrap();
    assert!(hub.is_connected() && hub.put("run", "spec", &1).await.is_ok());
}

#[tokio::test]
async fn names_begin_with_the_prefix_and_streams_that_are_there_stay() {
    let Some(server) = Server::start().await else { return };
    let one = at(&server, "");
    let two = NatsAddress { prefix: "other".to_owned(), ..one.clone() };
    let (one, two) = (connect(&one).await.unwrap(), connect(&two).await.unwrap());
    one.put("run", "spec", &1).await.unwrap();
    assert_eq!(two.get::<u32>("run", "spec").await.unwrap(), None);
    assert_eq!((server.messages(&one, "KV_troupe_runs").await, server.messages(&one, "KV_other_runs").await), (1, 0));
    // The time of a lease is what the first one said.
    let again = server.hub_with(Limits { lease: std::time::Duration::from_secs(77), ..Limits::default() }).await;
    assert_eq!(again.lease_time(), Limits::default().lease);
}

#[tokio::test]
async fn a_server_without_jetstream_is_told_from_others() {
    let dir = tempfile::tempdir().unwrap();
    let Some(server) = Server::configured(dir, "").await else { return };
    let error = connect(&at(&server, "")).await.unwrap_err();
    assert!(matches!(error, NatsError::NoJetStream { .. }), "{error}");
    assert!(error.to_string().contains("nats-server -js"), "{error}");
}

#[tokio::test]
async fn what_the_server_forbids_is_told() {
    let users = "authorization { users: [
        {user: all, password: p},
        {user: few, password: p, permissions: {publish: [\"$JS.API.>\", \"_INBOX.>\"], subscribe: \"_INBOX.>\"}},
        {user: none, password: p, permissions: {publish: \"x\", subscribe: \"_INBOX.>\"}}
    ] }";
    let Some(server) = Server::with(users).await else { return };
    let all = connect(&at(&server, "all:p@")).await.unwrap();
    all.put("run", "spec", &1).await.unwrap();
    let few = connect(&at(&server, "few:p@")).await.unwrap();
    assert_eq!(few.get::<u32>("run", "spec").await.unwrap().unwrap().value, 1);
    let error = few.put("run", "spec", &2).await.unwrap_err();
    assert!(matches!(error, NatsError::Forbidden { .. }), "{error}");
    assert!(error.to_string().contains("$KV.troupe_runs.run.spec"), "{error}");
    let error = connect(&at(&server, "none:p@")).await.unwrap_err();
    assert!(matches!(error, NatsError::Forbidden { .. }), "{error}");
}

/// Certificates of an authority, a server and a client; none where there is no program for it.
fn certificates(dir: &std::path::Path) -> bool {
    let script = r#"
set -e
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem
for who in server client; do
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=$who -keyout $who.key -out $who.csr
    printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n' > ext
    openssl x509 -req -in $who.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out $who.pem
done
"#;
    let made = Command::new("sh").args(["-c", script]).current_dir(dir).output();
    let made = made.is_ok_and(|output| output.status.success());
    if !made {
        eprintln!("SKIPPED: no openssl");
    }
    made
}

#[tokio::test]
async fn a_secure_server_is_known_by_its_authority_and_knows_us_by_our_certificate() {
    let dir = tempfile::tempdir().unwrap();
    if !certificates(dir.path()) {
        return;
    }
    let file = |name: &str| dir.path().join(name);
    let tls = format!(
        "tls {{ cert_file: {:?}, key_file: {:?}, ca_file: {:?}, verify: true }}",
        file("server.pem"),
        file("server.key"),
        file("ca.pem")
    );
    let Some(server) = Server::with(&tls).await else { return };
    let plain = NatsAddress::parse(&format!("tls://127.0.0.1:{}", server.port())).unwrap();
    let known = NatsAddress { tls_ca: Some(file("ca.pem")), ..plain.clone() };
    let ours = NatsAddress { tls_cert: Some(file("client.pem")), tls_key: Some(file("client.key")), ..known.clone() };
    connect(&ours).await.unwrap().put("run", "spec", &1).await.unwrap();
    for address in [plain, known] {
        let error = connect(&address).await.unwrap_err();
        assert!(matches!(error, NatsError::Tls { .. }), "{error}");
        assert!(error.to_string().contains("Check the certificate"), "{error}");
    }
    let half = NatsAddress { tls_key: None, ..ours };
    assert!(connect(&half).await.unwrap_err().to_string().contains("needs its key"));
}
