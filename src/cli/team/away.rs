//! Where agents of a team work when that is not this process: `--on` and what belongs to it.

use crate::cli::{nats::flags::NatsFlags, subcommand::option};

/// The place, as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Away {
    /// The server.
    pub nats: NatsFlags,
    /// Whose workers take the agents; none for the usual ones.
    pub pool: Option<String>,
}

impl Away {
    /// Takes the place out of words, and gives what is left. None when agents work in this process.
    ///
    /// # Errors
    /// The words make no sense, or this build knows no such place.
    pub fn take(words: &[String]) -> Result<(Option<Self>, Vec<String>), String> {
        let (nats, words) = NatsFlags::take(words)?;
        let (mut pool, mut left) = (None, Vec::new());
        let mut rest = words.into_iter();
        while let Some(word) = rest.next() {
            match option(&word) {
                ("--pool", inline) => {
                    let value = inline.map(str::to_owned).or_else(|| rest.next());
                    pool = Some(value.ok_or("--pool needs a value.")?);
                }
                _ => left.push(word),
            }
        }
        if nats.on.is_none() {
            return match pool.is_some() || nats != NatsFlags::default() {
                true => Err("--pool and --nats-… need --on.".to_owned()),
                false => Ok((None, left)),
            };
        }
        #[cfg(not(feature = "nats"))]
        return Err(crate::cli::nats::missing::TEXT.to_owned());
        #[cfg(feature = "nats")]
        match left.iter().any(|word| option(word).0 == "--api-key") {
            true => Err("--api-key is not for agents that work elsewhere: each worker has keys of its own.".to_owned()),
            false => Ok((Some(Self { nats, pool }), left)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(line: &str) -> Result<(Option<Away>, Vec<String>), String> {
        Away::take(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn agents_work_in_this_process_unless_a_server_is_named() {
        assert_eq!(take("--model m"), Ok((None, vec!["--model".into(), "m".into()])));
        for line in ["--pool gpu", "--nats-creds c", "--on", "--on nats://h --pool"] {
            assert!(take(line).is_err(), "{line}");
        }
    }

    #[cfg(feature = "nats")]
    #[test]
    fn the_server_and_the_pool_are_taken_out_of_the_words_and_keys_stay_here() {
        let (away, left) = take("--on=nats://h --model m --pool gpu").unwrap();
        assert_eq!((away.unwrap().pool.as_deref(), left.join(" ").as_str()), (Some("gpu"), "--model m"));
        assert!(take("--on nats://h --api-key k").unwrap_err().contains("keys of its own"));
    }
}
