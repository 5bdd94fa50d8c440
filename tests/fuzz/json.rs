//! Changing JSON so that it stays JSON: the shapes that servers send and nobody documented.

use serde_json::{Map, Value, json};

use crate::{mutate::Dictionary, random::Random};

/// Changes one place of a value.
pub fn change(value: &mut Value, dictionary: &Dictionary, random: &mut Random) {
    let place = descend(value, random);
    match random.below(10) {
        0..3 => *place = odd_value(random),
        3 => *place = random.pick(&dictionary.values).clone(),
        4 => *place = json!([place.take()]),
        5 => *place = Value::Object(Map::from_iter([(random.pick(&dictionary.keys).clone(), place.take())])),
        _ => match place {
            Value::Object(members) => change_members(members, dictionary, random),
            Value::Array(elements) => change_elements(elements, random),
            Value::String(text) => change_text(text, dictionary, random),
            other => *other = odd_value(random),
        },
    }
}

/// A random place, deep ones more often than not.
fn descend<'v>(value: &'v mut Value, random: &mut Random) -> &'v mut Value {
    let children = match value {
        Value::Object(members) => members.len(),
        Value::Array(elements) => elements.len(),
        _ => 0,
    };
    if children == 0 || random.once_in(6) {
        return value;
    }
    let at = random.below(children);
    match value {
        Value::Object(members) => descend(members.values_mut().nth(at).unwrap(), random),
        Value::Array(elements) => descend(&mut elements[at], random),
        _ => unreachable!(),
    }
}

fn odd_value(random: &mut Random) -> Value {
    match random.below(18) {
        0..4 => Value::Null,
        4 => json!(true),
        5 => json!(false),
        6 => json!(0),
        7 => json!(-1),
        8 => json!(u64::MAX),
        9 => json!(1e308),
        10 => json!(0.5),
        11 => json!([]),
        12 => json!({}),
        13 => json!([null]),
        14 => (0..random.below(200)).fold(json!("deep"), |inner, _| json!([inner])),
        15 => Value::String("x".repeat(random.below(3000))),
        _ => Value::String(odd_text(random).to_owned()),
    }
}

fn odd_text(random: &mut Random) -> &'static str {
    const TEXTS: &[&str] = &[
        "",
        " ",
        "null",
        "{",
        "{}",
        "[]",
        "\"",
        "\\",
        "\n",
        "\u{0}",
        "\u{FEFF}",
        "\u{FFFD}",
        "é",
        "🚀",
        "[DONE]",
        "data: ",
        "429",
        "rate limit",
        "{\"a\":",
        "{\"a\":1}",
        "\\ud83d",
        "\\d",
    ];
    TEXTS[random.below(TEXTS.len())]
}

fn change_members(members: &mut Map<String, Value>, dictionary: &Dictionary, random: &mut Random) {
    let known = members.keys().nth(random.below(members.len())).cloned();
    match (random.below(3), known) {
        (0, Some(known)) => drop(members.shift_remove(&known)),
        (1, Some(known)) => {
            let value = members.shift_remove(&known).unwrap();
            members.insert(random.pick(&dictionary.keys).clone(), value);
        }
        _ => {
            let value = match random.once_in(2) {
                true => odd_value(random),
                false => random.pick(&dictionary.values).clone(),
            };
            members.insert(random.pick(&dictionary.keys).clone(), value);
        }
    }
}

fn change_elements(elements: &mut Vec<Value>, random: &mut Random) {
    if elements.is_empty() {
        elements.push(odd_value(random));
        return;
    }
    let (at, other) = (random.below(elements.len()), random.below(elements.len()));
    match random.below(4) {
        0 => drop(elements.remove(at)),
        1 => elements.swap(at, other),
        2 => elements.insert(other, elements[at].clone()),
        _ => {
            let copy = elements[at].clone();
            elements.extend(std::iter::repeat_n(copy, random.below(20)));
        }
    }
}

fn change_text(text: &mut String, dictionary: &Dictionary, random: &mut Random) {
    match random.below(5) {
        0 => text.push_str(odd_text(random)),
        1 => text.insert_str(0, odd_text(random)),
        2 => text.clone_from(random.pick(&dictionary.words)),
        3 => {
            let end = text.char_indices().nth(random.below(text.chars().count())).map_or(0, |(at, _)| at);
            text.truncate(end);
        }
        _ => *text = text.repeat(random.below(5)),
    }
}

/// Every key, text and small value in `value`.
pub fn harvest(value: &Value, dictionary: &mut Dictionary) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                dictionary.keys.push(key.clone());
                harvest(value, dictionary);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| harvest(element, dictionary)),
        Value::String(text) if text.len() < 60 => dictionary.words.push(text.clone()),
        _ => {}
    }
    if value.to_string().len() < 200 {
        dictionary.values.push(value.clone());
    }
}
