//! Times as they stand in files and records.

use std::time::Duration;

use jiff::Timestamp;

/// Milliseconds since the Unix epoch, as messages carry them.
pub type Millis = i64;

/// The current time in milliseconds since the Unix epoch.
#[must_use]
pub fn now_ms() -> Millis {
    Timestamp::now().as_millisecond()
}

/// A time as session entries write it: ISO-8601 in UTC with milliseconds, `2026-01-02T03:04:05.678Z`.
#[must_use]
pub fn iso(ms: Millis) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(time) => format!("{time:.3}"),
        Err(_) => "1970-01-01T00:00:00.000Z".to_owned(),
    }
}

/// Reads an ISO-8601 time; `None` when it is none.
#[must_use]
pub fn parse_iso(text: &str) -> Option<Millis> {
    text.parse::<Timestamp>().ok().map(|time| time.as_millisecond())
}

/// What is wrong with a length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurationFault {
    /// Its unit.
    Unit,
    /// The number in front of it.
    Number,
}

/// A length of time as files and flags have it: `500ms`, `90s`, `1.5h`, `2d`. More than fits is the most that fits.
///
/// # Errors
/// What is wrong with it.
pub fn parse_duration(text: &str) -> Result<Duration, DurationFault> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return Err(DurationFault::Unit),
    };
    let number: f64 = number.parse().map_err(|_| DurationFault::Number)?;
    Ok(Duration::try_from_secs_f64(number * seconds).unwrap_or(Duration::from_millis(u64::MAX)))
}

/// How long ago something was: `now`, `5m`, `3h`, `2d`, `6w`, `2y`.
#[must_use]
pub fn age(then: Millis, now: Millis) -> String {
    const MINUTE: Millis = 60_000;
    const HOUR: Millis = 60 * MINUTE;
    const DAY: Millis = 24 * HOUR;
    let passed = now.saturating_sub(then);
    let units = [(365 * DAY, 'y'), (14 * DAY, 'w'), (DAY, 'd'), (HOUR, 'h'), (MINUTE, 'm')];
    match units.into_iter().find(|(length, _)| passed >= *length) {
        None => "now".to_owned(),
        Some((_, 'w')) => format!("{}w", passed / (7 * DAY)),
        Some((length, unit)) => format!("{}{unit}", passed / length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_times_have_three_decimals_and_round_trip() {
        for (ms, text) in [(0, "1970-01-01T00:00:00.000Z"), (1_767_323_045_678, "2026-01-02T03:04:05.678Z")] {
            assert_eq!(iso(ms), text);
            assert_eq!(parse_iso(text), Some(ms));
        }
    }

    #[test]
    fn a_length_of_time_is_a_number_with_a_unit() {
        let table = [
            ("500ms", Ok(500)),
            ("90s", Ok(90_000)),
            ("1.5h", Ok(5_400_000)),
            ("0.1s", Ok(100)),
            ("10m", Ok(600_000)),
            ("2d", Ok(172_800_000)),
            ("99999999999999999999s", Ok(u64::MAX)),
            ("90", Err(DurationFault::Unit)),
            ("10 m", Err(DurationFault::Unit)),
            ("-1s", Err(DurationFault::Unit)),
            ("s", Err(DurationFault::Number)),
            ("1.2.3s", Err(DurationFault::Number)),
        ];
        for (text, wanted) in table {
            assert_eq!(parse_duration(text), wanted.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn ages_are_told_in_their_largest_unit() {
        let minute = 60_000;
        for (passed, text) in [
            (-5, "now"),
            (59_999, "now"),
            (minute, "1m"),
            (60 * minute, "1h"),
            (23 * 60 * minute, "23h"),
            (13 * 24 * 60 * minute, "13d"),
            (14 * 24 * 60 * minute, "2w"),
            (364 * 24 * 60 * minute, "52w"),
            (800 * 24 * 60 * minute, "2y"),
        ] {
            assert_eq!(age(1_000_000, 1_000_000 + passed), text, "{passed}");
        }
    }
}
