//! The call of a skill, as it stands in a session: with the skill's instructions in its place.

use std::borrow::Cow;

/// What [`super::expand`] made of a call, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillCall<'t> {
    /// The skill's name.
    pub name: Cow<'t, str>,
    /// Its instructions.
    pub body: &'t str,
    /// What the user wrote behind the name.
    pub words: &'t str,
}

impl SkillCall<'_> {
    /// The call as the user wrote it.
    #[must_use]
    pub fn written(&self) -> String {
        format!("/skill:{} {}", self.name, self.words).trim_end().to_owned()
    }
}

/// The call that a user's message was; none when it was something else.
#[must_use]
pub fn called(text: &str) -> Option<SkillCall<'_>> {
    const END: &str = "\n</skill>";
    let (name, rest) = text.strip_prefix("<skill name=\"")?.split_once('"')?;
    let (_, rest) = rest.strip_prefix(" location=\"")?.split_once("\">\n")?;
    let (_, rest) = rest.strip_prefix("References are relative to ")?.split_once("\n\n")?;
    let is_end = |at: &usize| matches!(rest.get(at + END.len()..), Some(behind) if behind.is_empty() || behind.starts_with("\n\n"));
    let end = rest.match_indices(END).map(|(at, _)| at).find(is_end)?;
    Some(SkillCall { name: unescaped(name), body: &rest[..end], words: rest[end + END.len()..].trim() })
}

/// A text whose five characters that mean something in XML are written out again.
fn unescaped(text: &str) -> Cow<'_, str> {
    const NAMES: [(&str, &str); 5] = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(NAMES.iter().fold(text.to_owned(), |text, (name, sign)| text.replace(name, sign)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_found_again_in_what_it_became() {
        let head = "<skill name=\"a&amp;b\" location=\"/s/SKILL.md\">\nReferences are relative to /s.\n\n";
        // what follows the head, the instructions, the user's words
        let table = [
            ("Do it.\n</skill>", Some(("Do it.", ""))),
            ("Do it.\n</skill>\n\nnow, please", Some(("Do it.", "now, please"))),
            ("One\n</skill> in a text\n\nTwo\n</skill>\n\nx", Some(("One\n</skill> in a text\n\nTwo", "x"))),
            ("Never closed", None),
        ];
        for (rest, expected) in table {
            let text = format!("{head}{rest}");
            let found = called(&text);
            assert_eq!(found.as_ref().map(|call| (call.body, call.words)), expected, "{rest}");
            if let Some(call) = found {
                assert_eq!(call.written(), format!("/skill:a&b {}", call.words).trim_end());
            }
        }
        for text in ["<skill name=\"x\">", "hello", ""] {
            assert_eq!(called(text), None, "{text}");
        }
    }
}
