//! From a server's answers to its models. Pure; whatever is missing or of another type is left out.

use serde_json::Value;

/// Models of one server that are listed at most.
const MAX_MODELS: usize = 500;
/// Characters of an id at most.
const MAX_ID: usize = 256;
/// Windows above this are no windows.
const MAX_WINDOW: u64 = 1 << 30;

/// A model as its server describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    pub id: String,
    /// Tokens that the server keeps of a conversation; none when it does not say.
    pub window: Option<u64>,
    /// Tokens that the model could take if the server let it.
    pub largest_window: Option<u64>,
    pub reasoning: bool,
    pub images: bool,
}

impl Listed {
    fn named(id: &str) -> Option<Self> {
        // Names are shown on terminals: control characters could do anything there.
        let good = !id.is_empty() && id.chars().count() <= MAX_ID && !id.chars().any(char::is_control);
        good.then(|| Self { id: id.to_owned(), ..Self::default() })
    }
}

fn entries<'a>(answer: &'a Value, key: &str) -> Option<&'a [Value]> {
    let list = answer.get(key)?.as_array()?;
    Some(&list[..list.len().min(MAX_MODELS)])
}

fn tokens(value: Option<&Value>) -> Option<u64> {
    value?.as_u64().filter(|tokens| (1..=MAX_WINDOW).contains(tokens))
}

fn has(list: Option<&Value>, word: &str) -> bool {
    list.and_then(Value::as_array).is_some_and(|words| words.iter().any(|known| known.as_str() == Some(word)))
}

/// The common list (`GET /v1/models`), with the window where vLLM, SGLang and llama.cpp put it.
pub(super) fn openai(answer: &Value) -> Option<Vec<Listed>> {
    let read = |entry: &Value| {
        let listed = Listed::named(entry.get("id")?.as_str()?)?;
        let meta = entry.get("meta");
        let window = tokens(entry.get("max_model_len")).or(tokens(meta.and_then(|meta| meta.get("n_ctx"))));
        Some(Listed { window, largest_window: tokens(meta.and_then(|meta| meta.get("n_ctx_train"))), ..listed })
    };
    Some(entries(answer, "data")?.iter().filter_map(read).collect())
}

/// LM Studio's own list (`GET /api/v0/models`): the window of a loaded model, else the largest one.
pub(super) fn lm_studio(answer: &Value) -> Option<Vec<Listed>> {
    let read = |entry: &Value| {
        let kind = entry.get("type").and_then(Value::as_str).unwrap_or_default();
        let listed = Listed::named(entry.get("id")?.as_str()?).filter(|_| kind != "embeddings")?;
        let window = tokens(entry.get("loaded_context_length"));
        Some(Listed {
            window,
            largest_window: tokens(entry.get("max_context_length")),
            images: kind == "vlm",
            ..listed
        })
    };
    Some(entries(answer, "data")?.iter().filter_map(read).collect())
}

/// The common list, and what `GET /props` says of a server that has one model.
pub(super) fn llama_cpp(models: &Value, props: Option<&Value>) -> Option<Vec<Listed>> {
    let mut listed = openai(models)?;
    if let ([model], Some(props)) = (listed.as_mut_slice(), props) {
        let settings = props.get("default_generation_settings");
        model.window = tokens(settings.and_then(|settings| settings.get("n_ctx"))).or(model.window);
        model.images = props.pointer("/modalities/vision").and_then(Value::as_bool) == Some(true);
    }
    Some(listed)
}

/// The common list, and what `GET /get_server_info` says.
pub(super) fn sglang(models: &Value, info: Option<&Value>) -> Option<Vec<Listed>> {
    let mut listed = openai(models)?;
    let window = info.and_then(|info| tokens(info.get("context_length")).or(tokens(info.get("max_req_input_len"))));
    listed.iter_mut().for_each(|model| model.window = model.window.or(window));
    Some(listed)
}

/// The names of `GET /api/tags`.
pub(super) fn ollama_names(tags: &Value) -> Option<Vec<String>> {
    let name = |entry: &Value| {
        let name = entry.get("model").or(entry.get("name"))?.as_str()?;
        Listed::named(name).map(|listed| listed.id)
    };
    Some(entries(tags, "models")?.iter().filter_map(name).collect())
}

/// Ollama's models: the window of a running one (`GET /api/ps`), else `num_ctx` of its own parameters (`POST
/// /api/show`), else the general setting; never more than the model can take.
pub(super) fn ollama(
    names: &[String],
    shown: &[Option<Value>],
    running: Option<&Value>,
    general: Option<u64>,
) -> Vec<Listed> {
    let running = running.and_then(|answer| entries(answer, "models")).unwrap_or_default();
    let read = |(name, shown): (&String, Option<&Value>)| {
        let loaded = running.iter().find(|entry| {
            let names = [entry.get("model"), entry.get("name")];
            names.iter().flatten().any(|known| known.as_str() == Some(name))
        });
        let info = shown.and_then(|shown| shown.get("model_info")).and_then(Value::as_object);
        let length = info.and_then(|info| info.iter().find(|(key, _)| key.ends_with(".context_length")));
        let largest_window = tokens(length.map(|(_, length)| length));
        let abilities = shown.and_then(|shown| shown.get("capabilities"));
        if abilities.is_some() && !has(abilities, "completion") {
            return None;
        }
        let told = tokens(loaded.and_then(|entry| entry.get("context_length")))
            .or_else(|| num_ctx(shown?))
            .or(general.filter(|general| *general > 0));
        let window = told.map(|told| largest_window.map_or(told, |largest| told.min(largest)));
        let (reasoning, images) = (has(abilities, "thinking"), has(abilities, "vision"));
        Some(Listed { id: name.clone(), window, largest_window, reasoning, images })
    };
    let shown = shown.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    names.iter().zip(shown).filter_map(read).collect()
}

/// `num_ctx` among the parameters of a model, which come as text: one a line.
fn num_ctx(shown: &Value) -> Option<u64> {
    let parameters = shown.get("parameters")?.as_str()?;
    let line = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx"))?;
    line.trim().parse().ok().filter(|tokens| (1..=MAX_WINDOW).contains(tokens))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(id: &str, window: Option<u64>, largest_window: Option<u64>) -> Listed {
        Listed { id: id.into(), window, largest_window, ..Listed::default() }
    }

    #[test]
    fn windows_are_found_where_each_server_puts_them() {
        let vllm = json!({"object": "list", "data": [{"id": "a/b", "max_model_len": 40960, "owned_by": "vllm"}]});
        assert_eq!(openai(&vllm).unwrap(), [listed("a/b", Some(40960), None)]);
        let llama = json!({"data": [{"id": "q.gguf", "meta": {"n_ctx_train": 131_072}}]});
        let props = json!({"default_generation_settings": {"n_ctx": 8192}, "modalities": {"vision": true}});
        let expected = Listed { images: true, ..listed("q.gguf", Some(8192), Some(131_072)) };
        assert_eq!(llama_cpp(&llama, Some(&props)).unwrap(), [expected]);
        assert_eq!(llama_cpp(&llama, None).unwrap(), [listed("q.gguf", None, Some(131_072))]);
        let sg = json!({"data": [{"id": "s"}]});
        assert_eq!(sglang(&sg, Some(&json!({"context_length": 4096}))).unwrap(), [listed("s", Some(4096), None)]);
        let studio = json!({"data": [
            {"id": "l", "type": "llm", "state": "loaded", "max_context_length": 32768, "loaded_context_length": 8192},
            {"id": "v", "type": "vlm", "state": "not-loaded", "max_context_length": 4096},
            {"id": "e", "type": "embeddings", "max_context_length": 512}]});
        let vision = Listed { images: true, ..listed("v", None, Some(4096)) };
        assert_eq!(lm_studio(&studio).unwrap(), [listed("l", Some(8192), Some(32768)), vision]);
    }

    #[test]
    fn an_ollama_model_has_the_window_that_ollama_gives_it() {
        let tags = json!({"models": [{"model": "run"}, {"name": "own"}, {"model": "general"}, {"model": "embed"}, {"model": "late"}]});
        let names = ollama_names(&tags).unwrap();
        let show = |length: u64, parameters: &str, abilities: Value| {
            Some(
                json!({"model_info": {"x.context_length": length}, "parameters": parameters, "capabilities": abilities}),
            )
        };
        let shown = [
            show(131_072, "num_ctx 2048", json!(["completion", "tools", "thinking"])),
            show(131_072, "temperature 0.7\nnum_ctx                        16384", json!(["completion", "vision"])),
            show(8192, "", json!(["completion"])),
            show(512, "", json!(["embedding"])),
        ];
        let running = json!({"models": [{"model": "run", "context_length": 65536}]});
        let expected = [
            Listed { reasoning: true, ..listed("run", Some(65536), Some(131_072)) },
            Listed { images: true, ..listed("own", Some(16384), Some(131_072)) },
            listed("general", Some(8192), Some(8192)),
            listed("late", Some(64000), None),
        ];
        assert_eq!(ollama(&names, &shown, Some(&running), Some(64000)), expected);
        let untold = ollama(&names, &shown, None, None);
        assert_eq!((untold[0].window, untold[2].window, untold[2].largest_window), (Some(2048), None, Some(8192)));
    }

    #[test]
    fn what_is_no_list_of_models_is_none_and_bad_entries_are_left_out() {
        for stranger in [json!({}), json!([]), json!("x"), json!({"data": {}}), json!({"models": 1})] {
            assert!(openai(&stranger).is_none() && lm_studio(&stranger).is_none() && ollama_names(&stranger).is_none());
        }
        let odd = json!({"data": [{"id": ""}, {"id": 5}, {"id": "a\u{1b}[2J"}, {"id": "x".repeat(300)}, 7, {"id": "ok", "max_model_len": -1}]});
        assert_eq!(openai(&odd).unwrap(), [listed("ok", None, None)]);
        let many: Vec<_> = (0..2000).map(|n| json!({"id": n.to_string()})).collect();
        assert_eq!(openai(&json!({"data": many})).unwrap().len(), MAX_MODELS);
    }
}
