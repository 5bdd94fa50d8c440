use std::fs;

use super::{
    super::{roots::RootKind, source::Scope},
    *,
};

struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            let path = tree.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        tree
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn load(&self, roots: &[(&str, RootKind)]) -> Loaded<Vec<Skill>> {
        let root = |(path, kind): &(&str, RootKind)| {
            let scope = if *kind == RootKind::Named { Scope::Temporary } else { Scope::User };
            Root::new(self.path(path), *kind, scope)
        };
        load(&roots.iter().map(root).collect::<Vec<_>>())
    }

    /// Warnings with paths inside the tree.
    fn warnings(&self, loaded: &Loaded<Vec<Skill>>) -> Vec<String> {
        let root = format!("{}/", self.0.path().display());
        loaded.warnings.iter().map(|warning| warning.to_string().replace(&root, "")).collect()
    }
}

fn names(loaded: &Loaded<Vec<Skill>>) -> Vec<&str> {
    loaded.value.iter().map(|skill| skill.name.as_str()).collect()
}

const D: &str = "---\ndescription: d\n---\nB";

#[test]
fn the_kind_of_a_folder_says_what_counts_there() {
    let files = [
        ("s/a/SKILL.md", D),
        ("s/a/inner/SKILL.md", D),
        ("s/cat/deep/SKILL.md", D),
        ("s/cat/loose.md", "---\nname: inner-loose\ndescription: d\n---\n"),
        ("s/loose.md", "---\nname: loose\ndescription: d\n---\n"),
        ("s/readme.md", "nothing"),
        ("s/bad.md", "---\ndescription: \"unclosed\n---\n"),
        ("s/.hidden/SKILL.md", D),
        ("s/node_modules/x/SKILL.md", D),
        ("s/ig/SKILL.md", D),
        ("s/cat/not-here/SKILL.md", D),
        ("s/cat/kept/SKILL.md", D),
        ("s/.gitignore", "ig/\nkept\n"),
        ("s/cat/.fdignore", "/not-here\n!kept\n"),
    ];
    let tree = Tree::new(&files);
    let loaded = tree.load(&[("s", RootKind::Folder)]);
    assert_eq!(names(&loaded), ["a", "deep", "kept", "loose"]);
    assert_eq!(tree.warnings(&loaded), [""; 0], "loose files that are no skills are no fault");
    assert_eq!(names(&tree.load(&[("s", RootKind::Named)])), ["a", "deep", "kept", "loose"]);
    let loaded = tree.load(&[("s", RootKind::AgentsFolder)]);
    assert_eq!(names(&loaded), ["a", "deep", "kept", "inner-loose"]);
    // A skill may be the whole place.
    let tree = Tree::new(&[("s/SKILL.md", "---\nname: whole\ndescription: d\n---\n"), ("s/x/SKILL.md", D)]);
    assert_eq!(names(&tree.load(&[("s", RootKind::AgentsFolder)])), ["whole"]);
}

#[test]
fn named_files_count_and_missing_ones_are_reported() {
    let tree = Tree::new(&[("x/one.md", "---\nname: one\ndescription: d\n---\n"), ("x/two.md", "no head")]);
    let named = [("x/one.md", RootKind::Named), ("x/two.md", RootKind::Named), ("gone", RootKind::Named)];
    let loaded = tree.load(&named);
    assert_eq!(names(&loaded), ["one"]);
    let warnings = ["x/two.md: is not loaded: its head has no description", "gone: there is no such skill"];
    assert_eq!(tree.warnings(&loaded), warnings);
    assert_eq!(tree.load(&[("absent", RootKind::Folder)]), Loaded::default());
}

#[test]
fn heads_are_checked_and_what_is_only_unportable_still_loads() {
    let long = format!("---\nname: {}\ndescription: {}\n---\n", "l".repeat(65), "d".repeat(1025));
    let tree = Tree::new(&[
        ("s/default-name/SKILL.md", D),
        ("s/hidden/SKILL.md", "---\ndescription: d\ndisable-model-invocation: true\n---\n"),
        ("s/long/SKILL.md", &long),
        ("s/nodesc/SKILL.md", "no head"),
        ("s/quoted-true/SKILL.md", "---\ndescription: d\ndisable-model-invocation: \"true\"\n---\n"),
        ("s/unclosed/SKILL.md", "---\ndescription: \"unclosed\n---\n"),
        ("s/x-upper/SKILL.md", "---\nname: My Skill\ndescription: d\n---\n"),
        ("s/y-hyphen/SKILL.md", "---\nname: a--b\ndescription: d\n---\n"),
    ]);
    let loaded = tree.load(&[("s", RootKind::Folder)]);
    let long = "l".repeat(65);
    assert_eq!(names(&loaded), ["default-name", "hidden", long.as_str(), "quoted-true", "My Skill", "a--b"]);
    assert_eq!(
        loaded.value.iter().map(|skill| skill.for_model).collect::<Vec<_>>(),
        [true, false, true, true, true, true]
    );
    assert_eq!(
        tree.warnings(&loaded),
        [
            "s/long/SKILL.md: its name has 65 characters; at most 64 are portable",
            "s/long/SKILL.md: its description has 1025 characters; at most 1024 are portable",
            "s/nodesc/SKILL.md: is not loaded: its head has no description",
            "s/unclosed/SKILL.md: is not loaded: line 2 of its front matter is malformed: a quote is never closed",
            "s/x-upper/SKILL.md: its name \"My Skill\" is not portable: a-z, 0-9 and single hyphens between them are",
            "s/y-hyphen/SKILL.md: its name \"a--b\" is not portable: a-z, 0-9 and single hyphens between them are",
        ]
    );
}

#[test]
fn fc_104_a_name_that_could_be_a_path_is_refused() {
    for name in ["../../a", "a/b", "a\\\\b", "..", ".", "a\\nb"] {
        let tree = Tree::new(&[("s/x/SKILL.md", &format!("---\nname: \"{name}\"\ndescription: d\n---\n"))]);
        let loaded = tree.load(&[("s", RootKind::Folder)]);
        assert_eq!(names(&loaded), [""; 0], "{name}");
        let [warning] = loaded.warnings.as_slice() else { panic!("{name}") };
        assert!(warning.message.starts_with("is not loaded: ") && warning.message.contains("is no name"), "{warning}");
    }
}

#[test]
fn the_first_of_a_name_wins_and_links_to_the_same_file_are_silent() {
    let same = "---\nname: same\ndescription: FIRST\n---\n";
    let tree = Tree::new(&[
        ("a/x/SKILL.md", same),
        ("b/y/SKILL.md", "---\nname: same\ndescription: SECOND\n---\n"),
        ("b/z/SKILL.md", D),
    ]);
    std::os::unix::fs::symlink(tree.path("a/x"), tree.path("b/linked")).unwrap();
    std::os::unix::fs::symlink(tree.path("b"), tree.path("b/z-circle")).unwrap();
    let loaded = tree.load(&[("a", RootKind::Named), ("b", RootKind::Folder)]);
    assert_eq!(names(&loaded), ["same", "z"]);
    assert_eq!(loaded.value[0].description, "FIRST");
    assert_eq!(loaded.value[0].source.scope, Scope::Temporary);
    let first = tree.path("a/x/SKILL.md");
    assert_eq!(
        tree.warnings(&loaded),
        [format!("b/y/SKILL.md: is not loaded: the skill same is already {}", first.display())
            .replace(&format!("{}/", tree.0.path().display()), "")]
    );
}

#[test]
fn a_call_is_replaced_by_the_instructions() {
    let tree = Tree::new(&[("s/my-skill/SKILL.md", "---\nname: my-skill\ndescription: d\n---\n\n\nBODY\n\n")]);
    let skills = tree.load(&[("s", RootKind::Folder)]).value;
    let folder = tree.path("s/my-skill").display().to_string();
    let block = format!(
        "<skill name=\"my-skill\" location=\"{folder}/SKILL.md\">\nReferences are relative to {folder}.\n\nBODY\n\
         </skill>"
    );
    let table = [
        ("/skill:my-skill", Some(block.clone())),
        ("/skill:my-skill do it", Some(format!("{block}\n\ndo it"))),
        ("/skill:my-skill   foo  ", Some(format!("{block}\n\nfoo"))),
        ("/skill:my-skill foo\nbar\n", Some(format!("{block}\n\nfoo\nbar"))),
        ("/skill:my-skill\nfoo", Some(format!("{block}\n\nfoo"))),
        ("/skill:none x", None),
        ("/skill:", None),
        ("/my-skill", None),
        (" /skill:my-skill", None),
        ("hello", None),
    ];
    for (text, expansion) in table {
        assert_eq!(expand(text, &skills).map(|loaded| loaded.value), expansion, "{text}");
    }
    // What was changed since the start counts; a file that is gone is reported.
    fs::write(tree.path("s/my-skill/SKILL.md"), "---\ndescription: d\n---\nNEW").unwrap();
    assert!(expand("/skill:my-skill", &skills).unwrap().value.contains("\n\nNEW\n</skill>"));
    fs::remove_file(tree.path("s/my-skill/SKILL.md")).unwrap();
    let loaded = expand("/skill:my-skill x", &skills).unwrap();
    assert_eq!(loaded.value, "/skill:my-skill x");
    assert!(loaded.warnings[0].message.starts_with("the skill my-skill cannot be read: "));
}
