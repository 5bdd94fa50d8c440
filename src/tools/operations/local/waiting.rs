//! Whether a process waits for the input that a pipe would bring: the kernel tells in which system call it sleeps.

use std::fs;

/// System calls by number, on the machines whose numbers are known here.
#[cfg(target_arch = "x86_64")]
mod number {
    pub const READ: [u64; 2] = [0, 19];
    pub const POLL: [u64; 2] = [7, 271];
    pub const SELECT: [u64; 2] = [23, 270];
}
#[cfg(target_arch = "aarch64")]
mod number {
    pub const READ: [u64; 2] = [63, 65];
    pub const POLL: [u64; 1] = [73];
    pub const SELECT: [u64; 1] = [72];
}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod number {
    pub const READ: [u64; 0] = [];
    pub const POLL: [u64; 0] = [];
    pub const SELECT: [u64; 0] = [];
}

/// What a sleeping process sleeps in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sleep {
    /// `read` of this descriptor.
    Read(u64),
    /// `poll`: address and number of its entries.
    Poll(u64, u64),
    /// `select`: number of descriptors, address of the set.
    Select(u64, u64),
    Other,
}

/// Whether one of the processes waits for the pipe with this inode number; none when none of them can be looked at.
/// Those that sleep in `epoll` are not counted: servers that also take keys do so all their life.
pub fn any_waits(processes: &[i32], pipe: u64) -> Option<bool> {
    let answers: Vec<bool> = processes.iter().filter_map(|pid| waits(*pid, pipe)).collect();
    (!answers.is_empty()).then(|| answers.contains(&true))
}

fn waits(pid: i32, pipe: u64) -> Option<bool> {
    let is_pipe = |descriptor: u64| {
        let target = fs::read_link(format!("/proc/{pid}/fd/{descriptor}"));
        target.is_ok_and(|target| target.as_os_str() == format!("pipe:[{pipe}]").as_str())
    };
    let Some(sleep) = fs::read_to_string(format!("/proc/{pid}/syscall")).ok().and_then(|line| parse(&line)) else {
        // Without it: where in the kernel it sleeps, and what its input is.
        let place = fs::read_to_string(format!("/proc/{pid}/wchan")).ok()?;
        return place.contains("pipe_read").then(|| is_pipe(0));
    };
    Some(match sleep {
        Sleep::Read(descriptor) => is_pipe(descriptor),
        Sleep::Poll(address, count) => polled(pid, address, count).into_iter().any(is_pipe),
        Sleep::Select(count, address) => selected(pid, count, address).into_iter().any(is_pipe),
        Sleep::Other => false,
    })
}

/// Reads `/proc/PID/syscall`: `running`, or the number of the call and its arguments.
fn parse(line: &str) -> Option<Sleep> {
    if number::READ.is_empty() {
        return None;
    }
    let mut words = line.split_whitespace();
    let Ok(call) = words.next()?.parse::<u64>() else { return Some(Sleep::Other) };
    let mut argument = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let (first, second) = (argument()?, argument()?);
    Some(if number::READ.contains(&call) {
        Sleep::Read(first)
    } else if number::POLL.contains(&call) {
        Sleep::Poll(first, second)
    } else if number::SELECT.contains(&call) {
        Sleep::Select(first, second)
    } else {
        Sleep::Other
    })
}

/// Descriptors that a process looks at; more are no program that waits for a line.
const DESCRIPTORS: u64 = 64;

/// The descriptors of which `poll` wants to know whether they can be read.
fn polled(pid: i32, address: u64, count: u64) -> Vec<u64> {
    /// A descriptor, what is wanted of it, and what is there.
    const ENTRY: usize = 8;
    let wants_input = |entry: &&[u8]| u16::from_ne_bytes([entry[4], entry[5]]) & 1 != 0;
    let descriptor = |entry: &[u8]| i32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]);
    let entries = memory(pid, address, ENTRY * usize::try_from(count.min(DESCRIPTORS)).unwrap_or(0));
    let wanted = entries.chunks_exact(ENTRY).filter(wants_input);
    wanted.filter_map(|entry| u64::try_from(descriptor(entry)).ok()).collect()
}

/// The descriptors in the set of `select`.
fn selected(pid: i32, count: u64, address: u64) -> Vec<u64> {
    let bytes = memory(pid, address, 8);
    let Ok(set) = bytes.try_into().map(u64::from_ne_bytes) else { return Vec::new() };
    (0..count.min(DESCRIPTORS)).filter(|descriptor| set >> descriptor & 1 == 1).collect()
}

/// Memory of another process; nothing where it may not be read.
fn memory(pid: i32, address: u64, length: usize) -> Vec<u8> {
    use std::os::unix::fs::FileExt;
    let mut bytes = vec![0; length];
    let read = fs::File::open(format!("/proc/{pid}/mem")).and_then(|file| file.read_exact_at(&mut bytes, address));
    read.map(|()| bytes).unwrap_or_default()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn the_system_call_is_read_off_its_line() {
        let table = [
            ("running\n", Some(Sleep::Other)),
            ("0 0x3 0x7f00 0x20000 0x0 0x0 0x0 0x7ffc 0x7f7a\n", Some(Sleep::Read(3))),
            ("7 0x7ffc8 0x1 0xffffffff 0x0 0x0 0x0 0x7ffc 0x7f7a\n", Some(Sleep::Poll(0x7ffc8, 1))),
            ("270 0x1 0x7ffc8 0x0 0x0 0x0 0x0 0x7ffc 0x7f7a\n", Some(Sleep::Select(1, 0x7ffc8))),
            ("61 0xffffffff 0x7ffc 0x0 0x0 0x0 0x0 0x7ffc 0x7f7a\n", Some(Sleep::Other)),
            ("-1 0x7ffc 0x7f7a\n", Some(Sleep::Other)),
            ("", None),
        ];
        for (line, wanted) in table {
            assert_eq!(parse(line), wanted, "{line}");
        }
    }
}
