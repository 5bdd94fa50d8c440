//! The process's surroundings, read once.
//!
//! Nothing else of the command line and the resources reads the environment: what they need is given to them.

use std::{
    collections::HashMap,
    fmt, io,
    path::{Path, PathBuf},
};

use super::{args::Launch, mode::Terminals, paths};

/// The name that the user's folder has in the home folder.
const USER_FOLDER: &str = ".troupe";

/// Where the program runs and what the environment says.
#[derive(Clone)]
pub struct Environment {
    /// The words after the program's name. Bytes that are no UTF-8 are replaced.
    pub argv: Vec<String>,
    /// The folder that the program was started in.
    pub cwd: PathBuf,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The user's folder: settings, keys, sessions (`TROUPE_DIR`, else `~/.troupe`).
    pub user_dir: PathBuf,
    /// Where sessions are kept (`TROUPE_SESSION_DIR`); `--session-dir` comes before it, the settings after it.
    pub session_dir: Option<PathBuf>,
    /// No use of the network but model calls (`--offline` anywhere, or `TROUPE_OFFLINE`).
    pub offline: bool,
    /// Ask providers to keep prompt caches long (`TROUPE_CACHE_RETENTION=long`).
    pub long_cache_retention: bool,
    /// The folder with the program's documentation, where it was installed with the program.
    pub docs: Option<PathBuf>,
    variables: HashMap<String, String>,
}

/// The documentation that was installed with the program `exe`: in `docs` beside it, or in `share/doc/troupe` beside its
/// folder.
fn docs_of(exe: &Path) -> Option<PathBuf> {
    let folder = exe.parent()?;
    let beside = [folder.join("docs"), folder.parent()?.join("share/doc/troupe")];
    beside.into_iter().find(|docs| docs.join("settings.md").is_file())
}

/// Surroundings in which the program cannot run.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// The folder was deleted or cannot be read.
    #[error("The current folder cannot be used ({0}); change to a folder that exists and start again")]
    NoCwd(#[source] io::Error),
    /// Nothing says where the user's folder is.
    #[error("There is no home folder: set HOME, or TROUPE_DIR to the folder for settings and sessions")]
    NoUserDir,
}

impl Environment {
    /// The surroundings of this process.
    ///
    /// # Errors
    /// The current folder is gone, or there is no place for the user's folder.
    pub fn of_process() -> Result<Self, EnvironmentError> {
        let lossy = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        let cwd = std::env::current_dir().map_err(EnvironmentError::NoCwd)?;
        // Values that are no UTF-8 are replaced like arguments: they are shown and compared, never opened as they are.
        let variables = std::env::vars_os().map(|(name, value)| (lossy(name), lossy(value))).collect();
        let argv = std::env::args_os().skip(1).map(lossy).collect();
        let environment = Self::new(argv, cwd, std::env::home_dir(), variables)?;
        let docs = std::env::current_exe().ok().and_then(|exe| docs_of(&exe));
        Ok(Self { docs, ..environment })
    }

    /// Surroundings from their parts; `home` counts where `HOME` is not set.
    ///
    /// # Errors
    /// There is no place for the user's folder.
    pub fn new(
        argv: Vec<String>,
        cwd: PathBuf,
        home: Option<PathBuf>,
        variables: HashMap<String, String>,
    ) -> Result<Self, EnvironmentError> {
        let variable = |name: &str| variables.get(name).map(String::as_str).filter(|value| !value.is_empty());
        let home = variable("HOME").map(PathBuf::from).or(home.filter(|home| !home.as_os_str().is_empty()));
        let folder = |name: &str| variable(name).map(|text| paths::absolute(text, &cwd, home.as_deref()));
        let user_dir = folder("TROUPE_DIR").or_else(|| home.as_deref().map(|home| home.join(USER_FOLDER)));
        let offline = argv.iter().any(|word| word == "--offline") || variable("TROUPE_OFFLINE").is_some_and(is_yes);
        Ok(Self {
            user_dir: user_dir.ok_or(EnvironmentError::NoUserDir)?,
            session_dir: folder("TROUPE_SESSION_DIR"),
            offline,
            long_cache_retention: variable("TROUPE_CACHE_RETENTION") == Some("long"),
            argv,
            cwd,
            home,
            docs: None,
            variables,
        })
    }

    /// A variable of the environment; none when it is empty. Model files name variables that hold keys.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Where the flags' paths start.
    #[must_use]
    pub fn launch(&self, terminals: Terminals) -> Launch<'_> {
        Launch { cwd: &self.cwd, home: self.home.as_deref(), terminals }
    }

    /// What every process that the program starts finds in its environment: that an agent runs it, and that it is to
    /// leave the network alone too.
    #[must_use]
    pub fn for_children(&self) -> Vec<(&'static str, &'static str)> {
        let mut variables = vec![("AI_AGENT", "troupe"), ("TROUPE_AGENT", "1")];
        if self.offline {
            variables.extend([("TROUPE_OFFLINE", "1"), ("TROUPE_SKIP_VERSION_CHECK", "1")]);
        }
        variables
    }
}

/// The environment holds keys, so only the names of what was read from it are shown.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("cwd", &self.cwd)
            .field("home", &self.home)
            .field("user_dir", &self.user_dir)
            .field("session_dir", &self.session_dir)
            .field("offline", &self.offline)
            .finish_non_exhaustive()
    }
}

/// Keeps the environment of this process, and its memory, from other processes of the same user: the commands that a
/// model runs get no keys, and must not find them in `/proc/PPID/environ` either. The system then lets root alone look
/// (so for root this changes nothing), writes no core file, and debuggers of the user cannot attach. What we start is as
/// open as ever.
pub fn hide() {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Err(error) = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable) {
        tracing::warn!(%error, "the environment cannot be hidden from commands");
    }
}

fn is_yes(value: &str) -> bool {
    ["1", "true", "yes"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(argv: &[&str], variables: &[(&str, &str)]) -> Result<Environment, EnvironmentError> {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        let variables = variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Environment::new(argv, "/w".into(), None, variables)
    }

    #[test]
    fn folders_come_from_the_variables_or_from_home() {
        // variables, user folder, session folder
        type Row<'a> = (&'a [(&'a str, &'a str)], &'a str, Option<&'a str>);
        let table: &[Row] = &[
            (&[("HOME", "/h")], "/h/.troupe", None),
            (&[("HOME", "/h"), ("TROUPE_DIR", "~/x")], "/h/x", None),
            (&[("HOME", "/h"), ("TROUPE_DIR", "")], "/h/.troupe", None),
            (&[("TROUPE_DIR", "rel/../d"), ("TROUPE_SESSION_DIR", "/s")], "/w/d", Some("/s")),
        ];
        for (variables, user_dir, session_dir) in table {
            let got = environment(&[], variables).unwrap();
            assert_eq!(got.user_dir, PathBuf::from(user_dir), "{variables:?}");
            assert_eq!(got.session_dir, session_dir.map(PathBuf::from), "{variables:?}");
        }
        assert!(matches!(environment(&[], &[]), Err(EnvironmentError::NoUserDir)));
    }

    #[test]
    fn documentation_is_found_where_the_program_was_installed() {
        let dir = tempfile::tempdir().unwrap();
        let exe = dir.path().join("bin/troupe");
        assert_eq!(docs_of(&exe), None);
        for docs in ["share/doc/troupe", "bin/docs"].map(|docs| dir.path().join(docs)) {
            std::fs::create_dir_all(&docs).unwrap();
            std::fs::write(docs.join("settings.md"), "").unwrap();
            assert_eq!(docs_of(&exe), Some(docs));
        }
    }

    #[test]
    fn offline_is_a_flag_anywhere_or_a_variable_and_children_hear_of_it() {
        let table: &[(&[&str], &str, bool)] = &[
            (&[], "", false),
            (&["list", "--offline"], "", true),
            (&["--", "--offline"], "", true),
            (&[], "1", true),
            (&[], "TRUE", true),
            (&[], "Yes", true),
            (&[], "0", false),
            (&[], "on", false),
        ];
        for (argv, value, offline) in table {
            let got = environment(argv, &[("HOME", "/h"), ("TROUPE_OFFLINE", value)]).unwrap();
            assert_eq!(got.offline, *offline, "{argv:?} {value}");
            assert_eq!(got.for_children().contains(&("TROUPE_OFFLINE", "1")), *offline);
            assert!(got.for_children().contains(&("TROUPE_AGENT", "1")));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn fc_105_the_environment_is_hidden_from_other_processes() {
        use rustix::process::{DumpableBehavior, dumpable_behavior};
        hide();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    }

    #[test]
    fn fc_106_keys_of_the_environment_are_not_shown() {
        let got = environment(&["--api-key", "sk-arg"], &[("HOME", "/h"), ("SOME_KEY", "sk-env")]).unwrap();
        assert_eq!(got.variable("SOME_KEY"), Some("sk-env"));
        assert!(!format!("{got:?}").contains("sk-"));
    }
}
