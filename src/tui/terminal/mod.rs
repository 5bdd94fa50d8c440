//! The terminal: what comes from it, the modes it is in, and how frames become bytes. Nothing else of the program
//! writes to it while the screen runs.
//!
//! | file | what |
//! |---|---|
//! | [`input`] | what comes from a terminal |
//! | [`parser`] | bytes to events |
//! | [`reader`] | the thread that reads |
//! | [`frame`], [`row`], [`glyph`] | what the screen shall look like |
//! | [`paint`], [`scroll`] | the whole screen: what differs from the frame before, as bytes |
//! | [`inline`] | the same for a live area within the scrollback |
//! | [`ink`], [`sgr`] | moves, styles and links as bytes |
//! | [`out`] | sequences without cells: title, clipboard, notifications |
//! | [`output`], [`writer`] | what waits to be written, and the thread that writes |
//! | [`pictures`] | pictures: given to the terminal once, and placed |
//! | [`modes`], [`guard`] | modes, and that they are undone exactly once |
//! | [`capabilities`] | what the terminal can do |
//! | [`tty`], [`link`], [`handle`] | the terminal itself, and how the screen has it |
//!
//! crossterm's commands are the words for what all terminals know: the alternate screen, line wrap, synchronised updates,
//! the cursor, erasing, scrolling. Ours are:
//!
//! - events: crossterm's reader gives up a sequence that comes in two reads (an escape, then letters), and never ends when
//!   the terminal is gone; a thread of ours reads, and it can be paused for another program;
//! - colours: crossterm writes the 16 as `38;5;n`, which terminals with 16 colours do not know;
//! - the modes that crossterm has together with its reader only (paste, focus, kitty's keyboard) or not at all (appearance,
//!   xterm's keys), the mouse without moves of no button, and titles, whose text could end crossterm's sequence.

mod capabilities;
mod error;
mod frame;
mod glyph;
mod guard;
mod handle;
mod ink;
mod inline;
mod input;
mod link;
mod modes;
mod out;
mod output;
mod paint;
mod parser;
pub(in crate::tui) mod pictures;
mod reader;
mod row;
mod scroll;
mod sgr;
#[cfg(test)]
mod testing;
mod tty;
mod writer;

pub use capabilities::{Capabilities, Images, Preferences};
pub use error::TerminalError;
pub use frame::Frame;
pub use guard::{Claim, restore};
pub use handle::{Terminal, TerminalOptions};
pub use inline::InlinePainter;
pub use input::{InputEvent, Mouse, MouseButton, MouseKind, Report};
pub use paint::Painter;
pub use parser::{ESCAPE_TIMEOUT, ESCAPE_TIMEOUT_SSH, Parser};
