//! Where a link of a text leads, made safe for a terminal.

use std::{fmt::Write as _, sync::Arc};

use crate::resources::markup::links::may_be_followed;

/// Bytes of the longest address that is made a link: terminals ignore longer ones.
const LONGEST: usize = 2_000;

/// The address as a terminal may get it; none when nobody should be led there by a click. Only visible ASCII is in it,
/// so that it can neither end the command that it is a part of nor look like another address.
#[must_use]
pub fn link_target(address: &str) -> Option<Arc<str>> {
    if !may_be_followed(address) {
        return None;
    }
    let mut target = String::with_capacity(address.len());
    for byte in address.bytes() {
        match byte {
            b'!'..=b'~' => target.push(char::from(byte)),
            _ => {
                let _ = write!(target, "%{byte:02X}");
            }
        }
    }
    (target.len() <= LONGEST).then(|| target.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fc_064_a_target_cannot_break_out_of_its_command() {
        for (address, wanted) in [
            ("https://example.com/a?b=c#d", Some("https://example.com/a?b=c#d")),
            ("https://example.com/é", Some("https://example.com/%C3%A9")),
            ("https://example.com/\u{202e}x", Some("https://example.com/%E2%80%AEx")),
            ("mailto:a@b.c", Some("mailto:a@b.c")),
            ("https://x/\u{1b}\\", None),
            ("https://x/\u{7}", None),
            ("https://x/\u{9c}", None),
            ("https://x/ y", None),
            ("file:///etc/passwd", None),
            ("javascript:alert(1)", None),
        ] {
            assert_eq!(link_target(address).as_deref(), wanted, "{address:?}");
        }
        assert_eq!(link_target(&format!("https://a/{}", "b".repeat(LONGEST))), None);
    }
}
