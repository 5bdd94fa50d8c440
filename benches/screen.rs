//! How long the screen lets people wait: the real binary in a terminal, with an emulator that reads what it writes.
//!
//! `cargo bench --bench screen` prints a table. What the emulator needs is in the times: a tenth of a millisecond for a
//! key.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, clippy::expect_used, missing_docs, reason = "a table is what this is for")]

#[path = "../tests/support/mod.rs"]
mod support;
#[path = "../tests/support/terminal/mod.rs"]
mod terminal;

use std::{
    fs,
    time::{Duration, Instant},
};

use support::{Gate, replies, text};
use terminal::{Stage, Terminal, long_session};

/// Keys of a measurement.
const KEYS: usize = 100;

/// How often a start is repeated; the fastest counts.
const STARTS: usize = 5;

/// What a second is cut into by the kernel's clock of processes.
const TICKS: f64 = 100.0;

fn main() {
    println!("{:<44} {:>10}", "figure", "value");
    empty();
    for entries in [1_000, 10_000, 100_000] {
        resumed(entries);
    }
    streaming(50);
    streaming(200);
}

fn row(name: &str, value: f64, unit: &str) {
    println!("{name:<44} {value:>10.2} {unit}");
}

/// A screen with nothing on it.
fn empty() {
    let stage = Stage::new(replies([text("The answer is 42.")]));
    let mut best = Duration::MAX;
    for _ in 0..STARTS {
        let terminal = stage.open();
        best = best.min(terminal.began().elapsed());
    }
    row("empty: start to first screen", milliseconds(best), "ms");
    let terminal = stage.open();
    keys("empty", &terminal);
    idle("empty", &terminal);
}

/// A session that is opened again.
fn resumed(entries: usize) {
    let name = format!("{entries} entries");
    let stage = Stage::new(replies([text("The answer is 42.")]));
    let file = stage.sandbox.write("long.jsonl", long_session(&stage.sandbox.project, entries));
    let args = ["--model", "mock/m1", "--session", file.to_str().expect("a path of plain letters")];
    let last = format!("message {}", entries - 1);
    let mut best = Duration::MAX;
    for _ in 0..STARTS {
        let terminal = stage.terminal().args(&args).start();
        terminal.wait_text(&last);
        best = best.min(terminal.began().elapsed());
    }
    row(&format!("{name}: start to the end of the conversation"), milliseconds(best), "ms");
    let terminal = stage.terminal().args(&args).open();
    terminal.wait_text(&last);
    keys(&name, &terminal);
    idle(&name, &terminal);
    let began = Instant::now();
    terminal.key("pageup");
    terminal.wait_gone(&last);
    row(&format!("{name}: page up"), milliseconds(began.elapsed()), "ms");
}

/// An answer of which so many pieces come in a second.
fn streaming(rate: usize) {
    const SECONDS: usize = 6;
    let name = format!("{rate} deltas a second");
    let words: String =
        (0..rate * SECONDS).map(|n| format!("word {n:04}{}", if n % 9 == 0 { "\n\n" } else { " " })).collect();
    let gate = Gate::closed();
    let pause = Duration::from_micros(1_000_000 / rate as u64);
    let stage = Stage::new(replies([text(&words).split(10).pace(pause).hold(&gate)]));
    let terminal = stage.open();
    terminal.submit("go");
    terminal.wait_text("word 0005");
    let (cpu, written, began) = (cpu_time(&terminal), terminal.written(), Instant::now());
    std::thread::sleep(Duration::from_secs(2));
    let seconds = began.elapsed().as_secs_f64();
    row(&format!("{name}: CPU"), (cpu_time(&terminal) - cpu) / seconds / 10.0, "% of a core");
    row(&format!("{name}: written"), (terminal.written() - written) as f64 / seconds / 1024.0, "KB/s");
    keys(&name, &terminal);
    gate.open();
}

/// From a key to the frame that shows it.
fn keys(name: &str, terminal: &Terminal) {
    let mut typed = String::new();
    let mut times = Vec::new();
    let (cpu, written) = (cpu_time(terminal), terminal.written());
    for n in 0..KEYS {
        if n % 20 == 0 {
            terminal.key("ctrl+u");
            terminal.wait_for("an empty editor", |screen| typed.is_empty() || !screen.has(&typed));
            typed.clear();
            typed.push('~');
            terminal.type_text("~");
        }
        let key = char::from(b'a' + (n % 26) as u8);
        typed.push(key);
        let began = Instant::now();
        terminal.send(key.to_string());
        terminal.wait_for("the key", |screen| screen.has(&typed));
        times.push(began.elapsed());
        // People do not type faster, and the next frame is not kept waiting by the last one.
        std::thread::sleep(Duration::from_millis(20));
    }
    times.sort_unstable();
    row(&format!("{name}: key to its echo, median"), milliseconds(times[KEYS / 2]), "ms");
    row(&format!("{name}: key to its echo, 99 of 100"), milliseconds(times[KEYS * 99 / 100]), "ms");
    row(&format!("{name}: CPU of a key"), (cpu_time(terminal) - cpu) / KEYS as f64, "ms");
    row(&format!("{name}: written for a key"), (terminal.written() - written) as f64 / KEYS as f64, "bytes");
}

/// What it costs to do nothing.
fn idle(name: &str, terminal: &Terminal) {
    let (cpu, began) = (cpu_time(terminal), Instant::now());
    std::thread::sleep(Duration::from_secs(3));
    row(
        &format!("{name}: CPU while nothing happens"),
        (cpu_time(terminal) - cpu) / began.elapsed().as_secs_f64(),
        "ms/s",
    );
    row(&format!("{name}: memory"), resident(terminal), "MB");
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Milliseconds of CPU that the program has used.
fn cpu_time(terminal: &Terminal) -> f64 {
    let stat =
        fs::read_to_string(format!("/proc/{}/stat", terminal.pid().as_raw_nonzero())).expect("a running program");
    let fields: Vec<f64> = stat
        .rsplit(')')
        .next()
        .into_iter()
        .flat_map(str::split_whitespace)
        .map(|field| field.parse().unwrap_or(0.0))
        .collect();
    (fields[11] + fields[12]) * 1e3 / TICKS
}

/// Megabytes of memory that the program holds.
fn resident(terminal: &Terminal) -> f64 {
    let status =
        fs::read_to_string(format!("/proc/{}/status", terminal.pid().as_raw_nonzero())).expect("a running program");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("the memory of a process");
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<f64>().ok()).expect("a number") / 1024.0
}
