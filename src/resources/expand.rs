//! What becomes of an input before it is sent: skills first, then prompt templates.

use std::borrow::Cow;

use super::{
    skills::{self, Skill},
    templates::{self, Template},
    warning::Loaded,
};

/// `text` with the skill or the template that it calls in its place. An unknown call is sent as it is: it may be a path
/// or a command of another program.
#[must_use]
pub fn expand<'a>(text: &'a str, skills: &[Skill], templates: &[Template]) -> Loaded<Cow<'a, str>> {
    if let Some(loaded) = skills::expand(text, skills) {
        return Loaded { value: Cow::Owned(loaded.value), warnings: loaded.warnings };
    }
    let value = templates::expand(text, templates).map_or(Cow::Borrowed(text), Cow::Owned);
    Loaded { value, warnings: Vec::new() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::resources::{
        roots::{Root, RootKind},
        source::Scope,
    };

    #[test]
    fn a_skill_comes_before_a_template_and_neither_is_expanded_again() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path(), RootKind::Folder, Scope::User);
        fs::create_dir(dir.path().join("s")).unwrap();
        fs::write(dir.path().join("s/SKILL.md"), "---\ndescription: d\n---\n/t from the skill").unwrap();
        fs::write(dir.path().join("t.md"), "/skill:s $1").unwrap();
        fs::write(dir.path().join("skill:s.md"), "TEMPLATE").unwrap();
        let skills = skills::load(std::slice::from_ref(&root)).value;
        let templates = templates::load(&[root]).value;
        let expand = |text| expand(text, &skills, &templates).value.into_owned();
        assert!(expand("/skill:s /t x").ends_with("/t from the skill\n</skill>\n\n/t x"));
        assert_eq!(expand("/t $1"), "/skill:s $1");
        assert_eq!(expand("/unknown x"), "/unknown x");
    }
}
