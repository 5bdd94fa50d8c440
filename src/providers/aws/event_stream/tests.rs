use proptest::prelude::*;

use super::*;

/// A frame as the service writes it, with headers that are texts.
pub(crate) fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut written = Vec::new();
    for (name, value) in headers {
        written.push(u8::try_from(name.len()).unwrap());
        written.extend_from_slice(name.as_bytes());
        written.push(7);
        written.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
        written.extend_from_slice(value.as_bytes());
    }
    raw_frame(&written, payload)
}

fn raw_frame(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let total = u32::try_from(16 + headers.len() + payload.len()).unwrap();
    let mut bytes = prelude(total, u32::try_from(headers.len()).unwrap());
    bytes.extend_from_slice(headers);
    bytes.extend_from_slice(payload);
    let checksum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&checksum.to_be_bytes());
    bytes
}

fn prelude(total: u32, headers: u32) -> Vec<u8> {
    let mut bytes = [total.to_be_bytes(), headers.to_be_bytes()].concat();
    let checksum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&checksum.to_be_bytes());
    bytes
}

/// The payloads of a stream in pieces, and how it ended.
fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Vec<u8>>, Result<bool, FrameError>) {
    let mut decoder = FrameDecoder::default();
    let mut payloads = Vec::new();
    for piece in pieces {
        if let Err(error) = decoder.push(piece, &mut |frame| payloads.push(frame.payload.to_vec())) {
            // What comes behind a fault is not looked at.
            assert_eq!(decoder.push(&frame(&[], b"later"), &mut |_| panic!("a frame behind a fault")), Ok(()));
            return (payloads, Err(error));
        }
    }
    (payloads, Ok(decoder.is_inside_frame()))
}

#[test]
fn a_known_frame_reads_as_published() {
    // The empty message of the format's description.
    let empty = [0, 0, 0, 16, 0, 0, 0, 0, 5, 194, 72, 235, 125, 152, 200, 255];
    assert_eq!(frame(&[], b""), empty);
    assert_eq!(decode([&empty[..]]), (vec![vec![]], Ok(false)));
}

#[test]
fn headers_of_every_type_are_read() {
    let mut headers = Vec::new();
    let values: [(u8, &[u8]); 10] = [
        (0, &[]),
        (1, &[]),
        (2, &[0xFF]),
        (3, &[0xFF, 0xFE]),
        (4, &[0, 0, 1, 0]),
        (5, &[0, 0, 0, 0, 0, 0, 1, 0]),
        (6, &[0, 2, 9, 8]),
        (7, &[0, 3, b'a', 0xC3, 0xA9]),
        (8, &[0, 0, 1, 0, 0, 0, 0, 0]),
        (9, &[7; 16]),
    ];
    for (kind, value) in values {
        headers.extend_from_slice(&[1, b'0' + kind, kind]);
        headers.extend_from_slice(value);
    }
    let bytes = raw_frame(&headers, b"p");
    let frame = Frame::read(&bytes).unwrap();
    let expected = [
        ("0", HeaderValue::Bool(true)),
        ("1", HeaderValue::Bool(false)),
        ("2", HeaderValue::Byte(-1)),
        ("3", HeaderValue::Short(-2)),
        ("4", HeaderValue::Int(256)),
        ("5", HeaderValue::Long(256)),
        ("6", HeaderValue::Bytes(&[9, 8])),
        ("7", HeaderValue::Text("aé")),
        ("8", HeaderValue::Timestamp(1 << 40)),
        ("9", HeaderValue::Uuid([7; 16])),
    ];
    assert_eq!(frame.headers, expected);
    assert_eq!((frame.text("7"), frame.text("4"), frame.text("x"), frame.payload), (Some("aé"), None, None, &b"p"[..]));
}

#[test]
fn what_cannot_be_is_an_error_that_speaks_of_the_checksum() {
    let limit = u32::try_from(MAX_FRAME).unwrap();
    let mut wrong_prelude = frame(&[], b"x");
    wrong_prelude[3] ^= 1;
    let mut wrong_body = frame(&[], b"x");
    wrong_body[12] ^= 1;
    let table = [
        (wrong_prelude, FrameError::PreludeChecksum),
        (wrong_body, FrameError::Checksum),
        (prelude(15, 0), FrameError::Length { total: 15, headers: 0 }),
        (prelude(0, 0), FrameError::Length { total: 0, headers: 0 }),
        (prelude(20, 5), FrameError::Length { total: 20, headers: 5 }),
        (prelude(20, u32::MAX), FrameError::Length { total: 20, headers: u32::MAX }),
        (prelude(limit + 1, 0), FrameError::TooLarge { total: limit + 1 }),
        (prelude(u32::MAX, 0), FrameError::TooLarge { total: u32::MAX }),
        (raw_frame(&[5, b'a'], b""), FrameError::Headers),
        (raw_frame(&[1, b'a', 7, 0, 9, b'x'], b""), FrameError::Headers),
        (raw_frame(&[1, b'a', 10, 0], b""), FrameError::Headers),
        (raw_frame(&[1, 0xFF, 0], b""), FrameError::Headers),
        (raw_frame(&[1, b'a', 7, 0, 1, 0xFF], b""), FrameError::Headers),
    ];
    for (bytes, error) in table {
        let good = frame(&[(":event-type", "x")], b"good");
        let bytes = [good, bytes].concat();
        for pieces in [vec![&bytes[..]], bytes.chunks(1).collect()] {
            assert_eq!(decode(pieces), (vec![b"good".to_vec()], Err(error)));
        }
        assert!(error.to_string().contains("checksum"), "{error}");
    }
}

#[test]
fn a_wrong_prelude_is_noticed_before_the_frame_is_there() {
    let mut decoder = FrameDecoder::default();
    let mut bytes = prelude(1_000_000, 0);
    bytes[11] ^= 1;
    assert_eq!(decoder.push(&bytes[..11], &mut |_| {}), Ok(()));
    assert_eq!(decoder.push(&bytes[11..], &mut |_| {}), Err(FrameError::PreludeChecksum));
}

#[test]
fn a_large_frame_in_small_pieces_is_read_in_linear_time() {
    let payload = vec![b'x'; MAX_FRAME - 16];
    let bytes = frame(&[], &payload);
    let (payloads, end) = decode(bytes.chunks(1400));
    assert_eq!((payloads.len(), payloads[0].len(), end), (1, payload.len(), Ok(false)));
}

proptest! {
    #[test]
    fn frames_come_through_whatever_the_pieces(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..90), 1..8),
        cuts in prop::collection::vec(0usize..900, 0..12),
    ) {
        let bytes: Vec<u8> = payloads.iter().flat_map(|payload| frame(&[(":event-type", "some")], payload)).collect();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        prop_assert_eq!(decode(pieces), (payloads, Ok(false)));
    }

    #[test]
    fn a_changed_byte_never_goes_unnoticed(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..5),
        place in any::<prop::sample::Index>(),
        change in 1u8..=255,
        piece in 1usize..50,
    ) {
        let mut bytes: Vec<u8> = payloads.iter().flat_map(|payload| frame(&[(":event-type", "some")], payload)).collect();
        let place = place.index(bytes.len());
        bytes[place] ^= change;
        let (read, end) = decode(bytes.chunks(piece));
        prop_assert!(end.is_err());
        prop_assert!(payloads.starts_with(&read) && read.len() < payloads.len());
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), headers in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = decode(bytes.chunks(7));
        let _ = decode([&raw_frame(&headers, &bytes)[..]]);
    }
}
