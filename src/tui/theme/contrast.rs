//! How well a colour is read on another one (WCAG 2.2, <https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio>).

/// Red, green and blue.
pub(super) type Rgb = [u8; 3];

/// Linear red, green and blue, each 0 to 1.
fn decoded(rgb: Rgb) -> [f64; 3] {
    rgb.map(|channel| {
        let value = f64::from(channel) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
}

/// What screens call linear red, green and blue.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
pub(super) fn encoded(linear: [f64; 3]) -> Rgb {
    linear.map(|value| {
        let value = value.clamp(0.0, 1.0);
        let value = if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
        (value * 255.0).round() as u8
    })
}

/// How bright a colour is, 0 to 1.
pub(super) fn luminance(rgb: Rgb) -> f64 {
    let [r, g, b] = decoded(rgb);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// The contrast of two colours, 1 to 21.
pub(super) fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// A colour between two: `part` (0 to 1) of the second.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
pub(super) fn mixed(a: Rgb, b: Rgb, part: f64) -> Rgb {
    let channel = |at: usize| (f64::from(a[at]) * (1.0 - part) + f64::from(b[at]) * part).round() as u8;
    [channel(0), channel(1), channel(2)]
}

/// The colour, or as little lighter or darker as it takes to have this contrast on every one of the grounds; black or
/// white where nothing nearer has it.
pub(super) fn readable(color: Rgb, grounds: &[Rgb], least: f64) -> Rgb {
    const STEPS: u8 = 20;
    let worst = |color: Rgb| grounds.iter().map(|ground| contrast(color, *ground)).fold(f64::MAX, f64::min);
    let end = if worst([255; 3]) >= worst([0; 3]) { [255; 3] } else { [0; 3] };
    let steps = (0..=STEPS).map(|step| mixed(color, end, f64::from(step) / f64::from(STEPS)));
    steps.into_iter().find(|color| worst(*color) >= least).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrasts_are_those_of_the_standard() {
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
        assert!((contrast([119; 3], [255; 3]) - 4.48).abs() < 0.01);
        assert!((contrast([7, 8, 9], [7, 8, 9]) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn colours_are_changed_until_they_can_be_read_and_no_more() {
        for (color, ground) in [([0, 0, 238], [0, 0, 0]), ([205, 205, 0], [255; 3]), ([128; 3], [128; 3])] {
            assert!(contrast(readable(color, &[ground], 4.5), ground) >= 4.5, "{color:?} on {ground:?}");
        }
        assert_eq!(readable([255, 200, 0], &[[0; 3]], 4.5), [255, 200, 0]);
    }
}
