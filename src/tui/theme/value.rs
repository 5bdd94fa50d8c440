//! The values of colours in theme files.

use ratatui::style::Color;

/// A colour as a theme file gives it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A colour of its own.
    Color(Color),
    /// That of a variable.
    Variable(String),
}

impl Value {
    /// Reads a value: `#RGB`, `#RRGGBB`, `oklch(L C H)`, `okhsl(H S L)`, 0 to 255, the name of a variable, or nothing for
    /// the terminal's own.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn read(json: &serde_json::Value) -> Result<Self, String> {
        match json {
            serde_json::Value::Number(number) => match number.as_u64().and_then(|index| u8::try_from(index).ok()) {
                Some(index) => Ok(Self::Color(Color::Indexed(index))),
                None => Err(format!("{number} is not a whole number from 0 to 255")),
            },
            serde_json::Value::String(text) => text_value(text),
            other => Err(format!("{other} is neither a text nor a number")),
        }
    }
}

fn text_value(text: &str) -> Result<Value, String> {
    if text.is_empty() {
        return Ok(Value::Color(Color::Reset));
    }
    if let Some(digits) = text.strip_prefix('#') {
        let [r, g, b] = hex(digits).ok_or_else(|| format!("\"{text}\" is not #RGB or #RRGGBB"))?;
        return Ok(Value::Color(Color::Rgb(r, g, b)));
    }
    Ok(Value::Variable(text.to_owned()))
}

/// The colour of three or six digits.
fn hex(digits: &str) -> Option<[u8; 3]> {
    let digits: Vec<u8> =
        digits.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect::<Option<_>>()?;
    match digits[..] {
        [r, g, b] => Some([r * 17, g * 17, b * 17]),
        [r, r2, g, g2, b, b2] => Some([r * 16 + r2, g * 16 + g2, b * 16 + b2]),
        _ => None,
    }
}
