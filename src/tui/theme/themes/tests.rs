use std::fs;

use super::*;
use crate::resources::source::Scope;

const DARK: &str = include_str!("../builtin/dark.json");

fn named(name: &str) -> String {
    DARK.replace("\"name\": \"dark\"", &format!("\"name\": \"{name}\""))
}

#[test]
fn the_setting_names_a_theme_or_one_for_each_ground() {
    for (setting, light, dark) in [
        ("system", "system", "system"),
        ("", "system", "system"),
        ("nord", "nord", "nord"),
        ("day/night", "day", "night"),
        ("light / dark", "light", "dark"),
    ] {
        let choice = ThemeChoice::of_setting(setting);
        let names = (choice.name(Appearance::Light), choice.name(Appearance::Dark));
        assert_eq!(names, (light, dark), "{setting:?}");
    }
}

#[test]
fn themes_are_found_in_folders_the_first_of_a_name_counts_and_invalid_ones_are_said() {
    let dir = tempfile::tempdir().unwrap();
    let [project, user] = ["project", "user"].map(|name| dir.path().join(name));
    for (folder, file, text) in [
        (&project, "b.json", named("blue")),
        (&user, "b.json", named("blue")),
        (&user, "a.json", named("amber")),
        (&user, "bad.json", named("bad").replace("\"accent\"", "\"acent\"")),
        (&user, "taken.json", named("light")),
        (&user, "note.txt", String::new()),
    ] {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(file), text).unwrap();
    }
    let root = |path: &PathBuf, scope| Root::new(path, RootKind::Folder, scope);
    let Loaded { value: themes, warnings } = Themes::find(&[root(&project, Scope::Project), root(&user, Scope::User)]);
    assert_eq!(themes.list(), ["system", "dark", "light", "amber", "blue"]);
    assert_eq!(themes.path("blue"), Some(project.join("b.json").as_path()));
    let said: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[0].contains("there is already a theme \"blue\""), "{said:?}");
    assert!(said[1].contains("bad.json: colors.acent: is not a key"), "{said:?}");
    assert!(said[2].contains("there is already a theme \"light\""), "{said:?}");

    let load = |name: &str| themes.load(name, &TerminalColors::default(), Appearance::Dark);
    assert_eq!(load("blue").unwrap().name, "blue");
    assert_eq!(load("light").unwrap(), Theme::light());
    assert_eq!(load("system").unwrap().name, "system");
    let unknown = load("nowhere").unwrap_err().to_string();
    assert_eq!(unknown, "There is no theme \"nowhere\". There are: system, dark, light, amber, blue");

    // A file that was changed is read again; what is broken says so.
    let before = themes.stamp("amber");
    assert!(before.is_some() && themes.stamp("dark").is_none());
    fs::write(user.join("a.json"), "{").unwrap();
    assert_ne!(themes.stamp("amber"), before);
    assert!(load("amber").unwrap_err().to_string().contains("a.json: is not valid JSON"));
}
