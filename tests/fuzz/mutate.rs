//! Changing inputs: as bytes, as lines, as JSON, as frames.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{frames, json, random::Random};

/// What the inputs of a target are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Lines with JSON behind `data:`, or one JSON document.
    Text,
    /// Frames of an AWS event stream.
    Aws,
}

/// No input grows beyond this, in bytes.
const INPUT_LIMIT: usize = 256 << 10;

/// Words that mean something to what is read.
const TOKENS: &[&[u8]] = &[
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\r\r",
    b"data:",
    b"data: ",
    b"event: error\n",
    b"event:",
    b"id: 1\n",
    b"retry: 5\n",
    b": ping\n",
    b"data\n",
    b"data: [DONE]\n\n",
    b"[DONE]",
    b"data: null\n\n",
    b"data: {\"error\":{\"message\":\"m\"}}\n\n",
    b"{\"error\":{\"code\":503}}",
    b"\xEF\xBB\xBF",
    b"\xEF\xBB",
    b"\xC3",
    b"\xF0\x9F",
    b"\xFF",
    b"\0",
    b"\t",
    b"\"",
    b"\\",
    b"\\u",
    b"\\ud83d",
    b"\\ude80",
    b"\\d",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"true",
    b"1e999",
    b"-",
    b"{}",
    b"[]",
    b"\"a\":1,\"a\":2,",
    b"<html>",
    b"<title>x</title>",
];

/// Bytes that mean something, or nothing anywhere.
const BYTES: &[u8] = b"\n\r:\"\\{}[],\0\x1F\x7F\x80\xC3\xED\xFF 0e-";

/// What the seeds of a target say.
pub struct Dictionary {
    pub keys: Vec<String>,
    pub words: Vec<String>,
    pub values: Vec<Value>,
}

impl Dictionary {
    pub fn of(seeds: &[Vec<u8>]) -> Self {
        let mut all = Self { keys: vec!["type".into()], words: vec![String::new()], values: vec![json!(null)] };
        for seed in seeds {
            let documents = documents(seed).into_iter().chain([seed.as_slice()]);
            let framed = frames::split(seed);
            let payloads = framed.iter().map(|frame| frame.payload.as_slice());
            for document in documents.chain(payloads) {
                if let Ok(value) = serde_json::from_slice::<Value>(document) {
                    json::harvest(&value, &mut all);
                }
            }
        }
        // In a fixed order, and each once.
        all.keys = all.keys.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        all.words = all.words.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        let mut seen = BTreeSet::new();
        all.values.retain(|value| seen.insert(value.to_string()));
        all
    }
}

/// The texts behind `data:`.
fn documents(input: &[u8]) -> Vec<&[u8]> {
    input.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:")).collect()
}

/// Changes an input in one way.
pub fn mutate(input: &mut Vec<u8>, pool: &[Vec<u8>], dictionary: &Dictionary, framing: Framing, random: &mut Random) {
    match (framing, random.below(8)) {
        (_, 0) => bytes(input, random),
        (_, 1) => splice(input, &pool[random.below(pool.len())], random),
        (Framing::Aws, _) => in_frames(input, dictionary, random),
        (Framing::Text, 2) => {
            let token = random.pick(TOKENS);
            let at = random.below(input.len() + 1);
            input.splice(at..at, token.iter().copied());
        }
        (Framing::Text, 3) => lines(input, random),
        (Framing::Text, _) => in_json(input, dictionary, random),
    }
    input.truncate(INPUT_LIMIT);
}

fn bytes(input: &mut Vec<u8>, random: &mut Random) {
    let range = random.range(input.len());
    match random.below(5) {
        0 => drop(input.drain(range)),
        1 => {
            let copy = input[range.clone()].to_vec();
            input.splice(range.start..range.start, copy);
        }
        2 => {
            // Often, to see what grows faster than the input does.
            let copy = input[range.clone()].repeat(random.below(400));
            input.splice(range.start..range.start, copy);
        }
        3 => input.truncate(range.start),
        _ => {
            if let Some(byte) = input.get_mut(range.start) {
                *byte = match random.once_in(2) {
                    true => *byte ^ (1 << random.below(8)),
                    false => *random.pick(BYTES),
                };
            }
        }
    }
}

/// The beginning of one input and the end of another.
fn splice(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    input.truncate(random.below(input.len() + 1));
    input.extend_from_slice(&other[random.below(other.len() + 1)..]);
}

/// Drops, repeats or moves events: lines up to a blank one.
fn lines(input: &mut Vec<u8>, random: &mut Random) {
    let mut events: Vec<&[u8]> = Vec::new();
    let mut rest = input.as_slice();
    while let Some(end) = rest.windows(2).position(|pair| pair == b"\n\n") {
        let (event, tail) = rest.split_at(end + 2);
        events.push(event);
        rest = tail;
    }
    events.push(rest);
    let (at, other) = (random.below(events.len()), random.below(events.len()));
    match random.below(4) {
        0 => drop(events.remove(at)),
        1 => events.swap(at, other),
        2 => events.insert(other, events[at]),
        _ => {
            let times = random.below(60);
            events.splice(at..at, std::iter::repeat_n(events[at], times));
        }
    }
    *input = events.concat();
}

/// Changes the whole input as JSON, or one document in it.
fn in_json(input: &mut Vec<u8>, dictionary: &Dictionary, random: &mut Random) {
    if let Ok(mut value) = serde_json::from_slice(input) {
        json::change(&mut value, dictionary, random);
        *input = value.to_string().into_bytes();
        return;
    }
    let documents = documents(input);
    if documents.is_empty() {
        return bytes(input, random);
    }
    let document = *random.pick(&documents);
    let start = document.as_ptr() as usize - input.as_ptr() as usize;
    let range = start..start + document.len();
    match serde_json::from_slice(document) {
        Ok(mut value) => {
            json::change(&mut value, dictionary, random);
            input.splice(range, format!(" {value}").into_bytes());
        }
        Err(_) => bytes(input, random),
    }
}

fn in_frames(input: &mut Vec<u8>, dictionary: &Dictionary, random: &mut Random) {
    let mut all = frames::split(input);
    if all.is_empty() {
        return bytes(input, random);
    }
    let (at, other) = (random.below(all.len()), random.below(all.len()));
    match random.below(8) {
        0 => drop(all.remove(at)),
        1 => all.swap(at, other),
        2 => all.insert(other, all[at].clone()),
        3 => bytes(&mut all[at].payload, random),
        _ => match serde_json::from_slice(&all[at].payload) {
            Ok(mut value) => {
                json::change(&mut value, dictionary, random);
                all[at].payload = value.to_string().into_bytes();
            }
            Err(_) => bytes(&mut all[at].payload, random),
        },
    }
    *input = frames::join(&all);
}
