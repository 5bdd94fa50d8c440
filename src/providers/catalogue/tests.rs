use std::fs;

use super::*;

/// A model without anything special.
pub(in crate::providers) fn model(provider: &str, id: &str) -> Model {
    let base = builtin::inside()[0].as_ref().clone();
    Model { provider: provider.into(), id: id.into(), name: id.into(), ..base }
}

/// A catalogue of `models.json` and variables, without any other file.
pub(in crate::providers) fn catalogue(models: &str, environment: &[(&str, &str)]) -> Catalogue {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("models.json"), models).unwrap();
    Catalogue::load(dir.path(), environment.iter().copied().collect())
}

fn names(models: &[Arc<Model>]) -> Vec<String> {
    models.iter().map(|model| model.reference().to_string()).collect()
}

#[test]
fn an_environment_key_alone_is_enough() {
    let catalogue = catalogue("{}", &[("GROQ_API_KEY", "k"), ("DEEPSEEK_API_KEY", "k")]);
    let available = names(&catalogue.available());
    assert!(available.contains(&"groq/openai/gpt-oss-120b".to_owned()));
    assert!(available.iter().all(|name| name.starts_with("deepseek/") || name.starts_with("groq/")), "{available:?}");
    assert_eq!(catalogue.default_model().unwrap().id, "deepseek-v4-pro", "the provider table's order decides");
}

#[test]
fn without_any_key_nothing_is_available_not_even_the_models_inside() {
    let catalogue = catalogue("{}", &[]);
    assert!(catalogue.available().is_empty() && catalogue.default_model().is_none());
    for id in [OFFLINE, SCRIPT] {
        let name = ModelRef { provider: TROUPE.into(), model_id: id.into() };
        let model = catalogue.find(&name).expect("found by its name");
        assert!(catalogue.is_available(&model));
        assert!(!catalogue.models().contains(&model), "never listed");
    }
}

#[test]
fn a_local_server_needs_no_key_and_a_missing_variable_makes_a_provider_unavailable() {
    let text = r#"{"providers": {
        "far": {"api": "a", "baseUrl": "https://x.test", "models": [{"id": "f"}]},
        "var": {"api": "a", "baseUrl": "http://127.0.0.1:1", "apiKey": "$NOT_SET", "models": [{"id": "v"}]},
        "near": {"api": "a", "baseUrl": "http://127.0.0.1:1", "models": [{"id": "n"}]}}}"#;
    let catalogue = catalogue(text, &[]);
    assert_eq!(names(&catalogue.available()), ["near/n"]);
    assert_eq!(catalogue.default_model().unwrap().id, "n");
}

#[test]
fn a_broken_file_is_a_problem_and_the_built_in_providers_remain() {
    let catalogue = catalogue(r#"{"providers": {"mock": "#, &[("GROQ_API_KEY", "k")]);
    let problem = catalogue.problems()[0].to_string();
    assert!(problem.contains("models.json:1:") && problem.contains("nothing of this file counts"), "{problem}");
    assert_eq!(catalogue.default_model().unwrap().reference().to_string(), "groq/openai/gpt-oss-120b");
}

#[test]
fn a_file_cannot_take_over_the_models_inside() {
    let text = r#"{"providers": {"troupe": {"api": "a", "baseUrl": "https://evil.test", "apiKey": "k", "models": [{"id": "offline"}]}}}"#;
    let catalogue = catalogue(text, &[]);
    let offline = catalogue.find(&ModelRef { provider: TROUPE.into(), model_id: OFFLINE.into() }).unwrap();
    assert_eq!(offline.base_url, "");
}

#[test]
fn a_reload_reads_the_files_again_and_keeps_the_run_s_own_keys() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("models.json");
    let text = |id: &str| {
        format!(
            r#"{{"providers": {{"p": {{"api": "a", "baseUrl": "https://x.test", "models": [{{"id": "{id}"}}]}}}}}}"#
        )
    };
    fs::write(&file, text("old")).unwrap();
    let first = Catalogue::load(dir.path(), Environment::default());
    first.credentials().set_own_key("p", super::super::Secret::new("k"));
    fs::write(&file, text("new")).unwrap();
    assert_eq!(names(&first.reload().available()), ["p/new"]);
}

#[test]
fn a_pipe_instead_of_the_file_is_a_problem_and_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = crate::store::testing::pipe_in(dir.path(), "models.json");
    let problem = Catalogue::load(dir.path(), Environment::default()).problems()[0].to_string();
    let expected = "1:1: cannot be read: expected a regular file, found a pipe";
    assert!(problem.starts_with(&format!("{}:{expected}", pipe.display())), "{problem}");
}

#[test]
fn what_is_odd_is_said_and_the_rest_of_the_file_counts() {
    let text = r#"{"providers": {
        "p": {"api": "openai-completion", "baseUrl": "https://x.test/v1?key=1", "apiKey": "k", "models": [{"id": "m"}]},
        "groq": {"apikey": "x"}}}"#;
    let catalogue = catalogue(text, &[]);
    assert_eq!(names(&catalogue.available()), ["p/m"]);
    let problems: Vec<_> = catalogue.problems().iter().map(ToString::to_string).collect();
    let expected = [
        "models.json:2:15: providers.p.api: unknown wire API \"openai-completion\"; did you mean openai-completions?",
        "models.json:2:43: providers.p.baseUrl: has a query",
        "models.json:3:18: providers.groq.apikey: unknown field (did you mean apiKey?); it is ignored",
    ];
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
    assert_eq!(catalogue.unusable(), None, "what is odd makes no file useless");
    for (problem, expected) in problems.iter().zip(expected) {
        assert!(problem.contains(expected), "{problem}");
    }
}

#[test]
fn a_provider_whose_address_lacks_a_variable_is_not_available_and_says_which() {
    let name = ModelRef { provider: "cloudflare-workers-ai".into(), model_id: "@cf/openai/gpt-oss-120b".into() };
    let key = ("CLOUDFLARE_API_KEY", "k");
    let without = catalogue("{}", &[key]);
    let model = without.find(&name).unwrap();
    assert!(!without.is_available(&model));
    let reason = without.missing_key(&model).unwrap().to_string();
    assert!(reason.contains("CLOUDFLARE_ACCOUNT_ID: set it"), "{reason}");
    let with = catalogue("{}", &[key, ("CLOUDFLARE_ACCOUNT_ID", "acc")]);
    assert!(with.is_available(&model) && with.missing_key(&model).is_none());
}

#[test]
fn an_older_provider_id_finds_the_models_of_today() {
    let catalogue = catalogue(r#"{"providers": {"azure-openai-responses": {"apiKey": "k"}}}"#, &[]);
    let name = ModelRef { provider: "azure-openai-responses".into(), model_id: "gpt-6.2-sol".into() };
    let model = catalogue.find(&name).expect("found");
    assert_eq!((model.provider.as_str(), catalogue.is_available(&model)), ("azure", true));
}

#[test]
fn found_providers_give_way_to_configured_ones_and_outlive_a_reload() {
    let entry = |id: &str| ProviderEntry {
        id: id.to_owned(),
        models: vec![Arc::new(model(id, "found"))],
        keys: KeySources { keyless: true, ..KeySources::default() },
        ..ProviderEntry::default()
    };
    let text =
        r#"{"providers": {"ollama": {"api": "a", "baseUrl": "http://127.0.0.1:1/v1", "models": [{"id": "mine"}]}}}"#;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("models.json");
    fs::write(&file, text).unwrap();
    let catalogue =
        Catalogue::load(dir.path(), Environment::default()).with_found(vec![entry("ollama"), entry("vllm")]);
    assert_eq!(names(&catalogue.available()), ["ollama/mine", "vllm/found"]);
    fs::remove_file(&file).unwrap();
    assert_eq!(names(&catalogue.reload().available()), ["ollama/found", "vllm/found"]);
}
