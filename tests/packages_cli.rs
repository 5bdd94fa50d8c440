//! `install`, `remove` and `list`, and what installed packages bring (1.5, 7.7).

#![allow(clippy::unwrap_used)]

mod support;

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::{Value, json};
use support::*;

async fn obliging() -> Sandbox {
    Sandbox::new(replies([text("ok")])).await
}

/// Runs a command about packages: code and what was printed.
async fn packages(sandbox: &Sandbox, args: &[&str]) -> (Option<i32>, String) {
    let mut command = sandbox.command_of(env!("CARGO_BIN_EXE_troupe"), &["--version"]);
    command = {
        let mut plain = tokio::process::Command::new(env!("CARGO_BIN_EXE_troupe"));
        for (name, value) in command.as_std().get_envs() {
            if let Some(value) = value {
                plain.env(name, value);
            }
        }
        plain.current_dir(&sandbox.project).env_remove("TROUPE_OFFLINE").args(args).kill_on_drop(true);
        plain.env("PATH", format!("{}:/usr/bin:/bin", sandbox.home.join("bin").display()));
        plain
    };
    let finished = finish(command, "").await;
    (finished.code, finished.stdout + &finished.stderr)
}

/// A program of that name that runs these lines of shell.
fn program(sandbox: &Sandbox, name: &str, script: &str) {
    let path = sandbox.write(sandbox.home.join("bin").join(name), format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn settings(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read(sandbox.user_dir.join("settings.json"))).unwrap()
}

async fn prompt(sandbox: &Sandbox, args: &[&str]) -> String {
    let finished = sandbox.run(&[&["--no-session", "-p"], args].concat()).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    sandbox.server.last().last_user()
}

#[tokio::test]
async fn a_local_package_is_used_where_it_lies() {
    let sandbox = obliging().await;
    let prompts = sandbox.write("pkg/prompts/hello.md", "HELLO $1");
    let folder = prompts.ancestors().nth(2).unwrap().display().to_string();
    sandbox.settings(json!({"theme": "mine", "packages": ["npm:other"]}));
    let installed = packages(&sandbox, &["install", "./pkg/"]).await;
    assert_eq!(installed, (Some(0), format!("Installed {folder} in {folder}\n")));
    assert_eq!(settings(&sandbox), json!({"theme": "mine", "packages": ["npm:other", folder]}));
    let again = packages(&sandbox, &["install", "pkg"]).await;
    assert_eq!((again.0, settings(&sandbox)["packages"].as_array().unwrap().len()), (Some(0), 2));
    let (code, list) = packages(&sandbox, &["list"]).await;
    let missing = sandbox.user_dir.join("npm/node_modules/other");
    let expected =
        format!("User packages:\n  npm:other\n    {} (missing)\n  {folder}\n    {folder}\n", missing.display());
    assert_eq!((code, list), (Some(0), expected));
    assert_eq!(prompt(&sandbox, &["/hello you"]).await, "HELLO you");
    assert_eq!(packages(&sandbox, &["remove", "pkg"]).await, (Some(0), format!("Removed {folder}\n")));
    assert_eq!(settings(&sandbox)["packages"], json!(["npm:other"]));
    assert!(sandbox.exists("pkg/prompts/hello.md"), "a local package is left alone");
    let (code, text) = packages(&sandbox, &["remove", "pkg"]).await;
    assert!(code == Some(1) && text.contains("There is no package"), "{text}");
}

#[tokio::test]
async fn a_package_of_the_project_is_written_as_seen_from_its_folder_and_needs_trust() {
    let sandbox = obliging().await;
    sandbox.write("pkg/prompts/hello.md", "HELLO");
    assert_eq!(packages(&sandbox, &["install", "-l", "pkg"]).await.0, Some(0));
    let written: Value = serde_json::from_str(&sandbox.read(".troupe/settings.json")).unwrap();
    assert_eq!(written, json!({"packages": ["../pkg"]}));
    // Now the project has something that needs trust.
    let (code, text) = packages(&sandbox, &["install", "-l", "pkg"]).await;
    assert!(code == Some(1) && text.contains("not trusted"), "{text}");
    assert_eq!(prompt(&sandbox, &["/hello"]).await, "/hello");
    assert_eq!(prompt(&sandbox, &["--approve", "/hello"]).await, "HELLO");
    assert!(packages(&sandbox, &["list", "-a"]).await.1.starts_with("Project packages:\n  ../pkg\n"));
    assert_eq!(packages(&sandbox, &["remove", "-l", "pkg", "--approve"]).await.0, Some(0));
}

#[tokio::test]
async fn npm_and_git_put_their_packages_below_the_users_folder() {
    let sandbox = obliging().await;
    let npm = r#"echo "$@" >> "$HOME/log"
case "$2" in install) p="$4/node_modules/@s/n/prompts"; mkdir -p "$p"; echo FROM-NPM > "$p/n.md";;
uninstall) rm -r "$4/node_modules/@s";; esac"#;
    program(&sandbox, "mynpm", npm);
    let git = r#"echo "$@" >> "$HOME/log"
case "$3" in clone) mkdir -p "$7/prompts"; echo FROM-GIT > "$7/prompts/g.md";; esac"#;
    program(&sandbox, "git", git);
    sandbox.settings(json!({"npmCommand": ["mynpm", "--flag"]}));
    for source in ["npm:@s/n@1.0", "git:git@example.org:o/r@v1"] {
        let (code, text) = packages(&sandbox, &["install", source]).await;
        assert!(code == Some(0) && text.starts_with(&format!("Installed {source} in ")), "{text}");
    }
    assert_eq!(settings(&sandbox)["packages"], json!(["npm:@s/n@1.0", "git:git@example.org:o/r@v1"]));
    let log = sandbox.read(sandbox.home.join("log"));
    assert!(log.starts_with("--flag install --prefix ") && log.contains("--ignore-scripts"), "{log}");
    assert!(log.contains(" -- @s/n@1.0\n") && log.contains("clone --quiet -- git@example.org:o/r "), "{log}");
    assert!(log.contains("checkout --quiet --detach v1 --\n"), "{log}");
    assert_eq!(prompt(&sandbox, &["/n"]).await.trim(), "FROM-NPM");
    assert_eq!(prompt(&sandbox, &["/g"]).await.trim(), "FROM-GIT");
    for source in ["npm:@s/n", "git:example.org/o/r"] {
        assert_eq!(packages(&sandbox, &["uninstall", source]).await.0, Some(0), "{source}");
    }
    assert_eq!(settings(&sandbox)["packages"], json!([]));
    assert!(!sandbox.user_dir.join("git/example.org").exists(), "empty folders go too");
}

#[tokio::test]
async fn what_cannot_be_installed_changes_nothing() {
    let sandbox = obliging().await;
    program(&sandbox, "npm", "echo no such thing >&2; exit 3");
    sandbox.settings(json!({}));
    for (source, said) in [
        ("npm:x", "no such thing"),
        ("npm:x", "npm (exit status: 3) failed; nothing was changed"),
        ("./nowhere", "There is no folder"),
        ("npm:../x", "is no source of a package"),
    ] {
        let (code, text) = packages(&sandbox, &["install", source]).await;
        assert!(code == Some(1) && text.contains(said), "{source}: {text}");
    }
    let (code, text) = packages(&sandbox, &["install", "npm:x", "--approve"]).await;
    assert_eq!(code, Some(1), "{text}");
    assert_eq!(settings(&sandbox), json!({}));
    sandbox.write(sandbox.user_dir.join("settings.json"), "{broken");
    sandbox.write("pkg/prompts/hello.md", "HELLO");
    for source in ["pkg", "npm:x"] {
        let (code, text) = packages(&sandbox, &["install", source]).await;
        let is_early = text.contains("mend the file") && !text.contains("no such thing");
        assert!(code == Some(1) && is_early, "{source}: {text}");
    }
    assert_eq!(sandbox.read(sandbox.user_dir.join("settings.json")), "{broken");
}
