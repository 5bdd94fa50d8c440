use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::{
    protocol::Model,
    providers::{
        EventStream, Provider, Request, playback,
        routing::Physical,
        selection::{CliModel, resolve_cli},
    },
};

/// Code that answers by itself.
struct Echo;

impl Provider for Echo {
    fn api(&self) -> &str {
        "echo"
    }

    fn stream(&self, request: Request) -> EventStream {
        playback::play(self.api(), request, Vec::new())
    }
}

/// The catalogue, and the folder with its file, which is read again.
fn live(models: &str, environment: &[(&str, &str)]) -> (TempDir, LiveCatalogue) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("models.json"), models).unwrap();
    let catalogue = Catalogue::load(dir.path(), environment.iter().copied().collect());
    (dir, LiveCatalogue::new(catalogue))
}

fn name(text: &str) -> ModelRef {
    let (provider, id) = text.split_once('/').unwrap();
    ModelRef { provider: provider.into(), model_id: id.into() }
}

fn available(live: &LiveCatalogue) -> Vec<String> {
    live.now().available().iter().map(|model| model.reference().to_string()).collect()
}

fn provider(id: &str, config: serde_json::Value, code: bool) -> ProviderRegistration {
    ProviderRegistration { id: id.into(), config, wire: code.then(|| Arc::new(Echo) as Arc<dyn Provider>) }
}

fn model(live: &LiveCatalogue, text: &str) -> Arc<Model> {
    live.now().find(&name(text)).unwrap_or_else(|| panic!("no {text}"))
}

#[test]
fn a_provider_made_of_code_needs_neither_address_nor_key() {
    let (_dir, live) = live("{}", &[]);
    live.register_provider(provider("acme", json!({"name": "Acme", "models": [{"id": "one"}]}), true)).unwrap();
    assert_eq!(available(&live), ["acme/one"]);
    let one = model(&live, "acme/one");
    assert_eq!((one.api.as_str(), one.base_url.as_str()), ("echo", ""));
    assert!(live.now().registered_wire(&one).is_some_and(|wire| wire.api() == "echo"));
    let elsewhere = Model { api: "openai-completions".into(), ..(*one).clone() };
    assert!(live.now().registered_wire(&elsewhere).is_none(), "another API is another wire");
    live.unregister_provider("acme");
    assert!(available(&live).is_empty() && live.now().registered_wire(&one).is_none());
}

#[test]
fn a_built_in_provider_is_redirected_or_replaced_and_comes_back() {
    let (_dir, live) = live("{}", &[("GROQ_API_KEY", "k")]);
    let before = available(&live);
    live.register_provider(provider("groq", json!({"baseUrl": "http://proxy.test/v1"}), false)).unwrap();
    assert_eq!(available(&live), before, "without models only the address changes");
    assert_eq!(model(&live, &before[0]).base_url, "http://proxy.test/v1");
    live.register_provider(provider("groq", json!({"models": [{"id": "own"}]}), false)).unwrap();
    assert_eq!(available(&live), ["groq/own"], "the models are all models");
    assert_ne!(model(&live, "groq/own").base_url, "http://proxy.test/v1", "a registration replaces the one before");
    live.unregister_provider("groq");
    assert_eq!(available(&live), before);
}

#[test]
fn the_user_s_file_has_the_last_word() {
    let file = r#"{"providers": {"acme": {"modelOverrides": {"one": {"name": "Mine"}}, "models": [{"id": "two"}]}}}"#;
    let (_dir, live) = live(file, &[]);
    live.register_provider(provider("acme", json!({"models": [{"id": "one", "name": "Theirs"}]}), true)).unwrap();
    assert_eq!(available(&live), ["acme/one", "acme/two"]);
    assert_eq!(model(&live, "acme/one").name, "Mine");
    live.reload();
    assert_eq!(available(&live), ["acme/one", "acme/two"], "what was registered stays when files are read again");
}

#[test]
fn what_cannot_be_used_is_refused_and_changes_nothing() {
    let (_dir, live) = live("{}", &[("GROQ_API_KEY", "k")]);
    let before = available(&live);
    let table = [
        (provider("troupe", json!({}), true), "the provider id \"troupe\" cannot be used; choose another one"),
        (provider("", json!({}), true), "the provider id \"\" cannot be used; choose another one"),
        (provider("x", json!({"models": [{"id": "m"}]}), false), "providers.x.models[0]: expected api here"),
        (provider("x", json!({"name": 1}), true), "providers.x.name: expected a text, found 1"),
        (provider("x", json!([]), true), "providers.x: expected an object, found a list"),
    ];
    for (registration, expected) in table {
        let error = live.register_provider(registration).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}\n{expected}");
    }
    let taken = VirtualDescription::new("groq", before[0].split_once('/').unwrap().1);
    let error = live.register_virtual_model("ext", taken).unwrap_err().to_string();
    assert!(error.contains("a physical model has that name"), "{error}");
    assert_eq!(available(&live), before);
}

#[test]
fn a_registered_virtual_model_is_listed_found_and_taken_away() {
    let (_dir, live) = live("{}", &[("GROQ_API_KEY", "k")]);
    live.register_virtual_model("ext", VirtualDescription::new("team", "auto")).unwrap();
    live.register_virtual_model("ext", VirtualDescription::new("groq", "auto")).unwrap();
    live.register_virtual_model("ext", VirtualDescription::new("openai", "auto")).unwrap();
    let found = available(&live);
    assert!(found.contains(&"team/auto".to_owned()), "a provider of its own needs no key");
    assert!(found.contains(&"groq/auto".to_owned()) && !found.contains(&"openai/auto".to_owned()), "{found:?}");
    let renamed = VirtualDescription { name: "New".into(), ..VirtualDescription::new("team", "auto") };
    live.register_virtual_model("ext", renamed).unwrap();
    let cli = CliModel { model: Some("team/auto:high"), ..CliModel::default() };
    let chosen = resolve_cli(&live.now(), &cli).unwrap().unwrap();
    assert_eq!((chosen.model.name.as_str(), chosen.model.api.as_str()), ("New", "pi-virtual"));
    assert!(matches!(live.now().physical(&name("team/auto")), Physical::Unusable(_)));
    live.unregister_virtual_model(&name("team/auto"));
    assert!(live.now().find(&name("team/auto")).is_none());
}

#[test]
fn a_declared_virtual_model_is_available_when_a_candidate_is() {
    let file = r#"{"virtualModels": {
        "team/auto": {"rules": [{"use": ["openai/nosuch", "groq/openai/gpt-oss-120b"]}]},
        "team/none": {"rules": [{"use": ["team/auto"]}]}}}"#;
    let (_dir, without) = live(file, &[]);
    assert!(available(&without).is_empty());
    let missing = without.now().missing_key(&model(&without, "team/auto")).unwrap().to_string();
    assert!(missing.contains("none of the models behind auto can be used: openai/nosuch, groq/"), "{missing}");
    let (_dir, with) = live(file, &[("GROQ_API_KEY", "k")]);
    let listed = available(&with);
    assert!(listed.contains(&"groq/openai/gpt-oss-120b".to_owned()), "{listed:?}");
    assert_eq!(listed.last().unwrap(), "team/auto", "virtual models come last");
    assert!(!listed.contains(&"team/none".to_owned()), "{listed:?}");
    let problems: Vec<_> = with.now().problems().iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("models.json:2:") && problems[0].contains("openai/nosuch is unknown"), "{problems:?}");
}

#[test]
fn a_physical_model_that_comes_later_is_hidden_and_the_file_s_virtual_model_wins() {
    let (_dir, live) =
        live(r#"{"virtualModels": {"team/both": {"name": "File", "rules": [{"use": "acme/one"}]}}}"#, &[]);
    live.register_virtual_model("ext", VirtualDescription::new("team", "both")).unwrap();
    live.register_virtual_model("ext", VirtualDescription::new("acme", "auto")).unwrap();
    live.register_provider(provider("acme", json!({"models": [{"id": "one"}, {"id": "auto"}]}), true)).unwrap();
    assert_eq!(available(&live), ["acme/one", "team/both", "acme/auto"]);
    assert_eq!(model(&live, "team/both").name, "File");
    assert_eq!(model(&live, "acme/auto").api, "pi-virtual");
}
