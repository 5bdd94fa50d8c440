//! What kind of picture some bytes are, and how large it is.

/// Bytes at the beginning of a file that tell what it is.
pub const SNIFFED: usize = 4100;

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// PNG, not animated.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    Webp,
    /// Windows bitmap.
    Bmp,
}

impl ImageKind {
    /// The kind of picture that a file is which begins so; none when it is no picture.
    pub fn sniff(start: &[u8]) -> Option<Self> {
        let start = &start[..start.len().min(SNIFFED)];
        match start {
            // The last is lossless JPEG, which nobody shows.
            [0xff, 0xd8, 0xff, fourth, ..] if *fourth != 0xf7 => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            _ if is_still_png(start) => Some(Self::Png),
            _ if is_bmp(start) => Some(Self::Bmp),
            _ => None,
        }
    }

    /// The MIME type.
    pub fn mime_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Bmp => "image/bmp",
        }
    }

    /// Whether models take this kind as it is.
    pub fn is_inline(self) -> bool {
        self != Self::Bmp
    }

    /// Whether the file has its end. Decoders of JPEG are content without it, and show grey for what is missing; those of
    /// the other kinds say so themselves.
    pub fn is_whole(self, bytes: &[u8]) -> bool {
        self != Self::Jpeg || memchr::memmem::rfind(bytes, b"\xff\xd9").is_some()
    }

    /// Width and height in pixels; none when the file does not say it where it should.
    pub fn size(self, bytes: &[u8]) -> Option<(u32, u32)> {
        match self {
            Self::Png => Some((be32(bytes, 16)?, be32(bytes, 20)?)),
            Self::Gif => Some((le16(bytes, 6)?, le16(bytes, 8)?)),
            Self::Bmp => bmp_size(bytes),
            Self::Webp => webp_size(bytes),
            Self::Jpeg => jpeg_size(bytes),
        }
    }
}

const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Whether it is a PNG with a proper header that does not announce an animation before its picture data.
fn is_still_png(start: &[u8]) -> bool {
    if !start.starts_with(PNG_SIGNATURE) || be32(start, 8) != Some(13) || start.get(12..16) != Some(b"IHDR") {
        return false;
    }
    let mut place = PNG_SIGNATURE.len();
    while let (Some(length), Some(name)) = (be32(start, place), start.get(place + 4..place + 8)) {
        match name {
            b"acTL" => return false,
            b"IDAT" => return true,
            _ => place = place.saturating_add(12).saturating_add(length as usize),
        }
    }
    true
}

/// Whether it is a bitmap: its header's fields are checked, since two letters are little evidence.
fn is_bmp(start: &[u8]) -> bool {
    if !start.starts_with(b"BM") {
        return false;
    }
    let (Some(data), Some(header)) = (le32(start, 10), le32(start, 14)) else { return false };
    let fields = if header == 12 { (le16(start, 22), le16(start, 24)) } else { (le16(start, 26), le16(start, 28)) };
    let (Some(planes), Some(depth)) = fields else { return false };
    matches!(header, 12 | 16 | 40 | 52 | 56 | 64 | 108 | 124)
        && data >= 14 + header
        && planes == 1
        && matches!(depth, 0 | 1 | 2 | 4 | 8 | 16 | 24 | 32)
}

fn bmp_size(bytes: &[u8]) -> Option<(u32, u32)> {
    if le32(bytes, 14)? == 12 {
        return Some((le16(bytes, 18)?, le16(bytes, 20)?));
    }
    // A negative height says that the rows begin at the top.
    Some((le32(bytes, 18)?, le32(bytes, 22)?.cast_signed().unsigned_abs()))
}

fn webp_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let one_more = |three: &[u8]| u32::from_le_bytes([three[0], three[1], three[2], 0]) + 1;
    match bytes.get(12..16)? {
        b"VP8X" => Some((one_more(bytes.get(24..27)?), one_more(bytes.get(27..30)?))),
        b"VP8L" => {
            let bits = le32(bytes, 21)?;
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        b"VP8 " => Some((le16(bytes, 26)? & 0x3fff, le16(bytes, 28)? & 0x3fff)),
        _ => None,
    }
}

/// Goes from marker to marker up to the one that begins a frame.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut place = 2;
    loop {
        let marker = match bytes.get(place..place + 2)? {
            [0xff, 0xff] => {
                place += 1;
                continue;
            }
            [0xff, marker] => *marker,
            _ => return None,
        };
        match marker {
            0x01 | 0xd0..=0xd8 => place += 2,
            0xd9 | 0xda => return None,
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Some((be16(bytes, place + 7)?, be16(bytes, place + 5)?));
            }
            _ => place += 2 + be16(bytes, place + 2)? as usize,
        }
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_be_bytes)
}

fn le32(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

fn be16(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(|two| u16::from_be_bytes(two).into())
}

fn le16(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(|two| u16::from_le_bytes(two).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(chunks: &[&[u8; 4]]) -> Vec<u8> {
        let mut bytes = PNG_SIGNATURE.to_vec();
        bytes.extend_from_slice(b"\0\0\0\x0dIHDR\0\0\x01\x02\0\0\0\x03\x08\x06\0\0\0crc!");
        for name in chunks {
            bytes.extend_from_slice(b"\0\0\0\x04");
            bytes.extend_from_slice(*name);
            bytes.extend_from_slice(b"datacrc!");
        }
        bytes
    }

    #[test]
    fn pictures_are_known_by_their_content_and_tell_their_size() {
        use ImageKind::{Bmp, Gif, Jpeg, Png, Webp};
        let jpeg = b"\xff\xd8\xff\xe0\0\x04xx\xff\xff\xc2\0\x11\x08\0\x07\x01\x00\x03rest".to_vec();
        let bmp = [
            b"BM".as_slice(),
            &[0; 8],
            &54u32.to_le_bytes(),
            &40u32.to_le_bytes(),
            &9u32.to_le_bytes(),
            &(-5i32).to_le_bytes(),
            b"\x01\0\x18\0",
            &[0; 24],
        ]
        .concat();
        let table = [
            (png(&[b"tEXt", b"IDAT"]), Some((Png, Some((258, 3))))),
            (png(&[b"IDAT", b"acTL"]), Some((Png, Some((258, 3))))),
            (png(&[b"acTL", b"IDAT"]), None),
            (PNG_SIGNATURE.to_vec(), None),
            (b"GIF89a\x05\0\x04\x01...".to_vec(), Some((Gif, Some((5, 260))))),
            (b"GIF88a\x05\0\x04\x01...".to_vec(), None),
            (jpeg, Some((Jpeg, Some((256, 7))))),
            (b"\xff\xd8\xff\xf7".to_vec(), None),
            (b"RIFF....WEBPVP8X....\0\0\0\0\x0f\0\0\x1f\0\0".to_vec(), Some((Webp, Some((16, 32))))),
            (b"RIFF....WEBPVP8L....\x2f\x0f\xc0\x07\0".to_vec(), Some((Webp, Some((16, 32))))),
            (b"RIFF....WEBPVP8 ....\0\0\0\x9d\x01\x2a\x10\0\x20\0".to_vec(), Some((Webp, Some((16, 32))))),
            (b"RIFF....WAVE".to_vec(), None),
            (bmp, Some((Bmp, Some((9, 5))))),
            (b"BMW is a car maker, not a picture of one".to_vec(), None),
            (b"just text".to_vec(), None),
            (Vec::new(), None),
        ];
        for (bytes, wanted) in table {
            let got = ImageKind::sniff(&bytes).map(|kind| (kind, kind.size(&bytes)));
            assert_eq!(got, wanted, "{:?}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn no_broken_picture_makes_trouble() {
        for bytes in [png(&[b"IDAT"]), b"\xff\xd8\xff\xe0\0\x04xx\xff\xc2\0\x11\x08\0\x07\x01\0\x03".to_vec()] {
            for end in 0..bytes.len() {
                if let Some(kind) = ImageKind::sniff(&bytes[..end]) {
                    let _ = kind.size(&bytes[..end]);
                }
            }
        }
        assert_eq!(ImageKind::Jpeg.size(b"\xff\xd8\xff\xe0\0\0\xff\xe0\0\0"), None);
    }
}
