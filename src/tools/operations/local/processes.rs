//! The processes of this machine, as `/proc` shows them.

use std::collections::HashSet;

use rustix::process::Pid;

use super::{
    kill::Root,
    mark::{self, Marks},
};

/// What is needed of a process to find out whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessFacts {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    /// When it began, in clock ticks since the system's start.
    pub begun: u64,
    /// It has ended, and nobody has asked how.
    pub zombie: bool,
}

impl ProcessFacts {
    pub fn of(pid: i32) -> Option<Self> {
        Self::parse(pid, &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Reads a line of `/proc/PID/stat`. The name in parentheses may hold anything, also parentheses.
    fn parse(pid: i32, stat: &str) -> Option<Self> {
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let zombie = matches!(fields.next()?, "Z" | "X");
        let mut number = || fields.next()?.parse().ok();
        let (parent, group, session) = (number()?, number()?, number()?);
        // The fields from the terminal to the start: 7 to 21 lie between.
        let begun = fields.nth(15)?.parse().ok()?;
        Some(Self { pid, parent, group, session, begun, zombie })
    }
}

/// All processes.
pub fn all() -> Vec<ProcessFacts> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| ProcessFacts::of(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Whether a process carries one of the marks. One that may not be looked at does not.
fn carries(pid: i32, marks: &Marks) -> bool {
    let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}"));
    read("limits").is_ok_and(|limits| mark::in_limits(&limits).is_some_and(|limit| marks.has_limit(limit)))
        || read("environ").is_ok_and(|environment| mark::in_environment(&environment).any(|mark| marks.has(mark)))
}

/// The living processes of commands: those of their groups and sessions, those that carry their marks, and all below
/// them. None of them began before the first shell.
pub fn of_commands(roots: &[Root]) -> Vec<i32> {
    let begun = roots.iter().map(|root| root.begun).min().unwrap_or(0);
    let groups: HashSet<i32> = roots.iter().map(|root| root.group.as_raw_nonzero().get()).collect();
    let marks: Marks = roots.iter().map(|root| root.mark).collect();
    let all: Vec<_> = all().into_iter().filter(|process| process.begun >= begun && !process.zombie).collect();
    let is_root = |process: &ProcessFacts| {
        groups.contains(&process.group) || groups.contains(&process.session) || carries(process.pid, &marks)
    };
    with_descendants(&all, is_root)
}

/// The living processes of a group's session, and all below them: quick, and without those that got away.
pub fn of_session(group: Pid) -> Vec<i32> {
    let group = group.as_raw_nonzero().get();
    let all: Vec<_> = all().into_iter().filter(|process| !process.zombie).collect();
    with_descendants(&all, |process| process.group == group || process.session == group)
}

/// The processes that `is_root` names, and all below them.
pub fn with_descendants(all: &[ProcessFacts], is_root: impl Fn(&ProcessFacts) -> bool) -> Vec<i32> {
    let mut found: HashSet<i32> = all.iter().filter(|process| is_root(process)).map(|process| process.pid).collect();
    loop {
        let below: Vec<i32> = all
            .iter()
            .filter(|process| found.contains(&process.parent) && !found.contains(&process.pid))
            .map(|process| process.pid)
            .collect();
        if below.is_empty() {
            let mut found: Vec<i32> = found.into_iter().collect();
            found.sort_unstable();
            return found;
        }
        found.extend(below);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_blanks_does_not_confuse() {
        let stat =
            "42 (a) b) c) S 7 8 9 0 -1 4194560 104 0 0 0 0 0 0 0 20 0 1 0 12345 2990080 233 18446744073709551615";
        let wanted = ProcessFacts { pid: 42, parent: 7, group: 8, session: 9, begun: 12_345, zombie: false };
        assert_eq!(ProcessFacts::parse(42, stat), Some(wanted));
        assert_eq!(ProcessFacts::parse(42, "42 (x) Z 7 8"), None);
        let own = ProcessFacts::of(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(!own.zombie && own.begun > 0);
        assert_eq!(own.parent, rustix::process::getppid().unwrap().as_raw_nonzero().get());
    }

    #[test]
    fn everything_below_a_root_belongs_to_it() {
        let process = |pid, parent| ProcessFacts { pid, parent, group: pid, session: pid, begun: 0, zombie: false };
        // Children may come before their parents, and two that name each other end the search all the same.
        let all = [process(5, 4), process(2, 1), process(4, 2), process(9, 1), process(7, 8), process(8, 7)];
        let of = |roots: &[i32]| with_descendants(&all, |process| roots.contains(&process.pid));
        assert_eq!(of(&[2]), [2, 4, 5]);
        assert_eq!(of(&[9, 4]), [4, 5, 9]);
        assert_eq!(of(&[7]), [7, 8]);
        assert_eq!(of(&[3]), [0; 0]);
    }
}
