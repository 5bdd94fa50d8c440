use super::*;
use crate::{
    protocol::ModelRef,
    providers::catalogue::tests::{catalogue, model},
};

/// Providers `with` and `also` have keys, `without` and the built-in ones have none.
fn models() -> Catalogue {
    let provider = |id: &str, key: &str, models: &str| {
        format!(r#""{id}": {{"api": "a", "baseUrl": "https://{id}.test", {key} "models": [{models}]}}"#)
    };
    let key = r#""apiKey": "k","#;
    let text = [
        provider(
            "with",
            key,
            r#"{"id": "m1", "name": "Model One"}, {"id": "same"}, {"id": "son-20260101"}, {"id": "son-20250101"}, {"id": "with/raw"}, {"id": "odd:high"}"#,
        ),
        provider("also", key, r#"{"id": "same"}, {"id": "r1", "reasoning": true}, {"id": "a/b"}, {"id": "both-a"}"#),
        provider(
            "without",
            "",
            r#"{"id": "m1"}, {"id": "same"}, {"id": "lone"}, {"id": "also/r1"}, {"id": "son"}, {"id": "both-b"}"#,
        ),
        provider("with/deep", key, r#"{"id": "x"}"#),
    ];
    catalogue(&format!(r#"{{"providers": {{{}}}}}"#, text.join(",")), &[])
}

fn resolve(text: &str, provider: Option<&str>, has_api_key: bool) -> Result<String, String> {
    let cli = CliModel { provider, model: Some(text), thinking: None, has_api_key };
    let chosen = resolve_cli(&models(), &cli).map_err(|error| error.to_string())?.expect("a model was named");
    let level = chosen.thinking.map(|level| format!(" {level}")).unwrap_or_default();
    let custom = if chosen.warnings.is_empty() { "" } else { " custom" };
    Ok(format!("{}{level}{custom}", chosen.model.reference()))
}

#[test]
fn names_resolve_as_the_rules_say() {
    let table = [
        // Exact, case-insensitive; the one with a key among equals.
        ("m1", Ok("with/m1")),
        ("M1", Ok("with/m1")),
        ("WITH/m1", Ok("with/m1")),
        ("without/m1", Ok("without/m1")),
        ("lone", Ok("without/lone")),
        ("a/b", Ok("also/a/b")),
        ("with/deep/x", Ok("with/deep/x")),
        ("same", Err("ambiguous: name one of also/same, with/same")),
        // The named provider's model wins over the same text as an id elsewhere, when it has a key.
        ("also/r1", Ok("also/r1")),
        ("with/raw", Ok("with/with/raw")),
        // A part of the id or the name.
        ("Model One", Ok("with/m1")),
        ("son-2026", Ok("with/son-20260101")),
        ("son-2", Ok("with/son-20260101")),
        ("son", Ok("without/son")),
        ("both", Ok("also/both-a")),
        ("also/both", Ok("also/both-a")),
        // Thinking levels.
        ("r1:high", Ok("also/r1 high")),
        ("odd:high", Ok("with/odd:high")),
        ("odd", Ok("with/odd:high")),
        ("also/r1:xhigh", Ok("also/r1 xhigh")),
        // Unknown ids at known providers.
        ("with/new", Ok("with/new custom")),
        ("with/new:bogus", Ok("with/new:bogus custom")),
        ("with/new:high", Ok("with/new high custom")),
        ("with/deep/new", Ok("with/deep/new custom")),
        // The models inside.
        ("troupe/offline", Ok("troupe/offline")),
        ("troupe/script:high", Ok("troupe/script high")),
        ("offline", Err("Model \"offline\" not found. Did you mean troupe/offline?")),
        // An id of the catalogue that a provider had earlier.
        ("azure-openai-responses/gpt-6.2-sol", Ok("azure/gpt-6.2-sol")),
        ("azure-openai-responses/own", Ok("azure/own custom")),
        // Aliases before dated ids, the newest of each.
        ("anthropic/opus-4-5", Ok("anthropic/claude-opus-4-5")),
        ("anthropic/2025", Ok("anthropic/claude-sonnet-4-5-20250929")),
        ("anthropic/claude-opus-5-5:max", Ok("anthropic/claude-opus-5-5 max")),
        ("troupe/off", Err("not found")),
        ("nosuch", Err("Model \"nosuch\" not found. List the models with --list-models.")),
        ("lonely", Err("not found")),
        ("with/m1/", Ok("with/m1/ custom")),
        ("", Err("not found")),
    ];
    for (text, expected) in table {
        match (resolve(text, None, false), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
            (Err(error), Err(expected)) => assert!(error.contains(expected), "{text}: {error}"),
            (found, expected) => panic!("{text}: {found:?} instead of {expected:?}"),
        }
    }
}

#[test]
fn a_provider_restricts_the_search() {
    let table = [
        ("same", "also", Ok("also/same")),
        ("also/same", "also", Ok("also/same")),
        ("m1", "Without", Ok("without/m1")),
        ("one", "with", Ok("with/m1")),
        ("r1:low", "also", Ok("also/r1 low")),
        ("m1", "also", Ok("also/m1 custom")),
        ("offline", "troupe", Ok("troupe/offline")),
        ("gpt-6.2-sol", "azure-openai-responses", Ok("azure/gpt-6.2-sol")),
        ("x", "wiht", Err("Provider \"wiht\" not found. Did you mean with or ")),
    ];
    for (text, provider, expected) in table {
        match (resolve(text, Some(provider), false), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
            (Err(error), Err(expected)) => assert!(error.contains(expected), "{text}: {error}"),
            (found, expected) => panic!("{text}: {found:?} instead of {expected:?}"),
        }
    }
    let alone = CliModel { provider: Some("with"), ..CliModel::default() };
    assert_eq!(resolve_cli(&models(), &alone), Err(SelectionError::ProviderAlone));
    assert_eq!(resolve_cli(&models(), &CliModel::default()), Ok(None));
}

#[test]
fn with_a_key_of_the_run_stored_keys_break_no_ties() {
    assert!(resolve("m1", None, true).unwrap_err().contains("ambiguous: name one of with/m1, without/m1"));
    assert_eq!(resolve("without/m1", None, true), Ok("without/m1".into()));
}

#[test]
fn an_unknown_name_brings_the_nearest_ones() {
    let error = resolve("boht-a", None, false).unwrap_err();
    assert!(error.contains("Did you mean also/both-a"), "{error}");
}

#[test]
fn a_custom_model_reasons_when_a_level_is_asked_for() {
    for (text, flag, reasoning) in [
        ("with/new", None, false),
        ("with/new:high", None, true),
        ("with/new:off", None, false),
        ("with/new", Some(ThinkingLevel::Low), true),
    ] {
        let cli = CliModel { model: Some(text), thinking: flag, ..CliModel::default() };
        let chosen = resolve_cli(&models(), &cli).unwrap().unwrap();
        assert_eq!(chosen.model.reasoning, reasoning, "{text}");
        assert_eq!(chosen.warnings, ["Model \"new\" not found for provider \"with\". Using custom model id."]);
    }
}

#[test]
fn scopes_hold_each_available_model_once_in_pattern_order() {
    let table: [(&[&str], &[&str], usize); 10] = [
        (&["r1", "with/m1"], &["also/r1", "with/m1"], 0),
        (&["also/*"], &["also/same", "also/r1", "also/both-a"], 0),
        (&["ALSO/**:low"], &["also/same low", "also/r1 low", "also/a/b low", "also/both-a low"], 0),
        (&["son-*"], &["with/son-20260101", "with/son-20250101"], 0),
        (&["m?", "m1"], &["with/m1"], 0),
        (&["same"], &["with/same", "also/same"], 1),
        (&["m1:bogus"], &["with/m1"], 1),
        (&["lone", "nosuch*", ""], &[], 2),
        (&["r1:high", "r1:low"], &["also/r1 high"], 0),
        (&["troupe/*", "[z"], &[], 2),
    ];
    for (patterns, expected, warnings) in table {
        let scope = scope(&models(), patterns);
        let found: Vec<_> = scope
            .models
            .iter()
            .map(|s| format!("{}{}", s.model.reference(), s.thinking.map(|l| format!(" {l}")).unwrap_or_default()))
            .collect();
        assert_eq!(found, expected, "{patterns:?}");
        assert_eq!(scope.warnings.len(), warnings, "{patterns:?} {:?}", scope.warnings);
    }
}

fn name(text: &str) -> ModelRef {
    let (provider, id) = text.split_once('/').unwrap();
    ModelRef { provider: provider.into(), model_id: id.into() }
}

#[test]
fn the_first_model_comes_from_the_nearest_wish() {
    let models = models();
    let cli = resolve_cli(&models, &CliModel { model: Some("r1:high"), ..CliModel::default() }).unwrap();
    let scoped = scope(&models, &["same", "r1:low"]).models;
    let existing = |text: &str| SessionState::Existing { model: Some(name(text)), thinking: None, has_messages: true };
    let new = SessionState::New;
    let table = [
        (cli.as_ref(), &scoped[..], existing("with/m1"), Some("with/m1"), "also/r1 high", None),
        (None, &scoped, new.clone(), None, "with/same", None),
        (None, &scoped, new.clone(), Some("also/r1"), "also/r1 low", None),
        (None, &scoped, new.clone(), Some("with/m1"), "with/same", None),
        (None, &scoped, existing("with/m1"), Some("also/r1"), "with/m1", None),
        (None, &[], existing("without/m1"), Some("also/r1"), "also/r1", Some("without/m1. Using also/r1")),
        (None, &[], existing("gone/x"), None, "with/m1", Some("Could not restore model gone/x. Using with/m1")),
        (None, &[], new.clone(), Some("without/m1"), "with/m1", None),
        (None, &[], existing("troupe/offline"), None, "troupe/offline", None),
    ];
    for (cli, scope, session, default, expected, warning) in table {
        let input = InitialInput { cli, scope, session, default: default.map(name) };
        let found = initial(&models, &input);
        let level = found.thinking.map(|level| format!(" {level}")).unwrap_or_default();
        assert_eq!(format!("{}{level}", found.model.unwrap().reference()), expected);
        assert_eq!(found.warning.is_some(), warning.is_some());
        assert!(found.warning.unwrap_or_default().contains(warning.unwrap_or_default()));
    }
    assert_eq!(initial(&catalogue("{}", &[]), &InitialInput::default()), InitialModel::default());
}

#[test]
fn the_first_level_comes_from_the_nearest_wish_and_is_clamped() {
    use ThinkingLevel as L;
    let session = |thinking, has_messages| SessionState::Existing { model: None, thinking, has_messages };
    let new = || SessionState::New;
    let table = [
        (Some(L::Low), Some(L::High), session(Some(L::Minimal), true), Some(L::High), Some(L::High), L::Low),
        (None, Some(L::High), session(Some(L::Minimal), true), None, None, L::High),
        (None, None, session(Some(L::Minimal), true), Some(L::High), Some(L::High), L::Minimal),
        (None, None, session(None, true), Some(L::High), Some(L::Low), L::Low),
        (None, None, session(Some(L::Minimal), false), Some(L::High), Some(L::Low), L::High),
        (None, None, new(), Some(L::High), Some(L::Low), L::High),
        (None, None, new(), None, Some(L::Low), L::Low),
        (None, None, new(), None, None, L::Medium),
        (Some(L::Max), None, new(), None, None, L::High),
    ];
    let thinker = Model { reasoning: true, ..model("p", "m") };
    for (flag, with_model, session, of_model, default, expected) in table {
        let input = ThinkingInput { flag, with_model, session, of_model, default };
        assert_eq!(initial_thinking(Some(&thinker), &input), expected, "{input:?}");
        assert_eq!(initial_thinking(Some(&model("p", "m")), &input), L::Off);
        assert_eq!(initial_thinking(None, &input), L::Off);
    }
}

#[test]
fn without_any_model_the_text_has_three_ways_to_get_one() {
    for way in ["ANTHROPIC_API_KEY", "models.json", "troupe --model troupe/offline"] {
        assert!(NO_MODEL.contains(way));
    }
}
