//! The mark that a command's processes carry, whatever becomes of them.
//!
//! Processes can leave their group and their session (`setsid`), lose their parent (a double fork) and wipe their
//! environment (`env -i`). A resource limit is passed on by all of that, and anybody may read those of others. So each
//! command gets a number of its own as its soft limit of file locks, which no kernel has looked at since Linux 2.4.25.
//! The environment carries the mark too: for what changes that limit, for a nested agent, whose commands have limits of
//! their own, and for systems without this limit.

#[cfg(target_os = "linux")]
use std::collections::HashSet;

use uuid::Uuid;

/// The variable that marks a command's processes. Nested agents add theirs to the ones around them.
const MARK_VARIABLE: &str = "TROUPE_CALL";

/// The mark of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark(Uuid);

impl Mark {
    pub fn new() -> Self {
        Self(Uuid::new_v4())
    }

    /// The variable that carries the mark, together with the marks that this process carries itself.
    pub fn variable(self) -> (&'static str, String) {
        match std::env::var(MARK_VARIABLE) {
            Ok(inherited) if !inherited.is_empty() => (MARK_VARIABLE, format!("{inherited},{}", self.0)),
            _ => (MARK_VARIABLE, self.0.to_string()),
        }
    }

    /// The limit that carries the mark: hard to guess, and below "unlimited".
    pub fn limit(self) -> u64 {
        self.0.as_u64_pair().0 >> 2
    }

    /// Gives the calling process the mark as its limit; to be called between fork and exec, where it makes two system
    /// calls and nothing else. A hard limit that is lower leaves the environment's mark alone.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn limit_this_process(self) {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { maximum, .. } = getrlimit(Resource::Locks);
        let _ = setrlimit(Resource::Locks, Rlimit { current: Some(self.limit()), maximum });
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub fn limit_this_process(self) {}
}

/// Some marks, to be found among those of many processes.
#[cfg(target_os = "linux")]
#[derive(Debug, Default)]
pub struct Marks {
    limits: HashSet<u64>,
    texts: HashSet<String>,
}

#[cfg(target_os = "linux")]
impl Marks {
    pub fn has_limit(&self, limit: u64) -> bool {
        self.limits.contains(&limit)
    }

    pub fn has(&self, text: &[u8]) -> bool {
        std::str::from_utf8(text).is_ok_and(|text| self.texts.contains(text))
    }
}

#[cfg(target_os = "linux")]
impl FromIterator<Mark> for Marks {
    fn from_iter<I: IntoIterator<Item = Mark>>(marks: I) -> Self {
        let mut all = Self::default();
        for mark in marks {
            all.limits.insert(mark.limit());
            all.texts.insert(mark.0.to_string());
        }
        all
    }
}

/// The limit that carries a mark, as `/proc/PID/limits` has it.
#[cfg(target_os = "linux")]
pub fn in_limits(limits: &[u8]) -> Option<u64> {
    let line = limits.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Max file locks"))?;
    std::str::from_utf8(line).ok()?.split_whitespace().next()?.parse().ok()
}

/// The marks that an environment carries, as `/proc/PID/environ` has it.
#[cfg(target_os = "linux")]
pub fn in_environment(environment: &[u8]) -> impl Iterator<Item = &[u8]> {
    environment.split(|byte| *byte == 0).filter_map(marks_of).flat_map(|marks| marks.split(|byte| *byte == b','))
}

#[cfg(target_os = "linux")]
fn marks_of(variable: &[u8]) -> Option<&[u8]> {
    variable.strip_prefix(MARK_VARIABLE.as_bytes())?.strip_prefix(b"=")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_in_limits_and_in_environments() {
        let (mark, other) = (Mark::new(), Mark::new());
        let marks: Marks = [mark].into_iter().collect();
        let limits = |of: String| {
            format!(
                "Limit  Soft Limit  Hard Limit  Units\nMax file locks            {of}     unlimited   locks\nMax x   1 2 z\n"
            )
        };
        let by_limit = |limits: String| in_limits(limits.as_bytes()).is_some_and(|limit| marks.has_limit(limit));
        assert!(by_limit(limits(mark.limit().to_string())));
        assert!(!by_limit(limits(other.limit().to_string())) && !by_limit(limits("unlimited".into())));
        assert!(!by_limit(String::new()));
        let by_environment = |of: String| {
            let environment = format!("A=1\0TROUPE_CALL={of}\0B=2\0").into_bytes();
            in_environment(&environment).any(|mark| marks.has(mark))
        };
        assert!(by_environment(mark.0.to_string()));
        assert!(by_environment(format!("{},{}", other.0, mark.0)));
        assert!(!by_environment(other.0.to_string()));
        assert!(!in_environment(b"A=1\0").any(|mark| marks.has(mark)));
    }
}
