//! The decoders alone, without a network.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use troupe::{
    protocol::{Failure, FailureClass, StreamEvent},
    providers::{
        assembler::Assembler,
        errors::{aborted, http_failure, wrong_body_failure},
        wire_api,
    },
};

use crate::{
    compare::check,
    manifest::{End, Fixture, fixtures},
};

/// The events of a body cut into `pieces`.
fn decode(fixture: &Fixture, pieces: &[&[u8]]) -> Vec<StreamEvent> {
    let request = fixture.request("http://localhost");
    let mut out = Assembler::new(&request);
    let headers: HeaderMap = fixture
        .headers
        .iter()
        .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap()))
        .collect();
    let content_type = headers["content-type"].to_str().unwrap();
    if fixture.status != 200 {
        out.fail(http_failure(&request.model.provider, fixture.status, &headers, &pieces.concat(), 0));
    } else if !["text/event-stream", "application/vnd.amazon.eventstream"]
        .iter()
        .any(|kind| content_type.starts_with(kind))
    {
        out.fail(wrong_body_failure(&request.model.provider, content_type, &pieces.concat()));
    } else {
        let mut decoder = wire_api(&fixture.api).unwrap().decoder(&request);
        for piece in pieces {
            decoder.push(piece, &mut out);
        }
        match fixture.end {
            End::Eof => decoder.finish(None, &mut out),
            End::Reset(_) => decoder.finish(Some(Failure::new(FailureClass::Network, "reset")), &mut out),
            End::Abort(_) => out.fail(aborted()),
        }
        assert!(out.is_finished());
    }
    out.take_events()
}

#[test]
fn every_recorded_body_gives_what_it_must_in_every_chunking() {
    for fixture in fixtures() {
        for (way, pieces) in fixture.chunkings() {
            check(&fixture, &way, &decode(&fixture, &pieces));
        }
    }
}

#[test]
fn a_body_cut_anywhere_never_looks_complete_and_never_panics() {
    for fixture in fixtures().into_iter().filter(|fixture| fixture.status == 200 && fixture.body.len() < 3000) {
        // Every place near the end, where the marks are, and some of the others.
        let near_end = fixture.body.len().saturating_sub(60);
        for end in (0..near_end).step_by(7).chain(near_end..fixture.body.len()) {
            let events = decode(&fixture, &[&fixture.body[..end]]);
            let terminal = events.iter().filter(|event| event.is_terminal()).count();
            assert_eq!((terminal, events.last().is_some_and(StreamEvent::is_terminal)), (1, true), "{}", fixture.file);
            if let Some(StreamEvent::Done(message)) = events.last() {
                // Only what came after the end mark may be missing.
                assert!(message.raw_stop_reason.is_some(), "{} cut at {end} looks complete", fixture.file);
            }
        }
    }
}

#[test]
fn noise_between_the_events_changes_nothing() {
    let noise =
        b": ping\n\nevent: ping\n\ndata:\n\nid: 1\nretry: 5\n\ndata: null\n\ndata: 5\n\ndata: {\"type\":\"x.new\"}\n\n";
    for fixture in fixtures() {
        let is_stream = fixture.status == 200 && fixture.file.ends_with(".sse") && fixture.end == End::Eof;
        // A byte order mark and an unterminated event do not survive something before or behind them.
        let text = String::from_utf8_lossy(&fixture.body).into_owned();
        let blank = if text.ends_with("\r\n\r\n") { "\r\n\r\n" } else { "\n\n" };
        if !is_stream || text.starts_with('\u{FEFF}') || !text.ends_with(blank) {
            continue;
        }
        let mut noisy = noise.to_vec();
        for event in text.split_inclusive(blank) {
            noisy.extend_from_slice(event.as_bytes());
            noisy.extend_from_slice(noise);
        }
        check(&fixture, "noisy", &decode(&fixture, &[&noisy]));
    }
}

#[test]
fn a_bare_json_error_in_a_stream_is_the_providers_error() {
    let error = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"The model is overloaded\"\n  }\n}\n";
    let fixture =
        fixtures().into_iter().find(|fixture| fixture.file.ends_with("openai-completions/text-basic.sse")).unwrap();
    let then_ended = format!("{error}\ndata: [DONE]\n\n{{}}\n");
    for body in [error, &then_ended] {
        for pieces in [vec![body.as_bytes()], body.as_bytes().chunks(1).collect()] {
            let events = decode(&fixture, &pieces);
            let Some(StreamEvent::Failed { failure, message }) = events.last() else { panic!("{events:?}") };
            assert_eq!((failure.class, failure.status), (FailureClass::Overloaded, Some(503)));
            assert_eq!(message.content.len(), 1);
        }
    }
}
