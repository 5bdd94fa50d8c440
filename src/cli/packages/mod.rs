//! `install`, `remove`, `list`: packages of skills, prompt templates and themes.
//!
//! [`args`] is what was typed, [`place`] puts packages where they belong; here they are noted in the settings.

use std::{
    fmt::Write as _,
    path::{Component, Path, PathBuf},
};

use serde_json::Value;

use super::{
    env::Environment,
    exit::Exit,
    paths::absolute,
    project::Project,
    run::{fail, print, warn},
    start::StartError,
};
use crate::{
    resources::packages::{PackageEntry, PackageSource},
    store::settings::{Scope, Settings},
};
use args::{PackagesCommand, Target};
use place::Place;

pub mod args;
pub mod place;

/// The name of a project's own folder when it is made.
const PROJECT_FOLDER: &str = ".troupe";

/// Carries out a command about packages.
#[must_use]
pub fn run(environment: &Environment, command: &PackagesCommand) -> Exit {
    let done = match command {
        PackagesCommand::Install(target) => Work::begin(environment, target).and_then(|work| work.install()),
        PackagesCommand::Remove(target) => Work::begin(environment, target).and_then(|work| work.remove()),
        PackagesCommand::List { trust } => list(environment, *trust),
    };
    match done {
        Ok(text) => print(&text),
        Err(StartError::Failed(text)) => fail(&text),
    }
}

/// What an installation or a removal works with.
struct Work<'a> {
    environment: &'a Environment,
    settings: Settings,
    scope: Scope,
    /// The user's folder, or the project's own.
    base: PathBuf,
    source: PackageSource,
    /// What the settings are to say.
    text: String,
}

impl<'a> Work<'a> {
    fn begin(environment: &'a Environment, target: &Target) -> Result<Self, StartError> {
        let user = Settings::load(&environment.user_dir.join("settings.json"), None);
        let source = PackageSource::parse(&target.source).map_err(StartError::of)?;
        let (settings, scope, base) = if target.local {
            let project = Project::of(environment, target.trust, &user, &environment.cwd)?;
            if !project.trusted {
                let text =
                    "The project is not trusted, so its packages stay as they are. Look at it, then use --approve.";
                return Err(StartError::Failed(text.into()));
            }
            let base = project.dir.unwrap_or_else(|| environment.cwd.join(PROJECT_FOLDER));
            let file = base.join("settings.json");
            (Settings::load(&environment.user_dir.join("settings.json"), Some(&file)), Scope::Project, base)
        } else {
            (user, Scope::Global, environment.user_dir.clone())
        };
        settings.problems().iter().for_each(|problem| warn(&problem.to_string()));
        settings.check_writable(scope).map_err(StartError::of)?;
        // A path is typed as seen from here, and stands in a file that may lie elsewhere.
        let source = match source {
            PackageSource::Local(path) => {
                let path = absolute(&path, &environment.cwd, environment.home.as_deref());
                let written = if target.local { relative(&path, &base) } else { path };
                PackageSource::Local(written.to_string_lossy().into_owned())
            }
            other => other,
        };
        let text = match &source {
            PackageSource::Local(path) => path.clone(),
            _ => target.source.clone(),
        };
        Ok(Self { environment, settings, scope, base, source, text })
    }

    fn place<'b>(&'b self, npm: &'b [String]) -> Place<'b> {
        Place { base: &self.base, npm }
    }

    fn install(mut self) -> Result<String, StartError> {
        let folder = self.source.folder(&self.base, None);
        if matches!(self.source, PackageSource::Local(_)) {
            if !folder.is_dir() {
                return Err(StartError::Failed(format!("There is no folder {}.", folder.display())));
            }
        } else if self.environment.offline {
            let text = format!("{} is not installed: the network is not to be used (--offline).", self.text);
            return Err(StartError::Failed(text));
        }
        let npm = self.settings.npm_command();
        self.place(&npm).install(&self.source).map_err(StartError::of)?;
        let mut entries = self.entries();
        match self.position(&entries) {
            // Its filters stay.
            Some(at) if entries[at].is_object() => entries[at]["source"] = self.text.clone().into(),
            Some(at) => entries[at] = self.text.clone().into(),
            None => entries.push(self.text.clone().into()),
        }
        self.keep(entries)?;
        // The entry is itself something that needs trust from now on.
        let hint = match self.scope {
            Scope::Project => {
                "It is used where the project is trusted: with --approve, or by an entry in trust.json.\n"
            }
            _ => "",
        };
        Ok(format!("Installed {} in {}\n{hint}", self.text, folder.display()))
    }

    fn remove(mut self) -> Result<String, StartError> {
        let mut entries = self.entries();
        let Some(at) = self.position(&entries) else {
            let file = self.base.join("settings.json");
            let text = format!("There is no package {} in {}. `troupe list` shows them.", self.text, file.display());
            return Err(StartError::Failed(text));
        };
        entries.remove(at);
        let npm = self.settings.npm_command();
        self.place(&npm).remove(&self.source).map_err(StartError::of)?;
        self.keep(entries)?;
        Ok(format!("Removed {}\n", self.text))
    }

    fn entries(&self) -> Vec<Value> {
        let list = self.settings.get_in(self.scope, &["packages"]).and_then(Value::as_array);
        list.cloned().unwrap_or_default()
    }

    /// The entry of the same package.
    fn position(&self, entries: &[Value]) -> Option<usize> {
        let home = self.environment.home.as_deref();
        let wanted = self.source.identity(&self.base, home);
        let is_wanted = |entry: &Value| {
            let known = PackageEntry::parse(entry).ok().flatten();
            known.is_some_and(|known| known.source.identity(&self.base, home) == wanted)
        };
        entries.iter().position(is_wanted)
    }

    fn keep(&mut self, entries: Vec<Value>) -> Result<(), StartError> {
        self.settings.set(self.scope, &["packages"], Some(entries.into())).write().map_err(StartError::of)
    }
}

fn list(environment: &Environment, trust: Option<bool>) -> Result<String, StartError> {
    let user = Settings::load(&environment.user_dir.join("settings.json"), None);
    let project = Project::of(environment, trust, &user, &environment.cwd)?;
    project.notice().iter().for_each(|notice| warn(notice));
    let settings = project.settings(environment, user);
    settings.problems().iter().for_each(|problem| warn(&problem.to_string()));
    let mut out = String::new();
    let own = project.dir.as_deref().unwrap_or(&environment.cwd);
    for (title, scope, base) in
        [("User packages:", Scope::Global, environment.user_dir.as_path()), ("Project packages:", Scope::Project, own)]
    {
        let entries = settings.get_in(scope, &["packages"]).and_then(Value::as_array);
        let entries: Vec<_> =
            entries.into_iter().flatten().filter_map(|entry| PackageEntry::parse(entry).ok()?).collect();
        if entries.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{title}");
        for entry in entries {
            let folder = entry.source.folder(base, environment.home.as_deref());
            let missing = if folder.is_dir() { "" } else { " (missing)" };
            let _ = writeln!(out, "  {}\n    {}{missing}", entry.text, folder.display());
        }
    }
    Ok(if out.is_empty() { "No packages installed.\n".to_owned() } else { out })
}

/// `path` as seen from the folder `base`; as it is when they have nothing in common.
fn relative(path: &Path, base: &Path) -> PathBuf {
    let common = path.components().zip(base.components()).take_while(|(a, b)| a == b).count();
    if common <= 1 {
        return path.to_owned();
    }
    let up = base.components().skip(common).map(|_| Component::ParentDir);
    let out: PathBuf = up.chain(path.components().skip(common)).collect();
    if out.as_os_str().is_empty() { PathBuf::from(".") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_as_seen_from_the_projects_folder() {
        for (path, seen) in
            [("/p/app/pkg", "../pkg"), ("/p/pkg", "../../pkg"), ("/q/pkg", "/q/pkg"), ("/p/app/.troupe", ".")]
        {
            assert_eq!(relative(Path::new(path), Path::new("/p/app/.troupe")), Path::new(seen), "{path}");
        }
    }
}
