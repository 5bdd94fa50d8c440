//! Words that stand in a tool's result for what the API does not take there.

use super::transform::CallResult;

/// A result without any text.
pub(crate) const NO_OUTPUT: &str = "(no tool output)";
/// A result that is nothing but pictures.
pub(crate) const SEE_IMAGE: &str = "(see attached image)";
/// A failed result whose pictures follow behind all results.
pub(crate) const IMAGE_FOLLOWS: &str = "(image attached after the tool results)";

/// What stands before the pictures that follow.
pub(crate) fn image_caption(result: &CallResult<'_>) -> String {
    format!("Image from the result of {} ({}):", result.name, result.id)
}
