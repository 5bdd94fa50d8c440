//! What a model is: vendors differ in how they think, what they may be sent back, and what is cached.
//!
//! The id says it for most. An application inference profile hides the model in an ARN: then the display name does.

use crate::protocol::Model;

/// A vendor's models that are treated alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Anthropic's.
    Claude(Claude),
    /// OpenAI's open models.
    GptOss,
    /// OpenAI's others.
    OpenAi,
    /// All others.
    Other,
}

/// Which Claude.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Claude {
    line: Line,
    /// Major and minor; zeros when the name has none.
    version: (u32, u32),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Line {
    #[default]
    Unknown,
    /// Opus and Sonnet.
    Main,
    Haiku,
    /// Fable and Mythos, which are newer than every number.
    New,
}

impl Family {
    pub(super) fn of(model: &Model) -> Self {
        let names = [words(&model.id), words(&model.name)];
        if let Some(claude) = names.iter().find_map(|words| Claude::read(words)) {
            return Self::Claude(claude);
        }
        let any = |wanted: &[&str]| names.iter().any(|words| words.windows(wanted.len()).any(|run| run == wanted));
        if any(&["gpt", "oss"]) {
            Self::GptOss
        } else if any(&["openai"]) || any(&["gpt"]) {
            Self::OpenAi
        } else {
            Self::Other
        }
    }

    /// True when the model checks the signatures of its thinking, and so takes and needs them.
    pub(super) fn is_claude(self) -> bool {
        matches!(self, Self::Claude(_))
    }

    /// True when the model takes cache points.
    pub(super) fn takes_cache_points(self) -> bool {
        matches!(self, Self::Claude(claude) if claude.takes_cache_points())
    }
}

impl Claude {
    /// Reads a name such as `us.anthropic.claude-opus-4-6-v1:0` or `Claude 3.5 Haiku`.
    fn read(words: &[String]) -> Option<Self> {
        let at = words.iter().position(|word| word == "claude")?;
        let mut claude = Self::default();
        let mut numbers: Vec<u32> = Vec::new();
        let mut counting = true;
        for word in &words[at + 1..] {
            // Longer numbers are dates.
            match word.parse() {
                Ok(number) if counting && word.len() <= 2 && numbers.len() < 2 => numbers.push(number),
                Ok(_) => counting = false,
                Err(_) => {
                    counting &= numbers.is_empty();
                    match word.as_str() {
                        "opus" | "sonnet" => claude.line = Line::Main,
                        "haiku" => claude.line = Line::Haiku,
                        "fable" | "mythos" => claude.line = Line::New,
                        _ => {}
                    }
                }
            }
        }
        claude.version = (numbers.first().copied().unwrap_or(0), numbers.get(1).copied().unwrap_or(0));
        Some(claude)
    }

    /// True when the model decides itself how much to think.
    pub(super) fn is_adaptive(self) -> bool {
        self.line == Line::New || self.version >= (4, 6)
    }

    fn takes_cache_points(self) -> bool {
        self.line == Line::New
            || self.version >= (4, 0)
            || self.version == (3, 7)
            || (self.line == Line::Haiku && self.version == (3, 5))
    }
}

fn words(name: &str) -> Vec<String> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::testing::plain_model;

    fn family(id: &str, name: &str) -> Family {
        let mut model = plain_model("bedrock-converse-stream");
        (model.id, model.name) = (id.into(), name.into());
        Family::of(&model)
    }

    #[test]
    fn a_claude_is_known_by_id_or_name_with_its_version() {
        const ARN: &str = "arn:aws:bedrock:us-east-1:1234:application-inference-profile/ab12";
        // Adaptive, cached.
        let table = [
            ("us.anthropic.claude-opus-5-5", "", true, true),
            ("us.anthropic.claude-sonnet-5-v1:0", "", true, true),
            ("global.anthropic.claude-opus-4-7", "", true, true),
            ("anthropic.claude-opus-4-6-v1", "", true, true),
            ("eu.anthropic.claude-fable-x", "", true, true),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", false, true),
            ("us.anthropic.claude-sonnet-4-20250514-v1:0", "", false, true),
            ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "", false, true),
            ("us.anthropic.claude-3-7-sonnet-20250219-v1:0", "", false, true),
            ("anthropic.claude-3-5-haiku-20241022-v1:0", "", false, true),
            ("anthropic.claude-3-5-sonnet-20241022-v2:0", "", false, false),
            ("anthropic.claude-3-haiku-20240307-v1:0", "", false, false),
            ("anthropic.claude-v2:1", "", false, false),
            (ARN, "Claude Sonnet 4.5", false, true),
            (ARN, "Team Claude 3.7 Sonnet (EU)", false, true),
            (ARN, "Claude Mythos", true, true),
            (ARN, "our Claude", false, false),
            ("my.anthropic/claude_opus_4.6", "", true, true),
        ];
        for (id, name, adaptive, cached) in table {
            let Family::Claude(claude) = family(id, name) else { panic!("{id} {name}") };
            assert_eq!((claude.is_adaptive(), claude.takes_cache_points()), (adaptive, cached), "{id} {name}");
        }
    }

    #[test]
    fn others_are_known_too() {
        let table = [
            ("openai.gpt-oss-120b-1:0", Family::GptOss),
            ("openai.gpt-5.4", Family::OpenAi),
            ("amazon.nova-pro-v1:0", Family::Other),
            ("deepseek.r1-v1:0", Family::Other),
            ("arn:aws:bedrock:us-east-1:1234:application-inference-profile/ab12", Family::Other),
        ];
        for (id, expected) in table {
            assert_eq!(family(id, "x"), expected, "{id}");
            assert!(!expected.is_claude() && !expected.takes_cache_points());
        }
    }
}
