//! Pictures made small for a screen.

use image::{
    ImageResult,
    codecs::png::{CompressionType, FilterType as RowFilter, PngEncoder},
};

use super::{ImageKind, PicturePolicy, fit};

/// Pixels of a picture that is made smaller for a screen: it is done while somebody waits for the frame. Pictures of
/// conversations were scaled to fewer for the model.
const MOST_PIXELS: u64 = 16_000_000;
/// Bytes of a PNG that is taken as it is.
const SMALL: usize = 256 << 10;

/// A picture as a screen needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The file, a PNG.
    pub png: Vec<u8>,
    /// Its width and height in pixels.
    pub size: (u32, u32),
    /// Width and height of the picture that it was made of, upright.
    pub original: (u32, u32),
}

/// Makes a picture of any kind into a PNG whose sides have `side` pixels at most; of an animation the first picture. None
/// when it is no picture, is damaged, or has too many pixels for somebody to wait.
#[must_use]
pub fn preview(bytes: Vec<u8>, side: u32) -> Option<Preview> {
    let kind = ImageKind::sniff(&bytes)?;
    let (width, height) = kind.size(&bytes)?;
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return None;
    }
    let policy = PicturePolicy { max_width: side, max_height: side, ..PicturePolicy::default() };
    let (decoded, orientation) = fit::decode(&bytes, kind).ok()?;
    let fit::Shown { image, original } = fit::upright(decoded, orientation, &policy);
    let size = (image.width(), image.height());
    let is_ready = kind == ImageKind::Png && size == (width, height) && bytes.len() <= SMALL;
    let png = if is_ready { bytes } else { written(&image).ok()? };
    Some(Preview { png, size, original })
}

fn written(image: &image::DynamicImage) -> ImageResult<Vec<u8>> {
    let mut bytes = Vec::new();
    image.write_with_encoder(PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, RowFilter::Adaptive))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{DynamicImage, ImageFormat};

    use super::*;

    fn file(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        DynamicImage::new_rgb8(width, height).write_to(&mut file, format).unwrap();
        file.into_inner()
    }

    #[test]
    fn a_picture_becomes_a_png_that_is_no_larger_than_wanted() {
        for (width, height, format, size) in [
            (40, 20, ImageFormat::Png, (40, 20)),
            (200, 100, ImageFormat::Png, (50, 25)),
            (40, 20, ImageFormat::Jpeg, (40, 20)),
            (10, 100, ImageFormat::Gif, (5, 50)),
            (40, 20, ImageFormat::Bmp, (40, 20)),
        ] {
            let bytes = file(width, height, format);
            let made = preview(bytes.clone(), 50).unwrap();
            assert_eq!((made.size, made.original), (size, (width, height)), "{format:?}");
            assert_eq!(ImageKind::sniff(&made.png).and_then(|kind| kind.size(&made.png)), Some(size), "{format:?}");
            assert_eq!(made.png == bytes, format == ImageFormat::Png && width == 40, "{format:?}");
        }
    }

    #[test]
    fn what_is_damaged_or_no_picture_or_huge_has_none() {
        let png = file(40, 20, ImageFormat::Png);
        let mut huge = png.clone();
        huge[16..24].copy_from_slice(&[0, 0, 0x4e, 0x20, 0, 0, 0x4e, 0x20]);
        for bytes in [png[..40].to_vec(), b"hello".to_vec(), Vec::new(), huge] {
            assert_eq!(preview(bytes, 50), None);
        }
    }
}
