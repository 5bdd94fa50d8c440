//! Frames of AWS event streams, so that a changed payload still has the right sums of its frame.

use crc32fast::hash as crc32;

/// One frame: its headers as bytes, and its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    headers: Vec<u8>,
    pub payload: Vec<u8>,
}

/// Lengths of the parts of a frame around headers and payload.
const PRELUDE: usize = 12;
const TRAILER: usize = 4;

/// The frames of a body; what does not look like one ends it.
pub fn split(mut body: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let Some((frame, rest)) = first(body) {
        frames.push(frame);
        body = rest;
    }
    frames
}

fn first(body: &[u8]) -> Option<(Frame, &[u8])> {
    let number = |at: usize| Some(u32::from_be_bytes(body.get(at..at + 4)?.try_into().ok()?) as usize);
    let (total, headers) = (number(0)?, number(4)?);
    let frame = body.get(..total)?;
    let headers_end = PRELUDE.checked_add(headers)?;
    let payload = frame.get(headers_end..total.checked_sub(TRAILER)?)?;
    Some((Frame { headers: frame.get(PRELUDE..headers_end)?.to_vec(), payload: payload.to_vec() }, &body[total..]))
}

/// A body of these frames.
pub fn join(frames: &[Frame]) -> Vec<u8> {
    let mut body = Vec::new();
    for frame in frames {
        let total = PRELUDE + frame.headers.len() + frame.payload.len() + TRAILER;
        let start = body.len();
        body.extend_from_slice(&u32::try_from(total).unwrap().to_be_bytes());
        body.extend_from_slice(&u32::try_from(frame.headers.len()).unwrap().to_be_bytes());
        body.extend_from_slice(&crc32(&body[start..]).to_be_bytes());
        body.extend_from_slice(&frame.headers);
        body.extend_from_slice(&frame.payload);
        body.extend_from_slice(&crc32(&body[start..]).to_be_bytes());
    }
    body
}

#[test]
fn a_recorded_body_is_the_same_after_splitting_and_joining() {
    let bodies = crate::corpus::streams("bedrock-converse-stream");
    // Some are recorded because their sums are wrong or their end is missing.
    let same = bodies.iter().filter(|body| join(&split(body)) == **body).count();
    assert!(same * 2 > bodies.len() && same > 5, "{same} of {}", bodies.len());
}
