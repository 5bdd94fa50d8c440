//! Which machine and folder a text names.

use std::{fmt, str::FromStr};

/// A machine that ssh can reach, and a folder there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// `[user@]host` as ssh gets it: a name of its configuration or of the network, or an address.
    pub destination: String,
    /// The port; none for what ssh is configured to use.
    pub port: Option<u16>,
    /// The folder; none for the home folder, from which relative ones start.
    pub folder: Option<String>,
}

/// A text that names no machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} names no machine ({reason}): write [user@]host[:folder] or ssh://[user@]host[:port][/folder]")]
pub struct TargetError {
    text: String,
    reason: &'static str,
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let parsed = match text.strip_prefix("ssh://") {
            Some(rest) => from_url(rest),
            None => from_words(text),
        };
        parsed.and_then(check).map_err(|reason| TargetError { text: text.to_owned(), reason })
    }
}

impl fmt::Display for Target {
    /// The machine, without the folder.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.destination)?;
        self.port.map_or(Ok(()), |port| write!(f, ", port {port}"))
    }
}

/// `[user@]host[:folder]`; an IPv6 address stands in brackets.
fn from_words(text: &str) -> Result<Target, &'static str> {
    let (user, rest) = user(text);
    let (host, folder) = match rest.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or("a bracket is not closed")?;
            (
                host,
                rest.strip_prefix(':').or_else(|| rest.is_empty().then_some("")).ok_or("no colon after the bracket")?,
            )
        }
        None => rest.split_once(':').unwrap_or((rest, "")),
    };
    Ok(Target { destination: joined(user, host), port: None, folder: given(folder) })
}

/// What follows `ssh://`.
fn from_url(rest: &str) -> Result<Target, &'static str> {
    let (place, folder) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
    let (user, place) = user(place);
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or("a bracket is not closed")?;
            (host, rest.strip_prefix(':'))
        }
        None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
    };
    let port =
        port.map(|port| port.parse().ok().filter(|port| *port > 0).ok_or("the port is no number")).transpose()?;
    // As git has it: `/~/x` starts in the home folder.
    let folder = folder.strip_prefix("/~").map_or_else(|| folder.to_owned(), |below| format!("~{below}"));
    Ok(Target { destination: joined(user, host), port, folder: given(&folder) })
}

fn user(text: &str) -> (Option<&str>, &str) {
    // A folder may have an @ in its name: only one before the host's end counts.
    match text.split_once('@') {
        Some((user, rest)) if !user.contains([':', '/']) => (Some(user), rest),
        _ => (None, text),
    }
}

fn joined(user: Option<&str>, host: &str) -> String {
    user.map_or_else(|| host.to_owned(), |user| format!("{user}@{host}"))
}

fn given(folder: &str) -> Option<String> {
    (!folder.is_empty()).then(|| folder.to_owned())
}

/// ssh would take a word that begins with a dash for an option.
fn check(target: Target) -> Result<Target, &'static str> {
    let Target { destination, folder, .. } = &target;
    let (user, host) = user(destination);
    if host.is_empty() || user == Some("") {
        return Err("a name is missing");
    }
    if destination.starts_with('-') || host.starts_with('-') {
        return Err("a name begins with a dash");
    }
    if destination.chars().any(|c| c.is_whitespace() || c.is_control() || c == '/') {
        return Err("a name holds a character that none has");
    }
    if folder.as_ref().is_some_and(|folder| folder.contains('\0')) {
        return Err("the folder holds a NUL character");
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_and_folders_are_named_as_scp_and_git_do_it() {
        // text, destination, port, folder
        let table = [
            ("box", "box", None, None),
            ("box:", "box", None, None),
            ("me@box:src/app", "me@box", None, Some("src/app")),
            ("me@box:/srv/a:b@c", "me@box", None, Some("/srv/a:b@c")),
            ("box:/a@b", "box", None, Some("/a@b")),
            ("box:~/x y", "box", None, Some("~/x y")),
            ("me@[::1]:/x", "me@::1", None, Some("/x")),
            ("[fe80::1]", "fe80::1", None, None),
            ("ssh://box", "box", None, None),
            ("ssh://me@box:2222", "me@box", Some(2222), None),
            ("ssh://me@box:2222/srv/app", "me@box", Some(2222), Some("/srv/app")),
            ("ssh://box/~/app", "box", None, Some("~/app")),
            ("ssh://[::1]:22/x", "::1", Some(22), Some("/x")),
        ];
        for (text, destination, port, folder) in table {
            let wanted = Target { destination: destination.into(), port, folder: folder.map(str::to_owned) };
            assert_eq!(text.parse(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn what_ssh_would_take_for_an_option_is_no_machine() {
        for text in
            ["", ":/x", "@box", "me@", "-oProxyCommand=x", "me@-x", "a b", "ssh://box:x/", "ssh://", "[::1", "a/b"]
        {
            let parsed = text.parse::<Target>();
            assert!(parsed.is_err(), "{text}: {parsed:?}");
        }
        let error = "-oProxyCommand=x".parse::<Target>().unwrap_err().to_string();
        assert!(error.contains("begins with a dash") && error.contains("[user@]host[:folder]"), "{error}");
    }
}
