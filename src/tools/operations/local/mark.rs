//! The mark that a command's processes carry, whatever becomes of them.
//!
//! Processes can leave their group and their session (`setsid`), lose their parent (a double fork) and wipe their
//! environment (`env -i`). A resource limit is passed on by all of that, and anybody may read those of others. So each
//! command gets a number of its own as its soft limit of file locks, which no kernel has looked at since Linux 2.4.25.
//! The environment carries the mark too: for what changes that limit, for a nested agent, whose commands have limits of
//! their own, and for systems without this limit.

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

    /// Whether these limits, as `/proc/PID/limits` has them, carry the mark.
    #[cfg(target_os = "linux")]
    pub fn is_in_limits(self, limits: &str) -> bool {
        let line = limits.lines().find_map(|line| line.strip_prefix("Max file locks"));
        line.and_then(|line| line.split_whitespace().next()) == Some(&self.limit().to_string())
    }

    /// Whether this environment, as `/proc/PID/environ` has it, carries the mark.
    #[cfg(target_os = "linux")]
    pub fn is_in_environment(self, environment: &[u8]) -> bool {
        let mark = self.0.to_string();
        environment
            .split(|byte| *byte == 0)
            .filter_map(|variable| variable.strip_prefix(MARK_VARIABLE.as_bytes())?.strip_prefix(b"="))
            .any(|marks| marks.split(|byte| *byte == b',').any(|one| one == mark.as_bytes()))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_in_limits_and_in_environments() {
        let (mark, other) = (Mark::new(), Mark::new());
        let limits = |of: String| {
            format!(
                "Limit  Soft Limit  Hard Limit  Units\nMax file locks            {of}     unlimited   locks\nMax x   1 2 z\n"
            )
        };
        assert!(mark.is_in_limits(&limits(mark.limit().to_string())));
        assert!(
            !mark.is_in_limits(&limits(other.limit().to_string())) && !mark.is_in_limits(&limits("unlimited".into()))
        );
        assert!(!mark.is_in_limits(""));
        let environment = |marks: String| format!("A=1\0TROUPE_CALL={marks}\0B=2\0").into_bytes();
        assert!(mark.is_in_environment(&environment(mark.0.to_string())));
        assert!(mark.is_in_environment(&environment(format!("{},{}", other.0, mark.0))));
        assert!(!mark.is_in_environment(&environment(other.0.to_string())) && !mark.is_in_environment(b"A=1\0"));
    }
}
