//! Whose key it is, by its look.

/// How keys of providers begin, longest first where one begins like another. Providers say so in their documentation; a
/// beginning that several share is of none.
const BEGINNINGS: [(&str, &str); 13] = [
    ("sk-ant-", "anthropic"),
    ("sk-or-", "openrouter"),
    ("sk-proj-", "openai"),
    ("sk-svcacct-", "openai"),
    ("AIza", "google"),
    ("gsk_", "groq"),
    ("xai-", "xai"),
    ("csk-", "cerebras"),
    ("hf_", "huggingface"),
    ("fw_", "fireworks"),
    ("nvapi-", "nvidia"),
    ("vck_", "vercel-ai-gateway"),
    ("tgp_v1_", "together"),
];

/// The provider whose keys look like this; none when that is not sure.
#[must_use]
pub fn provider_of_key(key: &str) -> Option<&'static str> {
    BEGINNINGS.iter().find(|(beginning, _)| key.starts_with(beginning)).map(|(_, provider)| *provider)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::catalogue::builtin;

    #[test]
    fn keys_with_a_beginning_of_their_own_are_recognised() {
        for (key, provider) in [
            ("sk-ant-api03-x", Some("anthropic")),
            ("sk-or-v1-x", Some("openrouter")),
            ("sk-proj-x", Some("openai")),
            ("AIzaSy", Some("google")),
            ("gsk_x", Some("groq")),
            ("sk-x", None),
            ("$OPENAI_API_KEY", None),
            ("", None),
        ] {
            assert_eq!(provider_of_key(key), provider, "{key}");
        }
    }

    #[test]
    fn every_beginning_is_of_a_provider_that_there_is() {
        let providers = builtin::providers();
        for (beginning, provider) in BEGINNINGS {
            assert!(providers.iter().any(|known| known.id == provider), "{beginning} {provider}");
        }
    }
}
