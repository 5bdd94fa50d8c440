//! Which actors are killed in which phase of the turn machine.

use crate::killer::Target;

/// The phases in which each kind of actor is alive while the script plays.
const TABLE: &[(&str, &[&str])] = &[];

/// All pairs of the table.
pub fn targets() -> impl Iterator<Item = Target> {
    TABLE.iter().flat_map(|(kind, phases)| phases.iter().map(move |phase| (*kind, *phase)))
}
