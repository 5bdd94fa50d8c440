//! Where people keep what no agent should read.

use std::{
    ffi::OsStr,
    path::{Component, Path, PathBuf},
};

use super::Access;

/// Whose secrets.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// The user's home folder.
    pub folder: Option<&'a Path>,
    /// The user's folder of this program: keys, sessions, settings.
    pub user_dir: &'a Path,
}

/// Places in the home folder with keys, passwords and tokens.
const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/git/credentials",
    ".config/op",
    ".config/rclone",
    ".config/sops",
    ".config/age",
    ".config/github-copilot",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".yarnrc.yml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".pgpass",
    ".my.cnf",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".pki",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".bash_history",
    ".zsh_history",
    ".local/share/fish/fish_history",
    ".python_history",
    // Other agents.
    ".troupe",
    ".pi/agent",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".local/share/opencode/auth.json",
];

/// Places of the whole system.
const OF_THE_SYSTEM: &[&str] = &["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d"];

/// What the user's folder holds that agents are meant to read. Everything else in it is secret, also what a later
/// version puts there.
const SHOWN: &[&str] = &["AGENTS.md", "CLAUDE.md", "skills", "prompts", "themes", "extensions", "npm", "git"];

/// The rules for secret places.
pub fn rules(home: &Home<'_>) -> Vec<(PathBuf, Access)> {
    let of_home = home.folder.into_iter().flat_map(|folder| SECRETS.iter().map(|name| folder.join(name)));
    let hidden = of_home.chain(OF_THE_SYSTEM.iter().map(PathBuf::from)).chain([home.user_dir.to_owned()]);
    let shown = SHOWN.iter().map(|name| home.user_dir.join(name));
    hidden.map(|path| (path, Access::Hidden)).chain(shown.map(|path| (path, Access::Read))).collect()
}

/// Whether the path is about a process (`/proc/NUMBER/…`): its environment has keys, and its links lead anywhere.
pub fn is_of_a_process(real: &Path) -> bool {
    let mut parts = real.components();
    let is = |part: Option<Component<'_>>, name: &str| part.is_some_and(|part| part.as_os_str() == OsStr::new(name));
    is(parts.next(), "/")
        && is(parts.next(), "proc")
        && parts.next().and_then(|part| part.as_os_str().to_str()).is_some_and(|name| name.parse::<u32>().is_ok())
}
