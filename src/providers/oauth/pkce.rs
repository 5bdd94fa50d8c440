//! Secrets of one login: the verifier that ties the code to this process, and the state that ties the answer to the
//! question.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom as _, SystemRandom},
};

/// The operating system gave no random bytes; a login without them would not be safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gave no random numbers")]
pub struct NoRandomness;

/// A text that nobody can guess: 32 random bytes in base64url, 43 characters. It serves as verifier (RFC 7636 wants 43
/// to 128 characters) and as state.
///
/// # Errors
/// See [`NoRandomness`].
pub fn random_text() -> Result<String, NoRandomness> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The challenge of a verifier by the method `S256`.
#[must_use]
pub fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_example_in_rfc_7636() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn verifiers_are_long_enough_and_never_the_same() {
        let (one, other) = (random_text().unwrap(), random_text().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 43);
        assert!(one.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')), "{one}");
    }
}
