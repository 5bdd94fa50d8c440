//! `troupe top` and `troupe attach`: other processes of this user, by their control sockets.
//!
//! | file | what |
//! |---|---|
//! | [`args`] | the words behind the commands |
//! | [`client`] | finding sockets and talking to one |
//! | [`top`], [`table`] | `troupe top`, and what it shows |
//! | [`attach`], [`words`] | `troupe attach`, and events as text |

pub mod args;
pub mod attach;
pub mod client;
pub mod table;
pub mod top;
pub mod words;
