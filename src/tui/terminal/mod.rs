//! The terminal: what comes from it, the modes it is in, and how frames become bytes. Nothing else of the program
//! writes to it while the screen runs.

mod frame;
mod input;
mod parser;

pub use frame::Frame;
pub use input::{InputEvent, Mouse, MouseButton, MouseKind, Report};
mod facade;
pub use facade::{Terminal, TerminalEvent, TerminalOptions};
pub use parser::{ESCAPE_TIMEOUT, ESCAPE_TIMEOUT_SSH, Parser};
