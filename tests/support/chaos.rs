//! Chances that a seed chooses, and a run of several steps in which something may happen.

use serde_json::json;

use super::{Reply, Request, call, calls, text, wait_for_file};

/// The seeds that are played: so many, or the one that `TROUPE_CHAOS_SEED` names.
pub fn seeds(usual: u64) -> Vec<u64> {
    match std::env::var("TROUPE_CHAOS_SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => (0..usual).collect(),
    }
}

/// Pseudo-random numbers, each below what it is asked for.
pub fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    }
}

/// Some of these, chosen by the seed.
pub fn chosen<T: Copy>(seed: u64, count: u64, from: &[T]) -> Vec<T> {
    let mut number = numbers(seed);
    (0..count).map(|_| from[usize::try_from(number(from.len() as u64)).unwrap()]).collect()
}

/// A model that has a command run for each step: it writes the step into `effects` and its process into `pidN`, and waits
/// for `goN`. The conversation says which step is next: each is called once.
pub fn steps(count: u64) -> impl FnMut(&Request) -> Reply + Send + 'static {
    move |request| {
        let all = request.body["messages"].to_string();
        let begun = (1..=count).take_while(|n| all.contains(&format!("echo {n} >> effects"))).count() as u64;
        match begun + 1 {
            n if n > count => text("done"),
            n => {
                let command = format!("echo {n} >> effects; echo $$ > pid{n}; {}", wait_for_file(&format!("go{n}")));
                calls([call("bash", json!({"command": command}))])
            }
        }
    }
}
