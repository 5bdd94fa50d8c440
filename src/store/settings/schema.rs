//! What is wrong with the values of a settings file, so that a typing error is told instead of silently reading as the
//! default.

use std::path::Path;

use serde_json::Value;

use super::{
    GLOBAL_ONLY, Scope,
    table::{
        Kind::{
            self, AutoOr, Flag, FlagOr, Levels, Limit, Number, Object, Packages, Range, Resources, Size, Text, Texts,
            Word,
        },
        LEVELS, OLD_NAMES, SETTINGS,
    },
};
use crate::store::document::{Document, Fault, Field, Syntax};

/// Keys of an object in `packages`.
const PACKAGE_KEYS: [&str; 6] = ["source", "autoload", "extensions", "skills", "prompts", "themes"];

/// What is wrong with a settings file: values of another kind, each of which reads as its default; keys that a project
/// may not set; names that are nearly those of settings.
pub(super) fn check(root: &Field<'_>, scope: Scope) -> Vec<Fault> {
    let mut faults: Vec<Fault> = SETTINGS
        .iter()
        .filter_map(|setting| {
            let path: Vec<&str> = setting.key.split('.').collect();
            check_one(root, &path, setting.kind)
        })
        .collect();
    if scope == Scope::Project
        && let Ok(object) = root.object()
    {
        let refused = GLOBAL_ONLY.iter().filter_map(|key| object.get(key));
        faults
            .extend(refused.map(|field| field.fault("only the user's own settings.json may set this; it is ignored")));
    }
    faults.extend(misspelled(root, ""));
    faults
}

/// Whether a setting may have this value.
///
/// # Errors
/// What is wrong with it, in words for people.
pub fn check_value(key: &str, value: &Value) -> Result<(), String> {
    let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) else { return Ok(()) };
    let document = Document::parse(Path::new(key), value.to_string(), Syntax::Strict);
    let document = document.map_err(|problem| problem.message)?;
    setting.kind.fault(&document.root()).map_or(Ok(()), |fault| Err(fault.describe()))
}

fn check_one(root: &Field<'_>, path: &[&str], kind: Kind) -> Option<Fault> {
    let Some((key, rest)) = path.split_first() else { return kind.fault(root) };
    // An object that is none is told once, at its own line of the table.
    let field = root.object().ok()?.get(key)?;
    check_one(&field, rest, kind)
}

/// Unknown names in `object`, which has the name `of`, that are nearly those of settings.
fn misspelled(object: &Field<'_>, of: &str) -> Vec<Fault> {
    let Ok(object) = object.object() else { return Vec::new() };
    let inner = |key: &'static str| match of {
        "" => (!key.contains('.')).then_some(key),
        of => key.strip_prefix(of)?.strip_prefix('.').filter(|key| !key.contains('.')),
    };
    let names = SETTINGS.iter().map(|setting| setting.key).chain(OLD_NAMES);
    let known: Vec<&str> = names.filter_map(inner).collect();
    if known.is_empty() {
        // Its keys are names of models, levels and the like.
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (key, field) in object.entries() {
        if known.contains(&key) {
            let name = if of.is_empty() { key.to_owned() } else { format!("{of}.{key}") };
            faults.extend(misspelled(&field, &name));
        } else if let Some(near) = known.iter().find(|known| is_near(key, known)) {
            faults.push(field.fault(format!("unknown setting (did you mean {near}?)")));
        }
    }
    faults
}

/// Whether `key` is `known` with a slip of the fingers. Not more than that: the file has keys of other programs too.
fn is_near(key: &str, known: &str) -> bool {
    key.eq_ignore_ascii_case(known) || (known.len() > 5 && strsim::osa_distance(key, known) <= 2)
}

impl Kind {
    fn fault(self, field: &Field<'_>) -> Option<Fault> {
        let number = field.value().as_f64().filter(|number| *number >= 0.0);
        let out_of = |(min, max): (u32, u32)| number.is_some_and(|n| n < f64::from(min) || n > f64::from(max));
        match self {
            Flag => field.flag().err(),
            FlagOr(words) if field.text().is_ok_and(|text| words.contains(&text)) => None,
            FlagOr(words) => {
                field.flag().is_err().then(|| field.expected(&format!("true, false or one of {}", words.join(", "))))
            }
            Number => number.is_none().then(|| field.expected("a number, zero or more")),
            AutoOr(..) if field.text() == Ok("auto") => None,
            Range(min, max) | AutoOr(min, max) if out_of((min, max)) => Some(field.fault(format!(
                "expected a number from {min} to {max}, found {}; the nearest one counts",
                field.value()
            ))),
            Range(min, max) => number.is_none().then(|| field.expected(&format!("a number from {min} to {max}"))),
            AutoOr(min, max) => {
                number.is_none().then(|| field.expected(&format!("auto or a number from {min} to {max}")))
            }
            Limit if field.text() == Ok("disabled") => None,
            Limit => number.is_none().then(|| field.expected("milliseconds or \"disabled\"")),
            Size if field.text().is_ok_and(|text| super::checkpoints::parse_size(text).is_some()) => None,
            Size => number.is_none().then(|| field.expected("bytes, or a text like \"500MB\"")),
            Text => field.text().err(),
            Texts => texts(field).err(),
            Resources if field.value().is_object() => None,
            Resources => texts(field).err(),
            Word(words) => field.one_of(words).err(),
            Packages => packages(field).err(),
            Levels => levels(field).err(),
            Object => field.object().err(),
        }
    }
}

fn texts(field: &Field<'_>) -> Result<(), Fault> {
    field.items()?.iter().try_for_each(|item| item.text().map(drop))
}

fn levels(field: &Field<'_>) -> Result<(), Fault> {
    field.object()?.entries().try_for_each(|(_, level)| level.one_of(&LEVELS).map(drop))
}

fn packages(field: &Field<'_>) -> Result<(), Fault> {
    field.items()?.iter().try_for_each(|item| {
        if item.value().is_string() {
            return Ok(());
        }
        if !item.value().is_object() {
            return Err(item.expected("a source such as \"npm:name\", or an object with one"));
        }
        let object = item.object()?;
        object.only(&PACKAGE_KEYS)?;
        object.require("source", "where the package comes from")?.text()?;
        object.read("autoload", Field::flag)?;
        PACKAGE_KEYS[2..].iter().try_for_each(|list| object.read(list, texts).map(drop))
    })
}
