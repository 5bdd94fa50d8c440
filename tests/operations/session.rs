//! A whole session whose tools work on another machine.

use std::{fs, path::Path};

use serde_json::json;

use crate::{
    sshd::{Sshd, Tools},
    support::*,
};

#[tokio::test]
async fn a_session_works_on_another_machine() {
    let Some(server) = Sshd::start(Tools::All) else { return };
    let folder = server.home().join("app");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("AGENTS.md"), "INSTRUCTIONS-THERE").unwrap();
    fs::write(folder.join("a.txt"), "one\ntwo\n").unwrap();
    let edit = json!({"path": "a.txt", "edits": [{"oldText": "two", "newText": "2"}]});
    let sandbox = Sandbox::new(replies([
        calls([call("read", json!({"path": "a.txt"})), call("bash", json!({"command": "pwd; echo $REMOTE_ONLY"}))]),
        calls([call("edit", edit)]),
        calls([call("write", json!({"path": "~/new/b.txt", "content": "written"}))]),
        text("done"),
    ]))
    .await;
    sandbox.write("AGENTS.md", "INSTRUCTIONS-HERE");
    let options = json!({"ssh": {"options": server.arguments()}});
    fs::write(sandbox.user_dir.join("settings.json"), options.to_string()).unwrap();
    let finished = sandbox.run(&["--ssh", "box:app", "-p", "hi"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), "one\n2\n");
    assert_eq!(fs::read_to_string(server.home().join("new/b.txt")).unwrap(), "written");
    let request = sandbox.server.last().messages().iter().map(ToString::to_string).collect::<String>();
    assert!(request.contains("INSTRUCTIONS-THERE") && !request.contains("INSTRUCTIONS-HERE"), "{request}");
    assert!(request.contains("All tools work on another machine, box"), "{request}");
    assert!(request.contains(&format!("{}\\n1\\n", folder.display())), "{request}");
    assert!(no_connection_is_left(&sandbox.home.with_file_name("tmp")));
    let here = sandbox.run(&["--continue", "--model", "mock/m1", "-p", "hi"]).await;
    assert!(here.stderr.contains("This session worked on another machine"), "{}", here.stderr);
    let refused = sandbox.run(&["--ssh", "-oProxyCommand=x", "-p", "hi"]).await;
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("begins with a dash"), "{}", refused.stderr);
}

fn no_connection_is_left(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().flatten().all(|entry| !entry.file_name().to_string_lossy().contains("ssh"))
}
