//! The rest of a sequence whose ESC was already taken for the escape key.
//!
//! The rule: for 150 ms after the escape key, a read that is nothing but the rest of one control sequence (`[` or `O`
//! and a final byte, or a string that ends) is that sequence. Its first byte alone is held for 150 ms more. A read that goes
//! on after the sequence was typed by a person or a program, and is text.

/// What bytes after a lone ESC are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// The rest of a sequence, or more of it than its first byte.
    Sequence,
    /// A byte that begins a sequence, or is a key: what follows decides.
    Open,
    /// Something else.
    Text,
}

/// Looks at what came after a lone ESC.
pub(super) fn classify(bytes: &[u8]) -> Tail {
    let Some((&first, rest)) = bytes.split_first() else { return Tail::Text };
    let is_sequence = match first {
        b'[' => is_control(rest),
        b'O' => matches!(rest, [] | [b'A'..=b'I' | b'M' | b'P'..=b'S' | b'X' | b'j'..=b'y']),
        b']' => is_string(rest, |byte| byte.is_ascii_digit()),
        b'P' => is_string(rest, |byte| matches!(byte, b'0'..=b'9' | b'>' | b'|' | b'!')),
        _ => return Tail::Text,
    };
    match (is_sequence, rest) {
        (true, []) => Tail::Open,
        (true, _) => Tail::Sequence,
        (false, _) => Tail::Text,
    }
}

/// Parameters, and at most one final byte, which is the last.
fn is_control(rest: &[u8]) -> bool {
    let parameters = rest.iter().take_while(|byte| (0x20..0x40).contains(*byte)).count();
    match &rest[parameters..] {
        [] => true,
        [last] => (0x40..0x7f).contains(last),
        _ => false,
    }
}

/// The body of a string, whose end is the last byte when it is there.
fn is_string(rest: &[u8], begins: impl Fn(u8) -> bool) -> bool {
    let body = rest.strip_suffix(b"\x1b\\").or_else(|| rest.strip_suffix(b"\x07"));
    let body = body.or_else(|| rest.strip_suffix(b"\x1b")).unwrap_or(rest);
    body.first().is_none_or(|first| begins(*first)) && body.iter().all(|byte| (0x20..0x7f).contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_read_that_is_the_rest_of_one_sequence_is_taken_for_it() {
        for (bytes, tail) in [
            (&b"[D"[..], Tail::Sequence),
            (b"[1;5A", Tail::Sequence),
            (b"[1;", Tail::Sequence),
            (b"[", Tail::Open),
            (b"[D!", Tail::Text),
            (b"[x] todo", Tail::Text),
            (b"O", Tail::Open),
            (b"OA", Tail::Sequence),
            (b"Only this", Tail::Text),
            (b"OK", Tail::Text),
            (b"]", Tail::Open),
            (b"]11;rgb:1/2/3\x1b\\", Tail::Sequence),
            (b"]11;rgb", Tail::Sequence),
            (b"]0;\x07x", Tail::Text),
            (b"] done", Tail::Text),
            (b"P>|xterm\x1b\\", Tail::Sequence),
            (b"Plan", Tail::Text),
            (b"x", Tail::Text),
            (b"\r", Tail::Text),
        ] {
            assert_eq!(classify(bytes), tail, "{:?}", String::from_utf8_lossy(bytes));
        }
    }
}
