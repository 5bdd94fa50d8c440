//! Where a test of operations plays: it prepares and looks at files without the operations under test.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use tempfile::TempDir;
use troupe::tools::operations::{
    ShellCommand,
    memory::{Memory, Node, Scripted},
};

/// Files that a test prepares and looks at.
pub trait Stage {
    /// An empty folder, without links on its way.
    fn root(&self) -> PathBuf;
    fn file(&self, name: &str, content: &[u8]);
    fn link(&self, name: &str, target: &str);
    fn pipe(&self, name: &str);
    fn read(&self, name: &str) -> Option<Vec<u8>>;
    fn is_link(&self, name: &str) -> bool;
    fn set_mode(&self, name: &str, mode: u32);
    fn mode(&self, name: &str) -> u32;

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }
}

/// A folder of this machine.
pub struct Disk(TempDir);

impl Disk {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

impl Stage for Disk {
    fn root(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn file(&self, name: &str, content: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn link(&self, name: &str, target: &str) {
        symlink(target, self.path(name)).unwrap();
    }

    fn pipe(&self, name: &str) {
        assert!(Command::new("mkfifo").arg(self.path(name)).status().unwrap().success());
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.path(name)).ok()
    }

    fn is_link(&self, name: &str) -> bool {
        self.path(name).is_symlink()
    }

    fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }
}

/// Memory, with a shell that plays the commands of the conformance table.
pub struct InMemory(Memory);

impl InMemory {
    pub fn new() -> Self {
        Self(Memory::new().with_node("/w", Node::Folder).with_shell(play))
    }

    pub fn memory(&self) -> Memory {
        self.0.clone()
    }
}

fn play(command: &ShellCommand, _: &Memory) -> Scripted {
    let variable = |name: &str| {
        let found = command.environment.iter().rev().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.clone()).unwrap_or_default()
    };
    match command.script.as_str() {
        "exit 7" => Scripted::exits(7),
        "kill -9 $$" => Scripted::exits(137),
        "pwd" => Scripted::exits(0).prints(format!("{}\n", command.cwd.display())),
        "for i in 1 2 3; do echo out$i; echo err$i >&2; done" => {
            Scripted::exits(0).prints("out1\nerr1\n").prints("out2\nerr2\nout3\n").prints("err3\n")
        }
        "printf %s \"$GIVEN\"; printf %s \"${TAKEN-none}\"" => {
            Scripted::exits(0).prints(variable("GIVEN")).prints(if variable("TAKEN").is_empty() { "none" } else { "!" })
        }
        "sleep 300" => Scripted::exits(0).waits(Duration::from_secs(300)),
        other => Scripted::exits(127).prints(format!("{other}: not found\n")),
    }
}

impl Stage for InMemory {
    fn root(&self) -> PathBuf {
        "/w".into()
    }

    fn file(&self, name: &str, content: &[u8]) {
        let _ = self.0.clone().with_file(self.path(name), content);
    }

    fn link(&self, name: &str, target: &str) {
        let _ = self.0.clone().with_link(self.path(name), target);
    }

    fn pipe(&self, name: &str) {
        let _ = self.0.clone().with_node(self.path(name), Node::Pipe);
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        self.0.read(self.path(name))
    }

    fn is_link(&self, name: &str) -> bool {
        self.0.is_link(self.path(name))
    }

    fn set_mode(&self, name: &str, mode: u32) {
        self.0.set_mode(self.path(name), mode);
    }

    fn mode(&self, name: &str) -> u32 {
        self.0.mode(self.path(name)).unwrap()
    }
}

/// A path of the stage that is not there.
pub fn nowhere(stage: &dyn Stage) -> PathBuf {
    Path::new(&stage.root()).join("nowhere/at/all")
}
