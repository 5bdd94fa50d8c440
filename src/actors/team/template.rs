//! Texts with places that values are put into: `{{input.topic}}`, `{{worker.output.title}}`. Dotted paths and nothing
//! else: whatever needs more is the work of an agent or of a command.

use std::fmt;

use serde_json::Value;

/// Characters of one value that are put into a text: what is longer has no place in a prompt.
pub const LONGEST_VALUE: usize = 100_000;

/// A text with places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Place(Place),
}

/// What stands for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `{{input.NAME}}`: what the user gave.
    Input(String),
    /// `{{STEP.output}}`, `{{STEP.output.FIELD}}`: what a step made.
    Output(OutputPath),
    /// `{{STEP.patch}}`: what an agent changed in its worktree.
    Patch(String),
    /// `{{item}}`, `{{item.FIELD}}`: the element of the list that this agent is for.
    Item(Vec<String>),
    /// `{{number}}`: which agent of its role it is, from 1.
    Number,
    /// `{{round}}`: the round of a review or a debate, from 1.
    Round,
    /// `{{others}}`: what the other speakers of a debate said in the round before.
    Others,
    /// `{{seed}}`: the seed of the run.
    Seed,
}

/// A step's output, or a field of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPath {
    /// The step.
    pub step: String,
    /// The fields on the way, from the outside.
    pub fields: Vec<String>,
}

impl OutputPath {
    /// Reads `STEP.output.FIELD…`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match Place::parse(text)? {
            Place::Output(path) => Some(path),
            _ => None,
        }
    }

    /// The field within `output`; none when there is no such field.
    #[must_use]
    pub fn of<'v>(&self, output: &'v Value) -> Option<&'v Value> {
        within(output, &self.fields)
    }
}

/// The value behind these fields.
#[must_use]
pub fn within<'v>(value: &'v Value, fields: &[String]) -> Option<&'v Value> {
    fields.iter().try_fold(value, |value, field| value.get(field.as_str()))
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split('.').map(str::to_owned);
        let first = words.next()?;
        let rest: Vec<String> = words.collect();
        if first.is_empty() || rest.iter().any(String::is_empty) || text.chars().any(char::is_whitespace) {
            return None;
        }
        Some(match (first.as_str(), rest.as_slice()) {
            ("input", [name]) => Self::Input(name.clone()),
            ("item", _) => Self::Item(rest),
            ("number", []) => Self::Number,
            ("round", []) => Self::Round,
            ("others", []) => Self::Others,
            ("seed", []) => Self::Seed,
            ("input" | "number" | "round" | "others" | "seed", _) => return None,
            (_, [patch]) if patch == "patch" => Self::Patch(first),
            (_, [output, fields @ ..]) if output == "output" => {
                Self::Output(OutputPath { step: first, fields: fields.to_vec() })
            }
            _ => return None,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(name) => write!(f, "input.{name}"),
            Self::Output(OutputPath { step, fields }) => {
                write!(f, "{step}.output")?;
                fields.iter().try_for_each(|field| write!(f, ".{field}"))
            }
            Self::Patch(step) => write!(f, "{step}.patch"),
            Self::Item(fields) => {
                f.write_str("item")?;
                fields.iter().try_for_each(|field| write!(f, ".{field}"))
            }
            Self::Number => f.write_str("number"),
            Self::Round => f.write_str("round"),
            Self::Others => f.write_str("others"),
            Self::Seed => f.write_str("seed"),
        }
    }
}

impl Template {
    /// Reads a text. `\{{` is two braces.
    ///
    /// # Errors
    /// A place that cannot be one, in words for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let (mut plain, mut rest) = (String::new(), text);
        while let Some(at) = rest.find("{{") {
            if let Some(before) = rest[..at].strip_suffix('\\') {
                plain.push_str(before);
                plain.push_str("{{");
                rest = &rest[at + 2..];
                continue;
            }
            plain.push_str(&rest[..at]);
            let inside = &rest[at + 2..];
            let end = inside.find("}}").ok_or("expected }} behind {{ (two braces themselves are \\{{)")?;
            let name = inside[..end].trim();
            let place = Place::parse(name).ok_or_else(|| {
                format!(
                    "{{{{{name}}}}} is no place; expected input.NAME, STEP.output, STEP.output.FIELD, STEP.patch, item, \
                     item.FIELD, number, round, others or seed"
                )
            })?;
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::Place(place));
            rest = &inside[end + 2..];
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self { parts })
    }

    /// Whether it can never have a word: white space alone.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Text(text) if text.trim().is_empty()))
    }

    /// The places in order.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.parts.iter().filter_map(|part| match part {
            Part::Place(place) => Some(place),
            Part::Text(_) => None,
        })
    }

    /// The text with what `value_of` gives for its places.
    ///
    /// # Errors
    /// A place that has no value.
    pub fn fill(&self, value_of: impl Fn(&Place) -> Option<Value>) -> Result<String, String> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Place(place) => {
                    let value = value_of(place).ok_or_else(|| format!("{{{{{place}}}}} has no value"))?;
                    push_cut(&mut out, &shown(&value));
                }
            }
        }
        Ok(out)
    }
}

/// A message for an agent: what came of a template, when it has words in it.
///
/// # Errors
/// It has none: nobody can work at that. The places of the template are named.
pub fn message(template: &Template, filled: String) -> Result<String, String> {
    if !filled.trim().is_empty() {
        return Ok(filled);
    }
    let places: Vec<String> = template.places().map(|place| format!("{{{{{place}}}}}")).collect();
    Err(match places.as_slice() {
        [] => "is empty".to_owned(),
        [one] => format!("is empty: {one} has no words"),
        many => format!("is empty: {} have no words", many.join(" and ")),
    })
}

/// A value as a prompt has it: a text as it is, anything else as JSON.
#[must_use]
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

fn push_cut(out: &mut String, text: &str) {
    match text.char_indices().nth(LONGEST_VALUE) {
        None => out.push_str(text),
        Some((end, _)) => {
            out.push_str(&text[..end]);
            out.push_str(&format!("\n[cut: {LONGEST_VALUE} of {} characters]", text.chars().count()));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_dotted_paths_and_anything_else_is_refused() {
        let table = [
            ("{{input.topic}}", "input.topic"),
            ("{{ worker.output }}", "worker.output"),
            ("{{worker.output.a.b}}", "worker.output.a.b"),
            ("{{worker.patch}}", "worker.patch"),
            ("{{item}}", "item"),
            ("{{item.path}}", "item.path"),
            ("{{number}}", "number"),
        ];
        for (text, expected) in table {
            let template = Template::parse(text).unwrap();
            assert_eq!(template.places().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
        }
        for text in
            ["{{}}", "{{worker}}", "{{input}}", "{{a b}}", "{{x.}}", "{{round.2}}", "{{x.output == 1}}", "{{open"]
        {
            assert!(Template::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_text_is_filled_once_and_what_is_put_in_is_never_read_as_a_template() {
        let template = Template::parse("On {{input.x}}: \\{{kept}} {{a.output.n}}{{number}}").unwrap();
        let values = |place: &Place| match place {
            Place::Input(_) => Some(json!("{{number}}")),
            Place::Output(path) => path.of(&json!({"n": {"m": [1]}})).cloned(),
            Place::Number => Some(json!(7)),
            _ => None,
        };
        assert_eq!(template.fill(values).unwrap(), "On {{number}}: {{kept}} {\n  \"m\": [\n    1\n  ]\n}7");
        let missing = Template::parse("{{a.output.z}}").unwrap().fill(values);
        assert_eq!(missing.unwrap_err(), "{{a.output.z}} has no value");
    }

    #[test]
    fn a_value_that_is_too_long_is_cut_and_says_so() {
        let long = "é".repeat(LONGEST_VALUE + 5);
        let filled = Template::parse("{{seed}}").unwrap().fill(|_| Some(json!(long))).unwrap();
        assert!(filled.ends_with("\n[cut: 100000 of 100005 characters]"), "{}", &filled[filled.len() - 60..]);
    }
}
