use std::collections::BTreeSet;

use url_check::is_template_of_https;

use super::*;
use crate::providers::models_json::compat_faults;

mod url_check {
    /// An `https` address, placeholders included.
    pub(super) fn is_template_of_https(url: &str) -> bool {
        let plain: String = url.replace(['{', '}'], "");
        reqwest::Url::parse(&plain).is_ok_and(|url| url.scheme() == "https" && url.query().is_none())
    }
}

#[test]
fn every_provider_has_its_default_model_and_sound_models() {
    let providers = read().unwrap();
    assert_eq!(providers.len(), 41);
    let ids: BTreeSet<_> = providers.iter().map(|provider| &provider.id).collect();
    assert_eq!(ids.len(), providers.len(), "each provider once");
    for provider in &providers {
        let default = provider.default_model.as_ref().expect("a default");
        assert!(provider.models.iter().any(|model| model.id == *default), "{}: {default}", provider.id);
        assert!(!provider.keys.keyless && (provider.id == "openai-codex" || !provider.keys.env.is_empty()));
        let mut seen = BTreeSet::new();
        for model in &provider.models {
            let name = model.reference();
            assert!(seen.insert(&model.id), "{name} is there twice");
            let by_adapter = ["azure", "amazon-bedrock"].contains(&provider.id.as_str());
            assert!(by_adapter == model.base_url.is_empty(), "{name}");
            assert!(by_adapter || is_template_of_https(&model.base_url), "{name}: {}", model.base_url);
            assert!(!model.name.is_empty() && model.max_tokens > 0, "{name}");
            assert!(model.max_tokens <= model.context_window && model.context_window >= 8192, "{name}");
            assert!(model.reasoning || model.thinking_level_map.is_none(), "{name}: levels without thinking");
            let prices = [model.cost.input, model.cost.output, model.cost.cache_read, model.cost.cache_write];
            assert!(prices.iter().all(|price| (0.0..100.0).contains(price)), "{name}");
            assert!(model.cost.input <= model.cost.output && model.cost.cache_read <= model.cost.input, "{name}");
            for tier in &model.cost.tiers {
                assert!(tier.input > model.cost.input && tier.output > model.cost.output, "{name}");
            }
            let levels = model.thinking_level_map.iter().flatten();
            for (level, word) in levels {
                assert!(crate::protocol::ThinkingLevel::parse(level).is_some(), "{name}: {level}");
                assert!(word.is_null() || word.is_string(), "{name}: {level}");
            }
            assert_eq!(compat_faults(&model.api, model.compat.as_ref()), Vec::<String>::new(), "{name}");
        }
    }
}

#[test]
fn the_users_page_names_every_provider_and_its_variables() {
    let page = include_str!("../../../../../docs/models.md");
    for provider in read().unwrap() {
        let line = page.lines().find(|line| line.starts_with(&format!("| `{}` |", provider.id)));
        let line = line.unwrap_or_else(|| panic!("{} is not in docs/models.md", provider.id));
        for variable in &provider.keys.env {
            assert!(line.contains(&format!("`{variable}`")), "{line} lacks {variable}");
        }
    }
}

#[test]
fn facts_of_a_model_come_before_those_of_its_group_and_its_provider() {
    let providers = read().unwrap();
    let find = |provider: &str, id: &str| {
        let entry = providers.iter().find(|entry| entry.id == provider).unwrap();
        entry.models.iter().find(|model| model.id == id).unwrap().clone()
    };
    let opus = find("anthropic", "claude-opus-5-5");
    assert_eq!((opus.context_window, opus.max_tokens, opus.reasoning), (1_000_000, 128_000, true));
    assert_eq!((opus.cost.input, opus.cost.cache_write), (4.0, 5.0));
    assert!(!opus.thinking_levels().contains(&crate::protocol::ThinkingLevel::Off), "it always thinks");
    let copied = find("moonshotai-cn", "kimi-k3");
    assert_eq!((copied.provider.as_str(), copied.base_url.as_str()), ("moonshotai-cn", "https://api.moonshot.cn/v1"));
    let other_api = find("opencode", "claude-opus-5-5");
    assert_eq!(other_api.api, "anthropic-messages");
    assert_eq!(other_api.base_url, "https://opencode.ai/inference/anthropic");
    assert_eq!(find("groq", "llama-3.3-70b-versatile").input, [InputKind::Text]);
}
