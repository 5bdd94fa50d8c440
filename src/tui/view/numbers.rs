//! Numbers as the screen writes them.

pub use crate::actors::front::page::numbers::grouped;

/// Tokens in few characters: `999`, `1.2k`, `200k`, `1.5M`, `12M`.
#[must_use]
pub fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..10_000 => tenths(count, 1_000, 'k'),
        10_000..1_000_000 => format!("{}k", rounded(count, 1_000)),
        1_000_000..10_000_000 => tenths(count, 1_000_000, 'M'),
        _ => format!("{}M", rounded(count, 1_000_000)),
    }
}

fn tenths(count: u64, unit: u64, sign: char) -> String {
    let tenths = rounded(count, unit / 10);
    format!("{}.{}{sign}", tenths / 10, tenths % 10)
}

fn rounded(count: u64, unit: u64) -> u64 {
    count.saturating_add(unit / 2) / unit
}

/// US dollars with three decimals.
#[must_use]
pub fn dollars(cost: f64) -> String {
    format!("${cost:.3}")
}

/// A part of a whole in per cent; none of nothing.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
pub fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64 * 100.0)
}

/// One or several of something: `1 message`, `2 messages`.
#[must_use]
pub fn counted(count: usize, one: &str, several: &str) -> String {
    let word = if count == 1 { one } else { several };
    format!("{} {word}", grouped(count as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_short() {
        for (count, expected) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1.0k"),
            (1_249, "1.2k"),
            (9_940, "9.9k"),
            (10_000, "10k"),
            (200_000, "200k"),
            (262_144, "262k"),
            (1_000_000, "1.0M"),
            (1_048_576, "1.0M"),
            (10_000_000, "10M"),
            (u64::MAX, "18446744073709M"),
        ] {
            assert_eq!(tokens(count), expected, "{count}");
        }
    }

    #[test]
    fn numbers_are_grouped_and_counted() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(12), "12");
        assert_eq!(counted(1, "call", "calls"), "1 call");
        assert_eq!(counted(1_000, "call", "calls"), "1,000 calls");
        assert_eq!(percent(1, 0), None);
        assert_eq!(percent(1, 4), Some(25.0));
    }
}
