//! Proxies: of the environment, and of the settings.

use std::process::Command;

use tokio_stream::StreamExt;
use troupe::{
    protocol::StreamEvent,
    providers::{http::set_proxy, provider_for},
};

use crate::{
    manifest::fixtures,
    server::{Server, Step, answer},
};

const CHILD_URL: &str = "TROUPE_TEST_PROXY_URL";
const CHILD_SETTING: &str = "TROUPE_TEST_PROXY_SETTING";
const VARIABLES: [&str; 8] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"];

/// Asks from a process of its own, because the client reads the environment once.
async fn ask(url: &str, variables: &[(&str, &str)]) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "proxy::child_asks_through_a_proxy", "--ignored", "--nocapture"]).env(CHILD_URL, url);
    VARIABLES.iter().for_each(|name| {
        child.env_remove(name);
    });
    child.envs(variables.iter().copied());
    let output = tokio::task::spawn_blocking(move || child.output()).await.unwrap().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn a_proxy_carries_what_leaves_this_machine_and_the_one_of_the_settings_carries_all() {
    const AWAY: &str = "http://model.test/v1";
    for (variable, bypass, to_local, proxied) in [
        ("HTTP_PROXY", "", false, true),
        ("ALL_PROXY", "", false, true),
        ("HTTP_PROXY", "", true, false),
        (CHILD_SETTING, "", false, true),
        (CHILD_SETTING, "", true, true),
        (CHILD_SETTING, "127.0.0.1", true, false),
    ] {
        let proxy = Server::start([Step::Answer(vec![answer("by proxy")])]).await;
        let local = Server::start([Step::Answer(vec![answer("directly")])]).await;
        let url = if to_local { local.url.as_str() } else { AWAY };
        let address = proxy.url.trim_end_matches("/v1");
        let said = ask(url, &[(variable, address), ("NO_PROXY", bypass)]).await;
        let expected = if proxied { "text: by proxy" } else { "text: directly" };
        assert!(said.contains(expected), "{variable} {bypass} {url}: {said}");
        if proxied {
            let asked = format!("POST {url}/chat/completions HTTP/1.1\r\n");
            assert!(proxy.seen()[0].head.starts_with(&asked), "{}", proxy.seen()[0].head);
        }
    }
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_named_without_its_password() {
    let said = ask("http://model.test/v1", &[(CHILD_SETTING, "http://me:hush@127.0.0.1:1")]).await;
    assert!(said.contains("127.0.0.1:1") && said.contains("proxy") && !said.contains("hush"), "{said}");
}

#[tokio::test]
#[ignore = "run by the tests above in a process of its own"]
async fn child_asks_through_a_proxy() {
    let url = std::env::var(CHILD_URL).unwrap();
    set_proxy(std::env::var(CHILD_SETTING).ok());
    let fixture = fixtures().into_iter().find(|fixture| fixture.file.ends_with("usage-absent.sse")).unwrap();
    let batches: Vec<_> = provider_for("openai-completions").unwrap().stream(fixture.request(&url)).collect().await;
    match batches.into_iter().flatten().last() {
        Some(StreamEvent::Done(message)) => {
            println!("text: {}", troupe::protocol::message::text_of(&message.content, ""));
        }
        Some(StreamEvent::Failed { failure, .. }) => println!("{failure}"),
        other => println!("{other:?}"),
    }
}
