//! The values of colours in theme files.

use ratatui::style::Color;

use super::oklab::{okhsl, oklch};

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
            serde_json::Value::String(text) => read_text(text),
            other => Err(format!("{other} is neither a text nor a number")),
        }
    }
}

fn read_text(text: &str) -> Result<Value, String> {
    let color = |[r, g, b]: [u8; 3]| Ok(Value::Color(Color::Rgb(r, g, b)));
    if text.is_empty() {
        return Ok(Value::Color(Color::Reset));
    }
    if let Some(digits) = text.strip_prefix('#') {
        return hex(digits).map_or_else(|| Err(format!("\"{text}\" is not #RGB or #RRGGBB")), color);
    }
    if let Some(inside) = inside(text, "oklch") {
        let found = numbers(inside, [1.0, 0.4, 1.0]).map(|[l, c, h]| oklch(l, c, h));
        let wrong = || format!("\"{text}\" is not oklch(L C H): lightness 0 to 1, chroma 0 to 0.4, hue in degrees");
        return found.map_or_else(|| Err(wrong()), color);
    }
    if let Some(inside) = inside(text, "okhsl") {
        let found = numbers(inside, [1.0; 3]).map(|[h, s, l]| okhsl(h, s, l));
        let wrong = || format!("\"{text}\" is not okhsl(H S L): hue in degrees, saturation and lightness 0 to 1");
        return found.map_or_else(|| Err(wrong()), color);
    }
    Ok(Value::Variable(text.to_owned()))
}

/// What stands between the brackets of `name(…)`.
fn inside<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.trim().strip_prefix(name)?.trim_start().strip_prefix('(')?.strip_suffix(')')
}

/// Three numbers between blanks or commas. One with `%` is that part of its `whole`; `deg` may stand behind a hue.
fn numbers(text: &str, wholes: [f64; 3]) -> Option<[f64; 3]> {
    let mut words = text.split([' ', ',']).filter(|word| !word.is_empty());
    let mut numbers = [0.0; 3];
    for (number, whole) in numbers.iter_mut().zip(wholes) {
        let word = words.next()?;
        *number = match word.strip_suffix('%') {
            Some(percent) => percent.parse::<f64>().ok()? / 100.0 * whole,
            None => word.strip_suffix("deg").unwrap_or(word).parse().ok()?,
        };
    }
    (words.next().is_none() && numbers.iter().all(|number| number.is_finite())).then_some(numbers)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_have_many_forms() {
        let rgb = |r, g, b| Ok(Value::Color(Color::Rgb(r, g, b)));
        for (json, wanted) in [
            (json!("#0af"), rgb(0, 170, 255)),
            (json!("#00AAff"), rgb(0, 170, 255)),
            (json!("oklch(1 0 0)"), rgb(255, 255, 255)),
            (json!("oklch(100%, 0%, 90deg)"), rgb(255, 255, 255)),
            (json!("okhsl(120 50% 0)"), rgb(0, 0, 0)),
            (json!(7), Ok(Value::Color(Color::Indexed(7)))),
            (json!(""), Ok(Value::Color(Color::Reset))),
            (json!("blue"), Ok(Value::Variable("blue".into()))),
        ] {
            assert_eq!(Value::read(&json), wanted, "{json}");
        }
        for (json, word) in [
            (json!("#12"), "#RRGGBB"),
            (json!("#12345é"), "#RRGGBB"),
            (json!("oklch(1 0)"), "oklch(L C H)"),
            (json!("oklch(1 0 0 1)"), "oklch(L C H)"),
            (json!("okhsl(a b c)"), "okhsl(H S L)"),
            (json!("okhsl(inf 0 0)"), "okhsl(H S L)"),
            (json!(256), "0 to 255"),
            (json!(-1), "0 to 255"),
            (json!(1.5), "0 to 255"),
            (json!(null), "neither"),
            (json!([1]), "neither"),
        ] {
            let problem = Value::read(&json).unwrap_err();
            assert!(problem.contains(word), "{json}: {problem}");
        }
    }
}
