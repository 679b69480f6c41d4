//! The certificate by which a member of a plant's workers is known.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use anyhow::Context as _;
use tonic::transport::{Certificate, ClientTlsConfig, ServerTlsConfig};
use url::{Host, Url};

/// The files of a member's folder.
pub(super) const AUTHORITY: &str = "authority.pem";
pub(super) const CERTIFICATE: &str = "identity.pem";
pub(super) const KEY: &str = "identity.key";
/// The name in all certificates.
pub(super) const NAME: &str = "worker.lake.sotto";

/// The certificate of a member, its key, and the authority that it believes.
#[derive(Clone)]
pub struct Identity {
    authority: String,
    certificate: String,
    key: String,
}

impl Identity {
    /// Reads a member's folder.
    ///
    /// # Errors
    /// A file is missing.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let read = |name: &str| {
            let file = folder.join(name);
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
        };
        Ok(Self { authority: read(AUTHORITY)?, certificate: read(CERTIFICATE)?, key: read(KEY)? })
    }

    fn pair(&self) -> tonic::transport::Identity {
        tonic::transport::Identity::from_pem(&self.certificate, &self.key)
    }

    /// Returns the TLS of a server that admits members alone.
    pub(super) fn server(&self) -> ServerTlsConfig {
        ServerTlsConfig::new().identity(self.pair()).client_ca_root(Certificate::from_pem(&self.authority))
    }

    pub(super) fn client(&self) -> ClientTlsConfig {
        let authority = Certificate::from_pem(&self.authority);
        ClientTlsConfig::new().ca_certificate(authority).identity(self.pair()).domain_name(NAME)
    }
}

/// Returns true if only this machine reaches an address.
pub(super) fn is_loopback(address: IpAddr) -> bool {
    address.is_loopback()
}

/// Refuses the address of a worker that others could reach, or be, without TLS.
pub(super) fn check(url: &Url, identity: Option<&Identity>) -> anyhow::Result<()> {
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match (url.scheme(), identity) {
        ("https", Some(_)) => Ok(()),
        ("https", None) => {
            anyhow::bail!("{url} needs --identity, the folder that `sotto-lake authority` made")
        }
        ("http", _) if is_here => Ok(()),
        _ => anyhow::bail!("{url}: write https://HOST:PORT, or http:// for a worker on this machine"),
    }
}
