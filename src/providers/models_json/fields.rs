//! The fields of a model entry: what each may hold.

use serde_json::{Map, Value};

use super::switches;
use crate::{
    protocol::ThinkingLevel,
    store::document::{Fault, Field, Object},
};

/// Checks every field of a model (or of an override of one) that is there.
pub(super) fn check_model(config: &Object<'_>) -> Result<(), Fault> {
    for key in ["name", "api", "baseUrl"] {
        config.read(key, Field::text)?;
    }
    config.read("reasoning", Field::flag)?;
    for key in ["contextWindow", "maxTokens"] {
        config.read(key, positive)?;
    }
    config.read("samplingParams", Field::object)?;
    config.read("compat", |field| switches::check(&field.object()?))?;
    if let Some(times) = config.read("promptCache", Field::object)? {
        CACHE_TIMES.iter().try_for_each(|key| times.read(key, Field::number).map(|_| ()))?;
    }
    if let Some(limits) = config.read("inputLimits", Field::object)? {
        limits.read("maxRequestBytes", positive)?;
        if let Some(images) = limits.read("images", Field::object)? {
            IMAGE_LIMITS[..2].iter().try_for_each(|key| images.read(key, Field::whole).map(|_| ()))?;
            if let Some(resize) = images.read("resize", Field::object)? {
                RESIZE_LIMITS.iter().try_for_each(|key| resize.read(key, positive).map(|_| ()))?;
            }
        }
    }
    config.read("headers", |field| headers(field).map(|_| ()))?;
    config.read("thinkingLevelMap", |field| levels(field, "a text or null", |value| value.is_string()))?;
    config.read("samplingParamsByThinkingLevel", |field| levels(field, "an object", |value| value.is_object()))?;
    if let Some(kinds) = config.read("input", Field::items)? {
        kinds.iter().try_for_each(|kind| kind.one_of(&["text", "image"]).map(|_| ()))?;
    }
    if let Some(cost) = config.read("cost", Field::object)? {
        PRICES.iter().try_for_each(|price| cost.read(price, Field::number).map(|_| ()))?;
        for tier in cost.read("tiers", Field::items)?.unwrap_or_default() {
            let tier = tier.object()?;
            tier.require("inputTokensAbove", "a number of tokens")?.whole()?;
            require_prices(&tier)?;
        }
    }
    Ok(())
}

pub(super) const PRICES: [&str; 4] = ["input", "output", "cacheRead", "cacheWrite"];
pub(super) const CACHE_TIMES: [&str; 2] = ["short", "long"];
pub(super) const IMAGE_LIMITS: [&str; 3] = ["maxPerMessage", "maxPerRequest", "resize"];
pub(super) const RESIZE_LIMITS: [&str; 4] = ["maxWidth", "maxHeight", "maxBytes", "jpegQuality"];

/// A model of its own that has a price has all of it; an override may change a part.
pub(super) fn check_whole_price(config: &Object<'_>) -> Result<(), Fault> {
    config.read("cost", |cost| require_prices(&cost.object()?)).map(|_| ())
}

fn require_prices(cost: &Object<'_>) -> Result<(), Fault> {
    PRICES.iter().try_for_each(|price| cost.require(price, "dollars for a million tokens")?.number().map(|_| ()))
}

/// Headers: texts in the key grammar, null to remove one.
pub(super) fn headers<'a>(field: &Field<'a>) -> Result<&'a Map<String, Value>, Fault> {
    let object = field.object()?;
    // What was found is not shown: it may be a key.
    let wrong = object.entries().find(|(_, value)| !(value.value().is_string() || value.value().is_null()));
    match wrong {
        Some((_, value)) => Err(value.fault("expected a text, or null to remove the header")),
        None => Ok(object.map()),
    }
}

fn positive(field: &Field<'_>) -> Result<u64, Fault> {
    match field.whole()? {
        0 => Err(field.expected("a number above zero")),
        number => Ok(number),
    }
}

fn levels(field: &Field<'_>, expected: &str, fits: impl Fn(&Value) -> bool) -> Result<(), Fault> {
    for (level, value) in field.object()?.entries() {
        if ThinkingLevel::parse(level).is_none() {
            let names = ThinkingLevel::ALL.map(ThinkingLevel::as_str).join(", ");
            return Err(value.fault(format!("unknown thinking level; expected one of {names}")));
        }
        if !(value.value().is_null() || fits(value.value())) {
            return Err(value.expected(expected));
        }
    }
    Ok(())
}
