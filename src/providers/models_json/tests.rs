use std::path::Path;

use serde_json::json;

use super::*;
use crate::store::document::{Document, Syntax};

fn read(base: Vec<ProviderEntry>, text: &str) -> Result<Vec<ProviderEntry>, String> {
    let document = Document::parse(Path::new("models.json"), text.to_owned(), Syntax::Comments).unwrap();
    compose(base, &document.root()).map_err(|fault| document.locate(&fault).to_string())
}

fn base() -> Vec<ProviderEntry> {
    read(
        vec![],
        r#"{"providers": {"big": {"api": "a", "baseUrl": "https://big.test", "env": ["BIG_KEY"], "models": [
            {"id": "one", "reasoning": true, "compat": {"x": 1, "y": 1}, "cost": {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}},
            {"id": "two"}]}}}"#,
    )
    .unwrap()
}

#[test]
fn a_model_has_pi_s_defaults_and_its_provider_s_place() {
    let providers = read(
        vec![],
        r#"{ // comment
            "$schema": "x", "providers": {"local": {"name": "Local", "baseUrl": "http://127.0.0.1:1/v1", "api": "openai-completions",
            "compat": {"a": 1, "b": 1}, "models": [{"id": "m/x:y", "compat": {"b": 2}, "headers": {"h": "$SECRET"}}, {"id": "own", "api": "z", "baseUrl": "http://o"},
            {"type": "image", "id": "pic"},],}}}"#,
    )
    .unwrap();
    let local = &providers[0];
    assert_eq!((local.id.as_str(), local.name.as_str(), local.models.len()), ("local", "Local", 2));
    let expected = json!({
        "id": "m/x:y", "name": "m/x:y", "api": "openai-completions", "provider": "local", "baseUrl": "http://127.0.0.1:1/v1",
        "reasoning": false, "input": ["text"], "cost": {"input": 0.0, "output": 0.0, "cacheRead": 0.0, "cacheWrite": 0.0},
        "contextWindow": 128_000, "maxTokens": 16_384, "compat": {"a": 1, "b": 2},
    });
    assert_eq!(serde_json::to_value(&local.models[0]).unwrap(), expected, "headers are kept aside");
    assert_eq!(Value::Object(local.keys.model_headers["m/x:y"].clone()), json!({"h": "$SECRET"}));
    assert_eq!((local.models[1].api.as_str(), local.models[1].base_url.as_str()), ("z", "http://o"));
    assert!(local.keys.keyless, "a server on this machine needs no key");
}

#[test]
fn a_known_provider_is_redirected_patched_and_extended() {
    let providers = read(
        base(),
        r#"{"providers": {"big": {"baseUrl": "http://proxy", "headers": {"h": "v"}, "compat": {"y": 2},
            "models": [{"id": "two", "name": "New two"}, {"id": "three"}],
            "modelOverrides": {"one": {"cost": {"output": 9}, "compat": {"z": 3}, "contextWindow": 7, "thinkingLevelMap": {"max": "max"}}, "nosuch": {"name": "n"}}}}}"#,
    )
    .unwrap();
    let big = &providers[0];
    let ids: Vec<_> = big.models.iter().map(|model| (model.id.as_str(), model.base_url.as_str())).collect();
    assert_eq!(ids, [("one", "http://proxy"), ("two", "http://proxy"), ("three", "http://proxy")]);
    let one = &big.models[0];
    assert_eq!((one.cost.input, one.cost.output, one.context_window, one.reasoning), (1.0, 9.0, 7, true));
    assert_eq!(Value::Object(one.compat.clone().unwrap()), json!({"x": 1, "y": 2, "z": 3}));
    assert_eq!(big.models[1].name, "New two");
    assert_eq!((big.keys.env.as_slice(), big.keys.keyless), (&["BIG_KEY".to_owned()][..], false));
}

#[test]
fn errors_name_file_line_field_and_what_was_expected() {
    let table = [
        (r#"[1]"#, "models.json:1:1: expected an object, found a list"),
        (r#"{"providers": {"p": {"apiKey": 5}}}"#, "models.json:1:22: providers.p.apiKey: expected a text: the key"),
        (r#"{"providers": {"p": {"models": {}}}}"#, "providers.p.models: expected a list, found an object"),
        (r#"{"providers": {"p": {"models": [{"name": "x"}]}}}"#, "providers.p.models[0].id: expected the model's id"),
        (r#"{"providers": {"big": {"models": [{"id": " "}]}}}"#, "models[0].id: expected the model's id, found"),
        (
            r#"{"providers": {"p": {"baseUrl": "http://u", "models": [{"id": "x"}]}}}"#,
            "models[0]: expected api here or at its provider",
        ),
        (r#"{"providers": {"p": {"api": "a", "models": [{"id": "x"}]}}}"#, "models[0]: expected baseUrl here"),
        (
            r#"{"providers": {"big": {"models": [{"id": "x", "contextWindow": "200k"}]}}}"#,
            "models[0].contextWindow: expected a whole number, found \"200k\"",
        ),
        (
            r#"{"providers": {"big": {"models": [{"id": "x", "maxTokens": 0}]}}}"#,
            "maxTokens: expected a number above zero, found 0",
        ),
        (
            r#"{"providers": {"big": {"models": [{"id": "x", "input": ["audio"]}]}}}"#,
            "input[0]: expected one of text, image, found \"audio\"",
        ),
        (
            r#"{"providers": {"big": {"models": [{"id": "x", "cost": {"input": 1}}]}}}"#,
            "cost.output: expected dollars for a million tokens, found nothing",
        ),
        (
            r#"{"providers": {"big": {"models": [{"id": "x", "thinkingLevelMap": {"deep": "x"}}]}}}"#,
            "thinkingLevelMap.deep: unknown thinking level",
        ),
        (
            r#"{"providers": {"big": {"modelOverrides": {"one": {"reasoning": "yes"}}}}}"#,
            "modelOverrides.one.reasoning: expected true or false",
        ),
        (
            r#"{"providers": {"big": {"compat": {"supportsStore": "no"}}}}"#,
            "big.compat.supportsStore: expected true or false, found \"no\"",
        ),
        (
            r#"{"providers": {"big": {"models": [{"id": "x", "compat": {"thinkingFormat": "openrouterr"}}]}}}"#,
            "compat.thinkingFormat: expected one of openai, openrouter,",
        ),
        (
            r#"{"providers": {"big": {"modelOverrides": {"one": {"promptCache": {"short": "5m"}}}}}}"#,
            "promptCache.short: expected a number",
        ),
        (
            r#"{"providers": {"big": {"modelOverrides": {"one": {"inputLimits": {"images": {"resize": {"maxWidth": 0}}}}}}}}"#,
            "resize.maxWidth: expected a number above zero",
        ),
        (
            "{\n \"providers\": {\n  \"big\": {\"headers\": {\"x\": 7}}}}",
            "models.json:3:23: providers.big.headers.x: expected a text, or null",
        ),
    ];
    for (text, expected) in table {
        let error = read(base(), text).expect_err(text);
        assert!(error.contains(expected), "{text}\n{error}");
    }
}

#[test]
fn addresses_of_this_machine_are_recognised() {
    for (url, local) in [
        ("http://localhost:8080/v1", true),
        ("http://127.0.0.1:9/v1", true),
        ("http://user@127.1.2.3", true),
        ("http://[::1]:80/x", true),
        ("http://0.0.0.0:80", true),
        ("https://localhost.evil.test", false),
        ("https://evil.test/localhost", false),
        ("https://10.0.0.1", false),
        ("", false),
    ] {
        assert_eq!(is_local(url), local, "{url}");
    }
}

#[test]
fn odd_places_are_named_with_the_next_step() {
    let table = [
        (r#"{"provider": {}, "providers": {}}"#, "provider: unknown field (did you mean providers?); it is ignored"),
        (r#"{"providers": {"big": {"modelOverride": {}}}}"#, "unknown field (did you mean modelOverrides?)"),
        (r#"{"providers": {"big": {"zzz": 1}}}"#, "big.zzz: unknown field; it is ignored"),
        (r#"{"providers": {"big": {"apiKey": " "}}}"#, "apiKey: is empty and counts as not set"),
        (r#"{"providers": {"big": {"api": "xyz"}}}"#, "unknown wire API \"xyz\"; known are anthropic-messages,"),
        (
            r#"{"providers": {"big": {"baseUrl": "localhost:8080/v1"}}}"#,
            "baseUrl: is no address that requests can go to",
        ),
        (r#"{"providers": {"big": {"baseUrl": ""}}}"#, "baseUrl: is no address that requests can go to"),
        (r#"{"providers": {"big": {"baseUrl": "https://x.test/v1?a=b"}}}"#, "baseUrl: has a query"),
        (
            r#"{"providers": {"big": {"baseUrl": "https://x.test/v1/chat/completions/"}}}"#,
            "baseUrl: ends in /chat/completions, which is added",
        ),
        (
            r#"{"providers": {"big": {"models": [{"id": "n", "api": "openai-completions", "contextwindow": 5}]}}}"#,
            "models[0].contextwindow: unknown field (did you mean contextWindow?)",
        ),
        (
            r#"{"providers": {"big": {"models": [{"id": "n", "api": "anthropic-messages", "compat": {"supportsStore": false}}]}}}"#,
            "compat.supportsStore: has no effect: anthropic-messages knows no such switch",
        ),
        (
            r#"{"providers": {"big": {"models": [{"id": "n", "api": "openai-completions", "compat": {"supportStore": false}}]}}}"#,
            "compat.supportStore: unknown switch (did you mean supportsStore?); it is ignored",
        ),
        (
            r#"{"providers": {"big": {"modelOverrides": {"one": {"cost": {"cachedRead": 1}}}}}}"#,
            "cost.cachedRead: unknown field (did you mean cacheRead?)",
        ),
        (
            r#"{"providers": {"big": {"modelOverrides": {"one": {"inputLimits": {"images": {"resize": {"quality": 1}}}}}}}}"#,
            "resize.quality: unknown field",
        ),
        (
            r#"{"providers": {"big": {"oauth": {"authorizeUrl": "https://a", "tokenUrl": "https://t", "clientid": "x"}}}}"#,
            "oauth.clientid: unknown field (did you mean clientId?)",
        ),
    ];
    for (text, expected) in table {
        let document = Document::parse(Path::new("models.json"), text.to_owned(), Syntax::Comments).unwrap();
        let providers = compose(base(), &document.root()).expect(text);
        let odd: Vec<_> = review(&document.root(), &providers).iter().map(|fault| fault.describe()).collect();
        assert_eq!(odd.len(), 1, "{text} {odd:?}");
        assert!(odd[0].contains(expected), "{text}\n{}", odd[0]);
    }
}

#[test]
fn nothing_is_odd_about_a_file_that_uses_everything() {
    let text = r#"{"$schema": "s", "providers": {"local": {
        "name": "n", "baseUrl": "https://{account}.test/v1", "apiKey": "$K", "api": "openai-completions", "headers": {"a": "b"},
        "authHeader": true, "compat": {"supportsStore": false, "vllmPriority": 1, "chatTemplateKwargs": {"x": 1}},
        "models": [{"id": "m", "type": "chat", "cost": {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "tiers": [
            {"inputTokensAbove": 1, "input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0}]},
            "promptCache": {"short": 300}, "inputLimits": {"maxRequestBytes": 1, "images": {"maxPerRequest": 1, "resize": {"jpegQuality": 5}}}},
            {"id": "i", "type": "image", "anything": 1}],
        "modelOverrides": {"gone": {"name": "x"}}}}}"#;
    let document = Document::parse(Path::new("models.json"), text.to_owned(), Syntax::Comments).unwrap();
    let providers = compose(vec![], &document.root()).unwrap();
    assert_eq!(review(&document.root(), &providers), []);
}

#[test]
fn an_empty_key_is_no_key() {
    let text = r#"{"providers": {"local": {"api": "a", "baseUrl": "http://127.0.0.1:1", "apiKey": "", "models": [{"id": "m"}]}}}"#;
    let local = &read(vec![], text).unwrap()[0];
    assert!(local.keys.api_key.is_none() && local.keys.keyless);
}
