//! Usage as Mistral reports it (rule U9).

use serde::Deserialize;

use crate::{
    protocol::Usage,
    providers::lax::{Count, Obj},
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    prompt_tokens: Count,
    completion_tokens: Count,
    total_tokens: Count,
    prompt_tokens_details: Obj<Details>,
    /// The same in another spelling.
    prompt_token_details: Obj<Details>,
    num_cached_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Count,
}

impl WireUsage {
    /// The tokens in our words.
    pub(super) fn tokens(&self) -> Usage {
        let prompt = self.prompt_tokens.0.unwrap_or(0);
        let of = |details: &Obj<Details>| details.0.as_ref().and_then(|details| details.cached_tokens.0);
        let cached = of(&self.prompt_tokens_details)
            .or_else(|| of(&self.prompt_token_details))
            .or(self.num_cached_tokens.0)
            .unwrap_or(0)
            .min(prompt);
        Usage {
            input: prompt - cached,
            output: self.completion_tokens.0.unwrap_or(0),
            cache_read: cached,
            total_tokens: self.total_tokens.0.unwrap_or(0),
            ..Usage::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_are_found_in_every_place_and_are_never_more_than_the_prompt() {
        let table = [
            (r#"{"prompt_tokens":14,"completion_tokens":8,"total_tokens":22}"#, (14, 8, 0, 22)),
            (
                r#"{"prompt_tokens":90,"total_tokens":90,"prompt_tokens_details":{"cached_tokens":64},"num_cached_tokens":1}"#,
                (26, 0, 64, 90),
            ),
            (
                r#"{"prompt_tokens":90,"prompt_token_details":{"cached_tokens":64},"num_cached_tokens":1}"#,
                (26, 0, 64, 0),
            ),
            (r#"{"prompt_tokens":90,"prompt_tokens_details":null,"num_cached_tokens":64}"#, (26, 0, 64, 0)),
            (r#"{"prompt_tokens":90,"prompt_tokens_details":{},"num_cached_tokens":64}"#, (26, 0, 64, 0)),
            (
                r#"{"prompt_tokens":90,"prompt_tokens_details":{"cached_tokens":0},"num_cached_tokens":64}"#,
                (90, 0, 0, 0),
            ),
            (r#"{"prompt_tokens":10,"num_cached_tokens":40}"#, (0, 0, 10, 0)),
            (r#"{"prompt_tokens":10,"num_cached_tokens":-4,"completion_tokens":"x"}"#, (10, 0, 0, 0)),
            (r#"{"prompt_tokens":null,"total_tokens":null,"prompt_audio_seconds":3}"#, (0, 0, 0, 0)),
        ];
        for (json, (input, output, cache_read, total_tokens)) in table {
            let expected = Usage { input, output, cache_read, total_tokens, ..Usage::default() };
            assert_eq!(serde_json::from_str::<WireUsage>(json).unwrap().tokens(), expected, "{json}");
        }
    }
}
