//! Tables: what becomes of calls.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;
use crate::{
    protocol::permission::PermissionMode as Mode,
    tools::{Local, operations::Operations as _, permissions::rule::Source},
};

fn policy(mode: Mode, rules: &[&str]) -> Policy {
    let rules = rules.iter().map(|text| rule(text, Source::User)).collect();
    let places = Places { project: vec!["/w/p".into()], home: Some("/h".into()) };
    Policy { mode, rules, places, knows_shell: true }
}

/// A rule with what it does in front.
fn rule(text: &str, source: Source) -> Rule {
    let (action, text) = text.split_once(' ').unwrap();
    let action = match action {
        "allow" => Action::Allow,
        "ask" => Action::Ask,
        "deny" => Action::Deny,
        _ => panic!("{action}"),
    };
    Rule::parse(action, source, text, Some(Path::new("/h"))).unwrap()
}

fn decide(policy: &Policy, tool: &str, input: Value) -> Decision {
    let Value::Object(input) = input else { panic!() };
    policy.decide(&Call { tool, input: &input }, &|path| path.to_owned())
}

fn word(decision: &Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask(_) => "ask",
        Decision::Deny(_) => "deny",
    }
}

fn bash(policy: &Policy, script: &str) -> &'static str {
    word(&decide(policy, "bash", json!({"command": script})))
}

#[test]
fn fc_102_only_the_allowed_words_alone_are_allowed() {
    let allowed = policy(Mode::Deny, &["allow bash(git status)"]);
    for script in ["git status", " git  status ", "g'it' \"status\"", "git status # rm x", "git status 2>&1 >/dev/null"]
    {
        assert_eq!(bash(&allowed, script), "allow", "{script}");
    }
    for script in [
        "git status && rm -rf x",
        "git status; id",
        "git statusx",
        "git status $(id)",
        "git status `id`",
        "git status\nid",
        "git status & id",
        "git status | sh",
        "git status || id",
        "git status > /etc/x",
        "git status >> x",
        "FOO=1 git status",
        "git -c core.pager=evil status",
        "git status -s",
        "sudo git status",
        "env FOO=1 git status",
        "PATH=/evil; git status",
        "PATH=/evil git status",
        "/evil/git status",
        "./git status",
        "cd /evil && git status",
        "eval \"$X\"; git status",
        "git status <(id)",
        "$(echo git) status",
        "git status <<EOF\n$(id)\nEOF",
        "alias git=rm; git status",
        "git() { id; }; git status",
        "git $X",
        "hash -p /evil git; git status",
        "export PATH=/evil; git status",
        "git status; source x",
        "git status \\\n; id",
        "git 'status",
        "if git status; then id; fi",
        "for x in 1; do git status; id; done",
        "bash -c 'git status; id'",
        "xargs git status",
        "find . -exec git status {} ';'",
        "trap id EXIT; git status",
        "git status\r\nid",
        "coproc id; git status",
        "time id; git status",
        "! id; git status",
        "git status;;",
        "\u{a0}git status",
    ] {
        assert_eq!(bash(&allowed, script), "deny", "{script}");
    }
    let composed = policy(Mode::Deny, &["allow bash(git status *)", "allow bash(cargo *)", "allow bash(cat *)"]);
    for script in [
        "git status -s && cargo test",
        "if git status; then cargo build; fi",
        "sh -c 'git status | cat'",
        "timeout 60 cargo test 2>&1 | cat",
        "set -e; git status; true",
        "cd src && cargo test",
        "x=$(git status); echo $x",
        "for f in a b; do cat \"$f\"; done",
        "env cargo test",
        "cat <<'EOF'\n$(rm x)\nEOF",
        "",
    ] {
        assert_eq!(bash(&composed, script), "allow", "{script}");
    }
    for script in
        ["cd / && cargo test", "cd src && cd .. && cargo test", "cd src/../.. && cargo test", "cd src && ./cargo x"]
    {
        assert_eq!(bash(&composed, script), "deny", "{script}");
    }
}

#[test]
fn denying_comes_first_then_answers_then_asking_then_allowing_then_the_mode() {
    let table: &[(Mode, &[&str], &str, &str)] = &[
        (Mode::Off, &["deny bash"], "rm x", "allow"),
        (Mode::Allow, &[], "rm x", "allow"),
        (Mode::Ask, &[], "rm x", "ask"),
        (Mode::Deny, &[], "rm x", "deny"),
        (Mode::Deny, &["allow bash"], "rm $X > /etc/x; eval \"$Y\"", "allow"),
        (Mode::Allow, &["deny bash(rm *)"], "rm x", "deny"),
        (Mode::Allow, &["deny bash(rm *)", "allow bash(rm *)", "allow bash"], "rm x", "deny"),
        (Mode::Allow, &["allow bash(rm *)", "ask bash(rm *)"], "rm x", "ask"),
        (Mode::Allow, &["ask bash(rm *)"], "ls && rm x", "ask"),
        (Mode::Allow, &["deny bash(rm *)"], "/bin/rm x", "deny"),
        (Mode::Allow, &["deny bash(rm *)"], "A=1 rm x", "deny"),
        (Mode::Allow, &["deny bash(rm *)"], "ls | sudo xargs rm", "deny"),
        (Mode::Allow, &["deny bash(rm *)"], "sh -c 'ls; rm x'", "deny"),
        (Mode::Allow, &["deny bash(rm *)"], "echo $(rm x)", "deny"),
        (Mode::Allow, &["deny bash(rm *)"], "f() { rm x; }; f", "deny"),
        (Mode::Allow, &["deny bash(rm *)"], "$X x", "ask"),
        (Mode::Allow, &["deny bash(rm *)"], "eval \"$X\"", "ask"),
        (Mode::Allow, &["deny bash(rm *)"], "rm (", "ask"),
        (Mode::Allow, &["deny bash(rm -rf *)"], "rm $X", "ask"),
        (Mode::Allow, &["deny bash(echo *)"], "echo x", "deny"),
        (Mode::Allow, &["deny write(**/.env)"], "echo x > .env", "deny"),
        (Mode::Allow, &["deny write(**/.env)"], "echo x > $F", "ask"),
        (Mode::Allow, &["deny write(**/.env)"], "cd a && echo x > .env", "ask"),
        (Mode::Allow, &["deny write(**/.env)"], "echo x > a/../.env", "ask"),
        (Mode::Allow, &["deny read(.env)"], "cat < .env", "deny"),
        (Mode::Ask, &["allow bash(echo *)"], "echo x > y", "ask"),
        (Mode::Ask, &["allow bash(echo *)", "allow write(out/**)"], "echo x > out/y", "allow"),
        (Mode::Ask, &["allow bash(echo *)", "allow write(.)"], "echo x > /etc/y", "ask"),
        (Mode::Ask, &["allow bash(cat *)"], "cat < in", "allow"),
        (Mode::Ask, &["allow bash(cat *)"], "cat < /etc/in", "ask"),
        (Mode::Ask, &["allow bash(cat *)"], "cat < /dev/tcp/host/1", "ask"),
    ];
    for (mode, rules, script, wanted) in table {
        assert_eq!(bash(&policy(*mode, rules), script), *wanted, "{mode:?} {rules:?} {script}");
    }
    let mut answered = policy(Mode::Ask, &["ask bash(rm *)", "deny bash(rm -rf *)"]);
    answered.rules.push(rule("allow bash(rm *)", Source::Remembered));
    assert_eq!(bash(&answered, "rm x"), "allow", "an answer is an answer to the rule that asks");
    assert_eq!(bash(&answered, "rm -rf x"), "deny", "and none to the rule that denies");
}

#[test]
fn files_are_judged_by_their_paths() {
    let table: &[(Mode, &[&str], &str, Value, &str)] = &[
        (Mode::Ask, &[], "read", json!({"path": "src/a.rs"}), "allow"),
        (Mode::Ask, &[], "ls", json!({}), "allow"),
        (Mode::Ask, &[], "grep", json!({"pattern": "x", "path": "/etc"}), "ask"),
        (Mode::Ask, &[], "read", json!({"path": "../other"}), "ask"),
        (Mode::Ask, &[], "write", json!({"path": "a"}), "ask"),
        (Mode::Deny, &[], "read", json!({"path": "a"}), "deny"),
        (Mode::Deny, &["allow read"], "find", json!({"pattern": "x"}), "allow"),
        (Mode::Ask, &["allow write(src/**)"], "edit", json!({"path": "src/a.rs"}), "allow"),
        (Mode::Ask, &["allow write(src/**)"], "edit", json!({"path": "src/../b.rs"}), "ask"),
        (Mode::Ask, &["allow write(src/**)"], "write", json!({"path": "/w/p/src/a"}), "allow"),
        (Mode::Ask, &["allow write(*.rs)"], "write", json!({"path": "/etc/a.rs"}), "ask"),
        (Mode::Allow, &["deny write(**/.env)"], "edit", json!({"path": "deep/.env"}), "deny"),
        (Mode::Allow, &["deny write(**/.env)"], "write", json!({"path": "@.env"}), "deny"),
        (Mode::Allow, &["deny write(**/.env)"], "write", json!({"path": "file:///w/p/.env"}), "deny"),
        (Mode::Allow, &["deny read(~/.ssh)"], "read", json!({"path": "/h/.ssh/id_rsa"}), "deny"),
        (Mode::Ask, &["allow mcp__git__*"], "mcp__git__log", json!({}), "allow"),
        (Mode::Ask, &["allow mcp__git__*"], "mcp__web__get", json!({}), "ask"),
        (Mode::Ask, &["allow other(src/**)"], "other", json!({"path": "src/x"}), "allow"),
        (Mode::Ask, &["allow other(src/**)"], "other", json!({"file": "src/x"}), "ask"),
        (Mode::Allow, &["deny other(src/**)"], "other", json!({"file": "src/x"}), "ask"),
        (Mode::Deny, &["allow *"], "anything", json!({}), "allow"),
    ];
    for (mode, rules, tool, input, wanted) in table {
        let got = word(&decide(&policy(*mode, rules), tool, input.clone()));
        assert_eq!(got, *wanted, "{mode:?} {rules:?} {tool} {input}");
    }
}

#[test]
fn fc_103_a_link_is_judged_by_where_it_leads_and_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (project, outside) = (root.join("p"), root.join("outside"));
    std::fs::create_dir_all(project.join("src")).unwrap();
    std::fs::create_dir(&outside).unwrap();
    symlink(outside.join("new.txt"), project.join("src/in.txt")).unwrap();
    symlink(&outside, project.join("src/folder")).unwrap();
    symlink(project.join(".env"), project.join("src/plain.txt")).unwrap();
    symlink(&project, root.join("link")).unwrap();
    let judge = |rules: &[&str], tool: &str, input: Value| {
        let mut policy = policy(Mode::Ask, rules);
        policy.places.project = vec![root.join("link"), project.clone()];
        let Value::Object(input) = input else { panic!() };
        word(&policy.decide(&Call { tool, input: &input }, &|path| Local.real_path(path)))
    };
    let allow = ["allow write(src/**)", "allow bash(echo *)", "deny write(.env)"];
    for (tool, input, wanted) in [
        ("write", json!({"path": "src/new.txt"}), "allow"),
        ("write", json!({"path": root.join("link/src/new.txt")}), "allow"),
        ("write", json!({"path": "src/in.txt"}), "ask"),
        ("write", json!({"path": "src/folder/x"}), "ask"),
        ("write", json!({"path": "src/plain.txt"}), "deny"),
        ("bash", json!({"command": "echo x > src/new.txt"}), "allow"),
        ("bash", json!({"command": "echo x > src/in.txt"}), "ask"),
        ("bash", json!({"command": "echo x > src/folder/../.env"}), "ask"),
        ("bash", json!({"command": "echo x > src/plain.txt"}), "deny"),
        ("read", json!({"path": "src/in.txt"}), "ask"),
    ] {
        assert_eq!(judge(&allow, tool, input.clone()), wanted, "{tool} {input}");
    }
}

#[test]
fn a_refusal_names_the_part_the_reason_and_rules_that_would_allow_it() {
    let asks = policy(Mode::Ask, &["allow bash(ls *)"]);
    let table = [
        ("bash", json!({"command": "ls && git push 'a b'"}), "bash(git push 'a b')", vec!["bash(git push 'a b')"]),
        ("bash", json!({"command": "a > f; a; b"}), "bash(a)", vec!["bash(a)", "bash(b)", "write(./f)"]),
        ("bash", json!({"command": "git push $X"}), "bash(git push $X)", vec![]),
        ("write", json!({"path": "src/a*.rs"}), "write(src/a\\*.rs)", vec!["write(src/a\\*.rs)"]),
        ("write", json!({"path": "/etc/x"}), "write(/etc/x)", vec!["write(/etc/x)"]),
        ("other", json!({"x": 1}), "other", vec!["other"]),
    ];
    for (tool, input, part, remedies) in table {
        let Decision::Ask(reason) = decide(&asks, tool, input.clone()) else { panic!("{input}") };
        assert_eq!(
            (reason.part.as_str(), &reason.remedies),
            (part, &remedies.iter().map(|r| (*r).to_owned()).collect()),
            "{input}"
        );
        // What is offered as a rule allows the call when it is one.
        if !remedies.is_empty() {
            let mut then = asks.clone();
            then.rules.extend(remedies.iter().map(|text| rule(&format!("allow {text}"), Source::Remembered)));
            assert_eq!(word(&decide(&then, tool, input.clone())), "allow", "{input}");
        }
    }
    let Decision::Deny(reason) = decide(&policy(Mode::Allow, &["deny write(.env)"]), "write", json!({"path": ".env"}))
    else {
        panic!()
    };
    assert_eq!(reason.why, "the rule `deny write(.env)` (user settings) stands against it");
}

#[test]
fn commands_of_the_user_are_only_judged_by_rules_that_name_them() {
    let own = |rules: &[&str], script: &str| {
        word(&policy(Mode::Deny, rules).decide_user_command(script, &|path| path.to_owned()))
    };
    assert_eq!(own(&["deny bash", "deny *"], "rm x > y"), "allow");
    assert_eq!(own(&["deny user_bash(rm *)"], "ls; rm x"), "deny");
    assert_eq!(own(&["deny user_bash(rm *)"], "ls > /etc/x"), "allow");
}

#[test]
fn an_unknown_shell_makes_every_command_opaque() {
    let unknown = Policy { knows_shell: false, ..policy(Mode::Ask, &["allow bash(ls *)"]) };
    assert_eq!(bash(&unknown, "ls"), "ask");
}

#[test]
fn what_jobs_starts_or_types_obeys_the_rules_of_commands() {
    let start = |command: &str| json!({"action": "start", "command": command});
    let write = json!({"action": "write", "id": "job-1", "text": "rm x\n"});
    // mode, rules, arguments, decision
    let table = [
        (Mode::Deny, &["allow bash(ls *)"][..], start("ls -l"), "allow"),
        (Mode::Deny, &["allow bash(ls *)"], start("ls; rm x"), "deny"),
        (Mode::Deny, &["allow jobs"], start("rm x"), "deny"),
        (Mode::Deny, &["allow bash", "deny jobs"], start("ls"), "deny"),
        (Mode::Allow, &["deny bash(rm *)"], start("rm x"), "deny"),
        (Mode::Allow, &["deny bash"], start("ls"), "deny"),
        (Mode::Allow, &["deny bash(rm *)"], start("ls > x"), "allow"),
        (Mode::Allow, &["deny write(x)"], start("ls > x"), "deny"),
        (Mode::Ask, &["ask jobs"], json!({"action": "list"}), "ask"),
        (Mode::Ask, &[], start("ls"), "ask"),
        (Mode::Ask, &[], json!({"action": "start"}), "ask"),
        (Mode::Deny, &[], json!({"action": "wait", "id": "job-1"}), "allow"),
        (Mode::Deny, &["allow bash(ls *)"], write.clone(), "deny"),
        (Mode::Deny, &["allow bash"], write.clone(), "allow"),
        (Mode::Allow, &["deny bash(rm *)"], write.clone(), "ask"),
        (Mode::Allow, &["deny read(x)"], write, "allow"),
    ];
    for (mode, rules, input, wanted) in table {
        assert_eq!(word(&decide(&policy(mode, rules), "jobs", input.clone())), wanted, "{mode:?} {rules:?} {input}");
    }
}
