//! Server-sent events from the chunks of a response body (rules S1 to S10).
//!
//! A small decoder of our own instead of the `sse-stream` crate: that one drops an event whose blank line is missing
//! at the end of the body (S6), forgets lines that are no fields (S10), and is a stream around the body, so that one
//! read could not become one batch of events. This one is a value without I/O. It borrows: an event that lies whole
//! in a chunk is handed on without a copy, and every byte is looked at once, so that its time is linear in the size
//! of the body however the body is cut.

use memchr::memchr2;
use serde::de::IgnoredAny;

/// More of stray lines than this is no error message.
const STRAY_LIMIT: usize = 64 * 1024;

/// The largest event that is taken, in bytes. Far above any answer's piece; without a limit, a server that never ends a
/// line would fill the memory.
pub const EVENT_LIMIT: usize = 64 << 20;

/// The data of the event that ends a stream; nothing behind it counts (rule S7).
const SENTINEL: &[u8] = b"[DONE]";

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// One event. Its data is never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The `event:` field; empty when there was none.
    pub name: &'a str,
    /// The `data:` lines, joined by line feeds. Not checked to be UTF-8.
    pub data: &'a [u8],
}

/// An event grew beyond the decoder's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {} KiB", limit >> 10)]
pub struct EventTooLarge {
    /// The limit in bytes.
    pub limit: usize,
}

/// The decoder's state between two chunks.
#[derive(Debug)]
pub struct SseDecoder {
    /// Bytes of an unfinished event that are kept at most.
    limit: usize,
    /// How many bytes of the byte order mark were seen; 3 = past the start of the body.
    bom: usize,
    /// The last chunk ended with CR: a line feed at the start of the next one belongs to it.
    after_cr: bool,
    /// The line that the last chunk left unfinished.
    line: Vec<u8>,
    /// Data lines of the event so far.
    data: Vec<u8>,
    has_data: bool,
    name: String,
    stray: Vec<u8>,
    /// The sentinel has come.
    ended: bool,
}

/// Data lines of the open event: in the chunk itself as long as there is only one.
#[derive(Default)]
struct Borrowed<'c>(Option<&'c [u8]>);

impl Default for SseDecoder {
    fn default() -> Self {
        Self::with_limit(EVENT_LIMIT)
    }
}

impl SseDecoder {
    /// A decoder that keeps at most `limit` bytes of an unfinished event.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            bom: 0,
            after_cr: false,
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            name: String::new(),
            stray: Vec::new(),
            ended: false,
        }
    }

    /// Takes the next chunk and hands on the events that it completes.
    ///
    /// # Errors
    /// When what is left unfinished is larger than the limit; it is forgotten then, and the body is of no more use.
    pub fn push(&mut self, chunk: &[u8], on_event: &mut dyn FnMut(SseEvent<'_>)) -> Result<(), EventTooLarge> {
        if self.ended {
            return Ok(());
        }
        let mut rest = self.skip_bom(chunk);
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        let mut borrowed = Borrowed::default();
        while let Some(end) = memchr2(b'\n', b'\r', rest) {
            let (line, tail) = (&rest[..end], &rest[end + 1..]);
            if rest[end] == b'\r' {
                self.after_cr = tail.is_empty();
                rest = tail.strip_prefix(b"\n").unwrap_or(tail);
            } else {
                rest = tail;
            }
            if self.line.is_empty() {
                self.take_line(line, &mut borrowed, on_event);
            } else {
                self.finish_line(line, on_event);
            }
        }
        if self.ended {
            return Ok(());
        }
        let borrowed_bytes = borrowed.0.map_or(0, <[u8]>::len);
        if self.line.len() + self.data.len() + borrowed_bytes + rest.len() > self.limit {
            self.line = Vec::new();
            self.data = Vec::new();
            self.has_data = false;
            return Err(EventTooLarge { limit: self.limit });
        }
        self.line.extend_from_slice(rest);
        self.keep(&mut borrowed);
        Ok(())
    }

    /// The body is over. A last event without its blank line counts when its data is complete JSON or `[DONE]`;
    /// otherwise it was cut off and is dropped.
    pub fn finish(&mut self, on_event: &mut dyn FnMut(SseEvent<'_>)) {
        // A body of one or two bytes that look like a mark is no event whatever they are.
        if !self.line.is_empty() {
            self.finish_line(b"", on_event);
        }
        let complete = self.data.trim_ascii() == SENTINEL || serde_json::from_slice::<IgnoredAny>(&self.data).is_ok();
        if self.has_data && complete {
            self.dispatch(&mut Borrowed::default(), on_event);
        }
        self.has_data = false;
        self.data.clear();
    }

    /// Whether the sentinel `[DONE]` has come. It is no event itself.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The lines so far that are no fields of the format, joined by line feeds. Servers write a bare JSON error into a
    /// stream that has begun.
    #[must_use]
    pub fn stray(&self) -> &[u8] {
        &self.stray
    }

    /// Drops one byte order mark at the very start of the body, also when it comes in pieces.
    fn skip_bom<'c>(&mut self, chunk: &'c [u8]) -> &'c [u8] {
        let mut rest = chunk;
        while self.bom < BOM.len() && !rest.is_empty() {
            if rest[0] == BOM[self.bom] {
                self.bom += 1;
                rest = &rest[1..];
            } else {
                // It was no mark: what looked like one belongs to the first line.
                self.line.extend_from_slice(&BOM[..self.bom]);
                self.bom = BOM.len();
            }
        }
        rest
    }

    /// Ends the line that earlier chunks began.
    fn finish_line(&mut self, end: &[u8], on_event: &mut dyn FnMut(SseEvent<'_>)) {
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(end);
        let mut borrowed = Borrowed::default();
        self.take_line(&line, &mut borrowed, on_event);
        self.keep(&mut borrowed);
        line.clear();
        self.line = line;
    }

    fn take_line<'c>(&mut self, line: &'c [u8], borrowed: &mut Borrowed<'c>, on_event: &mut dyn FnMut(SseEvent<'_>)) {
        if self.ended {
            return;
        }
        if line.is_empty() {
            self.dispatch(borrowed, on_event);
        } else if let Some(value) = field(line, b"data") {
            self.keep(borrowed);
            if self.has_data {
                self.data.push(b'\n');
                self.data.extend_from_slice(value);
            } else {
                borrowed.0 = Some(value);
            }
        } else if let Some(value) = field(line, b"event") {
            self.name.clear();
            self.name.push_str(&String::from_utf8_lossy(value));
        } else if line[0] != b':' && field(line, b"id").is_none() && field(line, b"retry").is_none() {
            let room = STRAY_LIMIT.saturating_sub(self.stray.len());
            self.stray.extend(line.iter().chain(b"\n").take(room));
        }
    }

    /// Moves borrowed data into the decoder.
    fn keep(&mut self, borrowed: &mut Borrowed<'_>) {
        if let Some(value) = borrowed.0.take() {
            self.data.extend_from_slice(value);
            self.has_data = true;
        }
    }

    fn dispatch(&mut self, borrowed: &mut Borrowed<'_>, on_event: &mut dyn FnMut(SseEvent<'_>)) {
        let data = borrowed.0.take().unwrap_or(&self.data);
        if data.trim_ascii() == SENTINEL {
            self.ended = true;
        } else if !data.is_empty() {
            on_event(SseEvent { name: &self.name, data });
        }
        self.data.clear();
        self.has_data = false;
        self.name.clear();
    }
}

/// The value of the line when it is the field `name`: what follows the colon without one leading space.
fn field<'l>(line: &'l [u8], name: &[u8]) -> Option<&'l [u8]> {
    let rest = line.strip_prefix(name)?;
    if rest.is_empty() {
        return Some(rest);
    }
    let value = rest.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Events as (name, data), and the stray lines.
    fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<(String, String)>, String) {
        let mut events = Vec::new();
        let mut decoder = SseDecoder::default();
        let mut on_event = |event: SseEvent<'_>| {
            events.push((event.name.to_owned(), String::from_utf8(event.data.to_vec()).unwrap()));
        };
        for chunk in chunks {
            decoder.push(chunk, &mut on_event).unwrap();
        }
        decoder.finish(&mut on_event);
        (events, String::from_utf8(decoder.stray().to_vec()).unwrap())
    }

    fn data_of(body: &str) -> Vec<String> {
        decode([body.as_bytes()]).0.into_iter().map(|(_, data)| data).collect()
    }

    #[test]
    fn framing_follows_the_rules() {
        let table: [(&str, &str, &[&str]); 16] = [
            ("S1 one mark at the start", "\u{FEFF}data: 1\n\n", &["1"]),
            ("S1 a mark inside stays", "data: a\u{FEFF}b\n\n", &["a\u{FEFF}b"]),
            ("S1 a second mark is part of the line", "\u{FEFF}\u{FEFF}data: 1\n\ndata: 2\n\n", &["2"]),
            ("S2 line ends are mixed", "data: 1\r\ndata: 2\rdata: 3\n\r\n", &["1\n2\n3"]),
            ("S2 two carriage returns end an event", "data: 1\r\rdata: 2\r\r", &["1", "2"]),
            ("S3 comments", ": ping\n\n:\n\ndata: 1\n: x\ndata: 2\n\n", &["1\n2"]),
            ("S4 lines are joined", "data: a\ndata: b\n\n", &["a\nb"]),
            ("S4 empty lines between count", "data: a\ndata:\ndata: b\n\n", &["a\n\nb"]),
            ("S5 no data, no event", "event: ping\n\n\n\ndata: 1\n\n", &["1"]),
            ("S5 empty data is ignored", "data:\n\ndata: \n\ndata\n\ndata: 1\n\n", &["1"]),
            ("S6 a complete tail counts", "data: {\"a\":1}", &["{\"a\":1}"]),
            ("S6 also with its line end", "data: {\"a\":1}\n", &["{\"a\":1}"]),
            ("S6 also in several lines", "data: {\"a\":\ndata: 1}", &["{\"a\":\n1}"]),
            ("S6 a cut tail does not", "data: {\"a\":1}\n\ndata: {\"b\"", &["{\"a\":1}"]),
            ("S9 one space at most", "data:1\n\ndata:  2\n\n", &["1", " 2"]),
            ("S9 other fields", "id: 5\nretry: 3\nfoo: bar\ndata: 1\n\n", &["1"]),
        ];
        for (rule, body, expected) in table {
            assert_eq!(data_of(body), expected, "{rule}");
        }
    }

    #[test]
    fn nothing_behind_the_sentinel_counts() {
        let table = [
            ("data: 1\n\ndata: [DONE]\n\ndata: 2\n\nstray", true),
            ("data: 1\n\ndata:  [DONE] \r\r{\"error\": 5}\ndata: {}", true),
            ("data: 1\n\ndata: [DONE]", true),
            ("data: 1\n\ndata: [DONE", false),
        ];
        for (body, ended) in table {
            for size in [1, body.len()] {
                let mut events = 0;
                let mut decoder = SseDecoder::default();
                for chunk in body.as_bytes().chunks(size) {
                    decoder.push(chunk, &mut |_| events += 1).unwrap();
                }
                decoder.finish(&mut |_| events += 1);
                assert_eq!((events, decoder.has_ended(), decoder.stray()), (1, ended, b"".as_slice()), "{body:?}");
            }
        }
    }

    #[test]
    fn event_names_belong_to_one_event() {
        let (events, _) = decode([b"event: a\ndata: 1\n\ndata: 2\n\nevent: b\n\ndata: 3\n\n".as_slice()]);
        let names: Vec<_> = events.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "", ""]);
    }

    #[test]
    fn stray_lines_are_kept_and_bounded() {
        let (events, stray) = decode([b"data: 1\n\n{\n  \"error\": {\"code\": 503}\n}\n".as_slice()]);
        assert_eq!(events.len(), 1);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&stray).unwrap()["error"]["code"], 503);
        let junk = "junk\n".repeat(40_000);
        assert_eq!(decode([junk.as_bytes()]).1.len(), STRAY_LIMIT);
    }

    #[test]
    fn fc_017_a_line_end_cut_between_chunks_is_one_line_end() {
        let chunks: [&[u8]; 4] = [b"data:{\"a\":1}\r", b"\n\r", b"\n: ping\r\n\r\ndata: {\"b\":2}\r", b"\n\r\n"];
        let (events, _) = decode(chunks);
        assert_eq!(events, [(String::new(), "{\"a\":1}".to_owned()), (String::new(), "{\"b\":2}".to_owned())]);
    }

    #[test]
    fn fc_016_a_character_cut_between_chunks_is_whole_again() {
        let body = "data: 日本🌍ok\n\n".as_bytes();
        assert_eq!(decode(body.chunks(1)).0[0].1, "日本🌍ok");
    }

    #[test]
    fn a_large_event_in_small_chunks_takes_linear_time() {
        let mut body = b"data: \"".to_vec();
        body.resize(4 << 20, b'x');
        body.extend_from_slice(b"\"\n\n");
        let mut lengths = Vec::new();
        let mut decoder = SseDecoder::default();
        for chunk in body.chunks(1400) {
            decoder.push(chunk, &mut |event| lengths.push(event.data.len())).unwrap();
        }
        assert_eq!(lengths, [(4 << 20) - 6 + 1]);
    }

    #[test]
    fn an_event_that_does_not_end_is_given_up_at_the_limit() {
        let table = [
            ("a line without end", "data: ", "xxxxxxxxxx"),
            ("many data lines", "", "data: xxx\n"),
            ("a field that is none", "", "xxxxxxxxxx"),
            ("a comment", ":", "xxxxxxxxxx"),
        ];
        for (case, start, piece) in table {
            let mut decoder = SseDecoder::with_limit(1000);
            let ok = b"data: 1\n\n";
            let mut events = 0;
            decoder.push(ok, &mut |_| events += 1).unwrap();
            decoder.push(start.as_bytes(), &mut |_| {}).unwrap();
            let refused = (1..=1000).find(|_| decoder.push(piece.as_bytes(), &mut |_| events += 1).is_err());
            assert!(refused.is_some_and(|pieces| (100..=400).contains(&pieces)), "{case}: {refused:?}");
            assert_eq!((events, decoder.line.capacity(), decoder.data.capacity()), (1, 0, 0), "{case}");
        }
        let mut decoder = SseDecoder::with_limit(1000);
        for _ in 0..1000 {
            decoder.push(b": ping\n\ndata: 1\n\n", &mut |_| {}).expect("many small events are no large one");
        }
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_events(
            body in "(\u{FEFF})?((data|event|id|foo)?:? ?[\\[{a-c\u{FEFF}é\"]{0,4}(\n|\r|\r\n){1,2}){0,12}(data: \\{\\})?",
            cuts in prop::collection::vec(0usize..400, 0..12),
        ) {
            let bytes = body.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let whole = decode([bytes]);
            prop_assert_eq!(&decode(pieces), &whole);
            prop_assert_eq!(&decode(bytes.chunks(1)), &whole);
        }

        #[test]
        fn any_bytes_are_survived(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..10)) {
            let mut decoder = SseDecoder::default();
            for chunk in &chunks {
                decoder.push(chunk, &mut |event| assert!(!event.data.is_empty())).unwrap();
            }
            decoder.finish(&mut |_| {});
        }
    }
}
