//! The names of streams, buckets and subjects.

use super::NatsError;
use crate::store::session::check_session_id;

/// See the module. All begin with the prefix.
#[derive(Clone, Debug)]
pub(super) struct Names {
    prefix: String,
}

impl Names {
    /// The names with a prefix.
    ///
    /// # Errors
    /// It cannot be a part of a name.
    pub(super) fn new(prefix: &str) -> Result<Self, NatsError> {
        Ok(Self { prefix: word(prefix)?.to_owned() })
    }

    pub(super) fn jobs(&self) -> String {
        format!("{}_jobs", self.prefix)
    }

    pub(super) fn log(&self) -> String {
        format!("{}_log", self.prefix)
    }

    pub(super) fn events(&self) -> String {
        format!("{}_events", self.prefix)
    }

    pub(super) fn runs(&self) -> String {
        format!("KV_{}_runs", self.prefix)
    }

    pub(super) fn leases(&self) -> String {
        format!("KV_{}_leases", self.prefix)
    }

    /// The bucket of the object store: not its stream.
    pub(super) fn sessions(&self) -> String {
        format!("{}_sessions", self.prefix)
    }

    /// The subject of a stream that has one for each run or pool: `log`, `events`, `jobs`, `ctl`.
    pub(super) fn subject(&self, kind: &str, of: &str) -> String {
        format!("{}.{kind}.{of}", self.prefix)
    }

    /// The subject of a record.
    pub(super) fn record(&self, run: &str, kind: &str) -> String {
        format!("$KV.{}_runs.{run}.{kind}", self.prefix)
    }

    /// The subject of a lease.
    pub(super) fn lease(&self, run: &str) -> String {
        format!("$KV.{}_leases.{run}", self.prefix)
    }

    /// The subjects of a bucket, as the stream below it has them.
    pub(super) fn of_bucket(&self, bucket: &str) -> String {
        format!("$KV.{}_{bucket}.>", self.prefix)
    }
}

/// A word of a subject.
pub(super) fn word(name: &str) -> Result<&str, NatsError> {
    let fits = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if fits { Ok(name) } else { Err(NatsError::BadName(name.to_owned())) }
}

/// The id of a run: it may have points, but no empty word.
pub(super) fn run_id(id: &str) -> Result<&str, NatsError> {
    match check_session_id(id) {
        Ok(()) if !id.contains("..") => Ok(id),
        _ => Err(NatsError::BadName(id.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_in_a_subject_is_a_name() {
        for good in ["troupe", "a-b_C9"] {
            assert!(word(good).is_ok() && run_id(good).is_ok(), "{good}");
        }
        for bad in ["", "a b", "a*", ">", "a/b"] {
            assert!(word(bad).is_err() && run_id(bad).is_err(), "{bad}");
        }
        assert!(word("a.b").is_err() && run_id("a.b").is_ok());
        assert!(run_id("a..b").is_err() && run_id(".a").is_err());
    }
}
