//! Sessions as pages: `--export`, and `export_html` of RPC mode.

#![allow(clippy::unwrap_used)]

mod support;

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use serde_json::json;
use support::*;

/// A session of one prompt and one answer.
async fn session(answer: &str) -> Sandbox {
    let sandbox = Sandbox::new(replies([text(answer)])).await;
    let finished = sandbox.run(&["-p", "say </script> please"]).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    sandbox
}

#[tokio::test]
async fn a_session_file_becomes_a_page_in_the_folder_where_it_is_asked_for() {
    let sandbox = session("Here: **done**").await;
    let file = sandbox.session_file();
    let before = fs::read(&file).unwrap();
    let export = async || sandbox.run(&["--export", file.to_str().unwrap()]).await;
    let stem = file.file_stem().unwrap().to_str().unwrap();
    // A page that is there is not replaced when nobody named it.
    for name in [format!("troupe-session-{stem}.html"), format!("troupe-session-{stem}-2.html")] {
        let finished = export().await;
        let page = sandbox.project.join(&name);
        assert_eq!((finished.code, finished.stdout), (Some(0), format!("Exported to: {}\n", page.display())));
        let html = fs::read_to_string(&page).unwrap();
        assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
        assert!(html.contains("<strong>done</strong>") && html.contains("say &lt;/script&gt; please"));
        assert_eq!(fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::read(&file).unwrap(), before, "the session is untouched");
}

#[tokio::test]
async fn a_page_goes_where_it_is_told_to_and_replaces_what_was_there() {
    let sandbox = session("done").await;
    let file = sandbox.session_file();
    let page = sandbox.write("out/page.html", "old");
    fs::set_permissions(&page, fs::Permissions::from_mode(0o644)).unwrap();
    let finished = sandbox.run(&["--export", file.to_str().unwrap(), "out/page.html"]).await;
    assert_eq!((finished.code, finished.stdout), (Some(0), format!("Exported to: {}\n", page.display())));
    assert!(sandbox.read(&page).starts_with("<!doctype html>"));
    assert_eq!(fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o644, "who could read it can go on");
    let finished = sandbox.run(&["--export", file.to_str().unwrap(), "out"]).await;
    assert!(finished.stdout.contains("out/troupe-session-"), "{}", finished.stdout);
    assert_eq!(fs::read_dir(sandbox.project.join("out")).unwrap().count(), 2, "nothing else is left there");
}

#[tokio::test]
async fn what_cannot_be_exported_is_named_and_fails() {
    let sandbox = session("done").await;
    let file = sandbox.session_file();
    let file = file.to_str().unwrap();
    sandbox.write("notes.txt", "no session");
    for (args, why) in [
        (vec!["--export", "missing.jsonl"], "missing.jsonl"),
        (vec!["--export", "notes.txt"], "notes.txt"),
        (vec!["--export", file, "no/such/folder.html"], "no/such"),
        (vec!["--export", file, "/dev/null"], "no regular file"),
    ] {
        let finished = sandbox.run(&args).await;
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{args:?}");
        assert!(finished.stderr.starts_with("Error: ") && finished.stderr.contains(why), "{}", finished.stderr);
    }
}

#[tokio::test]
async fn a_client_gets_the_path_of_the_page_that_it_asked_for() {
    let sandbox = Sandbox::new(replies([text("an answer")])).await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.prompt("hello </script>").await;
    let path = sandbox.project.join("page.html");
    let answer = rpc.call(json!({"type": "export_html", "outputPath": "page.html"})).await;
    assert_eq!(answer["path"], path.to_str().unwrap());
    let html = sandbox.read(&path);
    assert!(html.contains("hello &lt;/script&gt;") && html.contains("an answer"));
    let named = rpc.call(json!({"type": "export_html"})).await;
    let named = Path::new(named["path"].as_str().unwrap());
    assert!(named.file_name().unwrap().to_str().unwrap().starts_with("troupe-session-"));
    let refused = rpc.refused(json!({"type": "export_html", "outputPath": "no/such/page.html"})).await;
    assert!(refused.contains("no/such"), "{refused}");
}
