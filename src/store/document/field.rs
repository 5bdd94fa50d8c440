//! Places in a document, read with errors that know where they are.

use serde_json::{Map, Value};

pub(super) fn spell(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            Step::Index(index) => out.push_str(&format!("[{index}]")),
            Step::Key(key) if out.is_empty() => out.push_str(key),
            Step::Key(key) => out.push_str(&format!(".{key}")),
        }
    }
    out
}

/// A step from a value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into an object.
    Key(String),
    /// Into an array.
    Index(usize),
}

/// A field that does not hold what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(super) path: Vec<Step>,
    pub(super) message: String,
}

impl Fault {
    /// The field and what is wrong with it, without the file.
    #[must_use]
    pub fn describe(&self) -> String {
        let field = spell(&self.path);
        if field.is_empty() { self.message.clone() } else { format!("{field}: {}", self.message) }
    }
}

/// A place in a document.
#[derive(Clone, Debug)]
pub struct Field<'a> {
    value: &'a Value,
    path: Vec<Step>,
}

impl<'a> Field<'a> {
    /// A field that stands for a whole value, for data that comes from no file.
    #[must_use]
    pub fn of(value: &'a Value) -> Self {
        Self { value, path: Vec::new() }
    }

    /// The name that the field has in its object; none for an element of a list and for the whole.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self.path.last() {
            Some(Step::Key(name)) => Some(name),
            _ => None,
        }
    }

    /// The value itself.
    #[must_use]
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// A fault of this field: `expected`, and what was found.
    #[must_use]
    pub fn expected(&self, expected: &str) -> Fault {
        Fault { path: self.path.clone(), message: format!("expected {expected}, found {}", found(self.value)) }
    }

    /// A fault of this field that does not show what was found (it may be a secret).
    #[must_use]
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        Fault { path: self.path.clone(), message: message.into() }
    }

    /// The field's text.
    ///
    /// # Errors
    /// It holds something else. The same holds for the other readers.
    pub fn text(&self) -> Result<&'a str, Fault> {
        self.value.as_str().ok_or_else(|| self.expected("a text"))
    }

    /// The field's text, which must be one of `names`.
    ///
    /// # Errors
    /// It is none of them.
    pub fn one_of(&self, names: &[&str]) -> Result<&'a str, Fault> {
        let known = self.value.as_str().filter(|text| names.contains(text));
        known.ok_or_else(|| self.expected(&format!("one of {}", names.join(", "))))
    }

    /// True or false.
    ///
    /// # Errors
    /// See [`Self::text`].
    pub fn flag(&self) -> Result<bool, Fault> {
        self.value.as_bool().ok_or_else(|| self.expected("true or false"))
    }

    /// A whole number, zero or more.
    ///
    /// # Errors
    /// See [`Self::text`].
    pub fn whole(&self) -> Result<u64, Fault> {
        self.value.as_u64().ok_or_else(|| self.expected("a whole number"))
    }

    /// Any number.
    ///
    /// # Errors
    /// See [`Self::text`].
    pub fn number(&self) -> Result<f64, Fault> {
        self.value.as_f64().ok_or_else(|| self.expected("a number"))
    }

    /// The elements of a list.
    ///
    /// # Errors
    /// See [`Self::text`].
    pub fn items(&self) -> Result<Vec<Field<'a>>, Fault> {
        let list = self.value.as_array().ok_or_else(|| self.expected("a list"))?;
        Ok(list.iter().enumerate().map(|(index, value)| self.inner(Step::Index(index), value)).collect())
    }

    /// The field as an object.
    ///
    /// # Errors
    /// See [`Self::text`].
    pub fn object(&self) -> Result<Object<'a>, Fault> {
        let map = self.value.as_object().ok_or_else(|| self.expected("an object"))?;
        Ok(Object { map, field: self.clone() })
    }

    fn inner(&self, step: Step, value: &'a Value) -> Field<'a> {
        let mut path = self.path.clone();
        path.push(step);
        Field { value, path }
    }
}

/// An object of a document.
#[derive(Clone, Debug)]
pub struct Object<'a> {
    map: &'a Map<String, Value>,
    field: Field<'a>,
}

impl<'a> Object<'a> {
    /// The field of that name; null counts as absent.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Field<'a>> {
        let value = self.map.get(key).filter(|value| !value.is_null())?;
        Some(self.field.inner(Step::Key(key.to_owned()), value))
    }

    /// The field of that name.
    ///
    /// # Errors
    /// It is absent.
    pub fn require(&self, key: &str, expected: &str) -> Result<Field<'a>, Fault> {
        self.get(key).ok_or_else(|| {
            let missing = self.field.inner(Step::Key(key.to_owned()), &Value::Null);
            Fault { path: missing.path, message: format!("expected {expected}, found nothing") }
        })
    }

    /// Reads the field of that name when it is there.
    ///
    /// # Errors
    /// What `read` says.
    pub fn read<T>(&self, key: &str, read: impl Fn(&Field<'a>) -> Result<T, Fault>) -> Result<Option<T>, Fault> {
        self.get(key).as_ref().map(read).transpose()
    }

    /// All fields in order, null ones included.
    pub fn entries(&self) -> impl Iterator<Item = (&'a str, Field<'a>)> {
        self.map.iter().map(|(key, value)| (key.as_str(), self.field.inner(Step::Key(key.clone()), value)))
    }

    /// The object as a map.
    #[must_use]
    pub fn map(&self) -> &'a Map<String, Value> {
        self.map
    }

    /// A fault of the object itself.
    #[must_use]
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        self.field.fault(message)
    }

    /// The fields that are not in `known`, each with the nearest name that is.
    #[must_use]
    pub fn unknown<'k>(&self, known: &'k [&str]) -> Vec<(Field<'a>, Option<&'k str>)> {
        let strangers = self.entries().filter(|(key, _)| !known.contains(key));
        strangers.map(|(key, field)| (field, nearest(key, known))).collect()
    }

    /// Refuses fields that are not in `known`: they are typing errors.
    ///
    /// # Errors
    /// There is such a field; the message names the nearest known one.
    pub fn only(&self, known: &[&str]) -> Result<(), Fault> {
        let Some((field, near)) = self.unknown(known).into_iter().next() else { return Ok(()) };
        Err(field.fault(match near {
            Some(near) => format!("unknown field (did you mean {near}?)"),
            None => format!("unknown field; expected one of {}", known.join(", ")),
        }))
    }
}

/// The name of `known` that `name` may be a misspelling of.
#[must_use]
pub fn nearest<'k>(name: &str, known: &'k [&str]) -> Option<&'k str> {
    let near = known.iter().copied().max_by(|a, b| strsim::jaro(a, name).total_cmp(&strsim::jaro(b, name)));
    near.filter(|near| strsim::jaro(near, name) > 0.7)
}

/// A value as an error message shows it: short, and a text only by its beginning.
fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.chars().count() <= 40 => format!("{text:?}"),
        Value::String(text) => format!("{:?}…", text.chars().take(40).collect::<String>()),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
