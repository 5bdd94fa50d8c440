//! The live supervision tree of a process, for whoever shows it. Snapshots: nothing is decided by them.

use serde::{Deserialize, Serialize};

use super::sibling::SiblingStatus;

/// A process with agents in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Supervision {
    /// The process.
    pub pid: u32,
    /// The program's version.
    pub version: String,
    /// Who gives the agents work: `terminal`, `run`, `team`.
    pub front: String,
    /// The run that it is the worker of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The folder of the agent in front.
    pub cwd: String,
    /// The file of its session; none in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// Whole seconds since the runtime began.
    pub seconds: u64,
    /// The agent in front, and those below it: parents before their children.
    pub agents: Vec<AgentInfo>,
    /// The root of all actors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actors: Option<ActorInfo>,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    /// What it does and what it has used. Of the agent in front, too: its id is `main`.
    #[serde(flatten)]
    pub status: SiblingStatus,
    /// Messages that wait in its queues.
    pub waiting: usize,
    /// How often it, or a part of it, was started again.
    pub restarts: u64,
}

/// An actor, and those that it supervises in the order of their starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActorInfo {
    /// What it is, such as `TurnLoop`.
    pub kind: String,
    /// Which one: the name of an agent, of a tool, of a model; often nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Messages that wait in its mailbox.
    pub mailbox: u64,
    /// Messages that it has handled.
    pub handled: u64,
    /// How often one in its place was started again.
    pub restarts: u64,
    /// Whole seconds since it began.
    pub seconds: u64,
    /// Those below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ActorInfo>,
}
