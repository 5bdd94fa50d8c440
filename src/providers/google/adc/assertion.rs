//! The signed statement with which a service account asks for a token (RFC 7523, RS256).

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use rustls::pki_types::{PrivateKeyDer, pem::PemObject};
use serde_json::{Map, Value, json};

/// What a token may be used for.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// How long the statement is good, in seconds: the longest that Google takes.
const LIFETIME: i64 = 3600;

/// Who signs.
#[derive(Clone, Copy)]
pub(super) struct Signer<'a> {
    /// The account.
    pub(super) email: &'a str,
    /// Its private key, PEM.
    pub(super) private_key: &'a str,
    /// The key's id.
    pub(super) key_id: Option<&'a str>,
}

impl Signer<'_> {
    /// The statement for the server at `audience`, signed at `now` (seconds).
    ///
    /// # Errors
    /// The key cannot be used; the text does not show it.
    pub(super) fn sign(&self, audience: &str, now: i64) -> Result<String, String> {
        let key = key_pair(self.private_key)?;
        let mut header = Map::new();
        header.insert("alg".into(), "RS256".into());
        header.insert("typ".into(), "JWT".into());
        if let Some(id) = self.key_id {
            header.insert("kid".into(), id.into());
        }
        let claims = json!({"iss": self.email, "scope": SCOPE, "aud": audience, "iat": now, "exp": now + LIFETIME});
        let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", encode(&Value::Object(header)), encode(&claims));
        let mut signature = vec![0; key.public().modulus_len()];
        key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature)
            .map_err(|_| "the private key cannot sign".to_owned())?;
        Ok(format!("{message}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)))
    }
}

fn key_pair(pem: &str) -> Result<RsaKeyPair, String> {
    let refused = |why: &str| {
        format!("the field \"private_key\" holds no RSA key that can be used ({why}); download the key again")
    };
    let pair = match PrivateKeyDer::from_pem_slice(pem.as_bytes()) {
        Ok(PrivateKeyDer::Pkcs8(key)) => RsaKeyPair::from_pkcs8(key.secret_pkcs8_der()),
        Ok(PrivateKeyDer::Pkcs1(key)) => RsaKeyPair::from_der(key.secret_pkcs1_der()),
        _ => return Err(refused("no PEM of one")),
    };
    pair.map_err(|error| refused(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use ring::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

    use super::*;

    /// Made for this test and used nowhere else.
    const KEY: &str = include_str!("test_key.pem");

    #[test]
    fn the_statement_says_who_asks_for_what_and_is_signed() {
        let signer = Signer { email: "robot@p.iam", private_key: KEY, key_id: Some("k1") };
        let statement = signer.sign("http://localhost/token", 1_000).unwrap();
        let parts: Vec<&str> = statement.split('.').collect();
        let decode = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).unwrap();
        let json = |text: &str| serde_json::from_slice::<Value>(&decode(text)).unwrap();
        assert_eq!(json(parts[0]), json!({"alg": "RS256", "typ": "JWT", "kid": "k1"}));
        assert_eq!(
            json(parts[1]),
            json!({"iss": "robot@p.iam", "scope": SCOPE, "aud": "http://localhost/token", "iat": 1000, "exp": 4600})
        );
        let pair = key_pair(KEY).unwrap();
        let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref());
        public.verify(format!("{}.{}", parts[0], parts[1]).as_bytes(), &decode(parts[2])).unwrap();
    }

    #[test]
    fn a_key_that_cannot_be_used_is_not_shown() {
        for key in ["hidden", "-----BEGIN PRIVATE KEY-----\naGlkZGVu\n-----END PRIVATE KEY-----\n"] {
            let problem = Signer { email: "e", private_key: key, key_id: None }.sign("a", 1).unwrap_err();
            assert!(problem.contains("\"private_key\"") && !problem.contains("hidden"), "{problem}");
            assert!(!problem.contains("aGlkZGVu"), "{problem}");
        }
    }
}
