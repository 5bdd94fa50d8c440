//! Addresses in texts, and which of them may be followed.

/// What may be followed from a text that a model or a stranger wrote: pages and mail. Anything else (`javascript:`,
/// `data:`, `file:`) only ever shows.
const FOLLOWED: [&str; 3] = ["http://", "https://", "mailto:"];

/// Whether a person may be led there by one click.
#[must_use]
pub fn may_be_followed(address: &str) -> bool {
    let starts = |scheme: &&str| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    // Blanks and control characters inside are how one scheme is made to look like another.
    FOLLOWED.iter().any(starts) && !address.chars().any(|c| c.is_control() || c.is_whitespace())
}

/// A piece of plain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    /// No address.
    Text(&'t str),
    /// A bare `http` or `https` address.
    Address(&'t str),
}

/// Takes a text apart at its bare addresses. Punctuation behind an address belongs to the sentence, and so does a
/// closing bracket that the address did not open.
#[must_use]
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut shown, mut searched) = (0, 0);
    while let Some(found) = text[searched..].find("http") {
        let start = searched + found;
        searched = start + "http".len();
        let inside_a_word = text[..start].ends_with(|c: char| c.is_alphanumeric());
        if inside_a_word {
            continue;
        }
        let Some(address) = address_at(&text[start..]) else { continue };
        if start > shown {
            pieces.push(Piece::Text(&text[shown..start]));
        }
        pieces.push(Piece::Address(address));
        shown = start + address.len();
        searched = shown;
    }
    if shown < text.len() {
        pieces.push(Piece::Text(&text[shown..]));
    }
    pieces
}

/// The address that `text` begins with.
fn address_at(text: &str) -> Option<&str> {
    let scheme = ["https://", "http://"].into_iter().find(|scheme| text.starts_with(scheme))?;
    let end =
        text.find(|c: char| c.is_whitespace() || c.is_control() || "<>\"`|\\^{}".contains(c)).unwrap_or(text.len());
    let mut address = &text[..end];
    let unopened =
        |open: char, close: char| address.matches(close).count().saturating_sub(address.matches(open).count());
    // Only brackets that close are cut off below: they are counted once.
    let (mut round, mut square) = (unopened('(', ')'), unopened('[', ']'));
    while let Some(last) = address.chars().last() {
        match last {
            ')' if round > 0 => round -= 1,
            ']' if square > 0 => square -= 1,
            _ if ".,;:!?'*_~…。，、".contains(last) => {}
            _ => break,
        }
        address = &address[..address.len() - last.len_utf8()];
    }
    (address.len() > scheme.len()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_mail_may_be_followed_and_nothing_else() {
        for (address, may) in [
            ("https://a.b/c?d=e#f", true),
            ("HTTP://A.B", true),
            ("mailto:a@b.c", true),
            ("javascript:alert(1)", false),
            ("java\tscript:alert(1)", false),
            ("https://a.b/\nx", false),
            (" https://a.b", false),
            ("data:text/html,x", false),
            ("file:///etc/passwd", false),
            ("//a.b", false),
            ("#top", false),
            ("", false),
        ] {
            assert_eq!(may_be_followed(address), may, "{address:?}");
        }
    }

    #[test]
    fn bare_addresses_end_where_the_sentence_goes_on() {
        for (text, address) in [
            ("see https://a.b/c.", Some("https://a.b/c")),
            ("(https://a.b/c_(d)), then", Some("https://a.b/c_(d)")),
            ("\"http://a.b/?q=1&r=2\"", Some("http://a.b/?q=1&r=2")),
            ("at http://x…", Some("http://x")),
            ("xhttp://a.b", None),
            ("https://", None),
            ("http and https", None),
            ("[see (http://a.b/(c)])].", Some("http://a.b/(c)")),
        ] {
            let found = pieces(text);
            let addresses: Vec<_> =
                found.iter().filter_map(|p| if let Piece::Address(a) = p { Some(*a) } else { None }).collect();
            assert_eq!(addresses, address.into_iter().collect::<Vec<_>>(), "{text}");
            let all: String = found
                .iter()
                .map(|piece| match piece {
                    Piece::Text(t) | Piece::Address(t) => *t,
                })
                .collect();
            assert_eq!(all, text);
        }
    }

    #[test]
    fn long_texts_are_gone_through_once() {
        // Going through them again for each character would take minutes.
        let brackets = format!("http://a{}", ")".repeat(400_000));
        assert_eq!(pieces(&brackets)[0], Piece::Address("http://a"));
        let words = "xhttp://".repeat(100_000);
        assert_eq!(pieces(&words), [Piece::Text(&words)]);
    }
}
