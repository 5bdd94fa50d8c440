//! What the parts do on a server of their own.

mod connecting;
mod control;
mod events;
mod jobs;
mod leases;
mod records;
