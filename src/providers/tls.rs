//! TLS: the crypto provider, and certificates beyond those of the system.
//!
//! The client verifies with the platform's own store. On Linux that store already honours `SSL_CERT_FILE` and
//! `SSL_CERT_DIR`, instead of the system's certificates; elsewhere `SSL_CERT_FILE` is added by us, and everywhere
//! `NODE_EXTRA_CA_CERTS`, which people with a company's certificate have set for pi.

use std::{ffi::OsString, path::PathBuf};

use reqwest::Certificate;

use crate::protocol::{Failure, FailureClass};

/// Makes `ring` the process's crypto provider. Calling it again does nothing; other TLS users in the process may have
/// installed their own before.
pub fn install_crypto_provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Fails only when another thread was faster.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

/// Certificates of authorities to trust beside the platform's.
///
/// # Errors
/// When a named file cannot be read or holds no certificate; the text names the variable and the file.
pub(crate) fn extra_roots(variable: impl Fn(&str) -> Option<OsString>) -> Result<Vec<Certificate>, Failure> {
    let names: &[&str] =
        if cfg!(target_os = "linux") { &["NODE_EXTRA_CA_CERTS"] } else { &["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"] };
    let mut roots = Vec::new();
    for name in names {
        let Some(path) = variable(name).filter(|path| !path.is_empty()).map(PathBuf::from) else { continue };
        let refuse = |why: String| {
            let text = format!("{name}={}: {why}; it must name a PEM file with certificates", path.display());
            Failure::new(FailureClass::InvalidRequest, text)
        };
        let pem = std::fs::read(&path).map_err(|error| refuse(error.to_string()))?;
        let found =
            Certificate::from_pem_bundle(&pem).map_err(|_| refuse("it holds no readable certificate".into()))?;
        if found.is_empty() {
            return Err(refuse("it holds no certificate".into()));
        }
        roots.extend(found);
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_file_that_is_no_certificate_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        let read = |path: PathBuf| extra_roots(|name| (name == "NODE_EXTRA_CA_CERTS").then(|| path.clone().into()));
        let missing = read(path.clone()).unwrap_err();
        assert!(missing.message.contains("NODE_EXTRA_CA_CERTS") && missing.message.contains("ca.pem"), "{missing}");
        std::fs::write(&path, "no certificate").unwrap();
        assert!(read(path.clone()).is_err());
        std::fs::write(&path, include_str!("../../tests/fixtures/tls/ca.pem")).unwrap();
        assert_eq!(read(path).unwrap().len(), 1);
        assert!(extra_roots(|_| None).unwrap().is_empty());
        assert!(extra_roots(|_| Some(OsString::new())).unwrap().is_empty());
    }
}
