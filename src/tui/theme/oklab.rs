//! Colours by how they look: lightness, chroma and hue in Björn Ottosson's Oklab, and hue, saturation and lightness in
//! his Okhsl (<https://bottosson.github.io/posts/colorpicker/>), to red, green and blue.

use super::contrast::encoded;

/// Bisections: enough for more digits than a colour has.
const STEPS: usize = 32;
/// More chroma than any colour of a screen has.
const MOST_CHROMA: f64 = 0.5;

/// Linear red, green and blue of a colour in Oklab.
fn linear([l, a, b]: [f64; 3]) -> [f64; 3] {
    let long = (l + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let middle = (l - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let short = (l - 0.089_484_177_5 * a - 1.291_485_548 * b).powi(3);
    [
        4.076_741_662_1 * long - 3.307_711_591_3 * middle + 0.230_969_929_2 * short,
        -1.268_438_004_6 * long + 2.609_757_401_1 * middle - 0.341_319_396_5 * short,
        -0.004_196_086_3 * long - 0.703_418_614_7 * middle + 1.707_614_701 * short,
    ]
}

/// A hue as a direction in Oklab.
#[derive(Clone, Copy)]
struct Hue {
    a: f64,
    b: f64,
}

impl Hue {
    fn of_degrees(degrees: f64) -> Self {
        let (b, a) = degrees.to_radians().sin_cos();
        Self { a, b }
    }

    fn linear(self, lightness: f64, chroma: f64) -> [f64; 3] {
        linear([lightness, chroma * self.a, chroma * self.b])
    }

    /// The most chroma that a screen shows at this lightness.
    fn most_chroma(self, lightness: f64) -> f64 {
        // A little outside is inside: the border curves, and a pure blue has greens below zero on its way.
        const BORDER: f64 = 1e-4;
        let is_inside = |channel: &f64| (-BORDER..=1.0 + BORDER).contains(channel);
        largest(MOST_CHROMA, |chroma| self.linear(lightness, chroma).iter().all(is_inside))
    }

    /// Lightness and chroma of the most colourful colour of this hue.
    fn cusp(self) -> (f64, f64) {
        // Whether a channel is negative depends on chroma by lightness alone.
        let ratio = largest(2.0, |ratio| self.linear(1.0, ratio).iter().all(|v| *v >= -1e-9));
        let brightest = self.linear(1.0, ratio).into_iter().fold(f64::MIN, f64::max);
        let lightness = (1.0 / brightest).cbrt();
        (lightness, lightness * ratio)
    }
}

/// The largest value up to `most` that holds, where every smaller one does.
fn largest(most: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// A colour of lightness (0 to 1), chroma (0 to about 0.4) and hue (degrees); with the most chroma that a screen shows
/// where that is less.
pub(super) fn oklch(lightness: f64, chroma: f64, hue: f64) -> [u8; 3] {
    let lightness = lightness.clamp(0.0, 1.0);
    let hue = Hue::of_degrees(hue);
    encoded(hue.linear(lightness, chroma.clamp(0.0, hue.most_chroma(lightness))))
}

/// A colour of hue (degrees), saturation (0 to 1) and lightness (0 to 1).
pub(super) fn okhsl(hue: f64, saturation: f64, lightness: f64) -> [u8; 3] {
    let (saturation, lightness) = (saturation.clamp(0.0, 1.0), lightness.clamp(0.0, 1.0));
    if lightness <= 0.0 || lightness >= 1.0 {
        return encoded([lightness; 3]);
    }
    let hue = Hue::of_degrees(hue);
    let lightness = without_toe(lightness);
    encoded(hue.linear(lightness, chroma_of_saturation(hue, saturation, lightness)))
}

/// Oklab's lightness of Okhsl's, which is nearer to what eyes see in dark colours.
fn without_toe(lightness: f64) -> f64 {
    const K1: f64 = 0.206;
    const K2: f64 = 0.03;
    const K3: f64 = (1.0 + K1) / (1.0 + K2);
    (lightness * lightness + K1 * lightness) / (K3 * (lightness + K2))
}

/// Chroma by saturation: a curve from 0 over a middle value, which is smooth over hues, to the most that there is.
fn chroma_of_saturation(hue: Hue, saturation: f64, lightness: f64) -> f64 {
    const MIDDLE: f64 = 0.8;
    let dark = 1.0 - lightness;
    let most = hue.most_chroma(lightness);
    let (cusp_lightness, cusp_chroma) = hue.cusp();
    let triangle = (lightness * cusp_chroma / cusp_lightness).min(dark * cusp_chroma / (1.0 - cusp_lightness));
    let (s, t) = smooth_cusp(hue);
    let soft = |a: f64, b: f64, power: i32| (1.0 / (a.powi(-power) + b.powi(-power))).powf(1.0 / f64::from(power));
    let middle = 0.9 * (most / triangle) * soft(lightness * s, dark * t, 4);
    let start = soft(lightness * 0.4, dark * 0.8, 2);
    if saturation < MIDDLE {
        let part = saturation / MIDDLE;
        let slope = MIDDLE * start;
        part * slope / (1.0 - (1.0 - slope / middle) * part)
    } else {
        let part = (saturation - MIDDLE) / (1.0 - MIDDLE);
        let slope = (1.0 - MIDDLE) * (middle / MIDDLE).powi(2) / start;
        middle + part * slope / (1.0 - (1.0 - slope / (most - middle)) * part)
    }
}

/// A smooth approximation of chroma by lightness and by darkness at the cusp, a little inside of it: polynomials of the
/// hue that Ottosson fitted.
fn smooth_cusp(Hue { a, b }: Hue) -> (f64, f64) {
    let s = 7.447_789_70
        + 4.159_012_40 * b
        + a * (-2.195_573_47
            + 1.751_984_01 * b
            + a * (-2.137_049_48 - 10.023_010_43 * b + a * (-4.248_945_61 + 5.387_708_19 * b + 4.698_910_13 * a)));
    let t = 1.613_203_20 - 0.681_243_79 * b
        + a * (0.403_706_12
            + 0.901_481_23 * b
            + a * (-0.270_879_43 + 0.612_239_90 * b + a * (0.002_992_15 - 0.453_995_68 * b - 0.146_618_72 * a)));
    (0.115_169_93 + 1.0 / s, 0.112_396_42 + 1.0 / t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_colours_are_met() {
        for (found, wanted) in [
            (oklch(1.0, 0.0, 0.0), [255, 255, 255]),
            (oklch(0.0, 0.0, 0.0), [0, 0, 0]),
            (oklch(0.627_955, 0.257_683, 29.233_9), [255, 0, 0]),
            (oklch(0.452_014, 0.313_214, 264.052), [0, 0, 255]),
            (oklch(0.866_44, 0.294_827, 142.495), [0, 255, 0]),
            // The most that there is.
            (oklch(0.627_955, 0.5, 29.233_9), [255, 0, 0]),
            (okhsl(29.233_9, 1.0, 0.568_085), [255, 0, 0]),
            (okhsl(0.0, 0.0, 0.5), [119, 119, 119]),
            (okhsl(120.0, 0.5, 1.0), [255, 255, 255]),
            (okhsl(120.0, 0.5, 0.0), [0, 0, 0]),
        ] {
            for (found, wanted) in found.into_iter().zip(wanted) {
                assert!(found.abs_diff(wanted) <= 1, "{found:?} for {wanted:?}");
            }
        }
    }

    #[test]
    fn more_saturation_is_more_colour() {
        let colourful = |saturation: f64| {
            let [r, g, b] = okhsl(250.0, saturation, 0.6);
            r.max(g).max(b) - r.min(g).min(b)
        };
        let values: Vec<u8> = [0.0, 0.2, 0.5, 0.79, 0.81, 1.0].map(colourful).into();
        assert!(values.is_sorted() && values[0] <= 1 && values[5] > 150, "{values:?}");
    }
}
