//! Changes by commands.

use std::{fs, path::Path, process::Command, time::UNIX_EPOCH};

use serde_json::json;

use super::world::{World, tree};
use crate::{
    protocol::checkpoint::{FileChange, Undo, UndoTarget},
    tools::{CheckpointConfig, checkpoints::list, operations::ShellCommand},
};

fn git(folder: &Path, args: &[&str]) -> bool {
    let mut git = Command::new("git");
    git.current_dir(folder).args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    git.args(args).output().is_ok_and(|output| output.status.success())
}

/// Files that git knows for long: what was written just now, git does not vouch for.
fn age(path: &Path) {
    fs::File::options().write(true).open(path).unwrap().set_modified(UNIX_EPOCH).unwrap();
}

#[tokio::test]
async fn whatever_a_command_does_to_small_files_is_undone() {
    let world = World::new();
    for name in ["a", "b", "c", "d/e", "d/f", "run"] {
        world.put(name, format!("content of {name}\n"));
    }
    std::os::unix::fs::symlink("a", world.path("link")).unwrap();
    let before = tree(&world.root);
    let command = "sed -i s/content/other/ a; rm b; mv c c2; rm -r d; mkdir -p n/m; echo x > n/m/x; chmod +x run; \
                   ln -sfn b link; ln -s a new-link; : > run";
    world.bash(command).await;
    let after = {
        world.checkpoints.settled().await;
        tree(&world.root)
    };
    let report = world.undo(UndoTarget::Turn).await;
    assert!(report.is_complete() && report.notes.is_empty(), "{report:?}");
    assert_eq!(tree(&world.root), before);
    let report = world.undo(UndoTarget::Redo).await;
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(tree(&world.root), after);
}

#[tokio::test]
async fn what_a_command_puts_in_the_place_of_another_kind_is_undone() {
    let world = World::new();
    for name in ["folder/a", "folder/deep/b", "gone/c", "file", "other"] {
        world.put(name, format!("content of {name}\n"));
    }
    let before = tree(&world.root);
    let command = "mv folder moved; ln -s moved folder; rm -r gone; echo x > gone; rm file; mkdir file; \
                   echo y > file/in; rm other; ln -s gone other";
    world.bash(command).await;
    world.checkpoints.settled().await;
    let after = tree(&world.root);
    let report = world.undo(UndoTarget::Turn).await;
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(tree(&world.root), before);
    let report = world.undo(UndoTarget::Redo).await;
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(tree(&world.root), after);
}

#[tokio::test]
async fn git_has_what_was_clean_and_what_was_not_is_kept() {
    let world = World::new();
    if !git(&world.root, &["init"]) {
        eprintln!("skipped: there is no git");
        return;
    }
    // Too large to be kept without git.
    let big = "a line of a large file\n".repeat(100_000);
    for (name, content) in [("clean", "clean\n"), ("dirty", "committed\n"), ("big", big.as_str()), ("gone", "gone\n")] {
        age(&world.put(name, content));
    }
    assert!(git(&world.root, &["add", "-A"]) && git(&world.root, &["commit", "-m", "x"]));
    world.put("dirty", "changed by hand\n");
    world.put("new", "not added\n");
    let before = tree(&world.root);
    let before = before.iter().filter(|(path, _)| !path.starts_with(".git")).collect::<Vec<_>>();
    world.bash("for f in clean dirty big new; do echo more >> $f; done; rm gone; git commit -qam y || true").await;
    let report = world.undo(UndoTarget::Turn).await;
    let all = ["restored big", "restored clean", "restored dirty", "recreated gone", "restored new"];
    assert_eq!(world.outcomes(&report), all, "{report:?}");
    let after = tree(&world.root);
    assert_eq!(after.iter().filter(|(path, _)| !path.starts_with(".git")).collect::<Vec<_>>(), before);
}

#[tokio::test]
async fn what_nobody_had_seen_is_listed_as_not_restorable() {
    let world = World::new();
    world.put("big", "x".repeat(2 << 20));
    world.put("small", "x");
    world.bash("echo more >> big; echo more >> small").await;
    world.checkpoints.settled().await;
    let infos = list(&world.checkpoints, &world.session.view()).unwrap();
    let files: Vec<_> = infos[0].files.iter().map(|file| (file.change, file.not_restorable.is_some())).collect();
    assert_eq!(files, [(FileChange::Changed, true), (FileChange::Changed, false)]);
    let report = world.undo(UndoTarget::Turn).await;
    assert_eq!(world.outcomes(&report), ["skipped big", "restored small"]);
    assert!(report.files[0].reason.as_ref().unwrap().contains("not known"));
}

#[tokio::test]
async fn a_large_file_that_a_tool_has_read_is_kept_for_the_next_command() {
    let world = World::new();
    world.put("big", "x".repeat(2 << 20));
    let (_, operations) = world.turn();
    world.call(&operations, "read", json!({"path": "big"})).await;
    world.bash("echo more >> big").await;
    assert_eq!(world.outcomes(&world.undo(UndoTarget::Turn).await), ["restored big"]);
    assert_eq!(world.get("big").unwrap().len(), 2 << 20);
}

#[tokio::test]
async fn changes_by_somebody_else_between_commands_are_no_commands() {
    let world = World::new();
    world.put("mine", "1");
    world.put("theirs", "1");
    world.bash("true").await;
    world.checkpoints.settled().await;
    world.put("mine", "2, by hand");
    world.bash("echo by the command > theirs").await;
    let report = world.undo(UndoTarget::Turn).await;
    assert_eq!(world.outcomes(&report), ["restored theirs"]);
    assert_eq!(world.get("mine").as_deref(), Some("2, by hand"));
    // What was changed by hand and then by a command goes back to what the hand left.
    world.bash("echo by the command > mine").await;
    assert_eq!(world.outcomes(&world.undo(UndoTarget::Turn).await), ["restored mine"]);
    assert_eq!(world.get("mine").as_deref(), Some("2, by hand"));
}

#[tokio::test]
async fn what_tools_write_beside_a_command_is_recorded_once() {
    let world = World::new();
    world.put("a", "1");
    let (_, operations) = world.turn();
    world.call(&operations, "bash", json!({"command": "echo 2 > a"})).await;
    world.call(&operations, "write", json!({"path": "a", "content": "3"})).await;
    world.call(&operations, "bash", json!({"command": "echo 4 > a; echo 4 > b"})).await;
    let report = world.undo(UndoTarget::Turn).await;
    assert_eq!(world.outcomes(&report), ["restored a", "removed b"]);
    assert_eq!(world.get("a").as_deref(), Some("1"));
}

#[tokio::test]
async fn a_change_of_the_same_size_right_after_a_write_is_seen() {
    let world = World::new();
    let (_, operations) = world.turn();
    world.call(&operations, "bash", json!({"command": "true"})).await;
    for round in 0..10 {
        world.write("a", &format!("{round}a")).await;
        world.bash(&format!("printf {round}b > a")).await;
        let report = world.undo(UndoTarget::Turn).await;
        assert_eq!(world.outcomes(&report), ["restored a"], "round {round}");
        assert_eq!(world.get("a"), Some(format!("{round}a")));
    }
}

#[tokio::test]
async fn a_command_that_is_killed_is_recorded_too() {
    let world = World::new();
    world.put("a", "1");
    let (_, operations) = world.turn();
    let command = ShellCommand { script: "echo 2 > a; sleep 60".into(), cwd: world.root.clone(), ..Default::default() };
    let process = operations.spawn(command).await.unwrap();
    crate::tools::testing::eventually("the change", || world.get("a").as_deref() == Some("2\n")).await;
    let infos = list(&world.checkpoints, &world.session.view()).unwrap();
    assert!(infos[0].notes[0].contains("A command runs"), "{infos:?}");
    drop(process);
    assert_eq!(world.outcomes(&world.undo(UndoTarget::Turn).await), ["restored a"]);
    assert_eq!(world.get("a").as_deref(), Some("1"));
}

#[tokio::test]
async fn a_command_that_is_given_up_before_it_starts_ends_its_window() {
    use std::task::{Context, Waker};
    let world = World::new();
    world.put("a", "1");
    let (_, operations) = world.turn();
    let command = ShellCommand { script: "touch -c none".into(), cwd: world.root.clone(), ..Default::default() };
    let mut starting = operations.spawn(command);
    assert!(starting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(starting);
    world.checkpoints.settled().await;
    world.put("a", "by hand");
    world.bash("touch -c none").await;
    assert!(world.ask(Undo::default()).await.is_err(), "nothing was changed by a command");
}

#[tokio::test]
async fn fc_109_a_folder_that_is_everything_is_not_looked_at_and_that_is_told() {
    let world = World::with(|config| CheckpointConfig { workspace: Some("/".into()), ..config });
    world.bash("echo x > new").await;
    world.checkpoints.settled().await;
    assert!(world.notices()[0].contains("root of the file system"), "{:?}", world.notices());
    assert!(world.ask(Undo::default()).await.is_err());
    world.write("new", "y").await;
    assert_eq!(world.outcomes(&world.undo(UndoTarget::Turn).await), ["restored new"]);
}

#[tokio::test]
async fn what_is_ignored_is_left_alone() {
    let world = World::new();
    world.put(".gitignore", "out/\n");
    world.put("out/x", "1");
    world.bash("echo 2 > out/x; echo 2 > out/y; echo 2 > z").await;
    assert_eq!(world.outcomes(&world.undo(UndoTarget::Turn).await), ["removed z"]);
    assert_eq!(world.get("out/x").as_deref(), Some("2\n"));
}

#[tokio::test]
async fn a_command_that_is_known_to_look_only_is_not_watched() {
    let world = World::new();
    world.put("a", "x\n");
    for command in ["cat a | head -1", "ls; pwd", "grep -n x a 2>/dev/null", "true"] {
        world.bash(command).await;
    }
    world.checkpoints.settled().await;
    assert_eq!(world.records(), 0);
    for (count, command) in ["cat a > b", "ls; touch c", "sed -i s/x/y/ a"].into_iter().enumerate() {
        world.bash(command).await;
        world.checkpoints.settled().await;
        assert!(world.records() > count, "{command}");
    }
}
