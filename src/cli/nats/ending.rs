//! Storing the result of a request.

use super::record::{Ended, RESULT};
use crate::{
    actors::nats::{Hub, NatsError, Put},
    cli::runs::result::RunResult,
};

/// Stores the result of a request, unless a later request or a later owner has stored one. One that is larger than the server
/// takes is stored without what makes it so: the run is over, and nothing of it is done again for that.
///
/// # Errors
/// The server cannot be used.
pub async fn store(hub: &Hub, run: &str, ended: &Ended) -> Result<(), NatsError> {
    match store_whole(hub, run, ended).await {
        Err(NatsError::TooLarge { size, limit, .. }) => {
            let result = shortened(ended.result.clone(), size, limit);
            store_whole(hub, run, &Ended { result, ..ended.clone() }).await
        }
        stored => stored,
    }
}

async fn store_whole(hub: &Hub, run: &str, ended: &Ended) -> Result<(), NatsError> {
    loop {
        match hub.get::<Ended>(run, RESULT).await {
            Ok(None) => match hub.put_new(run, RESULT, ended).await? {
                Put::New => return Ok(()),
                Put::There(_) => {}
            },
            Ok(Some(there)) if !replaces(ended, &there.value) => return Ok(()),
            Ok(Some(there)) => {
                if hub.update(run, RESULT, there.revision, ended).await?.is_some() {
                    return Ok(());
                }
            }
            // What nobody can read is no result.
            Err(NatsError::Unreadable { .. }) => return hub.put(run, RESULT, ended).await.map(drop),
            Err(error) => return Err(error),
        }
    }
}

/// A result that had `size` bytes, as one that has not more than `limit`.
fn shortened(result: RunResult, size: usize, limit: usize) -> RunResult {
    // A character may take six bytes in JSON, and twelve when it is beyond the first plane.
    let most = limit / 32;
    let cut = |text: String| match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}… (cut: the whole result is larger than what the server takes)", &text[..end]),
        None => text,
    };
    let told = format!(
        "The result has {size} bytes and the server takes {limit}: its answer is cut, and lists and values are left out. The \
         session has all of it."
    );
    let reason = match result.reason {
        Some(reason) => format!("{} ({told})", cut(reason)),
        None => told,
    };
    RunResult {
        reason: Some(reason),
        answer: result.answer.map(cut),
        value: None,
        denied: Vec::new(),
        changed_files: Vec::new(),
        ..result
    }
}

/// Whether a result takes the place of another one.
fn replaces(new: &Ended, old: &Ended) -> bool {
    (new.number, new.epoch) > (old.number, old.epoch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actors::front::unattended::outcome::Outcome;

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

    #[test]
    fn a_result_that_is_too_large_keeps_how_it_ended_and_what_fits_of_the_rest() {
        let nothing = RunResult::nothing(Outcome::VerificationFailed);
        for (character, limit) in [('x', 1 << 20), ('"', 1 << 16), ('\u{1}', 1 << 16), ('😀', 1 << 16), ('ä', 1 << 13)]
        {
            let text: String = std::iter::repeat_n(character, 1 << 20).collect();
            let large = RunResult {
                reason: Some(text.clone()),
                answer: Some(text.clone()),
                value: Some(text.clone().into()),
                changed_files: vec![text.clone()],
                denied: vec![text],
                ..nothing.clone()
            };
            let short = shortened(large, 5 << 20, limit);
            assert!(serde_json::to_vec(&short).unwrap().len() < limit, "{character:?}");
            assert_eq!((short.outcome, short.exit), (nothing.outcome, nothing.exit));
            assert!(short.answer.unwrap().contains("… (cut") && short.reason.unwrap().contains("5242880 bytes"));
        }
        assert_eq!(shortened(RunResult { reason: None, ..nothing }, 9, 8).reason.unwrap().matches("bytes").count(), 1);
    }
}
