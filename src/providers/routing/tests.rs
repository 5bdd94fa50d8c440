use serde_json::json;

use super::*;
use crate::{
    protocol::{
        Failure, FailureClass, ModelRef,
        model::{InputKind, ModelCost},
        time::Millis,
    },
    providers::catalogue::tests::model,
};

const NOW: Millis = 1_000_000;

fn name(text: &str) -> ModelRef {
    let (provider, id) = text.split_once('/').unwrap();
    ModelRef { provider: provider.into(), model_id: id.into() }
}

/// The models of the tests. `nokey` has no key, everything else unknown does not exist.
fn physical(name: &ModelRef) -> Physical {
    let price = |input, output| ModelCost { input, output, ..ModelCost::default() };
    let known = |reasoning, images: bool, context_window, cost| {
        let input = if images { vec![InputKind::Text, InputKind::Image] } else { vec![InputKind::Text] };
        let base = model(&name.provider, &name.model_id);
        Physical::Usable(Arc::new(Model { reasoning, input, context_window, cost, ..base }))
    };
    match name.model_id.as_str() {
        "big" => known(true, true, 200_000, price(5.0, 25.0)),
        "small" => known(true, false, 100_000, price(1.0, 4.0)),
        "tiny" => known(false, false, 20_000, price(0.1, 0.4)),
        "long" => known(false, true, 1_000_000, price(2.0, 8.0)),
        "nokey" => Physical::Unusable("no key".into()),
        _ => Physical::Unusable("unknown model".into()),
    }
}

fn rule(candidates: &[&str]) -> Rule {
    let candidate = |text: &&str| {
        let (text, thinking) = match text.split_once(':') {
            Some((text, level)) => (text, ThinkingLevel::parse(level)),
            None => (*text, None),
        };
        Candidate { model: name(text), thinking }
    };
    Rule { candidates: candidates.iter().map(candidate).collect(), ..Rule::default() }
}

fn rules(rules: Vec<Rule>) -> Rules {
    Rules { rules, cool_down_ms: 60_000 }
}

fn query(reason: RouteReason) -> Query {
    Query {
        reason,
        role: "main".into(),
        thinking: ThinkingLevel::Off,
        previous: None,
        failed: None,
        state: None,
        input_tokens: 1_000,
        images: false,
    }
}

fn dispatch(text: &str) -> Option<Dispatch> {
    Some(Dispatch { model: name(text), thinking_level: ThinkingLevel::Off })
}

fn chosen(rules: &Rules, query: &Query, cool_downs: &CoolDowns) -> Result<String, String> {
    let route = decide(&name("team/auto"), rules, query, &physical, cool_downs, NOW);
    let shown = |route: Route| match route.thinking {
        ThinkingLevel::Off => route.model.id.clone(),
        level => format!("{}:{level}", route.model.id),
    };
    route.map(shown).map_err(|error| error.to_string())
}

fn cooling(models: &[(&str, FailureClass, Option<u64>)]) -> CoolDowns {
    let mut cool_downs = CoolDowns::default();
    for (model, class, retry_after_ms) in models {
        let failure = Failure { retry_after_ms: *retry_after_ms, ..Failure::new(*class, "x") };
        cool_downs.failed(&name(model), &failure, NOW);
    }
    cool_downs
}

fn check(rules: &Rules, query: &Query, expected: &str) {
    let found = chosen(rules, query, &CoolDowns::default());
    assert_eq!(found.as_deref().unwrap_or_else(|error| error), expected, "{query:?}");
}

#[test]
fn the_first_rule_that_applies_decides() {
    use RouteReason::{Direct, User};
    let table = rules(vec![
        Rule { when: When { roles: vec!["direct".into()], ..When::default() }, ..rule(&["p/tiny"]) },
        Rule { when: When { roles: vec!["scout".into()], ..When::default() }, ..rule(&["p/small"]) },
        Rule { when: When { images: Some(true), ..When::default() }, ..rule(&["p/long"]) },
        Rule { when: When { thinking: vec![ThinkingLevel::High], ..When::default() }, ..rule(&["p/big"]) },
        Rule { when: When { input_above: Some(50_000), ..When::default() }, ..rule(&["p/long"]) },
        rule(&["p/small:low"]),
    ]);
    check(&table, &query(Direct), "tiny");
    check(&table, &Query { role: "scout".into(), ..query(User) }, "small");
    check(&table, &Query { role: "scout".into(), ..query(Direct) }, "tiny");
    check(&table, &Query { images: true, ..query(User) }, "long");
    check(&table, &Query { thinking: ThinkingLevel::High, ..query(User) }, "big:high");
    check(&table, &Query { input_tokens: 50_001, ..query(User) }, "long");
    check(&table, &Query { input_tokens: 50_000, ..query(User) }, "small:low");
    let strict = rules(vec![Rule { when: When { images: Some(true), ..When::default() }, ..rule(&["p/big"]) }]);
    let error = chosen(&strict, &query(User), &CoolDowns::default()).unwrap_err();
    assert!(error.contains("No rule of team/auto applies"), "{error}");
}

#[test]
fn candidates_that_cannot_answer_are_passed_over() {
    let user = query(RouteReason::User);
    let images = Query { images: true, ..user.clone() };
    let large = Query { input_tokens: 150_000, ..user.clone() };
    let price = MaxPrice { input: Some(3.0), output: None };
    check(&rules(vec![rule(&["p/gone", "p/nokey", "p/small"])]), &user, "small");
    check(&rules(vec![rule(&["p/small", "p/big"])]), &images, "big");
    check(&rules(vec![rule(&["p/small", "p/big"])]), &large, "big");
    check(&rules(vec![rule(&["p/small"]), rule(&["p/long"])]), &large, "long");
    // Nobody has room: the largest window is the best chance.
    let huge = Query { input_tokens: 2_000_000, ..user.clone() };
    check(&rules(vec![rule(&["p/tiny", "p/big", "p/small"])]), &huge, "big");
    check(&rules(vec![Rule { max_price: price, ..rule(&["p/big", "p/small"]) }]), &user, "small");
    let none = rules(vec![Rule { max_price: price, ..rule(&["p/gone", "p/nokey", "p/big", "p/small"]) }]);
    check(
        &none,
        &images,
        "team/auto has no model for this request: p/gone: unknown model; p/nokey: no key; \
         p/big costs more than the rule's maxPrice; p/small takes no pictures",
    );
}

#[test]
fn the_cheapest_is_the_one_that_costs_least_for_this_conversation_and_fits_it() {
    let cheapest = rules(vec![Rule { pick: Pick::Cheapest, ..rule(&["p/big", "p/long", "p/small", "p/tiny"]) }]);
    let user = query(RouteReason::User);
    let table = [
        (user.clone(), "tiny"),
        (Query { input_tokens: 30_000, ..user.clone() }, "small"),
        (Query { input_tokens: 120_000, ..user.clone() }, "long"),
        (Query { images: true, ..user.clone() }, "long"),
        (Query { thinking: ThinkingLevel::Medium, ..user.clone() }, "small:medium"),
        // Nobody thinks with pictures of that size: the cheapest that fits all the same.
        (Query { thinking: ThinkingLevel::Medium, input_tokens: 500_000, ..user }, "long"),
    ];
    for (query, expected) in table {
        check(&cheapest, &query, expected);
    }
}

#[test]
fn a_choice_is_kept_as_long_as_its_rule_says() {
    use RouteReason::{Continuation, Direct, Retry, User};
    let with = |keep| rules(vec![Rule { keep, ..rule(&["p/big", "p/small", "p/tiny"]) }]);
    let after = |reason| Query { previous: dispatch("p/small"), failed: dispatch("p/tiny"), ..query(reason) };
    let table = [
        (Keep::Trace, User, "big"),
        (Keep::Trace, Continuation, "small"),
        (Keep::Trace, Retry, "tiny"),
        (Keep::Trace, Direct, "big"),
        (Keep::Session, User, "small"),
        (Keep::Session, Direct, "big"),
        (Keep::Never, Continuation, "big"),
        (Keep::Never, Retry, "big"),
    ];
    for (keep, reason, expected) in table {
        check(&with(keep), &after(reason), expected);
    }
    // It is left when it cannot answer any more, or when nobody named it.
    let images = Query { images: true, ..after(Continuation) };
    check(&with(Keep::Trace), &images, "big");
    check(&with(Keep::Trace), &Query { input_tokens: 99_000, ..after(Continuation) }, "big");
    check(&with(Keep::Trace), &Query { previous: dispatch("p/long"), ..query(Continuation) }, "big");
    // A retry after a failure of the routing itself chooses anew.
    check(&with(Keep::Trace), &Query { previous: dispatch("p/small"), ..query(Retry) }, "big");
}

#[test]
fn a_rule_that_begins_to_apply_moves_a_trace_only_when_it_keeps_nothing() {
    let with = |keep| {
        let long = Rule { when: When { input_above: Some(50_000), ..When::default() }, keep, ..rule(&["p/long"]) };
        rules(vec![long, rule(&["p/small"])])
    };
    let grown = Query { input_tokens: 60_000, previous: dispatch("p/small"), ..query(RouteReason::Continuation) };
    check(&with(Keep::Trace), &grown, "small");
    check(&with(Keep::Never), &grown, "long");
}

#[test]
fn a_model_that_had_enough_rests_and_the_next_one_answers() {
    use FailureClass::{Network, Overloaded, QuotaExhausted, RateLimited};
    let table = rules(vec![rule(&["p/big", "p/small"]), rule(&["p/tiny"])]);
    let retry = Query { failed: dispatch("p/big"), ..query(RouteReason::Retry) };
    for class in [RateLimited, Overloaded, QuotaExhausted] {
        assert_eq!(chosen(&table, &retry, &cooling(&[("p/big", class, None)])), Ok("small".into()));
    }
    assert_eq!(chosen(&table, &retry, &cooling(&[("p/big", Network, None)])), Ok("big".into()), "the same again");
    let two = cooling(&[("p/big", RateLimited, None), ("p/small", Overloaded, None)]);
    assert_eq!(chosen(&table, &retry, &two), Ok("tiny".into()), "the next rule");
    let mut free_again = two;
    free_again.succeeded(&name("p/big"));
    assert_eq!(chosen(&table, &query(RouteReason::User), &free_again), Ok("big".into()));
}

#[test]
fn a_cool_down_lasts_as_long_as_the_server_says_or_as_usual() {
    use FailureClass::{Overloaded, QuotaExhausted, RateLimited};
    let until = |class, told, usual| {
        let found = cooling(&[("p/big", class, told)]).of(&name("p/big"), usual, NOW).expect("it rests");
        found.1 - NOW
    };
    assert_eq!(until(RateLimited, None, 60_000), 60_000);
    assert_eq!(until(Overloaded, None, 5_000), 5_000);
    assert_eq!(until(RateLimited, Some(2_500), 60_000), 2_500);
    assert_eq!(until(RateLimited, Some(0), 60_000), 60_000, "\"at once\" is no word that helps");
    assert_eq!(until(QuotaExhausted, None, 60_000), 3_600_000);
    assert_eq!(until(QuotaExhausted, Some(1), 60_000), 1);
    let cool_downs = cooling(&[("p/big", RateLimited, None)]);
    assert_eq!(cool_downs.of(&name("p/big"), 60_000, NOW + 59_999).map(|(class, _)| class), Some(RateLimited));
    assert_eq!(cool_downs.of(&name("p/big"), 60_000, NOW + 60_000), None);
    assert_eq!(cool_downs.of(&name("q/big"), 60_000, NOW), None, "the same id elsewhere is another model");
}

#[test]
fn when_all_rest_the_error_says_who_is_free_first_and_when_and_may_be_retried() {
    use FailureClass::{Overloaded, QuotaExhausted, RateLimited};
    let table = rules(vec![rule(&["p/nokey", "p/big", "p/small"])]);
    let rest = cooling(&[("p/big", RateLimited, Some(90_000)), ("p/small", Overloaded, Some(41_200))]);
    let error = decide(&name("team/auto"), &table, &query(RouteReason::User), &physical, &rest, NOW).unwrap_err();
    assert_eq!(
        error.to_string(),
        "All models of team/auto that could answer are cooling down. p/small is free first, in 42 s (overloaded)"
    );
    let failure = error.failure();
    assert_eq!((failure.class, failure.retry_after_ms, failure.retryable), (Overloaded, Some(41_200), true));
    let broke = cooling(&[("p/big", QuotaExhausted, None), ("p/small", QuotaExhausted, None)]);
    let error = decide(&name("team/auto"), &table, &query(RouteReason::User), &physical, &broke, NOW).unwrap_err();
    assert!(!error.failure().retryable, "{error}");
    // The text alone, which is what a session keeps, is judged the same.
    for class in [RateLimited, Overloaded, QuotaExhausted] {
        let all = cooling(&[("p/big", class, None), ("p/small", class, None)]);
        let error = decide(&name("team/auto"), &table, &query(RouteReason::User), &physical, &all, NOW).unwrap_err();
        let verdict = crate::providers::error_text::classify_text(&error.to_string(), "team");
        assert_eq!(verdict.retryable, error.failure().retryable, "{error}");
    }
}

#[test]
fn the_state_says_what_was_chosen_and_is_news_once() {
    let table = rules(vec![Rule { name: Some("all".into()), ..rule(&["p/big:low"]) }]);
    let state_of =
        |query: &Query| decide(&name("team/auto"), &table, query, &physical, &CoolDowns::default(), NOW).unwrap().state;
    let state = json!({"rule": "all", "model": "p/big", "thinkingLevel": "low"});
    assert_eq!(state_of(&query(RouteReason::User)), Some(state.clone()));
    assert_eq!(state_of(&Query { state: Some(state), ..query(RouteReason::Continuation) }), None);
    assert!(state_of(&Query { state: Some(json!(1)), ..query(RouteReason::Retry) }).is_some());
    assert_eq!(state_of(&query(RouteReason::Direct)), None, "requests outside the loop have no state");
}
