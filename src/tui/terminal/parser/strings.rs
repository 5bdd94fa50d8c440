//! What strings (OSC, DCS) from a terminal say: colours, and its name.

use crate::tui::terminal::Report;

/// The reports in a string that began with `ESC` and `introducer`; none for others.
pub(super) fn reports(introducer: u8, body: &[u8]) -> Vec<Report> {
    let Ok(body) = std::str::from_utf8(body) else { return Vec::new() };
    match introducer {
        b']' => colors(body),
        b'P' => body.strip_prefix(">|").map(|name| Report::Version(name.to_owned())).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn colors(body: &str) -> Vec<Report> {
    let mut parts = body.split(';');
    match parts.next() {
        Some("10") => parts.next().and_then(color).map(Report::Foreground).into_iter().collect(),
        Some("11") => parts.next().and_then(color).map(Report::Background).into_iter().collect(),
        Some("4") => {
            let mut found = Vec::new();
            while let (Some(number), Some(said)) = (parts.next(), parts.next()) {
                let number = number.parse().ok().filter(|number| *number < 16);
                found.extend(number.zip(color(said)).map(|(number, color)| Report::Palette(number, color)));
            }
            found
        }
        _ => Vec::new(),
    }
}

/// `rgb:R/G/B` or `rgba:R/G/B/A`, with one to four digits each, or `#RRGGBB` and such.
fn color(text: &str) -> Option<[u8; 3]> {
    if let Some(digits) = text.strip_prefix('#') {
        let each = digits.len() / 3;
        let is_whole = digits.is_ascii() && digits.len() % 3 == 0 && each > 0;
        let channel = |at: usize| channel(&digits[at * each..(at + 1) * each]);
        return if is_whole { Some([channel(0)?, channel(1)?, channel(2)?]) } else { None };
    }
    let mut channels = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?.split('/').map(channel);
    Some([channels.next()??, channels.next()??, channels.next()??])
}

/// One to four hexadecimal digits, scaled to a byte.
fn channel(digits: &str) -> Option<u8> {
    let length = u32::try_from(digits.len()).ok().filter(|length| (1..=4).contains(length))?;
    let value = u32::from_str_radix(digits, 16).ok()?;
    u8::try_from(value * 255 / (16_u32.pow(length) - 1)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_that_are_reports_are_understood_and_others_are_not() {
        for (introducer, body, said) in [
            (b']', "11;rgb:ffff/0000/8080", vec![Report::Background([255, 0, 128])]),
            (b']', "10;rgb:f/0/8", vec![Report::Foreground([255, 0, 136])]),
            (b']', "11;rgba:11/22/33/ff", vec![Report::Background([0x11, 0x22, 0x33])]),
            (b']', "11;#102030", vec![Report::Background([0x10, 0x20, 0x30])]),
            (b']', "4;1;rgb:cd/00/00", vec![Report::Palette(1, [0xcd, 0, 0])]),
            (
                b']',
                "4;0;rgb:0/0/0;15;rgb:ffff/ffff/ffff",
                vec![Report::Palette(0, [0; 3]), Report::Palette(15, [255; 3])],
            ),
            (b']', "4;200;rgb:0/0/0", vec![]),
            (b']', "11;?", vec![]),
            (b']', "11;rgb:é/0/0", vec![]),
            (b']', "11;#é1", vec![]),
            (b']', "52;c;aGk=", vec![]),
            (b'P', ">|kitty(0.40)", vec![Report::Version("kitty(0.40)".into())]),
            (b'P', "1$r0m", vec![]),
            (b'_', "Gi=1;OK", vec![]),
        ] {
            assert_eq!(reports(introducer, body.as_bytes()), said, "{body}");
        }
    }
}
