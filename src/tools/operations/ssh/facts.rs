//! What the other machine is and has: found out once, at the beginning.

use std::{ffi::OsString, os::unix::ffi::OsStringExt, path::PathBuf};

use super::{connection::Link, script::Script, scripts, trouble::SshError};

/// What is known of the other machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The folder of the session, without links.
    pub cwd: PathBuf,
    /// The home folder.
    pub home: PathBuf,
    /// What `uname -s` says: `Linux`, `Darwin`.
    pub system: String,
    /// How sizes and times of files are asked for: a shell function's body.
    pub stat: &'static str,
    /// What starts a command in a session of its own; empty where nothing can.
    pub group: &'static str,
    /// ripgrep.
    pub rg: Option<String>,
    /// fd.
    pub fd: Option<String>,
    /// `grep` knows Perl's regular expressions, which are nearest to ours.
    pub perl_grep: bool,
}

impl Facts {
    /// Asks the machine.
    ///
    /// # Errors
    /// It cannot be reached, is no Unix, or the folder is not there.
    pub async fn ask(link: &Link) -> Result<Self, SshError> {
        let target = link.target();
        let unusable = |words: String| SshError::Unusable { target: target.to_string(), words };
        let folder = target.folder.as_deref().unwrap_or_default();
        let script = link.script().set("d", folder).run(scripts::PRELUDE).run(scripts::HELLO);
        let mut channel = link.start(&script).await?;
        channel.answer().await.map_err(|error| match error.downcast::<SshError>() {
            Ok(error) => error,
            Err(error) if folder.is_empty() => unusable(format!("the home folder cannot be used: {error}")),
            Err(error) => unusable(format!("its folder {folder} cannot be used: {error}")),
        })?;
        let answer = channel.rest().await.map_err(|error| unusable(error.to_string()))?;
        parse(&answer).ok_or_else(|| unusable("it does not say what it is: only Unix systems can be used".to_owned()))
    }

    /// A script with the functions that look at files.
    #[must_use]
    pub fn file_script(&self, link: &Link) -> Script {
        link.script().run(scripts::PRELUDE).run(self.stat)
    }
}

/// The fields that [`scripts::HELLO`] prints.
fn parse(answer: &[u8]) -> Option<Facts> {
    let fields: Vec<&[u8]> = answer.strip_suffix(b"\0")?.split(|byte| *byte == 0).collect();
    let [cwd, home, system, stat, group, rg, fd, perl_grep] = fields.try_into().ok()?;
    let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let program = |bytes: &[u8]| Some(text(bytes)).filter(|text| text.starts_with('/'));
    Some(Facts {
        cwd: Some(path(cwd)).filter(|path| path.is_absolute())?,
        home: path(home),
        system: text(system),
        stat: match stat {
            b"gnu" => scripts::STAT_GNU,
            b"busybox" => scripts::STAT_BUSYBOX,
            b"bsd" => scripts::STAT_BSD,
            _ => scripts::STAT_NONE,
        },
        group: match group {
            b"setsid" => scripts::GROUP_SETSID,
            b"perl" => scripts::GROUP_PERL,
            _ => scripts::GROUP_NONE,
        },
        rg: program(rg),
        fd: program(fd),
        perl_grep: perl_grep == b"yes",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_off_the_answer_and_nonsense_is_refused() {
        let facts = parse(b"/srv/a\nb\0/u/me\0Darwin\0bsd\0perl\0/opt/homebrew/bin/rg\0\0no\0").unwrap();
        assert_eq!(facts.cwd, PathBuf::from("/srv/a\nb"));
        assert_eq!((facts.stat, facts.group), (scripts::STAT_BSD, scripts::GROUP_PERL));
        assert_eq!((facts.rg.as_deref(), facts.fd, facts.perl_grep), (Some("/opt/homebrew/bin/rg"), None, false));
        for nonsense in [&b""[..], b"\0", b"/a\0/b\0Linux\0", b"C:\\\0\0\0\0\0\0\0\0"] {
            assert_eq!(parse(nonsense), None);
        }
    }
}
