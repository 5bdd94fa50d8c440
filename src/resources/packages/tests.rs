use std::fs;

use serde_json::json;

use super::*;
use crate::resources::{
    roots::{Lists, Places},
    skills, templates,
};

/// A folder with the files of two scopes.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            let path = tree.0.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        tree
    }

    /// The names of the skills and templates that the lists of both scopes give, and the warnings.
    fn names(&self, user: &Value, project: &Value) -> (String, Vec<String>) {
        let (user_dir, project_dir) = (self.0.path().join("user"), self.0.path().join("project/.troupe"));
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let (user, project) = (list(user), list(project));
        let project = PackageList { entries: &project, base: &project_dir };
        let loaded = load(PackageList { entries: &user, base: &user_dir }, Some(project), None);
        let cwd = self.0.path().join("project");
        let places =
            Places { user_dir: &user_dir, home: None, cwd: &cwd, project_dir: Some(&project_dir), trusted: true };
        let lists = Lists { packages: &loaded.value, ..Lists::default() };
        let of = |kind| roots::roots(kind, &places, &[], true, lists);
        let (skill_roots, template_roots) = (of(Kind::Skills), of(Kind::Prompts));
        let skills = skills::load(&skill_roots.value);
        let templates = templates::load(&template_roots.value);
        let mut names: Vec<_> = skills.value.iter().map(|skill| skill.name.clone()).collect();
        names.extend(templates.value.iter().map(|template| format!("/{}", template.name)));
        let warnings = [loaded.warnings, skill_roots.warnings, template_roots.warnings, skills.warnings];
        (names.join(" "), warnings.iter().flatten().map(ToString::to_string).collect())
    }
}

const SKILL: &str = "---\ndescription: d\n---\nbody";

fn tree() -> Tree {
    Tree::new(&[
        ("pkg/skills/a/SKILL.md", SKILL),
        ("pkg/skills/b/SKILL.md", SKILL),
        ("pkg/prompts/p.md", "P"),
        ("pkg/prompts/q.md", "Q"),
        ("user/npm/node_modules/@s/n/skills/n/SKILL.md", SKILL),
        ("user/git/host/o/r/prompts/g.md", "G"),
        ("user/settings.json", "{}"),
        ("project/.troupe/npm/node_modules/@s/n/skills/own/SKILL.md", SKILL),
        ("picky/skills/a/SKILL.md", SKILL),
        ("picky/more/x/SKILL.md", SKILL),
        ("picky/more/y/SKILL.md", SKILL),
        ("picky/prompts/never.md", "N"),
        ("picky/package.json", r#"{"name":"x","pi":{"skills":["./more/*","!y","../pkg"],"extensions":["e.ts"]}}"#),
        ("broken/package.json", "{\"pi\": {\"skills\": [7]}}"),
        ("broken/prompts/b.md", "B"),
    ])
}

#[test]
fn packages_bring_what_their_manifest_and_their_filter_let_through() {
    let tree = tree();
    let table = [
        (json!(["../pkg"]), "a b /p /q"),
        (json!([{"source": "../pkg", "skills": []}]), "/p /q"),
        (json!([{"source": "../pkg", "skills": ["a"], "prompts": ["!p"]}]), "a /q"),
        (json!([{"source": "../pkg", "skills": ["skills/*", "-skills/b"], "prompts": ["prompts/q.md"]}]), "a /q"),
        (json!(["npm:@s/n@1.0", "git:host/o/r@v1"]), "n /g"),
        (json!(["../pkg", "../pkg/"]), "a b /p /q"),
    ];
    for (user, names) in table {
        assert_eq!(tree.names(&user, &json!(null)), (names.to_owned(), Vec::new()), "{user}");
    }
}

#[test]
fn the_projects_entry_replaces_the_users_or_changes_it() {
    let tree = tree();
    let pkg = tree.0.path().join("pkg");
    let table = [
        (json!(["npm:@s/n"]), json!(["npm:@s/n"]), "own"),
        (json!(["../pkg"]), json!([{"source": pkg, "skills": ["b"], "prompts": []}]), "b"),
        (json!([pkg]), json!([{"source": pkg, "autoload": false, "skills": ["!a"], "prompts": ["-q"]}]), "b /p"),
        (
            json!([{"source": pkg, "skills": [], "prompts": []}]),
            json!([{"source": pkg, "autoload": false, "skills": ["+skills/a"]}]),
            "a",
        ),
        (json!([]), json!([{"source": pkg, "autoload": false, "skills": ["a"]}]), ""),
    ];
    for (user, project, names) in table {
        assert_eq!(tree.names(&user, &project), (names.to_owned(), Vec::new()), "{user} {project}");
    }
}

#[test]
fn what_is_wrong_with_a_package_is_told_and_the_others_load() {
    let tree = tree();
    let (names, warnings) =
        tree.names(&json!(["../picky", "npm:gone", "git:../x", "../nowhere", "../broken", 5]), &json!(["npm:away"]));
    assert_eq!(names, "x /b");
    let expected = [
        "away: the package npm:away is not installed; `troupe install npm:away -l` installs it",
        "gone: the package npm:gone is not installed; `troupe install npm:gone` installs it",
        "user/settings.json: \"git:../x\" is no source of a package: expected a host and a repository, such as \
         git:host/owner/name@v1",
        "nowhere: there is no such folder for the package ../nowhere",
        "package.json: line 1, column 20: pi.skills[0] expected a text, found 7",
        "pkg, which lies outside of the package; it is not used",
    ];
    assert_eq!(warnings.len(), expected.len(), "{warnings:#?}");
    for (warning, expected) in warnings.iter().zip(expected) {
        assert!(warning.ends_with(expected), "{warning}\n{expected}");
    }
}
