//! Who comes to a server first.

use crate::{stage::*, support::*};

#[tokio::test]
async fn a_server_that_nobody_has_used_yet_takes_many_at_once() {
    let Some(stage) = Stage::new(|_: &Request| text("fine")).await else { return };
    // Each of them makes what is missing, and they do not agree on the time of a lease.
    let clients = tokio::join!(stage.runs(&["list"]), stage.worker("a"), stage.runs(&["list"]), stage.worker("b"));
    for client in [&clients.0, &clients.2] {
        assert_eq!(client.code, Some(0), "{}", client.stderr);
    }
    let finished = stage.run(&["go"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "fine\n"), "{}", finished.stderr);
}
