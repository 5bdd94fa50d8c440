//! Programs that the tools use, and walls around them.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use super::Finding;
use crate::tui::working::WorkContext;

/// Programs, what is missing without them, and whether much is.
const PROGRAMS: [(&str, &str, bool); 4] = [
    ("bash", "Install it: shell commands run in it. The setting shellPath names another shell.", true),
    ("git", "Install it: /diff, the footer's branch and undo of commands use it.", false),
    ("gh", "Install it and run `gh auth login` if you want /share.", false),
    ("ssh", "Install it if you want to work on other machines with --ssh.", false),
];

pub(super) fn look(context: &WorkContext) -> Vec<Finding> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut findings: Vec<_> =
        PROGRAMS.iter().map(|(name, advice, much)| program(&folders, name, advice, *much)).collect();
    // The tools grep and find search by themselves.
    findings.push(Finding::good("searching: built in"));
    let plan = &context.shared.config.plan_operations;
    plan.prepare();
    let mode = context.shared.config.permissions.mode().as_str();
    findings.push(Finding::good(format!("permissions: {mode}")));
    findings.push(match plan.get() {
        Some(_) => Finding::good("sandbox: this system can confine commands (docs/sandbox.md)"),
        None => Finding::warning(
            "sandbox: this system cannot confine commands",
            "Linux 5.13 or newer with Landlock can, and macOS; or run Troupe in a container.",
        ),
    });
    findings
}

fn program(folders: &[PathBuf], name: &str, advice: &str, much: bool) -> Finding {
    let found = folders.iter().map(|folder| folder.join(name)).find(|file| is_program(file));
    match found {
        Some(file) => Finding::good(format!("{name}: {}", file.display())),
        None if much => Finding::problem(format!("{name}: not on the PATH"), advice),
        None => Finding::warning(format!("{name}: not on the PATH"), advice),
    }
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tui::work::doctor::Health;

    #[test]
    fn a_program_is_a_file_that_can_be_run_on_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let folders = [dir.path().join("nowhere"), dir.path().to_owned()];
        assert_eq!(program(&folders, "tool", "Install it.", true).health, Health::Problem);
        let file = dir.path().join("tool");
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(program(&folders, "tool", "Install it.", false).health, Health::Warning);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(program(&folders, "tool", "Install it.", true).health, Health::Good);
    }
}
