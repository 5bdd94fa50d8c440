use image::{Rgba, RgbaImage};
use serde_json::json;

use super::*;
use crate::protocol::Model;

fn policy(side: u32, max_base64: usize) -> PicturePolicy {
    PicturePolicy { max_width: side, max_height: side, max_base64, ..PicturePolicy::default() }
}

/// Noise, which no form compresses well, with a red left half.
fn noise(width: u32, height: u32) -> DynamicImage {
    let mut state = 1u32;
    DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, |x, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [.., a, b] = state.to_be_bytes().map(|byte| byte / 4);
        if x < width / 2 { Rgb([255, a / 4, b / 4]) } else { Rgb([a, b, 255]) }
    }))
}

fn flat(width: u32, height: u32) -> DynamicImage {
    DynamicImage::ImageRgb8(RgbImage::from_pixel(width, height, Rgb([200, 10, 10])))
}

fn file(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A JPEG with an EXIF segment that says how it lies.
fn jpeg_lying(orientation: u8, width: u32, height: u32) -> Vec<u8> {
    let bytes = file(&noise(width, height), ImageFormat::Jpeg);
    let exif =
        [b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".as_slice(), &[orientation, 0, 0, 0, 0, 0, 0, 0]];
    let exif = exif.concat();
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    [&bytes[..2], b"\xff\xe1", &length, &exif, &bytes[2..]].concat()
}

fn fitted(bytes: &[u8], policy: &PicturePolicy) -> Picture {
    let picture = fit(bytes.to_vec(), ImageKind::sniff(bytes).unwrap(), policy).unwrap();
    assert_eq!(ImageKind::sniff(&picture.bytes), Some(picture.kind));
    assert!(policy.holds(&picture.bytes));
    picture
}

fn refused(bytes: &[u8], policy: &PicturePolicy) -> String {
    fit(bytes.to_vec(), ImageKind::sniff(bytes).unwrap(), policy).unwrap_err().to_string()
}

fn size(picture: &Picture) -> (u32, u32) {
    picture.kind.size(&picture.bytes).unwrap()
}

#[test]
fn pictures_are_scaled_into_the_limits_and_keep_their_shape_and_their_kind_where_they_can() {
    use ImageFormat::{Bmp, Gif, Jpeg, Png, WebP};
    use ImageKind as Kind;
    let table = [
        (Png, (40, 20), Kind::Png, (20, 10)),
        (Png, (20, 40), Kind::Png, (10, 20)),
        (Png, (300, 1), Kind::Png, (20, 1)),
        (Png, (20, 20), Kind::Png, (20, 20)),
        (Jpeg, (400, 200), Kind::Png, (20, 10)),
        (Jpeg, (20, 10), Kind::Jpeg, (20, 10)),
        (Gif, (40, 20), Kind::Png, (20, 10)),
        (Gif, (4, 2), Kind::Gif, (4, 2)),
        (WebP, (40, 20), Kind::Png, (20, 10)),
        (Bmp, (4, 2), Kind::Png, (4, 2)),
        (Bmp, (40, 20), Kind::Png, (20, 10)),
    ];
    for (format, from, kind, to) in table {
        let bytes = file(&flat(from.0, from.1), format);
        let picture = fitted(&bytes, &policy(20, 1 << 20));
        assert_eq!((picture.kind, size(&picture)), (kind, to), "{format:?} {from:?}");
        let converted = picture.notes.iter().any(|note| note.contains("converted"));
        let scaled = picture.notes.iter().any(|note| note.contains("multiply coordinates"));
        assert_eq!((converted, scaled), (ImageKind::sniff(&bytes) != Some(kind), from != to), "{format:?} {from:?}");
        assert_eq!(picture.bytes == bytes, picture.notes.is_empty(), "what fits stays as it is: {format:?} {from:?}");
    }
}

#[test]
fn notes_say_how_to_find_a_place_in_the_original() {
    let bytes = file(&flat(40, 20), ImageFormat::Bmp);
    assert_eq!(
        fitted(&bytes, &policy(20, 1 << 20)).notes,
        [
            "[Picture converted from image/bmp to image/png.]",
            "[Picture scaled from 40x20 to 20x10 pixels: multiply coordinates by 2.00 to find them in the original.]"
        ]
    );
    let very_flat = fitted(&file(&flat(300, 1), ImageFormat::Png), &policy(20, 1 << 20));
    assert!(very_flat.notes[0].contains("by 15.00 (x) and 1.00 (y)"), "{:?}", very_flat.notes);
}

#[test]
fn fc_038_the_limit_holds_for_base64_whatever_quality_and_size_it_takes() {
    let bytes = file(&noise(64, 64), ImageFormat::Png);
    let base64 = |bytes: &[u8]| bytes.len().div_ceil(3) * 4;
    let at = |quality| base64(&jpeg(&noise(64, 64).to_rgb8(), quality).unwrap());
    // Fewer than the limit: a limit of just its length is too low for a file.
    let fit_below = |max_base64| fitted(&bytes, &PicturePolicy { jpeg_quality: 60, ..policy(2000, max_base64) });
    assert_eq!(fit_below(base64(&bytes) + 1).bytes, bytes);
    for (limit, quality) in [(at(60) + 1, 60), (at(60), 55), (at(55), 40)] {
        let picture = fit_below(limit);
        assert_eq!((picture.kind, size(&picture)), (ImageKind::Jpeg, (64, 64)));
        assert_eq!(base64(&picture.bytes), at(quality));
    }
    let smaller = fit_below(at(40) / 2);
    assert!(size(&smaller).0 < 64, "{:?}", size(&smaller));
    assert!(smaller.notes.iter().any(|note| note.contains("scaled from 64x64")), "{:?}", smaller.notes);
    assert_eq!(
        refused(&bytes, &policy(2000, 8)),
        "it could not be made small enough for the limit of 8 bytes of base64"
    );
}

#[test]
fn pictures_are_turned_as_their_exif_data_say() {
    // Red is at the left before: where is it afterwards?
    let is_red = |image: &RgbImage, x: u32, y: u32| image.get_pixel(x, y).0[0] > 160;
    for (orientation, to, red) in
        [(1, (32, 16), (2, 8)), (3, (32, 16), (29, 8)), (6, (16, 32), (8, 2)), (8, (16, 32), (8, 29))]
    {
        for (width, height) in [(32, 16), (64, 32)] {
            let picture = fitted(&jpeg_lying(orientation, width, height), &policy(32, 1 << 20));
            assert_eq!((picture.kind, size(&picture)), (ImageKind::Jpeg, to), "{orientation} {width}");
            let shown = decode(&picture.bytes, picture.kind).unwrap().0.to_rgb8();
            assert!(is_red(&shown, red.0, red.1), "{orientation} {width}");
            assert!(!is_red(&shown, to.0 - 1 - red.0, to.1 - 1 - red.1), "{orientation} {width}");
        }
    }
}

#[test]
fn transparency_stays_or_becomes_white() {
    let clear = DynamicImage::ImageRgba8(RgbaImage::from_pixel(40, 40, Rgba([0, 0, 0, 0])));
    let picture = fitted(&file(&clear, ImageFormat::WebP), &policy(20, 1 << 20));
    assert_eq!(picture.kind, ImageKind::Png);
    assert_eq!(decode(&picture.bytes, picture.kind).unwrap().0.to_rgba8().get_pixel(3, 3).0[3], 0);
    assert_eq!(opaque(&clear).get_pixel(3, 3).0, [255; 3]);
}

#[test]
fn of_an_animation_the_first_picture_is_shown() {
    let mut bytes = Vec::new();
    let mut encoder = image::codecs::gif::GifEncoder::new(&mut bytes);
    for colour in [[255, 0, 0, 255], [0, 0, 255, 255]] {
        encoder.encode_frame(image::Frame::new(RgbaImage::from_pixel(40, 40, Rgba(colour)))).unwrap();
    }
    drop(encoder);
    let picture = fitted(&bytes, &policy(20, 1 << 20));
    assert_eq!(decode(&picture.bytes, picture.kind).unwrap().0.to_rgb8().get_pixel(10, 10).0, [255, 0, 0]);
}

#[test]
fn the_smaller_of_png_and_jpeg_is_taken() {
    for (image, kind) in [(flat(400, 200), ImageKind::Png), (noise(400, 200), ImageKind::Jpeg)] {
        for format in [ImageFormat::Png, ImageFormat::WebP, ImageFormat::Bmp] {
            let picture = fitted(&file(&image, format), &policy(200, 1 << 20));
            assert_eq!((picture.kind, size(&picture)), (kind, (200, 100)), "{format:?}");
        }
    }
}

#[test]
fn damaged_bodies_below_good_headers_are_never_passed_on() {
    let whole = policy(200, 1 << 20);
    let off = PicturePolicy { auto_resize: false, ..whole };
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP] {
        let bytes = file(&noise(40, 20), format);
        assert_eq!(fitted(&bytes, &whole).bytes, bytes, "{format:?}");
        let half = &bytes[..bytes.len() * 2 / 3];
        match fit(half.to_vec(), ImageKind::sniff(half).unwrap(), &whole) {
            Ok(picture) => assert_ne!(picture.bytes, half, "{format:?}"),
            Err(error) => assert!(error.to_string().starts_with("it cannot be decoded ("), "{format:?}: {error}"),
        }
        assert!(refused(half, &off).starts_with("it cannot be decoded ("), "{format:?}");
    }
    let mut bytes = file(&noise(40, 20), ImageFormat::Png);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    assert!(refused(&bytes, &whole).starts_with("it cannot be decoded ("));
}

#[test]
fn bombs_and_damaged_files_are_refused_with_a_reason() {
    let small = policy(20, 1 << 20);
    let png = file(&noise(40, 20), ImageFormat::Png);
    // A header that promises more pixels than there are.
    let promising =
        |width: u32, height: u32| [&png[..16], &width.to_be_bytes(), &height.to_be_bytes(), &png[24..]].concat();
    let gif = b"GIF89a\xff\xff\xff\xff\0\0\0,\0\0\0\0\xff\xff\xff\xff\0\x02\0;".to_vec();
    let table = [
        (promising(u32::MAX, u32::MAX), "it is too large (4294967295x4294967295 pixels)"),
        (promising(40_000, 1), "it is too large (40000x1 pixels)"),
        (promising(12_000, 12_000), "it is too large (12000x12000 pixels)"),
        (promising(41, 20), "it cannot be decoded ("),
        (gif, "it is too large (65535x65535 pixels)"),
        (png[..png.len() / 2].to_vec(), "it cannot be decoded ("),
        (b"\xff\xd8\xff\xe0\0\x04xx".to_vec(), "the file does not say how large the picture is"),
    ];
    for (bytes, wanted) in table {
        let reason = refused(&bytes, &small);
        assert!(reason.starts_with(wanted), "{reason}");
    }
}

#[test]
fn no_cut_makes_trouble() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP, ImageFormat::Bmp] {
        let bytes = file(&noise(24, 24), format);
        for end in (12..bytes.len()).step_by(7) {
            if let Some(kind) = ImageKind::sniff(&bytes[..end]) {
                // Some decoders show what is there; the others say why not.
                let _ = fit(bytes[..end].to_vec(), kind, &policy(20, 1 << 20));
            }
        }
    }
}

#[test]
fn without_resizing_what_is_too_large_is_refused_and_only_bitmaps_are_converted() {
    let off = PicturePolicy { auto_resize: false, ..policy(20, 1 << 20) };
    assert_eq!(
        refused(&file(&noise(40, 20), ImageFormat::Png), &off),
        "it is too large (40x20 pixels); scale it down to at most 20x20 pixels and less than 768.0KB, and read that"
    );
    assert!(refused(&file(&noise(40, 20), ImageFormat::Bmp), &off).starts_with("it is too large (40x20 pixels)"));
    assert_eq!(fitted(&file(&noise(4, 2), ImageFormat::Bmp), &off).kind, ImageKind::Png);
    let lying = jpeg_lying(6, 16, 8);
    assert_eq!(fitted(&lying, &off).bytes, lying);
}

#[test]
fn a_model_may_state_its_own_limits() {
    let table = [
        (json!(null), PicturePolicy::default()),
        (
            json!({"images": {"resize": {"maxWidth": 0, "maxHeight": "x", "jpegQuality": 900}}}),
            PicturePolicy::default(),
        ),
        (
            json!({"images": {"resize": {"maxWidth": 10, "maxHeight": 11, "maxBytes": 12, "jpegQuality": 13}}}),
            PicturePolicy { max_width: 10, max_height: 11, max_base64: 12, jpeg_quality: 13, auto_resize: true },
        ),
    ];
    for (limits, wanted) in table {
        let model = json!({
            "id": "m", "name": "M", "api": "a", "provider": "p", "baseUrl": "", "reasoning": false, "input": ["image"],
            "inputLimits": limits, "contextWindow": 1, "maxTokens": 1,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        });
        let model: Model = serde_json::from_value(model).unwrap();
        assert_eq!(PicturePolicy::default().for_model(&model), wanted, "{}", model.input_limits.unwrap_or_default());
    }
}
