//! `run.json`: what is to be run. Written once; only a continued run may get other limits.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    actors::{
        front::unattended::{
            limits::Limits,
            task::{Check, Message},
        },
        restart::{RestartKind, RestartPolicy},
    },
    protocol::{command::Input, time::Millis},
};

/// Restarts are counted within this time.
const PERIOD: Duration = Duration::from_secs(600);
/// The wait before the second restart; it doubles with each further one.
const BACKOFF: Duration = Duration::from_secs(1);
/// Restarts within [`PERIOD`] without `--max-restarts`.
pub const MAX_RESTARTS: u32 = 3;

/// What is to be run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSpec {
    /// The run's id.
    pub id: String,
    /// The program that made it.
    pub version: String,
    /// When it was made.
    pub created: Millis,
    /// The folder that it was started in.
    pub cwd: PathBuf,
    /// The words behind `troupe run`, without keys: flags of the agent are read from them by each worker.
    pub words: Vec<String>,
    /// The prompts, in order, with the ids of their entries.
    pub prompts: Vec<Input>,
    /// What the ids of the run's own messages begin with.
    pub stem: String,
    /// The id of the run's session, when it is a new one.
    pub session_id: String,
    /// What it may spend.
    #[serde(default)]
    pub limits: Limits,
    /// Its time.
    #[serde(default)]
    pub timeout: Option<Duration>,
    /// How its worker is supervised.
    pub supervision: Supervision,
    /// How the work is checked.
    #[serde(default)]
    pub check: Option<Check>,
    /// The form of the answer.
    #[serde(default)]
    pub schema: Option<Value>,
    /// A file must have changed.
    #[serde(default)]
    pub require_change: bool,
    /// What is called at the end.
    #[serde(default)]
    pub notify: Option<String>,
    /// The NATS server that it was given to, as it may be shown; none for a run of this machine alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// The node that works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl RunSpec {
    /// What the processes of the run carry in their environment. Runs in the folders of others may have the same id, and
    /// nodes of one machine may have one after another.
    #[must_use]
    pub fn tag(&self) -> String {
        let node = self.node.as_ref().map(|node| format!(".{node}")).unwrap_or_default();
        format!("{}.{}{node}", self.id, self.stem)
    }

    /// The command that goes on with the run.
    #[must_use]
    pub fn resume(&self) -> String {
        let on = self.on.as_ref().map(|on| format!(" --on {on}")).unwrap_or_default();
        format!("troupe runs resume {}{on}", self.id)
    }
}

#[cfg(any(test, feature = "nats"))]
impl RunSpec {
    /// A run with this id and nothing to do: what is known of one whose record cannot be read.
    #[must_use]
    pub fn nothing(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            version: String::new(),
            created: 0,
            cwd: "/w".into(),
            words: Vec::new(),
            prompts: Vec::new(),
            stem: "s".into(),
            session_id: "i".into(),
            limits: Limits::default(),
            timeout: None,
            supervision: Supervision::default(),
            check: None,
            schema: None,
            require_change: false,
            notify: None,
            on: None,
            node: None,
        }
    }
}

/// How a worker is supervised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Supervision {
    /// Restarts within ten minutes.
    pub max_restarts: u32,
    /// A worker from which nothing is heard for so long is ended.
    pub stall: Duration,
    /// Time to settle in order.
    pub grace: Duration,
}

impl Supervision {
    /// When a dead worker is followed by another one.
    #[must_use]
    pub const fn policy(&self) -> RestartPolicy {
        RestartPolicy { kind: RestartKind::Transient, intensity: self.max_restarts, period: PERIOD, backoff: BACKOFF }
    }
}

impl Default for Supervision {
    fn default() -> Self {
        Self { max_restarts: MAX_RESTARTS, stall: Duration::from_secs(600), grace: Duration::from_secs(10) }
    }
}

/// The prompts of a run with the ids of their entries: by them every worker finds out which were delivered.
#[must_use]
pub fn with_ids(prompts: Vec<Input>, stem: &str) -> Vec<Input> {
    let with_id = |(place, prompt): (usize, Input)| {
        let id = Message::Prompt(place).id(stem);
        Input { op: id.to_string(), entry_id: Some(id), ..prompt }
    };
    prompts.into_iter().enumerate().map(with_id).collect()
}
