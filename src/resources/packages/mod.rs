//! Packages: folders that bring skills, prompt templates and themes, listed in the setting `packages`.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;

use super::{
    kind::Kind,
    patterns::{self, Patterns},
    roots::{self, PackageOrigin, Root, RootKind},
    source::Scope,
    warning::{Loaded, Warning},
};
use manifest::Manifest;
pub use source::{BadSource, PackageSource};

mod manifest;
mod source;
#[cfg(test)]
mod tests;

/// An entry of the setting `packages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageEntry {
    /// The source as it is written.
    pub text: String,
    /// The source.
    pub source: PackageSource,
    /// False: the entry changes what the user's entry of the same package lets through.
    pub autoload: bool,
    skills: Option<Vec<String>>,
    prompts: Option<Vec<String>>,
    themes: Option<Vec<String>>,
}

impl PackageEntry {
    /// Reads an entry; none for one of another form, which the check of the settings tells.
    ///
    /// # Errors
    /// Its source is none.
    pub fn parse(entry: &Value) -> Result<Option<Self>, BadSource> {
        let Some(text) = entry.as_str().or_else(|| entry["source"].as_str()) else { return Ok(None) };
        let list = |key: &str| {
            let list = entry.get(key)?.as_array()?;
            Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        };
        Ok(Some(Self {
            text: text.to_owned(),
            source: PackageSource::parse(text)?,
            autoload: entry["autoload"].as_bool().unwrap_or(true),
            skills: list("skills"),
            prompts: list("prompts"),
            themes: list("themes"),
        }))
    }

    fn filter(&self, kind: Kind) -> Option<&[String]> {
        match kind {
            Kind::Skills => self.skills.as_deref(),
            Kind::Prompts => self.prompts.as_deref(),
            Kind::Themes => self.themes.as_deref(),
        }
    }
}

/// A package that is there.
#[derive(Clone, Debug)]
pub struct Package {
    entry: PackageEntry,
    /// What the project's entry changes.
    change: Option<PackageEntry>,
    scope: Scope,
    folder: PathBuf,
    manifest: Manifest,
}

/// One scope's list of packages.
#[derive(Clone, Copy, Debug)]
pub struct PackageList<'a> {
    /// The value of the setting.
    pub entries: &'a [Value],
    /// The folder that paths start from and packages are installed in.
    pub base: &'a Path,
}

/// The packages of a run, those of the project first. Of two entries for one package the project's counts. What is not
/// there gives a warning: nothing is installed by itself.
#[must_use]
pub fn load(user: PackageList<'_>, project: Option<PackageList<'_>>, home: Option<&Path>) -> Loaded<Vec<Package>> {
    let mut warnings = Vec::new();
    let mut found: Vec<(String, Package)> = Vec::new();
    let mut changes: Vec<(String, PackageEntry)> = Vec::new();
    for (list, scope) in project.map(|list| (list, Scope::Project)).into_iter().chain([(user, Scope::User)]) {
        for value in list.entries {
            let entry = match PackageEntry::parse(value) {
                Ok(Some(entry)) => entry,
                Ok(None) => continue,
                Err(error) => {
                    warnings.push(Warning::new(list.base.join("settings.json"), error.to_string()));
                    continue;
                }
            };
            let identity = entry.source.identity(list.base, home);
            if found.iter().any(|(known, _)| *known == identity) {
                continue;
            }
            if scope == Scope::Project && !entry.autoload {
                changes.push((identity, entry));
                continue;
            }
            let folder = entry.source.folder(list.base, home);
            if !folder.is_dir() {
                warnings.push(Warning::new(folder, missing(&entry, scope)));
                continue;
            }
            let manifest = Manifest::read(&folder, &mut warnings);
            found.push((identity, Package { entry, change: None, scope, folder, manifest }));
        }
    }
    for (identity, change) in changes {
        if let Some((_, package)) = found.iter_mut().find(|(known, _)| *known == identity) {
            package.change = Some(change);
        }
    }
    Loaded { value: found.into_iter().map(|(_, package)| package).collect(), warnings }
}

fn missing(entry: &PackageEntry, scope: Scope) -> String {
    let text = &entry.text;
    let local = if scope == Scope::Project { " -l" } else { "" };
    match entry.source {
        PackageSource::Local(_) => format!("there is no such folder for the package {text}"),
        _ => format!("the package {text} is not installed; `troupe install {text}{local}` installs it"),
    }
}

impl Package {
    /// The places that resources of a kind are looked for in.
    pub(super) fn roots(&self, kind: Kind, warnings: &mut Vec<Warning>) -> Vec<Root> {
        let base = &self.folder;
        let mut roots = match self.manifest.list(kind) {
            None => {
                let usual = base.join(kind.key());
                usual.is_dir().then(|| Root::new(usual, RootKind::Folder, self.scope)).into_iter().collect()
            }
            Some(list) => {
                let listed = |entry| roots::listed(entry, base, self.scope, None, warnings);
                let mut roots: Vec<Root> = patterns::plain(list).into_iter().map(listed).collect();
                roots.retain(|root| self.is_inside(root, warnings));
                let patterns = Patterns::of_list(list, base, warnings);
                roots.iter_mut().for_each(|root| root.filters.push(vec![patterns.clone()]));
                roots
            }
        };
        let own = self.entry.filter(kind).map(|list| Patterns::of_filter(list, base, warnings));
        let change = self.change.as_ref().and_then(|change| change.filter(kind));
        let change = change.map(|list| Patterns::of_change(list, base, warnings));
        let row: Vec<Patterns> = own.into_iter().chain(change).collect();
        let origin = PackageOrigin { source: Arc::from(self.entry.text.as_str()), dir: base.clone() };
        for root in &mut roots {
            root.filters.push(row.clone());
            root.package = Some(origin.clone());
        }
        roots
    }

    /// A package has its own files to offer, and no others.
    fn is_inside(&self, root: &Root, warnings: &mut Vec<Warning>) -> bool {
        let is_inside = root.path.starts_with(&self.folder);
        if !is_inside {
            let text = format!("names {}, which lies outside of the package; it is not used", root.path.display());
            warnings.push(Warning::new(self.folder.join("package.json"), text));
        }
        is_inside
    }
}
