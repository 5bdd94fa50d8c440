//! What a build without NATS says.

/// What is lacking, and how to get it.
pub const TEXT: &str = "this build has no NATS, which `troupe worker` and `--on` need. Build one that has it: \
                        `cargo install troupe-agent --features nats`";
