//! What the scripts on the other machine answer.
//!
//! A login shell may print a greeting first, so an answer begins with a mark that nobody can guess: `MARK ok FACTS` or
//! `MARK fail REASON` on a line; what follows the line is data.

use std::{
    io,
    time::{Duration, SystemTime},
};

use rustix::io::Errno;

use crate::tools::operations::{FileKind, FileStat};

/// Where the line with `mark` stands in `bytes`: its text after the mark, and where the next line begins. None until
/// it is there as a whole.
#[must_use]
pub fn find(bytes: &[u8], mark: &str) -> Option<(String, usize)> {
    let start = memchr::memmem::find(bytes, mark.as_bytes())? + mark.len();
    let end = start + memchr::memchr(b'\n', &bytes[start..])?;
    Some((String::from_utf8_lossy(&bytes[start..end]).trim().to_owned(), end + 1))
}

/// The facts of an answer that is `ok`.
///
/// # Errors
/// The reason of one that is `fail`, as the error that the system gave there.
pub fn facts(answer: &str) -> io::Result<&str> {
    match answer.split_once(' ').unwrap_or((answer, "")) {
        ("ok", facts) => Ok(facts),
        ("fail", reason) => Err(error(reason)),
        _ => Err(io::Error::other(format!("the other machine answered {answer:?}, which makes no sense here"))),
    }
}

/// A file's facts from `KIND SIZE [SECONDS[.FRACTION]]`.
///
/// # Errors
/// They are none: what stands there is an error's text.
pub fn stat(facts: &str) -> io::Result<FileStat> {
    let mut words = facts.split_ascii_whitespace();
    let kind = words.next().and_then(kind);
    let len = words.next().and_then(|word| word.parse().ok());
    match (kind, len) {
        (Some(kind), Some(len)) => Ok(FileStat { kind, len, modified: words.next().and_then(time) }),
        (Some(kind), None) if kind != FileKind::File => Ok(FileStat { kind, len: 0, modified: None }),
        _ => Err(error(facts)),
    }
}

/// The kind that a word of the scripts means.
#[must_use]
pub fn kind(word: &str) -> Option<FileKind> {
    Some(match word {
        "file" => FileKind::File,
        "folder" => FileKind::Folder,
        "pipe" | "socket" | "device" => FileKind::Special,
        _ => return None,
    })
}

/// Seconds since 1970, perhaps with a fraction. A text of digits keeps nanoseconds, which a float would lose.
fn time(word: &str) -> Option<SystemTime> {
    let (seconds, fraction) = word.split_once('.').unwrap_or((word, ""));
    let nanos: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let since = Duration::new(seconds.parse().ok()?, nanos.parse().ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// The error that a program there reported: one of the system's where its text says so.
#[must_use]
pub fn error(reason: &str) -> io::Error {
    let reason = reason.trim();
    match reason.strip_prefix("kind ") {
        Some("folder") => return Errno::ISDIR.into(),
        Some(kind) => {
            let what = if kind == "pipe" { "named pipe" } else { kind };
            return io::Error::new(io::ErrorKind::InvalidInput, format!("not a regular file but a {what}"));
        }
        None => {}
    }
    match KNOWN.iter().find(|(text, _)| reason.contains(text)) {
        Some((_, errno)) => (*errno).into(),
        None if reason.is_empty() => io::Error::other("it failed on the other machine without a reason"),
        None => io::Error::other(reason.to_owned()),
    }
}

/// The texts of system errors in the C locale, which are the same on all systems.
const KNOWN: [(&str, Errno); 12] = [
    ("No such file or directory", Errno::NOENT),
    ("Permission denied", Errno::ACCESS),
    ("Operation not permitted", Errno::PERM),
    ("Not a directory", Errno::NOTDIR),
    ("Is a directory", Errno::ISDIR),
    ("File exists", Errno::EXIST),
    ("File name too long", Errno::NAMETOOLONG),
    ("Too many levels of symbolic links", Errno::LOOP),
    ("No space left on device", Errno::NOSPC),
    ("Disk quota exceeded", Errno::DQUOT),
    ("Read-only file system", Errno::ROFS),
    ("Input/output error", Errno::IO),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_behind_a_greeting_and_only_whole() {
        let table = [
            ("M1 ok a b\nrest", Some(("ok a b", 10))),
            ("Welcome!\nno line end M1 ok\n", Some(("ok", 27))),
            ("M1 ok a", None),
            ("Welcome!\n", None),
        ];
        for (bytes, wanted) in table {
            let got = find(bytes.as_bytes(), "M1");
            assert_eq!(got.as_ref().map(|(text, end)| (text.as_str(), *end)), wanted);
        }
    }

    #[test]
    fn facts_and_failures_are_read() {
        let at = |nanos| Some(SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos));
        let file = |len, modified| FileStat { kind: FileKind::File, len, modified };
        let table = [
            ("ok file 5 1.000000007", file(5, at(1_000_000_007))),
            ("ok file 5 2", file(5, at(2_000_000_000))),
            ("ok file 5 3.25", file(5, at(3_250_000_000))),
            ("ok file 5", file(5, None)),
            ("ok pipe", FileStat { kind: FileKind::Special, len: 0, modified: None }),
        ];
        for (answer, wanted) in table {
            assert_eq!(facts(answer).and_then(stat).unwrap(), wanted, "{answer}");
        }
        let failures = [
            ("fail ls: cannot access '/x': No such file or directory", io::ErrorKind::NotFound),
            ("fail cat: /x: Permission denied", io::ErrorKind::PermissionDenied),
            ("fail kind folder", io::ErrorKind::IsADirectory),
            ("fail kind pipe", io::ErrorKind::InvalidInput),
            ("fail dd: odd", io::ErrorKind::Other),
            ("ok file", io::ErrorKind::Other),
            ("nonsense", io::ErrorKind::Other),
        ];
        for (answer, kind) in failures {
            assert_eq!(facts(answer).and_then(stat).unwrap_err().kind(), kind, "{answer}");
        }
    }
}
