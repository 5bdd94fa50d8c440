//! Which kind of picture a file is, by its content.

/// How much of a file's start [`sniff`] wants to see, in bytes.
pub const SNIFF_BYTES: usize = 4100;

/// The MIME type of a picture that models take; `None` for anything else. Names say nothing: only the bytes count.
/// Animated PNGs are not pictures here, because providers refuse them.
#[must_use]
pub fn sniff(start: &[u8]) -> Option<&'static str> {
    let start = &start[..start.len().min(SNIFF_BYTES)];
    match start {
        // FF D8 FF F7 is JPEG-LS, which nobody decodes.
        [0xff, 0xd8, 0xff, fourth, ..] if *fourth != 0xf7 => Some("image/jpeg"),
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, chunks @ ..] => is_still_png(chunks).then_some("image/png"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'B', b'M', header @ ..] => is_bmp(header).then_some("image/bmp"),
        _ => None,
    }
}

/// A PNG must begin with a header chunk of 13 bytes; an animation control before the first data makes it an APNG.
fn is_still_png(mut chunks: &[u8]) -> bool {
    if !matches!(chunks, [0, 0, 0, 13, b'I', b'H', b'D', b'R', ..]) {
        return false;
    }
    while let [a, b, c, d, kind @ ..] = chunks
        && let Some((kind, rest)) = kind.split_first_chunk::<4>()
    {
        match kind {
            b"acTL" => return false,
            b"IDAT" => return true,
            _ => {}
        }
        // Content, then a checksum of four bytes.
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        chunks = rest.get(length.saturating_add(4)..).unwrap_or_default();
    }
    true
}

/// `header` begins behind the letters `BM`: sizes and offsets (12 bytes), then the information header.
fn is_bmp(header: &[u8]) -> bool {
    let number = |at: usize| header.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let short = |at: usize| header.get(at..at + 2).map(|b| u16::from_le_bytes([b[0], b[1]]));
    let (planes, depth) = match number(12) {
        Some(12) => (short(20), short(22)),
        Some(40 | 52 | 56 | 64 | 108 | 124) => (short(24), short(26)),
        _ => return false,
    };
    planes == Some(1) && matches!(depth, Some(1 | 2 | 4 | 8 | 16 | 24 | 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(chunks: &[(&[u8; 4], usize)]) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        for (kind, length) in chunks {
            bytes.extend((u32::try_from(*length).unwrap()).to_be_bytes());
            bytes.extend(*kind);
            bytes.extend(vec![0; length + 4]);
        }
        bytes
    }

    fn bmp(info_size: u8, depth: u8) -> Vec<u8> {
        let mut bytes = b"BM".to_vec();
        bytes.extend([0; 12]);
        bytes.extend([info_size, 0, 0, 0]);
        bytes.extend(vec![0; if info_size == 12 { 4 } else { 8 }]);
        bytes.extend([1, 0, depth, 0]);
        bytes
    }

    #[test]
    fn pictures_are_known_by_their_bytes() {
        let table: &[(&str, Vec<u8>, Option<&str>)] = &[
            ("jpeg", vec![0xff, 0xd8, 0xff, 0xe0, 0], Some("image/jpeg")),
            ("jpeg-ls", vec![0xff, 0xd8, 0xff, 0xf7, 0], None),
            ("cut jpeg", vec![0xff, 0xd8, 0xff], None),
            ("png", png(&[(b"IHDR", 13), (b"IDAT", 5)]), Some("image/png")),
            ("png without data in sight", png(&[(b"IHDR", 13), (b"iCCP", 9000)]), Some("image/png")),
            ("animated png", png(&[(b"IHDR", 13), (b"acTL", 8), (b"IDAT", 5)]), None),
            ("png with a wrong header", png(&[(b"IHDR", 12)]), None),
            ("gif", b"GIF89a..".to_vec(), Some("image/gif")),
            ("gif of a version that never was", b"GIF88a..".to_vec(), None),
            ("webp", b"RIFF\0\0\0\0WEBPVP8 ".to_vec(), Some("image/webp")),
            ("wav", b"RIFF\0\0\0\0WAVEfmt ".to_vec(), None),
            ("bmp", bmp(40, 24), Some("image/bmp")),
            ("old bmp", bmp(12, 8), Some("image/bmp")),
            ("text that begins with BM", b"BMW is a car maker with a long history".to_vec(), None),
            ("bmp with a wrong depth", bmp(40, 7), None),
            ("text", b"hello".to_vec(), None),
            ("nothing", Vec::new(), None),
        ];
        for (what, bytes, kind) in table {
            assert_eq!(sniff(bytes), *kind, "{what}");
        }
    }
}
