//! Token counts of Gemini answers.

use serde::Deserialize;

use crate::{protocol::Usage, providers::lax::Count};

/// The counts so far: every report is about the whole answer, and the latest counts (rule U4).
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Counts {
    prompt_token_count: Count,
    candidates_token_count: Count,
    thoughts_token_count: Count,
    cached_content_token_count: Count,
    total_token_count: Count,
}

impl Counts {
    /// Replaces what a later report says a number for. Vertex also sends reports without any.
    pub(super) fn update(&mut self, later: &Self) {
        let pairs = [
            (&mut self.prompt_token_count, later.prompt_token_count),
            (&mut self.candidates_token_count, later.candidates_token_count),
            (&mut self.thoughts_token_count, later.thoughts_token_count),
            (&mut self.cached_content_token_count, later.cached_content_token_count),
            (&mut self.total_token_count, later.total_token_count),
        ];
        for (known, later) in pairs {
            known.0 = later.0.or(known.0);
        }
    }

    /// The same in our terms. The prompt includes what was cached; the answer does not include the thoughts.
    pub(super) fn usage(&self) -> Usage {
        let thoughts = self.thoughts_token_count.0;
        let cached = self.cached_content_token_count.0.unwrap_or(0);
        Usage {
            input: self.prompt_token_count.0.unwrap_or(0).saturating_sub(cached),
            output: self.candidates_token_count.0.unwrap_or(0).saturating_add(thoughts.unwrap_or(0)),
            cache_read: cached,
            reasoning: thoughts,
            total_tokens: self.total_token_count.0.unwrap_or(0),
            ..Usage::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_numbers_count_and_are_split_into_ours() {
        let table: [(&[&str], _); 5] = [
            (&[r#"{"trafficType":"ON_DEMAND"}"#], (0, 0, 0, None, 0)),
            (&[r#"{"promptTokenCount":10,"totalTokenCount":10}"#, "{}"], (10, 0, 0, None, 10)),
            (
                &[
                    r#"{"promptTokenCount":50,"thoughtsTokenCount":3,"totalTokenCount":53}"#,
                    r#"{"promptTokenCount":50,"cachedContentTokenCount":40,"candidatesTokenCount":5,"thoughtsTokenCount":7,"totalTokenCount":71,"toolUsePromptTokenCount":9}"#,
                ],
                (10, 12, 40, Some(7), 71),
            ),
            (&[r#"{"promptTokenCount":5,"cachedContentTokenCount":9}"#], (0, 0, 9, None, 0)),
            (
                &[r#"{"promptTokenCount":5}"#, r#"{"promptTokenCount":null,"candidatesTokenCount":"x"}"#],
                (5, 0, 0, None, 0),
            ),
        ];
        for (reports, expected) in table {
            let mut counts = Counts::default();
            for report in reports {
                counts.update(&serde_json::from_str(report).unwrap());
            }
            let usage = counts.usage();
            let got = (usage.input, usage.output, usage.cache_read, usage.reasoning, usage.total_tokens);
            assert_eq!(got, expected, "{reports:?}");
        }
    }
}
