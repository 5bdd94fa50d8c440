//! Where rules come from, and what they mean together.

use super::*;

/// Settings of these two files.
fn settings(dir: &Path, user: &str, project: &str) -> Settings {
    let (global, own) = (dir.join("settings.json"), dir.join("project.json"));
    std::fs::write(&global, user).unwrap();
    std::fs::write(&own, project).unwrap();
    Settings::load(&global, Some(&own))
}

/// The mode and the rules with their sources; or the error.
fn outline(user: &str, project: &str, flags: &PermissionFlags, file: &str) -> Result<String, String> {
    let dir = tempfile::tempdir().unwrap();
    let settings = settings(dir.path(), user, project);
    let file: PermissionsFile = serde_json::from_str(file).unwrap();
    let gathered = gather(&settings, flags, &file, Path::new("/w/p"), None).map_err(|error| error.to_string())?;
    let rules = gathered.rules.iter().map(|rule| format!("{:?}:{rule}", rule.source));
    let warned = if gathered.warnings.is_empty() { "" } else { " warned" };
    Ok(format!("{} {}{warned}", gathered.mode.as_str(), rules.collect::<Vec<_>>().join(" ")))
}

#[test]
fn the_mode_is_set_or_follows_from_the_rules_and_a_project_only_tightens() {
    let none = PermissionFlags::default();
    let table = [
        ("{}", "{}", "{}", "off "),
        (r#"{"permissions":{"mode":"ask"}}"#, "{}", "{}", "ask "),
        (r#"{"permissions":{"allow":["read"]}}"#, "{}", "{}", "ask User:allow read"),
        (r#"{"permissions":{"deny":["write"]}}"#, "{}", "{}", "allow User:deny write"),
        (r#"{"permissions":{"mode":"allow"}}"#, r#"{"permissions":{"mode":"ask"}}"#, "{}", "ask "),
        (r#"{"permissions":{"mode":"deny"}}"#, r#"{"permissions":{"mode":"off"}}"#, "{}", "deny "),
        ("{}", r#"{"permissions":{"allow":["bash"]}}"#, "{}", "off  warned"),
        ("{}", r#"{"permissions":{"deny":["bash"]}}"#, "{}", "allow Project:deny bash"),
        (
            r#"{"permissions":{"projectAllow":true}}"#,
            r#"{"permissions":{"allow":["read"],"projectAllow":false}}"#,
            "{}",
            "ask Project:allow read",
        ),
        ("{}", r#"{"permissions":{"projectAllow":true,"allow":["read"]}}"#, "{}", "off  warned"),
        ("{}", "{}", r#"{"projects":{"/w/p":{"allow":["read"]},"/w/q":{"deny":["x"]}}}"#, "off Remembered:allow read"),
        ("{}", "{}", r#"{"everywhere":{"deny":["bash(rm *)"]}}"#, "allow Everywhere:deny bash(rm *)"),
    ];
    for (user, project, file, wanted) in table {
        assert_eq!(outline(user, project, &none, file).unwrap(), wanted, "{user} {project} {file}");
    }
}

#[test]
fn flags_come_before_settings_and_off_is_off() {
    let asks = r#"{"permissions":{"mode":"ask","deny":["write"]}}"#;
    let flags = |mode, allow: &[&str]| PermissionFlags {
        mode,
        allow: allow.iter().map(|text| (*text).to_owned()).collect(),
        deny: Vec::new(),
    };
    let off = flags(Some(PermissionMode::Off), &[]);
    assert_eq!(outline(asks, "{}", &off, "{}").unwrap(), "off User:deny write");
    assert_eq!(outline(r#"{"permissions":{"deny":5}}"#, "{}", &off, "{}").unwrap(), "off  warned");
    assert_eq!(outline(asks, "{}", &flags(Some(PermissionMode::Deny), &[]), "{}").unwrap(), "deny User:deny write");
    assert_eq!(outline("{}", "{}", &flags(None, &["bash(git *)"]), "{}").unwrap(), "ask Flag:allow bash(git *)");
    assert!(outline("{}", "{}", &flags(None, &["git status"]), "{}").unwrap_err().starts_with("--allow: the rule"));
}

#[test]
fn what_cannot_be_understood_is_an_error_and_never_less_permission() {
    let none = PermissionFlags::default();
    for (user, part) in [
        (r#"{"permissions":{"mode":"maybe"}}"#, "permissions.mode: expected"),
        (r#"{"permissions":{"deny":"write"}}"#, "permissions.deny: expected a list"),
        (r#"{"permissions":{"deny":[1]}}"#, "permissions.deny: expected a list"),
        (r#"{"permissions":[]}"#, "expected a list of rules"),
        (r#"{"permissions":{"deny":["bash(a;b)"]}}"#, "settings.json: permissions.deny: the rule"),
        (r#"{"permissions":{"deny":["write"]}"#, "mend the file"),
    ] {
        for project in [false, true] {
            let (user, own) = if project { ("{}", user) } else { (user, "{}") };
            let error = outline(user, own, &none, "{}").unwrap_err();
            assert!(
                error.contains(&part.replace("settings.json", if project { "project.json" } else { "settings.json" })),
                "{user} {own}: {error}"
            );
        }
    }
    assert!(outline(r#"{"other": "#, "{}", &none, "{}").is_ok(), "a broken file without permissions stops nothing");
}

/// What becomes of the permissions with the user's settings at `file`.
fn with_user_file(file: &Path) -> Result<PermissionMode, String> {
    let settings = Settings::load(file, None);
    assert_eq!(settings.problems().len(), 1, "it is told");
    let (flags, remembered) = (PermissionFlags::default(), PermissionsFile::default());
    let gathered = gather(&settings, &flags, &remembered, Path::new("/w/p"), None);
    gathered.map(|gathered| gathered.mode).map_err(|error| error.to_string())
}

#[test]
fn fc_054_a_pipe_in_the_place_of_settings_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = crate::store::testing::pipe_in(dir.path(), "settings.json");
    assert_eq!(with_user_file(&pipe), Ok(PermissionMode::Off));
}

#[test]
fn settings_that_the_system_does_not_let_read_may_hold_rules_and_stop_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("settings.json");
    std::os::unix::fs::symlink(&file, &file).unwrap();
    let error = with_user_file(&file).unwrap_err();
    assert!(error.contains("settings.json"), "{error}");
}
