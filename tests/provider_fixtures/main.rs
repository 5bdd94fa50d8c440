//! Recorded provider bodies through the decoders and through a real HTTP server, and the bad days of a connection.
//!
//! The bodies and what must come of them are in `tests/fixtures/providers`; its README says how they are to be read.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // The helpers of tests may fail as tests do.

mod bedrock;
mod cassette;
mod cassette_requests;
mod compare;
mod connection;
mod decode;
mod google;
mod http;
mod invariants;
mod manifest;
mod prefix;
mod proxy;
mod server;
mod shelf;
mod tls;
