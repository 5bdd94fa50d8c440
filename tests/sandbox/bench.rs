//! A workspace, something outside of it, a home folder with a secret, and walls around the first.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use troupe::tools::operations::{
    Operations as _, Process, ProcessEvent, ShellCommand,
    sandbox::{
        Grants, Home, Policy, SandboxMode,
        linux::{Sandboxed, WallKind},
    },
};

pub use WallKind::{Bubblewrap, Landlock};

/// What the file outside holds as long as nobody got out.
pub const ORIGINAL: &str = "original\n";
/// What the hidden file holds.
pub const SECRET: &str = "the-secret";

pub struct Bench {
    _dir: TempDir,
    pub wall: WallKind,
    pub work: PathBuf,
    pub outside: PathBuf,
    pub home: PathBuf,
    pub sandbox: Sandboxed,
}

impl Bench {
    /// None, and a word about it, where the wall cannot be built.
    pub fn new(wall: WallKind, mode: SandboxMode, grants: impl FnOnce(&Path) -> Grants) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (work, outside, home) = (root.join("work"), root.join("outside"), root.join("home"));
        for folder in [".git/hooks", ".troupe", "sub"] {
            fs::create_dir_all(work.join(folder)).unwrap();
        }
        fs::create_dir_all(outside.join("folder")).unwrap();
        fs::create_dir_all(home.join(".ssh")).unwrap();
        fs::write(work.join(".git/config"), ORIGINAL).unwrap();
        fs::write(work.join("inside"), "inside\n").unwrap();
        fs::write(outside.join("file"), ORIGINAL).unwrap();
        fs::write(home.join(".ssh/id"), SECRET).unwrap();
        fs::write(home.join(".netrc"), SECRET).unwrap();
        fs::write(home.join("notes"), "no secret\n").unwrap();
        let user_dir = home.join(".troupe");
        let policy = Policy::new(mode, &work, &Home { folder: Some(&home), user_dir: &user_dir }, &grants(&root));
        match Sandboxed::with(policy.unwrap(), wall) {
            Ok(sandbox) => Some(Self { _dir: dir, wall, work, outside, home, sandbox }),
            Err(error) => {
                eprintln!("skipped for {wall:?}: {error}");
                None
            }
        }
    }

    /// One for each wall that can be built.
    pub fn all(mode: SandboxMode) -> Vec<Self> {
        [Bubblewrap, Landlock].into_iter().filter_map(|wall| Self::new(wall, mode, |_| Grants::default())).collect()
    }

    pub async fn start(&self, script: &str) -> Box<dyn Process> {
        let script = script
            .replace("WORK", self.work.to_str().unwrap())
            .replace("OUT", self.outside.to_str().unwrap())
            .replace("HOME", self.home.to_str().unwrap())
            .replace("SELF", &std::process::id().to_string());
        let command = ShellCommand { script, cwd: self.work.clone(), ..ShellCommand::default() };
        self.sandbox.spawn(command).await.unwrap()
    }

    /// Runs a script to the end of all that it started; `WORK`, `OUT`, `HOME` and `SELF` stand for folders and for the
    /// test's own process.
    pub async fn run(&self, script: &str) -> (i32, String) {
        let mut process = self.start(script).await;
        let (mut output, mut exit, mut open) = (Vec::new(), None, true);
        while open || exit.is_none() {
            match process.next(&mut output).await.unwrap() {
                ProcessEvent::Output => {}
                ProcessEvent::Exited { code } => exit = Some(code),
                ProcessEvent::Closed => open = false,
            }
        }
        (exit.unwrap(), String::from_utf8_lossy(&output).into_owned())
    }

    /// Runs many scripts, each in a shell of its own in the workspace.
    pub async fn run_all(&self, scripts: &[&str]) -> String {
        let each = scripts.iter().map(|script| format!("(cd WORK; echo '== '; set -x; {script}\n)\n"));
        self.run(&each.collect::<String>()).await.1
    }

    /// Fails when anything outside changed.
    pub fn assert_untouched(&self, attempt: &str) {
        let names = |folder: &Path| {
            let entries = fs::read_dir(folder).unwrap();
            let mut names: Vec<_> =
                entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names.join(" ")
        };
        let what = format!("{:?}: {attempt}", self.wall);
        assert_eq!(names(&self.outside), "file folder", "{what}");
        assert_eq!(names(&self.outside.join("folder")), "", "{what}");
        assert_eq!(fs::read_to_string(self.outside.join("file")).unwrap(), ORIGINAL, "{what}");
    }
}
