//! Decoding, scaling and encoding.

use std::io::Cursor;

use image::{
    DynamicImage, ImageDecoder, ImageFormat, ImageReader, ImageResult, Limits, Rgb, RgbImage,
    codecs::{
        jpeg::JpegEncoder,
        png::{CompressionType, FilterType as RowFilter, PngEncoder},
    },
    imageops::FilterType,
    metadata::Orientation,
};

use super::{ImageKind, Picture, PicturePolicy, Unfit};
use crate::tools::truncate;

/// Pixels of a picture that is decoded at all: more than the largest cameras make.
const MOST_PIXELS: u64 = 120_000_000;
/// Pixels of a side at most; panoramas are long.
const LONGEST_SIDE: u32 = 32_768;
/// Bytes that decoding may take: the pixels above, with an alpha channel.
const MOST_MEMORY: u64 = 512 << 20;
/// Qualities of JPEG that are tried after the wanted one.
const FURTHER_QUALITIES: [u8; 4] = [85, 70, 55, 40];

/// Makes a picture fit. What fits already stays as it is, byte by byte; it is decoded all the same, since a provider that
/// cannot decode it refuses the whole conversation.
pub(super) fn fit(bytes: Vec<u8>, kind: ImageKind, policy: &PicturePolicy) -> Result<Picture, Unfit> {
    let (width, height) = kind.size(&bytes).ok_or(Unfit::NoSize)?;
    let small = policy.fits(width, height) && policy.holds(&bytes);
    if kind.is_inline() && !small && !policy.auto_resize {
        return Err(too_large(&bytes, width, height, policy));
    }
    if u64::from(width) * u64::from(height) > MOST_PIXELS || width.max(height) > LONGEST_SIDE {
        return Err(Unfit::too_large(format_args!("{width}x{height} pixels"), policy));
    }
    let (decoded, orientation) = decode(&bytes, kind).map_err(|error| Unfit::Undecodable(error.to_string()))?;
    if kind.is_inline() && small && (!policy.auto_resize || orientation == Orientation::NoTransforms) {
        if kind.is_whole(&bytes) {
            return Ok(Picture { bytes, kind, notes: Vec::new() });
        }
        if !policy.auto_resize {
            return Err(Unfit::Undecodable("it ends too early".to_owned()));
        }
    }
    if !policy.auto_resize {
        // Only its form is changed.
        let (width, height) = (decoded.width(), decoded.height());
        let png = png(&decoded)?;
        return if policy.fits(width, height) && policy.holds(&png) {
            Ok(Picture { bytes: png, kind: ImageKind::Png, notes: vec![converted(kind, ImageKind::Png)] })
        } else {
            Err(too_large(&png, width, height, policy))
        };
    }
    let Shown { image, original } = upright(decoded, orientation, policy);
    let Encoded { bytes, kind: to, size } = encode(image, policy)?;
    let mut notes = Vec::new();
    if to != kind {
        notes.push(converted(kind, to));
    }
    if size != original {
        notes.push(scaled(original, size));
    }
    Ok(Picture { bytes, kind: to, notes })
}

fn too_large(bytes: &[u8], width: u32, height: u32, policy: &PicturePolicy) -> Unfit {
    if policy.fits(width, height) {
        Unfit::too_large(truncate::size(bytes.len()), policy)
    } else {
        Unfit::too_large(format_args!("{width}x{height} pixels"), policy)
    }
}

fn converted(from: ImageKind, to: ImageKind) -> String {
    format!("[Picture converted from {} to {}.]", from.mime_type(), to.mime_type())
}

fn scaled((width, height): (u32, u32), (to_width, to_height): (u32, u32)) -> String {
    let (x, y) = (f64::from(width) / f64::from(to_width), f64::from(height) / f64::from(to_height));
    // Rounding makes the factors of very flat pictures differ.
    let by = if (x - y).abs() < 0.01 * x { format!("{x:.2}") } else { format!("{x:.2} (x) and {y:.2} (y)") };
    format!(
        "[Picture scaled from {width}x{height} to {to_width}x{to_height} pixels: multiply coordinates by {by} to find \
         them in the original.]"
    )
}

fn decoder(bytes: &[u8], kind: ImageKind) -> ImageResult<impl ImageDecoder + '_> {
    let format = match kind {
        ImageKind::Png => ImageFormat::Png,
        ImageKind::Jpeg => ImageFormat::Jpeg,
        ImageKind::Gif => ImageFormat::Gif,
        ImageKind::Webp => ImageFormat::WebP,
        ImageKind::Bmp => ImageFormat::Bmp,
    };
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(MOST_MEMORY);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    reader.into_decoder()
}

/// The pixels (of an animation: the first picture), and how they lie.
pub(super) fn decode(bytes: &[u8], kind: ImageKind) -> ImageResult<(DynamicImage, Orientation)> {
    let mut decoder = decoder(bytes, kind)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    // Not every decoder counts the pixels themselves.
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST_MEMORY);
    limits.reserve(decoder.total_bytes())?;
    Ok((eight_bits(DynamicImage::from_decoder(decoder)?), orientation))
}

fn eight_bits(image: DynamicImage) -> DynamicImage {
    match image {
        DynamicImage::ImageLuma8(_) | DynamicImage::ImageRgb8(_) | DynamicImage::ImageRgba8(_) => image,
        deep if deep.has_alpha() => DynamicImage::ImageRgba8(deep.into_rgba8()),
        deep => DynamicImage::ImageRgb8(deep.into_rgb8()),
    }
}

pub(super) struct Shown {
    pub image: DynamicImage,
    /// Pixels before it was scaled, upright.
    pub original: (u32, u32),
}

/// Scales into the limits and turns what was left, which is less work than turning first.
pub(super) fn upright(image: DynamicImage, orientation: Orientation, policy: &PicturePolicy) -> Shown {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    let turned = matches!(orientation, Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH);
    let swap = |(a, b)| if turned { (b, a) } else { (a, b) };
    let size = (image.width(), image.height());
    let most = swap((policy.max_width, policy.max_height));
    let mut image = scale(image, within(size, most));
    image.apply_orientation(orientation);
    Shown { image, original: swap(size) }
}

/// The largest size of the same shape within limits; never larger than it is.
fn within((width, height): (u32, u32), (most_width, most_height): (u32, u32)) -> (u32, u32) {
    let by = (f64::from(most_width) / f64::from(width)).min(f64::from(most_height) / f64::from(height)).min(1.0);
    (times(width, by).min(most_width), times(height, by).min(most_height))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a number of pixels")]
fn times(pixels: u32, by: f64) -> u32 {
    ((f64::from(pixels) * by).round() as u32).max(1)
}

fn scale(image: DynamicImage, (width, height): (u32, u32)) -> DynamicImage {
    if (image.width(), image.height()) == (width, height) {
        return image;
    }
    // The fine filter works on floating-point copies: a coarse one takes away most of a huge picture first.
    let coarse = |from: u32, to: u32| from.min(to.saturating_mul(3));
    let first = (coarse(image.width(), width), coarse(image.height(), height));
    let image = if first == (image.width(), image.height()) { image } else { image.thumbnail_exact(first.0, first.1) };
    image.resize_exact(width, height, FilterType::Lanczos3)
}

struct Encoded {
    bytes: Vec<u8>,
    kind: ImageKind,
    /// Pixels.
    size: (u32, u32),
}

/// Encodes so that the limit on bytes holds: as PNG or JPEG, whichever is smaller, then as a JPEG of another quality, then
/// with fewer pixels. JPEG knows no transparency.
fn encode(mut image: DynamicImage, policy: &PicturePolicy) -> Result<Encoded, Unfit> {
    loop {
        let size = (image.width(), image.height());
        let opaque = opaque(&image);
        let mut first = [(png(&image)?, ImageKind::Png), (jpeg(&opaque, policy.jpeg_quality)?, ImageKind::Jpeg)];
        first.sort_by_key(|(bytes, _)| bytes.len());
        for (bytes, kind) in first {
            if policy.holds(&bytes) {
                return Ok(Encoded { bytes, kind, size });
            }
        }
        for quality in FURTHER_QUALITIES {
            let bytes = jpeg(&opaque, quality)?;
            if policy.holds(&bytes) {
                return Ok(Encoded { bytes, kind: ImageKind::Jpeg, size });
            }
        }
        if size == (1, 1) {
            return Err(Unfit::Incompressible(policy.max_base64));
        }
        image = image.resize_exact(smaller(size.0), smaller(size.1), FilterType::Lanczos3);
    }
}

fn smaller(pixels: u32) -> u32 {
    (pixels / 4 * 3 + pixels % 4 * 3 / 4).max(1)
}

fn png(image: &DynamicImage) -> Result<Vec<u8>, Unfit> {
    written(|bytes| {
        image.write_with_encoder(PngEncoder::new_with_quality(bytes, CompressionType::Default, RowFilter::Adaptive))
    })
}

fn jpeg(image: &RgbImage, quality: u8) -> Result<Vec<u8>, Unfit> {
    written(|bytes| image.write_with_encoder(JpegEncoder::new_with_quality(bytes, quality)))
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> ImageResult<()>) -> Result<Vec<u8>, Unfit> {
    let mut bytes = Vec::new();
    write(&mut bytes).map_err(|error| Unfit::Undecodable(error.to_string()))?;
    Ok(bytes)
}

/// The picture on white paper: what is transparent is often black beneath.
fn opaque(image: &DynamicImage) -> RgbImage {
    let DynamicImage::ImageRgba8(image) = image else { return image.to_rgb8() };
    let mut opaque = RgbImage::new(image.width(), image.height());
    for (to, from) in opaque.pixels_mut().zip(image.pixels()) {
        let [red, green, blue, alpha] = from.0.map(u16::from);
        let over_white = |colour: u16| u8::try_from((colour * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX);
        *to = Rgb([over_white(red), over_white(green), over_white(blue)]);
    }
    opaque
}

#[cfg(test)]
mod tests;
