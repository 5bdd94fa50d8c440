//! Tests of the tool, with real commands; `trees` has those of processes that try to get away.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    protocol::ToolOutput,
    tools::{
        Local, OutputSource, Progress,
        testing::{Bench, eventually, text},
        user_bash,
    },
};

#[cfg(target_os = "linux")]
mod trees;

/// A name that only the processes of one test have in their command line.
fn unique() -> String {
    format!("{}.{}", 300 + std::process::id() % 500, uuid::Uuid::new_v4().as_u128() % 1_000_000_000)
}

/// The processes that have `mark` as an argument.
#[cfg(target_os = "linux")]
fn processes(mark: &str) -> Vec<i32> {
    let has_mark = |id: &i32| {
        let arguments = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        arguments.split(|byte| *byte == 0).any(|argument| argument == mark.as_bytes())
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(has_mark).collect()
}

/// The processes that have `mark` as an argument.
#[cfg(not(target_os = "linux"))]
fn processes(mark: &str) -> Vec<i32> {
    let output = std::process::Command::new("ps").args(["-axo", "pid,stat,args"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines
        .filter(|words| words.contains(&mark) && !words[1].starts_with('Z'))
        .filter_map(|words| words[0].parse().ok())
        .collect()
}

fn is_running(mark: &str) -> bool {
    !processes(mark).is_empty()
}

fn end(mark: &str) {
    for process in processes(mark) {
        let process = rustix::process::Pid::from_raw(process).unwrap();
        rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    }
}

async fn run(command: &str) -> ToolOutput {
    Bench::new().call("bash", json!({"command": command})).await
}

fn structured(output: &ToolOutput) -> &Value {
    output.structured_content.as_ref().unwrap()
}

#[tokio::test]
async fn exit_codes_are_told() {
    let table = [
        ("exit 7", true, "(no output)\n\nCommand exited with code 7", 7),
        ("echo a; kill -9 $$", true, "a\n\n\nCommand exited with code 137", 137),
        ("true", false, "(no output)", 0),
        ("echo out; echo err >&2; echo out; false", true, "out\nerr\nout\n\n\nCommand exited with code 1", 1),
        ("printf x", false, "x", 0),
    ];
    for (command, is_error, wanted, code) in table {
        let output = run(command).await;
        assert_eq!((output.is_error, text(&output).as_str()), (is_error, wanted), "{command}");
        assert_eq!(structured(&output)["exit_code"], code, "{command}");
        assert_eq!(output.details, None, "{command}");
        assert_eq!(structured(&output)["truncated"], false);
        assert!(structured(&output)["wall_time_seconds"].is_number());
    }
    assert!(text(&run("nosuchcmd_zz").await).ends_with("Command exited with code 127"));
}

#[tokio::test]
async fn a_timeout_kills_the_whole_tree_fc_042() {
    let bench = Bench::new();
    let mark = unique();
    let command = format!("echo before; bash -c 'sleep {mark} & setsid sleep {mark} & sleep {mark}'");
    let output = bench.call("bash", json!({"command": command, "timeout": 1})).await;
    assert_eq!(text(&output), "before\n\n\nCommand timed out after 1 seconds");
    assert_eq!((output.is_error, output.details, output.structured_content), (true, Some(json!({})), None));
    eventually("all processes end", || !is_running(&mark)).await;
    for (timeout, wanted) in [
        (json!(-1), "Invalid timeout: must be a finite"),
        (json!(0), "Invalid timeout: must"),
        (json!(3e9), "Invalid timeout: the longest"),
    ] {
        let refused = bench.fails("bash", json!({"command": "echo x", "timeout": timeout})).await;
        assert!(refused.starts_with(wanted), "{refused}");
    }
}

#[tokio::test]
async fn an_abort_kills_what_ignores_gentler_signals_fc_042() {
    let bench = Bench::new();
    let mark = unique();
    let command = format!("bash -c \"trap '' TERM HUP; echo started; sleep {mark} & wait\"");
    let call = bench.call("bash", json!({"command": command}));
    let abort = async {
        eventually("the command runs", || is_running(&mark)).await;
        bench.cancel.cancel();
    };
    let (output, ()) = tokio::join!(call, abort);
    assert_eq!(text(&output), "started\n\n\nCommand aborted");
    eventually("all processes end", || !is_running(&mark)).await;
}

#[tokio::test]
async fn a_killed_worker_takes_its_command_along_and_leaves_what_it_printed_fc_042() {
    let bench = Bench::new();
    let mark = unique();
    let command = format!("echo printed; sleep {mark} & sleep {mark}");
    {
        let mut call = std::pin::pin!(bench.call("bash", json!({"command": command})));
        tokio::select! {
            _ = &mut call => panic!("the command does not end"),
            () = eventually("the command runs", || is_running(&mark) && has_progress(&bench.progress)) => {}
        }
    }
    eventually("all processes end", || !is_running(&mark)).await;
    assert_eq!(text(&bench.progress.snapshot().unwrap()), "printed\n");
}

fn has_progress(progress: &Progress) -> bool {
    progress.snapshot().is_some_and(|output| !output.content.is_empty())
}

#[tokio::test]
async fn a_background_process_that_holds_the_pipe_does_not_hold_the_call_fc_041() {
    let mark = unique();
    let output = run(&format!("sleep {mark} & echo ready")).await;
    assert_eq!((output.is_error, text(&output).as_str()), (false, "ready\n"));
    assert!(is_running(&mark), "what was left in the background lives on");
    end(&mark);
}

#[tokio::test]
async fn what_is_left_in_the_background_may_print_on_fc_041() {
    let mark = unique();
    let output = run(&format!("(sleep 0.4; echo lost; exec sleep {mark}) & echo ready")).await;
    assert_eq!((output.is_error, text(&output).as_str()), (false, "ready\n"));
    eventually("it goes on after a line that nobody reads", || is_running(&mark)).await;
    end(&mark);
}

#[tokio::test]
async fn a_background_process_that_writes_on_is_followed_to_the_timeout() {
    let bench = Bench::new();
    // `read` waits without another process, whose start a busy machine may delay for longer than a silence may last.
    let command = "sleep 100 | while ! read -t 0.01; do echo tick; done & echo ready; exit 3";
    let output = bench.fails("bash", json!({"command": command, "timeout": 1})).await;
    assert!(output.contains("ready\n") && output.contains("tick\n"), "{output}");
    assert!(output.contains("Command timed out after 1 seconds. The shell itself had exited with code 3"), "{output}");
}

#[tokio::test]
async fn standard_input_is_empty_and_there_is_no_terminal_fc_043() {
    assert_eq!(text(&run("cat; echo rc $?").await), "rc 0\n");
    assert_eq!(text(&run("(true < /dev/tty) 2>/dev/null || echo none").await), "none\n");
}

#[tokio::test]
async fn terminal_noise_is_removed_and_characters_may_come_in_parts_fc_045() {
    let table = [
        (r"printf '\033[31mred\033[0m\n'", "red\n"),
        (r"printf '\033['; sleep 0.05; printf '31mred\n'", "red\n"),
        (r"printf 'get 10%%\rget 100%%\ndone\n'", "get 100%\ndone\n"),
        (r"printf '\303'; sleep 0.05; printf '\244\360\237'; sleep 0.05; printf '\230\200\n'", "ä😀\n"),
        (r"printf '\377x\303'", "\u{fffd}x\u{fffd}"),
    ];
    for (command, wanted) in table {
        assert_eq!(text(&run(command).await), wanted, "{command}");
    }
}

#[tokio::test]
async fn long_output_is_cut_to_its_end_and_kept_in_a_file() {
    let output = run("seq 1 3000").await;
    let details = output.details.clone().unwrap();
    let path = details["fullOutputPath"].as_str().unwrap();
    assert!(text(&output).starts_with("1001\n1002\n"));
    let notice = format!("\n3000\n\n[Showing lines 1001-3000 of 3000. Full output: {path}]");
    assert!(text(&output).ends_with(&notice), "{}", text(&output));
    assert_eq!(details["truncation"]["totalLines"], 3000);
    let whole: String = (1..=3000).map(|n| format!("{n}\n")).collect();
    assert_eq!(std::fs::read_to_string(path).unwrap(), whole);
    assert_eq!(structured(&output)["output"], whole);
    assert_eq!(structured(&output)["full_output_path"], path);
    std::fs::remove_file(path).unwrap();

    let one_line = run("head -c 120000 /dev/zero | tr '\\0' x; false").await;
    let path = one_line.details.clone().unwrap()["fullOutputPath"].as_str().unwrap().to_owned();
    let notice = format!(
        "\n\n[Showing last 50.0KB of line 1 (line is 117.2KB). Full output: {path}]\n\nCommand exited with code 1"
    );
    assert!(text(&one_line).ends_with(&notice), "{}", &text(&one_line)[51_000..]);
    std::fs::remove_file(path).unwrap();

    let by_bytes = run("for i in $(seq 1 1000); do printf '%0199d\\n' $i; done").await;
    assert!(
        text(&by_bytes).contains("\n\n[Showing lines 745-1000 of 1000 (50.0KB limit). Full output: "),
        "{}",
        &text(&by_bytes)[51_000..]
    );
    std::fs::remove_file(by_bytes.details.unwrap()["fullOutputPath"].as_str().unwrap()).unwrap();
}

#[tokio::test]
async fn noise_that_is_no_text_leaves_no_file() {
    let output = run("for i in $(seq 1 20000); do printf 'step %d\\r' $i; done; echo").await;
    assert_eq!((text(&output).as_str(), output.details), ("step 20000\n", None));
}

#[tokio::test]
async fn commands_see_their_session_and_no_keys_fc_105() {
    let mut bench = Bench::new();
    bench.facts.environment = [("TROUPE_MODEL".to_owned(), "m1".to_owned())].into();
    bench.facts.secret_variables = ["HOME".to_owned()].into();
    let env = bench.ok("bash", json!({"command": "env; echo CWD=$(pwd)"})).await;
    for line in ["TROUPE_MODEL=m1", "AI_AGENT=troupe", "TROUPE_AGENT=1", &format!("CWD={}", bench.root().display())] {
        assert!(env.lines().any(|got| got == line), "{line} in {env}");
    }
    assert!(!env.contains("\nHOME=") && !env.contains("TROUPE_SESSION_FILE"), "{env}");
}

#[tokio::test]
async fn settings_choose_the_shell_and_a_prefix() {
    let mut bench = Bench::new();
    bench.facts.shell_command_prefix = Some("FOO=bar".into());
    bench.facts.shell_path = Some("/bin/sh".into());
    assert_eq!(bench.ok("bash", json!({"command": "echo $FOO $0"})).await, "bar /bin/sh\n");
    bench.facts.shell_path = Some("/nonexistent/sh".into());
    assert!(bench.fails("bash", json!({"command": "echo"})).await.contains("/nonexistent/sh"));
    bench.facts.shell_path = None;
    std::fs::remove_dir_all(bench.root()).unwrap();
    std::fs::write(bench.root(), "").unwrap();
    let no_folder = bench.fails("bash", json!({"command": "echo"})).await;
    assert!(no_folder.contains(&bench.root().display().to_string()), "{no_folder}");
    std::fs::remove_file(bench.root()).unwrap();
    std::fs::create_dir(bench.root()).unwrap();
}

#[tokio::test]
async fn progress_begins_empty_and_grows() {
    let mut bench = Bench::new();
    let (sender, mut woken) = tokio::sync::mpsc::unbounded_channel();
    bench.progress = Arc::new(Progress::new(move || {
        let _ = sender.send(());
    }));
    let gate = bench.path("gate");
    let command = format!(
        "until [ -e {0} ]; do sleep 0.01; done; echo one; until [ -e {0}2 ]; do sleep 0.01; done; echo two",
        gate.display()
    );
    let call = bench.call("bash", json!({"command": command}));
    let watch = async {
        woken.recv().await.unwrap();
        let first = bench.progress.take().unwrap();
        std::fs::write(&gate, "").unwrap();
        woken.recv().await.unwrap();
        let second = bench.progress.take().unwrap();
        std::fs::write(gate.with_file_name("gate2"), "").unwrap();
        woken.recv().await.unwrap();
        [first, second, bench.progress.take().unwrap()]
    };
    let (_, [first, second, third]) = tokio::join!(call, watch);
    assert_eq!((first.content.len(), first.details), (0, None));
    assert_eq!((text(&second).as_str(), second.details), ("one\n", Some(json!({}))));
    assert_eq!(text(&third), "one\ntwo\n");
}

#[tokio::test]
async fn a_person_s_command_streams_plain_text_and_keeps_the_end() {
    let bench = Bench::new();
    let mut streamed = String::new();
    let command = r"printf '\033[31mred\033[0m\ra\rb\n'; exit 3";
    let run =
        user_bash::run(&Local, command, bench.root(), &bench.facts, &bench.cancel, |delta| streamed.push_str(delta));
    let result = run.await.unwrap();
    assert_eq!(
        (result.output.as_str(), result.exit_code, result.cancelled, result.truncated),
        ("b\n", Some(3), false, false)
    );
    assert_eq!(streamed, "redab\n");
    let long = user_bash::run(&Local, "seq 1 30000", bench.root(), &bench.facts, &bench.cancel, |_| ()).await.unwrap();
    assert!(long.truncated && long.output.ends_with("\n30000") && long.output.len() <= 51_200);
    let path = long.full_output_path.unwrap();
    assert_eq!(std::fs::read(&path).unwrap().len(), 168_894);
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn a_person_s_command_can_be_cancelled() {
    let bench = Bench::new();
    let mark = unique();
    let command = format!("echo st; sleep {mark}");
    let cancel = bench.cancel.clone();
    let on_delta = move |_: &str| cancel.cancel();
    let result = user_bash::run(&Local, &command, bench.root(), &bench.facts, &bench.cancel, on_delta).await.unwrap();
    assert_eq!((result.output.as_str(), result.exit_code, result.cancelled), ("st\n", None, true));
    eventually("all processes end", || !is_running(&mark)).await;
}

#[tokio::test]
async fn endless_output_stays_in_bounds_fc_044() {
    let bench = Bench::new();
    let command = "yes 0123456789012345678901234567890123456789 | head -c 30000000; echo THE-END";
    let output = bench.call("bash", json!({"command": command})).await;
    let text = text(&output);
    assert!(text.contains("THE-END\n\n[Showing lines ") && text.len() < 52_000);
    let program_output = structured(&output)["output"].as_str().unwrap();
    assert!(program_output.len() < (1 << 20) + 100 && program_output.contains("[... 27.6MB left out ...]"));
    let path = output.details.unwrap()["fullOutputPath"].as_str().unwrap().to_owned();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 30_000_008);
    std::fs::remove_file(path).unwrap();
    let shared: Arc<dyn OutputSource> =
        super::capture::Capture::new(super::Retention { head: 0, tail: 60_000 }).shared();
    assert_eq!(shared.snapshot(), ToolOutput::default());
}
