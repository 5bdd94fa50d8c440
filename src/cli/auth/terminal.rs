//! The terminal during a login: what is said, what is pasted, a key that is typed unseen.

use std::{
    future::{Future, pending},
    io::{self, Read as _},
    pin::Pin,
};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::task::spawn_blocking;

use crate::{
    actors::front::say,
    providers::oauth::{LoginUi, Notice, web_page},
};

/// The user at a terminal. Everything is said on standard error.
pub(super) struct Terminal {
    opens_pages: bool,
}

impl Terminal {
    /// A terminal; pages are opened in a browser when `opens_pages`.
    pub(super) fn new(opens_pages: bool) -> Self {
        Self { opens_pages }
    }
}

impl LoginUi for Terminal {
    fn tell(&self, notice: Notice) {
        let open = |url| self.opens_pages && web_page::open(url);
        say(&match notice {
            Notice::OpenPage { url, returns } => {
                let opened = if open(&url) { "A browser opens. If it does not, open" } else { "Open" };
                let then = if returns {
                    "The login ends by itself when the browser runs on this machine. If it runs elsewhere, paste the \
                     address that it ends at, and press Enter:"
                } else {
                    "Then paste the code, or the address that the browser ends at, and press Enter:"
                };
                format!("{opened} this page and log in:\n\n  {url}\n\n{then}\n")
            }
            Notice::EnterCode { code, page, page_with_code } => {
                let opened = if open(page_with_code.as_ref().unwrap_or(&page)) {
                    "A browser opens. If it does not, open"
                } else {
                    "Open"
                };
                format!("{opened} this page on any device:\n\n  {page}\n\nand enter the code {code}\n")
            }
            Notice::NotUnderstood { why } => format!("{why} Paste it again:\n"),
        });
    }

    fn pasted(&self) -> Pin<Box<dyn Future<Output = String> + Send + '_>> {
        Box::pin(async {
            let read = spawn_blocking(|| {
                let mut line = String::new();
                io::stdin().read_line(&mut line).ok().filter(|count| *count > 0).map(|_| line)
            });
            match read.await {
                Ok(Some(line)) => line,
                // The terminal is closed: nothing will be pasted.
                _ => pending().await,
            }
        })
    }
}

/// Asks for a line that is not shown while it is typed. None when the user gives up (Ctrl-C, Ctrl-D).
///
/// # Errors
/// Standard input is no terminal, or cannot be read.
pub(super) fn read_hidden(prompt: &str) -> io::Result<Option<String>> {
    let _hidden = Hidden::begin()?;
    say(prompt);
    let typed = line(&mut io::stdin().lock());
    say("\n");
    typed
}

/// Keys of a terminal that edit a line.
mod key {
    pub const CTRL_C: u8 = 3;
    pub const CTRL_D: u8 = 4;
    pub const BACKSPACE: u8 = 8;
    pub const CTRL_U: u8 = 21;
    pub const DELETE: u8 = 127;
}

/// Reads a line byte by byte. The terminal edits nothing now, so that Ctrl-C cannot end the program before the
/// terminal is as it was.
fn line(input: &mut impl io::BufRead) -> io::Result<Option<String>> {
    let mut typed = Vec::new();
    for byte in input.bytes() {
        match byte? {
            b'\r' | b'\n' => return Ok(Some(String::from_utf8_lossy(&typed).into_owned())),
            key::CTRL_C | key::CTRL_D => return Ok(None),
            key::CTRL_U => typed.clear(),
            key::BACKSPACE | key::DELETE => {
                // A character may be several bytes; those after the first begin with the bits 10.
                while typed.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
            }
            control if control < b' ' => {}
            byte => typed.push(byte),
        }
    }
    Ok(None)
}

/// A terminal that shows nothing; dropping it brings its old state back.
struct Hidden(Termios);

impl Hidden {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden)?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // It was possible before; if it no longer is, the terminal is gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_line_can_be_edited_and_given_up() {
        let table: &[(&[u8], Option<&str>)] = &[
            (b"sk-1\n", Some("sk-1")),
            (b"sk-1\rrest", Some("sk-1")),
            (b"skx\x7f-1\n", Some("sk-1")),
            ("aé\x7f\x08b\n".as_bytes(), Some("b")),
            (b"wrong\x15sk-1\n", Some("sk-1")),
            (b"\x1b\x01x\n", Some("x")),
            (b"\x7f\n", Some("")),
            (b"sk\x03-1\n", None),
            (b"\x04", None),
            (b"cut off", None),
        ];
        for (bytes, expected) in table {
            assert_eq!(line(&mut &bytes[..]).unwrap().as_deref(), *expected, "{bytes:?}");
        }
    }
}
