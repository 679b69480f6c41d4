//! The certificates that a client trusts: those of one private authority, or of Mozilla's list. Also explains failed
//! connections and names a remedy.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, Error as TlsError, InvalidMessage, RootCertStore};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Largest length of an authority's PEM text: 64 KiB, in bytes.
pub const LARGEST_AUTHORITY: usize = 64 << 10;
/// Largest number of certificates in it.
const MOST_CERTIFICATES: usize = 16;
const DAY: u64 = 86_400;

/// Returns true if `name` is a host name or an IP address for which a certificate can be issued.
///
/// ```
/// use sotto_http::is_host;
///
/// assert!(is_host("farm.example") && is_host("192.168.1.7") && !is_host("farm:7410"));
/// ```
#[must_use]
pub fn is_host(name: &str) -> bool {
    ServerName::try_from(name).is_ok()
}

/// The authorities whose certificates a client accepts. The default is Mozilla's list.
///
/// ```
/// use sotto_http::Trust;
///
/// // `pem` is the ca.pem of `sotto tls init`.
/// # let pem = "\
/// # -----BEGIN CERTIFICATE-----\n\
/// # MIIBdjCCARugAwIBAgIUH7M/yFfg8lOfpe3b0ZW/YDQMPO8wCgYIKoZIzj0EAwIw\n\
/// # DzENMAsGA1UEAwwEZmFybTAgFw0yNjExMjQxNDM5MzFaGA8yMTI2MTAzMTE0Mzkz\n\
/// # MVowDzENMAsGA1UEAwwEZmFybTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABD+B\n\
/// # OL8C/FBc214GIDwYfNA65xXN2dy4GODla+RI9VNmhm0KZE+V76JTMYfgTtkV8B+b\n\
/// # PFYy58/dBurcqEntf3GjUzBRMB0GA1UdDgQWBBQVdO2+VkAn7MQGoOQOBnvkL7Oc\n\
/// # XzAfBgNVHSMEGDAWgBQVdO2+VkAn7MQGoOQOBnvkL7OcXzAPBgNVHRMBAf8EBTAD\n\
/// # AQH/MAoGCCqGSM49BAMCA0kAMEYCIQDy3qfTG+UBwOF4PSuvNVjTnjsUopxGG13e\n\
/// # 9vCBX6w6EAIhAMEdkVqIPObF0SijEKp3LI2YPf4UNjyF5ZjSbTLUwa16\n\
/// # -----END CERTIFICATE-----\n\
/// # ";
/// let farm = Trust::pinned(pem.as_bytes())?;
/// assert_ne!(farm, Trust::default()); // Mozilla's list
/// let config = ureq::Agent::config_builder().tls_config(farm.tls_config()).build();
/// let agent = ureq::Agent::new_with_config(config);
/// # drop(agent);
/// # Ok::<(), sotto_http::NotAnAuthority>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// Certificates in DER; None: Mozilla's list.
    authorities: Option<Arc<[Vec<u8>]>>,
}

/// The bytes are not the PEM text of one or more authorities.
///
/// ```
/// use sotto_http::{NotAnAuthority, Trust};
///
/// // The file holds something else.
/// let refused: Result<Trust, NotAnAuthority> = Trust::pinned(b"no PEM");
/// assert!(refused.expect_err("not PEM").to_string().contains("no certificate is in it"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no PEM certificate of an authority (-----BEGIN CERTIFICATE-----, at most 64 KiB): {0}")]
pub struct NotAnAuthority(String);

impl Trust {
    /// Trusts only the authorities in a PEM text of at most [`LARGEST_AUTHORITY`] bytes.
    ///
    /// # Errors
    /// [`NotAnAuthority`] if the text is too long, is not PEM, or does not hold 1 to 16 authorities.
    pub fn pinned(pem: &[u8]) -> Result<Self, NotAnAuthority> {
        let wrong = |reason: &dyn ToString| NotAnAuthority(reason.to_string());
        if pem.len() > LARGEST_AUTHORITY {
            return Err(wrong(&"it is too long"));
        }
        let mut authorities = Vec::new();
        for certificate in CertificateDer::pem_slice_iter(pem).take(MOST_CERTIFICATES + 1) {
            let certificate = certificate.map_err(|error| wrong(&error))?;
            RootCertStore::empty().add(certificate.clone()).map_err(|error| wrong(&error))?;
            authorities.push(certificate.to_vec());
        }
        match authorities.len() {
            0 => Err(wrong(&"no certificate is in it")),
            1..=MOST_CERTIFICATES => Ok(Self { authorities: Some(authorities.into()) }),
            _ => Err(wrong(&"too many certificates are in it")),
        }
    }

    /// Returns the authorities' certificates in DER; None: Mozilla's list.
    #[must_use]
    pub fn authorities(&self) -> Option<&[Vec<u8>]> {
        self.authorities.as_deref()
    }

    /// Returns the TLS configuration for a ureq client.
    #[must_use]
    pub fn tls_config(&self) -> TlsConfig {
        let roots = match &self.authorities {
            Some(authorities) => {
                authorities.iter().map(|der| Certificate::from_der(der).to_owned()).collect::<Vec<_>>().into()
            }
            None => RootCerts::WebPki,
        };
        TlsConfig::builder().root_certs(roots).build()
    }

    /// Returns the TLS configuration for a rustls client, for protocols other than HTTP. Its provider is ring.
    ///
    /// # Errors
    /// A TLS error if an authority cannot be used.
    pub fn client_config(&self) -> Result<ClientConfig, TlsError> {
        let mut roots = RootCertStore::empty();
        match &self.authorities {
            Some(authorities) => {
                for der in authorities.iter() {
                    roots.add(CertificateDer::from(der.clone()))?;
                }
            }
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        Ok(builder.with_root_certificates(roots).with_no_client_auth())
    }

    /// Explains why a connection to `url` failed. Names a remedy if TLS is the cause.
    ///
    /// ```
    /// use sotto_http::Trust;
    /// use rustls::{CertificateError, Error};
    ///
    /// // A connection to the cloud failed: the program says what to do.
    /// let expired = Error::InvalidCertificate(CertificateError::Expired);
    /// let explained = Trust::default().explain("https://farm.example:7410", &ureq::Error::Rustls(expired));
    /// assert!(explained.contains("has expired") && explained.contains("`sotto tls renew`"));
    /// ```
    #[must_use]
    pub fn explain(&self, url: &str, error: &ureq::Error) -> String {
        self.tls_failure(url, error).unwrap_or_else(|| error.to_string())
    }

    /// Explains a failed connection to `url` and names a remedy if TLS is the cause; None for other causes.
    pub(crate) fn tls_failure(&self, url: &str, error: &ureq::Error) -> Option<String> {
        let tls = match error {
            ureq::Error::Rustls(error) => Some(error),
            ureq::Error::Io(error) => error.get_ref().and_then(|inner| inner.downcast_ref::<TlsError>()),
            _ => None,
        };
        match tls? {
            TlsError::InvalidCertificate(error) => Some(self.certificate_cure(url, error)),
            TlsError::InvalidMessage(InvalidMessage::InvalidContentType) => Some(format!(
                "{url} does not answer in TLS: give that server a certificate (`sotto tls init` makes one), or write http:// for a server \
                 on this machine"
            )),
            other => Some(format!("no TLS connection to {url}: {other}")),
        }
    }

    fn certificate_cure(&self, url: &str, error: &CertificateError) -> String {
        match error {
            CertificateError::ExpiredContext { time, not_after } => {
                let days = time.as_secs().saturating_sub(not_after.as_secs()) / DAY;
                let ago = match days {
                    0 => "less than a day ago".to_owned(),
                    1 => "1 day ago".to_owned(),
                    days => format!("{days} days ago"),
                };
                format!(
                    "the certificate of {url} expired {ago} by this machine's clock: make a new one with `sotto tls renew` and copy it to \
                     the server"
                )
            }
            CertificateError::Expired => {
                format!(
                    "the certificate of {url} has expired: make a new one with `sotto tls renew` and copy it to the server"
                )
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                format!(
                    "the certificate of {url} is not valid yet by this machine's clock: set the clock right"
                )
            }
            CertificateError::NotValidForNameContext { expected, presented } => {
                let (expected, presented) = (expected.to_str(), presented.join(", "));
                format!(
                    "the certificate of {url} is for {presented}: use one of these names in the address, or make a certificate for this one \
                     with `sotto tls renew --host {expected}`"
                )
            }
            CertificateError::UnknownIssuer | CertificateError::BadSignature => self.another_authority(url),
            other => format!("the certificate of {url} cannot be accepted: {other:?}"),
        }
    }

    fn another_authority(&self, url: &str) -> String {
        if self.authorities.is_some() {
            format!(
                "the certificate of {url} is not signed by the authority that this program was given: another server answers there, or its \
                 certificate was made by another authority. Give the ca.pem that belongs to the certificate: `[cloud] ca` in sotto.toml, then \
                 `sotto device renew` for bundles, or --ca FILE"
            )
        } else {
            format!(
                "the certificate of {url} is signed by no authority on the list of this program. Name a private one, such as the ca.pem of \
                 `sotto tls init`: `[cloud] ca` in sotto.toml, then `sotto device renew` for bundles, or --ca FILE"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_holds_no_authority_is_refused() {
        let block =
            |inside: &str| format!("-----BEGIN CERTIFICATE-----\n{inside}\n-----END CERTIFICATE-----\n");
        for wrong in ["", "no PEM", &block("AAAA"), &block("%"), "-----BEGIN CERTIFICATE-----\nAAAA"] {
            assert!(Trust::pinned(wrong.as_bytes()).is_err(), "{wrong}");
        }
        let long = vec![b' '; LARGEST_AUTHORITY + 1];
        assert!(Trust::pinned(&long).unwrap_err().to_string().contains("too long"));
    }

    #[test]
    fn each_failure_names_its_cure() {
        use rustls::pki_types::UnixTime;
        use std::time::Duration;
        let at = |days| UnixTime::since_unix_epoch(Duration::from_secs(days * DAY));
        let said = |error: TlsError| {
            let error = ureq::Error::Io(std::io::Error::new(std::io::ErrorKind::InvalidData, error));
            Trust::default().explain("https://farm:7410", &error)
        };
        let certificate = |error| said(TlsError::InvalidCertificate(error));
        let expired = certificate(CertificateError::ExpiredContext { time: at(12), not_after: at(9) });
        assert!(expired.contains("expired 3 days ago") && expired.contains("`sotto tls renew`"), "{expired}");
        let early = CertificateError::NotValidYetContext { time: at(1), not_before: at(2) };
        assert!(certificate(early).contains("clock"));
        let name = CertificateError::NotValidForNameContext {
            expected: ServerName::try_from("farm").unwrap(),
            presented: vec!["DnsName(\"barn\")".into()],
        };
        let name = certificate(name);
        assert!(name.contains("barn") && name.contains("--host farm"), "{name}");
        assert!(certificate(CertificateError::UnknownIssuer).contains("--ca FILE"));
        assert!(said(TlsError::InvalidMessage(InvalidMessage::InvalidContentType)).contains("http://"));
        // Other failures keep their own text.
        assert!(said(TlsError::DecryptError).contains("decrypt"));
        assert_eq!(
            Trust::default().explain("", &ureq::Error::HostNotFound),
            ureq::Error::HostNotFound.to_string()
        );
    }
}
