//! What goes wrong with ssh itself, in its own words and with the next step.

use std::{io, path::Path};

use super::target::Target;

/// Why the other machine cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SshError {
    /// There is no place for the sockets of connections.
    #[error("No folder for the ssh connection could be made: {0}. Set TMPDIR to a folder that can be written")]
    NoSocketFolder(#[source] io::Error),
    /// The program did not start.
    #[error("The program {program} cannot be started: {error}. Install OpenSSH's client")]
    NoProgram {
        /// Its name.
        program: String,
        /// Why.
        error: io::Error,
    },
    /// The machine did not let us in, or is not there.
    #[error("Cannot connect to {target} by ssh: {words}. {step}")]
    NotConnected {
        /// The machine.
        target: String,
        /// What ssh said.
        words: String,
        /// What to do.
        step: &'static str,
    },
    /// The connection ended.
    #[error("The connection to {target} was lost: {words}")]
    Lost {
        /// The machine.
        target: String,
        /// What ssh said.
        words: String,
    },
    /// It is connected, but there is no work to be done there.
    #[error("{target} was reached by ssh, but {words}")]
    Unusable {
        /// The machine.
        target: String,
        /// What is wrong.
        words: String,
    },
}

impl SshError {
    pub(super) fn no_program(program: &Path, error: io::Error) -> Self {
        Self::NoProgram { program: program.display().to_string(), error }
    }

    /// A login that failed; `log` is what ssh wrote.
    pub(super) fn not_connected(target: &Target, log: &str) -> Self {
        let words = words(log);
        Self::NotConnected { target: target.to_string(), step: next_step(&words), words }
    }

    /// A connection that ended; `log` is what ssh wrote.
    pub(super) fn lost(target: &Target, log: &str) -> Self {
        Self::Lost { target: target.to_string(), words: words(log) }
    }
}

impl From<SshError> for io::Error {
    fn from(error: SshError) -> Self {
        let kind = match error {
            SshError::Lost { .. } => io::ErrorKind::ConnectionAborted,
            SshError::NotConnected { .. } => io::ErrorKind::NotConnected,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

/// The last lines of what ssh said, as one.
fn words(log: &str) -> String {
    /// Enough for a reason; the warning about a changed host key is longer, and its last lines say it.
    const LINES: usize = 3;
    let lines: Vec<&str> = log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LINES)..].join("; ");
    if last.is_empty() { "ssh did not say why".to_owned() } else { last.trim_end_matches('.').to_owned() }
}

fn next_step(words: &str) -> &'static str {
    const STEPS: [(&str, &str); 7] = [
        (
            "Host key verification failed",
            "Connect once by hand with ssh, compare the key that it shows with the machine's, and accept it; if it has \
             changed, find out why first",
        ),
        (
            "Permission denied",
            "Nothing can be asked here, so a key must do: load it into the agent with ssh-add, or name it in ssh's \
             configuration. `ssh -o BatchMode=yes` with the same name must work",
        ),
        ("Could not resolve hostname", "Check the name, and the Host entries of ~/.ssh/config"),
        ("Connection refused", "Check that the ssh server runs there, and its port (ssh://host:port)"),
        ("timed out", "Check that the machine is up and reached from here"),
        ("Too many authentication failures", "Name the key in ssh's configuration and set IdentitiesOnly there"),
        ("ontrolPath", "Set TMPDIR to a folder with a shorter name"),
    ];
    STEPS
        .iter()
        .find(|(text, _)| words.contains(text))
        .map_or("`ssh -v` with the same name tells more", |(_, step)| *step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_sshs_words_and_a_next_step() {
        let target: Target = "me@box".parse().unwrap();
        let table = [
            ("Host key verification failed.\r\n", "Host key verification failed", "accept it"),
            ("me@box: Permission denied (publickey).\n", "Permission denied (publickey)", "ssh-add"),
            ("ssh: connect to host box port 22: Connection refused\n", "Connection refused", "server runs"),
            ("ssh: Could not resolve hostname box: Name or service not known\n", "not known", "Check the name"),
            ("", "did not say why", "ssh -v"),
        ];
        for (log, words, step) in table {
            let text = SshError::not_connected(&target, log).to_string();
            assert!(text.starts_with("Cannot connect to me@box by ssh: "), "{text}");
            assert!(text.contains(words) && text.contains(step) && !text.contains(".."), "{text}");
        }
    }

    #[test]
    fn a_long_log_is_told_by_its_end() {
        let target: Target = "box".parse().unwrap();
        let text = SshError::lost(&target, "1\n2\n3\n4\n\n5\n").to_string();
        assert_eq!(text, "The connection to box was lost: 3; 4; 5");
    }
}
