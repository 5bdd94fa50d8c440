//! The binary in a sandbox.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{io::AsyncWriteExt, process::Command};

use super::{Reply, Request, Rpc, Server, ended, within};

/// A home, a project, and a model server that the binary is told of.
pub struct Sandbox {
    _root: TempDir,
    /// The home folder.
    pub home: PathBuf,
    /// The user's folder of the program.
    pub user_dir: PathBuf,
    /// The folder that the program runs in.
    pub project: PathBuf,
    /// The model.
    pub server: Server,
}

/// How a process ended.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; none after a signal.
    pub code: Option<i32>,
    /// All that it wrote to stdout.
    pub stdout: String,
    /// All that it wrote to stderr.
    pub stderr: String,
}

/// A shell command that waits until `file` is there (for half a minute at most: a failed test leaves no loop behind).
pub fn wait_for_file(file: &str) -> String {
    format!("n=0; until [ -e {file} ] || [ $n = 600 ]; do sleep 0.05; n=$((n+1)); done")
}

impl Sandbox {
    /// A fresh sandbox with the models `mock/m1`, `m2`, `r1` (thinks), `img` (sees), `tiny` and `other/o1`.
    pub async fn new(script: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let [home, user_dir, project] = ["home", "user", "project"].map(|name| base.join(name));
        for folder in [&home, &user_dir, &project, &base.join("tmp")] {
            fs::create_dir(folder).unwrap();
        }
        let sandbox = Self { _root: root, home, user_dir, project, server: Server::start(script).await };
        sandbox.write_models("mock-key");
        sandbox
    }

    /// Writes `models.json` with this key.
    pub fn write_models(&self, key: &str) {
        let model = |id: &str, name: &str, more: Value| {
            let mut model = json!({"id": id, "name": name, "contextWindow": 200_000, "maxTokens": 16_384});
            model.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
            model
        };
        let cost = json!({"cost": {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 1.25}});
        let provider = |models: Vec<Value>| json!({"baseUrl": self.server.url(), "api": "openai-completions", "apiKey": key, "models": models});
        let mock = vec![
            model("m1", "Model One", cost),
            model("m2", "Model Two", Value::Null),
            model("r1", "Reasoner", json!({"reasoning": true, "thinkingLevelMap": {"max": null}})),
            model("img", "Imager", json!({"input": ["text", "image"]})),
            model("tiny", "Tiny", json!({"contextWindow": 25_000, "maxTokens": 1024})),
        ];
        let other = vec![model("o1", "Other One", Value::Null)];
        let models = json!({"providers": {"mock": provider(mock), "other": provider(other)}});
        self.write(self.user_dir.join("models.json"), models.to_string());
    }

    /// Writes `settings.json`.
    pub fn settings(&self, settings: Value) {
        self.write(self.user_dir.join("settings.json"), settings.to_string());
    }

    /// Writes a file; a relative path is one of the project.
    pub fn write(&self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path
    }

    /// Reads a file; a relative path is one of the project.
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.project.join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// True when there is such a file.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.project.join(path).exists()
    }

    /// The session files.
    pub fn session_files(&self) -> Vec<PathBuf> {
        let read = |folder: &Path| fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        let folders = read(&self.user_dir.join("sessions")).filter(|path| path.is_dir());
        let mut files: Vec<_> = folders.flat_map(|folder| read(&folder).collect::<Vec<_>>()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        files.retain(|path| !path.to_string_lossy().ends_with(".state.jsonl"));
        files.sort();
        files
    }

    /// The only session file.
    pub fn session_file(&self) -> PathBuf {
        let mut files = self.session_files();
        assert_eq!(files.len(), 1, "session files: {files:?}");
        files.remove(0)
    }

    /// The binary with `args`, with `mock/m1` unless they choose a model themselves.
    ///
    /// Only for developers: `TROUPE_TEST_BIN` names another program to run instead, to compare it with ours.
    pub fn command(&self, args: &[&str]) -> Command {
        let program = std::env::var_os("TROUPE_TEST_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_troupe").into());
        self.command_of(program, args)
    }

    /// Another program that takes the binary's arguments: one of the examples.
    pub fn command_of(&self, program: impl AsRef<OsStr>, args: &[&str]) -> Command {
        const CHOOSES: [&str; 17] = [
            "--model",
            "--provider",
            "--continue",
            "--session",
            "--list-models",
            "--version",
            "--replay",
            "auth",
            "undo",
            "permissions",
            "sessions",
            "acp",
            "runs",
            "worker",
            "team",
            "top",
            "attach",
        ];
        let mut command = Command::new(program);
        if !args.iter().any(|arg| CHOOSES.contains(arg)) {
            command.args(["--model", "mock/m1"]);
        }
        command
            .args(args)
            .current_dir(&self.project)
            .env_clear()
            .env("HOME", &self.home)
            .env("TMPDIR", self.home.with_file_name("tmp"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env("TROUPE_DIR", &self.user_dir)
            .env("TROUPE_OFFLINE", "1")
            .kill_on_drop(true);
        command
    }

    /// Runs the binary to its end, without input.
    pub async fn run(&self, args: &[&str]) -> Finished {
        finish(self.command(args), "").await
    }

    /// Runs the binary to its end, with `input` on stdin.
    pub async fn run_with_input(&self, args: &[&str], input: &str) -> Finished {
        finish(self.command(args), input).await
    }

    /// Runs the binary in JSON mode and returns its records, the header first.
    ///
    /// The exit code must say whether the last answer failed.
    pub async fn json(&self, args: &[&str]) -> Vec<Value> {
        let finished = self.run(&[&["--mode", "json"], args].concat()).await;
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("no JSON ({error}): {line}"));
        let events: Vec<Value> = finished.stdout.lines().map(parse).collect();
        assert!(!events.is_empty(), "no records; exit code {:?}; stderr: {}", finished.code, finished.stderr);
        let failed = ended(&events, "assistant")
            .last()
            .is_some_and(|message| message["stopReason"] == "error" || message["stopReason"] == "aborted");
        assert_eq!(finished.code, Some(i32::from(failed)), "exit code; stderr: {}", finished.stderr);
        events
    }

    /// Starts the binary in RPC mode and waits until it answers.
    pub async fn rpc(&self, args: &[&str]) -> Rpc {
        let mut rpc = Rpc::start(self.command(&[&["--mode", "rpc"], args].concat()));
        rpc.call(json!({"type": "get_state"})).await;
        rpc
    }
}

/// Runs a command to its end. A panic of the program fails the test.
pub async fn finish(mut command: Command, input: &str) -> Finished {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feed = async {
        // A program that does not read its input closes the pipe; that is its right.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
    };
    let ((), output) = within("end of the process", async { tokio::join!(feed, child.wait_with_output()) }).await;
    let output = output.unwrap();
    let finished = Finished {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    assert!(!finished.stderr.contains("panicked at"), "the program panicked: {}", finished.stderr);
    finished
}

/// An example's program, which `cargo test` builds beside the binary.
pub fn example(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_troupe")).with_file_name("examples").join(name);
    assert!(program.exists(), "{} is not there: run `cargo build --examples` first", program.display());
    program
}
