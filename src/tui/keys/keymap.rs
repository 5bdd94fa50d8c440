//! Which key does what.

use std::{
    collections::{HashMap, HashSet},
    io,
    path::Path,
};

use super::{Action, Key, KeyCode, Modifiers};
use crate::store::{
    document::{Document, DocumentError, Fault, Field, Syntax},
    regular_file,
};

/// Which key does what: the defaults, and what the user's `keybindings.json` puts in their place.
#[derive(Clone, Debug)]
pub struct Keymap {
    /// By action, in the order of [`Action::ALL`].
    keys: Vec<Vec<Key>>,
    /// By key in its canonical form.
    actions: HashMap<Key, Vec<Action>>,
}

impl Default for Keymap {
    fn default() -> Self {
        let keys = |action: &Action| action.default_keys().iter().filter_map(|name| Key::parse(name).ok()).collect();
        Self::new(Action::ALL.iter().map(keys).collect())
    }
}

impl Keymap {
    fn new(keys: Vec<Vec<Key>>) -> Self {
        let mut actions: HashMap<Key, Vec<Action>> = HashMap::new();
        for (action, keys) in Action::ALL.iter().zip(&keys) {
            for key in keys {
                actions.entry(key.canonical()).or_default().push(*action);
            }
        }
        // Without codes of their own, some terminals send ctrl+h for backspace and others for ctrl+backspace.
        let ctrl_h = Key::with(KeyCode::Char('h'), Modifiers::CTRL);
        if !actions.contains_key(&ctrl_h) {
            let backspaces = [Modifiers::NONE, Modifiers::CTRL].map(|held| Key::with(KeyCode::Backspace, held));
            let of_both = backspaces.iter().filter_map(|key| actions.get(key)).flatten().copied().collect();
            actions.insert(ctrl_h, of_both);
        }
        Self { keys, actions }
    }

    /// The defaults with what `file` says, and what is wrong with it. A missing file says nothing. A file that is no JSON
    /// says nothing either; a single entry that makes no sense is left out. The file is never written.
    #[must_use]
    pub fn load(file: &Path) -> (Self, Vec<DocumentError>) {
        match regular_file::read_to_string(file) {
            Ok(text) => Self::parse(file, text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Self::default(), Vec::new()),
            Err(error) => {
                let message = format!("cannot be read: {error}");
                let problem =
                    DocumentError { file: file.to_owned(), line: 1, column: 1, field: String::new(), message };
                (Self::default(), vec![problem])
            }
        }
    }

    /// The same from the file's text.
    #[must_use]
    pub fn parse(file: &Path, text: String) -> (Self, Vec<DocumentError>) {
        let document = match Document::parse(file, text, Syntax::Comments) {
            Ok(document) => document,
            Err(problem) => return (Self::default(), vec![problem]),
        };
        let Self { mut keys, .. } = Self::default();
        let faults = replace(&mut keys, &document.root());
        (Self::new(keys), faults.iter().map(|fault| document.locate(fault)).collect())
    }

    /// Whether the key does that.
    #[must_use]
    pub fn is(&self, key: Key, action: Action) -> bool {
        self.actions(key).any(|of_key| of_key == action)
    }

    /// All that a key does, each in its own place, in the order of [`Action::ALL`].
    pub fn actions(&self, key: Key) -> impl Iterator<Item = Action> {
        self.actions.get(&key.canonical()).into_iter().flatten().copied()
    }

    /// The keys of an action, the first one to be shown.
    #[must_use]
    pub fn keys_of(&self, action: Action) -> &[Key] {
        &self.keys[action as usize]
    }

    /// The first key of an action as text, such as `ctrl+o`; none when it has no key.
    #[must_use]
    pub fn hint(&self, action: Action) -> Option<String> {
        self.keys_of(action).first().map(Key::to_string)
    }
}

/// Puts what the file says in the place of the defaults.
fn replace(keys: &mut [Vec<Key>], root: &Field<'_>) -> Vec<Fault> {
    if root.value().is_null() {
        return Vec::new();
    }
    let object = match root.object() {
        Ok(object) => object,
        Err(fault) => return vec![fault],
    };
    let mut faults = Vec::new();
    let mut old = Vec::new();
    let mut given = HashSet::new();
    for (id, field) in object.entries() {
        if let Some(action) = Action::from_id(id) {
            given.insert(action);
            set(&mut keys[action as usize], &field, &mut faults);
        } else if let Some(action) = Action::from_old_name(id) {
            old.push((action, field));
        } else {
            faults.push(field.fault("expected the id of an action, see /hotkeys for them"));
        }
    }
    // The new name of an action counts, wherever it stands.
    for (action, field) in old.into_iter().filter(|(action, _)| !given.contains(action)) {
        set(&mut keys[action as usize], &field, &mut faults);
    }
    faults
}

/// Keys that cannot be read are left out; when none is left of some, the defaults stay.
fn set(keys: &mut Vec<Key>, field: &Field<'_>, faults: &mut Vec<Fault>) {
    let names = match field.value() {
        serde_json::Value::String(_) => vec![field.clone()],
        _ => match field.items() {
            Ok(items) => items,
            Err(_) => return faults.push(field.expected("a key or a list of keys")),
        },
    };
    let mut read = Vec::new();
    for name in &names {
        match name.text().map(Key::parse) {
            Ok(Ok(key)) => read.push(key),
            Ok(Err(error)) => faults.push(name.fault(error.to_string())),
            Err(fault) => faults.push(fault),
        }
    }
    if names.is_empty() || !read.is_empty() {
        *keys = read;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Keymap, Vec<String>) {
        let (keymap, problems) = Keymap::parse(Path::new("keybindings.json"), text.to_owned());
        (keymap, problems.iter().map(ToString::to_string).collect())
    }

    fn names(keymap: &Keymap, action: Action) -> Vec<String> {
        keymap.keys_of(action).iter().map(Key::to_string).collect()
    }

    #[test]
    fn keys_do_what_the_table_says_in_all_their_forms() {
        let keymap = Keymap::default();
        let char = |character, modifiers| Key::with(KeyCode::Char(character), modifiers);
        let ctrl = Modifiers::CTRL;
        for (key, action) in [
            (char('L', Modifiers::NONE), Action::EditLabel),
            (char('p', ctrl | Modifiers::SHIFT), Action::PreviousModel),
            (char('P', ctrl), Action::PreviousModel),
            (char('j', ctrl), Action::NewLine),
            (char('_', ctrl), Action::Undo),
            (char('-', ctrl), Action::Undo),
            (char('h', ctrl), Action::DeleteCharBackward),
            (Key::with(KeyCode::Tab, Modifiers::SHIFT), Action::CycleThinking),
            (char(']', ctrl | Modifiers::ALT), Action::JumpBackward),
            (Key::with(KeyCode::Backspace, ctrl), Action::DeleteSessionNoninvasive),
        ] {
            assert!(keymap.is(key, action), "{key} {action:?}");
        }
        assert!(!keymap.is(char('l', Modifiers::NONE), Action::EditLabel));
        assert!(!keymap.is(char('p', ctrl), Action::PreviousModel));
        assert_eq!(keymap.actions(char('x', Modifiers::NONE)).count(), 0);
        let of_escape = [Action::SelectCancel, Action::SearchClose, Action::Interrupt];
        assert_eq!(keymap.actions(Key::plain(KeyCode::Escape)).collect::<Vec<_>>(), of_escape);
    }

    #[test]
    fn the_file_replaces_the_keys_that_it_names() {
        let (keymap, problems) = parse(
            r#"{ // mine
                "tui.input.submit": "ctrl+x", "tui.input.newLine": ["enter", "ctrl+j"], "app.message.copy": [],
                "cursorUp": "ctrl+h", "interrupt": "ctrl+1", "app.interrupt": "ctrl+2" }"#,
        );
        assert_eq!(problems, [""; 0]);
        assert_eq!(names(&keymap, Action::Submit), ["ctrl+x"]);
        assert_eq!(names(&keymap, Action::NewLine), ["enter", "ctrl+j"]);
        assert_eq!(names(&keymap, Action::CopyMessage), [""; 0]);
        assert_eq!(names(&keymap, Action::CursorUp), ["ctrl+h"]);
        assert_eq!(names(&keymap, Action::Interrupt), ["ctrl+2"], "the new name counts");
        assert_eq!(names(&keymap, Action::Yank), ["ctrl+y"]);
        assert!(!keymap.is(Key::plain(KeyCode::Enter), Action::Submit));
        assert!(keymap.is(Key::with(KeyCode::Char('h'), Modifiers::CTRL), Action::CursorUp));
        assert!(!keymap.is(Key::with(KeyCode::Char('h'), Modifiers::CTRL), Action::DeleteCharBackward));
        assert_eq!((keymap.hint(Action::Submit).as_deref(), keymap.hint(Action::CopyMessage)), (Some("ctrl+x"), None));
    }

    #[test]
    fn what_makes_no_sense_is_told_and_left_out() {
        for (text, told) in [
            ("[1,", "keybindings.json:1:"),
            ("{\n  \"app.clear\" \"x\" }", "keybindings.json:2:"),
            ("[1]", "keybindings.json:1:1: expected an object, found"),
            ("{\n \"app.nothing\": \"x\" }", "keybindings.json:2:2: app.nothing: expected the id of an action"),
            (
                r#"{"app.clear": "hyper+x"}"#,
                "expected a key such as ctrl+p, shift+enter, pageUp or f5, found \"hyper+x\"",
            ),
            (r#"{"app.clear": 7}"#, "app.clear: expected a key or a list of keys, found 7"),
            (r#"{"app.clear": [7]}"#, "app.clear[0]: expected a text, found 7"),
        ] {
            let (keymap, problems) = parse(text);
            assert_eq!(problems.len(), 1, "{text}");
            assert!(problems[0].contains(told), "{text}: {problems:?}");
            assert_eq!(names(&keymap, Action::Clear), ["ctrl+c"], "{text}");
        }
        let (keymap, problems) = parse(r#"{"app.clear": ["nokey", "f2"]}"#);
        assert_eq!((names(&keymap, Action::Clear), problems.len()), (vec!["f2".to_owned()], 1));
        assert!(parse("").1.is_empty(), "an empty file says nothing");
    }
}
