//! The layers that all wire APIs share: framing, repair, arguments, errors.

use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use troupe::{
    protocol::{FailureClass, PartialArguments},
    providers::{
        arguments::parse,
        aws::event_stream::{Frame, FrameDecoder, MAX_FRAME},
        errors::{http_failure, stream_failure, wrong_body_failure},
        json_repair,
        sse::{SseDecoder, SseEvent},
    },
};

use crate::random::{Random, hash};

/// The pieces of an input, cut at random.
pub fn cut<'i>(input: &'i [u8], random: &mut Random) -> Vec<&'i [u8]> {
    let longest = *random.pick(&[1, 3, 16, 200, 5000]);
    let mut pieces = Vec::new();
    let mut rest = input;
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(rest.len().min(1 + random.below(longest)));
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

/// Events are the same for every way to cut the body.
pub fn sse(input: &[u8]) -> u64 {
    let read = |pieces: &[&[u8]]| {
        let mut decoder = SseDecoder::default();
        let mut events = Vec::new();
        let mut take = |event: SseEvent<'_>| {
            assert!(!event.data.is_empty(), "an event without data");
            events.push((event.name.to_owned(), event.data.to_vec()));
        };
        for piece in pieces {
            decoder.push(piece, &mut take).unwrap();
        }
        decoder.finish(&mut take);
        (events, decoder.stray().to_vec())
    };
    let mut random = Random::of(input);
    let whole = read(&[input]);
    assert_eq!(whole, read(&cut(input, &mut random)), "another result in pieces");
    if input.len() <= 4096 {
        assert_eq!(whole, read(&input.chunks(1).collect::<Vec<_>>()), "another result byte by byte");
    }
    let (events, stray) = whole;
    let mut names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    names.truncate(8);
    let size = |count: usize| usize::BITS - count.leading_zeros();
    hash(format!("{names:?} {} {}", size(events.len()), size(stray.len())).as_bytes())
}

/// Frames of Amazon's event streams, and the fault that ends them, are the same for every way to cut the body.
pub fn aws_frames(input: &[u8]) -> u64 {
    let read = |pieces: &[&[u8]]| {
        let mut decoder = FrameDecoder::default();
        let mut frames = Vec::new();
        let mut take = |frame: Frame<'_>| {
            assert!(frame.payload.len() <= MAX_FRAME, "a frame beyond the limit");
            frames.push((format!("{:?}", frame.headers), frame.payload.to_vec()));
        };
        let fault = pieces.iter().find_map(|piece| decoder.push(piece, &mut take).err());
        let inside = fault.is_none() && decoder.is_inside_frame();
        (frames, fault.map(|fault| fault.to_string()), inside)
    };
    let mut random = Random::of(input);
    let whole = read(&[input]);
    assert_eq!(whole, read(&cut(input, &mut random)), "another result in pieces");
    if input.len() <= 4096 {
        assert_eq!(whole, read(&input.chunks(1).collect::<Vec<_>>()), "another result byte by byte");
    }
    let (frames, fault, inside) = whole;
    let size = usize::BITS - frames.len().leading_zeros();
    let kind = fault.as_deref().map(|fault| fault.split(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']).next());
    hash(format!("{size} {kind:?} {inside}").as_bytes())
}

/// Argument texts: those of recorded calls, and those that models are known to get wrong.
pub fn arguments_seeds() -> Vec<Vec<u8>> {
    let texts = [
        r#"{"path":"src/main.rs","limit":40,"offset":0}"#,
        r#"{"command":"grep -n \"fn\" *.rs | head\n","timeout":1.5e1,"flags":[true,false,null]}"#,
        r#"{"edits":[{"oldText":"a\tb","newText":"é 🚀 \ud83d\ude80 \u00e9"},{"oldText":"","newText":"\\"}]}"#,
        r#"{"re":"\d+\.\w","half":"\ud83d","deep":[[[[{"a":{"b":[]}}]]]]}"#,
        "{\"text\":\"a\tb\nc\"}",
        "null",
        "",
        "[1]",
        r#"{"a":1,"a":{"b":2}}"#,
        r#"{"path": "a.txt", "content": "hi"#,
    ];
    texts.into_iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Repair changes nothing that is right, and nothing twice.
pub fn repair(input: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(input);
    let once = json_repair::repair(&text);
    assert_eq!(json_repair::repair(&once), once, "repaired twice");
    let before = serde_json::from_str::<Value>(&text).ok();
    let after = serde_json::from_str::<Value>(&once).ok();
    if before.is_some() {
        assert_eq!(before, after, "good JSON means something else");
    }
    hash(format!("{} {} {}", before.is_some(), after.is_some(), once != text).as_bytes()) ^ shape_of(&text)
}

/// Arguments are an object or a description of what came, and reading them while they come ends with the same.
pub fn arguments(input: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(input);
    let parsed = parse(&text);
    let mut random = Random::of(input);
    let mut reader = PartialArguments::default();
    let mut end = 0;
    for piece in cut(text.as_bytes(), &mut random) {
        end += piece.len();
        if text.is_char_boundary(end) {
            reader.read(&text[..end]);
        }
    }
    let so_far = reader.read(&text).clone();
    assert_eq!(so_far, *PartialArguments::default().read(&text), "another result in pieces");
    assert!(so_far.is_object());
    match &parsed {
        Ok(arguments) => {
            let arguments = Value::Object(arguments.clone());
            assert_eq!(so_far, arguments, "read while they came: something else");
            assert_eq!(serde_json::from_str::<Value>(&arguments.to_string()).unwrap(), arguments);
        }
        Err(problem) => assert!(problem.ends_with(&*text), "the text is lost"),
    }
    hash(&[u8::from(parsed.is_ok())]) ^ shape_of(&text)
}

/// The marks of a JSON text without what is between them.
fn shape_of(text: &str) -> u64 {
    let marks: Vec<u8> = text.bytes().filter(|byte| b"{}[]:,\"\\".contains(byte)).take(24).collect();
    hash(&marks)
}

/// Every body of a refused request has a class and a text that can be shown.
pub fn errors(input: &[u8]) -> u64 {
    let mut random = Random::of(input);
    let status =
        *random.pick(&[400, 401, 402, 403, 404, 408, 409, 413, 418, 422, 429, 498, 500, 502, 503, 504, 524, 529, 599]);
    let provider = *random.pick(&[
        "custom",
        "mistral",
        "anthropic",
        "openai",
        "google",
        "cerebras",
        "groq",
        "zai",
        "amazon-bedrock",
    ]);
    let mut headers = HeaderMap::new();
    let content_type = *random.pick(&["application/json", "text/html", "text/event-stream", ""]);
    headers.insert("content-type", HeaderValue::from_static(content_type));
    let wait = *random.pick(&[
        "",
        "3",
        "0",
        "-1",
        "1e400",
        "0.5",
        "NaN",
        "99999999999999999999",
        "Fri, 31 Dec 9999 23:59:59 GMT",
    ]);
    headers.insert(*random.pick(&["retry-after", "retry-after-ms"]), HeaderValue::from_static(wait));
    let failures = [
        http_failure(provider, status, &headers, input, 1_790_000_000_000),
        wrong_body_failure(provider, content_type, input),
        stream_failure(provider, &serde_json::from_slice(input).unwrap_or(json!(null))),
    ];
    let mut shape = u64::from(status);
    for failure in &failures {
        assert!(!failure.message.trim().is_empty(), "a failure without a text");
        assert!(failure.message.chars().count() < 4300, "a text of {} characters", failure.message.len());
        assert_ne!(failure.class, FailureClass::Aborted);
        shape = hash(format!("{shape} {:?} {} {:?}", failure.class, failure.retryable, failure.status).as_bytes());
    }
    assert_eq!(failures[0].status, Some(status));
    shape
}
