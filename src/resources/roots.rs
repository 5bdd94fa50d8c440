//! Where skills and prompt templates are looked for, first come first served.

use std::path::{Path, PathBuf};

use super::{
    project::is_home,
    source::{Found, Scope},
};

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The file or folder, absolute.
    pub path: PathBuf,
    /// What it is.
    pub kind: RootKind,
    /// Whose it is.
    pub scope: Scope,
}

impl Root {
    /// How resources of this place were found.
    #[must_use]
    pub fn found(&self) -> Found {
        if self.kind == RootKind::Named { Found::Local } else { Found::Auto }
    }

    /// The folder that resources of this place belong to: the one around a usual place, a named folder itself, the one
    /// around a named file.
    #[must_use]
    pub fn base_dir(&self) -> Option<&Path> {
        if self.kind == RootKind::Named && self.path.is_dir() { Some(&self.path) } else { self.path.parent() }
    }
}

/// The places of skills: the named ones, then the project's when it is trusted, then the user's.
#[must_use]
pub fn skill_roots(places: &Places<'_>, named: &[PathBuf], usual: bool) -> Vec<Root> {
    let mut roots = named_roots(named);
    if usual {
        let mut push = |path, kind, scope| roots.push(Root { path, kind, scope });
        if places.trusted {
            if let Some(dir) = places.project_dir {
                push(dir.join("skills"), RootKind::Folder, Scope::Project);
            }
            for dir in up_to_repository(places.cwd).filter(|dir| !is_home(dir, places.home)) {
                push(dir.join(".agents/skills"), RootKind::AgentsFolder, Scope::Project);
            }
        }
        push(places.user_dir.join("skills"), RootKind::Folder, Scope::User);
        if let Some(home) = places.home {
            push(home.join(".agents/skills"), RootKind::AgentsFolder, Scope::User);
        }
    }
    roots
}

/// The places of prompt templates, in the same order.
#[must_use]
pub fn template_roots(places: &Places<'_>, named: &[PathBuf], usual: bool) -> Vec<Root> {
    let mut roots = named_roots(named);
    if usual {
        let project = places.project_dir.filter(|_| places.trusted).map(|dir| (dir, Scope::Project));
        for (dir, scope) in project.into_iter().chain([(places.user_dir, Scope::User)]) {
            roots.push(Root { path: dir.join("prompts"), kind: RootKind::Folder, scope });
        }
    }
    roots
}

fn named_roots(named: &[PathBuf]) -> Vec<Root> {
    let root = |path: &PathBuf| Root { path: path.clone(), kind: RootKind::Named, scope: Scope::Temporary };
    named.iter().map(root).collect()
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
        let paths = |roots: Vec<Root>| {
            let short = |root_: Root| root_.path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            roots.into_iter().map(short).collect::<Vec<_>>().join(" ")
        };
        let project_skills = "repo/sub/.pi/skills repo/sub/.agents/skills repo/.agents/skills";
        let user_skills = "user/skills home/.agents/skills";
        let skills = |trusted, usual| paths(skill_roots(&places(trusted), &named, usual));
        assert_eq!(skills(true, true), format!("named {project_skills} {user_skills}"));
        assert_eq!(skills(false, true), format!("named {user_skills}"));
        assert_eq!(skills(true, false), "named");
        let templates = |trusted, usual| paths(template_roots(&places(trusted), &named, usual));
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
        let of_home: Vec<_> = skill_roots(&places, &[], true)
            .into_iter()
            .filter(|root| root.path == home.join(".agents/skills"))
            .map(|root| root.scope)
            .collect();
        assert_eq!(of_home, [Scope::User]);
    }
}
