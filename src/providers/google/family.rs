//! How the models behind Gemini's API differ, read from their ids.

use crate::protocol::ThinkingLevel;

/// What a model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Family {
    /// Gemini 3 or later: calls and results carry ids, results hold their pictures, arguments can be validated.
    pub(super) newest: bool,
    /// Calls and results must carry ids; older models refuse them.
    pub(super) call_ids: bool,
    /// How the model is told how much to think.
    pub(super) dial: Dial,
}

/// How a model is told how much to think. A request may turn one dial only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dial {
    /// By the name of a level.
    Level,
    /// By tokens, for `minimal`, `low`, `medium` and `high`.
    Budget {
        /// The tokens by level.
        tokens: [u32; 4],
        /// Whether the model can be told not to think.
        stops: bool,
    },
    /// By tokens, whose range is unknown: the model is asked to choose.
    Dynamic,
}

impl Family {
    /// The family of the model with that id.
    pub(super) fn of(id: &str) -> Self {
        let name = id.rsplit('/').next().unwrap_or(id).to_ascii_lowercase();
        let gemini = generation(&name, "gemini-live-").or_else(|| generation(&name, "gemini-"));
        // Names such as `gemini-flash-latest` stand for the newest model of their kind.
        let alias = gemini.is_none() && name.starts_with("gemini-") && name.ends_with("-latest");
        let newest = alias || gemini.is_some_and(|number| number >= 3);
        let gemma = generation(&name, "gemma-").or_else(|| generation(&name, "gemma"));
        let dial = if newest || gemma.is_some_and(|number| number >= 4) {
            Dial::Level
        } else if name.contains("2.5-pro") {
            Dial::Budget { tokens: [128, 2048, 8192, 32_768], stops: false }
        } else if name.contains("2.5-flash-lite") {
            Dial::Budget { tokens: [512, 2048, 8192, 24_576], stops: true }
        } else if name.contains("2.5-flash") {
            Dial::Budget { tokens: [128, 2048, 8192, 24_576], stops: true }
        } else {
            Dial::Dynamic
        };
        let foreign = name.contains("claude") || name.contains("gpt-oss");
        Self { newest, call_ids: newest || foreign, dial }
    }
}

/// The number behind `prefix` in a model's name.
fn generation(name: &str, prefix: &str) -> Option<u32> {
    let digits = name.strip_prefix(prefix)?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// The place of a level among the four that Gemini knows; higher ones are its highest.
pub(super) fn step(level: ThinkingLevel) -> usize {
    match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal => 0,
        ThinkingLevel::Low => 1,
        ThinkingLevel::Medium => 2,
        ThinkingLevel::High | ThinkingLevel::Xhigh | ThinkingLevel::Max => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_tell_the_family() {
        let pro = Dial::Budget { tokens: [128, 2048, 8192, 32_768], stops: false };
        let flash = Dial::Budget { tokens: [128, 2048, 8192, 24_576], stops: true };
        let lite = Dial::Budget { tokens: [512, 2048, 8192, 24_576], stops: true };
        let table = [
            ("gemini-3.8-flash", true, true, Dial::Level),
            ("gemini-3-pro-preview", true, true, Dial::Level),
            ("gemini-4-argon", true, true, Dial::Level),
            ("models/Gemini-10-pro", true, true, Dial::Level),
            ("gemini-live-3-flash", true, true, Dial::Level),
            ("gemini-flash-latest", true, true, Dial::Level),
            ("gemini-flash-lite-latest", true, true, Dial::Level),
            ("gemma-4-31b-it", false, false, Dial::Level),
            ("gemma-3n-e4b-it", false, false, Dial::Dynamic),
            ("gemini-2.5-pro", false, false, pro),
            ("google/gemini-2.5-flash-preview-09-2025", false, false, flash),
            ("gemini-2.5-flash-lite", false, false, lite),
            ("gemini-2.5-flash-latest", false, false, flash),
            ("gemini-2.0-flash", false, false, Dial::Dynamic),
            ("claude-sonnet-5", false, true, Dial::Dynamic),
            ("gpt-oss-120b", false, true, Dial::Dynamic),
            ("custom", false, false, Dial::Dynamic),
        ];
        for (id, newest, call_ids, dial) in table {
            assert_eq!(Family::of(id), Family { newest, call_ids, dial }, "{id}");
        }
    }
}
