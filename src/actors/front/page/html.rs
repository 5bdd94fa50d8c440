//! How anything gets into the page.

use crate::protocol::hidden;

/// Adds text: nothing in it is markup, and characters that nobody sees are named.
pub fn text(out: &mut String, text: &str) {
    let shown = hidden::for_terminal(text);
    let mut rest = &*shown;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(length) = code_point(rest) {
            out.push_str(r#"<span class="hid">"#);
            out.push_str(&rest[1..length - 1]);
            out.push_str("</span>");
            rest = &rest[length..];
            continue;
        }
        out.push_str(match rest.as_bytes()[0] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#39;",
        });
        rest = &rest[1..];
    }
    out.push_str(rest);
}

/// The length of `<U+202E>`, as hidden characters are named, at the beginning of `text`.
fn code_point(text: &str) -> Option<usize> {
    let digits = text.strip_prefix("<U+")?;
    let end = digits.find('>')?;
    ((4..=6).contains(&end) && digits[..end].bytes().all(|byte| byte.is_ascii_hexdigit()))
        .then_some("<U+".len() + end + 1)
}

/// Adds ` name="value"`.
pub fn attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    bare_text(out, value);
    out.push('"');
}

/// Adds text where no element can stand, as in attributes and in the page's title: characters that nobody sees are named
/// in the text itself.
pub fn bare_text(out: &mut String, text: &str) {
    for character in hidden::for_terminal(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
}

/// Adds an element of this class that holds text. Only tags and classes of our own are to be given.
pub fn element(out: &mut String, tag: &str, class: &str, content: &str) {
    out.push_str(&format!("<{tag} class=\"{class}\">"));
    text(out, content);
    out.push_str(&format!("</{tag}>"));
}

/// Adds something that opens at a click: what its line shows is written by `summary`, what is inside by `inside`.
pub fn details(
    out: &mut String,
    class: &str,
    open: bool,
    summary: impl FnOnce(&mut String),
    inside: impl FnOnce(&mut String),
) {
    out.push_str(&format!("<details class=\"{class}\"{}><summary>", if open { " open" } else { "" }));
    summary(out);
    out.push_str("</summary>");
    inside(out);
    out.push_str("</details>");
}

/// The beginning of a text on one line, in at most this many characters.
pub fn preview(text: &str, most: usize) -> String {
    let mut words = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        if count > 0 {
            words.push(' ');
            count += 1;
        }
        for character in word.chars() {
            if count >= most {
                return words.trim_end().to_owned() + "…";
            }
            words.push(character);
            count += 1;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_markup_and_never_hidden() {
        for (source, wanted) in [
            ("a & b", "a &amp; b"),
            ("</script><img src=x onerror='a'>", "&lt;/script&gt;&lt;img src=x onerror=&#39;a&#39;&gt;"),
            ("\"quoted\"", "&quot;quoted&quot;"),
            ("over\u{202e}ride", "over<span class=\"hid\">U+202E</span>ride"),
            ("\u{1b}[31m", "<span class=\"hid\">U+001B</span>[31m"),
            ("a\r\nb\tc", "a\nb\tc"),
            ("<U+zz>", "&lt;U+zz&gt;"),
            ("<U+", "&lt;U+"),
            ("日本 שלום 👨‍👩‍👧", "日本 שלום 👨‍👩‍👧"),
        ] {
            let mut out = String::new();
            text(&mut out, source);
            assert_eq!(out, wanted, "{source:?}");
        }
        let mut out = String::new();
        attribute(&mut out, "title", "\"><script>\u{202e}");
        assert_eq!(out, " title=\"&quot;&gt;&lt;script&gt;&lt;U+202E&gt;\"");
    }

    #[test]
    fn previews_are_short_and_on_one_line() {
        for (text, wanted) in
            [("a\n b", "a b"), ("abcdef", "abcde…"), ("abcd ef", "abcd…"), ("日本語日本語", "日本語日本…"), ("", "")]
        {
            assert_eq!(preview(text, 5), wanted);
        }
    }
}
