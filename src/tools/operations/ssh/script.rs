//! From a shell script to one line that every remote login shell passes on unharmed.
//!
//! What runs on the other machine is always the same command, [`BOOTSTRAP`]: it reads one line, undoes its escapes and
//! runs it with `sh`. So nothing of a path or a script is ever parsed by a login shell that may be bash, fish or csh,
//! nothing of it shows in a list of processes, and no limit of a command line's length holds.

/// The remote command. Plain enough for every shell: no backslash, no exclamation mark, no line end.
pub const BOOTSTRAP: &str = r#"exec sh -c 'IFS= read -r s; eval "$(printf %b "$s")"'"#;

/// A script for a POSIX shell.
#[derive(Clone, Debug, Default)]
pub struct Script(Vec<u8>);

impl Script {
    /// Sets a variable to any value without NUL.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        // A variable of that name may be exported there: ours is not to be seen by commands.
        self.0.extend_from_slice(format!("unset {name}; {name}=").as_bytes());
        self.0.extend(quote(value.as_ref()));
        self.0.push(b'\n');
        self
    }

    /// Sets the arguments `$1`, `$2` and so on.
    #[must_use]
    pub fn arguments<T: AsRef<[u8]>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.0.extend_from_slice(b"set --");
        for argument in arguments {
            self.0.push(b' ');
            self.0.extend(quote(argument.as_ref()));
        }
        self.0.push(b'\n');
        self
    }

    /// Adds commands.
    #[must_use]
    pub fn run(mut self, commands: &str) -> Self {
        self.0.extend_from_slice(commands.as_bytes());
        self.0.push(b'\n');
        self
    }

    /// The line that [`BOOTSTRAP`] reads. Everything but plain ASCII is written as octal escapes: some shells read a
    /// line by characters of their locale, and stumble over bytes that are none.
    #[must_use]
    pub fn line(&self) -> Vec<u8> {
        let mut line = Vec::with_capacity(self.0.len() + self.0.len() / 4);
        for byte in &self.0 {
            match byte {
                b' '..=b'~' if *byte != b'\\' => line.push(*byte),
                _ => line.extend_from_slice(format!("\\0{byte:03o}").as_bytes()),
            }
        }
        line.push(b'\n');
        line
    }
}

/// `bytes` as one word of a shell.
fn quote(bytes: &[u8]) -> Vec<u8> {
    let mut word = vec![b'\''];
    for byte in bytes {
        match byte {
            b'\'' => word.extend_from_slice(br"'\''"),
            other => word.push(*other),
        }
    }
    word.push(b'\'');
    word
}

/// Whether a shell takes `name` as the name of a variable.
#[must_use]
pub fn is_variable(name: &str) -> bool {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_well && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        process::{Command, Stdio},
    };

    use super::*;

    /// What the bootstrap prints in a login shell, for a line and what follows it.
    fn run(shell: &str, input: &[u8]) -> Vec<u8> {
        let mut command = Command::new(shell);
        let mut child = command.arg("-c").arg(BOOTSTRAP).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap().stdout
    }

    #[test]
    fn every_byte_but_nul_passes_unharmed_and_the_rest_of_the_input_is_left() {
        let mut all: Vec<u8> = (1..=255).collect();
        all.extend_from_slice("'\\''\n\n é\u{1f642} %s $(id) `id` \\0101\n".as_bytes());
        let script = Script::default().set("v", &all).run("printf %s \"$v\"; cat");
        let mut input = script.line();
        assert_eq!(input.iter().filter(|byte| **byte == b'\n').count(), 1);
        input.extend_from_slice(b"\0rest\nof it");
        for shell in ["sh", "bash", "zsh", "fish", "mksh", "tcsh"] {
            if Command::new(shell).args(["-c", "exit"]).stdin(Stdio::null()).status().is_err() {
                eprintln!("SKIPPED: {shell} is not installed here");
                continue;
            }
            assert_eq!(run(shell, &input), [all.as_slice(), b"\0rest\nof it"].concat(), "{shell}");
        }
    }

    #[test]
    fn only_names_that_a_shell_takes_are_variables() {
        for (name, is_one) in [("A", true), ("_a1", true), ("1A", false), ("A B", false), ("", false), ("A;x", false)] {
            assert_eq!(is_variable(name), is_one, "{name}");
        }
    }
}
