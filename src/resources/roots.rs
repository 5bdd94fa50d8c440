//! Where skills, prompt templates and themes are looked for, first come first served.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    kind::Kind,
    packages::Package,
    patterns::{self, Patterns},
    project::is_home,
    source::{Found, Scope},
    warning::{Loaded, Warning},
};
use crate::store::paths::absolute;

/// Where skills lie that several programs share.
const AGENTS_SKILLS: &str = ".agents/skills";

/// The folders that a session's resources come from.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The user's folder.
    pub user_dir: &'a Path,
    /// The user's home folder.
    pub home: Option<&'a Path>,
    /// The folder that the session runs in.
    pub cwd: &'a Path,
    /// The project's folder, see [`super::project::project_dir`].
    pub project_dir: Option<&'a Path>,
    /// Whether the project may bring resources of its own.
    pub trusted: bool,
}

/// What a place is, and so what counts as a resource there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootKind {
    /// A folder of the product: files directly in it count.
    Folder,
    /// An `.agents` folder, shared with other programs: only what lies in its sub-folders counts.
    AgentsFolder,
    /// A file or folder that somebody named; that it is missing is worth a warning.
    Named,
}

/// One place to look at.
#[derive(Clone, Debug)]
pub struct Root {
    /// The file or folder, absolute.
    pub path: PathBuf,
    /// What it is.
    pub kind: RootKind,
    /// Whose it is.
    pub scope: Scope,
    /// What counts there: all of these must let a resource through. Each is a row of lists of which later ones change
    /// what earlier ones said.
    pub filters: Vec<Vec<Patterns>>,
    /// The package that it is part of.
    pub package: Option<PackageOrigin>,
}

/// The package that a place is part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageOrigin {
    /// Where the package comes from, as the settings say.
    pub source: Arc<str>,
    /// Its folder.
    pub dir: PathBuf,
}

impl Root {
    /// A place where everything counts.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, kind: RootKind, scope: Scope) -> Self {
        Self { path: path.into(), kind, scope, filters: Vec::new(), package: None }
    }

    /// Whether the resource at `path` counts.
    #[must_use]
    pub fn admits(&self, path: &Path) -> bool {
        let lets_through = |row: &Vec<Patterns>| row.iter().fold(true, |state, list| list.admits(path, state));
        self.filters.iter().all(lets_through)
    }

    /// How resources of this place were found.
    #[must_use]
    pub fn found(&self) -> Found {
        match &self.package {
            Some(package) => Found::Package(package.source.clone()),
            None if self.kind == RootKind::Named => Found::Local,
            None => Found::Auto,
        }
    }

    /// The folder that resources of this place belong to: the package, the one around a usual place, a named folder
    /// itself, the one around a named file.
    #[must_use]
    pub fn base_dir(&self) -> Option<&Path> {
        match &self.package {
            Some(package) => Some(&package.dir),
            None if self.kind == RootKind::Named && self.path.is_dir() => Some(&self.path),
            None => self.path.parent(),
        }
    }
}

/// The lists of the settings for one kind of resource, and the packages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lists<'a> {
    /// The list of the project's settings.
    pub project: &'a [String],
    /// The list of the user's settings.
    pub user: &'a [String],
    /// The installed packages.
    pub packages: &'a [Package],
}

/// The places of resources of a kind, first come first served: those that the command line names; then, unless it
/// says that the others do not count, what the project's settings list and the project has, when it is trusted; the
/// same of the user; packages.
#[must_use]
pub fn roots(kind: Kind, places: &Places<'_>, named: &[PathBuf], usual: bool, lists: Lists<'_>) -> Loaded<Vec<Root>> {
    let named = named.iter().map(|path| Root::new(path, RootKind::Named, Scope::Temporary));
    let mut roots: Vec<Root> = named.collect();
    let mut warnings = Vec::new();
    if usual {
        if places.trusted {
            let own = places.project_dir.unwrap_or(places.cwd);
            let usual = of_project(kind, places);
            roots.extend(of_scope(lists.project, own, Scope::Project, usual, places.home, &mut warnings));
        }
        let usual = of_user(kind, places);
        roots.extend(of_scope(lists.user, places.user_dir, Scope::User, usual, places.home, &mut warnings));
        for package in lists.packages {
            roots.extend(package.roots(kind, &mut warnings));
        }
    }
    Loaded { value: roots, warnings }
}

/// The usual places in a project.
fn of_project(kind: Kind, places: &Places<'_>) -> Vec<Root> {
    let own = places.project_dir.map(|dir| Root::new(dir.join(kind.key()), RootKind::Folder, Scope::Project));
    let shared = up_to_repository(places.cwd)
        .filter(|dir| kind == Kind::Skills && !is_home(dir, places.home))
        .map(|dir| Root::new(dir.join(AGENTS_SKILLS), RootKind::AgentsFolder, Scope::Project));
    own.into_iter().chain(shared).collect()
}

/// The user's usual places.
fn of_user(kind: Kind, places: &Places<'_>) -> Vec<Root> {
    let own = Root::new(places.user_dir.join(kind.key()), RootKind::Folder, Scope::User);
    let shared = places
        .home
        .filter(|_| kind == Kind::Skills)
        .map(|home| Root::new(home.join(AGENTS_SKILLS), RootKind::AgentsFolder, Scope::User));
    std::iter::once(own).chain(shared).collect()
}

/// The places that a list of settings adds, then the usual ones of its scope; what the list leaves out counts for both.
fn of_scope(
    list: &[String],
    base: &Path,
    scope: Scope,
    usual: Vec<Root>,
    home: Option<&Path>,
    warnings: &mut Vec<Warning>,
) -> Vec<Root> {
    let mut roots: Vec<Root> =
        patterns::plain(list).into_iter().map(|entry| listed(entry, base, scope, home, warnings)).collect();
    roots.extend(usual);
    let patterns = Patterns::of_list(list, base, warnings);
    for root in &mut roots {
        root.filters.push(vec![patterns.clone()]);
    }
    roots
}

/// The place that a path or a glob of a list means.
pub(super) fn listed(entry: &str, base: &Path, scope: Scope, home: Option<&Path>, warnings: &mut Vec<Warning>) -> Root {
    let place = |entry: &Path| match (entry.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => absolute(rest, home),
        _ => absolute(entry, base),
    };
    if !patterns::is_glob(entry) {
        return Root::new(place(Path::new(entry)), RootKind::Named, scope);
    }
    // The folder in front of the first wildcard is looked through.
    let fixed: PathBuf =
        Path::new(entry).iter().take_while(|part| !patterns::is_glob(&part.to_string_lossy())).collect();
    let mut root = Root::new(place(&fixed), RootKind::Named, scope);
    let is_inside = !entry.starts_with(['~', '/']) && !entry.contains("..");
    let glob = if is_inside { entry.to_owned() } else { place(Path::new(entry)).to_string_lossy().into_owned() };
    root.filters.push(vec![Patterns::of_glob(&glob, base, warnings)]);
    root
}

/// `cwd` and the folders above it up to the root of its repository, or of the file system outside of one.
fn up_to_repository(cwd: &Path) -> impl Iterator<Item = &Path> {
    let depth = cwd.ancestors().position(|dir| dir.join(".git").exists()).map_or(usize::MAX, |at| at + 1);
    cwd.ancestors().take(depth)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_named_come_first_then_the_projects_with_trust_then_the_users() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let (cwd, project) = (root.join("repo/sub"), root.join("repo/sub/.pi"));
        fs::create_dir_all(&project).unwrap();
        fs::create_dir_all(root.join("repo/.git")).unwrap();
        let (user_dir, home) = (root.join("user"), root.join("home"));
        let places = |trusted| Places {
            user_dir: &user_dir,
            home: Some(&home),
            cwd: &cwd,
            project_dir: Some(&project),
            trusted,
        };
        let named = [root.join("named")];
        let paths = |roots: Loaded<Vec<Root>>| {
            let short = |root_: Root| root_.path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            roots.value.into_iter().map(short).collect::<Vec<_>>().join(" ")
        };
        let project_skills = "repo/sub/.pi/skills repo/sub/.agents/skills repo/.agents/skills";
        let user_skills = "user/skills home/.agents/skills";
        let skills = |trusted, usual| paths(roots(Kind::Skills, &places(trusted), &named, usual, Lists::default()));
        assert_eq!(skills(true, true), format!("named {project_skills} {user_skills}"));
        assert_eq!(skills(false, true), format!("named {user_skills}"));
        assert_eq!(skills(true, false), "named");
        let templates = |trusted, usual| paths(roots(Kind::Prompts, &places(trusted), &named, usual, Lists::default()));
        assert_eq!(templates(true, true), "named repo/sub/.pi/prompts user/prompts");
        assert_eq!(templates(false, true), "named user/prompts");
        assert_eq!(templates(true, false), "named");
    }

    #[test]
    fn the_users_own_agents_folder_is_not_the_projects() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let user_dir = home.join(".troupe");
        let cwd = home.join("code");
        let places = Places { user_dir: &user_dir, home: Some(home), cwd: &cwd, project_dir: None, trusted: true };
        let of_home: Vec<_> = roots(Kind::Skills, &places, &[], true, Lists::default())
            .value
            .into_iter()
            .filter(|root| root.path == home.join(".agents/skills"))
            .map(|root| root.scope)
            .collect();
        assert_eq!(of_home, [Scope::User]);
    }

    #[test]
    fn lists_of_settings_come_before_the_usual_places_of_their_scope() {
        let places = Places {
            user_dir: Path::new("/u"),
            home: Some(Path::new("/h")),
            cwd: Path::new("/p"),
            project_dir: Some(Path::new("/p/.pi")),
            trusted: true,
        };
        let list = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let (project, user) = (list("../team !old"), list("~/mine extra/*.md /abs -prompts/x.md"));
        let lists = Lists { project: &project, user: &user, packages: &[] };
        let found = roots(Kind::Prompts, &places, &[], true, lists);
        let paths: Vec<_> = found.value.iter().map(|root| root.path.to_str().unwrap()).collect();
        assert_eq!(paths, ["/p/team", "/p/.pi/prompts", "/h/mine", "/u/extra", "/abs", "/u/prompts"]);
        let [team, own, mine, extra, _, usual] = found.value.as_slice() else { panic!() };
        assert!(!team.admits(Path::new("/p/team/old")) && !own.admits(Path::new("/p/.pi/prompts/old")));
        assert!(mine.admits(Path::new("/h/mine/old.md")), "a list counts in its own scope alone");
        assert!(extra.admits(Path::new("/u/extra/a.md")) && !extra.admits(Path::new("/u/extra/a.txt")));
        assert!(!usual.admits(Path::new("/u/prompts/x.md")) && usual.admits(Path::new("/u/prompts/y.md")));
        assert!(roots(Kind::Prompts, &places, &[], false, lists).value.is_empty());
    }
}
