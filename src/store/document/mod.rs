//! JSON and TOML files that people write: parsed with errors that name file, line, column, field and what was expected.
//!
//! A [`Document`] is the parsed file, a [`Field`] a place in it. Reading a field of the wrong type gives a [`Fault`],
//! which knows the field; [`Document::locate`] adds file and line to it. The file is parsed a second time for that:
//! positions are needed once, when something is wrong.

mod field;
mod toml;

use std::{
    fmt,
    path::{Path, PathBuf},
};

use jsonc_parser::{
    ParseOptions,
    ast::{ObjectPropName, Value as Node},
    common::Ranged,
    errors::{ParseError, ParseErrorKind},
};
use serde_json::Value;

use field::spell;
pub use field::{Fault, Field, Object, Step, nearest};

/// What a file may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON as the standard has it.
    Strict,
    /// Comments and trailing commas too.
    Comments,
    /// TOML.
    Toml,
}

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentError {
    /// The file.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The field, such as `providers.local.models[0].id`; empty for a syntax error.
    pub field: String,
    /// What is wrong: what was expected and what was found.
    pub message: String,
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file.display(), self.line, self.column)?;
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for DocumentError {}

/// A parsed file.
#[derive(Debug)]
pub struct Document {
    file: PathBuf,
    text: String,
    syntax: Syntax,
    root: Value,
}

impl Document {
    /// Parses `text`, the contents of `file`. A byte order mark is skipped; an empty file holds null.
    ///
    /// # Errors
    /// The text is not of that syntax.
    pub fn parse(file: &Path, text: String, syntax: Syntax) -> Result<Self, DocumentError> {
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        if syntax == Syntax::Toml {
            return match toml::parse(&text) {
                Ok(root) => Ok(Self { file: file.to_owned(), text, syntax, root }),
                Err((at, message)) => Err(located(file, &text, at, String::new(), message)),
            };
        }
        match jsonc_parser::parse_to_serde_value(&text, &options(syntax)) {
            Ok(root) => Ok(Self { file: file.to_owned(), text, syntax, root }),
            Err(error) => {
                // The tree parser says more exactly what it misses.
                let precise = jsonc_parser::parse_to_ast(&text, &Default::default(), &options(syntax)).err();
                Err(syntax_error(file, precise.as_ref().unwrap_or(&error)))
            }
        }
    }

    /// The whole.
    #[must_use]
    pub fn root(&self) -> Field<'_> {
        Field::of(&self.root)
    }

    /// The whole as a value.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.root
    }

    /// Adds file and line to a fault of one of this document's fields.
    #[must_use]
    pub fn locate(&self, fault: &Fault) -> DocumentError {
        let offset = match self.syntax {
            Syntax::Toml => toml::offset_of(&self.text, &fault.path),
            Syntax::Strict | Syntax::Comments => {
                let parsed = jsonc_parser::parse_to_ast(&self.text, &Default::default(), &options(Syntax::Comments));
                let root = parsed.ok().and_then(|result| result.value);
                root.map_or(0, |root| offset_of(&root, &fault.path))
            }
        };
        located(&self.file, &self.text, offset, spell(&fault.path), fault.message.clone())
    }
}

/// An error at a byte of the text.
fn located(file: &Path, text: &str, offset: usize, field: String, message: String) -> DocumentError {
    let before = text.get(..offset).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    DocumentError {
        file: file.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        field,
        message,
    }
}

fn options(syntax: Syntax) -> ParseOptions {
    let comments = syntax == Syntax::Comments;
    ParseOptions {
        allow_comments: comments,
        allow_trailing_commas: comments,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn syntax_error(file: &Path, error: &ParseError) -> DocumentError {
    let message = match error.kind() {
        ParseErrorKind::TrailingCommasNotAllowed => "expected no comma before the closing bracket".to_owned(),
        ParseErrorKind::CommentsNotAllowed => "expected no comment: this file is plain JSON".to_owned(),
        ParseErrorKind::ExpectedComma => "expected a comma or a closing bracket".to_owned(),
        ParseErrorKind::ExpectedColonAfterObjectKey => "expected a colon after the field's name".to_owned(),
        ParseErrorKind::ExpectedObjectValue => "expected a value after the colon".to_owned(),
        ParseErrorKind::ExpectedStringObjectProperty | ParseErrorKind::UnexpectedTokenInObject => {
            "expected a field name in double quotes or a closing brace".to_owned()
        }
        ParseErrorKind::UnterminatedObject => "expected a closing brace before the end of the file".to_owned(),
        ParseErrorKind::UnterminatedArray => "expected a closing bracket before the end of the file".to_owned(),
        ParseErrorKind::MultipleRootJsonValues => "expected the end of the file after the value".to_owned(),
        other => format!("expected JSON: {other}"),
    };
    let (line, column) = (error.line_display(), error.column_display());
    DocumentError { file: file.to_owned(), line, column, field: String::new(), message }
}

/// Where a field begins in the text; for a missing one, where its parent does.
fn offset_of(root: &Node<'_>, path: &[Step]) -> usize {
    let mut node = root;
    let mut offset = node.range().start;
    for step in path {
        let next = match (step, node) {
            (Step::Index(index), Node::Array(array)) => array.elements.get(*index).map(|value| (value.start(), value)),
            (Step::Key(key), Node::Object(object)) => object
                .properties
                .iter()
                .rfind(|property| property_name(&property.name) == key)
                .map(|property| (property.range.start, &property.value)),
            _ => None,
        };
        let Some((start, value)) = next else { break };
        offset = start;
        node = value;
    }
    offset
}

fn property_name<'a>(name: &'a ObjectPropName<'_>) -> &'a str {
    name.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, syntax: Syntax) -> Result<Document, DocumentError> {
        Document::parse(Path::new("f.json"), text.to_owned(), syntax)
    }

    #[test]
    fn syntax_errors_name_file_line_column_and_what_was_expected() {
        let table = [
            (r#"{"theme":"dark","keep":1,}"#, "f.json:1:25: expected no comma before the closing bracket"),
            ("{\n  \"a\": 1\n  \"b\": 2\n}", "f.json:2:9: expected a comma or a closing bracket"),
            ("{\"a\" 1}", "f.json:1:6: expected a colon after the field's name"),
            ("{a: 1}", "f.json:1:2: expected a field name in double quotes or a closing brace"),
            ("// c\n{}", "f.json:1:1: expected no comment: this file is plain JSON"),
            (r#"{"providers": {"mock": "#, "f.json:1:24: expected a value after the colon"),
            ("{} {}", "f.json:1:4: expected the end of the file after the value"),
        ];
        let errors = table.map(|(text, _)| parse(text, Syntax::Strict).expect_err(text).to_string());
        assert_eq!(errors, table.map(|(_, expected)| expected));
        assert!(parse("// c\n{\"a\": [1,],}", Syntax::Comments).is_ok());
        assert_eq!(parse("\u{feff}{}", Syntax::Strict).unwrap().into_value(), serde_json::json!({}));
        assert_eq!(parse("", Syntax::Strict).unwrap().into_value(), Value::Null);
    }

    #[test]
    fn a_field_of_the_wrong_type_is_named_with_its_line() {
        let text = "{\n  // local\n  \"models\": [\n    {\"id\": \"é\", \"size\": \"big\"}\n  ]\n}";
        let document = parse(text, Syntax::Comments).unwrap();
        let models = document.root().object().unwrap().get("models").unwrap().items().unwrap();
        let model = models[0].object().unwrap();
        let fault = model.get("size").unwrap().whole().unwrap_err();
        assert_eq!(
            document.locate(&fault).to_string(),
            "f.json:4:17: models[0].size: expected a whole number, found \"big\""
        );
        let fault = model.require("api", "the wire API").unwrap_err();
        assert_eq!(
            document.locate(&fault).to_string(),
            "f.json:4:5: models[0].api: expected the wire API, found nothing"
        );
        let fault = model.only(&["id", "sizes"]).unwrap_err();
        assert_eq!(
            document.locate(&fault).to_string(),
            "f.json:4:17: models[0].size: unknown field (did you mean sizes?)"
        );
    }
    #[test]
    fn toml_gives_the_same_values_and_the_same_errors() {
        let text =
            "[team]\nname = \"a\"\nsize = 1_000\nwhen = 2026-01-02\n[role.b]\ntools = [\"read\", 3]\nx.y = 1.5\n";
        let document = parse(text, Syntax::Toml).unwrap();
        let root = document.root().object().unwrap();
        let role = root.get("role").unwrap().object().unwrap().get("b").unwrap().object().unwrap();
        let tools = role.get("tools").unwrap().items().unwrap();
        let faults = [
            tools[1].text().unwrap_err(),
            role.require("prompt", "a text").unwrap_err(),
            role.get("x").unwrap().object().unwrap().get("y").unwrap().whole().unwrap_err(),
            root.get("team").unwrap().object().unwrap().only(&["names", "size", "when"]).unwrap_err(),
        ];
        let errors = faults.map(|fault| document.locate(&fault).to_string());
        let expected = [
            "f.json:6:18: role.b.tools[1]: expected a text, found 3",
            "f.json:5:7: role.b.prompt: expected a text, found nothing",
            "f.json:7:3: role.b.x.y: expected a whole number, found 1.5",
            "f.json:2:1: team.name: unknown field (did you mean names?)",
        ];
        assert_eq!(errors, expected);
        let team = serde_json::json!({"name": "a", "size": 1000, "when": "2026-01-02"});
        assert_eq!(document.into_value()["team"], team);
        for (text, expected) in [
            ("a = 1\nb = \n", "f.json:2:"),
            ("a = 1\na = 2\n", "f.json:2:1: expected TOML: duplicate key"),
            ("a = inf\n", "f.json:1:5: expected a finite number, found inf"),
            ("a = 99999999999999999999\n", "f.json:1:5: expected a whole number of 64 bits"),
        ] {
            let error = parse(text, Syntax::Toml).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
