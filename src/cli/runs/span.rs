//! Lengths of time on the command line.

use std::{str::FromStr, time::Duration};

/// A length of time: `90` (seconds), `500ms`, `90s`, `10m`, `2h`, `1d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(at);
        let seconds = match unit {
            "ms" => 0.001,
            "" | "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => f64::NAN,
        };
        let span = number.parse().ok().map(|number: f64| Duration::try_from_secs_f64(number * seconds));
        match span {
            Some(Ok(span)) if !span.is_zero() => Ok(Self(span)),
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
