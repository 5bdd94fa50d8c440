//! Slash commands of extensions: `/name arguments` in a prompt runs code instead of asking the model.

/// A command that an extension has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandDeclaration {
    /// Its name without the slash.
    pub name: String,
    /// What it does, in a line.
    pub description: Option<String>,
}

impl CommandDeclaration {
    /// A command with this name.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: Some(description.into()) }
    }
}

/// A command that somebody gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandCall {
    /// The name that the extension declared.
    pub name: String,
    /// What stands behind the name, without the space between them.
    pub arguments: String,
}

/// One way to go on with the arguments of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The arguments that it makes.
    pub value: String,
    /// What is shown; none: the value.
    pub label: Option<String>,
    /// More about it.
    pub description: Option<String>,
}

/// A prompt that may be a command: the name up to the first white space, and the rest.
#[must_use]
pub fn parse(text: &str) -> Option<(&str, &str)> {
    let line = text.strip_prefix('/')?;
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (!name.is_empty()).then_some((name, arguments))
}

/// The names by which commands are called, in the same order: where several have one name, `name:1`, `name:2` and so on.
#[must_use]
pub fn invocation_names(declared: &[&str]) -> Vec<String> {
    let count = |name: &str, list: &[&str]| list.iter().filter(|other| **other == name).count();
    let call = |(place, name): (usize, &&str)| match count(name, declared) {
        1 => (*name).to_owned(),
        _ => format!("{name}:{}", count(name, &declared[..=place])),
    };
    declared.iter().enumerate().map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_one_name_are_counted_in_their_order() {
        assert_eq!(invocation_names(&["a", "b", "a", "c", "a"]), ["a:1", "b", "a:2", "c", "a:3"]);
        assert!(invocation_names(&[]).is_empty());
    }

    #[test]
    fn a_command_is_a_slash_a_name_and_the_rest() {
        let table = [
            ("/plan", Some(("plan", ""))),
            ("/plan  two words ", Some(("plan", " two words "))),
            ("/plan\nnext line", Some(("plan", "next line"))),
            ("/a:2 x", Some(("a:2", "x"))),
            ("/", None),
            ("/ plan", None),
            (" /plan", None),
            ("plan", None),
        ];
        for (text, wanted) in table {
            assert_eq!(parse(text), wanted, "{text:?}");
        }
    }
}
