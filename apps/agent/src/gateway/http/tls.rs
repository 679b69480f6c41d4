//! TLS 1.3 and 1.2 for senders on other machines.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use super::secret;

/// Maximum bytes of a certificate file, and of a key file.
const LONGEST_CERTIFICATES: u64 = 256 << 10;
const LONGEST_KEY: usize = 64 << 10;

/// Reads certificate and key.
///
/// # Errors
/// A file cannot be read or is not PEM of its kind, others can read the key, or both do not belong together.
pub(super) fn open(certificate: &Path, key: &Path) -> Result<TlsAcceptor> {
    let chain = certificates(certificate)
        .with_context(|| format!("no certificate can be read from {}", certificate.display()))?;
    let cannot = || format!("no private key can be read from {}", key.display());
    let pem = secret::read(key, LONGEST_KEY).with_context(cannot)?;
    // The signing library keeps a copy of its own, which it does not wipe.
    let private = PrivateKeyDer::from_pem_slice(&pem).with_context(cannot)?;
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .with_context(|| {
            format!("{} and {} cannot be used together", certificate.display(), key.display())
        })?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let mut pem = Vec::new();
    fs::File::open(path)?.take(LONGEST_CERTIFICATES + 1).read_to_end(&mut pem)?;
    ensure!(pem.len() as u64 <= LONGEST_CERTIFICATES, "it has more than {LONGEST_CERTIFICATES} bytes");
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(&pem).collect::<Result<_, _>>()?;
    ensure!(!chain.is_empty(), "it holds no certificate in PEM: -----BEGIN CERTIFICATE-----");
    Ok(chain)
}
