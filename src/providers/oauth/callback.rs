//! What comes back from the browser: the address that it was sent to, or what the user copied from it.

use reqwest::Url;

use crate::providers::Secret;

/// What an answer must look like.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The path of the callback.
    pub path: String,
    /// The state; none where the path holds it.
    pub state: Option<String>,
}

/// What an answer means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The user said yes.
    Code(Secret),
    /// The user or the provider said no: why.
    Denied(String),
    /// It is no answer to our question.
    Stray(Stray),
}

/// Why something is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stray {
    /// Another path.
    #[error("There is nothing here.")]
    Path,
    /// The state is missing or another: the answer belongs to another login.
    #[error("This answer belongs to another login (its state does not match). Start the login again.")]
    State,
    /// Neither code nor error.
    #[error("This address has no login code.")]
    NoCode,
}

/// Reads the target of a request to the callback server, such as `/callback?code=x&state=y`.
#[must_use]
pub fn hear(target: &str, expected: &Expected) -> Heard {
    // Only the path and the query matter; any host will do to read them.
    match Url::parse("http://localhost").and_then(|base| base.join(target)) {
        Ok(url) if url.path() == expected.path => in_query(&url, expected),
        _ => Heard::Stray(Stray::Path),
    }
}

/// Reads what a user pasted: the whole address, `code#state`, or the code alone.
#[must_use]
pub fn pasted(text: &str, expected: &Expected) -> Heard {
    let text = text.trim();
    if text.starts_with("http://") || text.starts_with("https://") {
        return match Url::parse(text) {
            // The page that shows codes has another path than ours, so that the path says nothing here.
            Ok(url) => in_query(&url, expected),
            Err(_) => Heard::Stray(Stray::NoCode),
        };
    }
    let (code, state) = match text.split_once('#') {
        Some((code, state)) => (code, Some(state)),
        None => (text, None),
    };
    match (state, &expected.state) {
        _ if code.is_empty() || code.contains(char::is_whitespace) => Heard::Stray(Stray::NoCode),
        (Some(given), Some(wanted)) if given != wanted => Heard::Stray(Stray::State),
        _ => Heard::Code(Secret::new(code)),
    }
}

fn in_query(url: &Url, expected: &Expected) -> Heard {
    let field = |wanted: &str| url.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned());
    if expected.state.is_some() && field("state") != expected.state {
        return Heard::Stray(Stray::State);
    }
    if let Some(error) = field("error") {
        let description = field("error_description").map_or(String::new(), |text| format!(" ({text})"));
        return Heard::Denied(format!("{error}{description}").chars().take(300).collect());
    }
    match field("code").filter(|code| !code.is_empty()) {
        Some(code) => Heard::Code(Secret::new(&code)),
        None => Heard::Stray(Stray::NoCode),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(state: Option<&str>) -> Expected {
        Expected { path: "/callback".into(), state: state.map(str::to_owned) }
    }

    fn code(text: &str) -> Heard {
        Heard::Code(Secret::new(text))
    }

    #[test]
    fn only_the_callback_with_our_state_is_an_answer() {
        let table = [
            ("/callback?code=a%2Fb&state=s1", code("a/b")),
            (
                "/callback?state=s1&error=access_denied&error_description=no+way",
                Heard::Denied("access_denied (no way)".into()),
            ),
            ("/callback?code=x&state=s2", Heard::Stray(Stray::State)),
            ("/callback?code=x", Heard::Stray(Stray::State)),
            ("/callback?error=access_denied", Heard::Stray(Stray::State)),
            ("/callback?state=s1", Heard::Stray(Stray::NoCode)),
            ("/callback?state=s1&code=", Heard::Stray(Stray::NoCode)),
            ("/favicon.ico", Heard::Stray(Stray::Path)),
            ("/callback/?code=x&state=s1", Heard::Stray(Stray::Path)),
            ("//evil.example/callback?code=x&state=s1", code("x")),
            ("", Heard::Stray(Stray::Path)),
        ];
        for (target, heard) in table {
            assert_eq!(hear(target, &expected(Some("s1"))), heard, "{target}");
        }
        assert_eq!(hear("/callback?code=x", &expected(None)), code("x"));
    }

    #[test]
    fn an_address_a_code_with_its_state_and_a_code_can_be_pasted() {
        let table = [
            (" http://localhost:1/callback?code=c1&state=s1 \n", code("c1")),
            ("https://vendor.example/shown?code=c1&state=s1", code("c1")),
            ("https://vendor.example/shown?code=c1&state=s2", Heard::Stray(Stray::State)),
            ("c1#s1", code("c1")),
            ("c1#s2", Heard::Stray(Stray::State)),
            ("c1", code("c1")),
            ("", Heard::Stray(Stray::NoCode)),
            ("two words", Heard::Stray(Stray::NoCode)),
        ];
        for (text, heard) in table {
            assert_eq!(pasted(text, &expected(Some("s1"))), heard, "{text}");
        }
    }
}
