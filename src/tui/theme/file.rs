//! Theme files.

use ratatui::style::Color;
use serde_json::{Map, Value as Json};

use super::{Appearance, Theme, ThemeColor, value::Value};

/// Variables that lead to variables, at most: a chain that is longer goes in a circle.
const LONGEST_CHAIN: usize = 64;

/// Why a theme cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    /// The file is no JSON.
    #[error("is not valid JSON: {0}. Correct the file, or choose another theme")]
    Json(String),
    /// Something in it is not what the format says.
    #[error("{key}: {problem}")]
    Key {
        /// Where.
        key: String,
        /// What is wrong, and what was expected.
        problem: String,
    },
}

fn wrong(key: impl Into<String>, problem: impl Into<String>) -> ThemeError {
    ThemeError::Key { key: key.into(), problem: problem.into() }
}

impl Theme {
    /// Reads a theme file.
    ///
    /// # Errors
    ///
    /// When it is not JSON, has a key that the format does not know, lacks one that it requires, or a colour or variable
    /// means nothing.
    pub fn parse(json: &str) -> Result<Self, ThemeError> {
        let json = json.strip_prefix('\u{feff}').unwrap_or(json);
        let file: Json = serde_json::from_str(json).map_err(|error| ThemeError::Json(error.to_string()))?;
        let file = file.as_object().ok_or_else(|| wrong("the file", "is not an object"))?;
        known(file, "", &["$schema", "name", "appearance", "vars", "colors", "export"])?;
        let name = name_of(file)?;
        let appearance = match file.get("appearance").map(|appearance| appearance.as_str()) {
            None | Some(Some("dark")) => Appearance::Dark,
            Some(Some("light")) => Appearance::Light,
            Some(_) => return Err(wrong("appearance", "is neither \"dark\" nor \"light\"")),
        };
        let vars = match object(file, "vars")? {
            None => Map::new(),
            Some(vars) => vars.clone(),
        };
        if let Some(export) = object(file, "export")? {
            known(export, "export.", &["pageBg", "cardBg", "infoBg"])?;
            for (key, value) in export {
                resolve(value, &vars, &format!("export.{key}"))?;
            }
        }
        for (key, value) in &vars {
            resolve(value, &vars, &format!("vars.{key}"))?;
        }
        let colors = object(file, "colors")?.ok_or_else(|| wrong("colors", "is missing"))?;
        let names: Vec<&str> = ThemeColor::ALL.iter().map(|color| color.name()).collect();
        known(colors, "colors.", &names)?;
        let mut resolved = Vec::with_capacity(names.len());
        for color in ThemeColor::ALL {
            let source = std::iter::successors(Some(*color), |color| color.fallback());
            let value = source.filter_map(|color| colors.get(color.name())).next();
            let key = format!("colors.{}", color.name());
            let value = value.ok_or_else(|| wrong(&key, "is missing; a theme gives every colour"))?;
            resolved.push(resolve(value, &vars, &key)?);
        }
        Ok(Self::new(name, appearance, |color| resolved[color as usize]))
    }
}

fn name_of(file: &Map<String, Json>) -> Result<String, ThemeError> {
    match file.get("name").and_then(Json::as_str) {
        None | Some("") => Err(wrong("name", "is missing or not a text")),
        Some("system") => Err(wrong("name", "\"system\" is taken: it follows the terminal's own colours")),
        Some(name) if name.contains('/') => Err(wrong("name", "must not have a /: it joins a light and a dark theme")),
        Some(name) => Ok(name.to_owned()),
    }
}

fn known(object: &Map<String, Json>, path: &str, keys: &[&str]) -> Result<(), ThemeError> {
    match object.keys().find(|key| !keys.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(wrong(format!("{path}{key}"), "is not a key of themes; remove it or correct its name")),
    }
}

fn object<'f>(file: &'f Map<String, Json>, key: &str) -> Result<Option<&'f Map<String, Json>>, ThemeError> {
    match file.get(key) {
        None => Ok(None),
        Some(Json::Object(object)) => Ok(Some(object)),
        Some(_) => Err(wrong(key, "is not an object")),
    }
}

/// The colour of a value, through as many variables as it takes.
fn resolve(value: &Json, vars: &Map<String, Json>, key: &str) -> Result<Color, ThemeError> {
    let mut value = value;
    for _ in 0..LONGEST_CHAIN {
        match Value::read(value).map_err(|problem| wrong(key, problem))? {
            Value::Color(color) => return Ok(color),
            Value::Variable(name) => {
                let found = vars.get(&name);
                value = found.ok_or_else(|| wrong(key, format!("there is no variable \"{name}\" in vars")))?;
            }
        }
    }
    Err(wrong(key, "its variables lead to each other in a circle"))
}

#[cfg(test)]
mod tests;
