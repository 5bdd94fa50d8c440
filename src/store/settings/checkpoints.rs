//! The settings of checkpoints (`checkpoints.*`).

use std::time::Duration;

use serde_json::Value;

use super::Settings;

/// How checkpoints are taken and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointSettings {
    /// Whether they are taken at all.
    pub enabled: bool,
    /// A file of which none can be taken is not changed.
    pub required: bool,
    /// What contents of a project's sessions may take on the disk, in bytes.
    pub max_size: u64,
    /// Those of a session that nobody used for so long are removed.
    pub max_age: Duration,
}

/// 500 MB for each project.
const MAX_SIZE: u64 = 500_000_000;
/// A month.
const MAX_AGE_DAYS: u64 = 30;

impl Settings {
    /// `checkpoints.*`.
    #[must_use]
    pub fn checkpoints(&self) -> CheckpointSettings {
        let size = match self.get(&["checkpoints", "maxSize"]) {
            Some(Value::String(text)) => parse_size(text),
            _ => self.whole(&["checkpoints", "maxSize"]),
        };
        let days = self.whole(&["checkpoints", "maxAgeDays"]).unwrap_or(MAX_AGE_DAYS);
        CheckpointSettings {
            enabled: self.flag(&["checkpoints", "enabled"], true),
            required: self.flag(&["checkpoints", "required"], false),
            max_size: size.unwrap_or(MAX_SIZE),
            max_age: Duration::from_secs(days.saturating_mul(24 * 60 * 60)),
        }
    }
}

/// The bytes that a text like `500MB`, `1.5 GB` or `64 MiB` means.
#[must_use]
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let unit: f64 = match text[end..].trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "kib" => 1024.0,
        "mib" => 1_048_576.0,
        "gib" => 1_073_741_824.0,
        _ => return None,
    };
    // Saturates, which is right for "as much as possible".
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Some((number * unit) as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sizes_are_numbers_with_units() {
        let table = [
            ("500MB", Some(500_000_000)),
            ("1.5 GB", Some(1_500_000_000)),
            ("64 MiB", Some(64 << 20)),
            ("7", Some(7)),
            ("0", Some(0)),
            ("many", None),
            ("5 parsecs", None),
            ("", None),
        ];
        for (text, bytes) in table {
            assert_eq!(parse_size(text), bytes, "{text}");
        }
    }

    #[test]
    fn odd_values_read_as_the_defaults() {
        let of = |value: serde_json::Value| {
            let values = json!({"checkpoints": value});
            Settings::from_value(values.as_object().cloned().unwrap_or_default()).checkpoints()
        };
        let defaults = of(json!({}));
        assert_eq!((defaults.enabled, defaults.required, defaults.max_size), (true, false, MAX_SIZE));
        assert_eq!(of(json!({"enabled": "no", "maxSize": "much", "maxAgeDays": "x"})), defaults);
        let set = of(json!({"enabled": false, "required": true, "maxSize": 5, "maxAgeDays": 1}));
        assert_eq!((set.enabled, set.required, set.max_size, set.max_age.as_secs()), (false, true, 5, 86_400));
        assert_eq!(of(json!({"maxSize": "2kb"})).max_size, 2_000);
    }
}
