//! Lines of styled text.

mod line;
mod width;

pub use line::{StyledLine, StyledSpan};
pub use width::width_of;
