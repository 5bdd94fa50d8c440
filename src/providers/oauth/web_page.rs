//! Opening a page in the user's browser.

use std::process::{Command, Stdio};

use reqwest::Url;

/// Tries to open a page; false when there is no browser to be seen. Only pages: another scheme could start a program.
#[must_use]
pub fn open(url: &Url) -> bool {
    if !matches!(url.scheme(), "http" | "https") || !has_screen(|name| std::env::var_os(name).is_some()) {
        return false;
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(url.as_str()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Nobody waits for it: some browsers run until they are closed.
    command.spawn().is_ok()
}

/// Whether a browser would have a screen. Without one, helpers open a text browser in the terminal, in our way.
fn has_screen(is_set: impl Fn(&str) -> bool) -> bool {
    cfg!(target_os = "macos") || ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].iter().any(|name| is_set(name))
}
