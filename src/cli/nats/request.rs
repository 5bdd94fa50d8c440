//! Requesting a run: for the first time, or to go on with it. Any number of processes may do so at the same time.

use super::record::{Ended, SPEC, STOP, Submitted, standing};
use crate::actors::nats::{Hub, Job, NatsError, Put, Versioned};

/// How often other processes may come between before one gives up.
const ATTEMPTS: usize = 5;

/// A run that was requested.
pub struct Requested {
    /// The latest request.
    pub submitted: Submitted,
    /// We made it: what happened before it is not ours to tell.
    pub is_fresh: bool,
    /// How it ended, when it has.
    pub ended: Option<Ended>,
}

/// Has the server work on a run. One that it does not know begins with the request `first`; of one that it knows, `next` is
/// told the latest request and its end, and gives the request that follows, or none when the latest one will do. None when
/// others came between too often.
///
/// # Errors
/// The server cannot be used, or what `first` and `next` say.
pub async fn requested<E: From<NatsError>>(
    hub: &Hub,
    run: &str,
    mut first: impl FnMut() -> Result<Submitted, E>,
    mut next: impl FnMut(&Submitted, Option<&Ended>) -> Result<Option<Submitted>, E>,
) -> Result<Option<Requested>, E> {
    for _ in 0..ATTEMPTS {
        let known: Option<Versioned<Submitted>> = hub.get(run, SPEC).await?;
        let (submitted, is_fresh) = match known {
            None => {
                let new = first()?;
                match hub.put_new(run, SPEC, &new).await? {
                    Put::New => (new, true),
                    Put::There(_) => continue,
                }
            }
            Some(Versioned { value, revision }) => {
                let ended = value.end(hub).await?;
                match next(&value, ended.as_ref())? {
                    None if ended.is_some() => {
                        return Ok(Some(Requested { submitted: value, is_fresh: false, ended }));
                    }
                    None => (value, false),
                    Some(next) => {
                        if hub.update(run, SPEC, revision, &next).await?.is_none() {
                            continue;
                        }
                        // The wish was for the request before.
                        hub.delete(run, STOP).await?;
                        (next, true)
                    }
                }
            }
        };
        // Somebody may have made the request and died before it was queued.
        if is_fresh || standing(hub, run).await?.taken(submitted.number).is_none() {
            hub.submit(&submitted.pool, &Job { run: run.to_owned(), number: submitted.number }).await?;
        }
        return Ok(Some(Requested { submitted, is_fresh, ended: None }));
    }
    Ok(None)
}
