//! What is wrong is told before anybody is paid.

use crate::support::*;

#[tokio::test]
async fn models_and_scripts_of_all_roles_are_looked_at_before_the_first_is_paid() {
    let sandbox = Sandbox::new(replies([text("nobody asks the server")])).await;
    let head =
        "[team]\nname = \"t\"\n[role.a]\nmodel = \"mock/m1\"\nprompt = \"x\"\n[role.b]\nprompt = \"{{a.output}}\"\n";
    sandbox.write("bad.json", "{\"turn\": []}");
    let table = [
        ("model = \"no/such\"", "t.toml:8:1: role.b.model: Model \"no/such\" not found."),
        (
            "model = \"troupe/script\"",
            "t.toml:8:1: role.b.model: plays a script, and there is none: say script = \"FILE\"",
        ),
        ("script = \"bad.json\"", "t.toml:8:1: role.b.script: "),
        ("[defaults]\nmodel = \"no/such\"", "t.toml:9:1: defaults.model: role b: Model \"no/such\" not found."),
    ];
    for (line, expected) in table {
        sandbox.write("t.toml", format!("{head}{line}\n"));
        for words in [&["team", "check", "t.toml"][..], &["team", "run", "t.toml", "--out", "out"]] {
            let finished = sandbox.run(words).await;
            assert_eq!(finished.code, Some(2), "{words:?} {line}: {}", finished.stderr);
            assert!(finished.stderr.contains(expected), "{words:?} {line}: {}", finished.stderr);
        }
    }
    // One that is not known, of one role alone, and one that the command line names.
    sandbox.write("t.toml", "[team]\nname = \"t\"\n[role.a]\nmodel = \"no/such\"\nprompt = \"x\"\n");
    let finished = sandbox.run(&["team", "run", "t.toml", "--out", "out"]).await;
    assert_eq!(finished.code, Some(2));
    assert!(finished.stderr.contains("t.toml:4:1: role.a.model: Model \"no/such\" not found."), "{}", finished.stderr);
    let finished = sandbox.run(&["team", "run", "t.toml", "--out", "out", "--model", "nor/this"]).await;
    assert_eq!(finished.code, Some(2));
    assert!(finished.stderr.contains("Model \"nor/this\" not found."), "{}", finished.stderr);
    assert_eq!((sandbox.server.count(), sandbox.exists("out")), (0, false));
}

#[tokio::test]
async fn an_input_that_leaves_a_first_message_empty_is_refused() {
    let sandbox = Sandbox::new(replies([text("nobody asks the server")])).await;
    sandbox.write(
        "t.toml",
        "[team]\nname = \"t\"\n[inputs]\nq = \"\"\n[role.a]\nmodel = \"mock/m1\"\nprompt = \"{{input.q}}\"\n",
    );
    for words in [&["team", "run", "t.toml", "--out", "out"][..], &["team", "run", "t.toml", "--input", "q= "]] {
        let finished = sandbox.run(words).await;
        assert_eq!(finished.code, Some(2), "{}", finished.stderr);
        let expected = "t.toml:7:1: role.a.prompt: the first message is empty: {{input.q}} has no words";
        assert!(finished.stderr.contains(expected), "{}", finished.stderr);
    }
}

#[tokio::test]
async fn a_list_command_that_never_ends_is_ended() {
    let sandbox = Sandbox::new(replies([text("nobody asks the server")])).await;
    sandbox.write(
        "t.toml",
        "[team]\nname = \"t\"\n[role.a]\nmodel = \"mock/m1\"\neach = { command = \"yes\" }\nprompt = \"{{item}}\"\n",
    );
    let finished = sandbox.run(&["team", "run", "t.toml", "--out", "out"]).await;
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("`yes` prints too much for a list: 50 KiB and 2000 lines at most"),
        "{}",
        finished.stderr
    );
}
