//! `virtualModels` of `models.json`: models that stand for a choice, and the rules of that choice. A key of our own,
//! which pi passes over.

use std::sync::Arc;

use crate::{
    protocol::{Model, ModelRef, ThinkingLevel, model::InputKind, route::VirtualDescription},
    providers::routing::{Candidate, Keep, MaxPrice, Pick, Router, Rule, Rules, VirtualModel, When, rules::COOL_DOWN},
    store::document::{Fault, Field, Object},
};

/// What a file says about virtual models.
#[derive(Debug, Default)]
pub struct Declared {
    /// The models in order.
    pub models: Vec<VirtualModel>,
    /// Candidates that nobody knows: they are passed over.
    pub warnings: Vec<Fault>,
}

/// Reads the virtual models of a models file. `find` gives the physical models.
///
/// # Errors
/// A field is missing, unknown or of the wrong type, or a name is taken. Nothing of the file counts then.
pub fn virtual_models(root: &Field<'_>, find: &dyn Fn(&ModelRef) -> Option<Arc<Model>>) -> Result<Declared, Fault> {
    let mut declared = Declared::default();
    if root.value().is_null() {
        return Ok(declared);
    }
    let Some(configured) = root.object()?.read("virtualModels", Field::object)? else { return Ok(declared) };
    for (name, field) in configured.entries() {
        let name = reference(name).ok_or_else(|| field.fault("expected a name of the form provider/id"))?;
        if find(&name).is_some() {
            return Err(field.fault(format!("{name} is a physical model; a virtual one needs a name of its own")));
        }
        let model = read_model(&name, &field.object()?, find, &mut declared.warnings)?;
        declared.models.push(model);
    }
    Ok(declared)
}

fn reference(text: &str) -> Option<ModelRef> {
    let (provider, id) = text.split_once('/')?;
    let whole = !provider.is_empty() && !id.is_empty();
    whole.then(|| ModelRef { provider: provider.to_owned(), model_id: id.to_owned() })
}

const MODEL_FIELDS: [&str; 7] =
    ["name", "thinkingLevels", "contextWindow", "maxTokens", "input", "rules", "coolDownSeconds"];
const RULE_FIELDS: [&str; 6] = ["name", "when", "use", "pick", "keep", "maxPrice"];
const WHEN_FIELDS: [&str; 4] = ["role", "thinking", "inputAbove", "images"];

fn read_model(
    name: &ModelRef,
    config: &Object<'_>,
    find: &dyn Fn(&ModelRef) -> Option<Arc<Model>>,
    warnings: &mut Vec<Fault>,
) -> Result<VirtualModel, Fault> {
    config.only(&MODEL_FIELDS)?;
    let mut known: Vec<Arc<Model>> = Vec::new();
    let mut rules = Vec::new();
    for field in config.require("rules", "a list of rules")?.items()? {
        let (rule, candidates) = read_rule(&field.object()?)?;
        for (candidate, field) in rule.candidates.iter().zip(candidates) {
            match find(&candidate.model) {
                Some(model) => known.push(model),
                None => warnings.push(field.fault(format!("{} is unknown and passed over", candidate.model))),
            }
        }
        rules.push(rule);
    }
    if rules.is_empty() {
        return Err(config.fault("expected at least one rule"));
    }
    let seconds = config.read("coolDownSeconds", Field::whole)?;
    let rules = Rules { rules, cool_down_ms: seconds.map_or(COOL_DOWN, |seconds| seconds.saturating_mul(1000)) };
    let description = VirtualDescription {
        provider: name.provider.clone(),
        id: name.model_id.clone(),
        name: config.read("name", Field::text)?.unwrap_or(&name.model_id).to_owned(),
        thinking_levels: config.read("thinkingLevels", levels)?.unwrap_or_else(|| all_levels(&known)),
        context_window: config.read("contextWindow", Field::whole)?,
        max_tokens: config.read("maxTokens", Field::whole)?,
        input: config.read("input", input)?.unwrap_or_else(|| all_input(&known)),
    };
    Ok(VirtualModel { model: Arc::new(description.to_model()), router: Router::Rules(rules) })
}

/// Every level that some candidate has.
fn all_levels(known: &[Arc<Model>]) -> Vec<ThinkingLevel> {
    let has = |level: &ThinkingLevel| known.iter().any(|model| model.thinking_levels().contains(level));
    let levels: Vec<_> = ThinkingLevel::ALL.into_iter().filter(has).collect();
    if levels.is_empty() { vec![ThinkingLevel::Off] } else { levels }
}

fn all_input(known: &[Arc<Model>]) -> Vec<InputKind> {
    let images = known.iter().any(|model| model.takes_images());
    if images { vec![InputKind::Text, InputKind::Image] } else { vec![InputKind::Text] }
}

fn input(field: &Field<'_>) -> Result<Vec<InputKind>, Fault> {
    let kind = |item: &Field<'_>| {
        let image = item.one_of(&["text", "image"])? == "image";
        Ok(if image { InputKind::Image } else { InputKind::Text })
    };
    field.items()?.iter().map(kind).collect()
}

/// A rule, and the places of its candidates.
fn read_rule<'a>(config: &Object<'a>) -> Result<(Rule, Vec<Field<'a>>), Fault> {
    config.only(&RULE_FIELDS)?;
    let places = one_or_many(&config.require("use", "a model, or a list of models in order of preference")?)?;
    if places.is_empty() {
        return Err(config.fault("expected at least one model in \"use\""));
    }
    let rule = Rule {
        name: config.read("name", Field::text)?.map(str::to_owned),
        when: config.read("when", when)?.unwrap_or_default(),
        candidates: places.iter().map(candidate).collect::<Result<_, _>>()?,
        pick: match config.read("pick", |field| field.one_of(&["first", "cheapest"]))? {
            Some("cheapest") => Pick::Cheapest,
            _ => Pick::First,
        },
        keep: match config.read("keep", |field| field.one_of(&["never", "trace", "session"]))? {
            Some("never") => Keep::Never,
            Some("session") => Keep::Session,
            _ => Keep::Trace,
        },
        max_price: config.read("maxPrice", max_price)?.unwrap_or_default(),
    };
    Ok((rule, places))
}

/// A field that holds one thing or a list of them.
fn one_or_many<'a>(field: &Field<'a>) -> Result<Vec<Field<'a>>, Fault> {
    if field.value().is_array() { field.items() } else { Ok(vec![field.clone()]) }
}

/// `provider/id`, or `provider/id:level`.
fn candidate(field: &Field<'_>) -> Result<Candidate, Fault> {
    let text = field.text()?;
    let split = text.rsplit_once(':').and_then(|(name, level)| Some((name, ThinkingLevel::parse(level)?)));
    let (name, thinking) = split.map_or((text, None), |(name, level)| (name, Some(level)));
    let model = reference(name).ok_or_else(|| field.expected("provider/id or provider/id:level"))?;
    Ok(Candidate { model, thinking })
}

fn when(field: &Field<'_>) -> Result<When, Fault> {
    let config = field.object()?;
    config.only(&WHEN_FIELDS)?;
    let texts = |field: &Field<'_>| -> Result<Vec<String>, Fault> {
        one_or_many(field)?.iter().map(|item| item.text().map(str::to_owned)).collect()
    };
    Ok(When {
        roles: config.read("role", texts)?.unwrap_or_default(),
        thinking: config.read("thinking", levels)?.unwrap_or_default(),
        input_above: config.read("inputAbove", Field::whole)?,
        images: config.read("images", Field::flag)?,
    })
}

fn levels(field: &Field<'_>) -> Result<Vec<ThinkingLevel>, Fault> {
    let level = |item: &Field<'_>| {
        let known = item.value().as_str().and_then(ThinkingLevel::parse);
        known.ok_or_else(|| {
            item.expected(&format!("one of {}", ThinkingLevel::ALL.map(ThinkingLevel::as_str).join(", ")))
        })
    };
    one_or_many(field)?.iter().map(level).collect()
}

fn max_price(field: &Field<'_>) -> Result<MaxPrice, Fault> {
    let config = field.object()?;
    config.only(&["input", "output"])?;
    Ok(MaxPrice { input: config.read("input", Field::number)?, output: config.read("output", Field::number)? })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{
        providers::catalogue::tests::model,
        store::document::{Document, Syntax},
    };

    fn find(name: &ModelRef) -> Option<Arc<Model>> {
        let reasoning = name.model_id.contains("thinks");
        let input = vec![InputKind::Text, InputKind::Image];
        (name.provider == "p").then(|| Arc::new(Model { reasoning, input, ..model(&name.provider, &name.model_id) }))
    }

    fn read(text: &str) -> Result<(Vec<VirtualModel>, Vec<String>), String> {
        let document = Document::parse(Path::new("m.json"), text.to_owned(), Syntax::Comments).unwrap();
        let declared = virtual_models(&document.root(), &find).map_err(|fault| document.locate(&fault).to_string())?;
        let warnings = declared.warnings.iter().map(|fault| document.locate(fault).to_string()).collect();
        Ok((declared.models, warnings))
    }

    #[test]
    fn a_virtual_model_is_read_with_all_that_rules_may_say() {
        let text = r#"{"virtualModels": {"team/auto": {
            "name": "Team", "thinkingLevels": ["off", "high"], "contextWindow": 9, "maxTokens": 3, "input": ["text"],
            "coolDownSeconds": 5, "rules": [
                {"name": "look", "when": {"role": ["main", "direct"], "thinking": "high", "inputAbove": 7, "images": true},
                 "use": ["p/a/b:c", "p/thinks:low"], "pick": "cheapest", "keep": "session", "maxPrice": {"input": 1.5}},
                {"use": "p/x"}]}}}"#;
        let (models, warnings) = read(text).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        let [virtual_model] = &models[..] else { panic!("{models:?}") };
        let shown = &virtual_model.model;
        assert_eq!((shown.name.as_str(), shown.context_window, shown.max_tokens), ("Team", 9, 3));
        assert_eq!(shown.thinking_levels(), [ThinkingLevel::Off, ThinkingLevel::High]);
        let name = |id: &str| ModelRef { provider: "p".into(), model_id: id.into() };
        let look = Rule {
            name: Some("look".into()),
            when: When {
                roles: vec!["main".into(), "direct".into()],
                thinking: vec![ThinkingLevel::High],
                input_above: Some(7),
                images: Some(true),
            },
            candidates: vec![
                Candidate { model: name("a/b:c"), thinking: None },
                Candidate { model: name("thinks"), thinking: Some(ThinkingLevel::Low) },
            ],
            pick: Pick::Cheapest,
            keep: Keep::Session,
            max_price: MaxPrice { input: Some(1.5), output: None },
        };
        let last = Rule { candidates: vec![Candidate { model: name("x"), thinking: None }], ..Rule::default() };
        assert_eq!(virtual_model.router, Router::Rules(Rules { rules: vec![look, last], cool_down_ms: 5_000 }));
    }

    #[test]
    fn levels_and_input_come_from_the_candidates_when_nothing_is_said() {
        let (models, _) = read(r#"{"virtualModels": {"v/v": {"rules": [{"use": ["p/m", "p/thinks"]}]}}}"#).unwrap();
        let levels = models[0].model.thinking_levels();
        assert_eq!((levels.first(), levels.last()), (Some(&ThinkingLevel::Off), Some(&ThinkingLevel::High)));
        assert!(models[0].model.takes_images());
        let (models, warnings) = read("{\"virtualModels\": {\"v/v\": {\"rules\": [{\n\"use\": \"q/m\"}]}}}").unwrap();
        assert_eq!((models[0].model.reasoning, models[0].model.takes_images()), (false, false));
        assert_eq!(warnings, ["m.json:2:1: virtualModels.v/v.rules[0].use: q/m is unknown and passed over"]);
    }

    #[test]
    fn faults_name_the_place_and_what_was_expected() {
        let rule = |rule: &str| format!(r#"{{"virtualModels": {{"v/v": {{"rules": [{rule}]}}}}}}"#);
        let table = [
            ("{\"virtualModels\": []}".to_owned(), "m.json:1:2: virtualModels: expected an object, found a list"),
            (
                "{\"virtualModels\": {\n\"auto\": {}}}".to_owned(),
                "m.json:2:1: virtualModels.auto: expected a name of the form provider/id",
            ),
            (
                "{\"virtualModels\": {\"p/m\": {\"rules\": []}}}".to_owned(),
                "p/m is a physical model; a virtual one needs a name of its own",
            ),
            ("{\"virtualModels\": {\"v/v\": {}}}".to_owned(), "v/v.rules: expected a list of rules, found nothing"),
            (rule(""), "expected at least one rule"),
            (rule("{}"), "rules[0].use: expected a model, or a list of models in order of preference, found nothing"),
            (rule(r#"{"use": []}"#), "expected at least one model in \"use\""),
            (rule(r#"{"use": ["m"]}"#), "rules[0].use[0]: expected provider/id or provider/id:level, found \"m\""),
            (rule(r#"{"use": "p/m", "pik": 1}"#), "rules[0].pik: unknown field (did you mean pick?)"),
            (rule(r#"{"use": "p/m", "pick": "best"}"#), "expected one of first, cheapest, found \"best\""),
            (rule(r#"{"use": "p/m", "when": {"thinking": "lots"}}"#), "when.thinking: expected one of off, minimal"),
            (rule(r#"{"use": "p/m", "maxPrice": {"in": 1}}"#), "maxPrice.in: unknown field (did you mean input?)"),
        ];
        for (text, expected) in table {
            let error = read(&text).expect_err(&text);
            assert!(error.contains(expected), "{error}\n{expected}");
        }
    }
}
