//! Configuration, folders, and the session on the disk.

use std::{
    fs::OpenOptions,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use super::{Finding, Patient};
use crate::{
    store::{settings::Settings, trust},
    tui::{keys::Keymap, surroundings::Surroundings, working::WorkContext},
};

pub(super) fn look(context: &WorkContext, patient: &Patient) -> Vec<Finding> {
    let surroundings = &context.surroundings;
    let cwd = &context.shared.config.cwd;
    let mut findings = configuration(surroundings, context.project_dir());
    findings.extend(
        context
            .shared
            .config
            .catalogue
            .now()
            .problems()
            .iter()
            .map(|problem| Finding::problem(problem.to_string(), "Mend the line; /reload reads the file again.")),
    );
    findings.push(folder("your folder", &surroundings.user_dir));
    findings.push(folder("sessions", &surroundings.sessions.path));
    findings.extend(secret(&surroundings.user_dir.join("auth.json")));
    findings.push(trusted(surroundings, cwd, context.shared.config.resources.is_trusted()));
    findings.push(session(context.shared.place.file().map(PathBuf::from).as_deref(), patient.unsaved.as_deref()));
    findings
}

/// The settings of the user and of a trusted project, and the keys.
fn configuration(surroundings: &Surroundings, project: Option<PathBuf>) -> Vec<Finding> {
    let user = surroundings.user_dir.join("settings.json");
    let project = project.map(|dir| dir.join("settings.json"));
    let settings = Settings::load(&user, project.as_deref());
    let (_, keys) = Keymap::load(&surroundings.user_dir.join("keybindings.json"));
    let problems = settings.problems();
    let problems: Vec<_> = problems.into_iter().chain(&keys).collect();
    if problems.is_empty() {
        return vec![Finding::good("settings.json, keybindings.json: no problem")];
    }
    let finding = |problem: &&crate::store::document::DocumentError| {
        Finding::problem(problem.to_string(), "Mend the line; /reload reads the file again.")
    };
    problems.iter().map(finding).collect()
}

/// Whether a folder can be written, and by its owner alone.
fn folder(what: &str, path: &Path) -> Finding {
    let shown = path.display();
    let metadata = match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Finding::good(format!("{what}: {shown} will be made when it is needed"));
        }
        Err(error) => return Finding::problem(format!("{what}: {shown}: {error}"), "Check who may use it."),
        Ok(metadata) => metadata,
    };
    if !metadata.is_dir() {
        return Finding::problem(format!("{what}: {shown} is no folder"), "Move it away, or name another folder.");
    }
    if let Err(error) = tempfile::Builder::new().prefix(".troupe-doctor").tempfile_in(path) {
        return Finding::problem(
            format!("{what}: {shown} cannot be written: {error}"),
            "Check its owner and the disk.",
        );
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o022 != 0 {
        let advice = format!("`chmod go-w {shown}` takes that right from others.");
        return Finding::warning(format!("{what}: {shown} can be written by others (mode {mode:o})"), advice);
    }
    Finding::good(format!("{what}: {shown}"))
}

/// Whether others can read the file with the keys; none where there is none.
fn secret(path: &Path) -> Option<Finding> {
    let mode = path.metadata().ok()?.permissions().mode() & 0o777;
    let shown = path.display();
    Some(match mode & 0o077 {
        0 => Finding::good(format!("keys: {shown} can be read by you alone")),
        _ => Finding::problem(
            format!("keys: {shown} can be read by others (mode {mode:o})"),
            format!("`chmod 600 {shown}`, and make new keys where others use this machine."),
        ),
    })
}

fn trusted(surroundings: &Surroundings, cwd: &Path, is_trusted: bool) -> Finding {
    let project = surroundings.project_dir(cwd);
    let wants = trust::required_by(cwd, project.as_deref(), surroundings.home.as_deref());
    match (wants.is_empty(), is_trusted) {
        (true, _) => Finding::good("trust: the project brings nothing that needs it"),
        (false, true) => Finding::good("trust: the project is trusted"),
        (false, false) => Finding::warning(
            "trust: the project brings settings or resources that are not used",
            "/trust decides about it; the next start follows.",
        ),
    }
}

fn session(file: Option<&Path>, unsaved: Option<&str>) -> Finding {
    if let Some(reason) = unsaved {
        return Finding::problem(
            format!("session: not saved: {reason}"),
            "Make room, or check the disk; it is tried again.",
        );
    }
    let Some(file) = file else { return Finding::good("session: kept in memory only") };
    match OpenOptions::new().append(true).open(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Finding::good(format!("session: {} will be made with the first answer", file.display()))
        }
        Err(error) => Finding::problem(format!("session: {}: {error}", file.display()), "Check who may write it."),
        Ok(_) => Finding::good(format!("session: {}", file.display())),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tui::work::doctor::Health;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn folders_and_keys_that_others_can_use_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("sessions");
        assert_eq!(folder("x", &inside).health, Health::Good, "it is made when needed");
        fs::create_dir(&inside).unwrap();
        mode(&inside, 0o700);
        assert_eq!(folder("x", &inside).health, Health::Good);
        mode(&inside, 0o777);
        assert_eq!(folder("x", &inside).health, Health::Warning);
        let file = dir.path().join("auth.json");
        assert_eq!(secret(&file), None);
        assert_eq!(folder("x", &file).health, Health::Good);
        fs::write(&file, "{}").unwrap();
        assert_eq!(folder("x", &file).health, Health::Problem);
        for (bits, health) in [(0o600, Health::Good), (0o644, Health::Problem)] {
            mode(&file, bits);
            assert_eq!(secret(&file).unwrap().health, health);
        }
    }

    #[test]
    fn a_session_that_is_not_saved_is_a_problem() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("s.jsonl");
        assert_eq!(session(None, None).health, Health::Good);
        assert_eq!(session(Some(&file), None).health, Health::Good);
        assert_eq!(session(Some(&file), Some("no space")).health, Health::Problem);
        assert_eq!(session(Some(dir.path()), None).health, Health::Problem);
    }
}
