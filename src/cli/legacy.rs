//! What older versions of pi left in a user's folder.
//!
//! pi moves such things at its start. Troupe may run on a folder that pi uses too, so it moves and renames nothing: it
//! says what is there and is not used.

use std::path::Path;

/// What is in the user's folder, or the project's own, and not used.
#[must_use]
pub fn notices(user_dir: &Path, project_dir: Option<&Path>) -> Vec<String> {
    let mut notices = Vec::new();
    let oauth = user_dir.join("oauth.json");
    if oauth.is_file() && !user_dir.join("auth.json").exists() {
        notices.push(format!(
            "{} has logins of an old version of pi that are not used; `troupe auth login` makes new ones.",
            oauth.display()
        ));
    }
    for dir in std::iter::once(user_dir).chain(project_dir) {
        let (old, new) = (dir.join("commands"), dir.join("prompts"));
        if old.is_dir() && !new.exists() {
            notices.push(format!(
                "{} is not used: prompt templates are in {} now. Rename the folder.",
                old.display(),
                new.display()
            ));
        }
    }
    notices
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn old_files_are_named_until_there_are_new_ones_and_nothing_is_moved() {
        let dir = tempfile::tempdir().unwrap();
        let (user, project) = (dir.path().join("u"), dir.path().join("p"));
        fs::create_dir_all(user.join("commands")).unwrap();
        fs::create_dir_all(project.join("commands")).unwrap();
        assert_eq!(notices(&user, Some(&project)).len(), 2);
        assert_eq!(notices(&user, None).len(), 1);
        fs::write(user.join("oauth.json"), "{}").unwrap();
        let told = notices(&user, None);
        assert!(told[0].contains("oauth.json") && told[1].contains("commands"), "{told:?}");
        fs::create_dir(user.join("prompts")).unwrap();
        fs::write(user.join("auth.json"), "{}").unwrap();
        assert!(notices(&user, None).is_empty());
        assert!(user.join("commands").is_dir() && user.join("oauth.json").is_file());
    }
}
