//! Settings as the user gives them, and the configuration that results.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::thread;
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
    /// Address and port to listen on; port 0 takes a free one [default: 127.0.0.1:7410]
    #[arg(long, env = "SOTTO_CLOUD_LISTEN", value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// Folder of the store; made if it does not exist
    #[arg(long, env = "SOTTO_CLOUD_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// File with the owner's token: 16 to 256 visible characters
    #[arg(long, env = "SOTTO_CLOUD_OWNER_TOKEN_FILE", value_name = "FILE")]
    pub owner_token_file: Option<PathBuf>,
    /// File with the Ed25519 key that signs receipts and transcripts: 64 hexadecimal digits, mode 0600 [default:
    /// signing.key in the store's folder, made at the first start]
    #[arg(long, env = "SOTTO_CLOUD_SIGNING_KEY_FILE", value_name = "FILE")]
    pub signing_key_file: Option<PathBuf>,
    /// File for the address, written once connections are accepted
    #[arg(long, env = "SOTTO_CLOUD_ADDRESS_FILE", value_name = "FILE")]
    pub address_file: Option<PathBuf>,
    /// Folder of enrolments, one DEVICE.json each: these devices are registered without a request
    #[arg(long, env = "SOTTO_CLOUD_ENROLMENTS", value_name = "DIR")]
    pub enrolments: Option<PathBuf>,
    /// Maximum bytes of an upload [default: 8388608]
    #[arg(long, env = "SOTTO_CLOUD_LARGEST_UPLOAD", value_name = "BYTES")]
    pub largest_upload: Option<u64>,
    /// Maximum bytes of evaluation keys [default: 268435456]
    #[arg(long, env = "SOTTO_CLOUD_LARGEST_KEYS", value_name = "BYTES")]
    pub largest_keys: Option<u64>,
    /// Memory for uploads, counted in uploads of the largest size [default: 32]
    #[arg(long, env = "SOTTO_CLOUD_UPLOADS_AT_ONCE", value_name = "COUNT")]
    pub uploads_at_once: Option<usize>,
    /// Seconds for a request's body to arrive [default: 60]
    #[arg(long, env = "SOTTO_CLOUD_BODY_SECONDS", value_name = "SECONDS")]
    pub body_seconds: Option<u64>,
    /// Seconds for a request's head to arrive, and for an idle connection to begin a request [default: 10]
    #[arg(long, env = "SOTTO_CLOUD_HEADER_SECONDS", value_name = "SECONDS")]
    pub header_seconds: Option<u64>,
    /// Seconds after which a connection accepts no further request; the current one may take twice body_seconds more
    /// [default: 300]
    #[arg(long, env = "SOTTO_CLOUD_CONNECTION_SECONDS", value_name = "SECONDS")]
    pub connection_seconds: Option<u64>,
    /// Maximum number of open connections [default: 4096]
    #[arg(long, env = "SOTTO_CLOUD_CONNECTIONS", value_name = "COUNT")]
    pub connections: Option<usize>,
    /// Maximum number of open connections of one peer: an IPv4 address or an IPv6 /64 network; 16 times as many for a
    /// loopback address [default: 64]
    #[arg(long, env = "SOTTO_CLOUD_CONNECTIONS_PER_PEER", value_name = "COUNT")]
    pub connections_per_peer: Option<usize>,
    /// Maximum number of jobs evaluated at the same time; 0: one per core [default: 0]
    #[arg(long, env = "SOTTO_CLOUD_WORKERS", value_name = "COUNT")]
    pub workers: Option<usize>,
    /// Threads, shared by all jobs, that run independent parts of a job in parallel; 1: each job runs on its worker
    /// only; 0: one per core [default: 1]
    #[arg(long, env = "SOTTO_CLOUD_THREADS", value_name = "COUNT")]
    pub threads: Option<usize>,
    /// Maximum bytes of ciphertexts that a job holds at any time; larger jobs are refused [default: 2147483648]
    #[arg(long, env = "SOTTO_CLOUD_LARGEST_JOB", value_name = "BYTES")]
    pub largest_job: Option<u64>,
    /// Maximum number of waiting jobs [default: 64]
    #[arg(long, env = "SOTTO_CLOUD_QUEUE", value_name = "COUNT")]
    pub queue: Option<usize>,
    /// Sets of evaluation keys held in memory [default: 8]
    #[arg(long, env = "SOTTO_CLOUD_KEYS_IN_MEMORY", value_name = "COUNT")]
    pub keys_in_memory: Option<usize>,
    /// Days for which an ended job and its outputs are kept; 0: for ever [default: 30]
    #[arg(long, env = "SOTTO_CLOUD_KEEP_JOBS", value_name = "DAYS")]
    pub keep_jobs: Option<u64>,
    /// Maximum bytes stored for one device; 0: no limit [default: 0]
    #[arg(long, env = "SOTTO_CLOUD_DEVICE_BYTES", value_name = "BYTES")]
    pub device_bytes: Option<u64>,
    /// Maximum number of envelopes accepted from one device in a minute; 0: no limit [default: 0]
    #[arg(long, env = "SOTTO_CLOUD_DEVICE_RATE", value_name = "COUNT")]
    pub device_rate: Option<u64>,
    /// Certificate and key: if both are given, every connection uses TLS
    #[command(flatten)]
    #[serde(default)]
    pub tls: TlsSettings,
    /// Listen on addresses other than loopback without TLS [default: false]
    #[arg(long, env = "SOTTO_CLOUD_ALLOW_PLAIN_HTTP", value_name = "BOOL")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub allow_plain_http: Option<bool>,
    /// Exit when standard input ends, so that this process ends with its parent [default: false]
    #[arg(long, env = "SOTTO_CLOUD_EXIT_WITH_STDIN", value_name = "BOOL")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub exit_with_stdin: Option<bool>,
}

/// The table `tls`: PEM files, read again when they change.
#[derive(Args, Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct TlsSettings {
    /// PEM file with the certificate chain, the service's own certificate first; read again when it changes
    #[arg(long = "tls-certificate", env = "SOTTO_CLOUD_TLS_CERTIFICATE", value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// PEM file with the certificate's private key, mode 0600
    #[arg(long = "tls-key", env = "SOTTO_CLOUD_TLS_KEY", value_name = "FILE")]
    pub key: Option<PathBuf>,
}

impl TlsSettings {
    /// Returns these settings, completed from `other`.
    fn or(self, other: Self) -> Self {
        Self { certificate: self.certificate.or(other.certificate), key: self.key.or(other.key) }
    }
}

impl Settings {
    /// Reads a file. Relative paths in it are relative to its folder.
    ///
    /// # Errors
    /// The file cannot be read, or is not a configuration.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        Ok(config::read::<Self>(file)?.in_folder(file.parent().unwrap_or(Path::new(""))))
    }

    /// Makes relative paths relative to a folder.
    fn in_folder(self, folder: &Path) -> Self {
        let inside = |path: Option<PathBuf>| path.map(|path| folder.join(path));
        Self {
            data: inside(self.data),
            owner_token_file: inside(self.owner_token_file),
            signing_key_file: inside(self.signing_key_file),
            address_file: inside(self.address_file),
            enrolments: inside(self.enrolments),
            tls: TlsSettings { certificate: inside(self.tls.certificate), key: inside(self.tls.key) },
            ..self
        }
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
            owner_token_file: self.owner_token_file.or(other.owner_token_file),
            signing_key_file: self.signing_key_file.or(other.signing_key_file),
            address_file: self.address_file.or(other.address_file),
            enrolments: self.enrolments.or(other.enrolments),
            largest_upload: self.largest_upload.or(other.largest_upload),
            largest_keys: self.largest_keys.or(other.largest_keys),
            uploads_at_once: self.uploads_at_once.or(other.uploads_at_once),
            body_seconds: self.body_seconds.or(other.body_seconds),
            header_seconds: self.header_seconds.or(other.header_seconds),
            connection_seconds: self.connection_seconds.or(other.connection_seconds),
            connections: self.connections.or(other.connections),
            connections_per_peer: self.connections_per_peer.or(other.connections_per_peer),
            workers: self.workers.or(other.workers),
            threads: self.threads.or(other.threads),
            largest_job: self.largest_job.or(other.largest_job),
            queue: self.queue.or(other.queue),
            keys_in_memory: self.keys_in_memory.or(other.keys_in_memory),
            keep_jobs: self.keep_jobs.or(other.keep_jobs),
            device_bytes: self.device_bytes.or(other.device_bytes),
            device_rate: self.device_rate.or(other.device_rate),
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
    pub owner_token_file: PathBuf,
    pub signing_key_file: Option<PathBuf>,
    pub address_file: Option<PathBuf>,
    pub enrolments: Option<PathBuf>,
    pub largest_upload: u64,
    pub largest_keys: u64,
    pub uploads_at_once: usize,
    pub body_time: Duration,
    pub header_time: Duration,
    pub connection_time: Duration,
    pub connections: usize,
    pub connections_per_peer: usize,
    pub workers: usize,
    pub threads: usize,
    pub largest_job: u64,
    pub queue: usize,
    pub keys_in_memory: usize,
    pub keep_jobs: u64,
    pub device_bytes: u64,
    pub device_rate: u64,
    pub tls: Option<Files>,
    pub exit_with_stdin: bool,
}

impl Config {
    /// Checks settings and fills in defaults.
    ///
    /// # Errors
    /// Names the setting that is missing or invalid.
    pub fn new(settings: Settings) -> anyhow::Result<Self> {
        let listen = settings.listen.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 7410)));
        let allowed = settings.allow_plain_http.unwrap_or(false);
        let tls = Files::named(settings.tls.certificate, settings.tls.key)?;
        config::reachable_where_allowed(listen, tls.as_ref(), allowed, "the owner's token")?;
        let or_cores = |count| match count {
            0 => thread::available_parallelism().map_or(1, usize::from),
            count => count,
        };
        let config = Self {
            listen,
            data: settings.data.context("no folder for the store is named: --data DIR")?,
            owner_token_file: settings
                .owner_token_file
                .context("no owner's token is named: --owner-token-file FILE")?,
            signing_key_file: settings.signing_key_file,
            address_file: settings.address_file,
            enrolments: settings.enrolments,
            largest_upload: settings.largest_upload.unwrap_or(8 << 20),
            largest_keys: settings.largest_keys.unwrap_or(256 << 20),
            uploads_at_once: settings.uploads_at_once.unwrap_or(32),
            body_time: Duration::from_secs(settings.body_seconds.unwrap_or(60)),
            header_time: Duration::from_secs(settings.header_seconds.unwrap_or(10)),
            connection_time: Duration::from_secs(settings.connection_seconds.unwrap_or(300)),
            connections: settings.connections.unwrap_or(4096),
            connections_per_peer: settings.connections_per_peer.unwrap_or(64),
            workers: or_cores(settings.workers.unwrap_or(0)),
            threads: or_cores(settings.threads.unwrap_or(1)),
            largest_job: settings.largest_job.unwrap_or(2 << 30),
            queue: settings.queue.unwrap_or(64),
            keys_in_memory: settings.keys_in_memory.unwrap_or(8),
            keep_jobs: settings.keep_jobs.unwrap_or(30),
            device_bytes: settings.device_bytes.unwrap_or(0),
            device_rate: settings.device_rate.unwrap_or(0),
            tls,
            exit_with_stdin: settings.exit_with_stdin.unwrap_or(false),
        };
        config::within(&[
            ("largest_upload", config.largest_upload, sotto_wire::LARGEST_ENVELOPE),
            ("largest_keys", config.largest_keys, 4 << 30),
            ("uploads_at_once", config.uploads_at_once as u64, 4096),
            ("body_seconds", config.body_time.as_secs(), 3600),
            ("header_seconds", config.header_time.as_secs(), 3600),
            ("connection_seconds", config.connection_time.as_secs(), 86_400),
            ("connections", config.connections as u64, 1 << 20),
            ("connections_per_peer", config.connections_per_peer as u64, 1 << 20),
            ("workers", config.workers as u64, 1024),
            ("threads", config.threads as u64, 1024),
            ("largest_job", config.largest_job, 1 << 40),
            ("queue", config.queue as u64, 65_536),
            ("keys_in_memory", config.keys_in_memory as u64, 65_536),
        ])?;
        Ok(config)
    }

    /// Returns the limits on connections.
    pub(crate) fn limits(&self) -> Limits {
        let Self { header_time, body_time, connection_time, connections, connections_per_peer, .. } = *self;
        Limits { header_time, body_time, connection_time, connections, connections_per_peer }
    }
}

/// Prints a file with every key.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_default() -> anyhow::Result<()> {
    config::print(DEFAULT_FILE)
}

/// Checks a file. It may lack the store's folder and the owner's token, which flags can give.
///
/// # Errors
/// The file cannot be read, or a setting is invalid.
pub fn validate(file: &Path) -> anyhow::Result<()> {
    use std::io::Write as _;
    let left_to_flags =
        Settings { data: Some("".into()), owner_token_file: Some("".into()), ..Settings::default() };
    Config::new(Settings::read(file)?.or(left_to_flags))
        .with_context(|| format!("{} cannot be used", file.display()))?;
    writeln!(std::io::stdout(), "{}: can be used", file.display()).context("cannot write to standard output")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required() -> Settings {
        Settings {
            data: Some("d".into()),
            owner_token_file: Some("t".into()),
            workers: Some(1),
            ..Settings::default()
        }
    }

    #[test]
    fn the_default_file_says_what_the_defaults_are() {
        let file: Settings = toml::from_str(DEFAULT_FILE).unwrap();
        assert_eq!(
            Config::new(required().or(file)).unwrap(),
            Config { workers: 1, ..Config::new(required()).unwrap() }
        );
        let uncommented = DEFAULT_FILE.replace("#: ", "");
        let all: Settings = toml::from_str(&uncommented).unwrap();
        assert!(all.data.is_some() && all.owner_token_file.is_some() && all.address_file.is_some());
        assert_eq!(all.enrolments, Some("enrolments".into()));
        assert!(all.tls.certificate.is_some() && all.tls.key.is_some());
    }

    #[test]
    fn other_machines_are_not_listened_to_without_being_asked() {
        let open = |allow| {
            let listen = Some("0.0.0.0:80".parse().unwrap());
            Config::new(Settings { listen, allow_plain_http: allow, ..required() })
        };
        assert!(open(None).unwrap_err().to_string().contains("TLS"));
        assert!(open(Some(false)).is_err());
        assert!(open(Some(true)).is_ok());
    }

    #[test]
    fn unknown_keys_and_impossible_values_are_refused() {
        assert!(toml::from_str::<Settings>("larges_upload = 3").is_err());
        assert!(Config::new(Settings { largest_upload: Some(0), ..required() }).is_err());
        assert!(Config::new(Settings::default()).is_err());
    }

    #[test]
    fn paths_in_a_file_are_relative_to_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cloud.toml");
        let text = "data = \"store\"\nowner_token_file = \"../token\"\naddress_file = \"/run/address\"\nenrolments = \"in\"";
        std::fs::write(&file, text).unwrap();
        let read = Settings::read(&file).unwrap();
        assert_eq!(read.data, Some(folder.path().join("store")));
        assert_eq!(read.enrolments, Some(folder.path().join("in")));
        assert_eq!(read.owner_token_file, Some(folder.path().join("../token")));
        assert_eq!(read.address_file, Some("/run/address".into()), "absolute paths stay");
        let flags = Settings { data: Some("here".into()), ..Settings::default() };
        assert_eq!(flags.or(read).data, Some("here".into()), "flags are relative to the working directory");
        assert_eq!(Settings::default().in_folder(Path::new("a")), Settings::default());
    }

    #[test]
    fn what_is_named_first_wins() {
        let flags = Settings { queue: Some(3), ..Settings::default() };
        let file = Settings { queue: Some(4), workers: Some(5), ..Settings::default() };
        let both = flags.or(file);
        assert_eq!((both.queue, both.workers), (Some(3), Some(5)));
    }
}
