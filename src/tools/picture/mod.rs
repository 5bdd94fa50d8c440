//! Pictures: what they are, and how they are made fit for models.
//!
//! - [`kind`]: what kind of picture some bytes are, and how large it is;
//! - `fit`: decoding, scaling and encoding, with limits;
//! - [`preview`]: pictures for screens;
//! - [`prompt`]: the pictures of a prompt.

use std::fmt;

use tokio::{sync::Semaphore, task::spawn_blocking};

use super::truncate;
use crate::protocol::Model;

mod fit;
pub mod kind;
pub mod preview;
pub mod prompt;

pub use kind::ImageKind;

/// Pictures that are worked on at once in the process: each may need some hundred MiB for a moment.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// How pictures are made fit: the setting `images.autoResize`, and a model's `inputLimits.images.resize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PicturePolicy {
    /// Too large ones are made smaller, else refused.
    pub auto_resize: bool,
    /// Pixels at most.
    pub max_width: u32,
    /// Pixels at most.
    pub max_height: u32,
    /// Base64 characters: fewer than this.
    pub max_base64: usize,
    /// Quality of JPEGs that are written, 1 to 100.
    pub jpeg_quality: u8,
}

impl Default for PicturePolicy {
    fn default() -> Self {
        Self { auto_resize: true, max_width: 2000, max_height: 2000, max_base64: 9 << 19, jpeg_quality: 80 }
    }
}

impl PicturePolicy {
    /// The same with the limits that a model states; what it does not state, or states wrongly, stays.
    #[must_use]
    pub fn for_model(mut self, model: &Model) -> Self {
        let limits = model.input_limits.as_ref().map(|limits| &limits["images"]["resize"]);
        let number = |name: &str| limits?[name].as_u64().filter(|number| *number > 0);
        let pixels = |name: &str| number(name).map(|pixels| u32::try_from(pixels).unwrap_or(u32::MAX));
        self.max_width = pixels("maxWidth").unwrap_or(self.max_width);
        self.max_height = pixels("maxHeight").unwrap_or(self.max_height);
        if let Some(bytes) = number("maxBytes") {
            self.max_base64 = usize::try_from(bytes).unwrap_or(usize::MAX);
        }
        if let Some(quality) = number("jpegQuality").and_then(|quality| u8::try_from(quality).ok()) {
            self.jpeg_quality = quality.min(100);
        }
        self
    }

    fn fits(&self, width: u32, height: u32) -> bool {
        width <= self.max_width && height <= self.max_height
    }

    fn holds(&self, bytes: &[u8]) -> bool {
        bytes.len().div_ceil(3) * 4 < self.max_base64
    }
}

/// A picture that models take.
#[derive(Debug, PartialEq)]
pub struct Picture {
    /// The file's content.
    pub bytes: Vec<u8>,
    /// What it is.
    pub kind: ImageKind,
    /// What was done to it, for the model: one bracketed line each.
    pub notes: Vec<String>,
}

/// Why a picture cannot be shown to a model.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// The header lacks what it must have.
    #[error("the file does not say how large the picture is; it may be damaged")]
    NoSize,
    /// It is too large and is not to be made smaller, or is too large even for that.
    #[error(
        "it is too large ({size}); scale it down to at most {}x{} pixels and less than {}, and read that",
        .policy.max_width, .policy.max_height, truncate::size(.policy.max_base64 / 4 * 3)
    )]
    TooLarge {
        /// Its pixels or bytes.
        size: String,
        /// What holds.
        policy: PicturePolicy,
    },
    /// Its content is damaged, or of a variety that nobody decodes.
    #[error("it cannot be decoded ({0}); the file may be damaged")]
    Undecodable(String),
    /// No size and quality is small enough.
    #[error("it could not be made small enough for the limit of {0} bytes of base64")]
    Incompressible(usize),
}

impl Unfit {
    fn too_large(size: impl fmt::Display, policy: &PicturePolicy) -> Self {
        Self::TooLarge { size: size.to_string(), policy: *policy }
    }
}

/// Makes a picture fit, on a thread for such work. What fits already stays as it is, byte by byte.
///
/// # Errors
/// When models cannot take it and it cannot be changed so that they do.
pub async fn fit(bytes: Vec<u8>, kind: ImageKind, policy: PicturePolicy) -> Result<Picture, Unfit> {
    // The semaphore is never closed; without a permit the work is merely less frugal.
    let permit = AT_ONCE.acquire().await.ok();
    let work = spawn_blocking(move || {
        // Held here, since the work goes on when the one who waits for it has gone.
        let _permit = permit;
        fit::fit(bytes, kind, &policy)
    });
    work.await.unwrap_or_else(|error| Err(Unfit::Undecodable(error.to_string())))
}
