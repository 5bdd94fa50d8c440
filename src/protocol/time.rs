//! Times as they stand in files and records.

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
}
