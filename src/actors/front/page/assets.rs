//! Style and script of the page: our own, in the page, and allowed by their hashes alone.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::digest::{SHA256, digest};

/// The style.
pub const STYLE: &str = include_str!("assets/page.css");
/// The script. Without it the page reads, too: it switches branches, searches and folds.
pub const SCRIPT: &str = include_str!("assets/page.js");

/// What the page may do: show itself. No script or style but these two, no picture that is not in the page, no
/// connection to anywhere.
pub fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(digest(&SHA256, text.as_bytes())));
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}
