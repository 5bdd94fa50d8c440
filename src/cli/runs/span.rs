//! Lengths of time on the command line.

use std::{str::FromStr, time::Duration};

use crate::protocol::time::parse_duration;

/// A length of time: `90` (seconds), `500ms`, `90s`, `10m`, `2h`, `1d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_bare = text.bytes().next_back().is_some_and(|last| last.is_ascii_digit());
        let span = if is_bare { parse_duration(&format!("{text}s")) } else { parse_duration(text) };
        match span {
            Ok(span) if !span.is_zero() => Ok(Self(span)),
            _ => Err(format!("\"{text}\" is no length of time: write 90s, 10m, 2h or 1d")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_a_number_with_a_unit() {
        for (text, ms) in [("90", 90_000), ("500ms", 500), ("1.5s", 1_500), ("10m", 600_000), ("2h", 7_200_000)] {
            assert_eq!(text.parse(), Ok(Span(Duration::from_millis(ms))), "{text}");
        }
        for text in ["", "0", "s", "10x", "-1", "1e9d", "10 m"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
