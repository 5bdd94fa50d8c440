//! Numbers and times as people read them.

/// `1234567` as `1,234,567`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with its noun: `1 line`, `2 lines`.
pub fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number as u64))
}

/// A price in US dollars, with as many digits as say something.
pub fn cost(dollars: f64) -> String {
    if dollars == 0.0 {
        "$0".to_owned()
    } else if dollars.abs() < 1.0 {
        format!("${dollars:.4}")
    } else {
        format!("${dollars:.2}")
    }
}

/// Milliseconds as `85 ms`, `1.2 s`, `3 min 5 s`.
pub fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
        _ => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

/// A size in bytes.
pub fn size(bytes: usize) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{}.{} KB", bytes / 1_024, bytes % 1_024 * 10 / 1_024),
        _ => format!("{}.{} MB", bytes / 1_048_576, bytes % 1_048_576 * 10 / 1_048_576),
    }
}

/// An ISO-8601 time as `2026-01-02 03:04`, in UTC; other text as it is.
pub fn time(iso: &str) -> String {
    match (iso.get(..10), iso.get(10..11), iso.get(11..16)) {
        (Some(day), Some("T"), Some(minute)) => format!("{day} {minute}"),
        _ => iso.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 2].map(|n| counted(n, "line")), ["0 lines", "1 line", "2 lines"]);
        assert_eq!([0.0, 0.01234, 1.5].map(cost), ["$0", "$0.0123", "$1.50"]);
        assert_eq!([85, 1_250, 185_000, 7_260_000].map(duration), ["85 ms", "1.2 s", "3 min 5 s", "2 h 1 min"]);
        assert_eq!([5, 1_536, 3 << 20].map(size), ["5 B", "1.5 KB", "3.0 MB"]);
        assert_eq!(["2026-01-02T03:04:05.678Z", "then"].map(time), ["2026-01-02 03:04", "then"]);
    }
}
