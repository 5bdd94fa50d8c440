//! How far the agent is confined: from flags, the user's settings and the project's.
//!
//! The user may do anything. A project, once it is trusted, may only tighten: it may turn the sandbox on or up, take the
//! network away and hide more, and whatever else it says is ignored with a warning.

use std::path::{Path, PathBuf};

use super::{args::SandboxRequest, paths};
use crate::{
    store::settings::sandbox::SandboxSettings,
    tools::operations::sandbox::{Grants, SandboxMode},
};

/// What was decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// How far.
    pub mode: SandboxMode,
    /// What is allowed and forbidden beyond the mode.
    pub grants: Grants,
    /// What of the project's settings does not count.
    pub ignored: Vec<String>,
}

/// Decides. Paths of settings start at `cwd` unless they are absolute or begin with `~`.
#[must_use]
pub fn decide(
    flags: &SandboxRequest,
    user: &SandboxSettings,
    project: &SandboxSettings,
    cwd: &Path,
    home: Option<&Path>,
) -> Decision {
    let mode = |settings: &SandboxSettings| settings.mode.as_deref().and_then(|word| word.parse().ok());
    let of_user: SandboxMode = mode(user).unwrap_or_default();
    let of_project: SandboxMode = mode(project).unwrap_or_default();
    let absolute =
        |paths: &[String]| paths.iter().map(|text| paths::absolute(text, cwd, home)).collect::<Vec<PathBuf>>();
    let network = user.network.unwrap_or(false) && project.network != Some(false);
    let unix_sockets = user.unix_sockets.unwrap_or(false) && project.unix_sockets != Some(false);
    Decision {
        // A flag is the user's word for this run.
        mode: flags.mode.unwrap_or_else(|| of_user.max(of_project)),
        grants: Grants {
            network: flags.network || network,
            unix_sockets,
            writable: absolute(&user.writable).into_iter().chain(flags.writable.iter().cloned()).collect(),
            readable: absolute(&user.readable),
            denied: absolute(&user.denied).into_iter().chain(absolute(&project.denied)).collect(),
        },
        ignored: ignored(project, of_user, user),
    }
}

/// What of a project's settings would loosen, by name.
fn ignored(project: &SandboxSettings, of_user: SandboxMode, user: &SandboxSettings) -> Vec<String> {
    let loosens = |field: Option<bool>, of_user: Option<bool>| field == Some(true) && of_user != Some(true);
    let mode: Option<SandboxMode> = project.mode.as_deref().and_then(|word| word.parse().ok());
    let table = [
        ("mode", mode.is_some_and(|mode| mode < of_user)),
        ("network", loosens(project.network, user.network)),
        ("unixSockets", loosens(project.unix_sockets, user.unix_sockets)),
        ("writable", !project.writable.is_empty()),
        ("readable", !project.readable.is_empty()),
    ];
    let names = table.into_iter().filter(|(_, loosens)| *loosens);
    names
        .map(|(name, _)| {
            format!("The project's setting sandbox.{name} is ignored: a project can only tighten the sandbox.")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(flags: &SandboxRequest, user: &SandboxSettings, project: &SandboxSettings) -> Decision {
        decide(flags, user, project, Path::new("/w"), Some(Path::new("/h")))
    }

    fn settings(mode: &str) -> SandboxSettings {
        SandboxSettings { mode: Some(mode.to_owned()).filter(|mode| !mode.is_empty()), ..SandboxSettings::default() }
    }

    #[test]
    fn the_flag_comes_first_and_a_project_only_tightens() {
        use SandboxMode::{Off, ReadOnly, Workspace};
        // flag, user, project, mode, how much is ignored
        let table = [
            (None, "", "", Off, 0),
            (None, "workspace", "", Workspace, 0),
            (None, "", "workspace", Workspace, 0),
            (None, "workspace", "read-only", ReadOnly, 0),
            (None, "read-only", "workspace", ReadOnly, 1),
            (None, "workspace", "off", Workspace, 1),
            (Some(Off), "workspace", "read-only", Off, 0),
            (Some(Workspace), "", "", Workspace, 0),
            (Some(Workspace), "read-only", "", Workspace, 0),
        ];
        for (flag, user, project, wanted, ignored) in table {
            let flags = SandboxRequest { mode: flag, ..SandboxRequest::default() };
            let got = decision(&flags, &settings(user), &settings(project));
            assert_eq!(got.mode, wanted, "{flag:?} {user} {project}");
            assert_eq!(got.ignored.len(), ignored, "{flag:?} {user} {project}");
        }
    }

    #[test]
    fn a_project_opens_nothing_and_hides_more() {
        let user = SandboxSettings {
            network: Some(true),
            writable: vec!["~/cache".into(), "out".into()],
            readable: vec!["~/.npmrc".into()],
            denied: vec!["/srv/keys".into()],
            ..settings("workspace")
        };
        let project = SandboxSettings {
            network: Some(true),
            unix_sockets: Some(true),
            writable: vec!["/".into()],
            readable: vec!["~/.ssh".into()],
            denied: vec!["secrets".into()],
            ..SandboxSettings::default()
        };
        let flags = SandboxRequest { writable: vec!["/data".into()], ..SandboxRequest::default() };
        let got = decision(&flags, &user, &project);
        let wanted = Grants {
            network: true,
            unix_sockets: false,
            writable: vec!["/h/cache".into(), "/w/out".into(), "/data".into()],
            readable: vec!["/h/.npmrc".into()],
            denied: vec!["/srv/keys".into(), "/w/secrets".into()],
        };
        assert_eq!(got.grants, wanted);
        let names = ["unixSockets", "writable", "readable"];
        assert_eq!(got.ignored.len(), names.len());
        for (text, name) in got.ignored.iter().zip(names) {
            assert!(text.contains(&format!("sandbox.{name} ")), "{text}");
        }
        let off = SandboxSettings { network: Some(false), ..project };
        assert!(!decision(&SandboxRequest::default(), &user, &off).grants.network);
        let flags = SandboxRequest { network: true, ..SandboxRequest::default() };
        assert!(decision(&flags, &user, &off).grants.network, "the user's word for this run");
    }
}
