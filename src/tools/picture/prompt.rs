//! The pictures of a prompt.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{ImageKind, Picture, PicturePolicy, fit};
use crate::protocol::ImageBlock;

/// Makes the pictures of a prompt fit. The second list has notes for the model, also about pictures that had to be left
/// out. What is no base64 or no known picture stays as it is: the provider knows what it takes.
pub async fn fit_all(images: Vec<ImageBlock>, policy: PicturePolicy) -> (Vec<ImageBlock>, Vec<String>) {
    let (mut fitting, mut notes) = (Vec::with_capacity(images.len()), Vec::new());
    for image in images {
        let Ok(bytes) = STANDARD.decode(&image.data) else {
            fitting.push(image);
            continue;
        };
        match ImageKind::sniff(&bytes) {
            Some(kind) if policy.auto_resize || !kind.is_inline() => match fit(bytes, kind, policy).await {
                Ok(Picture { bytes, kind, notes: told }) => {
                    let data = STANDARD.encode(bytes);
                    fitting.push(ImageBlock { data, mime_type: kind.mime_type().to_owned() });
                    notes.extend(told);
                }
                Err(reason) => notes.push(format!("[Image omitted: {reason}]")),
            },
            _ => fitting.push(image),
        }
    }
    (fitting, notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(data: impl Into<String>) -> ImageBlock {
        ImageBlock { data: data.into(), mime_type: "image/png".into() }
    }

    #[tokio::test]
    async fn pictures_of_a_prompt_are_made_fit_one_by_one_and_what_is_unknown_stays() {
        let mut file = std::io::Cursor::new(Vec::new());
        image::DynamicImage::new_rgb8(40, 20).write_to(&mut file, image::ImageFormat::Bmp).unwrap();
        let bitmap = block(STANDARD.encode(file.into_inner()));
        let bomb = block(STANDARD.encode(b"GIF89a\xff\xff\xff\xff\0\0\0"));
        let (odd, text) = (block("no base64!"), block(STANDARD.encode("text")));
        let images = vec![odd.clone(), bomb.clone(), bitmap, text.clone()];
        let policy = PicturePolicy { max_width: 20, ..PicturePolicy::default() };
        let (fitting, notes) = fit_all(images.clone(), policy).await;
        assert_eq!([&fitting[0], &fitting[2]], [&odd, &text]);
        let png = STANDARD.decode(&fitting[1].data).unwrap();
        assert_eq!((fitting.len(), ImageKind::Png.size(&png)), (3, Some((20, 10))));
        let starts = ["[Image omitted: it is too large", "[Picture converted", "[Picture scaled"];
        assert!(notes.len() == 3 && notes.iter().zip(starts).all(|(note, start)| note.starts_with(start)), "{notes:?}");
        let off = PicturePolicy { auto_resize: false, ..PicturePolicy::default() };
        let (kept, notes) = fit_all(images, off).await;
        assert_eq!((&kept[1], kept.len(), notes.len()), (&bomb, 4, 1));
        assert_eq!(fit_all(vec![bomb.clone()], off).await, (vec![bomb], Vec::new()));
    }
}
