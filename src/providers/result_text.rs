//! Words that stand in a tool's result for what the API does not take there.

use std::borrow::Cow;

use super::transform::{CallResult, joined_text};

/// A result without any text.
pub(crate) const NO_OUTPUT: &str = "(no tool output)";
/// A result that is nothing but pictures.
pub(crate) const SEE_IMAGE: &str = "(see attached image)";
/// A failed result whose pictures follow behind all results.
pub(crate) const IMAGE_FOLLOWS: &str = "(image attached after the tool results)";

/// The text of a result, or the note that stands for it.
pub(crate) fn text_or_note<'a>(result: &CallResult<'a>) -> Cow<'a, str> {
    match joined_text(&result.parts) {
        text if !text.is_empty() => text,
        _ if result.images().next().is_some() => SEE_IMAGE.into(),
        _ => NO_OUTPUT.into(),
    }
}

/// What stands before the pictures that follow.
pub(crate) fn image_caption(result: &CallResult<'_>) -> String {
    format!("Image from the result of {} ({}):", result.name, result.id)
}
