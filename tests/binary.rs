//! The binary as the system sees it: what it needs of it, and how much memory a long run takes.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

/// The binary.
const BINARY: &str = env!("CARGO_BIN_EXE_troupe");

/// glibc of Debian 12, Ubuntu 22.04 and RHEL 9, or older: where a binary that was built on a newer system is to run.
const OLDEST_GLIBC: (u32, u32) = (2, 34);

/// Versions of glibc that the dynamic symbols of a program name.
fn glibc_versions(program: &Path) -> Vec<(u32, u32)> {
    let bytes = fs::read(program).unwrap();
    let mark = b"\0GLIBC_";
    let named = bytes.windows(mark.len()).enumerate().filter(|(_, window)| window == mark);
    let version = |(at, _): (usize, &[u8])| {
        let text = bytes[at + mark.len()..].split(|byte| *byte == 0).next()?;
        let mut parts = std::str::from_utf8(text).ok()?.split('.').map(str::parse);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    };
    named.filter_map(version).collect()
}

#[test]
fn fc_108_the_binary_needs_no_c_library_newer_than_that_of_systems_in_use() {
    let newest = glibc_versions(Path::new(BINARY)).into_iter().max();
    // Built without glibc it needs none.
    assert!(newest.is_none_or(|newest| newest <= OLDEST_GLIBC), "{newest:?}");
}

/// Bytes of each line of the file.
const LINE: usize = 100;

/// Lines of the file that a turn reads.
const LINES: usize = 450;

/// A model with a small window that reads some more of a file in each of so many turns. Its last call tells how much memory
/// the program took.
fn reads(turns: usize) -> Value {
    let call = |name: &str, arguments: Value| json!({"calls": [{"name": name, "arguments": arguments}]});
    let read = |turn| call("read", json!({"path": "lines.txt", "offset": turn, "limit": LINES}));
    let last = call("bash", json!({"command": "cat /proc/$PPID/status > status"}));
    let turns: Vec<_> = (1..=turns).map(read).chain([last, json!("done")]).collect();
    // The two forms of a request for a summary.
    let summary = |when: &str| json!({"when": {"lastUser": when}, "end": "repeat", "turns": ["## Goal\nRead on."]});
    json!({
        "model": {"contextWindow": 100_000, "maxTokens": 4_000},
        "scenes": [summary("<conversation>"), summary("# Conversation")],
        "select": "calls",
        "turns": turns,
    })
}

/// The most memory that such a run took, in bytes.
fn memory_of(turns: usize) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("home")).unwrap();
    fs::write(path("script.json"), reads(turns).to_string()).unwrap();
    let lines: String = (0..turns + LINES).map(|n| format!("{n:<0$}\n", LINE - 1)).collect();
    fs::write(path("lines.txt"), lines).unwrap();
    let session = path("session.jsonl");
    let run = Command::new(BINARY)
        .args(["--model", "troupe/script", "--script", "script.json", "--session", session.to_str().unwrap()])
        .args(["-p", "Read all of it."])
        .current_dir(folder.path())
        .env("HOME", path("home"))
        .env_remove("TROUPE_DIR")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&run.stdout), "done\n", "{}", String::from_utf8_lossy(&run.stderr));
    let compactions = fs::read_to_string(session).unwrap().matches("\"type\":\"compaction\"").count();
    assert!(compactions > turns / 20, "{compactions} compactions");
    let status = fs::read_to_string(path("status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

#[test]
fn fc_110_a_run_takes_no_more_memory_for_what_was_compacted() {
    let (short, long) = (60, 240);
    let grown = memory_of(long).saturating_sub(memory_of(short));
    let read = (long - short) * LINES * LINE;
    assert!(grown < read / 2, "{grown} more bytes for {read} more bytes of results");
}
