//! A supervisor that works for a node (`troupe worker`): the node gives it orders, lines of JSON on its standard input.
//! The end of the input is the node's. What is decided by that is here too: why a run is to end before it is done.

use std::{
    fs::File,
    io::{self, Read as _, stdin},
    os::fd::{AsFd as _, BorrowedFd},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{classify::Killed, lines::Lines};
use crate::{
    actors::front::unattended::{outcome::Outcome, words::Settle},
    cli::exit::Exit,
};

/// What a node tells a supervisor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum NodeOrder {
    /// Begin: the first line.
    Begin {
        /// Where the agent's process finds the log of its session. The supervisor hands it on as it is.
        log: Value,
    },
    /// Somebody stops the run, which ends with this exit code.
    Stop {
        /// The code of the signal that stands for it.
        exit: u8,
    },
    /// Another node goes on with the run: settle.
    HandOn,
    /// The run is not this node's any more: end at once.
    Lost,
}

/// Why a run ends before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Somebody stops it, with this exit code.
    By(Exit),
    /// Another node goes on with it.
    HandedOn,
}

impl Stop {
    /// What the worker is told.
    #[must_use]
    pub const fn settle(self) -> Settle {
        match self {
            Self::By(_) => Settle::Stopped,
            Self::HandedOn => Settle::HandedOn,
        }
    }

    /// Why the worker is killed when it does not settle.
    #[must_use]
    pub const fn killed(self) -> Killed {
        match self {
            Self::By(_) => Killed::Stopped,
            Self::HandedOn => Killed::HandedOn,
        }
    }

    /// How the run ends.
    #[must_use]
    pub const fn outcome(self) -> Outcome {
        self.settle().outcome()
    }
}

/// What is asked of a supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// End in order; nothing when the run is ending.
    Settle(Stop),
    /// End now.
    AtOnce(Stop),
}

/// What a signal asks for. Under a node, the machine's end is meant and not the run's: it goes on elsewhere.
#[must_use]
pub fn of_signal(signal: Exit, under_node: bool, is_ending: bool) -> Wish {
    match (under_node, is_ending) {
        (true, _) => Wish::Settle(Stop::HandedOn),
        (false, false) => Wish::Settle(Stop::By(signal)),
        (false, true) => Wish::AtOnce(Stop::By(signal)),
    }
}

/// What a node's order asks for; none for the end of its orders.
fn of_order(order: Option<&NodeOrder>) -> Option<Wish> {
    match order {
        Some(NodeOrder::Begin { .. }) => None,
        Some(NodeOrder::Stop { exit }) => {
            let signal = Exit::from_signal(i32::from(*exit) - 128);
            Some(Wish::Settle(Stop::By(signal.unwrap_or(Exit::Terminated))))
        }
        Some(NodeOrder::HandOn) | None => Some(Wish::Settle(Stop::HandedOn)),
        Some(NodeOrder::Lost) => Some(Wish::AtOnce(Stop::HandedOn)),
    }
}

/// The node of this supervisor.
pub struct Node {
    /// Where the agent's process finds the log of its session.
    pub log: Value,
    orders: Lines<File>,
}

impl Node {
    /// Hears the first order.
    ///
    /// # Errors
    /// It does not come, or is another one.
    pub fn on_stdin() -> io::Result<Self> {
        let mut input = File::from(stdin().as_fd().try_clone_to_owned()?);
        let mut begun = Vec::new();
        let mut byte = [0];
        while byte != *b"\n" {
            input.read_exact(&mut byte)?;
            begun.extend_from_slice(&byte);
        }
        match serde_json::from_slice(&begun)? {
            NodeOrder::Begin { log } => Ok(Self { log, orders: Lines::new(input, Vec::new())? }),
            other => Err(io::Error::other(format!("the first order is {other:?}"))),
        }
    }

    /// Where orders come from, while they may.
    pub fn orders(&self) -> Option<BorrowedFd<'_>> {
        self.orders.pipe()
    }

    /// What the orders that came ask for. The end of them is told once.
    pub fn wishes(&mut self) -> Vec<Wish> {
        let was_open = self.orders.pipe().is_some();
        let mut wishes = Vec::new();
        self.orders.take(|line| match serde_json::from_slice(line) {
            Ok(order) => wishes.extend(of_order(Some(&order))),
            Err(error) => tracing::debug!(%error, "no order of a node"),
        });
        if was_open && self.orders.pipe().is_none() {
            wishes.extend(of_order(None));
        }
        wishes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_a_node_nothing_but_an_order_stops_a_run_and_all_else_hands_it_on() {
        use Stop::{By, HandedOn};
        for (wish, wanted) in [
            (of_signal(Exit::Interrupted, false, false), Wish::Settle(By(Exit::Interrupted))),
            (of_signal(Exit::Terminated, false, true), Wish::AtOnce(By(Exit::Terminated))),
            (of_signal(Exit::Terminated, true, false), Wish::Settle(HandedOn)),
            (of_signal(Exit::Terminated, true, true), Wish::Settle(HandedOn)),
            (of_order(Some(&NodeOrder::Stop { exit: 130 })).unwrap(), Wish::Settle(By(Exit::Interrupted))),
            (of_order(Some(&NodeOrder::Stop { exit: 7 })).unwrap(), Wish::Settle(By(Exit::Terminated))),
            (of_order(Some(&NodeOrder::HandOn)).unwrap(), Wish::Settle(HandedOn)),
            (of_order(Some(&NodeOrder::Lost)).unwrap(), Wish::AtOnce(HandedOn)),
            (of_order(None).unwrap(), Wish::Settle(HandedOn)),
        ] {
            assert_eq!(wish, wanted);
        }
        assert_eq!((HandedOn.outcome(), By(Exit::Quit).outcome()), (Outcome::TakenOver, Outcome::Cancelled));
    }
}
