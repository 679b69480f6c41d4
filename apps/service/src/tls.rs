//! TLS 1.3 and 1.2 by rustls, with certificate and key from files that are read again when they change.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, ensure};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::private;

/// Maximum bytes of a certificate file.
const LONGEST_CERTIFICATES: u64 = 256 << 10;
/// Maximum bytes of a key file.
const LONGEST_KEY: usize = 64 << 10;
/// Minimum time between two checks of the files; a check is made when a connection arrives.
const INTERVAL: Duration = Duration::from_secs(1);
/// The first byte of a TLS connection: a handshake record.
const HANDSHAKE: u8 = 0x16;
/// Maximum bytes read of a request without TLS, so that its sender gets to read the answer.
const LINGER_BYTES: usize = 16 << 20;
const LINGER_TIME: Duration = Duration::from_secs(2);
/// The answer to a request without TLS.
const TLS_REQUIRED: &str = r#"{"type":"urn:sotto:problem:tls-required","title":"TLS required","status":400,"detail":"this port speaks TLS: write https:// in the address","reason":"tls-required"}"#;

/// PEM files: a chain of certificates, the service's own first, and the private key of the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The chain.
    pub certificate: PathBuf,
    /// The private key; only its owner may read the file.
    pub key: PathBuf,
}

impl Files {
    /// Returns both files, or `None` if neither is named.
    ///
    /// # Errors
    /// Only one of them is named.
    pub fn named(certificate: Option<PathBuf>, key: Option<PathBuf>) -> anyhow::Result<Option<Self>> {
        match (certificate, key) {
            (Some(certificate), Some(key)) => Ok(Some(Self { certificate, key })),
            (None, None) => Ok(None),
            (Some(_), None) => {
                anyhow::bail!("tls.certificate is named without its key: name tls.key as well")
            }
            (None, Some(_)) => {
                anyhow::bail!("tls.key is named without its certificate: name tls.certificate as well")
            }
        }
    }

    /// Reads both files and checks that they belong together.
    fn read(&self, provider: &CryptoProvider) -> anyhow::Result<CertifiedKey> {
        let Self { certificate, key } = self;
        let chain = certificates(certificate)
            .with_context(|| format!("cannot read certificates from {}", certificate.display()))?;
        let cannot = || format!("cannot read a private key from {}", key.display());
        let pem = private::read(key, LONGEST_KEY).with_context(cannot)?;
        // The signing library keeps a copy of its own, which it does not wipe.
        let private_key = PrivateKeyDer::from_pem_slice(&pem).with_context(cannot)?;
        CertifiedKey::from_der(chain, private_key, provider).with_context(|| {
            format!("{} and {} cannot be used together", certificate.display(), key.display())
        })
    }

    /// Returns the stamps of both files.
    fn stamps(&self) -> io::Result<[Stamp; 2]> {
        Ok([Stamp::of(&self.certificate)?, Stamp::of(&self.key)?])
    }
}

fn certificates(file: &Path) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    use std::io::Read as _;
    let mut pem = Vec::new();
    fs::File::open(file)?.take(LONGEST_CERTIFICATES + 1).read_to_end(&mut pem)?;
    ensure!(pem.len() as u64 <= LONGEST_CERTIFICATES, "it has more than {LONGEST_CERTIFICATES} bytes");
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(&pem).collect::<Result<_, _>>()?;
    ensure!(!chain.is_empty(), "it holds no certificate in PEM: -----BEGIN CERTIFICATE-----");
    Ok(chain)
}

/// Detects that a file was replaced or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    bytes: u64,
    #[cfg(unix)]
    inode: u64,
}

impl Stamp {
    fn of(file: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(file)?;
        Ok(Self {
            modified: metadata.modified()?,
            bytes: metadata.len(),
            #[cfg(unix)]
            inode: std::os::unix::fs::MetadataExt::ino(&metadata),
        })
    }
}

/// Accepts TLS connections with the certificate in the files.
pub struct Tls {
    acceptor: TlsAcceptor,
    current: Arc<Current>,
}

/// The certificate for new connections.
#[derive(Debug)]
struct Current {
    files: Files,
    provider: Arc<CryptoProvider>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    key: Arc<CertifiedKey>,
    looked: Instant,
    /// Stamps of the files read last, usable or not; `None` if their metadata could not be read.
    stamps: Option<[Stamp; 2]>,
    /// True if the files read last are in use.
    good: bool,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read or is not PEM of its kind, others can read the key, or key and certificate do not belong
    /// together.
    pub fn open(files: &Files) -> anyhow::Result<Self> {
        let provider = Arc::new(ring::default_provider());
        // Take the stamps before reading the files: the next check then detects a change in between.
        let stamps = files.stamps().ok();
        let key = Arc::new(files.read(&provider)?);
        let state = Mutex::new(State { key, looked: Instant::now(), stamps, good: true });
        let current = Arc::new(Current { files: files.clone(), provider: Arc::clone(&provider), state });
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&current) as Arc<dyn ResolvesServerCert>);
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), current })
    }

    /// Returns the connection after its handshake; `None` if that failed. A request without TLS gets the answer that
    /// this port speaks TLS.
    pub(crate) async fn accept(&self, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        let mut first = [0];
        if stream.peek(&mut first).await.ok()? == 0 {
            return None;
        }
        if first[0] != HANDSHAKE {
            refuse_plain_http(stream).await;
            return None;
        }
        if self.current.is_due() {
            let current = Arc::clone(&self.current);
            // Reading files blocks. If it panics, the certificate stays.
            let _ = tokio::task::spawn_blocking(move || current.look_again()).await;
        }
        match self.acceptor.accept(stream).await {
            Ok(stream) => Some(stream),
            Err(error) => {
                tracing::debug!(%error, "a TLS handshake failed");
                None
            }
        }
    }
}

impl Current {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true once per interval, so that one connection checks the files while others use the present
    /// certificate.
    fn is_due(&self) -> bool {
        let mut state = self.lock();
        let due = state.looked.elapsed() >= INTERVAL;
        if due {
            state.looked = Instant::now();
        }
        due
    }

    /// Reads the files again if they changed, or were unusable the last time. If they are unusable, the certificate
    /// stays, and the log says so once per change.
    fn look_again(&self) {
        let stamps = self.files.stamps().ok();
        let (changed, good) = {
            let state = self.lock();
            (stamps != state.stamps, state.good)
        };
        if !changed && good {
            return;
        }
        let read = self.files.read(&self.provider);
        let mut state = self.lock();
        state.stamps = stamps;
        state.good = read.is_ok();
        match read {
            Ok(key) => {
                state.key = Arc::new(key);
                tracing::info!(certificate = %self.files.certificate.display(), "new certificate in use");
            }
            Err(error) if changed => {
                tracing::warn!("the new certificate cannot be used, the old one stays: {error:#}");
            }
            Err(_) => {}
        }
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.lock().key))
    }
}

async fn refuse_plain_http(mut stream: TcpStream) {
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json\r\ncontent-length: {}\r\nconnection: \
         close\r\n\r\n{TLS_REQUIRED}",
        TLS_REQUIRED.len()
    );
    let answering = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        // If the connection were closed while bytes still arrive, it would be reset and the answer lost.
        let (mut buffer, mut read) = ([0; 4096], 0);
        while read < LINGER_BYTES {
            match stream.read(&mut buffer).await? {
                0 => break,
                bytes => read += bytes,
            }
        }
        Ok::<_, io::Error>(())
    };
    // Errors concern only the other end.
    let _ = timeout(LINGER_TIME, answering).await;
}
