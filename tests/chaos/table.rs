//! Which actors are killed in which phase of the turn machine.

use crate::killer::Target;

/// All phases.
const ALWAYS: &[&str] =
    &["idle", "asking", "storing", "preparing", "streaming", "running_tools", "retry_wait", "compacting"];

/// The phases in which each kind of actor is alive while the script plays. What is alive for the last steps of its way
/// out only is not in it.
const TABLE: &[(&str, &[&str])] = &[
    ("Agent", ALWAYS),
    ("SessionWriter", ALWAYS),
    ("EventBus", ALWAYS),
    ("Compactor", ALWAYS),
    ("Jobs", ALWAYS),
    ("TurnLoop", ALWAYS),
    ("Extensions", ALWAYS),
    ("Extension", ALWAYS),
    ("UserBash", &["idle"]),
    ("InputGuard", &["idle"]),
    ("Asker", &["asking"]),
    ("StoreCheck", &["storing"]),
    ("Prepare", &["preparing"]),
    ("ProviderStream", &["streaming"]),
    ("ToolBatch", &["running_tools"]),
    ("CallGuard", &["running_tools"]),
    ("ToolCall", &["running_tools"]),
    ("Ask", &["idle", "asking", "storing", "preparing", "running_tools"]),
    ("Observe", &["idle", "asking", "storing", "preparing", "streaming", "running_tools", "retry_wait"]),
];

/// All pairs of the table.
pub fn targets() -> impl Iterator<Item = Target> {
    TABLE.iter().flat_map(|(kind, phases)| phases.iter().map(move |phase| (*kind, *phase)))
}
