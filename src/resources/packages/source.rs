//! Where a package comes from, as settings and commands write it.

use std::{
    fmt,
    path::{Component, Path, PathBuf},
};

use crate::store::paths::absolute;

/// A package's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageSource {
    /// `npm:name` or `npm:name@version`.
    Npm {
        /// The name, `@scope/` included.
        name: String,
        /// The version or range.
        version: Option<String>,
    },
    /// `git:host/path`, `git:user@host:path` or an address of `https`, `http`, `ssh` or `git`, with `@ref` behind it.
    Git {
        /// What `git clone` takes.
        url: String,
        /// The host.
        host: String,
        /// The repository's path there, without `.git`.
        path: String,
        /// The branch, tag or commit.
        reference: Option<String>,
    },
    /// A folder that is used where it lies: a path, or `file:` and a path.
    Local(String),
}

/// A source that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no source of a package: {reason}")]
pub struct BadSource {
    /// What was written.
    pub text: String,
    /// What is wrong.
    pub reason: &'static str,
}

impl PackageSource {
    /// Reads a source. Names and paths that would lead out of the folder that packages are installed in are refused.
    ///
    /// # Errors
    /// See [`BadSource`].
    pub fn parse(text: &str) -> Result<Self, BadSource> {
        let bad = |reason| BadSource { text: text.to_owned(), reason };
        if let Some(spec) = text.strip_prefix("npm:") {
            let at = spec.get(1..).and_then(|rest| rest.find('@')).map(|at| at + 1);
            let (name, version) = at.map_or((spec, None), |at| (&spec[..at], Some(spec[at + 1..].to_owned())));
            if !is_npm_name(name) {
                return Err(bad("expected npm: and a package's name, such as npm:name or npm:@scope/name@1.0.0"));
            }
            return Ok(Self::Npm { name: name.to_owned(), version: version.filter(|version| !version.is_empty()) });
        }
        let schemes = ["https://", "http://", "ssh://", "git://"];
        if text.starts_with("git:") || schemes.iter().any(|scheme| text.starts_with(scheme)) {
            return git(text).ok_or_else(|| bad("expected a host and a repository, such as git:host/owner/name@v1"));
        }
        let path = text.strip_prefix("file://").or_else(|| text.strip_prefix("file:")).unwrap_or(text);
        if path.is_empty() || path.contains('\0') {
            return Err(bad("expected a path, npm:name, or git:host/path"));
        }
        Ok(Self::Local(path.to_owned()))
    }

    /// The folder that the package lies in when it is installed for `base`: the user's folder or the project's own.
    #[must_use]
    pub fn folder(&self, base: &Path, home: Option<&Path>) -> PathBuf {
        match self {
            Self::Npm { name, .. } => base.join("npm/node_modules").join(name),
            Self::Git { host, path, .. } => base.join("git").join(host).join(path),
            Self::Local(path) => match (Path::new(path).strip_prefix("~"), home) {
                (Ok(rest), Some(home)) => absolute(rest, home),
                _ => absolute(Path::new(path), base),
            },
        }
    }

    /// What two sources of one package have in common: the name at npm, host and path, the folder.
    #[must_use]
    pub fn identity(&self, base: &Path, home: Option<&Path>) -> String {
        match self {
            Self::Npm { name, .. } => format!("npm:{name}"),
            Self::Git { host, path, .. } => format!("git:{host}/{path}"),
            Self::Local(_) => self.folder(base, home).to_string_lossy().into_owned(),
        }
    }
}

impl fmt::Display for PackageSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Npm { name, version: None } => write!(f, "npm:{name}"),
            Self::Npm { name, version: Some(version) } => write!(f, "npm:{name}@{version}"),
            Self::Git { host, path, reference: None, .. } => write!(f, "git:{host}/{path}"),
            Self::Git { host, path, reference: Some(reference), .. } => write!(f, "git:{host}/{path}@{reference}"),
            Self::Local(path) => f.write_str(path),
        }
    }
}

fn is_npm_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
        !part.is_empty() && !part.starts_with(['.', '-']) && part.chars().all(is_plain)
    };
    match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| is_part(scope) && is_part(name)),
        None => is_part(name),
    }
}

fn git(text: &str) -> Option<PackageSource> {
    let text = text.strip_prefix("git:").filter(|rest| !rest.starts_with("//")).unwrap_or(text);
    let (scheme, rest) = text.split_once("://").map_or((None, text), |(scheme, rest)| (Some(scheme), rest));
    // What stands before the host may hold an @ too: `git@host:path@ref`.
    let (user, rest) = match rest.split_once('@') {
        Some((user, rest)) if !user.contains(['/', ':']) || (scheme.is_some() && !user.contains('/')) => {
            (Some(user), rest)
        }
        _ => (None, rest),
    };
    let is_scp = scheme.is_none() && rest.find(':').is_some_and(|at| !rest[..at].contains('/'));
    let (host, path) = rest.split_once(if is_scp { ':' } else { '/' })?;
    let (path, reference) = match path.split_once('@') {
        Some((path, reference)) => (path, Some(reference.to_owned()).filter(|text| !text.is_empty())),
        None => (path, None),
    };
    let path = path.trim_end_matches('/');
    let address = match (scheme, user) {
        (Some(scheme), Some(user)) => format!("{scheme}://{user}@{host}/{path}"),
        (Some(scheme), None) => format!("{scheme}://{host}/{path}"),
        (None, user) if is_scp => format!("{}{host}:{path}", user.map(|user| format!("{user}@")).unwrap_or_default()),
        (None, _) => format!("https://{host}/{path}"),
    };
    let path = path.strip_suffix(".git").unwrap_or(path);
    // `host:port` is a fine name for a folder.
    let is_safe = |text: &str| {
        let inside = Path::new(text).components().all(|part| matches!(part, Component::Normal(_)));
        inside && !text.is_empty() && !text.starts_with(['-', '/']) && !text.contains(['\\', '\0'])
    };
    let is_option = reference.as_deref().is_some_and(|reference| reference.starts_with('-'));
    if !is_safe(host) || host.contains('/') || !is_safe(path) || is_option || path.contains(char::is_whitespace) {
        return None;
    }
    Some(PackageSource::Git { url: address, host: host.to_owned(), path: path.to_owned(), reference })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_known_by_how_they_begin() {
        // text, identity, folder, what git clones
        let table = [
            ("npm:foo", "npm:foo", "/u/npm/node_modules/foo", ""),
            ("npm:@s/foo@^1.2", "npm:@s/foo", "/u/npm/node_modules/@s/foo", ""),
            ("git:github.com/o/r", "git:github.com/o/r", "/u/git/github.com/o/r", "https://github.com/o/r"),
            ("git:github.com/o/r.git@v1", "git:github.com/o/r", "/u/git/github.com/o/r", "https://github.com/o/r.git"),
            ("git:git@host.org:o/r@main", "git:host.org/o/r", "/u/git/host.org/o/r", "git@host.org:o/r"),
            ("https://host/o/r@v1.0", "git:host/o/r", "/u/git/host/o/r", "https://host/o/r"),
            ("https://me:pw@host/o/r", "git:host/o/r", "/u/git/host/o/r", "https://me:pw@host/o/r"),
            ("ssh://git@host:22/o/r", "git:host:22/o/r", "/u/git/host:22/o/r", "ssh://git@host:22/o/r"),
            ("git://host/r", "git:host/r", "/u/git/host/r", "git://host/r"),
            ("./p/../q", "/u/q", "/u/q", ""),
            ("~/p", "/h/p", "/h/p", ""),
            ("file:/abs/p", "/abs/p", "/abs/p", ""),
            ("file:///abs/p", "/abs/p", "/abs/p", ""),
        ];
        let (base, home) = (Path::new("/u"), Some(Path::new("/h")));
        for (text, identity, folder, cloned) in table {
            let source = PackageSource::parse(text).unwrap();
            assert_eq!(source.identity(base, home), identity, "{text}");
            assert_eq!(source.folder(base, home), Path::new(folder), "{text}");
            if let PackageSource::Git { url, .. } = &source {
                assert_eq!(url, cloned, "{text}");
            }
        }
        assert_eq!(PackageSource::parse("git:h/o/r@v1").unwrap().to_string(), "git:h/o/r@v1");
    }

    #[test]
    fn fc_104_names_and_paths_do_not_lead_out_of_the_folder() {
        for text in [
            "",
            "file:",
            "npm:",
            "npm:..",
            "npm:../x",
            "npm:@s/../x",
            "npm:@s",
            "npm:a/b",
            "npm:-x",
            "git:",
            "git:host",
            "git:../x/y",
            "git:host/../../x",
            "https://host//etc",
            "https://host/a\\..\\b",
            "https://-oProxyCommand=x/r",
            "git:host/o/r@--upload-pack=x",
            "git:host/-x",
        ] {
            let error = PackageSource::parse(text).unwrap_err().to_string();
            assert!(error.contains("is no source of a package: expected"), "{text}: {error}");
        }
    }
}
