//! What a screen that rests gives back to the system.
//!
//! Most of the program's own file that is in memory was needed for the start, or lies beside what was: the system maps
//! sixteen pages for each one that is touched. While nothing happens these pages are let go of; what is needed again is
//! mapped again from the system's cache, within microseconds. The memory of an idle screen is a third without them.

use tokio::time::Instant;

use super::{ScreenMsg, ScreenState};

/// A screen on which nothing was drawn for so long rests.
const REST: std::time::Duration = std::time::Duration::from_secs(1);

impl ScreenState {
    /// Looks for rest after the last frame, once for many frames.
    pub(super) fn plan_rest(&mut self) {
        if self.rested.is_none_or(|rested| rested < self.drawn) && !std::mem::replace(&mut self.rest_due, true) {
            self.myself.send_after(REST.saturating_sub(self.drawn.elapsed()), || ScreenMsg::Rest);
        }
    }

    /// Rests, unless something was drawn meanwhile.
    pub(super) fn rest(&mut self) {
        self.rest_due = false;
        if self.drawn.elapsed() >= REST {
            self.rested = Some(Instant::now());
            give_back();
        }
    }
}

#[cfg(target_os = "linux")]
fn give_back() {
    use std::{fs, io::Read as _};

    use rustix::mm::{Advice, madvise};

    /// Bytes of the list of mappings that are read: the program's own stand at its beginning.
    const LIST: u64 = 64 << 10;

    let Ok(program) = fs::read_link("/proc/self/exe") else { return };
    let mut list = Vec::new();
    if fs::File::open("/proc/self/maps").and_then(|maps| maps.take(LIST).read_to_end(&mut list)).is_err() {
        return;
    }
    for (from, to) in code_of(&String::from_utf8_lossy(&list), &program.to_string_lossy()) {
        // SAFETY: the range is a private mapping of a file that can be read and executed and not be written: the system
        // reads the same bytes from the file again when one of its pages is touched, by whichever thread.
        let advised = unsafe { madvise(std::ptr::with_exposed_provenance_mut(from), to - from, Advice::LinuxDontNeed) };
        if let Err(error) = advised {
            tracing::debug!(%error, "the program's code stays mapped");
        }
    }
}

#[cfg(not(target_os = "linux"))]
const fn give_back() {}

/// The ranges of addresses with the code of `program`, from the system's list of mappings: `FROM-TO rights offset device
/// inode path`, see proc_pid_maps(5).
#[cfg(any(target_os = "linux", test))]
fn code_of(list: &str, program: &str) -> Vec<(usize, usize)> {
    let range = |line: &str| {
        let rest = line.strip_suffix(program)?;
        let mut fields = rest.split_ascii_whitespace();
        let (from, to) = fields.next()?.split_once('-')?;
        // A program whose name is the end of this one's has more in front of it.
        let is_code = fields.next()? == "r-xp" && fields.count() == 3 && rest.ends_with(' ');
        let number = |text| usize::from_str_radix(text, 16).ok();
        is_code.then_some(()).and(number(from).zip(number(to)))
    };
    list.lines().filter_map(range).filter(|(from, to)| from < to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_what_of_the_program_itself_is_executed_and_never_written() {
        let list = "\
555555000000-555555a00000 r--p 00000000 fe:00 42    /opt/a b/troupe
555555a00000-555557000000 r-xp 00a00000 fe:00 42    /opt/a b/troupe
555557000000-555557100000 rwxp 02000000 fe:00 42    /opt/a b/troupe
555557100000-555557200000 rw-p 02000000 fe:00 42    /opt/a b/troupe
7ffff0000000-7ffff1000000 r-xp 00000000 fe:00 7     /usr/lib/libc.so.6
7ffff2000000-7ffff3000000 r-xp 00000000 fe:00 8     /other/opt/a b/troupe
7ffff4000000-7ffff5000000 r-xp 00000000 fe:00 42    /opt/a b/troupe (deleted)
7ffff6000000-7ffff6001000 r-xp 00000000 00:00 0     [vdso]
nonsense /opt/a b/troupe
";
        assert_eq!(code_of(list, "/opt/a b/troupe"), [(0x5555_55a0_0000, 0x5555_5700_0000)]);
        assert_eq!(code_of(list, "/opt/a b/troupe (deleted)"), [(0x7fff_f400_0000, 0x7fff_f500_0000)]);
        assert_eq!(code_of("", "/opt/troupe"), []);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_goes_on_after_its_code_was_given_back() {
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| (0..100).for_each(|_| give_back()))).collect();
        assert!(threads.into_iter().all(|thread| thread.join().is_ok()));
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let program = std::fs::read_link("/proc/self/exe").unwrap();
        assert!(!code_of(&maps, &program.to_string_lossy()).is_empty());
    }
}
