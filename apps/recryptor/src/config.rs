//! Settings as the user gives them, and the configuration that results.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use serde::Deserialize;
use sotto_service::config;
use sotto_service::connections::Limits;
use sotto_service::tls::Files;

/// The default configuration file, with every key.
const DEFAULT_FILE: &str = include_str!("../default.toml");

/// Settings from flags, environment variables, or a file.
#[derive(Args, Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Settings {
    /// Address and port to listen on; port 0 takes a free one [default: 127.0.0.1:7420]
    #[arg(long, env = "SOTTO_RECRYPTOR_LISTEN", value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// Folder of the ledger; made if it does not exist
    #[arg(long, env = "SOTTO_RECRYPTOR_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Key file of the re-encryption agent (`sotto keys recryptor`); its passphrase, if any, is read from
    /// SOTTO_PASSPHRASE
    #[arg(long, env = "SOTTO_RECRYPTOR_KEY_FILE", value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// File with the callers and their quotas: one `[[caller]]` each, with name, token_file and numbers_a_day
    #[arg(long, env = "SOTTO_RECRYPTOR_CALLERS_FILE", value_name = "FILE")]
    pub callers_file: Option<PathBuf>,
    /// File for the address, written once connections are accepted
    #[arg(long, env = "SOTTO_RECRYPTOR_ADDRESS_FILE", value_name = "FILE")]
    pub address_file: Option<PathBuf>,
    /// Maximum bytes of a batch [default: 1048576]
    #[arg(long, env = "SOTTO_RECRYPTOR_LARGEST_BATCH", value_name = "BYTES")]
    pub largest_batch: Option<u64>,
    /// Memory for batches, counted in batches of the largest size [default: 32]
    #[arg(long, env = "SOTTO_RECRYPTOR_BATCHES_AT_ONCE", value_name = "COUNT")]
    pub batches_at_once: Option<usize>,
    /// Seconds for a request's body to arrive [default: 60]
    #[arg(long, env = "SOTTO_RECRYPTOR_BODY_SECONDS", value_name = "SECONDS")]
    pub body_seconds: Option<u64>,
    /// Seconds for a request's head to arrive, and for an idle connection to begin a request [default: 10]
    #[arg(long, env = "SOTTO_RECRYPTOR_HEADER_SECONDS", value_name = "SECONDS")]
    pub header_seconds: Option<u64>,
    /// Seconds after which a connection accepts no further request; the current one may take twice body_seconds more
    /// [default: 300]
    #[arg(long, env = "SOTTO_RECRYPTOR_CONNECTION_SECONDS", value_name = "SECONDS")]
    pub connection_seconds: Option<u64>,
    /// Maximum number of open connections [default: 256]
    #[arg(long, env = "SOTTO_RECRYPTOR_CONNECTIONS", value_name = "COUNT")]
    pub connections: Option<usize>,
    /// Maximum number of open connections of one peer: an IPv4 address or an IPv6 /64 network; 16 times as many for a
    /// loopback address [default: 64]
    #[arg(long, env = "SOTTO_RECRYPTOR_CONNECTIONS_PER_PEER", value_name = "COUNT")]
    pub connections_per_peer: Option<usize>,
    /// Certificate and key: if both are given, every connection uses TLS
    #[command(flatten)]
    #[serde(default)]
    pub tls: TlsSettings,
    /// Listen on addresses other than loopback without TLS [default: false]
    #[arg(long, env = "SOTTO_RECRYPTOR_ALLOW_PLAIN_HTTP", value_name = "BOOL")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub allow_plain_http: Option<bool>,
    /// Exit when standard input ends, so that this process ends with its parent [default: false]
    #[arg(long, env = "SOTTO_RECRYPTOR_EXIT_WITH_STDIN", value_name = "BOOL")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub exit_with_stdin: Option<bool>,
}

/// The table `tls`: PEM files, read again when they change.
#[derive(Args, Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct TlsSettings {
    /// PEM file with the certificate chain, the service's own certificate first; read again when it changes
    #[arg(long = "tls-certificate", env = "SOTTO_RECRYPTOR_TLS_CERTIFICATE", value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// PEM file with the certificate's private key, mode 0600
    #[arg(long = "tls-key", env = "SOTTO_RECRYPTOR_TLS_KEY", value_name = "FILE")]
    pub key: Option<PathBuf>,
}

impl TlsSettings {
    /// Returns these settings, completed from `other`.
    fn or(self, other: Self) -> Self {
        Self { certificate: self.certificate.or(other.certificate), key: self.key.or(other.key) }
    }
}

impl Settings {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or is not a configuration.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        config::read(file)
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    /// The text is not a configuration.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        config::parse(text)
    }

    /// Returns these settings, completed from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            listen: self.listen.or(other.listen),
            data: self.data.or(other.data),
            key_file: self.key_file.or(other.key_file),
            callers_file: self.callers_file.or(other.callers_file),
            address_file: self.address_file.or(other.address_file),
            largest_batch: self.largest_batch.or(other.largest_batch),
            batches_at_once: self.batches_at_once.or(other.batches_at_once),
            body_seconds: self.body_seconds.or(other.body_seconds),
            header_seconds: self.header_seconds.or(other.header_seconds),
            connection_seconds: self.connection_seconds.or(other.connection_seconds),
            connections: self.connections.or(other.connections),
            connections_per_peer: self.connections_per_peer.or(other.connections_per_peer),
            tls: self.tls.or(other.tls),
            allow_plain_http: self.allow_plain_http.or(other.allow_plain_http),
            exit_with_stdin: self.exit_with_stdin.or(other.exit_with_stdin),
        }
    }
}

/// A valid configuration. The fields are those of [`Settings`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Config {
    pub listen: SocketAddr,
    pub data: PathBuf,
    pub key_file: PathBuf,
    pub callers_file: PathBuf,
    pub address_file: Option<PathBuf>,
    pub largest_batch: u64,
    pub batches_at_once: usize,
    pub limits: Limits,
    pub tls: Option<Files>,
    pub exit_with_stdin: bool,
}

impl Config {
    /// Checks settings and fills in defaults.
    ///
    /// # Errors
    /// Names the setting that is missing or invalid.
    pub fn new(settings: Settings) -> anyhow::Result<Self> {
        let listen = settings.listen.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 7420)));
        let allowed = settings.allow_plain_http.unwrap_or(false);
        let tls = Files::named(settings.tls.certificate, settings.tls.key)?;
        config::reachable_where_allowed(listen, tls.as_ref(), allowed, "callers' tokens")?;
        let seconds = |given: Option<u64>, default| Duration::from_secs(given.unwrap_or(default));
        let config = Self {
            listen,
            data: settings.data.context("no folder for the ledger is named: --data DIR")?,
            key_file: settings.key_file.context("no key file is named: --key-file FILE")?,
            callers_file: settings.callers_file.context("no callers are named: --callers-file FILE")?,
            address_file: settings.address_file,
            largest_batch: settings.largest_batch.unwrap_or(1 << 20),
            batches_at_once: settings.batches_at_once.unwrap_or(32),
            limits: Limits {
                header_time: seconds(settings.header_seconds, 10),
                body_time: seconds(settings.body_seconds, 60),
                connection_time: seconds(settings.connection_seconds, 300),
                connections: settings.connections.unwrap_or(256),
                connections_per_peer: settings.connections_per_peer.unwrap_or(64),
            },
            tls,
            exit_with_stdin: settings.exit_with_stdin.unwrap_or(false),
        };
        config::within(&[
            ("largest_batch", config.largest_batch, 16 << 20),
            ("batches_at_once", config.batches_at_once as u64, 4096),
            ("body_seconds", config.limits.body_time.as_secs(), 3600),
            ("header_seconds", config.limits.header_time.as_secs(), 3600),
            ("connection_seconds", config.limits.connection_time.as_secs(), 86_400),
            ("connections", config.limits.connections as u64, 1 << 20),
            ("connections_per_peer", config.limits.connections_per_peer as u64, 1 << 20),
        ])?;
        Ok(config)
    }
}

/// Prints a file with every key.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_default() -> anyhow::Result<()> {
    config::print(DEFAULT_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required() -> Settings {
        let file = |name: &str| Some(name.into());
        Settings { data: file("d"), key_file: file("k"), callers_file: file("c"), ..Settings::default() }
    }

    #[test]
    fn the_default_file_says_what_the_defaults_are() {
        let file = Settings::parse(DEFAULT_FILE).unwrap();
        assert_eq!(Config::new(file.or(required())).unwrap(), Config::new(required()).unwrap());
        assert!(Settings::parse("listem = 1").is_err());
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        let refused = |settings: Settings, reason: &str| {
            let error = Config::new(settings).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        };
        refused(Settings { data: None, ..required() }, "--data");
        refused(Settings { key_file: None, ..required() }, "--key-file");
        refused(Settings { callers_file: None, ..required() }, "--callers-file");
        refused(Settings { largest_batch: Some(0), ..required() }, "largest_batch");
        let outside = Settings { listen: Some(([0, 0, 0, 0], 80).into()), ..required() };
        refused(outside.clone(), "TLS");
        assert!(Config::new(Settings { allow_plain_http: Some(true), ..outside }).is_ok());
    }
}
