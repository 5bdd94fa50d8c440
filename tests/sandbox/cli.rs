//! The program: flags, settings, and what it says.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

struct Run {
    dir: TempDir,
    flags: Vec<&'static str>,
}

impl Run {
    fn new(flags: &[&'static str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("home/.troupe")).unwrap();
        fs::create_dir_all(dir.path().join("work/.troupe")).unwrap();
        Self { dir, flags: flags.to_vec() }
    }

    fn settings(self, folder: &str, sandbox: &Value) -> Self {
        let file = self.dir.path().join(folder).join(".troupe/settings.json");
        fs::write(file, json!({ "sandbox": sandbox }).to_string()).unwrap();
        self
    }

    /// Has the model run a command, and gives what the program prints.
    fn command(&self, command: &str) -> Output {
        self.call("bash", &json!({"command": command}))
    }

    fn call(&self, tool: &str, arguments: &Value) -> Output {
        let script = self.dir.path().join("script.json");
        let call = json!({"name": tool, "arguments": arguments});
        fs::write(&script, json!({"turns": [{"calls": [call]}, "{{lastToolResult}}"]}).to_string()).unwrap();
        self.start(&script).output().unwrap()
    }

    fn start(&self, script: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_troupe"));
        command.args(["--model", "troupe/script", "--approve", "--script"]).arg(script).args(&self.flags);
        if !self.flags.contains(&"rpc") {
            command.args(["-p", "go"]);
        }
        command
            .current_dir(self.dir.path().join("work"))
            .env("HOME", self.dir.path().join("home"))
            .env("TMPDIR", self.dir.path())
            .env_remove("TROUPE_DIR")
            .stdin(Stdio::null());
        command
    }

    fn left_over(&self) -> bool {
        let mut names = fs::read_dir(self.dir.path()).unwrap();
        names.any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with("troupe-sandbox-"))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn bubblewrap_is_there() -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join("bwrap").exists()))
}

#[test]
fn the_flag_and_both_settings_turn_it_on_and_only_the_user_turns_it_off() {
    let off = json!({"mode": "off"});
    let on = json!({"mode": "workspace"});
    let nothing = json!({});
    // flags, the user's settings, the project's, is confined
    let table = [
        (&[][..], &nothing, &nothing, false),
        (&["--sandbox", "workspace"], &nothing, &nothing, true),
        (&["--sandbox", "read-only"], &off, &off, true),
        (&[], &on, &nothing, true),
        (&[], &nothing, &on, true),
        (&[], &on, &off, true),
        (&["--sandbox", "off"], &on, &on, false),
    ];
    for (flags, user, project, confined) in table {
        let run = Run::new(flags).settings("home", user).settings("work", project);
        let output = run.command("echo x > ../new; echo done");
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        if err.contains("cannot be enforced") {
            eprintln!("skipped: {err}");
            return;
        }
        let context = format!("{flags:?} {user} {project}\n{out}{err}");
        assert!(output.status.success() && out.contains("done"), "{context}");
        assert_eq!(run.dir.path().join("new").exists(), !confined, "{context}");
        assert_eq!(err.contains("sandbox.mode is ignored"), *user == on && *project == off, "{context}");
        if bubblewrap_is_there() && *project != off {
            assert_eq!(err, "", "nothing is said where all is enforced");
        }
        assert!(!run.left_over(), "the temporary folder is gone: {context}");
    }
}

#[test]
fn a_setting_that_makes_no_sense_is_no_reason_to_run_unconfined() {
    for (folder, value, wanted) in [
        ("home", json!({"mode": "on"}), "sandbox: mode: expected one of off, workspace, read-only"),
        ("work", json!({"mode": "strict"}), "sandbox: mode: expected"),
        ("home", json!({"modus": "workspace"}), "did you mean mode?"),
    ] {
        let run = Run::new(&[]).settings(folder, &value);
        let output = run.command("echo x > new");
        let err = text(&output.stderr);
        assert!(!output.status.success() && err.contains(wanted), "{err}");
        assert!(err.contains("settings.json"), "{err}");
        assert!(!run.dir.path().join("work/new").exists());
    }
}

#[test]
fn the_home_folder_is_no_workspace() {
    let mut run = Run::new(&["--sandbox", "workspace"]);
    let home = run.dir.path().join("work");
    fs::rename(run.dir.path().join("home/.troupe"), home.join("user")).unwrap();
    fs::remove_dir_all(run.dir.path().join("home")).unwrap();
    std::os::unix::fs::symlink(&home, run.dir.path().join("home")).unwrap();
    let output = run.command("echo x > new");
    assert!(text(&output.stderr).contains("holds the home folder"), "{}", text(&output.stderr));
    assert!(!home.join("new").exists());
    run.flags = vec!["--sandbox", "nonsense"];
    let output = run.command("true");
    assert!(text(&output.stderr).contains("--sandbox: expected off, workspace or read-only"));
}

#[test]
fn the_model_is_told() {
    let run = Run::new(&["--sandbox", "read-only"]);
    let script = run.dir.path().join("script.json");
    let expected = json!({"system": "sandbox (mode read-only)"});
    fs::write(&script, json!({"turns": [{"expect": expected, "text": "I know"}]}).to_string()).unwrap();
    let output = run.start(&script).output().unwrap();
    assert_eq!(text(&output.stdout).trim(), "I know", "{}", text(&output.stderr));
}

#[test]
fn commands_of_the_user_are_not_confined() {
    let run = Run::new(&["--sandbox", "read-only", "--mode", "rpc"]);
    let script = run.dir.path().join("script.json");
    fs::write(&script, r#"{"turns": ["hello"]}"#).unwrap();
    let mut child = run.start(&script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, r#"{{"id":"1","type":"bash","command":"echo x > ../by-the-user"}}"#).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let answer = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("\"response\""))).unwrap().unwrap();
    drop(stdin);
    child.wait().unwrap();
    assert!(run.dir.path().join("by-the-user").exists(), "{answer}");
}

#[test]
fn a_broken_file_that_speaks_of_the_sandbox_is_no_reason_to_run_unconfined() {
    // The file, flags, whether it starts.
    let table = [
        (r#"{"sandbox": {"mode": "workspace"},}"#, &[][..], false),
        ("{sandbox: {\"mode\": \"workspace\"}}", &[], false),
        (r#"{"sandbox": {"denied": ["x"]}"#, &["--sandbox", "workspace"], false),
        (r#"{"sandbox": {"mode": "workspace"},}"#, &["--sandbox", "off"], true),
        (r#"{"retry": {},}"#, &[], true),
    ];
    for folder in ["home", "work"] {
        for (file, flags, starts) in table {
            let run = Run::new(flags);
            fs::write(run.dir.path().join(folder).join(".troupe/settings.json"), file).unwrap();
            let output = run.command("echo x > ../new");
            let err = text(&output.stderr);
            assert_eq!(output.status.success(), starts, "{file} {flags:?}: {err}");
            assert_eq!(run.dir.path().join("new").exists(), starts, "{file} {flags:?}");
            assert!(starts || err.contains("speaks of the sandbox"), "{err}");
        }
    }
}

#[test]
fn in_plan_mode_a_refusal_speaks_of_plan_mode() {
    for flags in [&["--plan"][..], &["--plan", "--sandbox", "workspace"]] {
        let output = Run::new(flags).command("cat /proc/self/status > new");
        let out = text(&output.stdout);
        assert!(out.contains("Plan mode is on"), "{flags:?} {out}");
        assert!(!out.contains("--sandbox"), "{flags:?} {out}");
    }
}

#[test]
fn what_runs_in_the_background_ends_with_the_program() {
    if !bubblewrap_is_there() {
        eprintln!("skipped: bwrap is not installed");
        return;
    }
    let run = Run::new(&["--sandbox", "workspace"]);
    let output = run.command("setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo started");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(out.contains("started"), "{out}{err}");
    if err.contains("not complete") {
        eprintln!("skipped: {err}");
        return;
    }
    let temp = run.dir.path().as_os_str().as_encoded_bytes();
    let lines = fs::read_dir("/proc").unwrap().filter_map(|entry| fs::read(entry.unwrap().path().join("cmdline")).ok());
    let left: Vec<_> = lines.filter(|line| line.windows(temp.len()).any(|part| part == temp)).collect();
    assert!(left.is_empty(), "{:?}", left.iter().map(|line| text(line)).collect::<Vec<_>>());
}

#[test]
fn a_checkpoint_copies_no_secret_that_may_not_be_written() {
    const SECRET: &str = "the-secret-of-this-test";
    let run = Run::new(&["--sandbox", "workspace"]);
    let home = run.dir.path().join("home");
    fs::create_dir(home.join(".ssh")).unwrap();
    fs::write(home.join(".ssh/id"), SECRET).unwrap();
    let out = text(&run.call("write", &json!({"path": home.join(".ssh/id"), "content": "x"})).stdout);
    assert!(out.contains("the sandbox hides"), "{out}");
    let mut folders = vec![home.join(".troupe")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => assert!(!text(&fs::read(&path).unwrap()).contains(SECRET), "{}", path.display()),
            }
        }
    }
}
