//! Storing the result of a request.

use super::record::{Ended, RESULT};
use crate::actors::nats::{Hub, NatsError, Put};

/// Stores the result of a request, unless a later request or a later owner has stored one.
///
/// # Errors
/// The server cannot be used.
pub async fn store(hub: &Hub, run: &str, ended: &Ended) -> Result<(), NatsError> {
    loop {
        match hub.get::<Ended>(run, RESULT).await? {
            None => match hub.put_new(run, RESULT, ended).await? {
                Put::New => return Ok(()),
                Put::There(_) => {}
            },
            Some(there) if !replaces(ended, &there.value) => return Ok(()),
            Some(there) => {
                if hub.update(run, RESULT, there.revision, ended).await?.is_some() {
                    return Ok(());
                }
            }
        }
    }
}

/// Whether a result takes the place of another one.
fn replaces(new: &Ended, old: &Ended) -> bool {
    (new.number, new.epoch) > (old.number, old.epoch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{actors::front::unattended::outcome::Outcome, cli::runs::result::RunResult};

    #[test]
    fn a_result_of_an_owner_that_was_overtaken_replaces_nothing() {
        let ended = |number, epoch| Ended { number, epoch, node: None, result: RunResult::nothing(Outcome::Done) };
        for (new, old, wanted) in [
            ((1, 5), (1, 4), true),
            ((1, 4), (1, 5), false),
            ((1, 4), (1, 4), false),
            ((2, 1), (1, 9), true),
            ((1, 9), (2, 1), false),
        ] {
            assert_eq!(replaces(&ended(new.0, new.1), &ended(old.0, old.1)), wanted, "{new:?} {old:?}");
        }
    }
}
