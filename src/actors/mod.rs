//! The actors, and the pure machines that drive them.
//!
//! | file | what it is |
//! |---|---|
//! | [`runtime`], [`extensions`], [`fleet`], [`agent`] | the supervisors, from the root down |
//! | [`session_writer`], [`event_bus`], [`compactor`], [`jobs`], [`turn_loop`] | the actors of one agent, in the order of their start |
//! | [`prepare`], [`provider_stream`], [`tool_batch`], [`tool_call`], [`asker`], [`call_guard`], [`input_guard`], [`store_check`], [`job_worker`], [`replacing`], [`farewell`] | workers: one piece of work each; only they may wait |
//! | [`extension`], [`extension_worker`], [`chain`] | extensions: their actor, its workers, and how they are asked |
//! | [`extension_commands`], [`extension_host`], [`call_watch`] | their slash commands, the agents as they reach them, model calls as they see them |
//! | [`compaction`] | what a compaction folds away, what a branch that is left comes to, and the requests for summaries |
//! | [`agent_factory`], [`opening`] | what makes an agent on a session; how it is opened and closed while the program runs |
//! | [`account`], [`family_board`], [`family_notes`], [`kin`], [`sibling_news`] | siblings: what they may use, what is known of them, what sessions tell of them; [`fleet`] has the actors |
//! | [`dispatch`] | where a request of a virtual model goes |
//! | [`team`] | agents that work by a plan that stands in a file |
//! | `nats` | runs on any machine (feature `nats`) |
//! | [`front`] | those who give agents work and show what they do |
//! | [`turn`], [`turn_io`], [`queues`], [`batch`], [`retry`], [`rounds`], [`resume`], [`route_facts`], [`branch_news`], [`job_news`], [`navigation`], [`restart`], [`json_answer`] | pure: the turn loop's machine and its parts, the restart policy |
//! | [`supervision`] | the live tree of actors and agents, for those who show it |
//! | [`address`], [`reply`], [`spawn`], [`subscriber`], [`shared`], [`trace`] | how actors are addressed, answered, started and watched; what those of an agent share |

pub mod account;
pub mod address;
pub mod agent;
pub mod agent_factory;
pub mod asker;
pub mod batch;
pub mod branch_news;
pub mod call_guard;
pub mod call_watch;
pub mod chain;
pub mod compaction;
pub mod compactor;
pub mod dispatch;
pub mod event_bus;
pub mod extension;
pub mod extension_commands;
pub mod extension_host;
pub mod extension_worker;
pub mod extensions;
pub mod family_board;
pub mod family_notes;
pub mod farewell;
pub mod fleet;
pub mod front;
pub mod input_guard;
pub mod job_news;
pub mod job_worker;
pub mod jobs;
pub mod json_answer;
pub mod kin;
#[cfg(feature = "nats")]
pub mod nats;
pub mod navigation;
pub mod opening;
pub mod prepare;
pub mod provider_stream;
pub mod queues;
pub mod replacing;
pub mod reply;
pub mod restart;
pub mod resume;
pub mod retry;
pub mod rounds;
pub mod route_facts;
pub mod runtime;
pub mod session_writer;
pub mod shared;
pub mod sibling_news;
pub mod spawn;
mod spending;
pub mod store_check;
pub mod subscriber;
pub mod supervision;
pub mod team;
#[cfg(test)]
mod testing;
pub mod tool_batch;
pub mod tool_call;
pub mod trace;
pub mod turn;
pub mod turn_io;
pub mod turn_loop;
pub mod undoing;
