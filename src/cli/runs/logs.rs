//! `troupe runs logs`.

use std::{
    fs::File,
    io::{self, Read as _},
    thread,
    time::Duration,
};

use super::{
    folder::RunFolder,
    lease::{Owner, owner_of},
};
use crate::cli::{
    exit::Exit,
    run::{fail, write_out},
};

/// Between two looks at a log that grows.
const LOOK: Duration = Duration::from_millis(100);

/// Prints what the workers of a run said, or its events; `follow` until nobody supervises it any more.
pub fn print_log(run: &RunFolder, events: bool, follow: bool) -> Exit {
    let path = run.file(if events { "events.jsonl" } else { "worker.log" });
    let mut file = None;
    let mut rest = Vec::new();
    loop {
        // Asked first: what is written before the end is read after it.
        let is_over = !owner_of(run).is_some_and(|owner: Owner| owner.is_alive());
        if file.is_none() {
            file = File::open(&path).ok();
        }
        if let Some(file) = &mut file
            && let Err(error) = copy(file, &mut rest)
        {
            return match error.kind() {
                io::ErrorKind::BrokenPipe => Exit::Done,
                _ => fail(&format!("{}: {error}", path.display())),
            };
        }
        if is_over || !follow {
            return Exit::Done;
        }
        thread::sleep(LOOK);
    }
}

/// Prints the whole lines that are there; the beginning of another one is kept in `rest`.
fn copy(file: &mut File, rest: &mut Vec<u8>) -> io::Result<()> {
    let mut bytes = [0; 64 << 10];
    loop {
        let count = file.read(&mut bytes)?;
        if count == 0 {
            return Ok(());
        }
        rest.extend_from_slice(&bytes[..count]);
        if let Some(end) = memchr::memrchr(b'\n', rest) {
            let lines: Vec<u8> = rest.drain(..=end).collect();
            write_out(&String::from_utf8_lossy(&lines))?;
        }
    }
}
