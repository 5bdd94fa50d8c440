//! Siblings: agents that another agent, their parent, spawned.
//!
//! All agents below one root agent, with it, are a *family*. A sibling is a whole agent with a session of its own; that it
//! has a parent is data. It is spawned with a *task*; when it has nothing left to do, the task has ended ([`SiblingEnd`])
//! and it stays open and idle, until it is stopped: a message then begins its next task. Tasks are numbered from 1, so
//! that an end is told apart from the one before it, and nobody hears of one twice.

use std::{fmt, path::PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{
    message::AgentMessage,
    model::{ModelRef, ThinkingLevel},
    usage::Usage,
};

/// The name of an agent within its family: `main` for the root, `agent-2` for its second child, `agent-2.1` for that
/// one's first. Never used twice in a family, also over restarts. Where a sibling is named to the program, its own name
/// ([`SiblingSpec::name`]) does as well.
///
/// Ids are ordered as the family tree is written down: parents before their children, children in the order of their
/// spawns.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiblingId(Vec<u32>);

impl SiblingId {
    /// The root of every family, as text.
    pub const ROOT: &str = "main";

    /// The root.
    #[must_use]
    pub fn root() -> Self {
        Self(Vec::new())
    }

    /// The id that a text is; none when it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == Self::ROOT {
            return Some(Self::root());
        }
        text.strip_prefix("agent-")?.split('.').map(|number| number.parse().ok()).collect::<Option<_>>().map(Self)
    }

    /// The `number`th child of this agent, from 1.
    #[must_use]
    pub fn child(&self, number: u32) -> Self {
        Self(self.0.iter().copied().chain([number]).collect())
    }

    /// The parent; none for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.split_last().map(|(_, above)| Self(above.to_vec()))
    }

    /// Its number among the children of its parent; none for the root.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        self.0.last().copied()
    }

    /// Generations above it.
    #[must_use]
    pub fn depth(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Whether it descends from `other`.
    #[must_use]
    pub fn is_below(&self, other: &Self) -> bool {
        self.0.len() > other.0.len() && self.0.starts_with(&other.0)
    }
}

impl fmt::Display for SiblingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.0.split_first() else { return f.write_str(Self::ROOT) };
        write!(f, "agent-{first}")?;
        rest.iter().try_for_each(|number| write!(f, ".{number}"))
    }
}

impl Serialize for SiblingId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SiblingId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("{text} is no id of an agent")))
    }
}

/// What is to be spawned. Whatever is not said is the parent's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SiblingSpec {
    /// What it is to do: its first message, taken as it stands. Empty: it waits for one ([`SendMode`]).
    pub task: String,
    /// A name of its own in the family, for people and for messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is for, in a word; virtual models may choose by it. Default: `sibling`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Makes the spawn happen once: a parent that spawns the same key with the same spec again, also after a restart, gets
    /// the sibling that is there. The same key with another spec is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The model, as `--model` takes it: a full name, or a part of one that only one model has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The thinking level; clamped to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingLevel>,
    /// Names of its active tools, in order. One that the parent's program does not have is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// A section of its system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The prompt takes the place of the program's own sections instead of standing behind them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_prompt: bool,
    /// Where it works.
    pub isolation: Isolation,
    /// Another folder than its parent's, absolute; only with [`Isolation::Shared`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// What it and all below it may use.
    pub budget: Budget,
    /// Its ends are told to the model of its parent, who is woken for that when it is idle. Programs that wait for ends
    /// themselves leave it off.
    pub tells_parent: bool,
    /// The file of its session; without, one in a folder beside the parent's. A parent in memory has children in memory
    /// unless this is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_file: Option<PathBuf>,
    /// The file that its model `troupe/script` plays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<PathBuf>,
}

impl SiblingSpec {
    /// A sibling that is to do this, as its parent would.
    #[must_use]
    pub fn of_task(task: impl Into<String>) -> Self {
        Self { task: task.into(), ..Self::default() }
    }
}

/// Where a sibling works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// In the folder of its parent. Changes of one file wait for each other, and so do git commands.
    #[default]
    Shared,
    /// In a git worktree on a branch of its own, made from the parent's commit. At each end its changes are saved as a
    /// patch; the worktree goes when the sibling is stopped. Refused where the folder is in no git repository.
    Worktree,
}

/// What an agent and all below it may use. None = without limit of its own; limits of agents above it count all the same,
/// and what is given here is set aside in theirs until the agent is stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Budget {
    /// Tokens of all requests, as providers count them: input, output, and what caches took and gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Model calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Seconds from the spawn on; the time that it is idle or paused counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Agents that may be spawned below it, all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawns: Option<u64>,
    /// Generations below it: 0 = it cannot spawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
}

impl Budget {
    /// Whether nothing is limited.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }
}

/// A quantity that a budget limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BudgetKind {
    /// Tokens.
    Tokens,
    /// Money.
    Cost,
    /// Model calls.
    Turns,
    /// Wall time.
    Seconds,
    /// Agents below.
    Spawns,
    /// Generations below.
    Depth,
}

impl BudgetKind {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Tokens, Self::Cost, Self::Turns, Self::Seconds, Self::Spawns, Self::Depth];

    /// The quantity as texts call it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Turns => "turns",
            Self::Seconds => "time",
            Self::Spawns => "spawns",
            Self::Depth => "depth",
        }
    }
}

/// What an account has counted: an agent's own use with that of all below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spent {
    /// Tokens.
    pub tokens: u64,
    /// US dollars.
    pub cost: f64,
    /// Model calls.
    pub turns: u64,
    /// Seconds since the agent was made, in this process.
    pub seconds: f64,
    /// Agents that were spawned below it.
    pub spawns: u64,
}

/// What a sibling does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SiblingState {
    /// It is being made, and stored in its parent's session.
    #[default]
    Starting,
    /// It works.
    Running,
    /// It is held at a turn boundary, or will be at the next one.
    Paused,
    /// Its task has ended; it takes messages.
    Idle,
    /// It is being stopped.
    Stopping,
    /// It is gone. Its session can be read, and its last end is known.
    Gone,
}

impl SiblingState {
    /// Whether it takes one of the places of those that run at once.
    #[must_use]
    pub fn is_active(self) -> bool {
        matches!(self, Self::Starting | Self::Running | Self::Paused | Self::Stopping)
    }

    /// The state as texts call it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Idle => "idle",
            Self::Stopping => "stopping",
            Self::Gone => "gone",
        }
    }
}

/// What is known of a sibling, for whoever shows it. A snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiblingStatus {
    /// Its id.
    pub id: SiblingId,
    /// Its own name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is for.
    pub role: String,
    /// The id of its parent.
    pub parent_id: SiblingId,
    /// Generations above it: 1 for a child of the root.
    pub depth: u32,
    /// What it does.
    pub state: SiblingState,
    /// The task that it works on, or did last, from 1; 0 before the first.
    pub task: u32,
    /// Its first message, cut to one line.
    pub title: String,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// What it and those below it have used.
    pub spent: Spent,
    /// What it may use.
    #[serde(default, skip_serializing_if = "Budget::is_unlimited")]
    pub budget: Budget,
    /// The tool that runs; the first, when several do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The last line that its model wrote, cut.
    pub last_line: String,
    /// How its last task ended; none before that, and while it works on the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The file of its session; none in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// Its worktree, while there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Outcome {
    /// Its model had nothing more to do.
    Done,
    /// A limit was reached. Never tried again.
    Budget {
        /// What ran out.
        what: BudgetKind,
        /// Which limit, and whose.
        message: String,
    },
    /// A model call failed for good, or the agent failed too often.
    Failed {
        /// Why.
        message: String,
        /// Another try may work: the cause was the provider or the network, or a defect.
        may_pass: bool,
    },
    /// The model refused to go on.
    Refused {
        /// What it said.
        message: String,
    },
    /// Somebody stopped it.
    Stopped {
        /// Who, and why.
        message: String,
    },
}

impl Outcome {
    /// Whether the task was done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        *self == Self::Done
    }

    /// The outcome in a word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Budget { .. } => "budget",
            Self::Failed { .. } => "failed",
            Self::Refused { .. } => "refused",
            Self::Stopped { .. } => "stopped",
        }
    }

    /// Why it was not done; empty when it was.
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Self::Done => "",
            Self::Budget { message, .. }
            | Self::Failed { message, .. }
            | Self::Refused { message }
            | Self::Stopped { message } => message,
        }
    }
}

/// The end of a task. It reaches the parent exactly once: it is stored in the parent's session before anybody is told, and
/// told apart from others by `id` and `task`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiblingEnd {
    /// Which sibling.
    pub id: SiblingId,
    /// Which task, from 1.
    pub task: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// The text of its last answer: the whole of it as programs get it, its beginning in the parent's session.
    pub text: String,
    /// The text is not all of the answer; the session file has the rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// What the task cost, with what was spawned below it.
    pub usage: Usage,
    /// The model that answered last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// The file of its session; none in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// Its changes, when it works in a worktree and has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Patch>,
}

/// Changes that a sibling made in its worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Patch {
    /// The file with the patch, as `git diff --binary` writes it.
    pub file: String,
    /// The branch that holds the sibling's commits.
    pub branch: String,
    /// The commit that the worktree was made from.
    pub base: String,
    /// Files that differ.
    pub files: usize,
}

/// What became of a spawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpawnReceipt {
    /// The sibling's id.
    pub id: SiblingId,
    /// It was there already: the key is known.
    pub existing: bool,
    /// How its last task ended, when the key is known and it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<SiblingEnd>,
}

/// When a message reaches a sibling's model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendMode {
    /// At its next turn boundary; at once when it is idle, which begins its next task.
    #[default]
    Steer,
    /// When it would stop; at once when it is idle, which begins its next task.
    FollowUp,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Receipt {
    /// The sibling was idle and took it as its next task, whose number follows.
    Delivered {
        /// The task.
        task: u32,
    },
    /// It waits in the sibling's queue; the end of this task comes after it.
    Queued {
        /// The task.
        task: u32,
    },
    /// The sibling was between two states (it is starting, stopping, or was restarted just then) and did not take it:
    /// nothing happened, and it can be sent again.
    Missed,
    /// The sibling is gone.
    Dead,
}

impl Receipt {
    /// The task whose end answers the message; none when it did not arrive.
    #[must_use]
    pub fn task(self) -> Option<u32> {
        match self {
            Self::Delivered { task } | Self::Queued { task } => Some(task),
            Self::Missed | Self::Dead => None,
        }
    }

    /// The receipt in a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Delivered { .. } => "delivered",
            Self::Queued { .. } => "queued",
            Self::Missed => "missed",
            Self::Dead => "dead",
        }
    }
}

/// What a wait waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitMode {
    /// The end of all.
    #[default]
    All,
    /// The first end.
    Any,
}

/// What a wait found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waited {
    /// The last end of each that has nothing to do, in the order of the question.
    pub ends: Vec<SiblingEnd>,
    /// Those that still work, as they are now.
    pub running: Vec<SiblingStatus>,
    /// The time was over first.
    pub timed_out: bool,
}

/// What becomes of a worktree when its sibling is stopped. Its patch is saved first, whatever follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorktreeFate {
    /// The worktree goes; patch and branch stay.
    #[default]
    Patch,
    /// Its changes are put into the parent's folder; then the worktree goes. Where that conflicts, nothing of the parent's
    /// folder is changed, and the worktree goes with its patch and branch kept.
    Merge,
    /// Worktree and branch go; the patch stays.
    Drop,
}

/// A part of a sibling's conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Transcript {
    /// The messages of its branch from place `from` on, without system messages.
    pub messages: Vec<AgentMessage>,
    /// The place of the first, from 0.
    pub from: usize,
    /// How many there are in all.
    pub total: usize,
}

/// What a merge did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Merged {
    /// Files that changed in the parent's folder.
    pub files: Vec<String>,
    /// Files that conflict; then nothing was changed.
    pub conflicts: Vec<String>,
}

/// What a front wants of the agents below an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum SiblingCommand {
    /// Spawn a child.
    Spawn(Box<SiblingSpec>),
    /// Give one a message.
    Send {
        /// Its id or name.
        id: String,
        /// The message.
        message: String,
        /// When it is delivered.
        mode: SendMode,
    },
    /// Wait for ends.
    Wait {
        /// Ids or names; empty = all children.
        ids: Vec<String>,
        /// All or any.
        mode: WaitMode,
        /// Seconds at most; none: as long as it takes.
        timeout_s: Option<f64>,
    },
    /// All of them.
    List,
    /// End some, with all below them.
    Stop {
        /// Ids or names; empty = all.
        ids: Vec<String>,
        /// Seconds that they get to reach a turn boundary.
        grace_s: Option<f64>,
        /// What becomes of worktrees.
        worktree: WorktreeFate,
    },
    /// Hold some at their next turn boundary, or let them go on.
    Hold {
        /// Ids or names; empty = all.
        ids: Vec<String>,
        /// Hold.
        paused: bool,
    },
    /// A part of a conversation.
    Transcript {
        /// Its id or name.
        id: String,
        /// The place of the first message, from 0.
        from: usize,
        /// How many at most.
        limit: usize,
    },
    /// Put the changes of a worktree into the agent's folder.
    Merge {
        /// Its id or name.
        id: String,
    },
}

/// What a [`SiblingCommand`] gives back.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum SiblingReply {
    /// Of a spawn.
    Spawned(SpawnReceipt),
    /// Of a message.
    Sent {
        /// What became of it.
        receipt: &'static str,
        /// The task whose end answers it.
        #[serde(skip_serializing_if = "Option::is_none")]
        task: Option<u32>,
    },
    /// Of a wait.
    Waited(Waited),
    /// Of a list.
    Listed {
        /// All below the agent.
        agents: Vec<SiblingStatus>,
        /// How many of the family run.
        running: usize,
        /// How many may.
        max_running: usize,
        /// How many the family has had.
        total: usize,
        /// How many it may have.
        max_total: usize,
        /// What the agent and all below it have used.
        spent: Spent,
    },
    /// Of a stop.
    Stopped {
        /// Their last ends.
        ends: Vec<SiblingEnd>,
    },
    /// Of a pause, or of its end.
    Held {
        /// Those that it was about.
        agents: Vec<SiblingStatus>,
    },
    /// A part of a conversation.
    Transcript(Transcript),
    /// Of a merge.
    Merged(Merged),
}

/// Limits of a family; settings `siblings.*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiblingLimits {
    /// How many run at once.
    pub running: usize,
    /// How many a family may have in all, over its life.
    pub total: usize,
    /// Generations below the root.
    pub depth: u32,
}

impl Default for SiblingLimits {
    fn default() -> Self {
        Self { running: 8, total: 64, depth: 2 }
    }
}

/// Why something about siblings was refused. The texts say what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SiblingError {
    /// The places of those that run at once are taken.
    #[error("{running} of {limit} run; wait for one of {ids}, or stop one")]
    Full {
        /// How many run.
        running: usize,
        /// The limit.
        limit: usize,
        /// Ids of those that run.
        ids: String,
    },
    /// The family has had all that it may.
    #[error(
        "{limit} agents have been spawned, which is all that this session may: do the rest yourself, or send a finished agent its next task"
    )]
    Total {
        /// The limit.
        limit: usize,
    },
    /// No deeper generation.
    #[error("agents of generation {depth} cannot spawn others: do the work yourself")]
    Depth {
        /// The generation of the one who asked.
        depth: u32,
    },
    /// What is left of a budget is not enough.
    #[error("{what}: {left} left, {wanted} wanted. Give the agent less, or do the work yourself")]
    Budget {
        /// The quantity.
        what: &'static str,
        /// What is left.
        left: String,
        /// What was wanted.
        wanted: String,
    },
    /// There is no such sibling.
    #[error("there is no agent {id}; the agents are {known}")]
    Unknown {
        /// The id or name.
        id: String,
        /// Those that there are.
        known: String,
    },
    /// The key is in use for something else.
    #[error("the key {key} belongs to {id}, which was spawned with other words; use another key")]
    KeyTaken {
        /// The key.
        key: String,
        /// The sibling.
        id: String,
    },
    /// The name is in use.
    #[error("the name {name} belongs to {id}; use another one")]
    NameTaken {
        /// The name.
        name: String,
        /// The sibling.
        id: String,
    },
    /// It could not be made.
    #[error("the agent could not be made: {0}")]
    NotMade(String),
    /// The parent's session cannot be written, so nothing was begun.
    #[error("the agent could not be noted in the session, so it was not begun: {0}")]
    NotStored(String),
    /// The answer did not come in time.
    #[error("{id} did not answer within {seconds} s; it works on, and its end comes all the same")]
    Late {
        /// The sibling.
        id: String,
        /// The time that it had.
        seconds: u64,
    },
    /// The fleet went away before it answered.
    #[error("the program is ending, or restarted a part of itself; list the agents before you repeat this")]
    Lost,
    /// Anything else.
    #[error("{0}")]
    Refused(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_say_where_in_the_family_an_agent_stands() {
        let root = SiblingId::root();
        let second = root.child(2);
        assert_eq!([&root, &second, &second.child(13)].map(ToString::to_string), ["main", "agent-2", "agent-2.13"]);
        assert_eq!((root.number(), second.child(13).number()), (None, Some(13)));
        assert_eq!(second.child(13).parent(), Some(second.clone()));
        assert!(second.child(13).is_below(&root) && !second.is_below(&second));
        assert_eq!(SiblingId::parse("agent-2.13"), Some(second.child(13)));
        for text in ["agent-", "agent-2.", "agent-x", "reviewer", ""] {
            assert_eq!(SiblingId::parse(text), None, "{text}");
        }
        let mut ids = [root.child(10), second.clone(), root.child(1), second.child(1)];
        ids.sort();
        assert_eq!(ids.map(|id| id.to_string()), ["agent-1", "agent-2", "agent-2.1", "agent-10"]);
    }

    #[test]
    fn a_spec_is_written_as_briefly_as_it_can_be_and_read_back() {
        let spec = SiblingSpec { budget: Budget { turns: Some(3), ..Budget::default() }, ..SiblingSpec::of_task("x") };
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(text, r#"{"task":"x","isolation":"shared","budget":{"turns":3},"tellsParent":false}"#);
        assert_eq!(serde_json::from_str::<SiblingSpec>(&text).unwrap(), spec);
    }

    #[test]
    fn refusals_say_what_to_do() {
        let full = SiblingError::Full { running: 8, limit: 8, ids: "agent-1, agent-2".into() };
        assert_eq!(full.to_string(), "8 of 8 run; wait for one of agent-1, agent-2, or stop one");
    }
}
