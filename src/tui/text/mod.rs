//! Lines of styled text.
//!
//! Whatever makes a [`StyledLine`] of a text that others wrote makes it drawable first ([`drawable`], [`one_line`]):
//! no control character, tab or line end is in it.
//!
//! | module | what |
//! |---|---|
//! | `line` | a line and its pieces |
//! | `width` | columns of a text |
//! | `wrap` | rows of a line |
//! | `plain` | texts of others as lines |
//! | [`mod@markdown`] | messages as rows |
//! | `streaming` | messages that grow |
//! | `code` | source code |
//! | `diff` | what an edit changed |
//! | `link` | addresses that a terminal may get |

mod code;
mod diff;
mod line;
mod link;
mod markdown;
mod plain;
mod streaming;
mod width;
mod wrap;

pub use code::{code, code_line};
pub use diff::diff;
pub use line::{StyledLine, StyledSpan};
pub use link::link_target;
pub use markdown::{MarkdownOptions, markdown};
pub use plain::{drawable, lines_of, one_line, plain, printed};
pub use streaming::StreamingMarkdown;
pub(in crate::tui) use width::is_plain;
pub use width::width_of;
pub use wrap::{Hang, cut, fold, wrap};
