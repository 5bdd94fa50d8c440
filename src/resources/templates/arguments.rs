//! Arguments of a template: how a line is split, and where its parts go.

/// The arguments of `text`, separated by white space. A quote opens only at the beginning of an argument; inside, a
/// backslash lets the same quote stand for itself; one that is never closed is an ordinary character.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (mut argument, behind) = match first {
            '"' | '\'' => quoted(first, &rest[1..]).unwrap_or((String::new(), rest)),
            _ => (String::new(), rest),
        };
        // What touches a closing quote belongs to the same argument.
        let end = behind.find(char::is_whitespace).unwrap_or(behind.len());
        argument.push_str(&behind[..end]);
        arguments.push(argument);
        rest = behind[end..].trim_start();
    }
    arguments
}

/// The text up to the closing quote and what follows it; `None` without one.
fn quoted(quote: char, text: &str) -> Option<(String, &str)> {
    let mut argument = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Some((argument, &text[at + 1..]));
        }
        let escapes = c == '\\' && chars.peek().is_some_and(|(_, next)| *next == quote);
        argument.push(if escapes { chars.next()?.1 } else { c });
    }
    None
}

/// `body` with its placeholders filled, in one pass: what an argument holds is never looked at again.
pub(super) fn substitute(body: &str, arguments: &[String]) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        if let Some((text, length)) = placeholder(behind, arguments) {
            out.push_str(&text);
            rest = &behind[length..];
        } else {
            out.push('$');
            rest = behind;
        }
    }
    out + rest
}

/// The value of the placeholder that `text`, the text behind a `$`, begins with, and its length there.
fn placeholder(text: &str, arguments: &[String]) -> Option<(String, usize)> {
    const ALL: [&str; 2] = ["@", "ARGUMENTS"];
    if let Some(inner) = text.strip_prefix('{') {
        let end = inner.find('}')?;
        return braced(&inner[..end], arguments).map(|value| (value, end + 2));
    }
    if let Some(name) = ALL.iter().find(|name| text.starts_with(**name)) {
        return Some((arguments.join(" "), name.len()));
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| (nth(&text[..digits], arguments), digits))
}

/// `N:-default`, `@:-default`, `ARGUMENTS:-default`, `@:N` and `@:N:LENGTH`; anything else is no placeholder.
fn braced(inner: &str, arguments: &[String]) -> Option<String> {
    let (name, modifier) = inner.split_once(':')?;
    if let Some(default) = modifier.strip_prefix('-') {
        let value = match name {
            "@" | "ARGUMENTS" => arguments.join(" "),
            digits if is_number(digits) => nth(digits, arguments),
            _ => return None,
        };
        return Some(if value.is_empty() { default.to_owned() } else { value });
    }
    let (start, length) = match modifier.split_once(':') {
        Some((start, length)) if is_number(length) => (start, Some(length)),
        Some(_) => return None,
        None => (modifier, None),
    };
    if name != "@" || !is_number(start) {
        return None;
    }
    let from = index(start).min(arguments.len());
    let rest = &arguments[from..];
    let length = length.map_or(rest.len(), |length| number(length).min(rest.len()));
    Some(rest[..length].join(" "))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number that is too large is larger than any list of arguments.
fn number(digits: &str) -> usize {
    digits.parse().unwrap_or(usize::MAX)
}

/// Positions count from 1; 0 is the first too.
fn index(digits: &str) -> usize {
    number(digits).saturating_sub(1)
}

/// `$0` names nothing.
fn nth(digits: &str, arguments: &[String]) -> String {
    number(digits).checked_sub(1).and_then(|at| arguments.get(at)).cloned().unwrap_or_default()
}
