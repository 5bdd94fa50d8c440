//! The binary framing of Amazon's event streams, `application/vnd.amazon.eventstream`.
//!
//! A frame, big-endian: u32 length of all of it, u32 length of the headers, u32 CRC-32 of these 8 bytes, the headers,
//! the payload, u32 CRC-32 of everything before. Frames do not align with reads of the socket. A frame that a read
//! brings whole is not copied; of others every byte is copied once.

/// Bytes that one frame may have: the service's own limit.
pub const MAX_FRAME: usize = 16 * 1024 * 1024;

const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;
/// Room that is kept between frames; more is given back.
const KEPT_ROOM: usize = 64 * 1024;

/// Why a stream cannot be read on. Nothing of the frame or behind it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The lengths at a frame's start are not what was sent, or this is no event stream.
    #[error("the checksum at the start of a frame is wrong")]
    PreludeChecksum,
    /// Something in a frame is not what was sent.
    #[error("the checksum of a frame is wrong")]
    Checksum,
    /// The lengths contradict each other.
    #[error(
        "a frame has {total} bytes, {headers} of them headers: that cannot be, although the checksum of these lengths is right"
    )]
    Length {
        /// The frame's length.
        total: u32,
        /// The length of its headers.
        headers: u32,
    },
    /// The frame is larger than [`MAX_FRAME`].
    #[error(
        "a frame has {total} bytes, more than the {MAX_FRAME} that are allowed, although the checksum of its length is right"
    )]
    TooLarge {
        /// The frame's length.
        total: u32,
    },
    /// The headers are not readable.
    #[error("the headers of a frame are cut or of an unknown type, although its checksum is right")]
    Headers,
}

/// A header's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HeaderValue<'a> {
    /// Types 0 and 1.
    Bool(bool),
    /// Type 2.
    Byte(i8),
    /// Type 3.
    Short(i16),
    /// Type 4.
    Int(i32),
    /// Type 5.
    Long(i64),
    /// Type 6.
    Bytes(&'a [u8]),
    /// Type 7.
    Text(&'a str),
    /// Type 8: milliseconds since the Unix epoch.
    Timestamp(i64),
    /// Type 9.
    Uuid([u8; 16]),
}

/// A frame whose checksums are right.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame<'a> {
    /// Names and values in their order.
    pub headers: Vec<(&'a str, HeaderValue<'a>)>,
    /// What the frame carries.
    pub payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The first header of that name, when it is a text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&'a str> {
        match self.headers.iter().find(|(known, _)| *known == name)?.1 {
            HeaderValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Reads a frame of exactly these bytes, whose prelude was found right.
    fn read(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let (checked, checksum) = bytes.split_last_chunk::<CHECKSUM>().ok_or(FrameError::Checksum)?;
        if crc32fast::hash(checked) != u32::from_be_bytes(*checksum) {
            return Err(FrameError::Checksum);
        }
        let headers = word(bytes, 4).ok_or(FrameError::Headers)? as usize;
        let (headers, payload) = checked[PRELUDE..].split_at_checked(headers).ok_or(FrameError::Headers)?;
        Ok(Self { headers: read_headers(headers).ok_or(FrameError::Headers)?, payload })
    }
}

/// Cuts a stream of bytes into frames.
#[derive(Debug, Default)]
pub struct FrameDecoder {
    /// The beginning of a frame.
    partial: Vec<u8>,
    is_broken: bool,
}

impl FrameDecoder {
    /// Takes the next bytes and hands every frame that they complete to `take`.
    ///
    /// # Errors
    /// The stream is broken; frames before the fault were handed over. After an error nothing is read any more.
    pub fn push(&mut self, bytes: &[u8], take: &mut impl FnMut(Frame<'_>)) -> Result<(), FrameError> {
        if self.is_broken {
            return Ok(());
        }
        let pushed = self.frames(bytes, take);
        self.is_broken = pushed.is_err();
        pushed
    }

    /// True when a frame has begun and not ended.
    #[must_use]
    pub fn is_inside_frame(&self) -> bool {
        !self.partial.is_empty()
    }

    fn frames(&mut self, mut bytes: &[u8], take: &mut impl FnMut(Frame<'_>)) -> Result<(), FrameError> {
        if !self.partial.is_empty() {
            if !self.fill(&mut bytes, PRELUDE) {
                return Ok(());
            }
            let total = checked_length(&self.partial)?;
            if !self.fill(&mut bytes, total) {
                return Ok(());
            }
            take(Frame::read(&self.partial)?);
            self.partial.clear();
            self.partial.shrink_to(KEPT_ROOM);
        }
        while bytes.len() >= PRELUDE {
            let Some((frame, rest)) = bytes.split_at_checked(checked_length(bytes)?) else { break };
            take(Frame::read(frame)?);
            bytes = rest;
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    /// Moves bytes to the partial frame until it has `length`; true when it has.
    fn fill(&mut self, bytes: &mut &[u8], length: usize) -> bool {
        let missing = length.saturating_sub(self.partial.len()).min(bytes.len());
        let (moved, rest) = bytes.split_at(missing);
        self.partial.extend_from_slice(moved);
        *bytes = rest;
        self.partial.len() >= length
    }
}

/// The length of the frame that begins with these bytes, of which there are at least [`PRELUDE`].
fn checked_length(bytes: &[u8]) -> Result<usize, FrameError> {
    let words = (word(bytes, 0), word(bytes, 4), word(bytes, 8));
    let (Some(total), Some(headers), Some(checksum)) = words else { return Err(FrameError::PreludeChecksum) };
    if crc32fast::hash(&bytes[..8]) != checksum {
        return Err(FrameError::PreludeChecksum);
    }
    let (length, overhead) = (total as usize, PRELUDE + CHECKSUM);
    if length > MAX_FRAME {
        return Err(FrameError::TooLarge { total });
    }
    if length.checked_sub(overhead).is_none_or(|room| room < headers as usize) {
        return Err(FrameError::Length { total, headers });
    }
    Ok(length)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_be_bytes(*word))
}

fn read_headers(mut bytes: &[u8]) -> Option<Vec<(&str, HeaderValue<'_>)>> {
    let mut headers = Vec::with_capacity(4);
    while !bytes.is_empty() {
        let [length] = array(&mut bytes)?;
        let name = std::str::from_utf8(slice(&mut bytes, usize::from(length))?).ok()?;
        headers.push((name, read_value(&mut bytes)?));
    }
    Some(headers)
}

fn read_value<'a>(bytes: &mut &'a [u8]) -> Option<HeaderValue<'a>> {
    let [kind] = array(bytes)?;
    Some(match kind {
        0 => HeaderValue::Bool(true),
        1 => HeaderValue::Bool(false),
        2 => HeaderValue::Byte(i8::from_be_bytes(array(bytes)?)),
        3 => HeaderValue::Short(i16::from_be_bytes(array(bytes)?)),
        4 => HeaderValue::Int(i32::from_be_bytes(array(bytes)?)),
        5 => HeaderValue::Long(i64::from_be_bytes(array(bytes)?)),
        6 => HeaderValue::Bytes(long_slice(bytes)?),
        7 => HeaderValue::Text(std::str::from_utf8(long_slice(bytes)?).ok()?),
        8 => HeaderValue::Timestamp(i64::from_be_bytes(array(bytes)?)),
        9 => HeaderValue::Uuid(array(bytes)?),
        // The length of an unknown type is unknown too.
        _ => return None,
    })
}

fn long_slice<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u16::from_be_bytes(array(bytes)?);
    slice(bytes, usize::from(length))
}

fn slice<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*taken)
}

#[cfg(test)]
pub(crate) mod tests;
