//! The terminal: what comes from it, the modes it is in, and how frames become bytes. Nothing else of the program
//! writes to it while the screen runs.

mod frame;
mod input;

pub use frame::Frame;
pub use input::{InputEvent, Mouse, MouseButton, MouseKind, Report};
mod facade;
pub use facade::{Terminal, TerminalEvent, TerminalOptions};
