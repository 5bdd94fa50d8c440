//! Why something about siblings was refused.

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
    fn refusals_say_what_to_do() {
        let full = SiblingError::Full { running: 8, limit: 8, ids: "agent-1, agent-2".into() };
        assert_eq!(full.to_string(), "8 of 8 run; wait for one of agent-1, agent-2, or stop one");
    }
}
