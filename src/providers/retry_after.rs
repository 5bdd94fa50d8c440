//! When a server says that it may be asked again (rule E3).

use jiff::{Timestamp, civil::DateTime, fmt::rfc2822::DateTimeParser, tz::TimeZone};
use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::protocol::time::Millis;

/// The wait that the headers ask for, in milliseconds and as given, zero included: `retry-after-ms`, then
/// `retry-after` in seconds (possibly fractional) or as an HTTP date, which counts from `now`.
#[must_use]
pub fn retry_after_ms(headers: &HeaderMap, now: Millis) -> Option<u64> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    text("retry-after-ms")
        .and_then(|text| millis(text, 1.0))
        .or_else(|| text(RETRY_AFTER.as_str()).and_then(|text| seconds_to_millis(text).or_else(|| until(text, now))))
}

/// Milliseconds of a number of seconds, which may be fractional.
pub(crate) fn seconds_to_millis(text: &str) -> Option<u64> {
    millis(text, 1000.0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be positive; saturates")]
fn millis(text: &str, factor: f64) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    (number.is_finite() && number >= 0.0).then(|| (number * factor).round() as u64)
}

/// Milliseconds until an HTTP date; a date that is past asks for no wait.
fn until(text: &str, now: Millis) -> Option<u64> {
    let time = DateTimeParser::new().parse_timestamp(text).ok().or_else(|| old_date(text))?;
    Some(u64::try_from(time.as_millisecond() - now).unwrap_or(0))
}

/// The two older forms of an HTTP date, which RFC 9110 (section 5.6.7) still wants to be understood.
fn old_date(text: &str) -> Option<Timestamp> {
    ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"]
        .iter()
        .find_map(|form| TimeZone::UTC.to_timestamp(DateTime::strptime(form, text).ok()?).ok())
}

/// The server's own word on whether to try again: `x-should-retry`.
#[must_use]
pub fn should_retry(headers: &HeaderMap) -> Option<bool> {
    match headers.get("x-should-retry")?.to_str().ok()?.trim() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
        list.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn fc_032_every_spelling_of_the_wait_is_understood() {
        // 1994-11-06T08:49:37Z
        let now = 784_111_777_000 - 2_000;
        let table: [(&[(&'static str, &'static str)], _); 12] = [
            (&[("retry-after", "3")], Some(3_000)),
            (&[("retry-after", "0")], Some(0)),
            (&[("retry-after", " 1.5 ")], Some(1_500)),
            (&[("retry-after-ms", "1500")], Some(1_500)),
            (&[("retry-after-ms", "820"), ("retry-after", "1")], Some(820)),
            (&[("retry-after-ms", "soon"), ("retry-after", "1")], Some(1_000)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], Some(2_000)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], Some(0)),
            (&[("retry-after", "Sunday, 06-Nov-94 08:49:37 GMT")], Some(2_000)),
            (&[("retry-after", "Sun Nov  6 08:49:37 1994")], Some(2_000)),
            (&[("retry-after", "tomorrow")], None),
            (&[("retry-after", "-4")], None),
        ];
        for (list, wait) in table {
            assert_eq!(retry_after_ms(&headers(list), now), wait, "{list:?}");
        }
    }

    #[test]
    fn only_true_and_false_say_whether_to_retry() {
        let table = [("true", Some(true)), ("false", Some(false)), ("maybe", None)];
        for (value, said) in table {
            assert_eq!(should_retry(&headers(&[("x-should-retry", value)])), said);
        }
        assert_eq!(should_retry(&HeaderMap::new()), None);
    }
}
