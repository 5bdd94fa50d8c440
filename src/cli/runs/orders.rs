//! What a supervisor tells its worker: lines of JSON on the worker's standard input. Its end is the supervisor's.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ladder::Rung;
use crate::actors::front::unattended::words::Settle;

/// A line for the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Order {
    /// Begin: the first line.
    Begin(Begin),
    /// Settle.
    Settle {
        /// Why.
        cause: Settle,
    },
}

/// How the worker is to begin.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Begin {
    /// At which place.
    pub rung: Rung,
    /// Why those before it died, the latest last.
    pub causes: Vec<String>,
    /// The key of `--api-key`. Neither a file nor an environment ever holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// Where the log of its session is, when a node has the run; the supervisor hands it on as it got it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Value>,
}

/// Keys are not shown.
impl std::fmt::Debug for Begin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Begin").field("rung", &self.rung).field("causes", &self.causes).finish_non_exhaustive()
    }
}
